"""Tables (.csv, .tsv, sheets): each row as a line of its cells under the names of the header."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from clew.documents.readers.document import Document

DELIMITERS = ",;\t|"
SAMPLE_LINES = 20
MAX_NAME = 80  # characters of a column's name that are repeated with each row


def read_table(text: str, notes: tuple[str, ...], *, tab: bool = False) -> Document:
    r"""Return a table with its header said again in each row.

    What is no table stays the text it is.

    >>> read_table("pier,opens\n4,06:00\n5,\n", ()).text
    'pier: 4; opens: 06:00\n\npier: 5'
    """
    try:
        rows = [
            row
            for row in csv.reader(io.StringIO(text), delimiter="\t" if tab else delimiter(text))
            if any(map(str.strip, row))
        ]
    except csv.Error as error:
        return Document(
            text=text, format="csv", notes=(*notes, f"not a table ({error}): kept as text")
        )
    body = "\n\n".join(spoken(rows))
    if len(rows) < 2 or max(map(len, rows)) < 2:
        return Document(text=text, format="csv", notes=notes)
    return Document(
        text=body,
        format="text",
        metadata={"original_format": "csv", "rows": len(rows) - 1},
        notes=notes,
    )


def delimiter(text: str) -> str:
    r"""Return the sign that parts as many cells in each of the first lines.

    >>> delimiter("a;b,c\n1;2\n"), delimiter("one")
    (';', ',')
    """
    lines = [each for each in text[:100_000].split("\n")[:SAMPLE_LINES] if each.strip()]
    counts = {sign: [each.count(sign) for each in lines] for sign in DELIMITERS}
    return max(DELIMITERS, key=lambda sign: (min(counts[sign], default=0), sum(counts[sign])))


def spoken(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    """Yield a line for each row behind the header, with the header's names before its cells.

    Cells without a name stand alone.
    """
    if not rows:
        return
    names = [" ".join(cell.split())[:MAX_NAME] for cell in rows[0]]
    if len(rows) == 1:
        yield "; ".join(filter(None, names))
    for row in rows[1:]:
        cells = [" ".join(cell.split()) for cell in row]
        told = [
            f"{names[at]}: {cell}" if at < len(names) and names[at] else cell
            for at, cell in enumerate(cells)
            if cell
        ]
        if told:
            yield "; ".join(told)
