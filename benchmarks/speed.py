"""Runs every peer through every phase on the same data and writes what came out, also when nothing did."""

from __future__ import annotations

import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import data, environments, machine, syncs
from benchmarks.peers import Facts, SupportsScan, peer

ROOT = Path(__file__).resolve().parent.parent
# beyond a phase's limit, for what cannot be ended early, such as building an index
_BASE_SECONDS = 120.0
_QUIET = {
    "ANONYMIZED_TELEMETRY": "False",
    "CHROMA_OTEL_GRANULARITY": "none",
    "CLEW_OFFLINE": "1",
    "DO_NOT_TRACK": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",
    "LANCE_LOG": "error",
    "PYTHONWARNINGS": "ignore",
    "TOKENIZERS_PARALLELISM": "false",
    "TRANSFORMERS_OFFLINE": "1",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How much is measured."""

    samples: int = 200
    cold_starts: int = 5
    limit_seconds: float = 300.0
    """For each phase of each peer; writes and questions stop then and say how many they were."""


QUICK = Plan(samples=60, cold_starts=2, limit_seconds=60.0)


class PhaseFailedError(Exception):
    """A worker ended without its measurements; the message says why."""


def run(sizes: Iterable[int], peers: Sequence[str], plan: Plan, *, cache: Path, out: Path) -> None:
    """Measure, and write `speed-<size>.json` after each peer, so that a run cut short leaves what it had."""
    out.mkdir(parents=True, exist_ok=True)
    for size in sizes:
        say(f"{size:,} items: preparing the data")
        prepared = data.prepare(cache, size, plan.samples)
        result: dict[str, Any] = {
            "size": size,
            "data": prepared.facts,
            "machine": machine.facts(),
            "run": {"started": datetime.now(UTC).isoformat(timespec="minutes"), **asdict(plan)},
            "peers": {},
        }
        for name in peers:
            if peer(name).facts.store_of in peers:
                continue  # measured with the owner of the store
            guests = [guest for guest in peers if peer(guest).facts.store_of == name]
            result["peers"] |= _Subject(name, prepared, plan, cache, guests=guests).measured()
            (out / f"speed-{size}.json").write_text(
                json.dumps(_rounded(result), indent=1, ensure_ascii=False) + "\n"
            )


class _Subject:
    """One peer at one size, and those that ask its store in another way."""

    def __init__(
        self, name: str, prepared: data.Data, plan: Plan, cache: Path, *, guests: Sequence[str] = ()
    ) -> None:
        self._name, self._data, self._plan, self._cache = name, prepared, plan, cache
        self._facts: Facts = peer(name).facts
        self._guests = [_Subject(guest, prepared, plan, cache) for guest in guests]
        self._store = cache / "stores" / f"{name}-{prepared.facts['size']}"
        self._measures: dict[str, dict[str, Any]] = {}
        self._failures: dict[str, str] = {}
        self._neighbours: dict[str, float | None] = {}

    def measured(self) -> dict[str, dict[str, Any]]:
        """Return by name what could be measured and why the rest could not."""
        try:
            self._python = environments.python(self._cache, self._facts)
        except environments.CannotInstallError as error:
            self._failures["install"] = str(error)
        else:
            self._phases()
        shutil.rmtree(self._store, ignore_errors=True)
        return {subject._name: subject._report() for subject in (self, *self._guests)}

    def _report(self) -> dict[str, Any]:
        for phase, reason in self._failures.items():
            say(f"  {self._name}: {phase}: {reason}")
        about = {
            key: value
            for key, value in asdict(self._facts).items()
            if key in {"about", "commit", "no_hybrid", "store_of"}
        }
        versions = self._measures.pop("versions", {})
        return {
            **about,
            "versions": versions,
            "measures": self._measures,
            "failures": self._failures,
            "cores_used_by_others": self._neighbours,
        }

    def _phases(self) -> None:
        shutil.rmtree(self._store, ignore_errors=True)
        self._store.parent.mkdir(parents=True, exist_ok=True)
        if not self._phase("ingest"):
            for guest in self._guests:
                guest._failures["query"] = f"{self._name} has stored nothing to ask"
            return
        self._cold()
        self._phase("query")
        for guest in self._guests:  # now, while the store is as it was for its owner
            guest._store, guest._python = self._store, self._python
            guest._phase("query")
        if isinstance(peer(self._name), SupportsScan):
            self._phase("scan")
        self._phase("add", counted=True)

    def _cold(self) -> None:
        starts = []
        for _ in range(self._plan.cold_starts):
            if not self._phase("cold"):
                return
            starts.append(self._measures["cold"])
        self._measures["cold"] = {
            key: statistics.median(start[key] for start in starts) for key in starts[0]
        }

    def _phase(self, phase: str, *, counted: bool = False) -> bool:
        say(f"  {self._name}: {phase}")
        neighbours = machine.Neighbours()
        try:
            self._measures.update(self._worker(phase, counted=counted))
        except PhaseFailedError as error:
            self._failures[phase] = str(error)
            return False
        finally:
            self._neighbours[phase] = neighbours.cores()
        return True

    def _worker(self, phase: str, *, counted: bool) -> dict[str, dict[str, Any]]:
        plan = self._plan
        command = [str(self._python), "-m", "benchmarks.worker", self._name, phase]
        command += ["--data", str(self._data.folder), "--store", str(self._store)]
        command += ["--samples", str(plan.samples), "--limit-seconds", str(plan.limit_seconds)]
        log = self._cache / "logs" / f"{self._name}-{self._data.facts['size']}-{phase}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("w") as errors:
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=self._environment(counted=counted),
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,
            )
            try:
                # Questions of three kinds share one process, each kind with the limit of its own.
                lines, _ = process.communicate(timeout=3 * plan.limit_seconds + _BASE_SECONDS)
            except subprocess.TimeoutExpired as error:
                raise PhaseFailedError(f"ended after {error.timeout:.0f} s") from None
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
        if process.returncode:
            raise PhaseFailedError(_last_word(log, process.returncode))
        return {line.pop("measure"): line for line in map(json.loads, lines.splitlines())}

    def _environment(self, *, counted: bool) -> dict[str, str]:
        environment = {**os.environ, **_QUIET}
        environment.pop("PYTHONPATH", None)
        counter = syncs.counter(self._cache) if counted else None
        if counter:
            environment |= {"LD_PRELOAD": str(counter), "BENCH_SYNC_COUNTER": str(counter)}
        return environment


def _last_word(log: Path, code: int) -> str:
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return (lines[-1] if lines else f"ended with code {code}").replace(str(ROOT), ".")[:300]


def _rounded(value: Any) -> Any:
    """Return the value with floats cut to the digits that mean something."""
    if isinstance(value, dict):
        return {key: _rounded(part) for key, part in value.items()}
    return float(f"{value:.5g}") if isinstance(value, float) else value


def say(line: str) -> None:
    """Tell the person who waits."""
    print(f"{time.strftime('%H:%M:%S')} {line}", file=sys.stderr, flush=True)
