"""Under which key is a small unit also found? Its own words amid those around it.

A turn such as "Yes, last Sunday!" says nothing by itself; with the turn before it, it answers a question. The key
holds the unit and its neighbours, is embedded and indexed beside the unit, and is never served. Units that fill
most of a vector by themselves have none.
"""

from __future__ import annotations

from collections.abc import Sequence

from clew.gist import ending, opening
from clew.types import Kind, Node

NEIGHBOURS = 2  # on each side: best on the dev part of LoCoMo, where one was worse and three diluted (docs/evaluation.md)


def is_message(node: Node) -> bool:
    """Tell whether a node is a message that `remember_conversation` kept: its section is the outermost node."""
    return node.kind is Kind.CHUNK and node.parent is not None and node.parent == node.root


def context_keys(texts: Sequence[str], *, room: int, neighbours: int = NEIGHBOURS) -> list[str]:
    r"""Return the key of each unit of one section, in order; empty where a unit leaves no room for its neighbours.

    `room` is what a key may hold in characters: a unit of more than half of it stands for itself.

    >>> context_keys(["Do you run?", "Yes, on Sundays!", "Nice."], room=100, neighbours=1)
    ['Do you run?\nYes, on Sundays!', 'Do you run?\nYes, on Sundays!\nNice.', 'Yes, on Sundays!\nNice.']
    >>> context_keys(["alone"], room=100)
    ['']
    """
    return [_key(texts, at, room, neighbours) for at in range(len(texts))]


def own_span(key: str, own: str) -> tuple[int, int] | None:
    r"""Return where in a key the unit itself stands, between line breaks; None where it does not.

    Of several places the one nearest to the middle: a key has about as much before the unit as after it.

    >>> own_span("Do you run?\nYes.\nEvery day?\nYes.\nNice.", "Yes.")
    (12, 16)
    """
    places: list[tuple[int, int]] = []
    at = key.find(own) if own else -1
    while at >= 0:
        end = at + len(own)
        if key[at - 1 : at] in ("", "\n") and key[end : end + 1] in ("", "\n"):
            places.append((at, end))
        at = key.find(own, at + 1)
    return min(places, key=lambda place: abs(sum(place) - len(key)), default=None)


def _key(texts: Sequence[str], at: int, room: int, neighbours: int) -> str:
    own = texts[at]
    left = (room - len(own)) // 2
    if len(own) * 2 > room:
        return ""
    before = "\n".join(texts[max(0, at - neighbours) : at])
    after = "\n".join(texts[at + 1 : at + 1 + neighbours])
    around = (ending(before, max(left, 2 * left - len(after))), own, opening(after, max(left, 2 * left - len(before))))
    return "\n".join(part for part in around if part) if before or after else ""
