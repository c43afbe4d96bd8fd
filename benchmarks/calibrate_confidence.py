"""Fit the confidence of hits, and judge it on sets left out of the fit.

    python -m benchmarks.calibrate_confidence --data FOLDER [--cache FOLDER] [--sets a,b]   # ask,
    then fit
    python -m benchmarks.calibrate_confidence --refit                                       # fit
    from the kept features

Every set is stored and asked through the public API with default settings. It is asked its own
questions, which it answers, and those of `never_stored/`, which it does not; `other_languages.yaml`
has questions of both kinds. Kept are the features of the first three hits, whether each is
relevant, and recall@10; no text. A hit of a never-stored question is wrong. Judgements of lower
hits are incomplete in most sets, so those count little in the fit and nothing in the report.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import yaml

import clew
from benchmarks import ranking
from benchmarks.small_sets import small_set
from clew.engine.clew import silent
from clew.engine.explaining import asked, run_stages
from clew.evaluate.cache import CachedEmbedder, cached
from clew.evaluate.data import Dataset, Passage, Query
from clew.evaluate.index import remember_sessions
from clew.evaluate.plan import Plan, default_cache
from clew.evaluate.running import dataset_of
from clew.memories.validation import MAX_NAME_CHARACTERS
from clew.models import load as load_model
from clew.search.confidence import JUDGED, WORDS_ONLY, Features, Judge
from clew.search.pack import Pack
from clew.text.words import terms

HERE = Path(__file__).parent
NEVER_STORED = HERE / "never_stored"
RESULTS = HERE / "results" / "confidence"
DATA_FILE = HERE.parent / "src" / "clew" / "search" / "confidence.toml"
MODEL, LANGUAGE = "arctic-embed-s", "en"
SMALL = ("household", "desk", "demo", "golden")
PUBLIC = {  # the name in the catalogue, folder and part
    "locomo": ("locomo", "locomo", "dev"),
    "2wiki": ("2wiki", "2wiki_hipporag", "dev"),
    "hotpot": ("hotpotqa", "hotpot_200", "dev"),
    "scifact": ("scifact", "beir_scifact", "test"),
    "chroma-chunking": ("chroma-chunking", "chroma_chunking", "dev"),
}
BEIR = ("cacm", "cosqa")  # by the loaders of `ranking`
SETS = (*SMALL, *PUBLIC, *BEIR)
# of dozens of functions that fit a question one is labelled: nothing is learned from wrong hits
# like these
JUDGED_ONLY = ("cosqa",)
# whose never-stored questions are asked, as far as nothing answers
BORROWED = {"hotpot": "2wiki", "cacm": "scifact", "cosqa": "swe-qa"}
OWN, NEVER, OTHER_LANGUAGE = "own", "never stored", "other language"
SHARES = {OWN: 1.0, NEVER: 1.0, OTHER_LANGUAGE: 0.2}  # in the fit, of every set
RANK_SHARES = (1.0, 0.05, 0.05)
MAX_QUESTIONS, SEED, K = 300, 7, 10
UNJUDGED = ("adversarial",)  # LoCoMo's questions that its conversations do not answer as asked
NEGATIVE = ("missing_name", "unknown_word", "unknown")  # the more, the less likely
# beside the cosine coverage told nothing
VECTOR_FEATURES, WORD_FEATURES = ("vector", "links", *NEGATIVE), ("coverage", *NEGATIVE)
ALLOWED_LOSS = 0.01  # of recall@10, in the mean of the sets
RIDGE, ROUNDS, BINS = 10.0, 40, 10
_CLAIM = re.compile(r"\{([^}]*)\}")

Floats = npt.NDArray[np.float64]


class JudgedHit(NamedTuple):
    """A hit: whether it is relevant, and its features."""

    relevant: bool
    features: Features


@dataclass(frozen=True, slots=True)
class Sample:
    """A question: its kind, its first hits, and recall@10."""

    kind: str
    hits: tuple[JudgedHit, ...]
    recall: float


class Asked(NamedTuple):
    """A question to a space, and the keys that answer it."""

    kind: str
    space: str
    text: str
    needs: Sequence[str] = ()


class Fit(NamedTuple):
    """A logistic model, and the threshold of the best confidence."""

    weights: dict[str, float]
    bias: float
    threshold: float = 0.0

    def confidences(self, samples: Sequence[Sample]) -> Floats:
        """Return the confidence of every judged hit (column) of every question (row).

        0 where there is none.
        """
        found = np.zeros((len(samples), JUDGED))
        for row, sample in enumerate(samples):
            for rank, hit in enumerate(sample.hits):
                features = hit.features._asdict()
                found[row, rank] = sigmoid(
                    np.array(
                        self.bias
                        + sum(weight * features[name] for name, weight in self.weights.items())
                    )
                )
        return found


# --- asking ---


def loaded(name: str, data: Path, embedder: CachedEmbedder) -> Dataset:
    """Return a set."""
    if name in SMALL:
        return small_set(name)
    if name in PUBLIC:
        catalogued, folder, part = PUBLIC[name]
        return dataset_of(Plan(dataset=catalogued, path=data / folder, part=part), embedder)[0]
    [part_] = ranking.SETS[name](data)
    return Dataset(
        name=name,
        part="dev",
        passages=tuple(
            Passage(id=item.id, text=item.text, title=item.title, keys={"document": item.id})
            for item in part_.items
        ),
        queries=tuple(
            Query(id=str(number), text=text, relevant={"document": dict.fromkeys(relevant, 1)})
            for number, (text, relevant) in enumerate(part_.questions)
        ),
        levels=("document",),
        licence="",
        data_hash="",
    )


def never_stored(name: str) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return the questions about what a set does not hold.

    Space, text, and what occurs nowhere in that space.
    """
    spaces: Mapping[str, list[str]] = yaml.safe_load(
        (NEVER_STORED / f"{name}.yaml").read_text(encoding="utf-8")
    )
    return [
        (space, _CLAIM.sub(r"\1", text), tuple(_CLAIM.findall(text)))
        for space, texts in spaces.items()
        for text in texts
    ]


def other_languages(name: str) -> list[tuple[str, str, list[str]]]:
    """Return the questions in other languages: space, text, and the keys that answer."""
    sets = yaml.safe_load((NEVER_STORED / "other_languages.yaml").read_text(encoding="utf-8"))
    return [
        (space, each["ask"], each.get("needs", []))
        for space, rows in sets.get(name, {}).items()
        for each in rows
    ]


def never_asked(name: str, dataset: Dataset) -> Iterator[tuple[str, str]]:
    """Yield space and text of the never-stored questions.

    A claim that does not hold is an error in a set's own file.
    """
    held: dict[str, list[str]] = {}
    for passage in dataset.passages:
        held.setdefault(passage.space, []).append(
            f" {' '.join(terms(f'{passage.title} {passage.text}'))} "
        )
    joined = {space: "\n".join(texts) for space, texts in held.items()}
    for space, text, claims in never_stored(BORROWED.get(name, name)):
        where = "default" if name in BORROWED else space
        absent = bool(claims) and not any(
            f" {' '.join(terms(claim))} " in joined[where] for claim in claims
        )
        if absent:
            yield where, text
        elif name not in BORROWED:
            raise SystemExit(f"{name} holds what this question is to miss: {text}")


def stored(memory: clew.Clew, dataset: Dataset) -> dict[str, str]:
    """Store the set as a user would; return the key of each memory."""
    level = dataset.levels[0]
    if any(passage.messages for passage in dataset.passages):
        return {
            id: each.keys.get(level, each.id)
            for id, each in remember_sessions(memory, dataset.passages, progress=silent).items()
        }
    texts = [
        {
            "text": each.text,
            "title": each.title[:MAX_NAME_CHARACTERS],
            "space": each.space,
            "valid_from": each.time,
        }
        for each in dataset.passages
    ]
    done = memory.remember_many(texts)
    pairs = zip(dataset.passages, done, strict=True)
    return {
        outcome.id: each.keys.get(level, each.id)
        for each, outcome in pairs
        if outcome.id is not None
    }


def ask(name: str, data: Path, embedder: CachedEmbedder) -> list[Sample]:
    """Ask a store of the set everything."""
    dataset = loaded(name, data, embedder)
    level = dataset.levels[0]
    own = [
        query
        for query in dataset.queries
        if query.relevant.get(level) and query.category not in UNJUDGED
    ]
    random.Random(SEED).shuffle(own)
    questions = [
        Asked(OWN, query.space, query.text, list(query.relevant[level]))
        for query in own[:MAX_QUESTIONS]
    ]
    questions += [Asked(NEVER, space, text) for space, text in never_asked(name, dataset)]
    questions += [Asked(OTHER_LANGUAGE, *each) for each in other_languages(name)]
    with (
        tempfile.TemporaryDirectory() as folder,
        clew.open(Path(folder) / "set.clew", embedder=embedder) as memory,
    ):
        keys = stored(memory, dataset)
        found = [sample(memory, keys, each) for each in questions]
    return [each for each in found if each is not None]


def sample(memory: clew.Clew, keys: Mapping[str, str], question: Asked) -> Sample | None:
    """Ask one question; None where it has nothing to judge by."""
    run = run_stages(
        memory, asked(memory, question.text, {"k": K, "where": {"space": question.space}})
    )
    judge = next(
        stage_run.before.judge for stage_run in run.stages if isinstance(stage_run.stage, Pack)
    )
    if not isinstance(judge, Judge):
        return None
    hits, needs = run.answer.hits, question.needs
    first = hits[:JUDGED]
    judged = tuple(
        JudgedHit(keys.get(hit.id) in needs, found)
        for hit, found in zip(first, judge.features(first), strict=True)
    )
    relevant = {keys.get(hit.id) for hit in hits} & set(needs)
    return Sample(question.kind, judged, len(relevant) / len(needs) if needs else 0.0)


# --- fitting ---


def sigmoid(logits: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(logits, -60, 60))), dtype=np.float64)


def fitted(sets: Mapping[str, Sequence[Sample]], features: Sequence[str]) -> Fit:
    """Fit by Newton's method with a ridge; every set counts alike.

    A feature whose weight has the wrong sign is left out.
    """
    rows, labels, shares = [], [], []
    for samples in sets.values():
        counts = {kind: sum(each.kind == kind for each in samples) for kind in SHARES}
        for each in samples:
            for hit, share in zip(each.hits, RANK_SHARES, strict=False):
                rows.append(hit.features)
                labels.append(float(hit.relevant))
                shares.append(100 * share * SHARES[each.kind] / counts[each.kind])
    names = list(features)
    while True:
        inputs = np.array([[getattr(row, name) for name in names] for row in rows])
        weights, bias = _newton(inputs, np.array(labels), np.array(shares))
        wrong = [
            name
            for name, weight in zip(names, weights, strict=True)
            if (weight < 0) != (name in NEGATIVE)
        ]
        if not wrong:
            break
        names = [name for name in names if name not in wrong]
    plain = Fit(
        {name: round(float(weight), 3) for name, weight in zip(names, weights, strict=True)},
        round(bias, 3),
    )
    return plain._replace(threshold=_threshold(plain, sets))


def _newton(inputs: Floats, labels: Floats, shares: Floats) -> tuple[Floats, float]:
    middle, spread = inputs.mean(axis=0), inputs.std(axis=0) + 1e-9
    scaled = np.column_stack([(inputs - middle) / spread, np.ones(len(inputs))])
    ridge = np.diag([RIDGE] * inputs.shape[1] + [1e-9])
    solution = np.zeros(scaled.shape[1])
    for _ in range(ROUNDS):
        guess = sigmoid(scaled @ solution)
        slope = scaled.T @ (shares * (guess - labels)) + ridge @ solution
        curve = (scaled * (shares * guess * (1 - guess))[:, None]).T @ scaled + ridge
        solution -= np.linalg.solve(curve, slope)
    weights = solution[:-1] / spread
    return weights, float(solution[-1] - weights @ middle)


def _threshold(fit: Fit, sets: Mapping[str, Sequence[Sample]]) -> float:
    """Return the highest threshold, in thousandths, at which the sets lose no more recall in the mean than allowed."""
    steps = np.arange(1, 500) / 1000
    costs = np.mean(
        [losses(samples, fit.confidences(samples).max(axis=1), steps) for samples in sets.values()],
        axis=0,
    )
    return max(map(float, steps[costs <= ALLOWED_LOSS]), default=0.0)


def losses(samples: Sequence[Sample], best: Floats, limits: Floats) -> Floats:
    """Return the recall@10 that each threshold costs.

    That of answerable questions which it would leave unanswered.
    """
    own = np.array([each.kind == OWN for each in samples])
    recall = np.array([each.recall for each in samples])[own]
    return np.asarray((recall * (best[own] < limits[:, None])).mean(axis=1), dtype=np.float64)


# --- judging ---


def auc(right: Floats, wrong: Floats) -> float:
    """Return the probability that a right one is above a wrong one; equal ones count half."""
    ordered = np.sort(wrong)
    below = np.searchsorted(ordered, right, "left") + np.searchsorted(ordered, right, "right")
    return float(below.mean() / 2 / len(wrong)) if len(right) and len(wrong) else float("nan")


def calibration_error(values: Floats, labels: Floats, shares: Floats) -> float:
    """Return the expected calibration error over bins of equal width."""
    bins = np.minimum((values * BINS).astype(int), BINS - 1)
    return float(
        sum(abs((shares * (values - labels))[bins == each].sum()) for each in range(BINS))
        / shares.sum()
    )


def row(fit: Fit, samples: Sequence[Sample]) -> dict[str, Any]:
    """Return the figures of one set."""
    found = fit.confidences(samples)
    first, best = found[:, 0], found.max(axis=1)
    kinds = np.array([each.kind for each in samples])
    right = np.array(
        [bool(each.hits) and each.hits[0].relevant for each in samples], dtype=np.float64
    )
    own, never, other = (kinds == kind for kind in (OWN, NEVER, OTHER_LANGUAGE))
    shares = np.where(own, 1 / max(1, own.sum()), np.where(never, 1 / max(1, never.sum()), 0.0))
    steps = np.unique(np.concatenate([[0.0], best, [1.0]]))
    costs = losses(samples, best, steps)
    at = {points: float(steps[costs <= points / 100].max()) for points in (1, 2)}
    return {
        "questions": int(own.sum()),
        "never_stored": int(never.sum()),
        "right_first_percent": _percent(right[own]),
        "calibration_error": round(calibration_error(first, right, shares), 3),
        "auc": round(auc(first[own & (right > 0)], first[never]), 3),
        "auc_own": round(auc(first[own & (right > 0)], first[own & (right == 0)]), 3),
        "false_percent": _percent(best[never] >= fit.threshold),
        "lost_points": round(100 * float(losses(samples, best, np.array([fit.threshold]))[0]), 2),
        "false_at_1_point": _percent(best[never] >= at[1]),
        "false_at_2_points": _percent(best[never] >= at[2]),
        "other_language_false_percent": _percent(best[other & (right == 0)] >= fit.threshold)
        if other.any()
        else None,
    }


def _percent(values: npt.NDArray[Any]) -> float:
    return round(100 * float(np.mean(values)), 1)


def report(sets: Mapping[str, Sequence[Sample]], model_id: str) -> dict[str, Any]:
    """Fit on all sets, and judge each by a fit without it."""
    made: dict[str, Any] = {}
    learned = {name: samples for name, samples in sets.items() if name not in JUDGED_ONLY}
    for entry, features in ((model_id, VECTOR_FEATURES), (WORDS_ONLY, WORD_FEATURES)):
        rows = {
            name: row(
                fitted({other: each for other, each in learned.items() if other != name}, features),
                samples,
            )
            for name, samples in sets.items()
        }
        made[entry] = {"fit": fitted(learned, features)._asdict(), "left_out": rows}
    return made


def table(made: Mapping[str, Any]) -> str:
    """Return the figures as Markdown."""
    lines = [
        "<!-- written by benchmarks/calibrate_confidence.py -->",
        "# Confidence on sets left out of the fit",
        "",
        CAPTION,
        "",
    ]
    for model, figures in made.items():
        rows = figures["left_out"]
        columns = list(next(iter(rows.values())))
        head = " | ".join(each.replace("_", " ") for each in columns)
        lines += [f"## {model}", "", f"| set | {head} |", "|---" * (len(columns) + 1) + "|"]
        shown = {
            name: " | ".join("–" if value is None else str(value) for value in each.values())
            for name, each in rows.items()
        }
        lines += [f"| {name} | {each} |" for name, each in shown.items()]
        lines += [
            _means("mean", rows, SETS, columns),
            _means("mean of the small stores", rows, SMALL, columns),
        ]
        lines += [_means("mean of the others learned from", rows, (*PUBLIC, "cacm"), columns), ""]
    return "\n".join(lines)


def _means(
    title: str, rows: Mapping[str, Mapping[str, Any]], names: Sequence[str], columns: Sequence[str]
) -> str:
    found = [
        [rows[name][column] for name in names if name in rows and rows[name][column] is not None]
        for column in columns
    ]
    return f"| {title} | {' | '.join(str(round(float(np.mean(each)), 3)) if each else '–' for each in found)} |"


CAPTION = (
    "Calibration error: of the first hit, over ten bins, answerable and never-stored questions counting alike. AUC: right first hits of "
    "answerable questions against first hits of never-stored ones; AUC own: against wrong first hits of answerable ones. False: "
    "never-stored questions that are answered, at the threshold of the fit and at the set's own threshold for 1 and 2 points of recall@10. "
    "Nothing is learned from cosqa, which labels one of many functions that fit."
)


def toml(made: Mapping[str, Any], asked_on: date) -> Iterator[str]:
    """Yield the data file of the package."""
    yield "# Weights of the confidence of a hit. Written by benchmarks/calibrate_confidence.py; figures: benchmarks/results/confidence."
    learned = [name for name in SETS if name not in JUDGED_ONLY]
    yield f'\n[provenance]\nscript = "benchmarks/calibrate_confidence.py"\nasked_on = {asked_on}\nsets = {json.dumps(learned)}'
    for name, figures in made.items():
        fit = figures["fit"]
        yield f"\n[{json.dumps(name)}]"
        if name != WORDS_ONLY:
            yield f'language = "{LANGUAGE}"'
        yield f"bias = {fit['bias']}\nthreshold = {fit['threshold']}"
        yield f"weights = {{ {', '.join(f'{key} = {value}' for key, value in fit['weights'].items())} }}"


# --- files ---


def keep(path: Path, samples: Sequence[Sample]) -> None:
    def numbers(hit: JudgedHit) -> list[float]:
        return [int(hit.relevant), *(round(float(each), 4) for each in hit.features)]

    rows = [
        json.dumps([each.kind, round(each.recall, 4), [numbers(hit) for hit in each.hits]])
        for each in samples
    ]
    path.write_text("[\n" + ",\n".join(rows) + "\n]\n", encoding="utf-8")


def kept(name: str) -> list[Sample]:
    """Return the samples of a set as they were kept."""
    return [
        Sample(
            kind,
            tuple(JudgedHit(bool(relevant), Features(*found)) for relevant, *found in hits),
            recall,
        )
        for kind, recall, hits in json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    ]


def asked_before() -> date:
    """Return when the sets were asked last."""
    when: date = tomllib.loads(DATA_FILE.read_text(encoding="utf-8"))["provenance"]["asked_on"]
    return when


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="the folder of the public sets")
    parser.add_argument(
        "--cache", type=Path, default=default_cache(), help="where vectors are kept"
    )
    parser.add_argument("--sets", default=",".join(SETS), help="ask only these again")
    parser.add_argument(
        "--refit", action="store_true", help="ask nothing, fit from the kept features"
    )
    options = parser.parse_args()
    model = load_model(MODEL)
    if model is None:
        raise SystemExit(f"The default model is not here. Fetch it with: clew models pull {MODEL}")
    RESULTS.mkdir(parents=True, exist_ok=True)
    for name in () if options.refit else options.sets.split(","):
        keep(
            RESULTS / f"{name}.json",
            ask(name, options.data or Path(), cached(model, options.cache)),
        )
        print(f"{name} asked", flush=True)
    made = report({name: kept(name) for name in SETS}, model.id)
    asked_on = asked_before() if options.refit else datetime.now(UTC).date()
    DATA_FILE.write_text("\n".join(toml(made, asked_on)) + "\n", encoding="utf-8")
    (RESULTS / "report.md").write_text(table(made), encoding="utf-8")
    print(table(made))


if __name__ == "__main__":
    main()
