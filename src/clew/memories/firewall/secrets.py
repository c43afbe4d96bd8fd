"""Find all secrets of a text, and redact or mask them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType

from clew.memories.firewall.secret_assignments import find_assigned_secrets, find_codes, lower_case
from clew.memories.firewall.secret_patterns import (
    CARD,
    KUBERNETES,
    PRIVATE,
    SERVICES,
    SHAPES,
    SHORT,
    Rule,
    Secret,
    kubernetes_secrets,
    private_keys,
)

# characters of a name and a value together: a shorter text holds no secret that could be told
_MIN_CHARACTERS = 8
# characters of a value that is taken out wherever else it stands: a shorter one may be a word
_MIN_REPEATED = 6
MAX_REPEATED = 64  # different values that are looked for again: bounds the work on hostile text

NO_VALUES: Mapping[str, str] = MappingProxyType({})
_RULES = (*SERVICES, *SHAPES)
# characters without white space: what all rules but that of passwords in addresses need to find
# anything
_MIN_TOKEN = 15
_MIN_CARD_DIGITS = 15  # of a payment card
_NO_DIGITS = bytes(code for code in range(128) if not chr(code).isdigit())
# one of them is in most anchors: a text without it need not be searched for these
_SIGNS = "_-=/:."


def _by_sign() -> dict[str, list[tuple[str, int]]]:
    """Return the anchors, each with the place of its rule, by the sign that they hold.

    By an empty text where they hold none.
    """
    found: dict[str, list[tuple[str, int]]] = {}
    for place, rule in enumerate(_RULES):
        for anchor in rule.anchors:
            found.setdefault(next((sign for sign in _SIGNS if sign in anchor), ""), []).append(
                (anchor, place)
            )
    return found


_ANCHORS = _by_sign()


def _applicable_rules(text: str) -> Sequence[Rule]:
    """Return the rules that may find something.

    A hundred literals are looked for in the time that one pattern takes.
    """
    short = [rule for rule in SHORT if rule.anchors[0] in text]
    if "://" not in text and max(map(len, text.split()), default=0) < _MIN_TOKEN:
        return short
    found = {
        place
        for sign, anchors in _ANCHORS.items()
        if sign in text
        for anchor, place in anchors
        if anchor in text
    }
    return [*(_RULES[place] for place in sorted(found)), *short]


def find_secrets(
    text: str, *, cards: bool = False, known: Mapping[str, str] = NO_VALUES
) -> tuple[Secret, ...]:
    """Return the secrets of a text in order, none overlapping, each wherever it stands.

    Values that are `known` to be secret too.

    >>> find_secrets("Deploy with AKIAIOSFODNN7EXAMPLE, please")
    (Secret(rule='aws_key', start=12, end=32),)
    """
    if len(text) < _MIN_CHARACTERS:
        return ()
    found = [*private_keys(text)] if PRIVATE in text else []
    for rule in _applicable_rules(text):
        found += rule(text)
    if KUBERNETES in text:
        found += kubernetes_secrets(text)
    small = lower_case(text)
    found += find_assigned_secrets(text, small)
    found += find_codes(text, small)
    if cards and _may_hold_card(text):
        found += CARD(text)
    return (
        _merge_overlaps([*found, *find_repeats(text, {**rules_by_value(text, found), **known})])
        if found or known
        else ()
    )


def _may_hold_card(text: str) -> bool:
    """Tell whether there are digits enough.

    Of other scripts, whose digits count too, nothing is said.
    """
    return not text.isascii() or len(text.encode().translate(None, _NO_DIGITS)) >= _MIN_CARD_DIGITS


def rules_by_value(text: str, found: Iterable[Secret]) -> dict[str, str]:
    """Return the rule by which each secret was found, by its value."""
    return {
        text[each.start : each.end]: each.rule
        for each in found
        if each.end - each.start >= _MIN_REPEATED
    }


def find_repeats(text: str, known: Mapping[str, str]) -> Iterator[Secret]:
    """Yield wherever the text holds one of the values that are known to be secret.

    >>> list(find_repeats("tr0ub4dor, I said: tr0ub4dor", {"tr0ub4dor": "password"}))
    [Secret(rule='password', start=0, end=9), Secret(rule='password', start=19, end=28)]
    """
    for value, rule in islice(known.items(), MAX_REPEATED):
        at = text.find(value)
        while at >= 0:
            yield Secret(rule, at, at + len(value))
            at = text.find(value, at + len(value))


def _merge_overlaps(found: Iterable[Secret]) -> tuple[Secret, ...]:
    """Return secrets that do not overlap.

    What a later one reaches beyond an earlier one goes with that.
    """
    apart: list[Secret] = []
    for each in sorted(found, key=lambda each: (each.start, -each.end)):
        if not apart or each.start >= apart[-1].end:
            apart.append(each)
        elif each.end > apart[-1].end:
            apart[-1] = apart[-1]._replace(end=each.end)
    return tuple(apart)


def rules_of(found: Iterable[Secret]) -> tuple[str, ...]:
    """Return the names of the rules, each once, in order."""
    return tuple(dict.fromkeys(each.rule for each in found))


def redact(text: str, found: Sequence[Secret]) -> str:
    """Return the text with a mark in the place of each secret.

    >>> text = "Log in as root:tr0ub4dor; password: tr0ub4dor"
    >>> redact(text, find_secrets(text))
    'Log in as root:[secret:password]; password: [secret:password]'
    """
    return _replace(text, found, lambda each: f"[secret:{each.rule}]")


def mask(text: str, found: Sequence[Secret]) -> str:
    """Return the text with each secret covered and nothing moved: every offset into it stays true.

    >>> mask("key AKIAIOSFODNN7EXAMPLE, pin", find_secrets("key AKIAIOSFODNN7EXAMPLE, pin"))
    'key [secret:aws_key]****, pin'
    """
    return _replace(text, found, _cover)


def _cover(secret: Secret, /) -> str:
    room = secret.end - secret.start
    mark = f"[secret:{secret.rule}]"
    return mark.ljust(room, "*") if len(mark) <= room else "*" * room


def _replace(text: str, found: Sequence[Secret], mark: Callable[[Secret], str]) -> str:
    parts, at = [], 0
    for each in found:
        parts += [text[at : each.start], mark(each)]
        at = each.end
    return "".join([*parts, text[at:]])
