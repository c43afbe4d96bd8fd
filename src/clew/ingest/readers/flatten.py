"""Make a web page safe to parse: parsing takes time with the square of the nesting and of a tag's attributes, and pages come from anywhere.

Scripts, styles and drawings are dropped on the way, so that the parser meets HTML alone. Where a page nests deeper than browsers
follow it, the surplus tags are dropped and the text stays, as in browsers.
"""

from __future__ import annotations

import re
from collections import Counter

MAX_DEPTH = 512  # Chromium's own limit
LONG_TAG = 500  # characters; below, the attributes are too few to matter
MAX_ATTRIBUTES = 100

_SPACE = r"[\t\n\f\r ]"
_VALUE = r"""(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^\t\n\f\r >"'][^\t\n\f\r >]*+)"""
_ATTRIBUTE = rf"[^\t\n\f\r />][^\t\n\f\r />=]*+(?:{_SPACE}*+={_SPACE}*+{_VALUE}?+)?+"
_REST = rf"(?:[\t\n\f\r /]++|{_ATTRIBUTE})*+(?:>|\Z)"
# Possessive throughout: every sign is looked at a fixed number of times, whatever the page holds.
_TOKEN = re.compile(
    rf"""
    <!--(?:-?>|.*?(?:--!?>|\Z))                                                                   # a comment
    | <(?P<raw>script|noscript|style|xmp|iframe|noembed|noframes|textarea|title)(?=[\t\n\f\r />])(?:{_REST})
      (?P<inner>.*?)(?:</(?P=raw)(?=[\t\n\f\r />]){_REST}|\Z)                                      # an element without elements in it
    | </(?P<end>[a-zA-Z][^\t\n\f\r />]*+){_REST}
    | <(?P<start>[a-zA-Z][^\t\n\f\r />]*+){_REST}
    | <(?:[!?]|/[^a-zA-Z])[^>]*+>?                                                                     # what parsers take for a comment
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_ATTRIBUTES = re.compile(_ATTRIBUTE)
_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
# A second of these closes the first, so that they cannot nest without others between them.
_CLOSING_THEMSELVES = frozenset(
    "a body button caption colgroup dd dt h1 h2 h3 h4 h5 h6 head html li nobr optgroup option p tbody td tfoot th thead tr".split()
)
_FOREIGN = frozenset({"svg", "math"})
# Where one of these begins, a drawing that was never closed has ended.
_BREAKING_OUT = _CLOSING_THEMSELVES - {"a"} | frozenset("article blockquote center div dl main nav ol pre section table ul".split())


def flattened(page: str) -> tuple[str, tuple[str, ...]]:
    """Return a page that nests at most `MAX_DEPTH` deep, and a note if it nested deeper.

    >>> flattened("<div a='>'>x<script>1 < 2</script></div><svg><path d='M0'/></svg>y")[0]
    "<div a='>'>x</div> y"
    """
    return _Flattener(page).run()


class _Flattener:
    """One pass over a page's tags that keeps count of what is open."""

    def __init__(self, page: str) -> None:
        self.page = page
        self.kept: list[str] = []
        self.open: Counter[str] = Counter()
        self.dropped: Counter[str] = Counter()
        self.depth = 0
        self.deepest = 0
        self.foreign = ""

    def run(self) -> tuple[str, tuple[str, ...]]:
        at = 0
        for token in _TOKEN.finditer(self.page):
            if self.foreign != "svg":  # the words of a formula stay, those of a drawing do not
                self.kept.append(self.page[at : token.start()])
            self.kept.append(self.token(token))
            at = token.end()
        if self.foreign != "svg":
            self.kept.append(self.page[at:])
        cut = sum(self.dropped.values()) or self.deepest > MAX_DEPTH
        return "".join(self.kept), (f"nested more than {MAX_DEPTH} deep: flattened below",) if cut else ()

    def token(self, token: re.Match[str]) -> str:
        """Return what stays of a tag, a comment or an element without elements."""
        if raw := token["raw"]:
            return token[0] if raw.lower() in ("title", "textarea") and not self.foreign else ""
        if token["start"]:
            return self.start(token["start"].lower(), token[0])
        return self.end(token["end"].lower(), token[0]) if token["end"] else ""

    def start(self, name: str, tag: str) -> str:
        if self.foreign and name not in _BREAKING_OUT:
            return ""
        self.foreign = ""
        if name in _FOREIGN:
            self.foreign = "" if tag.endswith("/>") else name
            return " "
        if name not in _VOID and name not in _CLOSING_THEMSELVES and not self.enter(name):
            return ""
        return f"<{name}>" if len(tag) > LONG_TAG and len(_ATTRIBUTES.findall(tag, len(name) + 1)) > MAX_ATTRIBUTES else tag

    def enter(self, name: str) -> bool:
        """Count an element in, unless it would be one too deep."""
        if self.depth >= MAX_DEPTH:
            self.deepest = MAX_DEPTH + 1
            self.dropped[name] += 1
            return False
        self.open[name] += 1
        self.depth += 1
        return True

    def end(self, name: str, tag: str) -> str:
        if self.foreign:
            self.foreign = "" if name == self.foreign else self.foreign
            return ""
        if self.dropped[name]:
            self.dropped[name] -= 1
            return ""
        if self.open[name]:
            self.open[name] -= 1
            self.depth -= 1
        return tag
