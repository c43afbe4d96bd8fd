"""Rules that find decisions, corrections, preferences, fixes and failures in what somebody says.

A rule reads one sentence. What a user says counts more than what an assistant says, whose plans and
guesses are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from clew.text.words import query_terms

SHORTEST, LONGEST = 20, 400  # characters of a sentence
LEAST_TERMS = 3  # content words of a sentence
MOST_SENTENCES = 200  # of an entry
USER, ASSISTANT = "user", "assistant"

_ENDS = re.compile(r"(?<=[.!?])\s+|\n+")
_BULLET = re.compile(r"^[-*•#\s]{1,8}|^\d{1,3}[.)]\s")
_LEAD = re.compile(
    r"^(?:(?:ok|okay|yes|yeah|well|hmm|please|and|so|also|but|by the way|btw|oh|right|great|thanks|perfect)\b[,.!: ]*){1,4}",
    re.IGNORECASE,
)
_DENIAL = re.compile(
    r"^(?:no|nope|wrong|actually|not quite|that's (?:wrong|not right|incorrect)|that is (?:wrong|incorrect))\b[,.!:; –—-]*",
    re.IGNORECASE,
)
_POINTING = re.compile(
    r"^(?:it|its|this|that|these|those|they|he|she|there|which)\b", re.IGNORECASE
)
_REQUEST = re.compile(
    r"^(?:can|could|would|will|should|do|does|did|is|are|what|why|how|where|when|who|which|may|shall)\b"
    r"|\b(?:can|could|would) you\b",
    re.IGNORECASE,
)
_GUESS = re.compile(
    r"\b(?:might|maybe|perhaps|probably|possibly|likely|could be|seems?|appears?|not sure|i think"
    r"|i guess|i suspect|let me|i'll|i will|if)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Rule:
    """How a kind of memory is said, by whom, and how it is stored."""

    name: str
    speakers: frozenset[str]
    pattern: re.Pattern[str]
    category: str
    trigger: str
    importance: float


def rule(name: str, *said: str, by: Iterable[str], stored: tuple[str, str, float]) -> Rule:
    """Return a rule that any of the patterns fits.

    `stored` is its category, trigger and importance.
    """
    category, trigger, importance = stored
    return Rule(
        name,
        frozenset(by),
        re.compile("|".join(said), re.IGNORECASE),
        category,
        trigger,
        importance,
    )


BOTH = (USER, ASSISTANT)
RULES = (
    rule(
        "remember",
        r"^(?:remember|note|keep in mind|for (?:future )?reference|fyi)\b",
        by=[USER],
        stored=("fact", "instruction", 0.8),
    ),
    rule(
        "decision",
        r"\b(?:let's|let us|we'll|we will|we should|we're|we are|i'll|i will|we've|we have|we|i) "
        r"(?:(?:have|now|just|finally) )?"
        r"(?:use|using|go with|going with|stick with|stick to|decided|settled on|chose|picked|opted for"
        r"|switch(?:ed|ing)? to|migrat(?:ed|ing) to|agreed|standardi[sz]ed on)\b",
        r"^(?:decision|decided|agreed)\b",
        by=[USER],
        stored=("decision", "decision", 0.7),
    ),
    rule(
        "decision",
        r"^(?:decision|we decided|decided|we agreed|agreed)\b",
        by=[ASSISTANT],
        stored=("decision", "decision", 0.6),
    ),
    rule(
        "preference",
        r"\b(?:i|we) (?:\w{1,30} )?(?:prefer|hate|dislike)\b",
        r"\b(?:i|we) (?:always|never|usually) (?:want|use|write|put|run|name|test|commit|deploy|keep|add|mock|need|like"
        r"|review|pin|squash|merge|tag|release|format|document|push|install|import|check|store|log|call)\b",
        r"\bi'd rather\b",
        r"^(?:always|never(?! mind)|from now on|in future|avoid)\b",
        r"^in this (?:repo|repository|project|codebase)\b",
        r"^(?:don't|do not) (?:ever|use|add|write|put|mock)\b",
        r"^use .{2,80} (?:instead of|rather than|not) ",
        by=[USER],
        stored=("preference", "instruction", 0.7),
    ),
    # A user who says what the problem is reports it; what it was is known.
    rule(
        "fix",
        r"\broot cause\b",
        r"\bthe (?:real |actual )?(?:problem|issue|bug|cause|culprit) (?:was|turned out)\b",
        r"\bthe (?:fix|solution|workaround) (?:was|is)\b",
        r"\b(?:fixed|solved|resolved) (?:it |this |that |the .{2,80} )?by\b",
        r"^(?:fixed|solved|resolved) .{5,200} (?:by|with)\b",
        by=BOTH,
        stored=("insight", "problem-solution", 0.6),
    ),
    rule(
        "fix",
        r"\bthe (?:real |actual )?(?:problem|issue|bug|cause|culprit) is\b",
        by=[ASSISTANT],
        stored=("insight", "problem-solution", 0.6),
    ),
    rule(
        "failure",
        r"\b(?:fails|failed|broke|breaks|crashes|crashed|hangs|hung"
        r"|(?:doesn't|does not|didn't|did not|won't) (?:work|build|start|compile)) "
        r"(?:\S{1,40} ){0,8}?(?:because|since|due to|unless|without)\b",
        by=BOTH,
        stored=("insight", "learning-failure", 0.6),
    ),
)
CORRECTION = rule("correction", by=[USER], stored=("feedback", "correction", 0.7))


def statements(text: str, *, role: str, answers: bool) -> Iterator[tuple[str, Rule]]:
    """Yield what a text of a user or an assistant states that is worth keeping.

    `answers` tells whether it follows an answer.

    >>> [(said, rule.name) for said, rule in statements("No, ports are odd numbers here. Thanks!", role="user", answers=True)]
    [('Ports are odd numbers here.', 'correction')]
    """
    sentences = [
        _BULLET.sub("", each).strip()
        for each in _ENDS.split(text, maxsplit=MOST_SENTENCES)[:MOST_SENTENCES]
    ]
    sentences = [each for each in sentences if 0 < len(each) <= LONGEST]
    denied = False
    for number, sentence in enumerate(sentences):
        said = _LEAD.sub("", sentence, count=1) if role == USER else sentence
        rest = _DENIAL.sub("", said, count=1)
        denial = role == USER and answers and rest != said
        rule = CORRECTION if (denial or denied) and _tells(rest) else rule_of(rest, role)
        denied = denial and not _tells(rest)  # "No. Timestamps are in milliseconds."
        if rule is None or not _tells(rest):
            continue
        stated = rest if rule is CORRECTION else said
        if _POINTING.match(stated):
            if not number:
                continue  # it points to what is not here
            stated = f"{sentences[number - 1]} {stated}"
        yield stated[:1].upper() + stated[1:], rule


def rule_of(sentence: str, role: str) -> Rule | None:
    """Return the first rule that a sentence fits.

    >>> rule_of("Let's use Alembic for migrations.", "user").name, rule_of("Let me use the Read tool.", "assistant")
    ('decision', None)
    """
    if role == ASSISTANT and _GUESS.search(sentence):
        return None
    return next(
        (rule for rule in RULES if role in rule.speakers and rule.pattern.search(sentence)), None
    )


def _tells(sentence: str) -> bool:
    """Tell whether a sentence states something that can stand alone.

    Not a question, a request or a few words.
    """
    if (
        not SHORTEST <= len(sentence) <= LONGEST
        or sentence.endswith("?")
        or _REQUEST.search(sentence)
    ):
        return False
    return len(set(query_terms(sentence))) >= LEAST_TERMS
