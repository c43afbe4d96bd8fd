"""Make texts on which a pattern that backtracks takes more than linear time, from the pattern itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from re import _constants, _parser  # the only parser of the syntax there is
from typing import Any

SIGNS = (*".-_ \n\t#[](){}<>`*|:;,/\\'\"!?@&=+%$~^0aA", "é", "字", "\u200d", "\u0301")
"""Characters that texts consist of, and of which a long run is a usual accident."""
ENDS = ("", "\x00", "\n", "!", "a")
REPEATS = frozenset({_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT})
MANY = 20  # a repeat that ends before cannot be pumped


def attacks(pattern: re.Pattern[Any]) -> Iterator[tuple[str, str, str]]:
    """Yield pieces of texts: how they begin, what is repeated, and how they end."""
    seen = set()
    for before, pumped in _pumps(pattern):
        for each in (("", pumped), (before, pumped), ("", before + pumped), ("", pumped + before)):
            for end in ENDS:
                if each[1] and (*each, end) not in seen:
                    seen.add((*each, end))
                    yield (*each, end)


def _pumps(pattern: re.Pattern[Any]) -> Iterator[tuple[str, str]]:
    """Yield for each repeat what has to stand before it, and what it repeats."""
    for sign in SIGNS:
        yield "", sign
    source = (
        pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    )
    flags = pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags
    tree = _parser.parse(source, flags | (0 if flags & re.ASCII else re.UNICODE))
    yield from _repeats(tree, "")


def _repeats(tree: Any, before: str) -> Iterator[tuple[str, str]]:
    for operation, argument in tree:
        yield from _inner(operation, argument, before)
        before += _sample(operation, argument, 0)


def _inner(operation: Any, argument: Any, before: str) -> Iterator[tuple[str, str]]:
    if operation in REPEATS:
        _, most, inside = argument
        if most >= MANY:
            for variant in range(3):
                yield before, _samples(inside, variant)
        yield from _repeats(inside, before)
    elif operation is _constants.SUBPATTERN:
        yield from _repeats(argument[3], before)
    elif operation is _constants.ATOMIC_GROUP:
        yield from _repeats(argument, before)
    elif operation is _constants.BRANCH:
        for branch in argument[1]:
            yield from _repeats(branch, before)
    elif operation in (_constants.ASSERT, _constants.ASSERT_NOT):
        yield from _repeats(argument[1], before)


def _samples(tree: Any, variant: int) -> str:
    return "".join(_sample(operation, argument, variant) for operation, argument in tree)


def _sample(operation: Any, argument: Any, variant: int) -> str:
    """Return a text that a part of a pattern matches; of several the one of this number."""
    if operation is _constants.LITERAL:
        return chr(argument)
    if operation is _constants.NOT_LITERAL:
        return next(each for each in _order(variant) if ord(each) != argument)
    if operation is _constants.ANY:
        return _order(variant)[0]
    if operation is _constants.IN:
        return next((each for each in _order(variant) if _is_in(argument, each)), _listed(argument))
    if operation in REPEATS:
        least, most, inside = argument
        return _samples(inside, variant) * int(max(least, min(1, most)))
    if operation is _constants.SUBPATTERN:
        return _samples(argument[3], variant)
    if operation is _constants.ATOMIC_GROUP:
        return _samples(argument, variant)
    if operation is _constants.BRANCH:
        return _samples(argument[1][variant % len(argument[1])], variant)
    return ""


def _order(variant: int) -> str:
    """Return characters in the order in which they are taken for a class."""
    letters = "a0 .-_A\n\t#[](){}<>`*|:;,/\\'\"!?@&=+%$~^é字\u200d\u0301"
    shift = (0, 2, 4)[variant % 3]
    return letters[shift:] + letters[:shift]


def _listed(members: Any) -> str:
    for operation, argument in members:
        if operation is _constants.LITERAL:
            return chr(argument)
        if operation is _constants.RANGE:
            return chr(argument[0])
    return "a"


def _is_in(members: Any, character: str) -> bool:
    inverted = members[0][0] is _constants.NEGATE
    return inverted != any(
        _is_member(operation, argument, character) for operation, argument in members[inverted:]
    )


def _is_member(operation: Any, argument: Any, character: str) -> bool:
    if operation is _constants.LITERAL:
        return bool(ord(character) == argument)
    if operation is _constants.RANGE:
        return bool(argument[0] <= ord(character) <= argument[1])
    wanted = {
        _constants.CATEGORY_DIGIT: character.isdigit(),
        _constants.CATEGORY_NOT_DIGIT: not character.isdigit(),
        _constants.CATEGORY_SPACE: character.isspace(),
        _constants.CATEGORY_NOT_SPACE: not character.isspace(),
        _constants.CATEGORY_WORD: character.isalnum() or character == "_",
        _constants.CATEGORY_NOT_WORD: not (character.isalnum() or character == "_"),
    }
    return bool(wanted[argument])
