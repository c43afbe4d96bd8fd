"""What a language model can be asked, and what counts as an answer.

Each task with its validation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from clew.models.language_model import LanguageModel, UnusableError

T = TypeVar("T")

LONGEST_REASON = 300
LONGEST_NAME = 100
MOST_ENTITIES = 20
MOST_FACTS = 20
FACT_CHARACTERS = (12, 400)
ENTITY_TYPES = ("PERSON", "ORGANISATION", "PLACE", "CONCEPT")
VERDICTS = ("agree", "conflict", "unrelated")


class Substance(NamedTuple):
    """Whether a text is worth keeping, and why."""

    keep: bool
    reason: str


class Name(NamedTuple):
    """A name as a text writes it, and of which kind of thing."""

    name: str
    type: str


class Fact(NamedTuple):
    """Something that messages of a conversation say."""

    text: str
    category: str
    messages: tuple[int, ...]
    """The positions of the messages that say it."""


class Verdict(NamedTuple):
    """Whether two memories contradict each other, and why."""

    verdict: str
    """agree, conflict or unrelated."""
    reason: str


def judge_substance(model: LanguageModel, text: str) -> Substance:
    """Return whether a text is worth keeping."""

    def read(answer: Any) -> Substance:
        keep = _field(answer, "keep", bool)
        return Substance(keep, _line(answer.get("reason") or "", LONGEST_REASON))

    return model.ask("substance", text, read=read, answer_tokens=100)


def list_names(model: LanguageModel, text: str, *, most: int) -> tuple[Name, ...]:
    """Return the names in a text; one that the text does not hold is left out."""

    def read(answer: Any) -> tuple[Name, ...]:
        found = [_name(each) for each in _list(answer, MOST_ENTITIES)]
        return tuple(dict.fromkeys(each for each in found if each.name in text))[:most]

    return model.ask("entities", text, read=read, answer_tokens=500, most=str(most))


def list_facts(
    model: LanguageModel, said: Sequence[str], *, categories: Sequence[str]
) -> tuple[Fact, ...]:
    """Return what the messages of a conversation say, each with the messages that say it."""

    def read(answer: Any) -> tuple[Fact, ...]:
        return tuple(_fact(each, len(said), categories) for each in _list(answer, MOST_FACTS))

    lines = "\n".join(f"{number}: {' '.join(text.split())}" for number, text in enumerate(said))
    return model.ask(
        "facts",
        lines,
        read=read,
        answer_tokens=2000,
        most=str(MOST_FACTS),
        categories=", ".join(categories),
    )


def summarise(model: LanguageModel, text: str, *, most: int) -> str:
    """Return a summary of at most so many characters."""

    def read(answer: Any) -> str:
        said = _line(_field(answer, "summary", str), most)
        if not said:
            raise UnusableError("an empty summary")
        return said

    return model.ask("summary", text, read=read, answer_tokens=most, most=str(most))


def judge_conflict(model: LanguageModel, first: str, second: str) -> Verdict:
    """Return whether two memories contradict each other."""

    def read(answer: Any) -> Verdict:
        verdict = _field(answer, "verdict", str)
        if verdict not in VERDICTS:
            raise UnusableError("no verdict that was asked for")
        return Verdict(verdict, _line(answer.get("reason") or "", LONGEST_REASON))

    lines = f"A: {' '.join(first.split())}\nB: {' '.join(second.split())}"
    return model.ask("conflict", lines, read=read, answer_tokens=150)


def _list(answer: Any, most: int) -> list[Any]:
    if not isinstance(answer, list) or len(answer) > most:
        raise UnusableError(f"not a list of at most {most}")
    return answer


def _field(answer: Any, name: str, kind: type[T]) -> T:
    value = answer.get(name) if isinstance(answer, Mapping) else None
    if not isinstance(value, kind):
        raise UnusableError(f"no {name}")
    return value


def _line(value: Any, most: int) -> str:
    said = " ".join(value.split()) if isinstance(value, str) else ""
    if not said.isprintable() or len(said) > most:
        raise UnusableError(f"a text that is no line of at most {most} characters")
    return said


def _name(each: Any) -> Name:
    name, kind = _line(_field(each, "name", str), LONGEST_NAME), _field(each, "type", str)
    if not name or kind not in ENTITY_TYPES:
        raise UnusableError("a name without a known type")
    return Name(name, kind)


def _fact(each: Any, messages: int, categories: Sequence[str]) -> Fact:
    least, most = FACT_CHARACTERS
    text, category = _line(_field(each, "text", str), most), _field(each, "category", str)
    numbers: list[Any] = _field(each, "messages", list)
    if len(text) < least or category not in categories:
        raise UnusableError("a fact that is too short or of an unknown category")
    if not numbers or any(
        type(number) is not int or not 0 <= number < messages for number in numbers
    ):
        raise UnusableError("a fact without the messages that say it")
    return Fact(text, category, tuple(sorted(set(numbers))))
