"""Closing waits for what is being sent, side by side, and not for ever."""

from __future__ import annotations

import threading

from clew.engine.telemetry.exporters import together
from tests.waiting import LONG_SECONDS


def test_every_step_is_taken_once() -> None:
    taken: list[str] = []
    close = together(
        lambda: taken.append("spans"), lambda: taken.append("metrics"), seconds=LONG_SECONDS
    )
    close()
    close()
    assert sorted(taken) == ["metrics", "spans"]


def test_a_step_that_does_not_end_holds_up_neither_the_others_nor_the_caller() -> None:
    answered, taken = threading.Event(), threading.Event()
    together(answered.wait, taken.set, seconds=0.01)()
    taken.wait()
    assert not answered.is_set()
    answered.set()
