"""A memory as it is offered: all fields checked, the text itself not yet judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from clew.errors import InputError
from clew.memories.firewall.screening import screen_fields
from clew.memories.small_talk import is_chatter
from clew.memories.validation import (
    CONTROLS,
    MAX_NAME_CHARACTERS,
    MAX_SOURCE_CHARACTERS,
    SURROGATES,
    line,
    names,
    one_of,
    plain_metadata,
    removal_note,
    share,
    without_controls,
)
from clew.settings import MemorySettings, Settings
from clew.text.gist import with_title
from clew.text.words import normalise, split_unspaced
from clew.times import Moment, iso, parse_time
from clew.types import Node, Outcome, OutcomeKind, Stability

# The first gate: white space in order, and only text of a reasonable length that says
# something at all.

# White space may shrink when it is put in order; a text this many times too long is refused unread.
UNREAD_FACTOR = 4
MAX_VERBATIM_CHARACTERS = 1_000_000
MAX_VERBATIM_METADATA_BYTES = 1_000_000
LONG_TEXTS = "A longer text is a document: import it (clew import, import_path, import_data), which cuts it into passages."
# characters of English: Chinese and Japanese need about half as many signs for the same sentence
UNSPACED_WORTH = 2


def rejected(rule: str, value: float | str, limit: float | str) -> Outcome:
    """Return the outcome of a text that is not kept, by which rule, with its value and the limit."""
    return Outcome(outcome=OutcomeKind.REJECTED, rule=rule, value=value, limit=limit)


def cleaned(text: str, *, limits: MemorySettings) -> str | Outcome:
    """Return the text with white space in order, or why it is rejected."""
    if len(text) > UNREAD_FACTOR * limits.max_characters:
        return _too_long(text, limits)
    if text.isascii() and text.isprintable():  # one line without control characters, as most are
        tidied = " ".join(text.split())
        return _objection(tidied, limits) or tidied
    tidied = normalise(text)
    return _objection(tidied, limits) or tidied


def unchanged(text: str) -> str | Outcome:
    """Return a verbatim text as it is, or its rejection for its length."""
    return (
        text
        if len(text) <= MAX_VERBATIM_CHARACTERS
        else rejected("too_long", len(text), MAX_VERBATIM_CHARACTERS)
    )


def _too_long(text: str, limits: MemorySettings) -> Outcome:
    return replace(rejected("too_long", len(text), limits.max_characters), notes=(LONG_TEXTS,))


def _objection(text: str, limits: MemorySettings) -> Outcome | None:
    """Return the most telling reason against a tidied text.

    "ok" is chatter rather than too short.
    """
    if not text:
        return rejected("empty", 0, limits.min_characters)
    if len(text) > limits.max_characters:
        return _too_long(text, limits)
    if is_chatter(text):
        return rejected("chatter", _beginning(text), "a word that is not chatter")
    if (said := _weight(text)) < limits.min_characters:
        return rejected("too_short", said, limits.min_characters)
    return None


def _weight(text: str) -> int:
    """Return how many characters of English a text is worth.

    A Chinese sign or Korean syllable is two.

    >>> _weight("a short text"), _weight("会議は月曜の朝十時")
    (12, 18)
    """
    return len(text) + (UNSPACED_WORTH - 1) * sum(map(len, split_unspaced(text)[1].split()))


SHOWN_CHARACTERS = 40  # enough to recognise what was rejected


def _beginning(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"


class OnDuplicate(StrEnum):
    """What happens when the memory is there already."""

    REINFORCE = "reinforce"
    INSERT = "insert"
    ERROR = "error"
    REPLACE = "replace"


_WAYS = {str(way): way for way in OnDuplicate}
_STABILITIES = tuple(Stability)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """One memory offered, with everything that `draft` checked."""

    text: str
    category: str
    importance: float
    space: str
    trigger: str = ""
    title: str = ""
    stability: Stability = Stability.UNKNOWN
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    keywords: tuple[str, ...] = ()
    idempotency_key: str | None = None
    on_duplicate: OnDuplicate = OnDuplicate.REINFORCE
    near: bool = True
    force: bool = False
    """Keep it although the same text was forgotten."""
    verbatim: bool = False
    """Keep the text exactly as given, whatever its length and however little it says."""
    secrets: tuple[str, ...] = ()
    """By which rules secrets were found in what was offered; they are taken out already."""
    notes: tuple[str, ...] = ()
    """What else was changed in what was offered, for the outcome."""


def draft(
    text: str,
    *,
    category: str | None = None,
    trigger: str | None = None,
    importance: float | None = None,
    title: str | None = None,
    space: str | None = None,
    stability: str | None = None,
    valid_from: Moment | None = None,
    valid_to: Moment | None = None,
    tags: Iterable[str] = (),
    metadata: Mapping[str, Any] | None = None,
    source: str | None = None,
    keywords: Iterable[str] = (),
    idempotency_key: str | None = None,
    on_duplicate: str = OnDuplicate.REINFORCE,
    near: bool | None = None,
    force: bool = False,
    verbatim: bool = False,
    settings: Settings,
    now: datetime,
) -> Draft:
    """Return a draft of which every field holds, or raise an InputError that names the first that does not."""
    memory = settings.memory
    longest = MAX_VERBATIM_CHARACTERS if verbatim else UNREAD_FACTOR * memory.max_characters
    unread = isinstance(text, str) and len(text) > longest  # and rejected, whatever it holds
    largest = max(memory.max_metadata_bytes, MAX_VERBATIM_METADATA_BYTES if verbatim else 0)
    removed: Counter[str] = Counter()
    if not unread:  # first of all: a secret with a control character in it is a secret still
        text = without_controls(text, removed, SURROGATES if verbatim else CONTROLS)
    title, source = without_controls(title, removed), without_controls(source, removed)
    tags, keywords = (
        without_controls(_listed(tags), removed),
        without_controls(_listed(keywords), removed),
    )
    with suppress(RecursionError):  # the check of metadata says what is wrong with it
        metadata = without_controls(metadata, removed, SURROGATES)
    named = {
        "category": category,
        "trigger": trigger,
        "title": title,
        "space": space,
        "stability": stability,
        "source": source,
    }
    lists = {
        "tags": tags,
        "keywords": keywords,
        "metadata": metadata,
        "idempotency_key": idempotency_key,
    }
    given, secrets = screen_fields(
        {"text": "" if unread else text, **named, **lists}, settings.firewall
    )
    begins, ends = _period(valid_from, valid_to, now)
    return Draft(
        text=text if unread else _text(given["text"]),
        category=memory.default_category
        if category is None
        else _category(given["category"], settings),
        trigger=_trigger(given["trigger"], settings) if trigger else "",
        importance=memory.default_importance
        if importance is None
        else share("importance", importance),
        title=line("title", given["title"], limit=memory.max_title_characters, empty=True)
        if title is not None
        else "",
        space=settings.store.space
        if space is None
        else line("space", given["space"], limit=MAX_NAME_CHARACTERS),
        stability=_stability(given["stability"]),
        valid_from=begins,
        valid_to=ends,
        tags=names("tags", given["tags"], limit=memory.max_tags),
        metadata={} if metadata is None else plain_metadata(given["metadata"], limit_bytes=largest),
        source=line("source", given["source"], limit=MAX_SOURCE_CHARACTERS, empty=True)
        if source is not None
        else "",
        keywords=names("keywords", given["keywords"], limit=memory.max_keywords),
        idempotency_key=_key(given["idempotency_key"]),
        on_duplicate=_replaceable(_way(on_duplicate), idempotency_key),
        near=settings.duplicates.near if near is None else bool(near),
        force=bool(force),
        verbatim=bool(verbatim),
        secrets=secrets,
        notes=(removal_note(removed),) if removed else (),
    )


def embedding_text(of: Draft | Node) -> str:
    """Return what a memory's vector is made from: its title, if it has one, and its text."""
    return with_title(of.title, of.text)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise InputError(
            "text", value, "must be text", "Decode bytes, and write other values as a sentence."
        )
    return value


def _listed(values: Any) -> Any:
    """Return what may be walked through once as what may be looked at twice."""
    return tuple(values) if isinstance(values, Iterator) else values


def _key(value: str | None) -> str | None:
    return None if value is None else line("idempotency_key", value, limit=MAX_NAME_CHARACTERS)


def _category(value: str, settings: Settings) -> str:
    return one_of(
        "category",
        value,
        settings.memory.categories,
        way_out="Add your own to the setting memory.categories.",
    )


def _trigger(value: str, settings: Settings) -> str:
    return one_of(
        "trigger",
        value,
        settings.memory.triggers,
        way_out="Add your own to the setting memory.triggers.",
    )


def _way(value: str) -> OnDuplicate:
    known = _WAYS.get(value) if isinstance(value, str) else None
    return known or OnDuplicate(
        one_of("on_duplicate", value, tuple(_WAYS), way_out="Reinforce is the usual.")
    )


def _replaceable(way: OnDuplicate, key: str | None) -> OnDuplicate:
    if way is OnDuplicate.REPLACE and key is None:
        raise InputError(
            "on_duplicate",
            str(way),
            "needs an idempotency_key",
            "Give the key under which the memory is replaced.",
        )
    return way


def _stability(value: str | None) -> Stability:
    return (
        Stability(one_of("stability", value, _STABILITIES, way_out="Leave it out when in doubt."))
        if value is not None
        else Stability.UNKNOWN
    )


def _period(
    valid_from: Moment | None, valid_to: Moment | None, now: datetime
) -> tuple[datetime | None, datetime | None]:
    """Return when the memory begins and ends to be true.

    Without a beginning it is true from now on.
    """
    begins = None if valid_from is None else parse_time(valid_from, "valid_from")
    ends = None if valid_to is None else parse_time(valid_to, "valid_to")
    if ends is not None and ends <= (begins or now):
        problem = f"must be after {'valid_from' if begins else 'now'}, {iso(begins or now)}"
        raise InputError(
            "valid_to", valid_to, problem, "Give valid_from for what was true only in the past."
        )
    return begins, ends
