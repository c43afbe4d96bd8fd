"""A rule knows one way to give orders, in several languages; it looks only where a sentence can begin to command."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache

# Where a command begins: with the text, a clause or a line, or after words that lead into one.
_LEADS = (
    r"please|pls|kindly|now|then|also|just|so|and|but|you must|you should|you will|you have to|must|assistant|ai|bitte|jetzt|dann|und|"
    r"nun|du musst|s'il te plaît|maintenant|et|puis|tu dois|por favor|ahora|y|debes|tienes que|per favore|ora|e|agora|пожалуйста|и|теперь"
)
_BEGINS = rf"(?:^|(?<=[.!?:;,\n)>*\]\"“„«—–-])|(?<=[\s(]')|\b(?:{_LEADS})\b)[\s\"'“„«*#>(\[-]{{0,6}}+"
# Who says so: a sentence that has come as far as this speaks of commands and gives none.
_REPORTS = (
    r"\b(?:test(?:s|ed|ing)?|tries|tried|try|attempts?|attempted|injections?|attack(?:s|ed|er|ers)?|jailbreaks?|red team|such as|e\.g\.|"
    r"for example|sa(?:id|ys)|wr(?:ote|ites?|itten)|ask(?:s|ed)|phrases?|regex|pattern|filter(?:s|ed)?|detect(?:s|ed|or)?|"
    r"block(?:s|ed)?|refus(?:es|ed|al)|label(?:s|led)?|classif\w+|quot(?:es|ed)|prompts? like|texts? (?:like|that)|"
    r"told (?:me|us|him|her|them)|instead of|whether|example|versuch\w*|schrieb|sagte?|getestet|angriff\w*|beispiel|essayé|tenté|écrit|"
    r"dit|exemple|attaque|intent\w+|escribió|dijo|ejemplo|ataque)\b"
)
_SENTENCES = r"[.!?\n。!?]"
MAX_PREFIX = 300  # characters before a command in which somebody may be named who said it


_PREFIX = 5  # characters of a word by which it is looked for among the words that rules need
_WORD_BREAKS = bytes(code if chr(code).isalnum() or chr(code) == "_" else ord(" ") for code in range(256))


def word_starts(text: str) -> frozenset[str]:
    """Return the first characters of every word of a text in lower case.

    >>> sorted(word_starts("please ignore `all` of it"))
    ['all', 'ignor', 'it', 'of', 'pleas']
    """
    found = text.encode().translate(_WORD_BREAKS).decode().split() if text.isascii() else compiled(r"\w+").findall(text)
    return frozenset([word[:_PREFIX] for word in found])


@dataclass(frozen=True, slots=True)
class Rule:
    """A flag, its pattern, and groups of literals: without one of each group it is not looked for, nor even compiled."""

    flag: str
    needs: tuple[tuple[str, ...], ...]
    pattern: str = field(repr=False)
    starts: tuple[frozenset[str], ...] = ()
    """Groups of first characters of words, as `word_starts` returns them: compared at once, where literals are looked for in turn."""
    by_line: bool = False
    """Whether all that it finds lies in one line: then only lines with the words that it needs have to be searched."""

    def finds(self, text: str, starts: frozenset[str] | None = None) -> bool:
        """Tell whether a text in small letters gives such an order; `starts` are its word starts, if they are known."""
        if self.starts:
            starts = word_starts(text) if starts is None else starts
            for group in self.starts:
                if group.isdisjoint(starts):
                    return False
        for literals in self.needs:  # plain loops: most texts end here, and an `any` over each group takes longer
            for literal in literals:
                if literal in text:
                    break
            else:
                return False
        return any(not _reported(text, found.start()) for found in compiled(self.pattern).finditer(text))

    def of_ascii(self) -> Rule | None:
        """Return the rule for texts without letters beyond ASCII; None where it finds nothing in these.

        >>> marker("greet", ["hello|привет"], "hello|привет").of_ascii().needs, marker("greet", ["привет"], "привет").of_ascii()
        ((('hello',),), None)
        """
        needs = tuple(tuple(filter(str.isascii, group)) for group in self.needs)
        starts = tuple(frozenset(filter(str.isascii, group)) for group in self.starts)
        return replace(self, needs=needs, starts=starts) if all(needs) and all(starts) else None


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern ready to be used: all of them together take a tenth of a second, which a start should not pay."""
    return re.compile(pattern, re.MULTILINE)


def command(flag: str, needs: Sequence[str], *patterns: str) -> Rule:
    """Return the rule for orders that stand where a command begins; each of `needs` are literals, parted by |.

    No pattern may reach beyond a line. A group that begins with ^ holds words, or beginnings of at least five letters: an order has
    a word that begins so.

    >>> rule = command("greet", ["^hello|hi", "say"], r"say (?:hello|hi)")
    >>> rule.finds("it rains. say hello"), rule.finds("they say hello"), rule.finds('the test wrote: "say hello"')
    (True, False, False)
    """
    starts = tuple(word_starts(" ".join(_first_words(each))) for each in needs if each.startswith("^"))
    literals = [each for each in needs if not each.startswith("^")]
    return Rule(flag, _groups(literals), f"{_BEGINS}(?:{_joined(patterns)})", starts, by_line=True)


def _first_words(group: str) -> list[str]:
    return [compiled(r"\w+").findall(each)[0] for each in group.removeprefix("^").split("|")]


def marker(flag: str, needs: Sequence[str], *patterns: str) -> Rule:
    """Return the rule for what gives orders wherever it stands: the marks between which a model's own turns lie."""
    return Rule(flag, _groups(needs), _joined(patterns))


def _groups(needs: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(each.split("|")) for each in needs)


def words(most: int) -> str:
    """Return the pattern for a few words between two others.

    >>> bool(re.fullmatch(f"one{words(2)} four", "one, two three four")), bool(re.fullmatch(f"one{words(1)} four", "one two three four"))
    (True, False)
    """
    return rf"(?>[^\w\n.!?]{{1,3}}[\w'’-]{{1,20}}+){{0,{most}}}?"  # atomic: a row of hyphens is both signs and word


def _joined(patterns: Sequence[str]) -> str:
    return "|".join(f"(?:{each})" for each in patterns)


def _reported(text: str, at: int) -> bool:
    """Tell whether somebody is said to give the order that begins here."""
    before = text[max(0, at - MAX_PREFIX) : at]
    sentence = compiled(_SENTENCES).split(before)[-1]
    return compiled(_REPORTS).search(sentence) is not None
