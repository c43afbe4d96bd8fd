"""HTML and SVG by construction.

Whatever is not markup already is escaped, so no dataset can write into the page.
"""

from __future__ import annotations

import re
from html import escape

VOID = frozenset({"meta", "br", "hr"})
_UNSHOWABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")

Attribute = str | float | int | None


class Markup(str):
    """Text that is HTML or SVG already."""

    __slots__ = ()


def element(name: str, /, *children: str, **attributes: Attribute) -> Markup:
    """Return an element; children that are not markup are escaped, an attribute of None is left out.

    >>> element("td", "<b>", class_="best", aria_label='"')
    '<td class="best" aria-label="&quot;">&lt;b&gt;</td>'
    """
    opened = "".join(
        f' {_key(key)}="{text(_value(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(
        f"<{name}{opened}>" if name in VOID else f"<{name}{opened}>{joined(*children)}</{name}>"
    )


def joined(*children: str) -> Markup:
    """Return children one after the other, escaped where they are not markup."""
    return Markup(
        "".join(child if isinstance(child, Markup) else text(child) for child in children)
    )


def text(value: str) -> Markup:
    """Return text that shows as it is; signs that HTML cannot hold become the replacement sign."""
    return Markup(escape(_UNSHOWABLE.sub("\ufffd", value), quote=True))


def number(value: float) -> str:
    """Return a coordinate with at most two digits and one spelling.

    >>> number(3.0), number(1 / 3), number(-0.001)
    ('3', '0.33', '0')
    """
    short = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if short == "-0" else short


def _key(name: str) -> str:
    return name if name == "viewBox" else name.rstrip("_").replace("_", "-")


def _value(value: Attribute) -> str:
    return value if isinstance(value, str) else number(float(value or 0))
