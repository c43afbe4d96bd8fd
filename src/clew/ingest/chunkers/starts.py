"""Where do the lines begin that begin with a child of a node? Only there is a program cut."""

from __future__ import annotations

from typing import Any

from clew.ingest.chunkers.languages import Kinds

DEEPEST = 64  # nodes; what is nested deeper is cut by its lines


def starts_in(node: Any, source: bytes, end: int, *, kinds: Kinds, is_root: bool) -> tuple[list[int], list[Any]]:
    """Return where the lines before `end` begin at which a child begins, and the children; a comment goes with what it stands above.

    The lines are found in the bytes between two nodes: asking each node for its line costs ten times as much.
    """
    comments, signs, _ = kinds
    places: list[int] = []
    nodes: list[Any] = []
    above = None
    free = 0 if is_root else node.start_byte
    taken = not is_root  # something stands before it on the line
    for child in node.children if is_root else _below(node, _line_end(source, free)):
        kind, before, free = child.kind_id, free, child.end_byte
        follows, taken = taken, True
        if kind in signs:  # a closing bracket goes with what it closes
            continue
        start = child.start_byte
        place = source.rfind(b"\n", before, start) + 1
        if follows and not place:
            continue
        if place >= end:
            break
        if kind in comments:
            above = place if above is None else above
        else:
            places.append(place if above is None else above)
            nodes.append(child)
            above = None
    return places, nodes


def _line_end(source: bytes, at: int) -> int:
    end = source.find(b"\n", at)
    return end if end >= 0 else len(source)


def _below(node: Any, header: int, depth: int = 0) -> list[Any]:
    """Return the children of a node; a body that opens on the header's line, which ends at `header`, is looked into."""
    children: list[Any] = node.children
    for at, child in enumerate(children if depth < DEEPEST else ()):
        if child.start_byte > header:
            break
        if child.end_byte > header:
            return [*children[:at], *_below(child, header, depth + 1), *children[at + 1 :]]
    return children
