"""A report as a folder of files, and back.

    result.json     the table and its provenance       ┐
    samples.jsonl   one line for each question          │ byte-identical for one seed, data and
                    configuration
    report.md       the tables for people               │
    report.html     the page with the plots             ┘
    timings.json    what the clock said                 differs from run to run, and is in no other
                    file

Latency is part of the cost of a system and is measured; but a number that is never the same twice
would make every file that holds it useless for checking that a run was reproduced. So it has its
own file, and is shown on a page only when the page is asked for with it (`render_html(result,
samples, timings=...)`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from clew.errors import InputError
from clew.evaluate.report.codec import dumps, loads, parse, plain, read
from clew.evaluate.report.markdown import render_markdown
from clew.evaluate.report.model import PolicySample, Result, RunSample, Sample, Timings
from clew.evaluate.report.page import render_html
from clew.files import read_file

MAX_BYTES = 1_000_000_000
WAY_OUT = "Make a report with `clew eval run --output FOLDER`."
RESULT, SAMPLES, MARKDOWN, PAGE, TIMINGS = (
    "result.json",
    "samples.jsonl",
    "report.md",
    "report.html",
    "timings.json",
)


@dataclass(frozen=True, slots=True)
class Report:
    """What a folder holds."""

    result: Result
    samples: tuple[Sample, ...] = ()
    timings: Timings | None = None


def write(folder: Path, report: Report) -> tuple[Path, ...]:
    """Write a report into a folder, each file whole or not at all, and return what was written.

    The pages are made from the numbers as the file holds them, so that a page made later from the
    file is the same.
    """
    held = settled(report)
    texts = {
        RESULT: result_json(held.result),
        SAMPLES: samples_jsonl(held.samples),
        MARKDOWN: render_markdown(held.result, held.samples),
        PAGE: render_html(held.result, held.samples),
    }
    if held.timings is not None:
        texts[TIMINGS] = dumps(held.timings) + "\n"
    return write_texts(folder, texts)


def write_texts(folder: Path, texts: Mapping[str, str]) -> tuple[Path, ...]:
    """Write texts into a folder, each whole or not at all, and return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    return tuple(_write(folder / name, text) for name, text in texts.items())


def load(folder: Path) -> Report:
    """Read a report back from its folder, or raise an InputError that names the file and the field."""
    result, samples, timings = (_read(folder / name) for name in (RESULT, SAMPLES, TIMINGS))
    if result is None:
        raise InputError("folder", str(folder), f"holds no {RESULT}", WAY_OUT)
    return Report(
        read_result(result).result,
        read_samples(samples or ""),
        loads(Timings, timings, source=TIMINGS) if timings is not None else None,
    )


def redraw(folder: Path, *, timed: bool = False) -> tuple[Path, ...]:
    """Make the pages of a folder again from the numbers in it.

    With `timed` they show what the clock said.
    """
    report = load(folder)
    timings = report.timings if timed else None
    if timed and timings is None:
        raise InputError(
            "folder",
            str(folder),
            f"holds no {TIMINGS}",
            "Leave out --timings, or run the evaluation again.",
        )
    texts = {
        MARKDOWN: render_markdown(report.result, report.samples, timings=timings),
        PAGE: render_html(report.result, report.samples, timings=timings),
    }
    return tuple(_write(folder / name, text) for name, text in texts.items())


def read_result(text: str) -> Report:
    """Read what `result_json` wrote, with or without timings."""
    raw = parse(text, RESULT)
    timings = raw.pop("timings", None) if isinstance(raw, dict) else None
    return Report(
        read(Result, raw, RESULT), timings=read(Timings | None, timings, f"{RESULT}.timings")
    )


def settled(report: Report) -> Report:
    """Return a report with its numbers as files hold them."""
    samples = read_samples(samples_jsonl(report.samples))
    return replace(report, result=loads(Result, dumps(report.result)), samples=samples)


def result_json(result: Result, *, timings: Timings | None = None) -> str:
    """Return the table as JSON.

    With `timings` they are one more block, and the text is not the same twice.
    """
    held: dict[str, Any] = plain(result)
    return dumps(held | ({"timings": plain(timings)} if timings else {})) + "\n"


def samples_jsonl(samples: Iterable[Sample]) -> str:
    """Return one JSON line for each sample, ordered by question and system, whatever order they were made in."""
    ordered = sorted(samples, key=_place)
    return "".join(dumps(sample, indent=None) + "\n" for sample in ordered)


def _place(sample: Sample) -> tuple[str, ...]:
    if isinstance(sample, RunSample):
        return sample.query_id, sample.system
    return sample.query_id, sample.policy, sample.budget, sample.chunker, sample.embedder


def read_samples(text: str) -> tuple[Sample, ...]:
    """Read samples back.

    A line with a `system` field is one system's answer, others compare two policies.
    """
    lines: Sequence[str] = text.split(
        "\n"
    )  # not splitlines: a ranking may hold a line separator inside a text
    return tuple(
        _sample(line, number) for number, line in enumerate(lines, start=1) if line.strip()
    )


def _sample(line: str, number: int) -> Sample:
    source = f"{SAMPLES}:{number}"
    raw = parse(line, source)
    kind = RunSample if isinstance(raw, dict) and "system" in raw else PolicySample
    sample: Sample = read(kind, raw, source)
    return sample


def _read(path: Path) -> str | None:
    if not os.path.lexists(path):
        return None
    try:
        return read_file(path, limit_bytes=MAX_BYTES).decode("utf-8")
    except OSError as error:
        raise InputError(
            "folder", str(path), f"cannot be read: {error.strerror}", WAY_OUT
        ) from error
    except UnicodeDecodeError as error:
        raise InputError("folder", str(path), "is not UTF-8", WAY_OUT) from error


def _write(path: Path, text: str) -> Path:
    """Write beside the file and move it into place.

    A lone surrogate of a dataset becomes its JSON escape.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_bytes(text.encode("utf-8", "backslashreplace"))
    draft.replace(path)
    return path
