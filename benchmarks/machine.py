"""What a reader must know of the machine, and nothing that names it; and what else it was doing."""

from __future__ import annotations

import os
import platform
import resource
import time
from pathlib import Path
from typing import Any


def facts() -> dict[str, Any]:
    """Return processor, cores, memory and system."""
    model = next(
        (
            line.partition(":")[2].strip()
            for line in _lines("/proc/cpuinfo")
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    memory = next(
        (
            int(line.split()[1]) / 2**20
            for line in _lines("/proc/meminfo")
            if line.startswith("MemTotal")
        ),
        None,
    )
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "memory_gb": round(memory) if memory else None,
        "system": platform.system(),
        "python": platform.python_version(),
    }


class Neighbours:
    """Measures how many cores everybody else kept busy while a child of ours ran."""

    def __init__(self) -> None:
        self._wall, self._busy, self._own = (
            time.perf_counter(),
            _busy_seconds(),
            _children_seconds(),
        )

    def cores(self) -> float | None:
        """Return the mean number of cores used by others since the start.

        None where it cannot be known.
        """
        if self._busy is None:
            return None
        busy, own = (_busy_seconds() or 0.0) - self._busy, _children_seconds() - self._own
        return max(0.0, round((busy - own) / (time.perf_counter() - self._wall), 2))


def _busy_seconds() -> float | None:
    first = next(iter(_lines("/proc/stat")), None)
    if first is None:
        return None
    user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, first.split()[1:9])
    return (user + nice + system + irq + softirq + steal) / float(os.sysconf("SC_CLK_TCK"))


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _lines(path: str) -> list[str]:
    file = Path(path)
    return file.read_text().splitlines() if file.exists() else []
