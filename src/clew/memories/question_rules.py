"""Make questions by rule from English sentences about a problem, a remedy or a warning.

Each rule is a pattern and the question that is made of its parts. Sentences are tried in their
order, rules in theirs; the first that fits makes the sentence's one question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from clew.ports import Questions
from clew.text.names.lexicon import is_common
from clew.text.words import fold

_IRREGULAR = """
became:become began:begin broke:break built:build came:come caught:catch chose:choose cost:cost cut:cut drew:draw fell:fall
felt:feel forgot:forget found:find froze:freeze gave:give got:get grew:grow held:hold hit:hit hung:hang kept:keep knew:know led:lead
left:leave let:let lost:lose made:make meant:mean met:meet ran:run read:read rose:rise said:say saw:see sent:send set:set showed:show
shrank:shrink shut:shut slept:sleep spent:spend split:split stood:stand stuck:stick threw:throw told:tell took:take went:go woke:wake
won:win wrote:write
"""
_REGULAR = """
accept add allow answer appear arrive ask assume behave belong block bounce call cause change check choke claim clash close collide
compare compile complain confuse connect consume contain corrupt count crash create deadlock decide delay delete deliver demand depend
deploy deny detect differ disable disappear disconnect display double drain drift drop duplicate emit enable end enter exceed exhaust exit
expect expire explode exceed fail fill finish fire flap flood force format freeze happen ignore import include increase install interfere
introduce invalidate jump kill lack land lag last leak load lock log loop match merge migrate mismatch move need occur open overflow
overlap override overwrite panic parse pass pause pick pin point poll print process produce pull push queue raise reach react receive
recover reduce refuse reject release reload remain remove render repeat replace report request require reset resolve respond restart
result retry return reuse revert roll rotate round save scale seem serve share shift show skip slow spike spin stall start starve stay stop
strip succeed suffer swap switch sync terminate test time timeout tolerate trigger truncate trust try turn update upgrade use validate
vanish wait work wrap yield
"""
_DOUBLED = frozenset("drop flap lag log pin skip spin stop strip swap wrap".split())


def _past(base: str) -> str:
    """Return the regular past.

    >>> [_past(base) for base in ("fail", "stop", "retry", "cause", "delay")]
    ['failed', 'stopped', 'retried', 'caused', 'delayed']
    """
    if base in _DOUBLED:
        return f"{base}{base[-1]}ed"
    if base.endswith("y") and base[-2] not in "aeiou":
        return f"{base[:-1]}ied"
    return f"{base}d" if base.endswith("e") else f"{base}ed"


def _third(base: str) -> str:
    """Return the form of the third person.

    >>> [_third(base) for base in ("fail", "crash", "retry", "go")]
    ['fails', 'crashes', 'retries', 'goes']
    """
    if base.endswith("y") and base[-2] not in "aeiou":
        return f"{base[:-1]}ies"
    return f"{base}es" if base.endswith(("s", "sh", "ch", "x", "o")) else f"{base}s"


_PAIRS = [pair.split(":") for pair in _IRREGULAR.split()] + [
    [_past(base), base] for base in _REGULAR.split()
]
# "cut" and "read" may stand for either time
BASE_OF_PAST = {past: base for past, base in _PAIRS if past not in (base, "read")}
BASE_OF_THIRD = {_third(base): base for _, base in _PAIRS}
AUXILIARIES = frozenset(
    "is are was were has have had can could did does do will would must should cannot".split()
)
NEGATED = {
    "isn't": "is", "aren't": "are", "wasn't": "was", "weren't": "were", "hasn't": "has", "haven't": "have", "hadn't": "had",
    "can't": "can", "couldn't": "could", "didn't": "did", "doesn't": "does", "don't": "do", "won't": "will", "wouldn't": "would",
    "mustn't": "must", "shouldn't": "should",
}  # fmt: skip
REMEDIES = {
    "fixed": "fix", "fixes": "fix", "solved": "solve", "solves": "solve", "resolved": "resolve", "resolves": "resolve", "cured": "cure",
    "cures": "cure", "prevented": "prevent", "prevents": "prevent", "avoided": "avoid", "avoids": "avoid",
}  # fmt: skip


SUBJECT_WORDS = 10  # a longer subject holds a clause of its own
_END = re.compile(r"[;:] | [-–—] |, (?:so|which|but|and then|then|and) | until |, ?(?=\w+ing )")
_WHEN = re.compile(r",? (?:when|after|until|unless|once) ")
_POINTERS = frozenset(
    "it this that these those they he she there which what who one some both each all "
    "everything nothing".split()
)
_SURE = AUXILIARIES | NEGATED.keys() | BASE_OF_PAST.keys()


def lower_first(text: str) -> str:
    """Return a phrase as it stands within a sentence; what may be a name keeps its capital.

    >>> lower_first("The build on Jenkins"), lower_first("Jenkins")
    ('the build on Jenkins', 'Jenkins')
    """
    first, space, rest = text.partition(" ")
    usual = first.istitle() and first != "I" and is_common(fold(first))
    return f"{first.lower()}{space}{rest}" if usual else text


def first_clause(text: str) -> str:
    """Return the first clause of a sentence.

    >>> first_clause("the stuck queue; nobody knows why.")
    'the stuck queue'
    """
    return _END.split(text.strip(), maxsplit=1)[0].strip(" ,.;:!").removesuffix(" and").strip()


def main_statement(text: str) -> str:
    """Return the first clause of a sentence without its circumstances.

    >>> main_statement("Customers were charged twice when the call timed out.")
    'Customers were charged twice'
    """
    return _WHEN.split(first_clause(text), maxsplit=1)[0]


def is_pointer(text: str) -> bool:
    """Tell whether a phrase only points to something said before: nobody could ask by it.

    >>> is_pointer("it"), is_pointer("This"), is_pointer("this build")
    (True, True, False)
    """
    return not text or text.lower() in _POINTERS


def why_question(said: str) -> str | None:
    """Return the question for the reason of what a clause says.

    >>> why_question("The nightly build failed on Windows")
    'Why did the nightly build fail on Windows?'
    >>> why_question("Containers could not resolve hosts"), why_question("the cache doesn't expire")
    ('Why could containers not resolve hosts?', 'Why does the cache not expire?')
    >>> why_question("Tests passed alone and failed together"), why_question("It failed again"), why_question("A green field")
    ('Why did tests pass alone and fail together?', None, None)
    """
    words = said.split()
    at = _verb_at(words)
    if at is None or is_pointer(" ".join(words[:at])) or "it" in words[at:]:
        return None
    verb, rest = _invert(words[at].lower(), words[at + 1 :])
    return f"Why {verb} {lower_first(' '.join(words[:at]))} {' '.join(rest)}?" if rest else None


def _verb_at(words: Sequence[str]) -> int | None:
    """Return where the verb of a clause stands.

    A word in -s may be a plural, so it is the verb only where there is no other.
    """
    said = [word.lower().rstrip(",") for word in words[: SUBJECT_WORDS + 1]]
    places = (
        at
        for verbs in (_SURE, BASE_OF_THIRD.keys())
        for at, word in enumerate(said)
        if at and word in verbs
    )
    return next(places, None)


def _invert(verb: str, rest: Sequence[str]) -> tuple[str, list[str]]:
    """Return the verb that a question begins with, and what is left for behind the subject."""
    if verb in NEGATED or verb == "cannot":
        return NEGATED.get(verb, "can"), ["not", *rest]
    if verb in BASE_OF_PAST:
        return "did", _to_base_forms([verb, *rest], BASE_OF_PAST)
    if verb in BASE_OF_THIRD:
        return "does", _to_base_forms([verb, *rest], BASE_OF_THIRD)
    return verb, list(rest)


def _to_base_forms(words: Sequence[str], bases: Mapping[str, str]) -> list[str]:
    """Return the words with the first verb, and one joined by "and", in base form."""
    return [
        bases.get(word, word) if not at or words[at - 1] in ("and", "never") else word
        for at, word in enumerate(words)
    ]


MAX_QUESTION = 200  # characters of a question; what is longer is no question that anybody asks
MAX_CHARACTERS = 4000
MAX_SENTENCES = 20
SENTENCE_CHARACTERS = 400
MIN_WORDS = 3

QuestionMaker: TypeAlias = Callable[[re.Match[str]], str | None]
"""Returns the question of a sentence that a pattern fits, or None where that points elsewhere."""

_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")
_LABEL = re.compile(
    r"^(?:[-*•]\s*)?(?:(?:problem|issue|symptom|solution|fix|lesson|learned|learnt|note|tip|"
    r"warning|failure|cause|til)\s*:\s*"
    r"|(?:(?:we|i) )?(?:learned|learnt|found|noticed|found out|noted) that |(?:remember|note|"
    r"it turned out|turns out) that )",
    re.IGNORECASE,
)
# "Since" may tell a time: it tells a reason where a verb follows.
_REASON = (
    r",? (?:because|due to|as a result of|since(?= .{0,80}?\b(?:was|were|is|are|has|had|did|does|"
    r"have|needs?|lacked)\b)) ?"
)
# What goes wrong, in words: only of such a sentence is the reason asked for where it names none.
_TROUBLE = NEGATED.keys() | frozenset(
    """
    not never fail failed fails crash crashed crashes hang hung hangs break broke breaks block
    blocked blocks reject rejected rejects refused drop dropped drops lost loses leak leaked leaks
    timed slow slower stuck wrong missing twice error errors exception killed kills stopped stalled
    flaky empty broken corrupt corrupted stale late lag lagged denied spam evicted expired vanished
    disappeared raised raises overflowed deadlocked nothing longer too double doubled duplicated
    froze freezes ignored skipped forgot
    """.split()
)


class Rule(NamedTuple):
    """A way to say something, and the question that it answers."""

    pattern: re.Pattern[str]
    question: QuestionMaker


def _rule(pattern: str, question: QuestionMaker) -> Rule:
    return Rule(re.compile(f"^{pattern}", re.IGNORECASE), question)


def _template(template: str) -> QuestionMaker:
    """Return what puts the first clause of `what` into a question.

    The other groups stand in it by their names.
    """

    def made(found: re.Match[str]) -> str | None:
        said = first_clause(found["what"])
        others = {name: text.lower() for name, text in found.groupdict().items() if name != "what"}
        return None if is_pointer(said) else template.format(what=lower_first(said), **others)

    return made


def _how(found: re.Match[str]) -> str | None:
    said, verb = first_clause(found["what"]), found["verb"].lower()
    return None if is_pointer(said) else f"How do I {REMEDIES.get(verb, verb)} {lower_first(said)}?"


def _condition(found: re.Match[str]) -> str | None:
    subject = found["what"].split(" ", 1)[0]
    return (
        None
        if is_pointer(subject)
        else f"What do I do {found['word'].lower()} {lower_first(found['what'])}?"
    )


def _need(found: re.Match[str]) -> str | None:
    said = found["what"].strip()
    return (
        None
        if is_pointer(said)
        else f"What does {lower_first(said)} {BASE_OF_THIRD[found['verb'].lower()]}?"
    )


def _reason(found: re.Match[str]) -> str | None:
    return why_question(main_statement(found["what"]))


def _trouble(found: re.Match[str]) -> str | None:
    """Ask for the reason of what went wrong; the memory may tell it in its next sentence."""
    said = main_statement(found["what"])
    return (
        why_question(said)
        if any(word.strip(",.").lower() in _TROUBLE for word in said.split())
        else None
    )


_REMEDY = "|".join(REMEDIES)
_NOUN = "(?:root )?cause|reason|fix|solution|workaround|remedy|trick"
RULES = (
    _rule(r"(?:in order )?to (?P<verb>[a-z][a-z-]*) (?P<what>[^,]{3,150}), ", _how),
    _rule(r"(?P<word>if|when|whenever) (?P<what>[^,]{3,150}), ", _condition),
    _rule(
        r"(?:never|do not|don't|you (?:should|must) (?:not|never)) (?P<what>.+)",
        _template("Should I {what}?"),
    ),
    _rule(r"always (?P<what>.+)", _template("Should I always {what}?")),
    _rule(r"avoid (?P<what>.+)", _template("Why should I avoid {what}?")),
    _rule(
        r"use .{1,100}? instead of (?P<what>.+)", _template("What should I use instead of {what}?")
    ),
    _rule(r"use .{1,100}? to (?P<what>[a-z][a-z-]* .+)", _template("How do I {what}?")),
    _rule(r"use .{1,100}? for (?P<what>.+)", _template("What should I use for {what}?")),
    _rule(
        rf"(?:the |a )?(?P<noun>{_NOUN}) (?P<link>of|for|to) (?P<what>.{{3,120}}?) (?P<be>is|was) ",
        _template("What {be} the {noun} {link} {what}?"),
    ),
    _rule(
        r"(?:(?:we|i) )?(?P<verb>fixed|solved|resolved|cured|avoided|prevented) "
        r"(?P<what>.{3,150}?) (?:by|with) ",
        _how,
    ),
    _rule(rf"(?P<what>.{{3,150}}?) (?:was|were|is|are) (?P<verb>{_REMEDY}) by ", _how),
    _rule(
        r"(?P<what>.{2,120}?) (?P<be>is|are|was|were) (?P<named>called|named|known as) ",
        _template("What {be} {what} {named}?"),
    ),
    _rule(rf"(?P<what>.{{3,200}}?){_REASON}", _reason),
    _rule(rf".{{3,150}}? (?P<verb>{_REMEDY}) (?P<what>.{{3,150}})", _how),
    _rule(r".{3,120}? (?P<verb>caused|causes) (?P<what>.+)", _template("What {verb} {what}?")),
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
    for sentence in _SENTENCES.split(text[:MAX_CHARACTERS], maxsplit=MAX_SENTENCES)[:MAX_SENTENCES]:
        said = _LABEL.sub("", " ".join(sentence.split()), count=1)
        if said and len(said) <= SENTENCE_CHARACTERS and not said.endswith("?"):
            yield said


def _question(sentence: str) -> str | None:
    for rule in RULES:
        if (found := rule.pattern.match(sentence)) and (question := rule.question(found)):
            fits = len(question) <= MAX_QUESTION and len(question.split()) >= MIN_WORDS
            return question if fits else None
    return None
