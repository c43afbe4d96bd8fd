"""Remember what recall returned lately, bounded in words and in time, for the echo guard.

In this process every hit is noted, with `track=False` too. Other processes learn of the hits whose
accesses are counted: the ids of those, never their texts, are kept beside the memories by the same
thread that counts them. Each space has a shelf of its own: what is returned in one leaves what is
known of another as it is.
"""

from __future__ import annotations

import json
import re
import threading
import tomllib
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Any, NamedTuple

from clew.forking import after_fork
from clew.ids import new_id
from clew.ports import Store
from clew.text.words import fold, terms, words
from clew.times import iso, parse_time
from clew.types import Node, NodeId

# Where one statement ends and the next begins.
SENTENCES = r"(?<=[.!?…])\s+|(?<=[。\uff01\uff1f])\s*|\n+"
# Within a sentence: where somebody who puts several memories together sets them apart.
CLAUSES = r"[;|•·\"“”„«»]|,\s+(?:and|und|et|y)\s+|\s[-–—]+\s|:\s"


def sentences(text: str) -> list[str]:
    """Return the sentences of a text.

    >>> sentences("Port 5432.5 is odd. Is it? Yes")
    ['Port 5432.5 is odd.', 'Is it?', 'Yes']
    """
    return [each for each in _compile(SENTENCES).split(text) if each and not each.isspace()]


def clauses(sentence: str) -> list[str]:
    """Return the parts of a sentence that may come from different memories.

    >>> clauses("From memory: Ann likes tea; Bob likes milk")
    ['From memory', 'Ann likes tea', ' Bob likes milk']
    """
    return [each for each in _compile(CLAUSES).split(sentence) if each and not each.isspace()]


def comparable_words(text: str) -> list[str]:
    """Return the words of a text as they are compared.

    Of a script without spaces its pairs of characters.

    >>> comparable_words("Ann's café, 数据库")
    ['ann', 'cafe', '数据', '据库']
    """
    return list(_comparable_words(text))


def _comparable_words(text: str) -> Iterator[str]:
    for word in words(text):
        if word.isascii():
            yield fold(word)
        else:
            yield from terms(word) if len(terms(word)) > 1 else (fold(word),)


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


GRAM = 3  # words in a row by which a place in a returned text is found
MAX_WORDS = 32_000  # that are remembered in a space: some 300 memories or 60 chunks, about 5 MB
MAX_WAITING = 512  # hits that no write has looked at yet
MAX_RECORDS = 8  # that processes leave for one another, together
MAX_IDS = 32  # in one of them
KIND = "returned"


class Source(NamedTuple):
    """A returned text as it is written, its title, and the words of both."""

    id: NodeId
    space: str
    at: datetime
    title: str
    text: str
    words: tuple[str, ...]

    @property
    def grams(self) -> Iterator[tuple[int, int]]:
        """Every run of a few words, as a number, with its place."""
        return (
            (_gram(self.space, self.words[at : at + GRAM]), at)
            for at in range(max(0, len(self.words) - GRAM + 1))
        )


class Place(NamedTuple):
    """Where a run of words stands in a returned text."""

    source: Source
    at: int


class RecalledTexts:
    """What was returned, by space."""

    def __init__(self, store: Store, *, minutes: float) -> None:
        self._store = store
        self._window = timedelta(minutes=minutes)
        self._begin()
        after_fork(self._begin)

    def _begin(self) -> None:
        """Start with nothing: what a forked child returns is its own."""
        self._shelves: dict[str, SpaceTexts] = {}

    def of(self, space: str) -> SpaceTexts:
        """Return the shelf of a space."""
        return self._shelves.get(space) or self._shelves.setdefault(
            space, SpaceTexts(self._store, space, self._window)
        )

    def note(self, hits: Iterable[tuple[Node, str]], at: datetime) -> None:
        """Take note of what is returned, each memory with its context."""
        for node, context in hits:
            self.of(node.space).note(node, context, at)

    def publish(self, space: str, ids: Sequence[NodeId], at: datetime) -> None:
        """Let other processes know what was returned in a space."""
        self.of(space).publish(ids, at)


class SpaceTexts:
    """Remembers what was returned in a space, and finds where it holds a run of words.

    Who looks for places holds the lock meanwhile.
    """

    def __init__(self, store: Store, space: str, window: timedelta) -> None:
        self._store = store
        self._kind = f"{KIND} {space}"
        self._window = window
        self.lock = threading.Lock()
        self._waiting: deque[tuple[Node, str, datetime]] = deque(maxlen=MAX_WAITING)
        self._sources: OrderedDict[NodeId, list[Source]] = OrderedDict()
        self._places: dict[int, dict[tuple[NodeId, int, int], None]] = {}
        self._same: dict[NodeId, tuple[str, str, str, str]] = {}
        self._size = 0
        self._read: set[str] = set()
        self._told: dict[NodeId, datetime] = {}

    # --- what a recall does ---

    def note(self, node: Node, context: str, at: datetime) -> None:
        """Take note of a returned memory with its context; read only when something is written."""
        self._waiting.append((node, context, at))

    def publish(self, ids: Sequence[NodeId], at: datetime) -> None:
        """Let other processes know, by records that take the place of the oldest.

        What was told lately is not told again.
        """
        fresh = [
            id for id in ids if id not in self._told or at - self._told[id] > self._window / 2
        ][-MAX_IDS * MAX_RECORDS :]
        if not fresh:
            return
        self._told = {**dict(list(self._told.items())[-MAX_WAITING:]), **dict.fromkeys(fresh, at)}
        records = {
            new_id(at): fresh[first : first + MAX_IDS] for first in range(0, len(fresh), MAX_IDS)
        }
        self._read |= records.keys()  # this process knows them already
        with self._store.transaction():
            for name, those in records.items():
                self._store.keep(self._kind, name, {"at": iso(at), "ids": those})
            for old in list(self._store.kept(self._kind))[:-MAX_RECORDS]:
                self._store.drop(self._kind, old)

    # --- what a write does ---

    def refresh(self, now: datetime) -> None:
        """Learn what was returned since the last call, in any process, and drop what is too old."""
        with self.lock:
            for name, record in self._store.kept(self._kind).items():
                if name not in self._read:
                    self._read = {name, *islice(self._read, MAX_WAITING)}
                    self._learn(record, now)
            while self._waiting:
                self._absorb(*self._waiting.popleft())
            self._expire(now)

    def places(
        self, words: Sequence[str], space: str, without: frozenset[NodeId]
    ) -> Iterator[Place]:
        """Yield where the space's returned texts hold these GRAM words, latest first."""
        for id, number, at in reversed(self._places.get(_gram(space, words), {})):
            if id not in without and (source := self._sources[id][number]).space == space:
                yield Place(source, at)

    def holds_any(self, words: Sequence[str], space: str) -> bool:
        """Tell whether any run of these words was returned in the space."""
        return bool(self._places) and any(
            _gram(space, words[at : at + GRAM]) in self._places
            for at in range(len(words) - GRAM + 1)
        )

    def _learn(self, record: Mapping[str, object], now: datetime) -> None:
        at = parse_time(str(record["at"]), "at")
        listed = record["ids"]
        if isinstance(listed, list) and now - at <= self._window:
            nodes = self._store.get([str(each) for each in listed])
            for id in nodes:
                if id not in self._sources:
                    self._absorb(nodes[id], "", at)

    def _absorb(self, node: Node, context: str, at: datetime) -> None:
        """Remember a returned memory, with its title, and the text around it as a second source."""
        same = (node.content_hash, node.title, node.space, context)
        if self._same.get(node.id) == same:  # returned again
            self._sources[node.id] = [each._replace(at=at) for each in self._sources[node.id]]
            self._sources.move_to_end(node.id)
            return
        self._drop(node.id)
        self._same[node.id] = same
        made = [_source(node, node.text, at, title=node.title)]
        made += [_source(node, context, at)] if context else []
        self._sources[node.id] = made
        for number, source in enumerate(made):
            self._size += len(source.words)
            for gram, place in source.grams:
                self._places.setdefault(gram, {})[node.id, number, place] = None

    def forget(self, ids: AbstractSet[NodeId]) -> None:
        """Drop what is remembered of memories that were forgotten."""
        with self.lock:
            for entry in [entry for entry in list(self._waiting) if entry[0].id in ids]:
                self._waiting.remove(entry)
            for id in ids:
                self._drop(id)

    def _expire(self, now: datetime) -> None:
        while self._sources and (
            self._size > MAX_WORDS or now - next(iter(self._sources.values()))[0].at > self._window
        ):
            self._drop(next(iter(self._sources)))

    def _drop(self, id: NodeId) -> None:
        self._same.pop(id, None)
        for number, source in enumerate(self._sources.pop(id, ())):
            self._size -= len(source.words)
            for gram, place in source.grams:
                places = self._places.get(gram, {})
                places.pop((id, number, place), None)
                if not places:
                    self._places.pop(gram, None)


def _gram(space: str, words: Sequence[str]) -> int:
    return hash((space, *words))


def _source(node: Node, text: str, at: datetime, *, title: str = "") -> Source:
    return Source(
        node.id,
        node.space,
        at,
        title,
        text,
        tuple(comparable_words(f"{title}\n{text}")[:MAX_WORDS]),
    )


_LISTS: Mapping[str, str] = tomllib.loads(
    files("clew.memories.firewall").joinpath("echo.toml").read_text(encoding="utf-8")
)
NEGATIONS = frozenset(map(fold, _LISTS["negations"].split()))
# Each of them excludes a word of its line, or may: whoever adds one to what was said says something
# new.
EXCLUDING = frozenset(f"{_LISTS['series']} {_LISTS['opposites']}".split()) - {"|"}

# Words that only say that something was said, found or remembered. None of them changes what was:
# "off", "only", "again" are not here.
_WRAPPING = """
a about according already also an and answer answered are as asked assistant based be been below brings brought by clew context
conversation conversations earlier entries entry fact facts following for found from gave given had has have here hit hits i id in
info information into is it items its just know known knowledge listed me memories memory mention mentioned mentions message my
note noted notes of our past per please previous previously question recall recalled recalls recap record recorded records
remember remembered remembering reminder result results retrieved return returned returns said saved say says score search see
session so source stated stored summary tell that the there these this to told us user users was we were what which with wrote yes
you your
aus bereits das dass dem den der die du erinnere erinnerung erinnerungen erwähnt erwähnte folgendes früher gedächtnis gefunden
gemerkt gesagt gespeichert gespeicherte habe hast hat hatte hattest ich ist laut mein meine meinem meinen meiner mich mir notiz
notizen nutzer sagtest und wie wir wissen wurde zuvor
appris avais avez ce comme d'après dans de des dit déjà enregistré est et je la le les m'as m'avez ma mes mémoire mon précédemment
que retrouvé selon souvenir souviens tu tôt utilisateur voici vous
como de del dijiste dijo el en encontré es esto guardado había la las lo los me memoria memorias mencionaste nota notas previamente
que recuerda recuerdo recuerdos según tu usted usuario y
根据 据记 记忆 之前 告诉 记得 说过
"""
WRAPPING = frozenset(map(fold, _WRAPPING.split()))
# A part without these words may say the opposite of the whole.
_NEGATING = (
    "if unless except only until nor neither hardly rarely nicht kein keine keinen nie wenn "
    "falls außer ne pas jamais si sauf nunca jamás "
    "ni не нет если"
)
NEGATING = NEGATIONS | frozenset(map(fold, _NEGATING.split()))
# A lead that has one of these announces what was remembered, whatever else it says.
_ANNOUNCING = """
memory memories recall recalled recap remember remembered reminder note notes stored saved told said mentioned found results summary
known gedächtnis erinnere erinnerung erinnerungen notiz notizen gesagt gespeichert souviens mémoire souvenir souvenirs dit memoria
recuerdo recuerdos nota notas
"""
ANNOUNCING = frozenset(map(fold, _ANNOUNCING.split()))
_COUNTED = r"[(\[]\d{1,3}[)\]]"
_LEAD = r"\s*[^:\n.!?]{2,80}:\s+"
_ID = r"\b[0-9a-hjkmnp-tv-z]{26}\b"
_SIGNS = (
    r"(?m)^[ \t>]*+(?:(?:text|memory|content|context|title|snippet)\s?[:=]|[-*•▸→]|#{1,6}|"
    r"\d{1,3}[.)]|\[\d{1,3}\]|\(\d{1,3}\))\s+"
)
_RANKED = r"(?m)^[ \t]*+(?:\d{1,3}\s+)?[01]\.\d{2,4}\s+"
_MEASURED = (
    r"[(\[](?:score|relevance|similarity|rank|cosine|confidence|id|source|category|trust|flags|"
    r"title)\b[^()\[\]\n]{0,120}+[)\]]"
)
_ABOUT = r"\s?·[^·\n]{0,80}+"
# Lines that Clew draws around a hit: how it was found, what it is filed under, how long it took.
EXPLAINED_SIGN = "; score "
EXPLAINED = r"(?m)^[ \t│├└─>*-]*+found (?:by|through|along) .{0,2000}; score [\d.-]+ = "
RENDERED = (
    r"(?m)^[ \t│├└─>*-]*+(?:found (?:by|through|along) .{0,2000}; score [\d.-]+ = .{0,1000}"
    r"|\d+ hits? in \d+ ms .{0,300}|score\s+[\d.]+ = .{0,300}|main reason: .{0,300}|rank "
    r"\d[\d,]* of .{0,200}"
    r"|(?:method|semantic|recency|importance|access|words|meaning|context|section|named|links|"
    r"path|time|period)\s{2,}.{0,200}"
    r"|(?:id|rank|score|space|category|source|tags|trust|flags|method|importance|created|"
    r"t_valid|trace_id|query)\s?[:=].{0,200})$"
)
TEXT_KEYS = ("text", "context", "title", "content", "memory", "snippet")
MAX_VALUES = 2000


def strip_rendering(text: str) -> tuple[str, bool]:
    r"""Remove Clew's own rendering from a text; tell whether it explained a hit.

    >>> strip_rendering("1 0.850 Ann likes tea\n01m7gfwdmr422zgpq588cdfnzy · fact · just now")
    ('Ann likes tea\n', False)
    >>> strip_rendering("Found by its words (rank 1, BM25 4.20); score 0.850 = semantic 0.850 (1.00 × 0.85).")
    ('', True)
    """
    read = served_text(text)
    bare = _compile_ignoring_case(RENDERED).sub("", read)
    if _compile_ignoring_case(_ID).search(bare):
        bare = _compile_ignoring_case(_ABOUT).sub("", _compile_ignoring_case(_ID).sub("", bare))
    bare = _compile_ignoring_case(_MEASURED).sub("", _compile_ignoring_case(_RANKED).sub("", bare))
    return _compile_ignoring_case(_SIGNS).sub("", bare), _compile_ignoring_case(EXPLAINED).search(
        read
    ) is not None


def served_text(text: str) -> str:
    """Return what an answer of Clew in JSON says in words; any other text as it is."""
    return "\n".join(_json_texts(text)) if text.lstrip()[:1] in ("{", "[") else text


def strip_lead(text: str) -> str:
    """Return a text without the words up to a first colon that only announce what was remembered.

    >>> strip_lead("Quick summary of the stored notes: Ann likes tea"), strip_lead("Notes from Oslo: Ann likes tea")
    ('Ann likes tea', 'Notes from Oslo: Ann likes tea')
    """
    lead = _compile_ignoring_case(_LEAD).match(text)
    if lead is None:
        return text
    said = words(_compile_ignoring_case(_COUNTED).sub("", lead.group()))
    plain = all(
        fold(word) in WRAPPING or (word.isalpha() and (word.islower() or at == 0))
        for at, word in enumerate(said)
    )
    heard = set(map(fold, said))
    return (
        text[lead.end() :]
        if plain and NEGATING.isdisjoint(heard) and not ANNOUNCING.isdisjoint(heard)
        else text
    )


def named_ids(text: str) -> tuple[str, ...]:
    """Return what looks like the ids of memories, each once."""
    return tuple(dict.fromkeys(_compile_ignoring_case(_ID).findall(text)))


def _json_texts(text: str) -> Iterator[str]:
    """Yield what an answer in JSON says in words; any other text as it is."""
    try:
        waiting: list[Any] = [json.loads(text)]
    except (ValueError, RecursionError):
        yield text
        return
    for _ in range(MAX_VALUES):
        if not waiting:
            return
        each = waiting.pop(0)
        if isinstance(each, list):
            waiting += each
        elif isinstance(each, dict):
            yield from (
                value for key in TEXT_KEYS if isinstance(value := each.get(key), str) and value
            )
            waiting += [value for value in each.values() if isinstance(value, list | dict)]


@cache
def _compile_ignoring_case(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
