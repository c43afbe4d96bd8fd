"""Learns when to say that nothing is relevant, and measures how often that is right (mission X7).

    python -m benchmarks.calibrate_relevance --data FOLDER [--cache FOLDER]    # ask, fit, write everything
    python -m benchmarks.calibrate_relevance --refit                           # fit again from the signs that were kept

For each set two kinds of questions are asked: the set's own, which its texts answer, and those of `never_stored/`, which they do
not. Kept of each question are its signs (`clew.recall.relevant.Evidence`) and its recall@10; no text of any set. Every second
never-stored question is held out: no weight or threshold is learned from it. From some sets nothing is learned, they are only judged: one
has no dev part, and four were asked when everything was decided, with questions of somebody who had not seen how.
Some sets are small, as a new user's store is: the memories of `clew demo`, of the golden corpus and of `memories/`; of the answers of
the two that are learned from none is doubted. Questions about what was never stored are of two kinds: of a topic that the space does not
know, and of a name that it knows, of which this was never told.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import yaml

from benchmarks.small_sets import small_set
from clew.engine.clew import silent
from clew.engine.explaining import asked, walked_through
from clew.evaluate.cache import CachedEmbedder
from clew.evaluate.data import Dataset
from clew.evaluate.index import Index, indexed
from clew.evaluate.plan import Plan, default_cache
from clew.evaluate.running import dataset_of
from clew.models import load as load_model
from clew.ports import EmbedRole
from clew.recall.relevant import HOPELESS, SURE, WORDS_ALONE, Evidence, Relevant, doubt
from clew.recall.telling import telling
from clew.words import terms

HERE = Path(__file__).parent
NEVER_STORED = HERE / "never_stored"
RESULTS = HERE / "results" / "relevance"
CALIBRATION = HERE.parent / "src" / "clew" / "recall" / "calibration.toml"
MODEL = "arctic-embed-s"
SETS = {  # its name in the catalogue, its folder and its part
    "locomo": ("locomo", "locomo", "dev"),
    "longmemeval": ("longmemeval", "longmemeval_oracle", "dev"),
    "2wiki": ("2wiki", "2wiki_hipporag", "dev"),
    "scifact": ("scifact", "beir_scifact", "dev"),
    "chroma-chunking": ("chroma-chunking", "chroma_chunking", "dev"),
    "legalbench-rag": ("legalbench-rag", "legalbench_rag", "test"),
    "swe-qa": ("swe-qa", "swe_qa", "dev"),
    "locomo-test": ("locomo", "locomo", "test"),
    "chroma-test": ("chroma-chunking", "chroma_chunking", "test"),
}
SMALL = ("demo", "golden", "household", "desk")
SMALL_MARGIN = 1.25  # by which their answers must be above the threshold: a processor rounds a vector a little otherwise
JUDGED_ONLY = ("legalbench-rag", "locomo-test", "chroma-test", "household", "desk")  # nothing is learned from them
UNANSWERED = ("adversarial",)  # LoCoMo's word for what its conversations do not answer; of LongMemEval such questions are left out too
SIGNS = ("cosine", "lead", "covered", "strange", "unheard", "agreed")
CLOSE_SIGNS = (*SIGNS, "grasped", "met", "nameless", "least")
WORD_SIGNS = ("covered", "strange", "unheard")
MISSED = ("false_positives_percent", "of_unknown_topics_percent", "of_something_known_percent")
CLOSER, PLAIN = "closer", "without reading closely"
ENOUGH = {"cosine": 0.7, "lead": 0.1}  # from where on more tells no more: 0.68 to 0.72 and 0.1 to 0.15 did alike
MOST_QUESTIONS = 500  # of a set's own
SEED = 7
K, DEPTH = 10, 40  # keys judged; hits asked for, since several may share a key
ALLOWED_LOSS, CAUTIOUS_LOSS = 0.01, 0.005  # of recall, on average over the larger sets learned from; with words alone less is risked
RIDGE, CLOSE_RIDGE, ROUNDS = 5.0, 40.0, 30  # where hits are read closely: 10 to 80 did alike, less told the sets it learned from by heart

CAVEAT = (
    "Weights and thresholds are learned from the other sets, or from the other half. Which signs that cost little to weigh was decided "
    "with all figures in view, those of legalbench-rag too, from which nothing is learned: a set that nobody looked at would fare worse. "
    "What to weigh where hits are read closely was decided before longmemeval and legalbench-rag were asked for it, but for the rare word "
    "that is taken up least, which was found by looking at what was missed. locomo-test, chroma-test, household and desk were asked after "
    "that: their questions are of somebody who had not seen how it is decided; that a space is always expected to know a code was "
    "decided with household in view. LoCoMo's adversarial "
    "questions, which its conversations do not answer, are no questions of the set here, as LongMemEval's abstentions are none. A question "
    "is of something known where it holds a name that a memory of the space holds; the others are of topics that it does not know. "
    "household and desk ask of stores of 75 and 80 memories, and most of their never-stored questions are of what is there, or nearly."
)

Floats = npt.NDArray[np.float64]
T = TypeVar("T")
_CLAIM = re.compile(r"\{([^}]*)\}")


@dataclass(frozen=True, slots=True)
class Sample:
    """One question: whether the store answers it, its signs, and how much of its answer was found."""

    answerable: bool
    held_out: bool
    evidence: Evidence | None
    """None where the question was not judged, having no telling word: it is answered whatever was learned."""
    recall: float = 0.0
    known: bool = False
    """Whether it holds a name that the space knows."""


@dataclass(frozen=True, slots=True)
class Fit:
    """A logistic model over some of the signs."""

    signs: tuple[str, ...]
    weights: tuple[float, ...]
    bias: float
    threshold: float = 0.0
    first: Fit | None = None
    """What is asked first: only what it leaves in doubt is read closely."""

    def chances(self, samples: Sequence[Sample]) -> Floats:
        """Return what the threshold is compared with: each probability over the share of the threshold that its space is held to."""
        if self.first is None:
            return self._chances(samples)
        before = self.first.chances(samples)
        sure = before * _doubts(samples) >= SURE
        return np.where(sure, np.inf, np.where(before < HOPELESS, 0.0, self._chances(samples)))

    def _chances(self, samples: Sequence[Sample]) -> Floats:
        judged = np.array([sample.evidence is not None for sample in samples])
        found = np.full(len(samples), np.inf)
        told = [sample for sample in samples if sample.evidence is not None]
        found[judged] = chance(matrix(told, self.signs) @ np.array(self.weights) + self.bias) / _doubts(told)
        return found


def _doubts(samples: Sequence[Sample]) -> Floats:
    """Return the share of the threshold that the space of each is held to."""
    return np.array([1.0 if sample.evidence is None else doubt(sample.evidence) for sample in samples])


def never_stored(name: str) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return the questions about what a set does not hold: space, text, and what occurs nowhere in that space."""
    spaces: Mapping[str, list[str]] = yaml.safe_load((NEVER_STORED / f"{name}.yaml").read_text(encoding="utf-8"))
    return [(space, _CLAIM.sub(r"\1", text), tuple(_CLAIM.findall(text))) for space, texts in spaces.items() for text in texts]


def broken_claims(name: str, dataset: Dataset) -> list[str]:
    """Return what is said to occur nowhere and does, and questions that claim nothing; compared as the index reads words."""
    held: dict[str, list[str]] = {}
    for passage in dataset.passages:
        held.setdefault(passage.space, []).append(f" {' '.join(terms(f'{passage.title} {passage.text}'))} ")
    joined = {space: "\n".join(texts) for space, texts in held.items()}
    asked_ = never_stored(name)
    found = [claim for space, _, claims in asked_ for claim in claims if f" {' '.join(terms(claim))} " in joined[space]]
    return found + [text for _, text, claims in asked_ if not claims]


def samples_of(name: str, data: Path, embedder: CachedEmbedder) -> list[Sample]:
    """Ask a store of the set its own questions and the never-stored ones."""
    dataset = small_set(name) if name in SMALL else _public_set(name, data, embedder)
    if broken := broken_claims(name, dataset):
        raise SystemExit(f"{name}: these are in the set after all: {broken}")
    level = dataset.levels[0]
    own = [query for query in dataset.queries if query.relevant.get(level) and query.category not in UNANSWERED]
    random.Random(SEED).shuffle(own)
    own = own[:MOST_QUESTIONS]
    foreign = never_stored(name)
    embedder.embed([*(query.text for query in own), *(text for _, text, _ in foreign)], role=EmbedRole.QUERY)
    with indexed(dataset, embedder, progress=silent) as index:
        return [
            *(Sample(True, False, *_asked(index, query.text, query.space, query.relevant[level])) for query in own),
            *(Sample(False, bool(number % 2), *_asked(index, text, space, {})) for number, (space, text, _) in enumerate(foreign)),
        ]


def _public_set(name: str, data: Path, embedder: CachedEmbedder) -> Dataset:
    dataset, folder, part = SETS[name]
    return dataset_of(Plan(dataset=dataset, path=data / folder, part=part), embedder)[0]


def _asked(index: Index, text: str, space: str, relevant: Mapping[str, int]) -> tuple[Evidence | None, float, bool]:
    memory = index.structured
    walk = walked_through(memory, asked(memory, text, {"k": DEPTH, "where": {"space": space}, "recipe": "balanced"}))
    stage, before = next((leg.stage, leg.before) for leg in walk.legs if isinstance(leg.stage, Relevant))
    assert isinstance(stage, Relevant)
    level = index.dataset.levels[0]
    keys = list(dict.fromkeys(index.nodes[hit.id].keys.get(level, index.nodes[hit.id].id) for hit in walk.answer.hits))[:K]
    found = len(relevant.keys() & set(keys)) / len(relevant) if relevant else 0.0
    told = telling(text)
    known = any(memory.store.holding([term for term, word in told.items() if word.name], space).values())
    return stage.closer(before, told) if walk.answer.relevance else None, found, known


def matrix(samples: Sequence[Sample], signs: Sequence[str]) -> Floats:
    rows = [[min(getattr(sample.evidence, sign), ENOUGH.get(sign, np.inf)) for sign in signs] for sample in samples]
    return np.array(rows, dtype=np.float64).reshape(len(samples), len(signs))


def chance(logits: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(logits, -60, 60))), dtype=np.float64)


def fitted(sets: Mapping[str, Sequence[Sample]], signs: tuple[str, ...], *, loss: float, closely: bool = False) -> Fit:
    """Fit by Newton's method with a ridge; every set counts alike, and so do its two kinds of questions."""
    first = fitted(sets, SIGNS, loss=loss) if closely else None
    learned = {name: [sample for sample in samples if not sample.held_out] for name, samples in sets.items()}
    judged = [[sample for sample in samples if sample.evidence is not None] for samples in learned.values()]
    rows = np.vstack([matrix(samples, signs) for samples in judged])
    labels = np.array([float(sample.answerable) for samples in judged for sample in samples])
    shares = np.concatenate([_shares(samples) for samples in judged])
    middle, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    inputs = np.column_stack([(rows - middle) / spread, np.ones(len(rows))])
    ridge = np.diag([CLOSE_RIDGE if closely else RIDGE] * len(signs) + [1e-9])
    solution = np.zeros(len(signs) + 1)
    for _ in range(ROUNDS):
        guess = chance(inputs @ solution)
        slope = inputs.T @ (shares * (guess - labels)) + ridge @ solution
        curve = (inputs * (shares * guess * (1 - guess))[:, None]).T @ inputs + ridge
        solution -= np.linalg.solve(curve, slope)
    weights = solution[:-1] / spread
    bias = float(solution[-1] - weights @ middle)
    plain = Fit(signs, tuple(round(float(weight), 4) for weight in weights), round(bias, 4), first=first)
    return replace(plain, threshold=threshold(plain, learned, loss=loss))


def _shares(samples: Sequence[Sample]) -> Floats:
    answerable = np.array([sample.answerable for sample in samples])
    shares: Floats = np.where(answerable, 100 / max(1, answerable.sum()), 100 / max(1, (~answerable).sum()))
    return shares


def threshold(fit: Fit, sets: Mapping[str, Sequence[Sample]], *, loss: float) -> float:
    """Return the highest threshold, in thousandths, at which the sets lose no more recall on average than allowed, and small ones none."""
    steps = np.arange(1, 500) / 1000
    costs = [losses(samples, fit.chances(samples), steps) for name, samples in sets.items() if name not in SMALL]
    fine = np.mean(costs, axis=0) <= loss
    for name in sorted(sets.keys() & set(SMALL)):
        fine &= losses(sets[name], fit.chances(sets[name]), steps * SMALL_MARGIN) == 0
    return max(map(float, steps[fine]), default=0.0)


def losses(samples: Sequence[Sample], chances: Floats, limits: Floats) -> Floats:
    """Return how much recall@10 the gate costs at each limit: what was found for questions that it would leave unanswered."""
    own = np.array([sample.answerable for sample in samples])
    found = np.array([sample.recall for sample in samples])[own]
    return np.asarray((found * (chances[own] < limits[:, None])).mean(axis=1), dtype=np.float64)


def lost(samples: Sequence[Sample], chances: Floats, limit: float) -> float:
    """Return how much recall@10 the gate costs at this limit."""
    return float(losses(samples, chances, np.array([limit]))[0])


def row(fit: Fit, samples: Sequence[Sample], *, held_out: bool) -> dict[str, Any]:
    """Return the figures of one set; of its never-stored questions all count, or those held out."""
    chances = fit.chances(samples)
    own = [sample for sample in samples if sample.answerable]
    never = [
        (s.known, c >= fit.threshold) for s, c in zip(samples, chances, strict=True) if not s.answerable and (s.held_out or not held_out)
    ]
    of_unknown, of_known = ([missed for known, missed in never if known is kind] for kind in (False, True))
    return {
        "questions": len(own),
        "never_stored": len(never),
        "unknown_topics": len(of_unknown),
        "recall@10": round(float(np.mean([sample.recall for sample in own])) * 100, 2),
        "false_positives_percent": _percent([missed for _, missed in never]),
        "of_unknown_topics_percent": _percent(of_unknown),
        "of_something_known_percent": _percent(of_known),
        "recall_lost_points": round(lost(samples, chances, fit.threshold) * 100, 2),
        "threshold": fit.threshold,
    }


def _percent(missed: Sequence[bool]) -> float | None:
    return round(float(np.mean(missed)) * 100, 1) if missed else None


def report(sets: Mapping[str, Sequence[Sample]], model_id: str) -> dict[str, Any]:
    """Fit with each set left out in turn, then on all that are learned from; write the calibration."""
    learned = taught(sets)

    def judged(signs: tuple[str, ...], loss: float, *, closely: bool = False) -> dict[str, Any]:
        others = {name: {other: learned[other] for other in learned if other != name} for name in sets}
        final = fitted(learned, signs, loss=loss, closely=closely)
        fits = {name: fitted(others[name], signs, loss=loss, closely=closely) for name in sets}
        return {
            "fit": asdict(final),
            "left_out": {name: row(fits[name], samples, held_out=False) for name, samples in sets.items()},
            "held_out": {name: row(final, samples, held_out=True) for name, samples in sets.items()},
        }

    return {
        model_id: judged(CLOSE_SIGNS, ALLOWED_LOSS, closely=True),
        f"{model_id} {PLAIN}": judged(SIGNS, ALLOWED_LOSS),
        WORDS_ALONE: judged(WORD_SIGNS, CAUTIOUS_LOSS),
    }


def taught(sets: Mapping[str, T]) -> dict[str, T]:
    """Return what belongs to the sets that are learned from."""
    return {name: each for name, each in sets.items() if name not in JUDGED_ONLY}


def mean(rows: Mapping[str, Mapping[str, Any]], column: str) -> float:
    return round(float(np.mean([each[column] for each in rows.values() if each[column] is not None])), 2)


def table(made: Mapping[str, Any]) -> str:
    """Return the figures as Markdown."""
    lines = ["<!-- written by benchmarks/calibrate_relevance.py -->", "# When nothing is relevant", "", CAVEAT, ""]
    for model, figures in made.items():
        for view, title in (
            ("left_out", "each set judged by what the others taught"),
            ("held_out", "all sets taught, held-out half judged"),
        ):
            rows = figures[view]
            learned = taught(rows)
            lines += [
                f"## {model}: {title}",
                "",
                "| set | questions | never stored, of unknown topics | answered all the same, % | of unknown topics | of something known "
                "| recall@10 | lost, points | threshold |",
                "|---|---|---|---|---|---|---|---|---|",
            ]
            lines += [_line(name, each) for name, each in rows.items()]
            lines += [_means("mean", learned), _means("mean of what is only judged", {n: rows[n] for n in rows if n not in learned}), ""]
    return "\n".join(lines)


def _line(name: str, row: Mapping[str, Any]) -> str:
    shown = f"{name}, judged only" if name in JUDGED_ONLY else name
    missed = " | ".join("–" if row[column] is None else str(row[column]) for column in MISSED)
    return (
        f"| {shown} | {row['questions']} | {row['never_stored']}, {row['unknown_topics']} | {missed} | {row['recall@10']} "
        f"| {row['recall_lost_points']} | {row['threshold']} |"
    )


def _means(title: str, rows: Mapping[str, Mapping[str, Any]]) -> str:
    missed = " | ".join(str(mean(rows, column)) for column in MISSED)
    return f"| {title} | | | {missed} | | {mean(rows, 'recall_lost_points')} | |"


def toml(made: Mapping[str, Any]) -> Iterator[str]:
    """Yield the calibration as the package keeps it."""
    yield "# Written by benchmarks/calibrate_relevance.py: what each sign counts, by embedding model. false_positives and recall_lost"
    yield "# are the means over the sets that are learned from, each left out in turn; benchmarks/results/relevance has the others too."
    for model, figures in made.items():
        if not model.endswith(PLAIN):
            plain = made.get(f"{model} {PLAIN}", figures)
            yield f"\n[{json.dumps(model)}]"
            yield from _section(plain)
            if plain is not figures:
                yield f"\n[{json.dumps(model)}.{CLOSER}]  # where hits are read closely"
                yield from _section(figures)


def _section(figures: Mapping[str, Any]) -> Iterator[str]:
    fit, rows = figures["fit"], taught(figures["left_out"])
    yield f"bias = {fit['bias']}\nthreshold = {fit['threshold']}"
    yield f"questions = {sum(each['questions'] + each['never_stored'] for each in rows.values())}"
    yield f"false_positives = {mean(rows, 'false_positives_percent') / 100:.4f}"
    yield f"recall_lost = {mean(rows, 'recall_lost_points') / 100:.4f}"
    yield _inline("enough", {sign: ENOUGH[sign] for sign in fit["signs"] if sign in ENOUGH})
    yield _inline("weights", dict(zip(fit["signs"], fit["weights"], strict=True)))


def _inline(key: str, values: Mapping[str, float]) -> str:
    return f"{key} = {{ {', '.join(f'{name} = {value}' for name, value in values.items())} }}" if values else f"{key} = {{}}"


def kept(path: Path) -> list[Sample]:
    return [Sample(a, h, e and Evidence(*e), r, k) for a, h, e, r, k in json.loads(path.read_text(encoding="utf-8"))["samples"]]


def keep(path: Path, samples: Sequence[Sample]) -> None:
    rows = [
        [s.answerable, s.held_out, s.evidence and [round(float(sign), 6) for sign in s.evidence], round(s.recall, 6), s.known]
        for s in samples
    ]
    lines = ",\n".join(json.dumps(each) for each in rows)
    path.write_text(f'{{"signs": {json.dumps(Evidence._fields)},\n"samples": [\n{lines}\n]}}\n', encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="the folder that holds the sets' folders")
    parser.add_argument("--cache", type=Path, default=default_cache(), help="where vectors are kept")
    parser.add_argument("--sets", nargs="*", default=[*SETS, *SMALL], choices=[*SETS, *SMALL], help="ask only these again")
    parser.add_argument("--refit", action="store_true", help="ask nothing, fit from the signs that were kept")
    options = parser.parse_args()
    RESULTS.mkdir(parents=True, exist_ok=True)
    embedder = load_model(MODEL)
    assert embedder is not None
    if not options.refit:
        if options.data is None:
            parser.error("--data is needed, or --refit")
        cached = CachedEmbedder(embedder, options.cache)
        for name in options.sets:
            keep(RESULTS / f"{name}.json", samples_of(name, options.data, cached))
            print(f"{name} asked", flush=True)
    made = report({name: kept(RESULTS / f"{name}.json") for name in (*SETS, *SMALL)}, embedder.id)
    CALIBRATION.write_text("\n".join(toml(made)) + "\n", encoding="utf-8")
    (RESULTS / "report.json").write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    (RESULTS / "report.md").write_text(table(made), encoding="utf-8")
    print(table(made))


if __name__ == "__main__":
    main()
