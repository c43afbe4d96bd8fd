"""Which files a .gitignore leaves out, by git's own rules and in time that no pattern can blow up."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_ANY = None  # stands for ** between slashes: any number of folders
_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": r"\x21-\x7e",
    "lower": "a-z",
    "print": r"\x20-\x7e",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\s",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line of an ignore file."""

    segments: tuple[re.Pattern[str] | None, ...]
    ignores: bool  # False for a line that begins with "!"
    folders_only: bool

    def matches(self, parts: Sequence[str], *, is_folder: bool) -> bool:
        """Tell whether the pattern is about this path, given as the names from its ignore file's folder down."""
        return (is_folder or not self.folders_only) and _matched(self.segments, parts)

    def reaches(self, depth: int) -> bool:
        """Tell whether something below a folder of this depth could match."""
        return depth < len(self.segments) or _ANY in self.segments


def patterns(lines: Iterable[str]) -> tuple[Pattern, ...]:
    """Return the patterns of an ignore file's lines.

    Comments, blank lines and lines that can match nothing are left out.
    """
    return tuple(found for line in lines if (found := pattern(line)))


def verdict(rules: Sequence[Pattern], parts: Sequence[str], *, is_folder: bool) -> bool | None:
    """Return True if the last pattern that matches ignores the path, False if it keeps it, None if none matches.

    >>> rules = patterns(["*.log", "!keep.log", "build/", "/only-here"])
    >>> [verdict(rules, name.split("/"), is_folder=False) for name in ("a/b.log", "a/keep.log", "build", "a/only-here")]
    [True, False, None, None]
    """
    return next(
        (rule.ignores for rule in reversed(rules) if rule.matches(parts, is_folder=is_folder)), None
    )


def pattern(line: str) -> Pattern | None:
    """Return the pattern that a line means, or nothing."""
    text = _without_trailing_spaces(line.removesuffix("\r"))
    if not text or text.startswith("#"):
        return None
    ignores = not text.startswith("!")
    text = text if ignores else text[1:]
    folders_only = text.endswith("/")
    text = text.removesuffix("/")
    if not text or text.startswith("//") or text.endswith("/"):
        return None
    anchored = "/" in text
    names = text.removeprefix("/").split("/")
    segments = tuple(_ANY if name == "**" and anchored else _segment(name) for name in names)
    if any(segment is _IMPOSSIBLE for segment in segments):
        return None
    return Pattern(segments if anchored else (_ANY, *segments), ignores, folders_only)


_IMPOSSIBLE = re.compile(r"(?!)")  # a bracket that never closes, a backslash at the end


def _without_trailing_spaces(line: str) -> str:
    r"""Drop spaces at the end, except one that a backslash protects.

    >>> _without_trailing_spaces("a\\  "), _without_trailing_spaces("a  ")
    ('a\\ ', 'a')
    """
    bare = line.rstrip(" ")
    slashes = len(bare) - len(bare.rstrip("\\"))
    return bare + " " if slashes % 2 and len(bare) < len(line) else bare


def _matched(segments: Sequence[re.Pattern[str] | None], parts: Sequence[str]) -> bool:
    """Match names against segments.

    Only the last ** is ever taken back, so it takes at most their product in steps.

    A ** at the end wants at least one name: "a/**" is about what is in a, not about a.
    """
    at = star_part = 0
    star = -1
    segment = 0
    while at < len(parts):
        if segment < len(segments) and segments[segment] is _ANY:
            star, star_part = segment, at
            if segment == len(segments) - 1:
                return True
            segment += 1
        elif (
            segment < len(segments)
            and (found := segments[segment]) is not None
            and found.fullmatch(parts[at])
        ):
            at, segment = at + 1, segment + 1
        elif star >= 0:
            star_part += 1
            at, segment = star_part, star + 1
        else:
            return False
    return segment == len(segments)


def _segment(name: str) -> re.Pattern[str]:
    """Return the expression for one name of a pattern.

    Each star takes what it needs and never gives it back.
    """
    pieces = _pieces(name)
    if pieces is None:
        return _IMPOSSIBLE
    runs: list[list[str]] = [[]]
    for piece in pieces:
        if piece == "*":
            runs.append([])
        else:
            runs[-1].append(piece)
    first, *rest = ("".join(run) for run in runs)
    if not rest:
        return _compiled(first)
    # Leftmost is right for every run but the last, which must reach the end; empty runs are stars
    # side by side.
    middle = "".join(f"(?>.*?{run})" for run in rest[:-1] if run)
    return _compiled(f"{first}{middle}.*{rest[-1]}")


def _compiled(expression: str) -> re.Pattern[str]:
    try:
        return re.compile(expression, re.DOTALL)
    except re.error:  # a range that runs backwards
        return _IMPOSSIBLE


def _pieces(name: str) -> list[str] | None:
    """Return the expressions of a name's signs, "*" for a star; nothing if it can match nothing."""
    found: list[str] = []
    at = 0
    while at < len(name):
        sign = name[at]
        at += 1
        if sign == "\\":
            if at == len(name):
                return None
            found.append(re.escape(name[at]))
            at += 1
        elif sign == "[":
            bracket = _bracket(name, at)
            if bracket is None:
                return None
            expression, at = bracket
            found.append(expression)
        else:
            found.append("*" if sign == "*" else "." if sign == "?" else re.escape(sign))
    return found


def _bracket(name: str, at: int) -> tuple[str, int] | None:
    """Return the expression of a bracket that began before `at` and where it ends.

    Nothing if it does not end.
    """
    inverted = name[at : at + 1] in ("!", "^")
    begin = at = at + inverted
    found: list[str] = []
    while at < len(name) and (name[at] != "]" or at == begin):
        if name.startswith("[:", at) and (end := name.find(":]", at + 2, at + 12)) > 0:
            if (named := _CLASSES.get(name[at + 2 : end])) is None:
                return None
            found.append(named)
            at = end + 2
            continue
        is_range = (
            name[at] == "-" and found and at > begin and name[at + 1 : at + 2] not in ("]", "")
        )
        at += name[at] == "\\"
        found.append("-" if is_range else re.escape(name[at : at + 1]))
        at += 1
    if at >= len(name):
        return None
    return f"[{'^' if inverted else ''}{''.join(found)}]", at + 1
