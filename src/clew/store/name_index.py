"""What names mean to every store.

Each is mentioned once by a node, and a part of a person's name may stand for the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from clew.types import Mention, Named, Node, NodeId


def each_once(mentions: Iterable[Mention]) -> tuple[Mention, ...]:
    """Return one mention for each node and key.

    As its subject where it is that, else as what it begins with, else the surest.

    They stay in the order they were given.

    >>> [said.name for said in each_once([Mention("n", "matt", "Matt", "PERSON", 0.8), Mention("n", "matt", "MATT", "PERSON", 0.9)])]
    ['MATT']
    """
    kept: dict[tuple[NodeId, str], Mention] = {}
    for mention in mentions:
        known = kept.setdefault((mention.node, mention.key), mention)
        if _telling(mention) > _telling(known):
            kept[mention.node, mention.key] = mention
    return tuple(kept.values())


def _telling(mention: Mention) -> tuple[bool, bool, float]:
    return mention.subject, mention.opens, mention.confidence


def parts_of(key: str) -> tuple[str, ...]:
    """Return what may stand for a person's name."""
    return _parts()(key)


@cache
def _parts() -> Callable[[str], tuple[str, ...]]:
    # Its word lists take 20 ms to load, which only a write should pay
    from clew.text.names.keys import person_name_parts  # noqa: PLC0415

    return person_name_parts


@dataclass(frozen=True, slots=True)
class Spoken:
    """All that one space names, looked through from end to end: the definition of `Store.named`."""

    names: Mapping[str, tuple[str, str]]
    """How each key was written when it was first mentioned, and its type then."""
    said: Sequence[tuple[Node, tuple[Mention, ...]]]
    """The nodes, oldest first, with what they mention."""

    def named(
        self, key: str, passes: Callable[[Node], bool], *, limit: int, parts: bool
    ) -> Named | None:
        """Return where a key is spoken of, under its own name and those that mean the same.

        None for one that nobody mentions.
        """
        owners = self._owners(key) if parts else []
        whole = owners[0] if len(owners) == 1 else key
        if whole not in self.names:
            return None
        meant = {
            whole,
            *(part for part in parts_of(whole) if parts and self._owners(part) == [whole]),
        }
        subjects = self._latest(meant, passes, lambda said: said.subject)[:limit]
        holders = self._latest(meant, passes, lambda said: not said.subject)[:limit]
        openers = self._latest(meant, passes, lambda said: said.opens and not said.subject)[:limit]
        believed = sum(
            each.key in meant for node, said in self.said for each in said if node.t_expired is None
        )
        return Named(
            *self.names[whole],
            subjects,
            holders,
            max(believed, len({*subjects, *holders})),
            openers,
        )

    def _owners(self, part: str) -> list[str]:
        return [key for key in self.names if part in parts_of(key)]

    def _latest(
        self, meant: set[str], passes: Callable[[Node], bool], wanted: Callable[[Mention], bool]
    ) -> tuple[NodeId, ...]:
        found = (
            node
            for node, said in self.said
            if any(each.key in meant and wanted(each) for each in said)
        )
        return tuple(node.id for node in found if passes(node))[::-1]
