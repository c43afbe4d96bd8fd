"""Linear work passes and superlinear work fails, also where the machine makes linear work look superlinear at one size."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests import growth
from tests.growth import check_linear

SIZE = 1000
UNIT_SECONDS = 0.01 / SIZE  # what one unit of input costs: a short text takes 10 ms


@pytest.fixture
def exact_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take what work returns for its CPU seconds, so that no test of the rule depends on the machine."""
    monkeypatch.setattr(growth, "cpu_seconds", lambda work, size: work(size))


@pytest.mark.parametrize("power", [1.6, 2, 3])
@pytest.mark.usefixtures("exact_time")
def test_superlinear_work_fails(power: float) -> None:
    with pytest.raises(AssertionError):
        check_linear(lambda size: UNIT_SECONDS * SIZE * (size / SIZE) ** power, SIZE)


def stepping(step: int, factor: float) -> Callable[[int], float]:
    """Return linear work whose unit costs more from some size on."""
    return lambda size: UNIT_SECONDS * size * (factor if size >= step else 1)


@pytest.mark.parametrize("step", [SIZE + 1, 2 * SIZE, 4 * SIZE])
@pytest.mark.usefixtures("exact_time")
def test_linear_work_with_a_step_in_its_constant_passes(step: int) -> None:
    check_linear(stepping(step, 4), SIZE)


@pytest.mark.usefixtures("exact_time")
def test_quadratic_work_with_a_step_in_its_constant_fails() -> None:
    step = stepping(2 * SIZE, 4)
    with pytest.raises(AssertionError):
        check_linear(lambda size: step(size) * size / SIZE, SIZE)


def test_measured_quadratic_work_fails_and_measured_linear_work_passes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(growth, "FLOOR_SECONDS", 0.0002)
    with pytest.raises(AssertionError):
        check_linear(lambda size: [None for _ in range(size) for _ in range(size)], 150)
    check_linear(lambda size: [None for _ in range(size * 100)], 150)
