"""Kill −9: what was acknowledged is there, what was not is there whole or not at all."""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path

import pytest

import clew
from clew.models.vectors import HashingEmbedder

from .conftest import Nursery
from .writer import MODELS, open_with_its_model, text_of

STORES = 3
# on each store, so that recovery from a recovered store is seen: 21 in all, 16 more while
# reembedding
ROUNDS = 7
SAMPLE = 10


class Ledger:
    """What the writers said they did."""

    def __init__(self) -> None:
        self.keys: dict[str, str] = {}
        self.leaving: set[str] = set()
        self.gone: set[str] = set()

    def read(self, lines: list[str]) -> None:
        for sign, *rest in (line.split(" ") for line in lines):
            if sign == "+":
                self.keys[rest[0]] = rest[1]
            elif sign == "?":
                self.leaving.add(rest[0])
            elif sign == "-":
                del self.keys[rest[0]]
                self.gone.add(rest[0])

    def check(self, memory: clew.Clew, draw: random.Random) -> None:
        found = {node.id: node for node in memory.store.nodes()}
        lost = self.keys.keys() - found.keys() - self.leaving
        assert not lost, f"acknowledged and lost: {[self.keys[id] for id in lost]}"
        assert not self.gone & found.keys(), "forgotten and back"
        for id, key in self.keys.items():
            assert id not in found or found[id].text == text_of(key)
        self._take_in({id: node.text for id, node in found.items() if id not in self.keys})
        # killed while forgetting: it was forgotten
        self.keys = {id: key for id, key in self.keys.items() if id in found}
        assert memory.verify() == ()
        assert memory.stats()["unembedded"] == 0
        for id in draw.sample(sorted(self.keys), min(SAMPLE, len(self.keys))):
            assert [event.kind.value for event in memory.history(id)] == ["ADD"]
            for recipe in ("lexical", "dense"):
                assert (
                    memory.recall(
                        found[id].text, recipe=recipe, k=1, track=False, weights={"semantic": 1}
                    )
                    .hits[0]
                    .id
                    == id
                )

    def _take_in(self, strangers: dict[str, str]) -> None:
        """Writes the kill kept from being reported are allowed, if they are whole.

        Each text, and each batch.
        """
        batches: dict[str, int] = defaultdict(int)
        for id, text in strangers.items():
            key = text.split(" ")[2]
            assert text == text_of(key)
            self.keys[id] = key
            batches[key.rsplit(".", 1)[0] + "/" + key.rsplit("of", 1)[1]] += 1
        for batch, count in batches.items():
            assert count == int(batch.rsplit("/", 1)[1]), f"half a batch: {batch}"


@pytest.mark.parametrize("store", range(STORES))
def test_every_acknowledged_write_survives_a_kill_at_any_point(
    tmp_path: Path, nursery: Nursery, store: int
) -> None:
    draw = random.Random(f"kill {store}")
    path, ledger = tmp_path / "memory.clew", Ledger()
    killed = 0
    for number in range(ROUNDS):
        early = draw.random() < 0.15  # while the store is being made or opened
        lines, ended = nursery.run(
            "mixed",
            path,
            f"s{store}r{number}",
            kill_after_lines=0 if early else draw.randint(1, 80),
            pause_seconds=draw.random() * 0.03,
        )
        killed += ended
        ledger.read(lines)
        with open_with_its_model(path) as memory:
            ledger.check(memory, draw)
    assert killed == ROUNDS
    assert len(ledger.keys) > 50


def test_reembedding_resumes_after_every_kill_and_the_old_vectors_serve_meanwhile(
    tmp_path: Path, nursery: Nursery
) -> None:
    draw = random.Random("reembed")
    path = tmp_path / "memory.clew"
    keys = [f"k{n}.0.0of1" for n in range(150)]
    with clew.open(path, embedder=HashingEmbedder(32)) as memory:
        memory.remember_many(map(text_of, keys), near=False)
    for model, other in (("hashing-64", "hashing-32"), ("hashing-32", "hashing-64")):
        totals = []
        for _ in range(8):
            lines, killed = nursery.run(
                "reembedding",
                path,
                model,
                kill_after_lines=draw.randint(1, 5),
                pause_seconds=draw.random() * 0.01,
            )
            totals.append(int(lines[-1].split(" ")[0]))
            with open_with_its_model(path) as memory:
                stats = memory.stats()
                assert (stats["nodes"], stats["vectors"], stats["unembedded"]) == (150, 150, 0)
                assert stats["model"] in ((other, model) if killed else (model,))
                assert memory.recall(text_of(keys[7]), recipe="dense", k=1, track=False).hits[
                    0
                ].text == text_of(keys[7])
                assert memory.verify() == ()
            if not killed:
                break
        with clew.open(path, embedder=HashingEmbedder(MODELS[model])) as memory:
            done = memory.reembed()
            assert memory.stats()["model"] == model
            # at most the batch in hand is made twice
            assert sum(totals) + done.embedded <= 150 + 8 * len(totals)
            assert memory.recall(text_of(keys[7]), recipe="dense", k=1).hits[0].text == text_of(
                keys[7]
            )
            assert memory.verify() == ()
