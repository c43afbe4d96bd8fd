"""Writes what was measured into the README and the guide, from the files under results.

`--check` only says whether they are in step.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
GUIDE = ROOT / "docs" / "evaluation.md"
RESULTS = ROOT / "benchmarks" / "results"
BEGIN, END = "<!-- measured -->\n", "<!-- /measured -->\n"
SYSTEMS = ("bm25", "dense", "rrf", "clew")
LOADED = "Loaded with "  # how a run notes the options of its set
SIZE = 100_000
PEERS = ("clew", "clew-fast", "chromadb", "lancedb", "lancedb-ivf", "sqlite-vec", "qdrant", "txtai")


RANKED = {
    "desk": "desk: three small stores of our own",
    "household": "household: two small stores of our own",
    "cacm": "CACM, abstracts",
    "scifact": "SciFact test, abstracts",
    "cosqa": "CoSQA dev, web queries to functions",
    "semble-dev": "semble dev, files of code",
    "semble": "semble test, files of code",
    "swe-qa-dev": "SWE-QA dev, files of code",
    "swe-qa": "SWE-QA test, files of code",
    "hotpot": "HotpotQA-200, titles",
    "hotpot-untitled": "HotpotQA-200, no titles",
    "2wiki": "2Wiki test, titles",
    "2wiki-untitled": "2Wiki test, no titles",
    "locomo": "LoCoMo test, turns as memories",
    "locomo-chat": "LoCoMo test, turns as conversations",
    "lihua": "LiHua-World test, chats",
    "longmemeval": "LongMemEval, 120 questions, sessions",
    "chroma-dev": "Chroma chunking dev, chunks",
    "chroma": "Chroma chunking test, chunks",
    "legalbench": "LegalBench-RAG, 120 questions, chunks",
    "repoeval": "RepoEval functions, chunks of code",
    "swe-bench": "SWE-bench Lite, three projects, files",
}
FURTHER = (
    ("desk", "hit@1"),
    ("household", "hit@1"),
    ("cosqa", "MRR"),
    ("swe-qa", "recall@5"),
    ("hotpot", "recall@5"),
    ("hotpot-untitled", "recall@5"),
    ("2wiki", "recall@5"),
    ("2wiki-untitled", "recall@5"),
    ("locomo", "recall@10"),
    ("locomo-chat", "recall@10"),
)
BASELINES = ("BM25", "dense", "plain fusion")


def quality() -> list[str]:
    """Return the table of every set that was ranked through the public API, beside the baselines.

    Losers are shown like winners.
    """
    found = _read(RESULTS / "ranking.json")
    lines = [
        "Ranking, default settings, public API, offline, no LLM: nDCG@10 in percent. Plain fusion is the sum of BM25 and cosine, each",
        "min–max normalised over its best hundred. The last column is Clew against the best of the three: 95 % interval of the difference",
        "and *p* of a paired randomisation test. Made by `python -m benchmarks.ranking`.",
        "",
        "| set | questions | BM25 | dense | plain fusion | **Clew** | against the best |",
        "|---|---:|---:|---:|---:|---:|---|",
        *(_ranked(label, found[name]) for name, label in RANKED.items() if name in found),
        "",
        "Other measures of the same answers:",
        "",
        "| set | measure | BM25 | dense | plain fusion | **Clew** |",
        "|---|---|---:|---:|---:|---:|",
    ]
    rows = [
        (RANKED[name], measure, found[name]["means"]) for name, measure in FURTHER if name in found
    ]
    return lines + [
        f"| {label} | {measure} | {' | '.join(_best_bold(means, measure))} |"
        for label, measure, means in rows
    ]


def _ranked(label: str, result: dict[str, Any]) -> str:
    low, high, p = result["against_best"]["Clew"]
    against = f"{low:+.1f} to {high:+.1f}, p {_chance(p)}".replace("-", "−")
    return f"| {label} | {result['questions']} | {' | '.join(_best_bold(result['means'], 'nDCG@10'))} | {against} |"


def _best_bold(means: dict[str, dict[str, float]], measure: str) -> list[str]:
    values = [means[system][measure] for system in (*BASELINES, "Clew")]
    return [f"**{value:.1f}**" if value == max(values) else f"{value:.1f}" for value in values]


def earlier() -> list[str]:
    """Return the sets that were not measured again since the ranking changed."""
    head = [
        "",
        "Not measured again since the ranking changed; these figures are of the ranking before it (`clew eval run`; *p* against BM25;",
        "details in [benchmarks/results/eval](benchmarks/results/eval)). On LongMemEval Clew stands at the day of each question and",
        "is not shown what was said later, as the baselines are; with `dated=off` it is shown all.",
        "",
        "| set | measure | questions | BM25 | dense | RRF | **Clew** | p |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    files = sorted((RESULTS / "eval").glob("*/result.json"))
    return head + [_set(_read(path)) for path in files]


def _set(result: dict[str, Any]) -> str:
    rows = _rows(result)
    values = [rows[name]["measures"][result["measure"]] for name in SYSTEMS]
    shown = [
        f"**{100 * value:.1f}**" if value == max(values) else f"{100 * value:.1f}"
        for value in values
    ]
    told = _chance(rows["clew"]["p_vs_bm25"])
    chosen = [
        note.removeprefix(LOADED).rstrip(".").replace("=False", "=off")
        for note in result["notes"]
        if note.startswith(LOADED)
    ]
    name = ", ".join([f"{result['dataset']}, {result['level']}, {result['part']}", *chosen])
    return (
        f"| {name} | {result['measure']} | {result['questions']} | {' | '.join(shown)} | {told} |"
    )


def chunkers() -> list[str]:
    """Return what each way to cut documents finds: the default recipe on Chroma's sets."""
    spans = (RESULTS / "chunkers").glob("chroma-*/result.json")
    return [
        "",
        "Ways to cut, 400 tokens at most for all of them. Chroma's test part, the best ten chunks of the recipe before late interaction.",
        "",
        "| chunker | token recall | token precision | token IoU | tokens returned |",
        "|---|---:|---:|---:|---:|",
        *(_spans(path) for path in sorted(spans)),
    ]


def _spans(path: Path) -> str:
    row = _rows(_read(path))["clew"]
    values = [
        f"{100 * row['measures'][name]:.1f}"
        for name in ("token-recall", "token-precision", "token-IoU")
    ]
    return f"| {path.parent.name.removeprefix('chroma-')} | {' | '.join(values)} | {row['cost']['tokens_returned']:,.0f} |"


def policies() -> list[str]:
    """Return what several hops change against one search, chunker by chunker, and what a sweep found."""
    path = RESULTS / "sweep" / "result.json"
    if not path.exists():
        return []
    result = _read(path)
    rows = [row for row in result["deltas"] if row["budget"] == "equal"]
    return [
        "",
        f"One search or several hops: both look at {result['budget']} chunks, and all are ordered by the same scorer (`clew eval sweep`; a",
        "sample of each set). Percent, the change in points with its 95 % interval, *p* after Holm's correction over the whole",
        "[report](benchmarks/results/sweep/report.md), which has the larger budget, costs and hops too.",
        "",
        "| set | chunker | measure | questions | one search | policy | several hops | change | p (Holm) |",
        "|---|---|---|---:|---:|---|---:|---|---:|",
        *(_policy(row) for row in rows),
        "",
        "What the sweep found, in sentences that are made from its table:",
        "",
        *(f"- {finding}" for finding in result["findings"]),
    ]


def _policy(row: dict[str, Any]) -> str:
    low, high = (f"{100 * each:+.1f}" for each in row["ci"])
    change = f"{100 * row['delta']:+.1f} ({low} to {high})".replace("-", "−")
    names = f"| {row['dataset']} | {row['chunker']} | {row['measure']} | {row['n']} | {100 * row['single']:.1f} "
    return f"{names}| {row['policy']} | {100 * row['multi']:.1f} | {change} | {_chance(row['p_holm'])} |"


def paths() -> list[str]:
    """Return what several hops find along the call paths of source trees, and how much of the paths."""
    path = RESULTS / "code-paths" / "result.json"
    if not path.exists():
        return []
    result = _read(path)
    hops = {(each["system"], each["hop"]): each["recall"] for each in result["hopwise"]}
    against = {
        each["variant"]: each
        for each in result["comparisons"]
        if each["baseline"] == "single-hop@15" and each["measure"] == "recall@10"
    }
    rows = [row for row in result["rows"] if row["system"] in ("bm25", *against, "single-hop@15")]
    return [
        "",
        f"Call paths of source trees, words alone, {result['questions']} questions made from the call graph (`--dataset code-paths`):",
        "recall@10 and path@10 of files in percent, recall after each hop, and the change against one search with its",
        "95 % interval and *p* after Holm.",
        "",
        "| system | recall@10 | path@10 | hop 1 | hop 2 | change | p (Holm) |",
        "|---|---:|---:|---:|---:|---|---:|",
        *(_along(row, hops, against.get(row["system"])) for row in rows),
    ]


def _along(
    row: dict[str, Any], hops: dict[tuple[str, int], float], versus: dict[str, Any] | None
) -> str:
    reached = [
        f"{100 * hops[row['system'], hop]:.1f}" if (row["system"], hop) in hops else "–"
        for hop in (1, 2)
    ]
    values = [f"{100 * row['measures'][name]:.1f}" for name in ("recall@10", "path@10")]
    change = "–"
    if versus is not None:
        low, high = (f"{100 * each:+.1f}" for each in versus["ci"])
        change = f"{100 * versus['mean_difference']:+.1f} ({low} to {high})".replace("-", "−")
    return f"| {row['system']} | {' | '.join((*values, *reached))} | {change} | {_chance(versus['p_holm'] if versus else None)} |"


HISTORIES = {
    "off": "off",
    "default": "**default**: reinforcement and temporal, 0.9 to 1.1",
    "reinforcement alone": "reinforcement alone",
    "temporal alone": "temporal alone",
    "graph alone": "graph alone",
    "all three": "all three",
    "least 0.85": "default, but from 0.85",
    "least 0.67": "default, but from 0.67",
}
DECIDED = ("history nDCG@10", "history hit@1", "words nDCG@10", "words hit@1")


def history() -> list[str]:
    """Return what TraceRank is worth on the set with a history, and the ablation of all its parts."""
    variants = _read(RESULTS / "history.json")["variants"]
    lines = [
        "",
        "TraceRank on the set with a history, percent; in brackets the 95 % interval of the difference from off (paired bootstrap;",
        "`python -m benchmarks.history`).",
        "",
        f"| TraceRank | {' | '.join(DECIDED)} |",
        "|---|---:|---:|---:|---:|",
        *(
            f"| {label} | {' | '.join(_decided(variants[name], first=name == 'off'))} |"
            for name, label in HISTORIES.items()
        ),
    ]
    path = RESULTS / "ablation" / "history" / "result.json"
    return lines + (_parts(_read(path)) if path.exists() else [])


def _decided(cells: dict[str, Any], *, first: bool) -> list[str]:
    shown = []
    for name in DECIDED:
        _, low, high, _ = cells[name]["against_off"]
        interval = "" if first else f" ({low:+.1f} to {high:+.1f})".replace("-", "−")
        shown.append(f"{cells[name]['mean']:.1f}{interval}")
    return shown


def _parts(result: dict[str, Any]) -> list[str]:
    """Return what each part of a memory's history is worth to the questions that need it."""
    wanted = [each for each in result["ablations"] if each["by_category"]]
    names = sorted({name for each in wanted for name in each["by_category"]})
    cells = {
        each["variant"]: [
            f"{100 * each['by_category'][name]:+.1f}".replace("-", "−") for name in names
        ]
        for each in wanted
    }
    rows = [f"| {variant} | {' | '.join(shown)} |" for variant, shown in cells.items()]
    return [
        "",
        f"The same set by what decides a question: the change of {result['measure']} in points when one part is altered",
        "(`clew eval ablate --dataset history`). `decay` hides what has been archived; without as-of and known-at a question is",
        "answered as of now.",
        "",
        f"| altered | {' | '.join(names)} |",
        f"|---|{'---:|' * len(names)}",
        *rows,
    ]


def recipes() -> list[str]:
    """Return what other recipes find where `balanced` finds as much as it does.

    The gate of `agent` and the narrowing of `staged`.
    """
    lines = [
        "",
        "Recipes on the dev parts: what the quality gate of `agent` costs, and looking for sections first.",
        "",
    ]
    lines += ["| set | measure | balanced | agent | staged |", "|---|---|---:|---:|---:|"]
    for path in sorted((RESULTS / "recipes").glob("*/result.json")):
        result = _read(path)
        rows = _rows(result)
        values = [
            f"{100 * rows[name]['measures'][result['measure']]:.1f}"
            for name in ("clew", "agent", "staged")
        ]
        lines.append(f"| {result['dataset']} | {result['measure']} | {' | '.join(values)} |")
    return lines


def reranking() -> list[str]:
    """Return what reading the best hits once more is worth, set by set.

    Losses are listed like gains.
    """
    found = [_read(path) for path in sorted((RESULTS / "ablation").glob("rerank-*/result.json"))]
    if not found:
        return []
    head = "The recipe `reranked` beside `balanced`: a cross-encoder reads the best thirty hits (percent; *p* by the randomisation test)."
    lines = ["", head, ""]
    lines += [
        "| set | measure | questions | balanced | reranked | change | p |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    return lines + [_reranked(result) for result in found]


def _reranked(result: dict[str, Any]) -> str:
    (change,) = (each for each in result["ablations"] if each["variant"] == "reranked")
    before = _rows(result)["clew"]["measures"][result["measure"]]
    told = (
        f"{100 * before:.1f} | {100 * change['value']:.1f} | {100 * change['delta']:+.1f}".replace(
            "-", "−"
        )
    )
    return f"| {result['dataset']}, {result['part']} | {result['measure']} | {result['questions']} | {told} | {_chance(change['p'])} |"


def _chance(p: float | None) -> str:
    return "–" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"


def _read(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8")))


def _rows(result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["system"]: row for row in result["rows"]}


def speed() -> list[str]:
    """Return the table of one run beside the peers."""
    path = RESULTS / f"speed-{SIZE}.json"
    if not path.exists():
        return []
    run = _read(path)
    lines = [
        "",
        f"Speed at {SIZE:,} memories of 384 numbers, one run on a shared machine with {run['machine']['cores']} cores, milliseconds",
        "p50 / p95, wall clock. [benchmarks/results/speed.md](benchmarks/results/speed.md) has CPU time, ratios, disk, memory and how",
        "each peer was set up. Measured before late interaction came, with given vectors and no token codes.",
        "",
        "| | hybrid top 10 | dense top 10 | recall@10 | with a 1 % filter | add + commit | flushes an add |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    return lines + [
        _peer(name, run["peers"][name]["measures"]) for name in PEERS if name in run["peers"]
    ]


def _peer(name: str, measures: dict[str, Any]) -> str:
    cells = [
        _pair(measures, "hybrid"),
        _pair(measures, "dense"),
        _value(measures, "dense_recall", 3),
        _pair(measures, "filtered"),
    ]
    cells += [_pair(measures, "add"), _value(measures, "syncs_per_add", 1)]
    return f"| {name} | {' | '.join(cells)} |"


def _pair(measures: dict[str, Any], name: str) -> str:
    found = measures.get(name)
    return f"{found['p50_ms']:.1f} / {found['p95_ms']:.1f}" if found and "p50_ms" in found else "–"


def _value(measures: dict[str, Any], name: str, digits: int) -> str:
    found = measures.get(name)
    return f"{found['value']:.{digits}f}" if found and "value" in found else "–"


def rendered(path: Path) -> str:
    """Return a document with what was measured in its place.

    The guide, a folder deeper, shows chunkers and recipes too.
    """
    before, _, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    deeper = [
        *quality(),
        *earlier(),
        *chunkers(),
        *policies(),
        *paths(),
        *history(),
        *recipes(),
        *reranking(),
    ]
    lines = (
        [*quality(), *speed()]
        if path == README
        else [line.replace("(benchmarks/", "(../benchmarks/") for line in deeper]
    )
    return before + BEGIN + "\n".join(lines) + "\n" + END + after


def main() -> int:
    """Write both documents, or with --check say which are not in step."""
    stale = [path for path in (README, GUIDE) if path.read_text(encoding="utf-8") != rendered(path)]
    for path in stale:
        if "--check" in sys.argv:
            print(
                f"{path.name} is not in step with benchmarks/results: run python -m benchmarks.readme"
            )
        else:
            path.write_text(rendered(path), encoding="utf-8")
    return int(bool(stale)) if "--check" in sys.argv else 0


if __name__ == "__main__":
    raise SystemExit(main())
