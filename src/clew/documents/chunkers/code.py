"""Functions and classes stay whole where they fit.

A large one is cut between its methods, then between statements.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise, repeat
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from clew.documents.chunkers.packing import as_one, chunks_of, pack
from clew.documents.chunkers.pieces import Level, Row
from clew.documents.chunkers.port import (
    DEFAULT_OPTIONS,
    Chunk,
    ChunkOptions,
    TokenCounter,
    Unit,
    estimate,
)
from clew.documents.chunkers.recursive import cut
from clew.graph.code.languages import (
    CONTAINERS,
    FUNCTIONS,
    GRAMMARS,
    WRAPPERS,
    Kinds,
    is_plausible,
    kinds_of,
    parser_of,
    syntax_tree,
)

# Where do the lines begin that begin with a child of a node? Only there is a program cut.

DEEPEST = 64  # nodes; what is nested deeper is cut by its lines


def starts_in(
    node: Any, source: bytes, end: int, *, kinds: Kinds, is_root: bool
) -> tuple[list[int], list[Any]]:
    """Return where the lines before `end` begin at which a child begins, and the children.

    A comment goes with what it stands above.

    The lines are found in the bytes between two nodes: asking each node for its line costs ten
    times as much.
    """
    comments, signs, _ = kinds
    places: list[int] = []
    nodes: list[Any] = []
    above = None
    free = 0 if is_root else node.start_byte
    taken = not is_root  # something stands before it on the line
    for child in node.children if is_root else _below(node, _line_end(source, free)):
        kind, before, free = child.kind_id, free, child.end_byte
        follows, taken = taken, True
        if kind in signs:  # a closing bracket goes with what it closes
            continue
        start = child.start_byte
        place = source.rfind(b"\n", before, start) + 1
        if follows and not place:
            continue
        if place >= end:
            break
        if kind in comments:
            above = place if above is None else above
        else:
            places.append(place if above is None else above)
            nodes.append(child)
            above = None
    return places, nodes


def _line_end(source: bytes, at: int) -> int:
    end = source.find(b"\n", at)
    return end if end >= 0 else len(source)


def _below(node: Any, header: int, depth: int = 0) -> list[Any]:
    """Return the children of a node.

    A body that opens on the header's line, which ends at `header`, is looked into.
    """
    children: list[Any] = node.children
    for at, child in enumerate(children if depth < DEEPEST else ()):
        if child.start_byte > header:
            break
        if child.end_byte > header:
            return [*children[:at], *_below(child, header, depth + 1), *children[at + 1 :]]
    return children


# Which names does a file import? By their text alone: enough to say which of them a piece of it
# uses.

REMEMBERED = 4096  # statements: the files of a project import the same things
_ALIAS = re.compile(r"(?:(?<!\w)\w++|\*)\s++as\s++(?=\w)")
_AS = re.compile(r"(?<!\s)\s++as\s++")
_FROM = re.compile(r"(?:from\s+\S+\s+import|import(?:\s+type)?)\s")
_GO_PATH = re.compile(r"(?:(?<!\w)(\w++)\s++)?\"(?:[^\"\n]*/)?([\w.-]++)\"")
_RUST_LEAF = re.compile(r"(?<![\w])([^\W\d]\w*)\b(?!\s*::)")
_KEYWORDS = frozenset(
    {
        "import",
        "from",
        "as",
        "use",
        "pub",
        "type",
        "static",
        "crate",
        "self",
        "super",
        "annotations",
    }
)


@lru_cache(maxsize=REMEMBERED)
def imported_names(statement: str, format: str) -> frozenset[str]:
    """Return the names that an import statement brings into a file.

    >>> sorted(imported_names("from a.b import c as d, e", "python")), sorted(imported_names("import os.path", "python"))
    (['d', 'e'], ['os'])
    >>> sorted(imported_names('import R, {x as y} from "react"', "javascript")), sorted(imported_names('import j "enc/json"', "go"))
    (['R', 'y'], ['j'])
    """
    return frozenset(_BY_FORMAT.get(format, _none)(statement)) - _KEYWORDS


def _python(statement: str) -> list[str]:
    if statement.lstrip().startswith("from"):
        return _WORD.findall(_ALIAS.sub("", _FROM.sub("", statement, count=1)))
    return [
        _AS.split(each)[-1].split(".")[0].strip()
        for each in _FROM.sub("", statement, count=1).split(",")
    ]


def _javascript(statement: str) -> list[str]:
    named, found, _ = statement.partition(" from ")
    return _WORD.findall(_ALIAS.sub("", named)) if found else []


def _go(statement: str) -> list[str]:
    return [alias or last for alias, last in _GO_PATH.findall(statement)]


def _rust(statement: str) -> list[str]:
    return [str(name) for name in _RUST_LEAF.findall(_ALIAS.sub("", statement))]


def _java(statement: str) -> list[str]:
    return _WORD.findall(statement)[-1:]


def _none(_: str) -> list[str]:
    return []


_BY_FORMAT: dict[str, Callable[[str], list[str]]] = {
    "python": _python,
    "javascript": _javascript,
    "typescript": _javascript,
    "tsx": _javascript,
    "go": _go,
    "rust": _rust,
    "java": _java,
}


# What is a piece of code inside of? Classes and functions by name and signature, and the imports
# that it uses.

LONGEST_SIGNATURE = 200  # letters
MOST_IMPORTS = 12  # named in a context
_WORD = re.compile(r"[^\W\d]\w*")
_WORDS = bytes(
    code if code < 0x80 and (chr(code).isalnum() or code == ord("_")) else ord(" ")
    for code in range(256)
)
_DEEPEST_DECLARATOR = 8


class Scope(NamedTuple):
    """A class, function or module around a place, by its name and how it is declared."""

    name: str
    signature: str


def definition_of(node: Any) -> Any | None:
    """Return the definition that a node is, or that it wraps in decorators, exports or template parameters."""
    for _ in range(_DEEPEST_DECLARATOR):
        kind = node.type
        if kind in CONTAINERS or kind in FUNCTIONS:
            return node
        if kind not in WRAPPERS or not node.named_children:
            return None
        node = node.named_children[-1]
    return None


def scope_of(definition: Any, source: bytes) -> Scope | None:
    """Return the name and signature of a definition in a source, if it has a name."""
    name = _name(definition)
    if not name:
        return None
    body = definition.child_by_field_name("body")
    start, end = definition.start_byte, body.start_byte if body else definition.end_byte
    declared = source[start : min(end, start + 4 * LONGEST_SIGNATURE)]
    signature = " ".join(
        (declared if body else declared.partition(b"\n")[0]).decode(errors="replace").split()
    ).rstrip(" :{=")
    return Scope(name, signature[:LONGEST_SIGNATURE])


def _name(node: Any) -> str:
    """Return the name in a definition.

    In C it stands inside its declarator, in Rust an `impl` has a type instead.
    """
    for _ in range(_DEEPEST_DECLARATOR):
        named = node.child_by_field_name("name")
        if named is not None:
            return _text(named)
        inner = node.child_by_field_name("declarator")
        if inner is None:
            inner = node.child_by_field_name("type")
        if inner is None:
            return _text(node) if "identifier" in node.type else _first_name(node)
        node = inner
    return ""


def _first_name(node: Any) -> str:
    found = next(
        (
            child
            for child in node.named_children[:1]
            if child.child_by_field_name("name") is not None
        ),
        None,
    )
    return _text(found.child_by_field_name("name")) if found is not None else ""


def _text(node: Any) -> str:
    return str(node.text[:LONGEST_SIGNATURE].decode(errors="replace"))


class Names:
    """The names that a file imports, and which of them a text uses."""

    def __init__(self, root: Any, format: str, *, kinds: Kinds) -> None:
        found = (
            [node for node in root.children if node.kind_id in kinds.imports]
            if kinds.imports
            else []
        )
        known = {
            name
            for node in found
            for name in imported_names(node.text.decode(errors="replace"), format)
        }
        self._known = frozenset(name.encode() for name in filter(_WORD.fullmatch, known))

    def used(self, text: str) -> str:
        """Return the imports that a text uses, for its context."""
        names = sorted(self._known.intersection(_words(text)))[:MOST_IMPORTS] if self._known else ()
        return f"imports {b', '.join(names).decode()}" if names else ""


def _words(text: str) -> list[bytes]:
    """Return the words of a text; where it is ASCII, in a third of the time."""
    return (
        text.encode().translate(_WORDS).split()
        if text.isascii()
        else [word.encode() for word in _WORD.findall(text)]
    )


def context_of(scopes: Sequence[Scope], imports: str) -> str:
    """Return the context of a piece of code.

    >>> context_of([Scope("Store", "class Store"), Scope("add", "def add(self)")], "imports json")
    'class Store > def add(self) · imports json'
    """
    return " · ".join(filter(None, (" > ".join(scope.signature for scope in scopes), imports)))


# From a syntax tree to a row of pieces: nodes that fit are pieces, others are taken apart.

CHARACTERS_A_TOKEN = 4  # what is longer is taken apart without being counted
_UNCOUNTED = 1 << 62  # the size of what is longer
_FIRST_BYTE = -0x40  # as a signed byte: below it are those that go on with a character


class _Place(NamedTuple):
    """How strong the boundary before a node is, the definitions that the node stands in, and how deep it is."""

    level: Level = Level.BLOCK
    inside: tuple[Any, ...] = ()
    depth: int = 0


_Owner: TypeAlias = tuple[tuple[Any, ...], Any]
"""What pieces belong to: the definitions that they stand in, and the node that a piece is, or None."""


class Walk:
    """The row of a program, made node by node.

    Places are those of bytes, as the parser counts them, until they are in the row.
    """

    def __init__(self, row: Row, source: bytes, root: Any, *, kinds: Kinds) -> None:
        """Take an empty row, and the tree of its text as bytes."""
        self.row = row
        self._offsets = character_offsets(row.text, source)
        self._source = source
        self._kinds = kinds
        self._countable = row.options.max_tokens * CHARACTERS_A_TOKEN
        self._owners: list[_Owner] = []
        self._scopes: dict[int, Scope | None] = {}
        self._enter(root, 0, len(source), _Place())

    def around(self, owners: Sequence[int]) -> tuple[Scope, ...]:
        """Return the scopes that all of the pieces with these owners stand in."""
        common, node = self._owners[owners[0]]
        if owners[0] != owners[-1]:
            # what both stand in holds all that is between them
            common = _shared(common, self._owners[owners[-1]][0])
        elif node is not None and (definition := definition_of(node)) is not None:
            common = (*common, definition)  # several pieces never stand in what one of them is
        return tuple(filter(None, map(self._scope, common))) if common else ()

    def _scope(self, definition: Any) -> Scope | None:
        """Return the scope that a definition opens.

        Few are asked for, those of small neighbours in one chunk never.
        """
        if definition.id not in self._scopes:
            self._scopes[definition.id] = scope_of(definition, self._source)
        return self._scopes[definition.id]

    def _enter(self, node: Any, first: int, last: int, place: _Place) -> None:
        """Put what stands from `first` to `last` into the row, cut before the lines that begin with a child."""
        level, inside, depth = place
        definition = definition_of(node) if depth else None
        if definition is not None:
            inside = (*inside, definition)
        places, nodes = (
            starts_in(node, self._source, last, kinds=self._kinds, is_root=not depth)
            if depth < DEEPEST
            else ([], [])
        )
        if not places:
            self._lines(first, last, level, inside)
            return
        inner = _Place(
            _level_inside(definition, level) if depth else Level.BLOCK, inside, depth + 1
        )
        outer = inner._replace(level=level)
        if first < places[0]:
            self._head(first, places[0], outer)
        else:
            self._parts(nodes[:1], [*places[:2], last][:2], outer)
            del nodes[0], places[0]
        self._parts(nodes, [*places, last], inner)

    def _head(self, first: int, last: int, place: _Place) -> None:
        """Put the lines before the children of a node into the row, whole where they fit."""
        start, end = self._offsets[first], self._offsets[last]
        if self.row.is_blank(start, end):
            return
        size = self.row.whole(start, end)
        if size <= self.row.largest(place.level):
            self.row.add(start, end, size, place.level, len(self._owners))
            self._owners.append((place.inside, None))
        else:
            self._lines(first, last, place.level, place.inside)

    def _parts(self, nodes: Sequence[Any], begins: Sequence[int], place: _Place) -> None:
        """Put nodes whose lines begin at these places, up to the last of them, into the row.

        Whole where they fit, as most do.
        """
        whole, long, largest = self.row.whole, self._countable, self.row.largest(place.level)
        places = list(map(self._offsets.__getitem__, begins))
        sizes = [
            whole(start, end) if end - start <= long else _UNCOUNTED
            for start, end in pairwise(places)
        ]
        done = 0
        for at in [at for at, size in enumerate(sizes) if size > largest]:
            self._add(nodes[done:at], places[done : at + 1], sizes[done:at], place)
            self._large(nodes[at], begins[at], begins[at + 1], place)
            done = at + 1
        self._add(nodes[done:], places[done:], sizes[done:], place)

    def _add(
        self, nodes: Sequence[Any], places: Sequence[int], sizes: Sequence[int], place: _Place
    ) -> None:
        if nodes:
            known = len(self._owners)
            self.row.add_all(places, sizes, place.level, range(known, known + len(nodes)))
            self._owners.extend(zip(repeat(place.inside), nodes, strict=False))

    def _large(self, node: Any, first: int, last: int, place: _Place) -> None:
        """Put a node into the row that is too large, or so long that it was not counted.

        By its children, or by its lines.
        """
        if node.child_count:
            self._enter(node, first, last, place)
            return
        start, end = self._offsets[first], self._offsets[last]
        size = self.row.whole(start, end)
        if size <= self.row.largest(place.level):
            self._add([node], [start, end], [size], place)
        else:
            self._lines(first, last, place.level, place.inside)

    def _lines(self, first: int, last: int, level: Level, inside: tuple[Any, ...]) -> None:
        self.row.add_lines(
            self._offsets[first], self._offsets[last], level, len(self._owners), blank=Level.LINE
        )
        self._owners.append((inside, None))


def _shared(one: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the definitions that both paths begin with."""
    if one is other:
        return one
    shared = 0
    while shared < min(len(one), len(other)) and one[shared] is other[shared]:
        shared += 1
    return one[:shared]


def character_offsets(text: str, source: bytes) -> Sequence[int]:
    r"""Return how many characters of a text begin before each byte of its source, and how many there are.

    >>> list(character_offsets("é\nb", "é\nb".encode())), character_offsets("ab", b"ab")
    ([0, 1, 1, 2, 3], range(0, 3))
    """
    if len(source) == len(text):
        return range(len(text) + 1)
    offsets = np.zeros(len(source) + 1, np.int32)
    np.cumsum(np.frombuffer(source, np.int8) >= _FIRST_BYTE, out=offsets[1:])
    return offsets.data


def _level_inside(definition: Any | None, level: Level) -> Level:
    """Return how strong the boundaries between the children of a node are, if it is a definition and else of another."""
    return (
        Level.ITEM
        if level <= Level.ITEM and (definition is None or definition.type in CONTAINERS)
        else Level.LINE
    )


MOST_ERRORS = 0.5  # a larger part of a file that does not parse says that it is something else


@dataclass(frozen=True, slots=True)
class Code:
    """Cuts along the syntax tree.

    The scopes around a chunk and the imports it uses are its context.
    """

    count: TokenCounter = field(default=estimate, repr=False)

    @property
    def name(self) -> str:
        """The name by which it is chosen."""
        return "code"

    @property
    def formats(self) -> frozenset[str]:
        """The languages with a grammar.

        Any other text is cut as plain text, and so is one that does not parse.
        """
        return frozenset(GRAMMARS)

    def chunk(
        self,
        text: str,
        *,
        format: str = "text",
        options: ChunkOptions = DEFAULT_OPTIONS,
        units: Sequence[Unit] | None = None,  # noqa: ARG002 - the syntax tree knows better
    ) -> tuple[Chunk, ...]:
        """Return runs of whole definitions, and parts of those that are too large."""
        whole = as_one(text, count=self.count, options=options)
        if whole is not None:
            return whole
        row = Row(text, count=self.count, options=options)
        source = text.encode(errors="surrogatepass")
        parsed = (
            _parsed(text, source, format) if format in GRAMMARS and not _is_small(row) else None
        )
        if parsed is None:
            return cut(row)
        (_tree, root), kinds = parsed, kinds_of(format)
        walk = Walk(row, source, root, kinds=kinds)
        names = Names(root, format, kinds=kinds)
        spans = pack(row)
        texts = iter([text[span.start : span.end] for span in spans])

        def describe(owners: Sequence[int]) -> tuple[str, tuple[str, ...]]:
            scopes = walk.around(owners)
            return context_of(scopes, names.used(next(texts))), tuple(
                [scope.name for scope in scopes]
            )

        return chunks_of(row, spans, describe)


def _is_small(row: Row) -> bool:
    """Tell whether a text is within the largest size, so that there is little to gain from parsing it."""
    return len(row.text) <= row.options.max_tokens * CHARACTERS_A_TOKEN and row.fits(
        0, len(row.text)
    )


def _parsed(text: str, source: bytes, format: str) -> tuple[Any, Any] | None:
    """Return the syntax tree, which its nodes do not keep, and its root, if the text is a program for the most part."""
    parser_of(format)  # complains where the grammar is not installed, whatever the text is
    tree = syntax_tree(format, source) if is_plausible(text, format) else None
    if tree is None:
        return None
    root = tree.root_node
    if root.has_error:
        wrong = sum([node.end_byte - node.start_byte for node in root.children if node.is_error])
        if root.is_error or wrong > MOST_ERRORS * root.end_byte:
            return None
    return tree, root
