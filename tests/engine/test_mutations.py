"""Random damage to a store's files, as `python -m benchmarks mutations` does it, a hundred times."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks import mutations

from clew.store.sqlite import segments

MUTATIONS = 100
NOTES = 20  # fewer than a store has that is measured, so that a hundred take seconds


def test_no_damage_to_a_file_or_its_journal_gives_anything_but_an_answer_or_a_clew_error(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "POSTINGS_FROM", NOTES // 2)
    results = list(mutations.run_range(0, MUTATIONS, seed=17, folder=tmp_path, notes=NOTES))
    assert [fault for result in results for fault in result.faults] == []
    assert len(results) == MUTATIONS
    # the damage is real: some files cannot be opened,
    assert sum(not result.opened for result in results) > 2
    assert sum(result.damaged for result in results) > MUTATIONS // 5  # in some it is found,
    # and some of these are repaired
    assert sum(result.repaired for result in results) > MUTATIONS // 10


def test_the_check_would_notice_an_exception_that_is_not_clews() -> None:
    result = mutations.Result("a mutation")

    def fail() -> None:
        raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "planned")

    assert mutations._attempt(result, "list", fail) is None
    assert "UnicodeDecodeError" in result.faults[0]
