"""A store as lines, and back."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clew
from clew.errors import InputError
from clew.testing import FixedClock, later
from clew.text.words import content_hash
from tests.conftest import Open


@pytest.fixture
def rich(memory: clew.Clew, clock: FixedClock) -> clew.Clew:
    """A store with something of everything."""
    first = memory.remember(
        "The staging server runs Postgres 16",
        title="Staging",
        tags=["db"],
        metadata={"a": {"b": [1, 2.5, None]}},
    )
    second = memory.remember(
        "Die Prüfung läuft um 数据库 🎉 ab",
        space="other",
        category="plan",
        valid_to=later(9),
        idempotency_key="k",
    )
    third = memory.remember(
        'A line with a \u2028 separator and "quotes" and a backslash \\', importance=0.123456789
    )
    memory.remember("The staging server runs Postgres 16", source="again")
    clock.advance(hours=2, microseconds=7)
    memory.recall("staging server")
    memory.protect(str(third.id))
    memory.link(str(first.id), str(third.id), weight=0.25, evidence="seen together")
    memory.link(str(third.id), str(first.id), kind="follows")
    memory.store.update(str(second.id), t_expired=clock.now)
    gone = memory.remember("This one is going to be forgotten soon")
    memory.forget(str(gone.id))
    return memory


def test_a_loaded_export_is_the_same_store(
    rich: clew.Clew, open_clew: Open, tmp_path: Path
) -> None:
    lines = list(rich.export())
    for target in (":memory:", tmp_path / "copy.clew"):
        copy = open_clew(target)
        loaded = copy.load(lines)
        assert (loaded.nodes, loaded.skipped, loaded.edges, loaded.notes) == (3, 0, 2, ())
        assert list(copy.export()) == lines
        assert copy.verify() == ()
        for name in (
            "nodes",
            "live",
            "expired",
            "edges",
            "by_space",
            "model",
            "vectors",
            "unembedded",
        ):
            assert copy.stats()[name] == rich.stats()[name], name
        # that something was forgotten is not passed on
        assert copy.stats()["events"] == rich.stats()["events"] - 1
        ask = "staging server Postgres"
        assert [(hit.id, hit.score) for hit in copy.recall(ask, track=False).hits] == [
            (hit.id, hit.score) for hit in rich.recall(ask, track=False).hits
        ]


def test_loading_twice_changes_nothing(rich: clew.Clew, open_clew: Open, tmp_path: Path) -> None:
    lines = list(rich.export())
    copy = open_clew(tmp_path / "copy.clew")
    copy.load(lines)
    again = copy.load(lines)
    assert (again.nodes, again.skipped, again.events, again.vectors) == (0, 3, 0, 0)
    assert list(copy.export()) == lines
    assert rich.load(lines).skipped == 3
    assert list(rich.export()) == lines


def test_an_export_of_one_space_holds_only_that(rich: clew.Clew, open_clew: Open) -> None:
    copy = open_clew(":memory:")
    copy.load(rich.export(space="other"))
    assert copy.stats()["by_space"] == {"other": 1}
    assert copy.stats()["edges"] == 0


def test_an_export_without_vectors_is_filled_by_reembedding(
    rich: clew.Clew, open_clew: Open
) -> None:
    lines = list(rich.export(vectors=False))
    assert not any('"vector"' in line for line in lines)
    copy = open_clew(":memory:")
    copy.load(lines)
    assert copy.stats()["unembedded"] == 2
    copy.reembed()
    assert copy.stats()["unembedded"] == 0


def test_vectors_of_another_model_stay_out_and_it_is_said(rich: clew.Clew, open_clew: Open) -> None:
    other = open_clew(":memory:", model={"embedder": "hashing-64"})
    other.remember("This store has vectors of its own")
    loaded = other.load(rich.export())
    assert (loaded.nodes, loaded.vectors) == (3, 0)
    assert "clew reembed" in loaded.notes[0]
    other.reembed()
    assert other.stats()["unembedded"] == 0


def test_many_nodes_are_loaded_in_batches_with_what_belongs_to_them(
    open_clew: Open, tmp_path: Path
) -> None:
    memory = open_clew(duplicates={"near": False})
    memory.remember_many([f"Fact number {n} is about the subject {n * 31}" for n in range(1200)])
    lines = list(memory.export())
    copy = open_clew(tmp_path / "copy.clew")
    loaded = copy.load(iter(lines))
    assert (loaded.nodes, loaded.events, loaded.vectors) == (1200, 1200, 1200)
    assert list(copy.export()) == lines
    assert copy.verify() == ()


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"deeper": value}
    return value


def numbers(values: list[float]) -> str:
    return base64.b64encode(np.array(values, "<f2").tobytes()).decode()


def changed(line: str, record_kind: str, /, **values: Any) -> str:
    record = json.loads(line)
    record[record_kind].update(values)
    return json.dumps(record)


def test_a_bad_line_is_named_and_nothing_of_the_file_is_loaded(
    rich: clew.Clew, open_clew: Open
) -> None:
    good = list(rich.export())
    node = next(n for n, line in enumerate(good) if '"node":{' in line)
    event = next(n for n, line in enumerate(good) if '"event":{' in line)
    vector = next(n for n, line in enumerate(good) if '"vector":{' in line)
    edge = next(n for n, line in enumerate(good) if '"edge":{' in line)
    bad = [
        (node, "{not json"),
        (node, "[1, 2]"),
        (node, '{"something": "else"}'),
        (node, '{"node": 5}'),
        (node, '{"node": {}}'),
        (node, changed(good[node], "node", t_valid="2026-02-30")),
        (node, changed(good[node], "node", t_valid=5)),
        (node, changed(good[node], "node", kind="planet")),
        (node, changed(good[node], "node", text=5)),
        (node, changed(good[node], "node", text="half \ud800 a character")),
        (node, changed(good[node], "node", importance=float("nan"))),
        (node, changed(good[node], "node", tags="db")),
        (node, changed(good[node], "node", unheard="of")),
        (node, changed(good[node], "node", metadata=[1])),
        (event, changed(good[event], "event", kind="EXPLODE")),
        (event, changed(good[event], "event", at="yesterday")),
        (vector, changed(good[vector], "vector", float16="???")),
        (vector, changed(good[vector], "vector", role="smell")),
        (edge, changed(good[edge], "edge", t_created="never")),
        (edge, changed(good[edge], "edge", weight="heavy")),
        (vector, changed(good[vector], "vector", float16="AAA=")),
        (edge, changed(good[edge], "edge", target="nowhere")),
        (node, '{"node": {}, "event": {}}'),
        (node, f'{{"node": {"[" * 100_000}'),
        (node, changed(good[node], "node", id="")),
        (node, changed(good[node], "node", id="x" * 201)),
        (node, changed(good[node], "node", id="bell \x07")),
        (node, changed(good[node], "node", space="")),
        (node, changed(good[node], "node", importance=1.5)),
        (node, changed(good[node], "node", importance=True)),
        (node, changed(good[node], "node", accesses=-1)),
        (node, changed(good[node], "node", position=1.5)),
        (node, changed(good[node], "node", start=9, end=3)),
        (node, changed(good[node], "node", protected=1)),
        (node, changed(good[node], "node", tags=["db", 5])),
        (node, changed(good[node], "node", t_invalid="1999-01-01")),
        (node, changed(good[node], "node", t_valid="+99999-01-01")),
        (node, changed(good[node], "node", text="Another text than the hash is of")),
        (node, changed(good[node], "node", text="  ", content_hash=content_hash(""))),
        (node, changed(good[node], "node", metadata=nested(65))),
        (node, changed(good[node], "node", metadata={"long": "x" * 20_000})),
        (node, changed(good[node], "node", quality={"overall": 2})),
        (event, changed(good[event], "event", detail=[1])),
        (event, changed(good[event], "event", node="nobody")),
        (vector, changed(good[vector], "vector", float16=numbers([float("nan")] * 256))),
        (vector, changed(good[vector], "vector", float16=numbers([0.5] * 256))),
        (vector, changed(good[vector], "vector", node="nobody")),
        (edge, changed(good[edge], "edge", weight=-0.5)),
        (edge, changed(good[edge], "edge", confidence=float("inf"))),
    ]
    for number, line in bad:
        copy = open_clew(":memory:")
        with pytest.raises(InputError, match=f"line {number + 1}:"):
            copy.load([*good[:number], line, *good[number + 1 :]])
        assert copy.stats()["nodes"] == 0, line


def test_a_bad_line_at_the_end_of_a_long_file_leaves_the_store_as_it_was(
    open_clew: Open, path: Path
) -> None:
    memory = open_clew(":memory:", duplicates={"near": False})
    memory.remember_many([f"Fact number {n} is about the subject {n * 31}" for n in range(600)])
    target = open_clew()
    with pytest.raises(InputError, match=r"line 1802:.*Nothing was loaded"):
        target.load([*memory.export(), "{"])
    assert (target.stats()["nodes"], target.stats()["model"], target.verify()) == (0, None, ())
    assert target.load(memory.export()).nodes == 600


def test_with_skip_invalid_the_rest_is_loaded_and_every_line_that_is_not_is_named(
    rich: clew.Clew, open_clew: Open
) -> None:
    good = list(rich.export())
    first = next(n for n, line in enumerate(good) if '"node":{' in line)
    theirs = json.loads(good[first])["node"]["id"]
    bad = [*good[:first], changed(good[first], "node", importance=7), *good[first + 1 :], "no JSON"]
    copy = open_clew(":memory:")
    loaded = copy.load(bad, skip_invalid=True)
    belonging = [n for n, line in enumerate(good, start=1) if theirs in line]
    assert [each.line for each in loaded.invalid] == [*belonging, len(bad)]
    assert loaded.invalid[0].problem == "importance: must be a number from 0 to 1 (got 7)"
    assert (loaded.nodes, copy.get(theirs), copy.verify()) == (2, None, ())
    rest = [line for n, line in enumerate(good, start=1) if n not in belonging]
    assert list(copy.export()) == rest


def test_an_id_or_a_key_that_comes_twice_is_refused(rich: clew.Clew, open_clew: Open) -> None:
    good = list(rich.export())
    twice = next(line for line in good if '"idempotency_key":"k"' in line)
    for line, problem in (
        (twice, "of an earlier line"),
        (changed(twice, "node", id="another"), "of another memory"),
    ):
        copy = open_clew(":memory:")
        with pytest.raises(InputError, match=rf"line {len(good) + 1}:.*{problem}"):
            copy.load([*good, line])
        assert copy.stats()["nodes"] == 0


def test_a_loaded_secret_is_taken_out_as_if_it_were_remembered(open_clew: Open, path: Path) -> None:
    source = open_clew(":memory:", firewall={"secrets": "allow"})
    secret = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    source.remember(
        f"The deploy key of staging is {secret}, kept by Tomas.", metadata={"key": secret}
    )
    lines = list(source.export())
    target = open_clew()
    loaded = target.load(lines)
    assert "github_token" in loaded.notes[0]
    (node,) = target.recent()
    assert secret not in f"{node}"
    assert target.verify() == ()
    assert target.stats()["unembedded"] == 1
    target.close()
    assert secret.encode() not in path.read_bytes()
    with pytest.raises(InputError, match="holds a secret") as caught:
        open_clew(":memory:", firewall={"secrets": "refuse"}).load(lines)
    assert secret not in caught.value.message
    as_it_was = open_clew(":memory:", firewall={"secrets": "allow"})
    as_it_was.load(lines)
    assert list(as_it_was.export()) == lines


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [""],
        ["{}"],
        ['{"format": "other", "version": 1}'],
        ['{"format": "clew-export", "version": 99}'],
        ['{"format": "clew-export", "version": 1, "model": "x"}'],
        ['{"format": "clew-export", "version": 1, "model": 5, "dimension": 8}'],
        ["\x00\x01"],
    ],
)
def test_what_is_no_export_is_refused_at_the_first_line(
    memory: clew.Clew, lines: list[str]
) -> None:
    with pytest.raises(InputError, match="line 1:"):
        memory.load(lines)
    assert memory.stats()["nodes"] == 0


def test_an_empty_store_round_trips(memory: clew.Clew, open_clew: Open) -> None:
    lines = list(memory.export())
    assert len(lines) == 1
    assert open_clew(":memory:").load(lines).nodes == 0
