"""Years and what they are cut into or make up: in 2020, the 90s, the 19th century, Q3 2022, H1 2023."""

from __future__ import annotations

import re

from clew.when.periods import Yearly, months, recurring, years
from clew.when.rule import DIGITS, TIME_LEADS, after, before, rule
from clew.when.values import Clock, Period
from clew.when.vocabulary import CENTURIES, DECADES, ORDINALS, SUFFIX, YEAR, YEARLY, any_of

IN_YEAR = rf"(?:,? (?:of )?(?:{YEARLY}))"
"""A year behind something that comes every year."""

_YEAR_LEADS = TIME_LEADS | {"of", "for", "from", "by", "about", "circa", "over", "the"}
_DETERMINERS = frozenset("the my our his her their your this that its".split())
_COUNTED = re.compile(
    r"(?u:\s){0,3}(?:%|(?:words?|rows?|requests?|users?|characters?|tokens?|people|dollars?|euros?|pounds?|items?|steps?|files?|lines?|calories"
    r"|kcal|km|miles?|met(?:er|re)s?|ms|seconds?|minutes?|hours?|days?|weeks?|years?|bytes?|[kmg]b|rpm|mah|times|points?|votes?|psi|watts?|hz"
    r"|pieces|pages?|records?|nodes?|documents?|messages?|entries|units?|degrees|iterations?|epochs?|connections?|attempts?)\b)",
    re.IGNORECASE,
)
_NUMBERED = frozenset(
    "port rfc room version error code issue ticket bug number no id page model line windows server office studio route channel "
    "building street apt pr runner step item row chapter iso".split()
)


def year_of(match: re.Match[str], clock: Clock) -> int | None:
    """Return the year that a match names by number or from now, if it does."""
    if match["year"]:
        return int(match["year"])
    away = {"last": -1, "the previous": -1, "this": 0, "next": 1}
    return clock.now.year + away[" ".join(match["of"].lower().split())] if match["of"] else None


def in_year(yearly: Yearly, match: re.Match[str], clock: Clock) -> Period:
    """Return what comes every year in the year named, or the one that a bare mention means."""
    year = year_of(match, clock)
    return recurring(yearly, clock) if year is None else yearly(year)


def _year(match: re.Match[str], clock: Clock) -> Period:
    del clock
    return years(int(match["year"]))


def _plainly_a_year(match: re.Match[str], lead: str) -> bool:
    """Doubt figures that count or number something: a year stands after a word of time, "the", or at an end."""
    if _COUNTED.match(match.string, match.end()):
        return False
    if lead in _YEAR_LEADS or match["word"]:
        return True
    word = before(match)
    return word in _DETERMINERS or (bool(word) and not after(match) and word not in _NUMBERED)


def _decade(match: re.Match[str], clock: Clock) -> Period:
    if match["year"]:
        return years(int(match["year"]), count=10)
    tens = int(match["tens"]) if match["tens"] else DECADES[match["word"].lower()]
    year = clock.now.year // 100 * 100 + tens
    return years(year if year <= clock.now.year else year - 100, count=10)


def _plainly_a_decade(match: re.Match[str], lead: str) -> bool:
    """Doubt "90s": without its century it follows "the", "early", "late" or an apostrophe."""
    signed = match.string[max(0, match.start() - 1) : match.start()] in ("'", "’")
    return bool(match["year"]) or signed or lead in ("early", "mid", "late") or match.group()[:1] in "tT"


def _century(match: re.Match[str], clock: Clock) -> Period:
    del clock
    number = int(match["number"]) if match["number"] else CENTURIES[match["word"].lower()]
    return years(number * 100 - 99, count=100)


def _quarter(match: re.Match[str], clock: Clock) -> Period:
    number = ORDINALS.get(match["quarter"].lower()) or int(match["quarter"])
    return in_year(lambda year: months(year, 3 * number - 2, count=3), match, clock)


def _half(match: re.Match[str], clock: Clock) -> Period:
    number = int(match["half"])
    return in_year(lambda year: months(year, 6 * number - 5, count=6), match, clock)


def _written_large(match: re.Match[str], lead: str) -> bool:
    """Doubt "q3" and "h1" in small letters without a year: they are keys and headings."""
    del lead
    return bool(match["year"] or match["of"]) or match.group()[0].isupper()


RULES = (
    rule("year", (DIGITS, "the", "year"), rf"(?P<word>(?:the )?year )?(?P<year>{YEAR})", _year, accepts=_plainly_a_year),
    rule(
        "decade",
        (DIGITS, "the", *DECADES),
        rf"(?:the )?(?:(?P<year>(?:1[5-9]|20)\d0)['’]?s|['’]?(?P<tens>\d0)['’]?s|(?P<word>{any_of(DECADES)}))",
        _decade,
        accepts=_plainly_a_decade,
    ),
    rule(
        "century",
        (DIGITS, "the", *CENTURIES),
        rf"(?:the )?(?:(?P<number>1[0-9]|2[01]){SUFFIX}|(?P<word>{any_of(CENTURIES)})) century",
        _century,
    ),
    rule("quarter", "q", rf"Q(?P<quarter>[1-4])(?:,? ?(?:of )?(?:{YEARLY}))?", _quarter, accepts=_written_large, anchored=False),
    rule("quarter", DIGITS, rf"(?P<year>{YEAR})[ -]?(?P<of>)Q(?P<quarter>[1-4])", _quarter),
    rule("quarter", ("the", *ORDINALS, DIGITS), rf"(?:the )?(?P<quarter>{any_of(ORDINALS)}) quarter{IN_YEAR}", _quarter),
    rule("half", "h", rf"H(?P<half>[12])(?:,? ?(?:of )?(?:{YEARLY}))", _half, accepts=_written_large, anchored=False),
)
