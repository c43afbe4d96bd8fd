"""A process that forks with an open memory.

Both sides go on, and neither takes the file from under the other.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")

OPENED = """
import os, sys, threading, warnings, clew
warnings.simplefilter("ignore")
path, hashing = sys.argv[1], {"model.embedder": "hashing"}
memory = clew.open(path, **hashing)
memory.remember("The staging server is called Halcyon.")
memory.recall("staging")
first, second = os.pipe(), os.pipe()

def signal(pipe): os.write(pipe[1], b"x")
def wait(pipe): os.read(pipe[0], 1)
def finish(child): assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

"""


def run(script: str, path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", OPENED + script, str(path)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_parent_and_child_both_remember_and_recall_whoever_closes_first(tmp_path: Path) -> None:
    script = """
child = os.fork()
if not child:
    memory.remember("Written by the child while the parent has the file open.")
    signal(first)
    wait(second)
    memory.remember("Written by the child after the parent has closed.")
    assert "Halcyon" in memory.recall("Halcyon staging server").hits[0].text
    memory.close()
    os._exit(0)
memory.remember("Written by the parent in the meantime.")
wait(first)
memory.close()
signal(second)
finish(child)
with clew.open(path, **hashing) as memory:
    assert memory.stats()["nodes"] == 4 and memory.verify() == ()
"""
    run(script, tmp_path / "m.clew")


def test_a_child_that_ends_leaves_the_parent_its_memory(tmp_path: Path) -> None:
    script = """
child = os.fork()
if not child:
    memory.remember("Written by the child and closed at once.")
    memory.close()
    os._exit(0)
finish(child)
memory.remember("Written by the parent when the child is gone.")
assert memory.stats()["nodes"] == 3 and memory.verify() == ()
"""
    run(script, tmp_path / "m.clew")


def test_forks_between_the_recalls_and_writes_of_other_threads_disturb_neither_side(
    tmp_path: Path,
) -> None:
    script = """
ended, failures = threading.Event(), []

def recalling():
    while not ended.is_set():
        try:
            assert memory.recall("Halcyon staging server").hits
        except BaseException as error:
            failures.append(error)

def writing():
    for number in range(40):
        memory.remember(f"Memory {number} of a thread that writes on.", on_duplicate="insert", near=False)

threads = [threading.Thread(target=recalling), threading.Thread(target=recalling), threading.Thread(target=writing)]
for thread in threads: thread.start()
for number in range(10):
    child = os.fork()
    if not child:
        memory.remember(f"Child {number} was here.", near=False)
        assert memory.recall("Halcyon staging server").hits
        os._exit(0)
    finish(child)
threads[2].join()
ended.set()
for thread in threads: thread.join()
assert not failures, failures
assert memory.stats()["nodes"] == 51 and memory.verify() == ()
"""
    run(script, tmp_path / "m.clew")


def test_a_child_forked_inside_a_transaction_is_refused_the_file(tmp_path: Path) -> None:
    script = """
with memory.store.transaction():
    child = os.fork()
    if not child:
        for ask in (lambda: memory.recall("staging"), lambda: clew.open(path, **hashing)):
            try:
                ask()
                os._exit(1)
            except clew.ClewError as error:
                assert "forked while the store was in use" in str(error)
        os._exit(0)
    finish(child)
memory.remember("Written by the parent in the end.")
assert memory.stats()["nodes"] == 2 and memory.verify() == ()
"""
    run(script, tmp_path / "m.clew")
