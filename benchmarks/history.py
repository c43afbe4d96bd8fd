"""Does what happened to a memory help to rank it? TraceRank off, on, and each factor alone, on a set with a year of history.

The set (memories/history) is stored through the public API with a clock that moves: what is said
again is remembered again, what was looked up is recalled, what was superseded is superseded, and
the questions are asked when the year is over. Half of them are decided by history, half by their
words.

    python -m benchmarks.history --out benchmarks/results/history.json
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import yaml

import clew
from benchmarks.ranking import interval, measures
from clew.evaluate.cache import CachedEmbedder, cached
from clew.models.loading import load
from clew.testing import FixedClock
from clew.types import OutcomeKind

FILE = Path(__file__).parent / "memories" / "history" / "memories.yaml"
END = datetime(2026, 12, 1, 12, tzinfo=UTC)
SHOWN = ("nDCG@10", "hit@1")
KINDS = ("history", "words")
FACTORS = ("reinforcement", "graph", "temporal")


def tracerank(*factors: str, **bounds: float) -> dict[str, Any]:
    return {
        "tracerank": {
            "enabled": bool(factors),
            **{name: name in factors for name in FACTORS},
            **bounds,
        }
    }


VARIANTS: dict[str, Mapping[str, Any]] = {
    "off": tracerank(),
    "default": {},
    **{f"{name} alone": tracerank(name) for name in FACTORS},
    "all three": tracerank(*FACTORS),
    "least 0.85": tracerank("reinforcement", "temporal", least=0.85),
    "least 0.67": tracerank("reinforcement", "temporal", least=0.67),
    "most 1.5": tracerank("reinforcement", "temporal", most=1.5),
    "share 0.7": tracerank("reinforcement", "temporal", min_relevance_share=0.7),
}


def happenings(
    memories: Sequence[Mapping[str, Any]],
) -> list[tuple[date, int, str, Mapping[str, Any]]]:
    """Return what happened on which day, in order: first what was said, then what was looked up."""
    found = [(each["told"], 0, "told", each) for each in memories]
    found += [(day, 1, "again", each) for each in memories for day in each.get("again", ())]
    found += [(day, 2, "used", each) for each in memories for day in each.get("used", ())]
    return sorted(found, key=lambda each: (*each[:2], each[3]["key"]))


def replay(
    memory: clew.Clew, clock: FixedClock, memories: Sequence[Mapping[str, Any]]
) -> dict[str, str]:
    """Live through the year; return the id of each memory."""
    ids: dict[str, str] = {}
    for number, (day, _, what, each) in enumerate(happenings(memories)):
        clock.now = datetime.combine(day, time(8), UTC) + timedelta(minutes=number % 600)
        key, text = each["key"], each["text"]
        if what == "used":
            memory.recall(text, k=1, track=True)
        elif what == "again":
            _expect(memory.remember(text), OutcomeKind.EXACT_DUPLICATE, text)
        elif "supersedes" in each:
            outcome = memory.supersede(ids[each["supersedes"]], text, stability=each["stability"])
            ids[key] = _expect(outcome, OutcomeKind.INSERTED, text)
        else:  # near: passages of one pattern, such as three places to park, are not one memory
            ids[key] = _expect(
                memory.remember(text, stability=each["stability"], near=False),
                OutcomeKind.INSERTED,
                text,
            )
    for each in memories:
        for other in each.get("related", ()):
            memory.link(ids[each["key"]], ids[other])
    return ids


def _expect(outcome: clew.Outcome, kind: OutcomeKind, text: str) -> str:
    if outcome.outcome is not kind or (id := outcome.id or outcome.canonical_id) is None:
        raise SystemExit(f"{text!r} was {outcome.outcome} by {outcome.rule}, not {kind}.")
    return id


def asked(
    store: Mapping[str, Any], embedder: CachedEmbedder, variants: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[str, str, dict[str, list[str]]]]:
    """Yield each question, what decides it, and the ranking of every variant as keys."""
    with tempfile.TemporaryDirectory() as folder:
        path, clock = Path(folder) / "history.clew", FixedClock()
        with clew.open(path, embedder=embedder, clock=clock) as memory:
            keys = {id: key for key, id in replay(memory, clock, store["memories"]).items()}
        clock.now = END
        # opened anew: what was looked up has been written
        with clew.open(path, embedder=embedder, clock=clock) as memory:
            others = {name: memory.variant(**settings) for name, settings in variants.items()}
            for each in (each for each in store["questions"] if each["decides"] in KINDS):
                rankings = {
                    name: [
                        keys[hit.id]
                        for hit in other.recall(each["ask"], k=50, track=False).hits
                        if hit.id in keys
                    ]
                    for name, other in others.items()
                }
                yield each["ask"], each["decides"], rankings


def evaluate(embedder: CachedEmbedder, variants: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the measures of every variant, by what decides a question, and how each compares with the first."""
    stores = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    rows: list[tuple[str, dict[str, dict[str, float]]]] = []
    for store in stores.values():
        relevant = {
            each["ask"]: frozenset(each["needs"])
            for each in store["questions"]
            if each["decides"] in KINDS
        }
        for ask, decides, rankings in asked(store, embedder, variants):
            rows.append(
                (
                    decides,
                    {name: measures(ranking, relevant[ask]) for name, ranking in rankings.items()},
                )
            )
    first = next(iter(variants))
    results: dict[str, Any] = {}
    for name in variants:
        results[name] = {}
        for kind in ("all", *KINDS):
            some = [found for decides, found in rows if kind in ("all", decides)]
            for measure in SHOWN:
                values = [100 * found[name][measure] for found in some]
                differences = [
                    100 * (found[name][measure] - found[first][measure]) for found in some
                ]
                low, high, p = interval(differences)
                results[name][f"{kind} {measure}"] = {
                    "mean": round(float(np.mean(values)), 2),
                    "against_off": [
                        round(float(np.mean(differences)), 2),
                        round(low, 2),
                        round(high, 2),
                        round(p, 4),
                    ],
                }
    counts = {kind: sum(decides == kind for decides, _ in rows) for kind in KINDS}
    memories = sum(len(store["memories"]) for store in stores.values())
    return {"memories": memories, "questions": counts, "variants": results}


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--cache", type=Path, default=Path("benchmarks/.cache"), help="where vectors are kept"
    )
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    chosen = parser.parse_args(arguments)
    model = load("arctic-embed-s", auto_pull=True)
    if model is None:
        raise SystemExit(
            "The default model is not here. Fetch it with: clew models pull arctic-embed-s"
        )
    found = evaluate(cached(model, chosen.cache), VARIANTS)
    print(
        f"{found['memories']} memories, questions: {found['questions']}; in brackets the difference from off and its 95 % interval"
    )
    columns = list(next(iter(found["variants"].values())))
    print(f"{'':20}" + "".join(f"{column:>30}" for column in columns))
    for name, cells in found["variants"].items():
        shown = (
            f"{each['mean']:.1f} ({each['against_off'][0]:+.1f}: {each['against_off'][1]:+.1f} to {each['against_off'][2]:+.1f})"
            for each in cells.values()
        )
        print(f"{name:20}" + "".join(f"{each:>30}" for each in shown))
    if chosen.out is not None:
        chosen.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
