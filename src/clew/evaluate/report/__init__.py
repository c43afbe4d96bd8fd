"""What did we learn? A result as JSON, JSON lines, Markdown, terminal rows and one page with plots."""

from clew.evaluate.report.codec import dumps, loads
from clew.evaluate.report.files import (
    Report,
    load,
    read_result,
    read_samples,
    result_json,
    samples_jsonl,
    write,
)
from clew.evaluate.report.markdown import render_markdown
from clew.evaluate.report.model import (
    BASELINE,
    Ablation,
    Hop,
    Missed,
    PolicySample,
    Result,
    Row,
    RunSample,
    Sample,
    Timings,
    Versus,
    Walked,
)
from clew.evaluate.report.page import render_html
from clew.evaluate.report.tables import Cell, Table, rows_for_terminal, tables
from clew.evaluate.significance import Interval

__all__ = [
    "BASELINE",
    "Ablation",
    "Cell",
    "Hop",
    "Interval",
    "Missed",
    "PolicySample",
    "Report",
    "Result",
    "Row",
    "RunSample",
    "Sample",
    "Table",
    "Timings",
    "Versus",
    "Walked",
    "dumps",
    "load",
    "loads",
    "read_result",
    "read_samples",
    "render_html",
    "render_markdown",
    "result_json",
    "rows_for_terminal",
    "samples_jsonl",
    "tables",
    "write",
]
