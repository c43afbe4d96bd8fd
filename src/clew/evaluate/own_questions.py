"""Make an evaluation file from a store: its memories, and questions that some of them answer.

Questions are proposed by rules from a memory's own words, and a person accepts, rewrites or skips
each. A question in the words of its answer is easier than what people ask, so rewriting is worth
it.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from clew.engine import Clew
from clew.errors import InputError
from clew.memories.question_rules import RuleQuestioner
from clew.text.words import STOP_WORDS, fold, terms, words
from clew.types import Kind, Node

PAGE = 100
MOST_MEMORIES = 20_000
FILE = "memories.yaml"
HEAD = (
    "# Memories of your store and questions that they answer, for `clew eval run --dataset mine`.\n"
    "# It holds the texts of your memories: keep it where you keep the store.\n"
)
_IS = re.compile(r"^(?P<subject>[^.,;:!?\n]{3,80}?) (?P<verb>is|are|was|were) (?P<rest>\S.*)$")
_DOES = re.compile(
    r"^(?P<subject>[A-Z][^.,;:!?\n]{1,60}?) "
    r"(?P<verb>likes|prefers|uses|takes|wants|needs|plays|works|lives|eats|drinks|drives|owns|"
    r"runs|has|knows|visits|studies|collects) \S"
)
_PASSIVE = re.compile(r"(?:not |been )?\w+(?:ed|en|ing)\b")  # "is ordered", "is running"
_BASES = {"has": "have", "studies": "study"}


@dataclass(frozen=True, slots=True)
class Proposal:
    """A memory and the question that the rules propose for it."""

    space: str
    node: Node
    question: str


@dataclass(slots=True)
class EvaluationFile:
    """The memories of some spaces and the accepted questions."""

    memories: dict[str, list[Node]] = field(default_factory=dict)
    questions: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    """By space the question and the id of the memory that answers it."""

    @property
    def count(self) -> int:
        """How many questions there are."""
        return sum(map(len, self.questions.values()))

    def accept(self, proposal: Proposal, question: str) -> None:
        """Add a question to a memory."""
        self.questions.setdefault(proposal.space, []).append((question, proposal.node.id))

    def text(self) -> str:
        """Return the file, as `clew eval run --dataset mine` reads it."""
        content = {
            space: {
                "memories": [_memory(node) for node in nodes],
                "questions": [
                    {"ask": ask, "needs": [id]} for ask, id in self.questions.get(space, [])
                ],
            }
            for space, nodes in self.memories.items()
        }
        return HEAD + yaml.safe_dump(content, allow_unicode=True, sort_keys=False, width=100)

    def write(self, folder: Path) -> Path:
        """Write the file into a folder; one that is there is never overwritten."""
        path = folder / FILE
        if path.exists():
            raise InputError("out", str(path), "is there already", "Name another folder.")
        folder.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(self.text(), encoding="utf-8")
        return path


def _memory(node: Node) -> dict[str, Any]:
    """Return a memory as the file holds it; a title and a time only where it has them."""
    fields: dict[str, Any] = {"key": node.id, "text": node.text}
    if node.title:
        fields["title"] = node.title
    if node.t_valid is not None:
        fields["time"] = node.t_valid.isoformat()
    return fields


def memories_of(memory: Clew, space: str) -> list[Node]:
    """Return the live memories of a space in order of id.

    Documents and conversations are no part.
    """
    found: list[Node] = []
    cursor: str | None = None
    where = {"space": space, "kind": Kind.MEMORY.value}
    while len(found) < MOST_MEMORIES:
        page = memory.page(limit=PAGE, cursor=cursor, where=where)
        found += page.nodes
        if (cursor := page.cursor) is None:
            break
    return sorted(found[:MOST_MEMORIES], key=lambda node: node.id)


def proposals(
    memories: Mapping[str, Sequence[Node]], *, count: int, seed: int
) -> Iterator[Proposal]:
    """Yield up to `count` memories that the seed draws, with a question for each."""
    drawn = sorted(
        ((space, node) for space, nodes in memories.items() for node in nodes),
        key=lambda each: hashlib.sha256(f"{seed}\0{each[0]}\0{each[1].id}".encode()).digest(),
    )
    frequencies = {space: frequencies_of(nodes) for space, nodes in memories.items()}
    asked: set[str] = set()
    for space, node in drawn:
        question = propose(node.text, frequencies[space])
        if question and question not in asked:
            asked.add(question)
            yield Proposal(space, node, question)
        if len(asked) == count:
            return


def frequencies_of(nodes: Iterable[Node]) -> Counter[str]:
    """Return in how many memories each term stands."""
    counts: Counter[str] = Counter()
    for node in nodes:
        counts.update(set(terms(node.text)))
    return counts


def propose(text: str, frequencies: Mapping[str, int]) -> str:
    """Return a question that a text answers, by the first rule that fits; empty where none does.

    >>> propose("The staging database is pg-stage-3 on port 5433.", {})
    'What is the staging database?'
    >>> propose("Marit prefers trains for anything beyond two hours.", {})
    'What does Marit prefer?'
    """
    sentence = text.strip().split("\n", 1)[0][:400]
    (made,) = RuleQuestioner(most=1).questions([text[:4000]])
    if made.texts:
        return made.texts[0]
    if (found := _IS.match(sentence)) and not _PASSIVE.match(found["rest"]):
        asked = "Who" if _is_person(found["rest"]) else "What"
        return f"{asked} {found['verb']} {_inside(found['subject'])}?"
    if found := _DOES.match(sentence):
        base = _BASES.get(found["verb"]) or found["verb"].removesuffix("s")
        return f"What does {_inside(found['subject'])} {base}?"
    return _by_rare_words(sentence, frequencies)


def _by_rare_words(sentence: str, frequencies: Mapping[str, int]) -> str:
    """Ask for the two rarest words of a sentence, which leaves the rest to be found."""
    plain = [word for word in words(sentence) if fold(word) not in STOP_WORDS and len(word) > 2]
    if len(set(plain)) < 3:
        return ""

    def rarity(word: str) -> int:
        return min((frequencies.get(term, 0) for term in terms(word)), default=0)

    chosen = sorted(dict.fromkeys(plain), key=lambda word: (rarity(word), plain.index(word)))[:2]
    one, other = sorted(chosen, key=plain.index)
    return f"What is known about {one} and {other}?"


def _is_person(rest: str) -> bool:
    """Return whether a predicate names somebody: two capitalised words, or a title."""
    return re.match(r"(?:Dr|Mr|Mrs|Ms|Prof)\b|[A-Z][a-z]+ [A-Z][a-z]+\b", rest) is not None


def _inside(subject: str) -> str:
    """Return a subject as it stands inside a question."""
    first, blank, rest = subject.partition(" ")
    small = (
        first.lower() if first in {"The", "A", "An", "My", "Our", "His", "Her", "Its"} else first
    )
    return small + blank + rest
