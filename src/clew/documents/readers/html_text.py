"""Elements become markdown.

Headings, lists, rows of tables and code keep their shape, everything else is paragraphs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

# levels of lists and of quotes that are shown; deeper ones would only move the text to the right
MAX_INDENT = 6
HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = frozenset(
    """
    address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer form header hgroup
    html legend main nav p section summary table tbody tfoot thead
    """.split()
)
_SPACES = re.compile("[ \t\n\r\f\u00a0]+")
_BREAKS = re.compile(" ?\v ?")
_LANGUAGE = re.compile(r"(?:language|lang|highlight-source|brush:?)[- :]\s?([A-Za-z0-9+#_-]{1,20})")
_FENCES = re.compile(r"`{3,}")


class Markdown:
    """Takes elements as they open and close, and the texts between them; gives one text."""

    def __init__(self) -> None:
        # each with whether it follows the one before on the next line
        self.blocks: list[tuple[str, bool]] = []
        self.inline: list[str] = []
        self.generation = 0  # of `inline`: a mark set before it was emptied means its beginning
        self.marks: list[tuple[int, int]] = []
        self.lists: list[int] = []  # -1 for bullets, else the last number
        self.bullet = ""
        self.outermost = 0  # how many lists began that are in no other
        self.item_of = 0  # the outermost list of the last block, if that was an item
        self.quotes = 0
        self.code = 0
        self.fenced = 0
        self.language = ""
        self.rows: list[list[str]] | None = None
        self.in_cell = False

    def text(self, words: str) -> None:
        """Add words to the paragraph, the cell or the code that is open."""
        self.inline.append(words if self.fenced else words.replace("\v", " "))

    def opened(
        self, tag: str, attributes: Mapping[str, str | None], *, layout: bool = False
    ) -> None:
        """Note that an element begins; a table that only lays out a page is none."""
        if tag == "br":
            self.inline.append("\n" if self.fenced else "\v")
        elif tag == "img":
            alternative = _SPACES.sub(" ", attributes.get("alt") or "").strip()
            self.inline.append(f" [image: {alternative}] " if alternative else "")
        elif tag in ("a", "code"):
            self.marks.append((self.generation, len(self.inline)))
            self.code += tag == "code"
            self._remember_language(attributes)
        elif tag == "pre":
            self._open_code(attributes)
        elif not self.in_cell:
            self._opened_block(tag, layout=layout)
        elif tag in _BLOCKS or tag in ("li", "tr"):
            self.inline.append(" ")

    def closed(self, tag: str, *, link: str = "", layout: bool = False) -> None:
        """Note that an element ends; a link outside leaves its address behind its words."""
        if tag in ("a", "code"):
            self._close_inline(tag, link)
        elif tag == "pre":
            self._close_code()
        elif tag in ("td", "th") and self.in_cell:
            self._close_cell()
        elif self.in_cell:
            self.inline.append(" " if tag in _BLOCKS or tag == "li" else "")
        else:
            self._closed_block(tag, layout=layout)

    def result(self) -> str:
        """Return everything so far as one text."""
        self._flush()
        parts: list[str] = []
        for text, tight in self.blocks:
            parts += ["\n" if tight else "\n\n", text]
        return "".join(parts[1:])

    def _opened_block(self, tag: str, *, layout: bool) -> None:
        if tag in ("td", "th") and self.rows is not None:
            self._flush()
            self.in_cell = True
        elif tag == "tr" and self.rows is not None:
            self.rows.append([])
        elif tag == "li":
            self._open_item()
        elif tag in ("ul", "ol", "menu"):
            self._flush()
            self.outermost += not self.lists
            self.lists.append(0 if tag == "ol" else -1)
        elif tag in _BLOCKS or tag in HEADINGS or tag in ("hr", "tr", "td", "th"):
            self._flush()
            self.quotes += tag == "blockquote"
            if tag == "table" and not layout:
                self.rows = []

    def _closed_block(self, tag: str, *, layout: bool) -> None:
        if tag in HEADINGS:
            self._flush(heading=HEADINGS[tag])
        elif tag in ("ul", "ol", "menu"):
            self._flush()
            if self.lists:
                self.lists.pop()
        elif tag == "li":
            self._flush()
            self.bullet = ""
        elif tag == "table" and not layout:
            self._close_table()
        elif tag in _BLOCKS or tag in ("tr", "td", "th"):
            self._flush()
            self.quotes -= tag == "blockquote" and self.quotes > 0

    def _open_item(self) -> None:
        self._flush()
        if self.lists and self.lists[-1] >= 0:
            self.lists[-1] += 1
            self.bullet = f"{self.lists[-1]}. "
        else:
            self.bullet = "- "

    def _open_code(self, attributes: Mapping[str, str | None]) -> None:
        if not self.in_cell and not self.fenced:
            self._flush()
            self.language = ""
        self.fenced += 1
        self._remember_language(attributes)

    def _remember_language(self, attributes: Mapping[str, str | None]) -> None:
        if (
            self.fenced
            and not self.language
            and (found := _LANGUAGE.search(attributes.get("class") or ""))
        ):
            self.language = found[1].lower()

    def _close_code(self) -> None:
        self.fenced -= 1
        if self.fenced or self.in_cell:
            return
        code = self._taken().strip("\n")
        longest = max((len(run) for run in _FENCES.findall(code)), default=2)
        fence = "`" * (longest + 1)
        if code.strip():
            self._add(f"{fence}{self.language}\n{code}\n{fence}")

    def _close_inline(self, tag: str, link: str) -> None:
        generation, start = self.marks.pop() if self.marks else (self.generation, len(self.inline))
        self.code -= tag == "code" and self.code > 0
        if self.fenced or (tag == "code" and self.code) or (tag == "a" and not link):
            return
        start = start if generation == self.generation else 0
        words = _SPACES.sub(" ", "".join(self.inline[start:]).replace("\v", " "))
        if inner := words.strip():
            before, after = words[: len(words) - len(words.lstrip())], words[len(words.rstrip()) :]
            shown = (
                f"`{inner}`" if tag == "code" else inner if inner == link else f"[{inner}]({link})"
            )
            self.inline[start:] = [f"{before}{shown}{after}"]

    def _close_cell(self) -> None:
        words = self._collapsed().replace("\n", " ").replace("|", "\\|")
        self.in_cell = False
        if self.rows is not None:
            if not self.rows:
                self.rows.append([])
            self.rows[-1].append(words)

    def _close_table(self) -> None:
        self._flush()
        rows = [row for row in self.rows or () if any(row)]
        self.rows = None
        for number, row in enumerate(rows):
            self._add(f"| {' | '.join(row)} |", tight=number > 0)
            if number == 0 and len(rows) > 1:
                self._add(f"|{' --- |' * len(row)}", tight=True)

    def _flush(self, *, heading: int = 0) -> None:
        """End the paragraph that is open, if it holds anything."""
        words = self._collapsed()
        if not words:
            return
        if heading:
            self.bullet = ""
            self._add(f"{'#' * heading} {words}".replace("\n", " "))
        else:
            self._add(words)

    def _add(self, text: str, *, tight: bool = False) -> None:
        """Keep a block under the bullet and the quotes that are open."""
        level = min(len(self.lists), MAX_INDENT)
        item = bool(self.bullet)
        if level or item:
            margin = "  " * max(0, level - 1)
            first = margin + (self.bullet or "  ")
            text = first + text.replace("\n", "\n" + margin + "  ")
            tight = tight or (item and self.item_of == self.outermost)
            self.bullet = ""
        self.item_of = self.outermost if item else 0
        if self.quotes:
            sign = "> " * min(self.quotes, MAX_INDENT)
            text = sign + text.replace("\n", "\n" + sign)
        self.blocks.append((text, tight))

    def _collapsed(self) -> str:
        if self.fenced:
            return ""
        return _BREAKS.sub("\n", _SPACES.sub(" ", self._taken())).strip()

    def _taken(self) -> str:
        words = "".join(self.inline)
        self.inline.clear()
        self.generation += 1
        return words


# Walk a page's elements into markdown, past everything that is there for the site and not for the
# page.

LINK_CHARACTERS = 200  # a longer address is a tracker's; its link is kept as words alone

_NEVER = frozenset(
    """
    head script style noscript template nav iframe object embed canvas audio video map button select input textarea label option datalist
    meter progress dialog
    """.split()
)
_AROUND = frozenset({"header", "footer", "aside", "form"})  # dropped by a strict walk
# whose header holds their heading, not the site's
_PARTS = frozenset({"main", "article", "section"})
_ROLES_AROUND = frozenset(
    "navigation banner contentinfo search complementary dialog alertdialog menu menubar toolbar".split()
)
_BANNER = re.compile(
    r"(?:cookie|consent|gdpr)s?[-_]?(?:banner|bar|notice|pop-?up|modal|dialog|overlay|message|law|wall|container|consent|policy|alert)"
    r"|onetrust|cookiebot|cky-|cc-window|skip-?(?:link|nav|to)|sr-only|visually-?hidden|headerlink|mw-editsection",
    re.IGNORECASE,
)
_UNSEEN = re.compile(r"display\s?:\s?none|visibility\s?:\s?hidden", re.IGNORECASE)


def host_of(address: str | None) -> str:
    """Return the host of an absolute web address, else nothing.

    >>> host_of("https://www.Example.org/a"), host_of("mailto:ada@example.org"), host_of("https://[")
    ('example.org', '', '')
    """
    try:
        parts = urlsplit((address or "").strip())
        return (
            (parts.hostname or "").removeprefix("www.") if parts.scheme in ("http", "https") else ""
        )
    except ValueError:
        return ""


def written(root: LexborNode, *, layouts: set[int], host: str, strict: bool) -> str:
    """Return the markdown of an element.

    `layouts` are the tables that only place things, `host` is the page's own.

    A walk that is not strict keeps headers, footers, asides and forms: some sites put everything
    into one.
    """
    return _Walk(Markdown(), layouts, host, strict).run(root)


@dataclass(frozen=True, slots=True)
class _Open:
    """An element whose end is yet to come."""

    node: LexborNode
    tag: str
    link: str
    layout: bool


class _Walk:
    """One way through the elements, without recursion.

    A page may nest deeper than Python's stack.
    """

    def __init__(self, out: Markdown, layouts: set[int], host: str, strict: bool) -> None:
        self.out = out
        self.layouts = layouts
        self.host = host
        self.strict = strict
        self.path: list[_Open] = []
        self.parts = 0  # open elements that have headers of their own

    def run(self, root: LexborNode) -> str:
        self.enter(root, root.attributes)
        node = root.first_child or self.leave(root)
        while node is not None:
            node = self.visit(node) or self.leave(node)
        return self.out.result()

    def visit(self, node: LexborNode) -> LexborNode | None:
        """Take in a node, and return its first child if there is more below."""
        if node.is_text_node:
            self.out.text(node.text_content or "")
        elif node.is_element_node:
            attributes = node.attributes
            if not self.is_dropped(node.tag or "", attributes):
                self.enter(node, attributes)
                return node.first_child
        return None

    def enter(self, node: LexborNode, attributes: Mapping[str, str | None]) -> None:
        tag = node.tag or ""
        layout = tag == "table" and node.mem_id in self.layouts
        self.out.opened(tag, attributes, layout=layout)
        self.parts += tag in _PARTS
        self.path.append(_Open(node, tag, self.link(attributes) if tag == "a" else "", layout))

    def leave(self, node: LexborNode) -> LexborNode | None:
        """Close everything that ends here, and return what comes next; nothing after the root."""
        at = node
        while True:
            # == would compare what they hold, which takes their length
            if at.mem_id == self.path[-1].node.mem_id:
                self.close(self.path.pop())
            if not self.path:
                return None
            if (following := at.next) is not None:
                return following
            at = self.path[-1].node

    def close(self, element: _Open) -> None:
        self.out.closed(element.tag, link=element.link, layout=element.layout)
        self.parts -= element.tag in _PARTS

    def is_dropped(self, tag: str, attributes: Mapping[str, str | None]) -> bool:
        if tag in _NEVER or (
            self.strict and tag in _AROUND and not (tag == "header" and self.parts)
        ):
            return True
        if not attributes:
            return False
        role = (attributes.get("role") or "").lower()
        named = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"
        unseen = (
            "hidden" in attributes
            or attributes.get("aria-hidden") == "true"
            or _UNSEEN.search(attributes.get("style") or "")
        )
        return bool(unseen) or role in _ROLES_AROUND or _BANNER.search(named) is not None

    def link(self, attributes: Mapping[str, str | None]) -> str:
        """Return a link's address if it is worth keeping."""
        address = (attributes.get("href") or "").strip()
        host = host_of(address) if len(address) <= LINK_CHARACTERS else ""
        return address if host and host != self.host and not set(address) & set(" \t\n()") else ""
