"""Other libraries in the same table; each is tried where it is installed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks import words

from clew.errors import InputError
from clew.evaluate import peer_libraries as port
from clew.evaluate import peers
from clew.evaluate.plan import Plan, Watch
from clew.evaluate.running import run
from clew.models.vectors import HashingEmbedder
from clew.ports import EmbedRole
from clew.types import Vectors
from tests.evaluate.sample import beir_folder, documents


def missing(name: str) -> object:
    raise ImportError(name)


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    settings = {"model.embedder": "hashing-64"}
    return Plan(
        dataset="beir",
        path=beir_folder(tmp_path),
        resamples=100,
        cache=tmp_path / "cache",
        settings=settings,
    )


def test_a_library_that_is_missing_has_a_row_that_says_how_to_install_it(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(port, "import_module", missing)
    rows = {
        row.system: row
        for row in run(plan, systems=("clew",), against=peers.NAMES, watch=Watch()).result.rows
    }
    assert list(rows) == ["bm25", "clew", *peers.NAMES]
    for name in peers.NAMES:
        assert rows[name].error.startswith("not installed: pip install")
        assert rows[name].measures == {}


def test_an_unknown_peer_is_refused_before_anything_is_loaded(plan: Plan) -> None:
    with pytest.raises(InputError, match="bm25s, chromadb, lancedb, txtai"):
        run(plan, against=("elastic",), watch=Watch())
    with pytest.raises(InputError):
        peers.peer("elastic")


class Own:
    """A peer of the tests: by the length of the texts."""

    name = "own"
    packages = ("own",)
    about = "nothing"

    def __init__(self) -> None:
        self.needs_vectors = self.breaks = False
        self.opened = self.closed = 0

    def open(self, corpus: port.Corpus, folder: Path) -> None:
        assert folder.is_dir()
        self.opened += 1
        self.order = sorted(range(len(corpus.texts)), key=lambda place: len(corpus.texts[place]))

    def search(self, text: str, vector: Vectors | None, space: str, k: int) -> list[int]:
        if self.breaks:
            raise RuntimeError("out of order")
        return [*self.order[:k], self.order[0]]  # one twice: it counts once

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> Own:
    made = Own()
    monkeypatch.setattr(port, "import_module", lambda name: None)
    monkeypatch.setattr(peers, "peer", lambda name: made)
    monkeypatch.setattr(peers, "check", lambda names: None)
    return made


def test_a_peer_is_asked_what_the_systems_are_asked_and_opened_once(plan: Plan, own: Own) -> None:
    for _ in range(2):  # the second time the ledger answers, and nothing is indexed again
        report = run(plan, systems=("clew",), against=("own",), watch=Watch())
        row = next(row for row in report.result.rows if row.system == "own")
        assert row.cost["chunks_examined"] == 10
        assert row.p_vs_bm25 is not None
        assert "own" in report.result.versions
    assert (own.opened, own.closed) == (1, 1)


def test_a_peer_that_breaks_has_a_row_that_says_so(plan: Plan, own: Own) -> None:
    own.breaks = True
    row = run(plan, systems=("clew",), against=("own",), watch=Watch()).result.rows[-1]
    assert (row.system, row.error) == ("own", "failed: RuntimeError: out of order")
    assert own.closed == 1


def test_a_peer_that_needs_vectors_says_so_where_there_is_no_model(plan: Plan, own: Own) -> None:
    own.needs_vectors = True
    # so that clew's row differs from bm25's
    strict = {"model.embedder": "none", "recall.budget_tokens": 40}
    row = run(
        replace(plan, settings=strict), systems=("clew",), against=("own",), watch=Watch()
    ).result.rows[-1]
    assert (row.system, own.opened) == ("own", 0)
    assert "needs a model" in row.error


@pytest.mark.parametrize("name", peers.NAMES)
@pytest.mark.filterwarnings("ignore")
def test_a_peer_finds_what_is_there_and_keeps_to_the_space(name: str, tmp_path: Path) -> None:
    pytest.importorskip(name)
    texts = [document["text"] for document in documents()]
    spaces = ["one's" if number % 2 else "two" for number in range(len(texts))]
    model = HashingEmbedder(64)
    peer = peers.peer(name)
    peer.open(peers.Corpus(texts, spaces, model.embed(texts, role=EmbedRole.PASSAGE)), tmp_path)
    try:
        for place in (3, 8):
            vector = model.embed([texts[place]], role=EmbedRole.QUERY)[0]
            found = peer.search(texts[place], vector, spaces[place], 5)
            assert found[0] == place
            assert {spaces[each] for each in found} == {spaces[place]}
            assert len(found) <= 5
        assert peer.search("…", np.zeros(64, np.float32) + 0.125, "nobody", 5) == []
    finally:
        peer.close()


@pytest.mark.parametrize("name", words.SETS)
def test_word_search_is_not_weaker_than_bm25s_by_more_than_a_point(name: str) -> None:
    pytest.importorskip("bm25s")
    if not (words.DATA / words.SETS[name].folder).is_dir():
        pytest.skip(f"{words.DATA / words.SETS[name].folder} is not here")
    scores = words.compared(name)
    assert scores.clew >= scores.bm25s - 1.0


def test_no_peer_is_imported_until_it_is_opened() -> None:
    for name in peers.NAMES:
        assert peers.peer(name).name == name
        assert type(peers.peer(name)).__doc__
