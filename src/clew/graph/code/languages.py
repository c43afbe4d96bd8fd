"""Parse source texts with the tree-sitter grammars that are installed."""

from __future__ import annotations

import re
import time
import warnings
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from clew.errors import InputError

# format: the module of its official grammar, and the function in it
GRAMMARS = {
    "python": ("tree_sitter_python", "language"),
    "javascript": ("tree_sitter_javascript", "language"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "go": ("tree_sitter_go", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "java": ("tree_sitter_java", "language"),
    "c": ("tree_sitter_c", "language"),
    "cpp": ("tree_sitter_cpp", "language"),
}

# What opens a scope with a name. The languages share one list: none uses another's word for
# something else.
CONTAINERS = frozenset(
    """
    class_definition class_declaration abstract_class_declaration interface_declaration
    enum_declaration record_declaration annotation_type_declaration internal_module module impl_item
    trait_item mod_item class_specifier struct_specifier union_specifier namespace_definition
    linkage_specification
    """.split()
)
FUNCTIONS = frozenset(
    """
    function_definition function_declaration generator_function_declaration method_definition
    method_declaration constructor_declaration function_item macro_definition struct_item enum_item
    type_declaration type_alias_declaration variable_declarator
    """.split()
)
WRAPPERS = frozenset(
    "decorated_definition export_statement template_declaration ambient_declaration "
    "lexical_declaration".split()
)
IMPORTS = frozenset(
    "import_statement import_from_statement future_import_statement import_declaration "
    "use_declaration".split()
)

# CPU time that parsing may take: programs take 0.2 to 0.5 µs a byte.
PARSING_SECONDS = 0.25
PARSING_SECONDS_PER_BYTE = 5e-6
# after which it is looked at how much was used; other threads run meanwhile
_SLICE_MICROSECONDS = 20_000


class Kinds(NamedTuple):
    """Kinds of nodes by the numbers that a grammar gives them.

    A number is read in half the time of a name.
    """

    comments: frozenset[int]
    signs: frozenset[int]
    """What has no name of its own in the grammar: brackets, commas, keywords."""
    imports: frozenset[int]


def has_grammar(format: str) -> bool:
    """Tell whether the grammar of a language is installed."""
    try:
        parser_of(format)
    except InputError:
        return False
    return True


@cache
def parser_of(format: str) -> Any:
    """Return the parser of a language, or say how to get it."""
    module, function = GRAMMARS[format]
    try:
        tree_sitter = import_module("tree_sitter")
        return tree_sitter.Parser(tree_sitter.Language(getattr(import_module(module), function)()))
    except ImportError as error:
        raise InputError(
            "format",
            format,
            f"needs a grammar that is not installed ({error.name})",
            "Install them with: pip install 'clew[code]'",
        ) from error


def syntax_tree(format: str, source: bytes) -> Any | None:
    """Return the syntax tree of a source.

    None where parsing takes many times as long as it does for any program.

    Error recovery takes quadratic time and memory on texts that are none: 4 kB of `->` keep the
    JavaScript parser busy for 3 s, 8 kB of `%*` take the Python parser 2 GB.
    """
    parser = _stopping_parser(format)
    limit = time.thread_time() + PARSING_SECONDS + PARSING_SECONDS_PER_BYTE * len(source)
    while True:
        try:
            return parser.parse(source)  # goes on where it stopped
        except ValueError:
            if time.thread_time() > limit:
                return None


def _stopping_parser(format: str) -> Any:
    """Return a new parser with a timeout; one that timed out cannot be used for another text."""
    with warnings.catch_warnings():
        # which crashes in 0.25.2
        warnings.filterwarnings("ignore", "Use the progress_callback", DeprecationWarning)
        return type(parser_of(format))(
            parser_of(format).language, timeout_micros=_SLICE_MICROSECONDS
        )


@cache
def kinds_of(format: str) -> Kinds:
    """Return the numbers that the grammar of a language gives to the kinds of its nodes."""
    language = parser_of(format).language
    names: dict[int, str] = {
        number: language.node_kind_for_id(number) or ""
        for number in range(language.node_kind_count)
    }
    comments = frozenset(number for number, name in names.items() if "comment" in name)
    return Kinds(
        comments=comments,
        signs=frozenset(number for number in names if not language.node_kind_is_named(number))
        - comments,
        imports=frozenset(number for number, name in names.items() if name in IMPORTS),
    )


# Unclosed quotes and brackets keep a parser busy for hours.
# The recovery from errors of tree-sitter takes quadratic time and worse on texts that are no
# programs: 60 kB of `/*"` keep it
# busy for 20 s. `syntax_tree` stops that, but most such texts are known by one look in linear time.

MAX_SOURCE = 1_000_000  # letters; larger files are generated
MAX_LINE = 4_000  # a longer line is minified, and there is nothing to see between lines
MAX_BRACKET_DEPTH = 200
ALLOWED_ERRORS = 2
LINES_PER_ERROR = 100  # so many lines may hold one quote or bracket that this simple look misjudges


def _over_lines(body: str, closing: str) -> str:
    """Return the pattern of the rest of a literal that may hold lines.

    An unclosed one goes to the end, which is a group.
    """
    return rf"(?:{body})*+(?:{closing}|(\Z))"


# Each alternative begins with a letter of its own: so the places between literals are skipped, not
# looked at.
# An escaped quote begins none: else each in an unclosed literal would be followed to its end.
_QUOTED = r"\"(?<!\\\")(?:[^\"\\\n]++|\\.)*+\""
_TICKED = r"'(?<!\\')(?:[^'\\\n]++|\\.)*+'"
_COMMENT = r"/(?:/[^\n]*+|\*" + _over_lines(r"[^*]++|\*(?!/)", r"\*/") + ")"
_RUST = r"'(?:[^'\\\n]|\\[^\n]{1,8}?)'|\"" + _over_lines(r"[^\"\\]++|\\.", r"\"")
_RUST_LITERALS = re.compile(rf"{_COMMENT}|{_RUST}", re.DOTALL)
_TEMPLATE = "`" + _over_lines(r"[^`\\]++|\\.", "`")
_OTHER_LITERALS = re.compile(rf"{_COMMENT}|{_TEMPLATE}|{_QUOTED}|{_TICKED}", re.DOTALL)
_LINEAR = frozenset({"python"})  # its grammar recovers in linear time: measured with the same texts
_BRACKETS = b"()[]{}"
_STEP = bytes.maketrans(_BRACKETS, bytes((1, 0xFF)) * 3)  # as signed bytes: a step in, a step out
_NO_BRACKET = bytes(set(range(256)) - set(_BRACKETS))


def is_plausible(text: str, format: str) -> bool:
    r"""Tell whether a text can be a program: lines, quotes and brackets within reason.

    >>> is_plausible("def f(a):\n    return a['(']", "python"), is_plausible("/*\n\"\n" * 99, "java")
    (True, False)
    """
    if len(text) > MAX_SOURCE or _has_long_line(text):
        return False
    if format in _LINEAR:
        return True
    between = (_RUST_LITERALS if format == "rust" else _OTHER_LITERALS).split(text)
    comment, other = between[-3:-1] or (None, None)  # only the last literal can be unclosed
    bare = "".join(between[::3])
    if comment is not None or "`" in bare or (other is not None and format != "rust"):
        return False
    lowest, deepest, left = _depths(bare)
    errors = bare.count('"') + (other is not None) + abs(left) - lowest
    return deepest <= MAX_BRACKET_DEPTH and (
        errors <= ALLOWED_ERRORS or errors <= ALLOWED_ERRORS + text.count("\n") // LINES_PER_ERROR
    )


def _depths(bare: str) -> tuple[int, int, int]:
    """Return the lowest, the greatest and the final bracket depth."""
    steps = np.frombuffer(bare.encode(errors="replace").translate(_STEP, _NO_BRACKET), np.int8)
    depths = np.cumsum(steps, dtype=np.int64)
    return (
        (min(0, int(depths.min())), max(0, int(depths.max())), int(depths[-1]))
        if len(depths)
        else (0, 0, 0)
    )


def _has_long_line(text: str) -> bool:
    """Tell whether a line is longer than MAX_LINE."""
    at = 0
    while len(text) - at > MAX_LINE:
        at = text.rfind("\n", at, at + MAX_LINE + 1) + 1
        if not at:
            return True
    return False
