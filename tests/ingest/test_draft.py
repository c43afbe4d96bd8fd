"""Drafts: every field is checked, and an error names the field and the way out."""

from __future__ import annotations

import math
import unicodedata
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest

from clew.errors import InputError
from clew.memories.draft import Draft, OnDuplicate, draft, embedding_text
from clew.settings import Settings, load
from clew.types import Stability

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
TEXT = "The staging database runs on port 5433"


def drafted(text: Any = TEXT, *, settings: Settings | None = None, **fields: Any) -> Draft:
    return draft(text, settings=settings or Settings(), now=NOW, **fields)


def refusal(**fields: Any) -> InputError:
    with pytest.raises(InputError) as caught:
        drafted(**fields)
    return caught.value


def test_a_text_alone_takes_the_settings_defaults() -> None:
    assert drafted() == Draft(text=TEXT, category="observation", importance=0.5, space="default")


def test_every_field_arrives_as_it_is_kept() -> None:
    found = drafted(
        category="fact",
        trigger="correction",
        importance=1,
        title="  Staging \n database ",
        space="team",
        stability="dynamic",
        valid_from="2026-01-01",
        valid_to=date(2026, 6, 1),
        tags=["db", "db", "ops"],
        metadata={"a": (1, {"b": None})},
        source="chat:7",
        keywords=["postgres"],
        idempotency_key="k1",
        on_duplicate="insert",
        near=False,
    )
    assert (found.title, found.importance, found.stability) == (
        "Staging database",
        1.0,
        Stability.DYNAMIC,
    )
    assert (found.valid_from, found.valid_to) == (
        datetime(2026, 1, 1, tzinfo=UTC),
        datetime(2026, 6, 1, tzinfo=UTC),
    )
    assert (found.tags, found.metadata, found.keywords) == (
        ("db", "ops"),
        {"a": [1, {"b": None}]},
        ("postgres",),
    )
    assert (found.on_duplicate, found.near, found.idempotency_key) == (
        OnDuplicate.INSERT,
        False,
        "k1",
    )


def test_near_follows_the_setting_unless_the_caller_says() -> None:
    settings = load(environ={"HOME": "/nowhere"}, overrides={"duplicates.near": False}).settings
    assert drafted(settings=settings).near is False
    assert drafted(settings=settings, near=True).near is True


def test_the_category_of_ones_own_is_allowed_once_it_is_in_the_settings() -> None:
    settings = load(
        environ={"HOME": "/nowhere"}, overrides={"memory.categories": ["recipe", "observation"]}
    ).settings
    assert drafted(category="recipe", settings=settings).category == "recipe"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"category": "fatc"}, "Did you mean 'fact'"),
        ({"category": "Fact"}, "Did you mean 'fact'"),
        ({"category": "zzz"}, "memory.categories"),
        ({"category": ""}, "memory.categories"),
        ({"category": 7}, "memory.categories"),
        ({"trigger": "problem-solutoin"}, "Did you mean 'problem-solution'"),
        ({"stability": "stable"}, "Did you mean 'static'"),
        ({"on_duplicate": "ignore"}, "reinforce, insert, error"),
        ({"importance": math.nan}, "from 0 to 1"),
        ({"importance": math.inf}, "from 0 to 1"),
        ({"importance": -0.1}, "from 0 to 1"),
        ({"importance": 1.1}, "from 0 to 1"),
        ({"importance": True}, "from 0 to 1"),
        ({"importance": "0.5"}, "from 0 to 1"),
        ({"valid_from": "2026-02-30"}, "is not a moment that exists"),
        ({"valid_from": "yesterday"}, "ISO 8601"),
        ({"valid_from": 1_700_000_000}, "ISO 8601"),
        ({"valid_from": "0001-01-01T00:00:00+14:00"}, "ISO 8601"),
        ({"valid_from": "2026-03-01", "valid_to": "2026-03-01"}, "must be after valid_from"),
        ({"valid_from": "2026-03-02", "valid_to": "2026-03-01"}, "must be after valid_from"),
        ({"valid_to": "2026-02-01"}, "must be after now"),
        ({"tags": "db"}, "list of texts"),
        ({"tags": [""]}, "is empty"),
        ({"tags": [3]}, "must be text"),
        ({"tags": 3}, "list of texts"),
        ({"tags": [str(i) for i in range(33)]}, "memory.max_tags"),
        ({"tags": ["x" * 201]}, "longer than 200"),
        ({"keywords": [str(i) for i in range(11)]}, "memory.max_keywords"),
        ({"metadata": {"a": math.nan}}, "is not JSON"),
        ({"metadata": {1: "a"}}, "every key must be text"),
        ({"metadata": {"a": {2: "b"}}}, "every key must be text"),
        ({"metadata": {"a": object()}}, "object has no form in JSON"),
        ({"metadata": {"a": b"bytes"}}, "bytes has no form in JSON"),
        ({"metadata": {"\ud800": "a"}}, "is not JSON"),
        ({"metadata": [1]}, "must be a mapping"),
        ({"metadata": {"a": "x" * 20_000}}, "memory.max_metadata_bytes"),
        ({"title": "x" * 201}, "longer than 200"),
        ({"title": 0}, "must be text"),
        ({"space": ""}, "is empty"),
        ({"space": "  "}, "is empty"),
        ({"space": "a\0"}, "U+0000"),
        ({"source": "x" * 2001}, "longer than 2000"),
        ({"idempotency_key": ""}, "is empty"),
        ({"text": b"bytes"}, "must be text"),
        ({"text": None}, "must be text"),
    ],
)
def test_a_wrong_field_is_refused_by_name_with_the_way_out(
    fields: dict[str, Any], said: str
) -> None:
    error = refusal(**fields)
    assert error.field == list(fields)[-1]
    assert said in str(error)


def test_metadata_that_contains_itself_is_refused() -> None:
    knot: dict[str, Any] = {}
    knot["self"] = knot
    assert "is not JSON" in str(refusal(metadata=knot))


def test_numbers_of_other_libraries_are_importances_too() -> None:
    assert drafted(importance=np.float32(0.25)).importance == 0.25


def test_times_are_kept_in_utc_and_naive_ones_are_utc() -> None:
    berlin = timezone(timedelta(hours=1))
    assert drafted(valid_from=datetime(2026, 1, 1, 1, tzinfo=berlin)).valid_from == datetime(
        2026, 1, 1, tzinfo=UTC
    )
    assert drafted(valid_from="2026-01-01T00:00:00").valid_from == datetime(2026, 1, 1, tzinfo=UTC)


def test_a_huge_text_makes_a_draft_without_being_read() -> None:
    assert len(drafted("x" * 10_000_000).text) == 10_000_000


def test_the_embedded_text_begins_with_the_title() -> None:
    assert embedding_text(drafted(title="Staging")) == f"Staging\n{TEXT}"
    assert embedding_text(drafted()) == TEXT


@pytest.mark.parametrize(
    "value",
    [
        "  two   words ",
        "tab\there",
        "line\nbreak",
        "e\u0301te\u0301  x",
        "\u00a0non breaking",
        "\x1funit",
    ],
)
def test_a_source_has_its_white_space_in_order_whatever_it_is_written_in(value: str) -> None:
    assert drafted(source=value).source == " ".join(unicodedata.normalize("NFC", value).split())


@pytest.mark.parametrize(
    ("value", "kept"),
    [("nul\x00l", "null"), ("escape\x1b[0m", "escape[0m"), ("\x7f", ""), ("half \ud800", "half")],
)
def test_a_source_is_kept_without_control_characters(value: str, kept: str) -> None:
    assert drafted(source=value).source == kept
    assert "Removed 1 control character" in drafted(source=value).notes[0]
