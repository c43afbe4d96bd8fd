"""Jupyter notebooks: text cells as they are, code cells and their printed output as fences, pictures left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from clew.documents.readers.document import Document
from clew.documents.readers.markdown import read_markdown
from clew.parsing import ParseError, parse_json

MAX_OUTPUT_CHARACTERS = 2000  # of one output: what is longer is a log


def read_notebook(text: str, notes: tuple[str, ...]) -> Document:
    """Return a notebook as Markdown.

    One that is not JSON of the documented layout stays the text it is.
    """
    try:
        value = parse_json(text)
    except ParseError as error:
        return Document(
            text=text, format="json", notes=(*notes, f"a notebook that {error}: kept as text")
        )
    cells = _cells(value)
    if cells is None:
        return Document(
            text=text, format="json", notes=(*notes, "a notebook without cells: kept as text")
        )
    left_out: Counter[str] = Counter()
    language = _language(value)
    body = "\n\n".join(
        part for cell in cells for part in _parts(cell, language, left_out) if part.strip()
    )
    made = read_markdown(body, ())
    counted = tuple(f"{number} {what} left out" for what, number in sorted(left_out.items()))
    return Document(
        text=body,
        format="markdown",
        title=made.title,
        metadata={"original_format": "notebook", "language": language},
        notes=(*notes, *counted),
    )


def _cells(value: object) -> list[Any] | None:
    """Return the cells: at the top since version 4 of the format, inside worksheets before."""
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("cells"), list):
        return list(value["cells"])
    sheets = value.get("worksheets")
    if isinstance(sheets, list):
        return [
            cell
            for sheet in sheets
            if isinstance(sheet, dict)
            for cell in _listed(sheet.get("cells"))
        ]
    return None


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _language(value: Mapping[str, Any]) -> str:
    metadata = value.get("metadata")
    for key in ("language_info", "kernelspec"):
        named = metadata.get(key) if isinstance(metadata, dict) else None
        language = (
            named.get("name" if key == "language_info" else "language")
            if isinstance(named, dict)
            else None
        )
        if isinstance(language, str) and language.isprintable() and len(language) < 30:
            return language
    return "python"


def _parts(cell: object, language: str, left_out: Counter[str]) -> Iterator[str]:
    if not isinstance(cell, dict):
        left_out["entries that are no cells"] += 1
        return
    source = _text(cell.get("source", cell.get("input")))
    if cell.get("cell_type") != "code":
        yield source
        return
    if source.strip():
        yield _fence(source, language)
    for output in _listed(cell.get("outputs")):
        yield _output(output, left_out)


def _output(output: object, left_out: Counter[str]) -> str:
    """Return what an output prints; pictures and pages are left out."""
    if not isinstance(output, dict):
        return ""
    data = output.get("data")
    if isinstance(data, dict):
        left_out["pictures and pages in outputs"] += sum(
            1 for kind in data if isinstance(kind, str) and kind != "text/plain"
        )
    text = _text(data.get("text/plain")) if isinstance(data, dict) else _text(output.get("text"))
    if len(text) > MAX_OUTPUT_CHARACTERS:
        left_out["long outputs"] += 1
        return ""
    return _fence(text, "") if text.strip() else ""


def _text(value: object) -> str:
    if isinstance(value, list):
        return "".join(each for each in value if isinstance(each, str))
    return value if isinstance(value, str) else ""


def _fence(text: str, language: str) -> str:
    marks = "````" if "```" in text else "```"
    return f"{marks}{language}\n{text.strip(chr(10))}\n{marks}"
