"""Which vectors does a node want, and from which text is each made?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from clew.gist import embedded_text
from clew.types import Node, Role
from clew.words import content_hash


@dataclass(frozen=True, slots=True)
class Wanted:
    """One vector to be made: of which node, in which role, from which text."""

    node: Node
    role: Role
    text: str

    @property
    def text_hash(self) -> str:
        """What tells a fresh vector from a stale one."""
        return self.node.content_hash if self.role is Role.CONTENT else content_hash(self.node.context)


def wanted(nodes: Sequence[Node]) -> Iterator[Wanted]:
    """Yield every vector that the nodes should have: of what they say, and of what they say amid their neighbours."""
    for node in nodes:
        yield Wanted(node, Role.CONTENT, headed(node.title, embedded_text(node.kind, node.text)))
        if node.context:
            yield Wanted(node, Role.CONTEXT, headed(node.title, node.context))


def headed(title: str, text: str) -> str:
    """Return what a vector is made from: the title, if there is one, and the text."""
    return f"{title}\n{text}" if title else text
