"""Processes that write to a store until they are killed, or all at once.

    python writer.py nursery          reads jobs from standard input, forks a child for each, and
    reports its end
    python writer.py crowd PATH …     eight writers and a reader, started at the same moment

Clew is imported once and children are forked, so that a round costs milliseconds instead of a start
of Python. Every line is one write of less than a page, so lines of several processes never mix; a
line means: acknowledged.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import select
import sys
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import clew
from clew.models.vectors import HashingEmbedder

MODELS = {"hashing-32": 32, "hashing-64": 64}
# the others may hold the file for as long as the machine is busy
PATIENT = {"busy_timeout_seconds": 3600.0}
LEAST_RECALLS = 20
# enough to meet every state of the file; more would only keep the writers waiting for the processor
MOST_RECALLS = 100


def text_of(key: str) -> str:
    """Return the text that belongs to a key.

    Its end is a checksum of the rest, so that half a text shows.
    """
    draw = random.Random(key)
    words = " ".join(
        "".join(draw.choices("abdefgiklmnoprstuvz", k=draw.randint(3, 9)))
        for _ in range(draw.randint(5, 16))
    )
    body = f"The note {key} says {words}"
    return f"{body} and its checksum is {hashlib.sha256(body.encode()).hexdigest()[:16]}"


def say(*lines: str) -> None:
    os.write(1, "".join(f"{line}\n" for line in lines).encode())


def open_with_its_model(path: Path) -> clew.Clew:
    with clew.open(path, model={"embedder": "none"}) as look:
        held = look.store.model()
    return clew.open(
        path,
        embedder=HashingEmbedder(MODELS[held.id if held else "hashing-32"]),
        memory={"batch_size": 64},
    )


def mixed(path: Path, name: str) -> None:
    """Remember one or many, forget, move to the other model, compact: until killed."""
    draw = random.Random(name)
    kept: list[str] = []
    memory = open_with_its_model(path)
    for number in range(1_000_000):
        act = draw.choices(("one", "many", "forget", "reembed", "compact"), (10, 4, 4, 1, 1))[0]
        if act in ("one", "many"):
            size = 1 if act == "one" else draw.randint(2, 30)
            keys = [f"{name}.{number}.{place}of{size}" for place in range(size)]
            outcomes = memory.remember_many([text_of(key) for key in keys], near=False)
            say(*(f"+ {outcome.id} {key}" for outcome, key in zip(outcomes, keys, strict=True)))
            kept += [str(outcome.id) for outcome in outcomes]
        elif act == "forget" and kept:
            id = kept.pop(draw.randrange(len(kept)))
            say(f"? {id}")
            memory.forget(id)
            say(f"- {id}")
        elif act == "reembed":
            current = memory.stats()["model"]
            (other,) = MODELS.keys() - {current or "hashing-32"}
            say(f"= {memory.reembed(HashingEmbedder(MODELS[other])).model}")
        elif act == "compact":
            memory.compact()
            say("compacted")


def reembedding(path: Path, name: str) -> None:
    """Move the store to a model, slowly enough to be killed on the way."""
    with clew.open(path, model={"embedder": "none"}, memory={"batch_size": 8}) as memory:
        memory.reembed(
            HashingEmbedder(MODELS[name]), progress=lambda _, done, total: say(f"{done} of {total}")
        )


JOBS: dict[str, Callable[[Path, str], None]] = {"mixed": mixed, "reembedding": reembedding}


def load_everything() -> None:
    """Use a store once, so that what is loaded on first use is there before children are forked."""
    with (
        TemporaryDirectory() as folder,
        clew.open(Path(folder) / "warm.clew", embedder=HashingEmbedder(32)) as memory,
    ):
        memory.forget(str(memory.remember(text_of("first")).id))
        memory.remember_many([text_of("second"), text_of("third")], near=False)
        memory.recall(text_of("second"))
        memory.reembed(HashingEmbedder(64))
        memory.compact()


def forked(act: Callable[[], None]) -> int:
    """Run something in a child; return its process id."""
    pid = os.fork()
    if pid:
        return pid
    try:
        act()
    except BaseException:  # the child must end here whatever happened
        say(f"! {json.dumps(traceback.format_exc())}")
        os._exit(1)
    os._exit(0)


def nursery() -> None:
    load_everything()
    for line in sys.stdin:
        job, path, name = json.loads(line)
        child = forked(partial(announced, job, Path(path), name))
        # until the child's end is asked for, nobody else can have its process id
        sys.stdin.readline()
        _, status = os.waitpid(child, 0)
        say(f"end {os.waitstatus_to_exitcode(status)}")


def announced(job: str, path: Path, name: str) -> None:
    say(f"pid {os.getpid()}")
    JOBS[job](path, name)
    say("finished")


def crowd(path: Path, writers: int, writes: int) -> None:
    gate, opener = os.pipe()
    over, ender = os.pipe()
    embedder = HashingEmbedder(64)
    load_everything()

    def begun() -> None:
        os.close(opener)
        os.close(ender)
        os.read(gate, 1)  # returns when the parent closes its end: all start at once

    def write(writer: int) -> None:
        begun()
        with clew.open(path, embedder=embedder, store=PATIENT) as memory:
            for number in range(writes):
                key = f"w{writer}.{number}.0of1"
                say(f"+ {memory.remember(text_of(key)).id} {key}")

    def read() -> None:
        begun()
        recalls = 0
        with clew.open(path, embedder=embedder, store=PATIENT) as memory:
            # Until the parent closes its end of this one too; some in any case, though the machine
            # may let the writers finish before.
            while recalls < LEAST_RECALLS or (
                recalls < MOST_RECALLS and not select.select([over], [], [], 0)[0]
            ):
                for hit in memory.recall("what does the note say about its checksum").hits:
                    assert hit.text == text_of(hit.text.split(" ")[2])
                recalls += 1
        say(f"recalls {recalls}")

    reader = forked(read)
    children = [forked(partial(write, writer)) for writer in range(writers)]
    os.close(gate)
    os.close(opener)
    failures = sum(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0 for child in children)
    os.close(ender)
    failures += os.waitstatus_to_exitcode(os.waitpid(reader, 0)[1]) != 0
    say(f"failures {failures}")


if __name__ == "__main__":
    if sys.argv[1] == "nursery":
        nursery()
    else:
        crowd(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
