"""The tree of a Rust `use`, flattened: which names come from which module."""

from __future__ import annotations

import re
from collections import defaultdict

from clew.ingest.codegraph.values import STAR

_SIGN = re.compile(r"//[^\n]*|/\*(?:.*?\*/|.*)|::|\bas\b|[{},*]|[\w#]+", re.DOTALL)
_LONGEST_PATH = 20  # names


def uses(tree: str) -> list[tuple[str, tuple[tuple[str, str], ...]]]:
    """Return each module with the names that are taken from it and their names here.

    >>> uses("crate::shop::{self, Cart, order::{place as put, *}}")
    [('crate', (('shop', 'shop'),)), ('crate::shop', (('Cart', 'Cart'),)), ('crate::shop::order', (('place', 'put'), ('*', '*')))]
    """
    taken: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for path, alias in _leaves(tree):
        *module, name = path[:-1] if path[-1] == "self" and len(path) > 1 else path
        taken["::".join(module)].append((name, alias or name))
    return [(module, tuple(names)) for module, names in taken.items()]


def _leaves(tree: str) -> list[tuple[list[str], str]]:
    """Return the whole path of each leaf, with its alias."""
    leaves: list[tuple[list[str], str]] = []
    outside: list[list[str]] = [[]]
    path: list[str] = []
    alias: str | None = None
    for sign in [*_SIGN.findall(tree), ","]:
        if sign == "{":
            outside.append([*outside[-1], *path][:_LONGEST_PATH])
            path = []
        elif sign in (",", "}"):
            if path:
                leaves.append(([*outside[-1], *path][:_LONGEST_PATH], alias or ""))
            path, alias = [], None
            if sign == "}" and len(outside) > 1:
                outside.pop()
        elif sign == "as":
            alias = ""
        elif alias is not None:
            alias = sign
        elif sign == STAR or sign[0] not in "/:":
            path.append(sign.removeprefix("r#"))
    return leaves
