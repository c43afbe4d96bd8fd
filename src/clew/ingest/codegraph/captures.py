"""What does a grammar's query find in a text? Names, places and lines, in characters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from clew.ingest.chunkers.languages import parser_of, syntax_tree
from clew.ingest.chunkers.plausible import is_plausible

SMALL = 4_000  # letters: so much is parsed whatever it is
_QUERIES = {  # languages that share some of their queries
    "javascript": ("ecmascript", "javascript", "jsx"),
    "typescript": ("ecmascript", "typescript"),
    "tsx": ("ecmascript", "typescript", "jsx"),
}


class Captured(NamedTuple):
    """A piece of the text under the name that the query gives it."""

    text: str
    start: int
    end: int
    line: int
    node: Any


def captures(text: str, language: str) -> Iterator[dict[str, Captured]]:
    """Yield what each match of the language's query holds; nothing for a text that is no program."""
    parser_of(language)  # complains where the grammar is not installed, whatever the text is
    data = text.encode(errors="surrogatepass")
    tree = syntax_tree(language, data) if len(text) <= SMALL or is_plausible(text, language) else None  # kept: its nodes do not keep it
    if tree is None:
        return
    place = offsets(text, data)
    cursor = import_module("tree_sitter").QueryCursor(_query(language))
    for _, found in cursor.matches(tree.root_node):
        yield {name: _captured(nodes[0], data, place) for name, nodes in found.items()}


def _captured(node: Any, data: bytes, place: Callable[[int], int]) -> Captured:
    start, end = node.start_byte, node.end_byte
    said = data[start:end].decode(errors="surrogatepass") if end - start <= _LONGEST_NAME else ""
    return Captured(said, place(start), place(end), node.start_point[0] + 1, node)


_LONGEST_NAME = 400  # bytes; what is longer is a whole definition or an expression, and nobody's name


def offsets(text: str, data: bytes) -> Callable[[int], int]:
    """Return what turns an offset in the UTF-8 bytes of a text into one in its characters.

    >>> place = offsets("é=f", "é=f".encode())
    >>> [place(byte) for byte in (0, 2, 3, 4)]
    [0, 1, 2, 3]
    """
    if len(text) == len(data):
        return int
    starts = (np.frombuffer(data, dtype=np.uint8) & 0xC0) != 0x80  # every byte that does not continue a character
    before = np.concatenate(([0], np.cumsum(starts))).tolist()
    return lambda byte: int(before[byte])


@cache
def _query(language: str) -> Any:
    source = "\n".join(
        files(__package__).joinpath("queries", f"{name}.scm").read_text(encoding="utf-8") for name in _QUERIES.get(language, (language,))
    )
    return import_module("tree_sitter").Query(parser_of(language).language, source)
