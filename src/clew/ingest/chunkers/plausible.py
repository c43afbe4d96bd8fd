r"""Is it worth parsing? Quotes and brackets that do not close make a parser search for hours.

The recovery from errors of tree-sitter takes quadratic time and worse on texts that are no programs: 60 kB of `/*"` keep it
busy for 20 s. `syntax_tree` stops that, but most such texts are known by one look in linear time.
"""

from __future__ import annotations

import re

import numpy as np

LARGEST_SOURCE = 1_000_000  # letters; larger files are generated
LONGEST_LINE = 4_000  # a longer line is minified, and there is nothing to see between lines
DEEPEST_BRACKET = 200
FEW_ERRORS = 2
LINES_AN_ERROR = 100  # so many lines may hold one quote or bracket that this simple look misjudges


def _over_lines(body: str, closing: str) -> str:
    """Return the pattern of the rest of a literal that may hold lines; an unclosed one goes to the end, which is a group."""
    return rf"(?:{body})*+(?:{closing}|(\Z))"


# Each alternative begins with a letter of its own: so the places between literals are skipped, not looked at.
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
    if len(text) > LARGEST_SOURCE or _has_long_line(text):
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
    return deepest <= DEEPEST_BRACKET and (errors <= FEW_ERRORS or errors <= FEW_ERRORS + text.count("\n") // LINES_AN_ERROR)


def _depths(bare: str) -> tuple[int, int, int]:
    """Return how far brackets close more than was open, how deep they nest, and how many are open at the end."""
    steps = np.frombuffer(bare.encode(errors="replace").translate(_STEP, _NO_BRACKET), np.int8)
    depths = np.cumsum(steps, dtype=np.int64)
    return (min(0, int(depths.min())), max(0, int(depths.max())), int(depths[-1])) if len(depths) else (0, 0, 0)


def _has_long_line(text: str) -> bool:
    """Tell whether a line is too long, by leaps from line end to line end as far as a line may go."""
    at = 0
    while len(text) - at > LONGEST_LINE:
        at = text.rfind("\n", at, at + LONGEST_LINE + 1) + 1
        if not at:
            return True
    return False
