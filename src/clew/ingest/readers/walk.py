"""Walk a page's elements into markdown, past everything that is there for the site and not for the page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from clew.ingest.readers.markup import Markdown

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

LINK_CHARACTERS = 200  # a longer address is a tracker's; its link is kept as words alone

_NEVER = frozenset(
    """
    head script style noscript template nav iframe object embed canvas audio video map button select input textarea label option datalist
    meter progress dialog
    """.split()
)
_AROUND = frozenset({"header", "footer", "aside", "form"})  # dropped by a strict walk
_PARTS = frozenset({"main", "article", "section"})  # whose header holds their heading, not the site's
_ROLES_AROUND = frozenset("navigation banner contentinfo search complementary dialog alertdialog menu menubar toolbar".split())
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
        return (parts.hostname or "").removeprefix("www.") if parts.scheme in ("http", "https") else ""
    except ValueError:
        return ""


def written(root: LexborNode, *, layouts: set[int], host: str, strict: bool) -> str:
    """Return the markdown of an element; `layouts` are the tables that only place things, `host` is the page's own.

    A walk that is not strict keeps headers, footers, asides and forms: some sites put everything into one.
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
    """One way through the elements, without recursion: a page may nest deeper than Python's stack."""

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
            if at.mem_id == self.path[-1].node.mem_id:  # == would compare what they hold, which takes their length
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
        if tag in _NEVER or (self.strict and tag in _AROUND and not (tag == "header" and self.parts)):
            return True
        if not attributes:
            return False
        role = (attributes.get("role") or "").lower()
        named = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"
        unseen = "hidden" in attributes or attributes.get("aria-hidden") == "true" or _UNSEEN.search(attributes.get("style") or "")
        return bool(unseen) or role in _ROLES_AROUND or _BANNER.search(named) is not None

    def link(self, attributes: Mapping[str, str | None]) -> str:
        """Return a link's address if it is worth keeping."""
        address = (attributes.get("href") or "").strip()
        host = host_of(address) if len(address) <= LINK_CHARACTERS else ""
        return address if host and host != self.host and not set(address) & set(" \t\n()") else ""
