"""Web pages: what a reader came for, as markdown, without what surrounds it on every page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from clew.documents.readers.conversation import line, moment
from clew.documents.readers.document import Document, UnreadableError, load
from clew.documents.readers.html_text import host_of, written

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

# Make a web page safe to parse: parsing takes time with the square of the nesting and of a tag's
# attributes, and pages come from anywhere.
#
# Scripts, styles and drawings are dropped on the way, so that the parser meets HTML alone. Where a
# page nests deeper than browsers
# follow it, the surplus tags are dropped and the text stays, as in browsers.

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
_BREAKING_OUT = _CLOSING_THEMSELVES - {"a"} | frozenset(
    "article blockquote center div dl main nav ol pre section table ul".split()
)


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
        return "".join(self.kept), (
            f"nested more than {MAX_DEPTH} deep: flattened below",
        ) if cut else ()

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
        return (
            f"<{name}>"
            if len(tag) > LONG_TAG and len(_ATTRIBUTES.findall(tag, len(name) + 1)) > MAX_ATTRIBUTES
            else tag
        )

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


# a main part with less is a frame that scripts would fill, or not the main part
ENOUGH_CHARACTERS = 200

_LAYOUT = "table:has(table, h1, h2, h3, h4, h5, h6, pre)"
_DATES = (
    "article:published_time",
    "datepublished",
    "date",
    "dc.date",
    "dcterms.created",
    "article:modified_time",
)


def read_html(text: str, notes: tuple[str, ...]) -> Document:
    """Return a page's main part as markdown, with title, date, author and address beside it.

    Dropped are scripts, styles, navigation, headers, footers, asides, forms, cookie banners and
    what is hidden. A link is its words; its address stays, as [words](address), when it is
    absolute, leads to another host and is not overlong.
    """
    parser = load("selectolax.lexbor", reads="web pages")
    safe, more = flattened(text)
    tree: LexborHTMLParser = parser.LexborHTMLParser(safe)
    facts = _facts(tree)
    title, address = _title(tree, facts), _address(tree, facts)
    body = _main_text(tree, host=host_of(address))
    if not body:
        raise UnreadableError(
            "it holds no text",
            "A page that scripts fill must be saved from a browser, as complete page or PDF.",
        )
    kept = {"url": address, "author": line(facts.get("author", ""))}
    metadata: dict[str, Any] = {
        "original_format": "html",
        **{key: value for key, value in kept.items() if value},
    }
    return Document(
        text=body,
        format="markdown",
        title=title,
        time=_date(facts),
        metadata=metadata,
        notes=(*notes, *more),
    )


def _main_text(tree: LexborHTMLParser, *, host: str) -> str:
    """Return the first of ever larger parts of the page that says enough, or the one that says most."""
    layouts = {node.mem_id for node in tree.css(_LAYOUT)}
    found = ""
    for root, strict in _parts(tree):
        text = written(root, layouts=layouts, host=host, strict=strict)
        if len(text) >= ENOUGH_CHARACTERS:
            return text
        found = max(found, text, key=len)
    return found


def _parts(tree: LexborHTMLParser) -> Iterator[tuple[LexborNode, bool]]:
    for selector in ("main", "[role=main]", "article"):
        nodes = tree.css(selector)
        if len(nodes) == 1:
            yield nodes[0], True
    if tree.body:
        yield tree.body, True
        yield tree.body, False


def _facts(tree: LexborHTMLParser) -> Mapping[str, str]:
    """Return what the page's head says about it, by name in lower case.

    The first of several counts.
    """
    facts: dict[str, str] = {}
    for node in tree.css("meta[content]"):
        attributes = node.attributes
        name = (
            attributes.get("property") or attributes.get("name") or attributes.get("itemprop") or ""
        )
        facts.setdefault(name.lower(), attributes.get("content") or "")
    return facts


def _title(tree: LexborHTMLParser, facts: Mapping[str, str]) -> str:
    named, heading = (
        node.text() if node else "" for node in (tree.css_first("title"), tree.css_first("h1"))
    )
    return line(named) or line(facts.get("og:title", "")) or line(heading)


def _address(tree: LexborHTMLParser, facts: Mapping[str, str]) -> str:
    canonical = tree.css_first("link[rel=canonical]")
    address = (canonical.attributes.get("href") if canonical else "") or facts.get("og:url", "")
    return line(address) if host_of(address) else ""


def _date(facts: Mapping[str, str]) -> datetime | None:
    return next((found for key in _DATES if (found := moment(facts.get(key)))), None)
