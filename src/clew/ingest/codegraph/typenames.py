"""Which type does a declaration name? The class behind pointers, options, quotes and generic arguments."""

from __future__ import annotations

import re

# What holds one thing and passes calls on to it; a list or a map does not.
_TRANSPARENT = re.compile(
    r"(?:typing\.)?(?:Optional|Annotated|Final|ClassVar|Box|Rc|Arc|Ref|unique_ptr|shared_ptr|Readonly|Partial)\s*[\[<]\s*"
)
_NOISE = re.compile(r"[&*\s\"'(]+|(?:const|mut|dyn|impl|struct|class|final|volatile|std::|'\w+)(?=[\s:&*<\w])\s*")
_INFERRED = frozenset({"auto", "var"})  # the compiler knows, the text does not say
_NAME = re.compile(r"[^\W\d]\w*(?:(?:\.|::)[^\W\d]\w*)*")


def type_name(text: str) -> str:
    """Return the name of a type with full stops between its parts; empty where it has none.

    >>> [type_name(text) for text in ("Optional[Store]", "*Server", "&mut shop::Cart", "'Flask | None'", "List<Item>", "func()")]
    ['Store', 'Server', 'shop.Cart', 'Flask', 'List', 'func']
    """
    at = 0
    for _ in range(_MOST_WRAPPINGS):
        wrapped = _NOISE.match(text, at) or _TRANSPARENT.match(text, at)
        if wrapped is None:
            break
        at = wrapped.end()
    found = _NAME.match(text, at)
    name = found.group().replace("::", ".") if found else ""
    return "" if name in _INFERRED else name


_MOST_WRAPPINGS = 12
