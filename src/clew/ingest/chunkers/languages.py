"""The programming languages whose syntax is known, and the grammars that know it."""

from __future__ import annotations

import time
import warnings
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

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

# What opens a scope with a name. The languages share one list: none uses another's word for something else.
CONTAINERS = frozenset(
    """
    class_definition class_declaration abstract_class_declaration interface_declaration enum_declaration record_declaration
    annotation_type_declaration internal_module module impl_item trait_item mod_item class_specifier struct_specifier
    union_specifier namespace_definition linkage_specification
    """.split()
)
FUNCTIONS = frozenset(
    """
    function_definition function_declaration generator_function_declaration method_definition method_declaration
    constructor_declaration function_item macro_definition struct_item enum_item type_declaration type_alias_declaration
    variable_declarator
    """.split()
)
WRAPPERS = frozenset("decorated_definition export_statement template_declaration ambient_declaration lexical_declaration".split())
IMPORTS = frozenset("import_statement import_from_statement future_import_statement import_declaration use_declaration".split())

# CPU time that parsing may take: programs take 0.2 to 0.5 µs a byte.
PARSING_SECONDS = 0.25
PARSING_SECONDS_A_BYTE = 5e-6
_LOOK_MICROSECONDS = 20_000  # after which it is looked at how much was used; other threads run meanwhile


class Kinds(NamedTuple):
    """Kinds of nodes by the numbers that a grammar gives them: a number is read in half the time of a name."""

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
            "format", format, f"needs a grammar that is not installed ({error.name})", "Install them with: pip install 'clew[code]'"
        ) from error


def syntax_tree(format: str, source: bytes) -> Any | None:
    """Return the syntax tree of a source; None where parsing takes many times as long as it does for any program.

    Error recovery takes quadratic time and memory on texts that are none: 4 kB of `->` keep the JavaScript parser busy for 3 s,
    8 kB of `%*` take the Python parser 2 GB.
    """
    parser = _stopping_parser(format)
    limit = time.thread_time() + PARSING_SECONDS + PARSING_SECONDS_A_BYTE * len(source)
    while True:
        try:
            return parser.parse(source)  # goes on where it stopped
        except ValueError:
            if time.thread_time() > limit:
                return None


def _stopping_parser(format: str) -> Any:
    """Return a parser of its own, since one that has stopped remembers its text, that stops after a while."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Use the progress_callback", DeprecationWarning)  # which crashes in 0.25.2
        return type(parser_of(format))(parser_of(format).language, timeout_micros=_LOOK_MICROSECONDS)


@cache
def kinds_of(format: str) -> Kinds:
    """Return the numbers that the grammar of a language gives to the kinds of its nodes."""
    language = parser_of(format).language
    names: dict[int, str] = {number: language.node_kind_for_id(number) or "" for number in range(language.node_kind_count)}
    comments = frozenset(number for number, name in names.items() if "comment" in name)
    return Kinds(
        comments=comments,
        signs=frozenset(number for number in names if not language.node_kind_is_named(number)) - comments,
        imports=frozenset(number for number, name in names.items() if name in IMPORTS),
    )
