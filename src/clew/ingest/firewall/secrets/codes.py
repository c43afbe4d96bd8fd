"""Find the codes that people write down: PINs, door codes, combinations, recovery codes, seed phrases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from clew.ingest.firewall.secrets.assigned import ABOUT, UNIT_FOLLOWS, VERB
from clew.ingest.firewall.secrets.rule import Secret, compiled

_BOUND = rf"(?:{ABOUT}(?:[ ]{VERB}[ ]|\s{{0,2}}[:=]\s{{0,2}}))[\"'`“„«]?"
_LISTED = rf"(?:{_BOUND}|\s{{0,2}}\n)(?:\d{{1,2}}[.)] |[-*•] )?"
_DOORS = (
    r"(?:alarm|door|gate|entry|entrance|access|garage|safe|lock|locker|security|unlock|keypad|elevator|lift|building|voicemail|"
    r"verification|login|one-time|otp|2fa|mfa|sms|tür)"
)
_LOCKS = r"(?:safe|lock|locker|vault|padlock|tresor|schloss)"
_DIGITS = r"(?P<secret>\d{1,2}(?:[ -]\d{1,2}){2,4}|[A-Z]?\d{4} ?\d{4}|[A-Z]?\d{4,8}[#*]?)(?!\w|[.,:/-]\w)"
_ITEM = r"[A-Za-z0-9]{4,12}(?:-[A-Za-z0-9]{3,12}){0,8}+"
_NEXT_ITEM = r"[,;]?\s{1,3}(?:and |und |or )?(?:\d{1,2}[.)] |[-*•] )?"
_WORD = r"(?:\d{1,2}[.)] ?)?[A-Za-z]{3,8}"
_SEED = rf"(?i:s?{_LISTED})(?P<secret>{_WORD}(?:,?\s{_WORD}){{11,23}}+)"
SEED_LENGTHS = (12, 15, 18, 21, 24)  # words
# Frequent in sentences, and in none of the lists that such phrases are drawn from.
_SENTENCE_WORDS = frozenset("the and for was were are has had his her its from been which into your".split())
MIN_RECOVERY = 8  # characters
_BEFORE = 30  # characters before a word that are looked at


def _is_recovery(value: str) -> bool:
    return len(value) >= MIN_RECOVERY and any(map(str.isdigit, value))


def _is_seed(value: str) -> bool:
    words = [word for word in compiled(r"[^a-z]+").split(value.lower()) if word]
    return len(words) in SEED_LENGTHS and _SENTENCE_WORDS.isdisjoint(words)


@dataclass(frozen=True, slots=True)
class Code:
    """A word that names a code, what has to stand before it, and how its value is bound to it."""

    rule: str
    word: str
    before: str
    after: str
    holds: Callable[[str], bool] = bool

    def find(self, text: str, small: str) -> Iterator[Secret]:
        """Yield the codes that this word names; `small` is the text in lower case."""
        at = small.find(self.word)
        while at >= 0:
            end = at + len(self.word)
            if compiled(self.before).search(small[max(0, at - _BEFORE) : at]):
                found = compiled(self.after).match(text, end)
                if found and self.holds(found["secret"]) and not compiled(UNIT_FOLLOWS).match(text, found.end()):
                    yield Secret(self.rule, *found.span("secret"))
                    end = found.end()
            at = small.find(self.word, end)


_PIN = rf"(?i:(?:[ -]?(?:code|number|nummer|kode))?{_BOUND}){_DIGITS}"
_OWN = r"(?<![^\W_])(?<!gpio )(?<!bcm )(?<!io )\Z"
_SAFE = rf"(?i: (?:of|for|to) (?:the|my|our|his|her) (?:[\w-]{{1,20}} ){{0,2}}{_LOCKS}(?:[ ]{VERB}[ ]|: ?)){_DIGITS}"
_RECOVERY = rf"(?i:s?{_LISTED})(?P<secret>{_ITEM}(?:{_NEXT_ITEM}(?=[A-Za-z-]*\d){_ITEM}){{0,20}}+)"
_KEPT = r"(?:recovery|backup|rescue|emergency|scratch|2fa|mfa|wiederherstellungs)[ -]?(?:recovery[ -])?\Z"
_SEEDS = r"(?:seed|recovery|mnemonic|secret|wallet|backup)[ -]\Z"
CODES = (
    Code("pin", "pin", _OWN, _PIN),
    Code("pin", "puk", _OWN, _PIN),
    Code("recovery_code", "code", _KEPT, _RECOVERY, _is_recovery),
    Code("pin", "code", rf"{_DOORS}(?:[ -](?:pin|access|entry|lock))?[ -]?\Z", rf"(?i:s?{_BOUND}){_DIGITS}"),
    Code("pin", "combination", rf"{_LOCKS}[ -]\Z", rf"(?i:{_BOUND}){_DIGITS}"),
    Code("pin", "combination", "", _SAFE),
    Code("seed_phrase", "phrase", _SEEDS, _SEED, _is_seed),
    Code("seed_phrase", "word", _SEEDS, _SEED, _is_seed),
    Code("seed_phrase", "mnemonic", "", _SEED, _is_seed),
    Code("seed_phrase", "seed", r"wallet[ -]\Z", _SEED, _is_seed),
)
_BY_WORD = tuple((word, tuple(code for code in CODES if code.word == word)) for word in dict.fromkeys(code.word for code in CODES))


def codes(text: str, small: str) -> Iterator[Secret]:
    """Yield the codes in a text; `small` is the same text in lower case.

    >>> texts = ["my PIN is 4821", "GPIO pin: 4821", "Backup codes: 8c6f-d9c3, e092-94df", "The zip code is 90210"]
    >>> [text[found.start : found.end] for text in texts for found in codes(text, text.lower())]
    ['4821', '8c6f-d9c3, e092-94df']
    """
    for word, named in _BY_WORD:
        if word in small:
            for each in named:
                yield from each.find(text, small)
