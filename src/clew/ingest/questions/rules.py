"""Questions by rule: what an English sentence about a problem, a remedy or a warning answers. Nothing where the rules are unsure.

Each rule is a pattern and the question that is made of its parts. Sentences are tried in their order, rules in theirs; the
first that fits makes the sentence's one question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from clew.ingest.questions.phrasing import clause, lowered, points, statement, why
from clew.ingest.questions.verbs import BASE_OF_THIRD, NEGATED, REMEDIES
from clew.ports import Questions

LONGEST = 200  # characters of a question; what is longer is no question that anybody asks
READ_CHARACTERS = 4000
READ_SENTENCES = 20
SENTENCE_CHARACTERS = 400
FEWEST_WORDS = 3

Made: TypeAlias = Callable[[re.Match[str]], str | None]
"""Returns the question of a sentence that a pattern fits, or None where that points elsewhere."""

_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")
_LABEL = re.compile(
    r"^(?:[-*•]\s*)?(?:(?:problem|issue|symptom|solution|fix|lesson|learned|learnt|note|tip|warning|failure|cause|til)\s*:\s*"
    r"|(?:(?:we|i) )?(?:learned|learnt|found|noticed|found out|noted) that |(?:remember|note|it turned out|turns out) that )",
    re.IGNORECASE,
)
# "Since" may tell a time: it tells a reason where a verb follows.
_REASON = r",? (?:because|due to|as a result of|since(?= .{0,80}?\b(?:was|were|is|are|has|had|did|does|have|needs?|lacked)\b)) ?"
# What goes wrong, in words: only of such a sentence is the reason asked for where it names none.
_TROUBLE = NEGATED.keys() | frozenset(
    """
    not never fail failed fails crash crashed crashes hang hung hangs break broke breaks block blocked blocks reject rejected rejects
    refused drop dropped drops lost loses leak leaked leaks timed slow slower stuck wrong missing twice error errors exception killed
    kills stopped stalled flaky empty broken corrupt corrupted stale late lag lagged denied spam evicted expired vanished disappeared
    raised raises overflowed deadlocked nothing longer too double doubled duplicated froze freezes ignored skipped forgot
    """.split()
)


class Rule(NamedTuple):
    """A way to say something, and the question that it answers."""

    pattern: re.Pattern[str]
    question: Made


def _rule(pattern: str, question: Made) -> Rule:
    return Rule(re.compile(f"^{pattern}", re.IGNORECASE), question)


def _put_into(template: str) -> Made:
    """Return what puts the first clause of `what` into a question; the other groups stand in it by their names."""

    def made(found: re.Match[str]) -> str | None:
        said = clause(found["what"])
        others = {name: text.lower() for name, text in found.groupdict().items() if name != "what"}
        return None if points(said) else template.format(what=lowered(said), **others)

    return made


def _how(found: re.Match[str]) -> str | None:
    said, verb = clause(found["what"]), found["verb"].lower()
    return None if points(said) else f"How do I {REMEDIES.get(verb, verb)} {lowered(said)}?"


def _condition(found: re.Match[str]) -> str | None:
    subject = found["what"].split(" ", 1)[0]
    return None if points(subject) else f"What do I do {found['word'].lower()} {lowered(found['what'])}?"


def _need(found: re.Match[str]) -> str | None:
    said = found["what"].strip()
    return None if points(said) else f"What does {lowered(said)} {BASE_OF_THIRD[found['verb'].lower()]}?"


def _reason(found: re.Match[str]) -> str | None:
    return why(statement(found["what"]))


def _trouble(found: re.Match[str]) -> str | None:
    """Ask for the reason of what went wrong; the memory may tell it in its next sentence."""
    said = statement(found["what"])
    return why(said) if any(word.strip(",.").lower() in _TROUBLE for word in said.split()) else None


_REMEDY = "|".join(REMEDIES)
_NOUN = "(?:root )?cause|reason|fix|solution|workaround|remedy|trick"
RULES = (
    _rule(r"(?:in order )?to (?P<verb>[a-z][a-z-]*) (?P<what>[^,]{3,150}), ", _how),
    _rule(r"(?P<word>if|when|whenever) (?P<what>[^,]{3,150}), ", _condition),
    _rule(r"(?:never|do not|don't|you (?:should|must) (?:not|never)) (?P<what>.+)", _put_into("Should I {what}?")),
    _rule(r"always (?P<what>.+)", _put_into("Should I always {what}?")),
    _rule(r"avoid (?P<what>.+)", _put_into("Why should I avoid {what}?")),
    _rule(r"use .{1,100}? instead of (?P<what>.+)", _put_into("What should I use instead of {what}?")),
    _rule(r"use .{1,100}? to (?P<what>[a-z][a-z-]* .+)", _put_into("How do I {what}?")),
    _rule(r"use .{1,100}? for (?P<what>.+)", _put_into("What should I use for {what}?")),
    _rule(
        rf"(?:the |a )?(?P<noun>{_NOUN}) (?P<link>of|for|to) (?P<what>.{{3,120}}?) (?P<be>is|was) ",
        _put_into("What {be} the {noun} {link} {what}?"),
    ),
    _rule(r"(?:(?:we|i) )?(?P<verb>fixed|solved|resolved|cured|avoided|prevented) (?P<what>.{3,150}?) (?:by|with) ", _how),
    _rule(rf"(?P<what>.{{3,150}}?) (?:was|were|is|are) (?P<verb>{_REMEDY}) by ", _how),
    _rule(r"(?P<what>.{2,120}?) (?P<be>is|are|was|were) (?P<named>called|named|known as) ", _put_into("What {be} {what} {named}?")),
    _rule(rf"(?P<what>.{{3,200}}?){_REASON}", _reason),
    _rule(rf".{{3,150}}? (?P<verb>{_REMEDY}) (?P<what>.{{3,150}})", _how),
    _rule(r".{3,120}? (?P<verb>caused|causes) (?P<what>.+)", _put_into("What {verb} {what}?")),
    _rule(r"(?P<what>.{3,120}?) (?P<verb>needs|requires) (?!to )", _need),
    _rule(r"(?P<what>.{3,250})", _trouble),
)


class RuleQuestioner:
    """Makes questions by the rules; the same text always gives the same questions."""

    def __init__(self, *, most: int) -> None:
        self._most = most

    def questions(self, texts: Sequence[str]) -> Sequence[Questions]:
        """Return the questions of each text, in order."""
        return [Questions(answered(text, most=self._most)) for text in texts]


def answered(text: str, *, most: int = 2) -> tuple[str, ...]:
    """Return at most so many questions that a text answers, in the order of its sentences.

    >>> answered("The build failed because the cache was stale. To clear the cache, run make clean.")
    ('Why did the build fail?', 'How do I clear the cache?')
    >>> answered("Never deploy on a Friday."), answered("Lovely weather today")
    (('Should I deploy on a Friday?',), ())
    """
    made = (question for sentence in _sentences(text) if (question := _question(sentence)))
    return tuple(dict.fromkeys(made))[:most]


def _sentences(text: str) -> Iterator[str]:
    for sentence in _SENTENCES.split(text[:READ_CHARACTERS], maxsplit=READ_SENTENCES)[:READ_SENTENCES]:
        said = _LABEL.sub("", " ".join(sentence.split()), count=1)
        if said and len(said) <= SENTENCE_CHARACTERS and not said.endswith("?"):
            yield said


def _question(sentence: str) -> str | None:
    for rule in RULES:
        if (found := rule.pattern.match(sentence)) and (question := rule.question(found)):
            fits = len(question) <= LONGEST and len(question.split()) >= FEWEST_WORDS
            return question if fits else None
    return None
