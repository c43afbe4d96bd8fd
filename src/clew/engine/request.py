"""From a caller's arguments to a Question, every field checked."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, time
from typing import Any

from clew.errors import InputError, NotFoundError
from clew.memories.validation import MAX_NAME_CHARACTERS, line, names, one_of, plain_metadata
from clew.parsing import parse_json
from clew.ports import Sort
from clew.search.recipes import NAMES
from clew.search.state import Question
from clew.settings import Settings, Weights
from clew.times import Moment, iso, parse_time
from clew.types import Filter, Kind, Node, NodeId, Spot

MAX_K = 1000
WHERE_KEYS = ("space", "kind", "category", "tags", "metadata", "since", "until", "archived")
WEIGHT_NAMES = Weights._fields
SERVED = (Kind.MEMORY, Kind.CHUNK)  # sections and documents are too large to be served; they vote


def question(
    text: object,
    *,
    settings: Settings,
    now: datetime,
    k: int | None,
    recipe: str | None,
    preset: str | None,
    weights: Mapping[str, float] | None,
    where: Filter,
    min_similarity: float | None,
    budget_tokens: int | None,
    seed: int,
) -> Question:
    """Return what is asked, or an InputError that names the field, the value and the way out."""
    options = settings.recall
    preset = (
        options.preset
        if preset is None
        else one_of("preset", preset, tuple(settings.score.presets))
    )
    return Question(
        text=_query(text, options.max_query_characters),
        k=whole("k", options.k if k is None else k, 1, MAX_K),
        where=replace(where, now=now, recorded_until=_recorded_until(where)),
        weights=settings.score.presets[preset] if weights is None else custom_weights(weights),
        recipe=options.recipe if recipe is None else one_of("recipe", recipe, NAMES),
        preset=preset if weights is None else "custom",
        min_similarity=number(
            "min_similarity",
            options.min_similarity if min_similarity is None else min_similarity,
            -1.0,
            1.0,
        ),
        budget_tokens=whole(
            "budget_tokens",
            options.budget_tokens if budget_tokens is None else budget_tokens,
            0,
            10**9,
        ),
        seed=whole("seed", seed, -(2**63), 2**63 - 1),
    )


def with_kinds(
    where: Mapping[str, Any] | Filter | None, kinds: Iterable[str]
) -> Mapping[str, Any] | Filter:
    """Return a filter that also names the kinds of hits."""
    if isinstance(kinds, str) or not isinstance(kinds, Iterable):
        raise InputError("kinds", kinds, "must be a list of kinds", 'Write kinds=["memory"].')
    chosen = [one_of("kinds", kind, tuple(Kind)) for kind in kinds]
    if isinstance(where, Filter):
        return replace(where, kinds=tuple(Kind(kind) for kind in chosen))
    if where is not None and where.get("kind") is not None:
        raise InputError("kinds", kinds, "stands beside a filter by kind", "Name the kinds once.")
    return {**(where or {}), "kind": chosen}


def _recorded_until(where: Filter) -> datetime | None:
    """Return the end of the day that a question stands at, until when facts may begin.

    What nobody dated counts from when it was recorded, and most dates say no more than the day. A
    fact that begins later on the day is ranked below the one whose place it takes. `known_at` asks
    for the exact time.
    """
    if where.as_of is None or where.known_at is not None:
        return where.recorded_until
    return datetime.combine(where.as_of.date(), time.max, where.as_of.tzinfo)


def _query(text: object, limit: int) -> str:
    if not isinstance(text, str):
        raise InputError("query", text, "must be text", "Ask in words.")
    if not text.strip():
        raise InputError(
            "query",
            text,
            "is empty",
            "Ask in words; to browse, ask for what is recent, important or popular.",
        )
    if len(text) > limit:
        raise InputError(
            "query",
            f"{len(text)} characters",
            f"is longer than {limit} characters",
            "Ask more briefly, or raise recall.max_query_characters.",
        )
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise InputError(
            "query", text, "holds a NUL or half a character", "Pass valid Unicode text."
        )
    return text


def filter_of(
    where: Mapping[str, Any] | Filter | None,
    *,
    settings: Settings,
    now: datetime,
    as_of: Moment | None,
    known_at: Moment | None,
) -> Filter:
    """Return the filter that a mapping such as {"category": "fact", "since": "2026-01-01"} means.

    It sees what can be served whole.
    """
    if where is not None and not isinstance(where, Mapping | Filter):
        raise InputError(
            "where", where, "must be a mapping or a Filter", 'Write it as {"category": "fact"}.'
        )
    chosen = (
        replace(where, now=now, kinds=where.kinds or SERVED)
        if isinstance(where, Filter)
        else _from_mapping(dict(where or {}), settings, now)
    )
    return replace(
        chosen,
        as_of=chosen.as_of if as_of is None else stand(as_of, "as_of"),
        known_at=chosen.known_at if known_at is None else stand(known_at, "known_at"),
    )


def stand(moment: Moment, field: str) -> datetime:
    """Return the moment that is asked about.

    Of a day its end, so that what became true or known on that day counts.
    """
    return parse_time(moment, field, end_of_day=True)


def _from_mapping(where: dict[str, Any], settings: Settings, now: datetime) -> Filter:
    for key in where:
        one_of("where", key, WHERE_KEYS)
    since, until = where.get("since"), where.get("until")
    return Filter(
        space=_space(where.get("space"), settings),
        kinds=tuple(
            Kind(one_of("where.kind", name, tuple(Kind))) for name in _many(where.get("kind"))
        )
        or SERVED,
        categories=tuple(
            one_of("where.category", name, settings.memory.categories)
            for name in _many(where.get("category"))
        ),
        # Names and metadata are put in order as they are when a memory is written, so that they are
        # found again.
        tags=names("tags", _many(where.get("tags")), limit=settings.memory.max_tags),
        metadata=plain_metadata(
            where.get("metadata") or {}, limit_bytes=settings.memory.max_metadata_bytes
        ),
        since=None if since is None else parse_time(since, "where.since"),
        until=None if until is None else parse_time(until, "where.until", end_of_day=True),
        archived=bool(where.get("archived", False)),
        now=now,
    )


def _space(space: object, settings: Settings) -> str:
    return (
        settings.store.space
        if space is None
        else line("where.space", space, limit=MAX_NAME_CHARACTERS)
    )


def _many(value: object) -> list[object]:
    if value is None:
        return []
    if isinstance(value, str):
        return [value]
    if not isinstance(value, Iterable):
        raise InputError(
            "where",
            value,
            "must be a name or a list of names",
            "Write it as 'name' or ['one', 'two'].",
        )
    return list(value)


def unknown(id: NodeId) -> NotFoundError:
    """Return the error of an id that no memory has, or none that the caller may know of."""
    return NotFoundError(f"No memory {id}. List them with: clew list", id=id)


def unknown_conflict(id: str) -> NotFoundError:
    """Return the error of an id under which no conflict is, or none that the caller may know of."""
    return NotFoundError(f"No conflict {id}. List them with: clew conflicts", id=id)


def whole(field: str, value: object, least: int, most: int) -> int:
    """Return a whole number within limits."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InputError(
            field,
            value,
            f"must be a whole number from {least} to {most}",
            f"Leave {field} out for the default.",
        )
    return value


def number(field: str, value: object, least: float, most: float) -> float:
    """Return a finite number within limits."""
    # never true of NaN
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise InputError(
            field,
            value,
            f"must be a number from {least:g} to {most:g}",
            f"Leave {field} out for the default.",
        )
    return float(value)


def custom_weights(weights: Mapping[str, float]) -> Weights:
    """Return custom weights; those left out are 0, and not all may be."""
    if not isinstance(weights, Mapping):
        raise InputError(
            "weights", weights, "must be a mapping", f"Name some of {', '.join(WEIGHT_NAMES)}."
        )
    values = {
        one_of("weights", name, WEIGHT_NAMES): number(f"weights.{name}", value, 0.0, 1e6)
        for name, value in weights.items()
    }
    if not any(values.values()):
        raise InputError(
            "weights",
            dict(weights),
            "are all zero",
            f"Give at least one of {', '.join(WEIGHT_NAMES)} a positive number.",
        )
    return Weights(**{name: values.get(name, 0.0) for name in WEIGHT_NAMES})


# Lists page by page: a cursor is where the page before was left off, so that what is written
# meanwhile neither repeats nor hides a row.

WAY_OUT = (
    "Pass the cursor of the page before as it came, with the same sort, or none for the first page."
)


@dataclass(frozen=True, slots=True)
class Page:
    """Some of a list, and where it goes on; no cursor at its end."""

    nodes: tuple[Node, ...]
    cursor: str | None


def page_of(listed: tuple[Node, ...], *, sort: Sort, limit: int) -> Page:
    """Return the first `limit` of a list that was asked for one more, which tells whether it goes on."""
    shown = listed[:limit]
    return Page(shown, cursor_at(shown[-1], sort) if len(listed) > limit else None)


def cursor_at(last: Node, sort: Sort) -> str:
    """Return the cursor behind a node: opaque, and nothing in it that the node does not say."""
    value = {Sort.RECENT: 0, Sort.IMPORTANT: last.importance, Sort.POPULAR: last.accesses}[sort]
    told = json.dumps([sort, value, iso(last.t_valid), last.id], separators=(",", ":"))
    return base64.urlsafe_b64encode(told.encode()).decode().rstrip("=")


def spot_at(cursor: object, sort: Sort) -> Spot:
    """Return where a cursor points, or raise an InputError."""
    if not isinstance(cursor, str):
        raise InputError("cursor", cursor, "must be text", WAY_OUT)
    try:
        told = parse_json(
            base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        )
        other, value, t_valid, id = told
        spot = Spot(
            float(value),
            parse_time(t_valid, "cursor"),
            line("cursor", id, limit=MAX_NAME_CHARACTERS),
        )
    except (binascii.Error, ValueError, TypeError, OverflowError, InputError) as error:
        raise InputError("cursor", cursor, "is not one that Clew gave", WAY_OUT) from error
    if other != sort:
        raise InputError(
            "cursor", cursor, f"belongs to the order {other!s}, not to {sort}", WAY_OUT
        )
    return spot
