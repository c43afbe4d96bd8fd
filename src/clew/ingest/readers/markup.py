"""Elements become markdown: headings, lists, rows of tables and code keep their shape, everything else is paragraphs."""

from __future__ import annotations

import re
from collections.abc import Mapping

MAX_INDENT = 6  # levels of lists and of quotes that are shown; deeper ones would only move the text to the right
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
        self.blocks: list[tuple[str, bool]] = []  # each with whether it follows the one before on the next line
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

    def opened(self, tag: str, attributes: Mapping[str, str | None], *, layout: bool = False) -> None:
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
        if self.fenced and not self.language and (found := _LANGUAGE.search(attributes.get("class") or "")):
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
            shown = f"`{inner}`" if tag == "code" else inner if inner == link else f"[{inner}]({link})"
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
