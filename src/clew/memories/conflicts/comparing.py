"""Compare two texts about the same subject: do they say things that cannot both be true?

Vectors hardly tell a contradiction from a paraphrase, so the decision is taken by words alone. Two
statements contradict each other only if they agree in their subject and in all else that they say
except for one piece: a number that counts the same, a value of which there is one at a time, a
negation, or a state of a group whose members exclude each other. In doubt there is no conflict.

The rule is measured on benchmarks/conflicts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from clew.memories.conflicts import lexicon as lex
from clew.memories.conflicts.statement import Number, Statement, statements

# words that only one side has beside the differing piece; with more the texts tell different things
MOST_EXTRA = 2
LONGEST_VALUE = 3  # words
TOLERANCE = 0.03  # 1 GB and 1024 MB are the same
LEAST_OPPOSED = 4  # characters: "able" and "unable", not "it" and "unit"
MOST_CLAUSES = 5  # pairs of clauses are compared for at most this many clauses of each text


class DifferenceKind(StrEnum):
    """In what two texts differ that contradict each other."""

    VALUE = "value"
    NUMBER = "number"
    NEGATION = "negation"
    STATE = "state"


class Difference(NamedTuple):
    """How two texts contradict each other."""

    kind: DifferenceKind
    first: str
    """The piece of the first text that differs."""
    second: str
    score: float
    """How sure the rule is, from 0 to 1, by words alone."""
    about: str = ""
    """What both are about, as the first text writes it."""


def contradiction(first: str, second: str) -> Difference | None:
    """Return how two texts contradict each other, the surest way; None where they do not.

    >>> contradiction("The gateway listens on port 80.", "The gateway listens on port 443.")[:3]
    (<DifferenceKind.NUMBER: 'number'>, '80', '443')
    >>> contradiction("Ann likes tea.", "Ann likes coffee.")
    """
    mine, theirs = statements(first)[:MOST_CLAUSES], statements(second)[:MOST_CLAUSES]
    found = [found for one in mine for other in theirs if (found := _compared(one, other))]
    return max(found, key=lambda each: each.score, default=None)


class _Both(NamedTuple):
    """Two statements with what each says alone."""

    one: Statement
    other: Statement
    shared: frozenset[str]
    only: frozenset[str]
    """What only the first says and carries weight."""
    only_other: frozenset[str]


def _compared(one: Statement, other: Statement) -> Difference | None:
    if one.when != other.when or _dated_apart(one, other) or _says_the_same(one, other):
        return None
    both = _Both(
        one,
        other,
        one.content & other.content,
        *(_weighty(a, b) for a, b in ((one, other), (other, one))),
    )
    if inverse := _inverse(both):
        return inverse
    if not _same_subject(both):
        return None
    for rule in (_state, _negation, _number, _value):
        if found := rule(both):
            penalty = 0.15 if one.subject != other.subject and not _reordered(both) else 0.0
            return found._replace(score=max(0.0, found.score - penalty), about=_about(both))
    return None


def _says_the_same(one: Statement, other: Statement) -> bool:
    return (
        one.content == other.content
        and one.negated == other.negated
        and one.numbers == other.numbers
    )


def _weighty(one: Statement, other: Statement) -> frozenset[str]:
    return frozenset(
        stem
        for stem in one.content - other.content
        if one.written.get(stem, stem).lower() not in lex.LIGHT
    )


def _dated_apart(one: Statement, other: Statement) -> bool:
    """Tell whether one is about what was and the other about what is."""
    hedged = [
        bool(
            each.words & lex.HEDGES
            or (each.words & lex.PAST and not each.words & lex.SINGLE.keys())
        )
        for each in (one, other)
    ]
    lasting = [bool(each.words & {"longer", "now", "still"}) for each in (one, other)]
    return hedged[0] != hedged[1] and any(lasting)


def _same_subject(both: _Both) -> bool:
    """Tell whether both are about the same.

    What the subject of each says beside the other's stands in no subject.
    """
    one, other = both.one, both.other
    if not one.subject & other.content and not one.subject & other.subject:
        return False
    if not other.subject & one.content and not one.subject & other.subject:
        return False
    mine = {
        stem
        for stem in one.subject - other.content
        if _counts(one, stem) and stem not in other.subject
    }
    theirs = {
        stem
        for stem in other.subject - one.content
        if _counts(other, stem) and stem not in one.subject
    }
    return not (mine and theirs)


def _counts(one: Statement, stem: str) -> bool:
    return one.written.get(stem, stem).lower() not in lex.LIGHT


def _reordered(both: _Both) -> bool:
    return both.one.subject <= both.other.content or both.other.subject <= both.one.content


def _about(both: _Both) -> str:
    said = [
        word
        for stem, word in both.one.written.items()
        if stem in both.one.subject and stem in both.shared
    ]
    return " ".join(said[:4]).removesuffix("'s")


def _inverse(both: _Both) -> Difference | None:
    """Compare "Ann is the release manager" and "Ben is the release manager": of whom is it true?"""
    one, other = both.one, both.other
    copular = one.verb in lex.COPULAS and other.verb in lex.COPULAS
    definite = all(
        f" {each.verb} {word} " in each.text for each, word in ((one, "the"), (other, "the"))
    )
    said, said_other = one.content - one.subject, other.content - other.subject
    names = (
        both.only == one.subject
        and both.only_other == other.subject
        and both.only <= one.named | _firsts(one)
    )
    if not (
        copular
        and definite
        and names
        and said == said_other
        and one.negated == other.negated
        and one.numbers == other.numbers
    ):
        return None
    if one.subject & other.subject or _beginning(one) != _beginning(other):
        return None
    return Difference(
        DifferenceKind.VALUE,
        _told(one, both.only),
        _told(other, both.only_other),
        0.6,
        _told(one, said),
    )


def _firsts(one: Statement) -> frozenset[str]:
    return frozenset(list(one.written)[:1])


def _beginning(one: Statement) -> bool:
    """Tell whether a clause begins with a determiner, and so not with a name."""
    return one.text.split()[0].lower() in lex.DETERMINERS


def _told(one: Statement, stems: Iterable[str]) -> str:
    wanted = frozenset(stems)
    return " ".join(word for stem, word in one.written.items() if stem in wanted)


# --- states and negation ---


def _labels(one: Statement, apart: frozenset[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the states that a statement names outside its subject.

    Group, label, and as it is written.
    """
    for stem, word in one.written.items():
        if stem not in one.subject and (stem in apart or word.lower() in lex.OUTWARD):
            for group, label in lex.STATES.get(word.lower(), {}).items():
                yield group, label, word


def _state(both: _Both) -> Difference | None:
    """Compare what excludes each other: "open" and "closed", "resolved" and "unresolved"."""
    one, other = both.one, both.other
    if prefixed := _prefixed(both):
        return prefixed
    mine = list(_labels(one, one.content - other.content))
    theirs = list(_labels(other, other.content - one.content))
    for group, label, word in mine:
        for group_other, label_other, word_other in theirs:
            if group != group_other or label == label_other:
                continue
            if one.negated != other.negated:  # "off" is "not on"
                return None
            left, left_other = (
                _without(both.only, one, group),
                _without(both.only_other, other, group),
            )
            if (
                not (left and left_other)
                and len(left | left_other) <= MOST_EXTRA
                and not one.negated
                and _agree(both)
            ):
                return Difference(
                    DifferenceKind.STATE, word, word_other, _scored(0.9, left | left_other)
                )
    return None


def _without(only: frozenset[str], one: Statement, group: str) -> frozenset[str]:
    return frozenset(
        stem
        for stem in only
        if group not in lex.STATES.get(one.written.get(stem, stem).lower(), {})
    )


def _agree(both: _Both) -> bool:
    """Tell whether the numbers of one are those of the other, or only one has any."""
    mine, theirs = both.one.numbers, both.other.numbers
    return not mine or not theirs or any(_equal(a, b) for a in mine for b in theirs)


def _prefixed(both: _Both) -> Difference | None:
    """Compare a word with its opposite: "resolved" and "unresolved"."""
    if both.one.negated != both.other.negated:
        return None
    for stem, stem_other in ((a, b) for a in both.only for b in both.only_other):
        word, word_other = both.one.written.get(stem, ""), both.other.written.get(stem_other, "")
        left, left_other = both.only - {stem}, both.only_other - {stem_other}
        if (
            _is_opposite(word, word_other)
            and not (left and left_other)
            and len(left | left_other) <= MOST_EXTRA
        ):
            return Difference(
                DifferenceKind.STATE, word, word_other, _scored(0.9, left | left_other)
            )
    return None


def _is_opposite(one: str, other: str) -> bool:
    short, long = sorted((one.lower(), other.lower()), key=len)
    return len(short) >= LEAST_OPPOSED and any(
        long in (prefix + short, f"{prefix}-{short}") for prefix in lex.PREFIXES
    )


def _negation(both: _Both) -> Difference | None:
    """Compare what is said and denied with the same words."""
    one, other = both.one, both.other
    if one.negated == other.negated or (both.only and both.only_other) or not _agree(both):
        return None
    left = both.only | both.only_other
    said = both.shared - one.subject | both.shared - other.subject
    if len(left) > MOST_EXTRA or not said or len(both.shared | (one.subject & other.subject)) < 2:
        return None
    if left and any(
        each.written.get(stem, stem).lower() in lex.STATES for stem in left for each in (one, other)
    ):
        return None
    affirmed, denying = (one, other) if other.negated else (other, one)
    # "drinks coffee without sugar" denies no coffee
    if denying.denied and denying.denied not in both.shared:
        return None
    piece = _told(affirmed, said) or affirmed.text
    first, second = (piece, f"not {piece}") if other.negated else (f"not {piece}", piece)
    return Difference(DifferenceKind.NEGATION, first, second, _scored(0.9, left))


# --- numbers and values ---


def _equal(one: Number, other: Number) -> bool:
    apart = abs(one.value - other.value)
    exact = one.family in ("", "date", "year", "clock", "ordinal", "percent")
    halved = [each.written.lower().replace(".", "").endswith(("am", "pm")) for each in (one, other)]
    # "6:00" and "18:00"
    halves = one.family == other.family == "clock" and apart == 720 and not all(halved)
    near = apart == 0 if exact else apart <= TOLERANCE * max(abs(one.value), abs(other.value))
    return one.family == other.family and (near or halves)


def _comparable(one: Number, other: Number) -> bool:
    if one.family != other.family:
        return False
    if one.family:
        return True
    short, long = sorted((one.written, other.written), key=len)
    if long.startswith(f"{short}."):  # version 4 may be 4.2
        return False
    return (
        bool(one.after and one.after == other.after)
        or bool(one.before and one.before == other.before)
        or not (one.after or other.after)
    )


def _number(both: _Both) -> Difference | None:
    """Compare numbers that count the same."""
    one, other = both.one, both.other
    if (
        one.negated != other.negated
        or (both.only and both.only_other)
        or len(both.only | both.only_other) > MOST_EXTRA
    ):
        return None
    if _is_event(one) or _is_event(other) or not both.shared:
        return None
    mine = [
        each for each in one.numbers if not any(_equal(each, theirs) for theirs in other.numbers)
    ]
    theirs = [each for each in other.numbers if not any(_equal(each, ours) for ours in one.numbers)]
    for number in mine:
        for number_other in theirs:
            label = number.before
            if _comparable(number, number_other) and label not in lex.ID_LABELS:
                return Difference(
                    DifferenceKind.NUMBER,
                    number.written,
                    number_other.written,
                    _scored(0.9, both.only | both.only_other),
                )
    return None


def _value(both: _Both) -> Difference | None:
    """Compare values of which there is one at a time."""
    one, other = both.one, both.other
    if one.negated or other.negated or not _agree(both) or _is_past(one) != _is_past(other):
        return None
    mine, theirs = _piece(both.only, one), _piece(both.only_other, other)
    if (
        not mine
        or not theirs
        or max(len(mine), len(theirs)) > LONGEST_VALUE
        or _is_verb(one, mine)
        or _is_verb(other, theirs)
    ):
        return None
    sure = _single(both, mine, theirs)
    short, long = sorted((_told(one, mine), _told(other, theirs)), key=len)
    if not sure or long.startswith(short):  # "in /var/log" may be in /var/log/nginx
        return None
    left = (both.only - mine) | (both.only_other - theirs)
    if len(left) > MOST_EXTRA:
        return None
    return Difference(
        DifferenceKind.VALUE, _told(one, mine), _told(other, theirs), _scored(sure, left)
    )


def _piece(only: frozenset[str], one: Statement) -> frozenset[str]:
    """Return the differing words that stand together, the last of them."""
    order = list(one.written)
    places = sorted(order.index(stem) for stem in only if stem in one.written)
    run = places[-1:]
    for place in reversed(places[:-1]):
        if place == run[0] - 1:
            run.insert(0, place)
    return frozenset(order[place] for place in run)


def _is_verb(one: Statement, piece: frozenset[str]) -> bool:
    return any(
        word == one.verb or word in lex.SINGLE or word in lex.MULTIPLE
        for word in _lowered(one, piece)
    )


def _single(both: _Both, mine: frozenset[str], theirs: frozenset[str]) -> float:
    """Return how sure it is that only one of the values can be true; 0 where both may be."""
    one, other = both.one, both.other
    if any(
        each in lex.MARKERS
        for each in {*_lowered(one, both.shared)} & {*_lowered(other, both.shared)}
    ):
        return 0.85
    if _is_event(one) or _is_event(other):
        return 0.0
    verb, verb_other = (
        {lex.SINGLE[word] for word in each.words if word in lex.SINGLE} for each in (one, other)
    )
    same_verb, copular = (
        bool(verb & verb_other),
        all(each.verb in lex.COPULAS | {"will"} for each in (one, other)),
    )
    telling = (mine <= one.named and theirs <= other.named) or (
        mine <= one.locations and theirs <= other.locations
    )
    if _is_timed(one, mine) and _is_timed(other, theirs):
        scheduled = "every" in one.words and "every" in other.words
        return 0.8 if scheduled or same_verb or copular else 0.0
    if same_verb:
        return 0.8 if telling else 0.7
    return _copular(both, telling=telling) if copular and not verb ^ verb_other else 0.0


def _copular(both: _Both, *, telling: bool) -> float:
    """Return how sure it is that something is only one of two.

    "the logo is red", not "Ann is kind".
    """
    one, other = both.one, both.other
    if any(stem not in both.shared for stem in one.subject ^ other.subject):
        return 0.0
    attribute = one.possessive or other.possessive or bool(one.words & lex.ATTRIBUTES & other.words)
    if attribute or (_is_owned(one) and _is_owned(other)):
        return 0.75
    return 0.7 if telling else 0.0


def _is_timed(one: Statement, piece: frozenset[str]) -> bool:
    return any(word in lex.TIMES for word in _lowered(one, piece))


def _is_past(one: Statement) -> bool:
    return one.verb in ("was", "were", "had", "war", "hatte")


def _is_event(one: Statement) -> bool:
    return one.event or one.verb in lex.EVENTS


def _is_owned(one: Statement) -> bool:
    return one.text.split()[0].lower() in ("our", "my", "unser", "unsere", "mein", "meine")


def _lowered(one: Statement, stems: frozenset[str]) -> list[str]:
    return [one.written.get(stem, stem).lower() for stem in stems]


def _scored(base: float, left: frozenset[str]) -> float:
    """Return a score: less for each word beside the differing piece."""
    return base * (1.0 - 0.12 * len(left))
