"""`python -m benchmarks`.

Speed beside peers, kill −9 rounds, damaged stores, and the tables made of them.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict, replace
from pathlib import Path

from benchmarks import durability, mutations, speed, table
from benchmarks.peers import NAMES

HERE = Path(__file__).resolve().parent
CACHE = HERE / ".cache"
RESULTS = HERE / "results"
_SIZES = (10_000, 100_000)
_FULL_SIZE = 1_000_000
_FULL_LIMIT_SECONDS = 1_800.0
_QUICK_SIZE = 2_000
_ROUNDS = 200
_MUTATIONS = 2000


def main() -> int:
    """Run what was asked for; return the exit code."""
    options = _parser().parse_args()
    everything = options.command is None
    # A published table comes from one complete run: anything less is kept beside, in the cache.
    out: Path = options.out or (
        RESULTS if options.command == "table" or _complete(options) else CACHE / "results"
    )
    code = 0
    if everything or options.command == "speed":
        _speed(options, out)
    if everything or options.command == "durability":
        code = _durability(options, out)
    if options.command == "mutations":
        return _mutations(options, out)
    if options.command == "table" and options.check:
        return _check(out)
    speed.say(f"table: {_shown(table.write(out))}")
    return code


def _speed(options: argparse.Namespace, out: Path) -> None:
    full = os.environ.get("BENCH_FULL") == "1"
    sizes = options.sizes or (
        [_QUICK_SIZE] if options.quick else [*_SIZES, *([_FULL_SIZE] if full else [])]
    )
    base = speed.QUICK if options.quick else speed.Plan()
    for size in sizes:
        limit = options.limit_seconds or (
            _FULL_LIMIT_SECONDS if size >= _FULL_SIZE else base.limit_seconds
        )
        speed.run([size], options.peers, replace(base, limit_seconds=limit), cache=CACHE, out=out)


def _durability(options: argparse.Namespace, out: Path) -> int:
    count = options.rounds or (5 if options.quick else _ROUNDS)
    speed.say(f"durability: {count} rounds of kill -9")
    report = durability.rounds(count, options.seed, progress=speed.say)
    out.mkdir(parents=True, exist_ok=True)
    (out / "durability.json").write_text(json.dumps(asdict(report), indent=1) + "\n")
    for fault in report.faults:
        speed.say(f"  FAULT {fault}")
    return 1 if report.faults else 0


def _mutations(options: argparse.Namespace, out: Path) -> int:
    count = options.rounds or (50 if options.quick else _MUTATIONS)
    speed.say(f"mutations: {count:,} damaged stores")
    report = mutations.run(count, options.seed, progress=speed.say)
    out.mkdir(parents=True, exist_ok=True)
    (out / "mutations.json").write_text(json.dumps(asdict(report), indent=1) + "\n")
    for fault in report.faults:
        speed.say(f"  FAULT {fault}")
    return 1 if report.faults else 0


def _check(out: Path) -> int:
    if table.in_sync(out):
        return 0
    print(
        f"{_shown(out / 'speed.md')} is not what the JSON files beside it give: run `python -m benchmarks table`",
        file=sys.stderr,
    )
    return 1


def _complete(options: argparse.Namespace) -> bool:
    return (
        not options.quick
        and set(options.peers) == set(NAMES)
        and (options.rounds or _ROUNDS) >= _ROUNDS
    )


def _shown(path: Path) -> str:
    return str(path.relative_to(HERE.parent)) if path.is_relative_to(HERE.parent) else str(path)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure Clew beside its peers; without a command: speed, durability and the table.",
    )
    parser.add_argument("command", nargs="?", choices=("speed", "durability", "mutations", "table"))
    parser.add_argument(
        "--sizes",
        type=_numbers,
        help="items, such as 10000,100000 (the default; BENCH_FULL=1 adds a million)",
    )
    parser.add_argument(
        "--peers", type=_names, default=NAMES, help=f"of {','.join(NAMES)} (default: all)"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="a few questions on few items, to see that it works; never the published table",
    )
    parser.add_argument("--limit-seconds", type=float, help="for each phase of each peer")
    parser.add_argument(
        "--rounds",
        type=int,
        help=f"of kill -9 (default {_ROUNDS}), or damaged stores (default {_MUTATIONS})",
    )
    parser.add_argument(
        "--seed", type=int, default=1, help="of the kill -9 rounds and of the damage"
    )
    parser.add_argument(
        "--out",
        type=Path,
        help="folder of the results (default: benchmarks/results for complete runs, benchmarks/.cache/results for others)",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="with table: only say whether speed.md is in step with the JSON files",
    )
    return parser


def _numbers(text: str) -> list[int]:
    return [int(part.replace("_", "")) for part in text.split(",")]


def _names(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    unknown = sorted(set(names) - set(NAMES))
    if unknown:
        raise argparse.ArgumentTypeError(
            f"unknown {', '.join(unknown)}; known are {', '.join(NAMES)}"
        )
    return names


if __name__ == "__main__":
    raise SystemExit(main())
