"""Fit the ranking's weights without a set and report on that set, beside the shipped weights.

Every set is stored through the public API as `benchmarks.ranking` does. Then, for each set X:

1. words and tokens are fitted on the other sets, with vector as it is shipped, by a grid over the
   features of all candidates
   that the recipe's first stages (candidates, fusion) give: these are cached, so that a point of
   the grid is a matrix product.
2. each other weight is chosen among half, once and twice its shipped value by whole recalls on the
   other sets, one at a time.
3. X is recalled with the weights so found, and with the shipped ones.

The objective is the mean over sets of the mean nDCG@10. A weight moves only if the mean of the
other sets gains at least `MARGIN`: within it there is nothing to choose.

    python -m benchmarks.weights --data FOLDER --sources SOURCES --out
    benchmarks/results/weights.json
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import clew
from benchmarks import ranking, ranking_sets
from clew.evaluate.cache import CachedEmbedder, cached
from clew.models.loading import load
from clew.search.fusion import Fuse
from clew.search.state import DENSE, SPARSE, TOKENS, Hit, Recall
from clew.settings.sections import FEATURE_WEIGHTS

MAX_QUESTIONS = 120  # of each set, evenly spaced
MARGIN = 0.15  # points of nDCG@10 in the mean of the other sets
FACTORS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
FITTED = ("words", "tokens")
# category and period need sets with categories and dates
OTHERS = ("section", "section_long", "named", "path", "repeat")
OTHER_FACTORS = (0.0, 0.5, 2.0)
SETS = (
    "household desk cacm cosqa hotpot hotpot-untitled 2wiki-dev 2wiki-dev-untitled locomo-dev locomo-chat-dev "
    "lihua-dev chroma legalbench repoeval semble-dev swe-qa-dev"
).split()


@dataclass
class Asked:
    """One question with the features of its candidates (words, vector, tokens) and the gains of what they stand for."""

    features: npt.NDArray[np.float64]
    names: list[str]
    relevant: frozenset[str]

    def ndcg(self, weights: npt.NDArray[np.float64]) -> float:
        order = np.argsort(-(self.features @ weights), kind="stable")
        return ranking.measures(
            list(dict.fromkeys(self.names[row] for row in order)), self.relevant
        )["nDCG@10"]


@dataclass
class Measured:
    """What was measured of one set."""

    questions: int = 0
    grid: dict[tuple[float, ...], float] = field(default_factory=dict)
    """nDCG@10 of the fused features by the factors of words and tokens."""
    shipped: float = 0.0
    others: dict[tuple[str, float], float] = field(default_factory=dict)
    """nDCG@10 of whole recalls with one other weight multiplied."""


def main(arguments: Sequence[str]) -> None:
    """Measure the sets and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="the folder of the public sets")
    parser.add_argument(
        "--sources",
        type=Path,
        default=Path("benchmarks/.sources"),
        help="the folder of the source trees",
    )
    parser.add_argument("--sets", default=",".join(SETS))
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
    embedder = cached(model, chosen.cache)
    with ExitStack() as stack:
        sets = {
            name: Stored(name, (chosen.data, chosen.sources), embedder, stack)
            for name in chosen.sets.split(",")
        }
        measured = {name: each.measured() for name, each in sets.items()}
        result: dict[str, Any] = {
            "shipped": FEATURE_WEIGHTS,
            "margin": MARGIN,
            "all sets": fitted(measured),
            "sets": {},
        }
        for name, each in sets.items():
            weights = fitted({other: found for other, found in measured.items() if other != name})
            found = each.recalled(weights)
            result["sets"][name] = {
                "questions": measured[name].questions,
                "shipped": round(measured[name].shipped, 2),
                "left out": round(found, 2),
                "changed": {
                    key: value for key, value in weights.items() if value != FEATURE_WEIGHTS[key]
                },
            }
            print(name, result["sets"][name], flush=True)
    means = {
        key: float(np.mean([each[key] for each in result["sets"].values()]))
        for key in ("shipped", "left out")
    }
    result["mean"] = {key: round(value, 2) for key, value in means.items()}
    result["grid"] = {
        f"{words} {tokens}": round(value, 2)
        for (words, tokens), value in mean_grid(measured).items()
    }
    result["others"] = {
        f"{name} {factor}": round(
            float(
                np.mean([each.others[name, factor] - each.shipped for each in measured.values()])
            ),
            3,
        )
        for name, factor in product(OTHERS, OTHER_FACTORS)
    }
    print(
        json.dumps({key: result[key] for key in ("mean", "all sets", "grid", "others")}, indent=1)
    )
    if chosen.out is not None:
        chosen.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def mean_grid(measured: Mapping[str, Measured]) -> dict[tuple[float, ...], float]:
    """Return the mean over the sets at each point of the grid."""
    return {
        point: float(np.mean([each.grid[point] for each in measured.values()]))
        for point in product(FACTORS, FACTORS)
    }


def fitted(measured: Mapping[str, Measured]) -> dict[str, float]:
    """Return the weights that are best for the mean of these sets."""
    weights = dict(FEATURE_WEIGHTS)
    grid = mean_grid(measured)
    best = max(grid, key=lambda point: grid[point])
    if grid[best] >= grid[1.0, 1.0] + MARGIN:
        weights |= {name: weights[name] * factor for name, factor in zip(FITTED, best, strict=True)}
    for name in OTHERS:
        gains = {
            factor: float(
                np.mean([each.others[name, factor] - each.shipped for each in measured.values()])
            )
            for factor in OTHER_FACTORS
        }
        factor = max(gains, key=lambda each: gains[each])
        if gains[factor] >= MARGIN:
            weights[name] *= factor
    return weights


class Stored:
    """A set in stores of its own."""

    def __init__(
        self, name: str, folders: tuple[Path, Path], embedder: CachedEmbedder, stack: ExitStack
    ) -> None:
        self._name = name
        self._spaces: list[tuple[clew.Clew, dict[str, str], list[tuple[str, frozenset[str]]]]] = []
        for part in ranking.parts_of(name, *folders):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            memory = stack.enter_context(clew.open(folder / "weights.clew", embedder=embedder))
            self._spaces.append((memory, *kept(memory, part, folder)))
        count = sum(len(questions) for _, _, questions in self._spaces)
        self._step = max(1, count // MAX_QUESTIONS)

    def measured(self) -> Measured:
        """Return all that the search asks of this set."""
        asked = self._asked()
        found = Measured(questions=len(asked))
        base = np.array([FEATURE_WEIGHTS[name] for name in ("words", "vector", "tokens")])
        for words, tokens in product(FACTORS, FACTORS):
            weights = base * (words, 1.0, tokens)
            found.grid[words, tokens] = 100 * float(np.mean([each.ndcg(weights) for each in asked]))
        found.shipped = self.recalled(FEATURE_WEIGHTS)
        for name, factor in product(OTHERS, OTHER_FACTORS):
            found.others[name, factor] = self.recalled(
                {**FEATURE_WEIGHTS, name: FEATURE_WEIGHTS[name] * factor}
            )
        print(self._name, found.questions, round(found.shipped, 2), file=sys.stderr, flush=True)
        return found

    def recalled(self, weights: Mapping[str, float]) -> float:
        """Return nDCG@10 of whole recalls with these weights."""
        scores, at = [], 0
        for memory, of, questions in self._spaces:
            other = memory.variant(**{"recall.weights": dict(weights)})
            for text, relevant in questions:
                at += 1
                if relevant and at % self._step == 0:
                    hits = other.recall(text, k=50, track=False).hits
                    names = list(dict.fromkeys(of[hit.id] for hit in hits if hit.id in of))
                    scores.append(ranking.measures(names, relevant)["nDCG@10"])
        return 100 * float(np.mean(scores))

    def _asked(self) -> list[Asked]:
        found, at = [], 0
        for memory, of, questions in self._spaces:
            for text, relevant in questions:
                at += 1
                if relevant and at % self._step == 0:
                    hits = [hit for hit in candidates(memory, text).hits if hit.id in of]
                    found.append(
                        Asked(
                            np.array([features(hit) for hit in hits]).reshape(-1, 3),
                            [of[hit.id] for hit in hits],
                            relevant,
                        )
                    )
        return found


def kept(
    memory: clew.Clew, part: ranking_sets.Part, folder: Path
) -> tuple[dict[str, str], list[tuple[str, frozenset[str]]]]:
    """Store a part as `benchmarks.ranking` does.

    Return what each memory stands for, and the questions.
    """
    if part.spans:
        of, _ = ranking.imported(memory, part, folder / "files")
        relevant = ranking.by_span(memory, part, of)
        return {id: id for id in of}, [
            (text, found) for (text, _), found in zip(part.questions, relevant, strict=True)
        ]
    if part.files:
        return ranking.imported(memory, part, folder / "files")[0], part.questions
    if part.sessions:
        return ranking.told_whole(memory, part)[0], part.questions
    return ranking.stored(memory, part, "default"), part.questions


def candidates(memory: clew.Clew, text: str) -> Recall:
    """Return a question after the recipe's stages up to the fusion."""
    asked = memory.recall(text, k=1, track=False).question
    recall = Recall(question=asked)
    for stage in memory.recipe("balanced").stages:
        recall = stage(recall)
        if isinstance(stage, Fuse):
            break
    return recall


def features(hit: Hit) -> tuple[float, float, float]:
    """Return words, vector and tokens of a candidate, before their weights."""
    places = hit.channels
    words = places[SPARSE].normalised if SPARSE in places else 0.0
    tokens = places[TOKENS].normalised if TOKENS in places else 0.0
    cosines = [each for name, each in places.items() if name in (DENSE, "context", "question")]
    whole = sum(each.weight for each in cosines)
    return words, sum(each.contribution for each in cosines) / whole if whole else 0.0, tokens


if __name__ == "__main__":
    main(sys.argv[1:])
