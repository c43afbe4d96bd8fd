"""What stands around a recalled text when it comes back: "From memory: …", "As you told me earlier, …", Clew's own signs and numbers."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from clew.words import folded, words

_LISTS: Mapping[str, str] = tomllib.loads(files("clew.ingest.firewall.echo").joinpath("words.toml").read_text(encoding="utf-8"))
NEGATIONS = frozenset(map(folded, _LISTS["negations"].split()))
# Each of them excludes a word of its line, or may: whoever adds one to what was said says something new.
EXCLUDING = frozenset(f"{_LISTS['series']} {_LISTS['opposites']}".split()) - {"|"}

# Words that only say that something was said, found or remembered. None of them changes what was: "off", "only", "again" are not here.
_WRAPPING = """
a about according already also an and answer answered are as asked assistant based be been below brings brought by clew context
conversation conversations earlier entries entry fact facts following for found from gave given had has have here hit hits i id in
info information into is it items its just know known knowledge listed me memories memory mention mentioned mentions message my
note noted notes of our past per please previous previously question recall recalled recalls recap record recorded records
remember remembered remembering reminder result results retrieved return returned returns said saved say says score search see
session so source stated stored summary tell that the there these this to told us user users was we were what which with wrote yes
you your
aus bereits das dass dem den der die du erinnere erinnerung erinnerungen erwähnt erwähnte folgendes früher gedächtnis gefunden
gemerkt gesagt gespeichert gespeicherte habe hast hat hatte hattest ich ist laut mein meine meinem meinen meiner mich mir notiz
notizen nutzer sagtest und wie wir wissen wurde zuvor
appris avais avez ce comme d'après dans de des dit déjà enregistré est et je la le les m'as m'avez ma mes mémoire mon précédemment
que retrouvé selon souvenir souviens tu tôt utilisateur voici vous
como de del dijiste dijo el en encontré es esto guardado había la las lo los me memoria memorias mencionaste nota notas previamente
que recuerda recuerdo recuerdos según tu usted usuario y
根据 据记 记忆 之前 告诉 记得 说过
"""
WRAPPING = frozenset(map(folded, _WRAPPING.split()))
# A part without these words may say the opposite of the whole.
_TURNING = (
    "if unless except only until nor neither hardly rarely nicht kein keine keinen nie wenn falls außer ne pas jamais si sauf nunca jamás "
    "ni не нет если"
)
TURNING = NEGATIONS | frozenset(map(folded, _TURNING.split()))
# A lead that has one of these announces what was remembered, whatever else it says.
_ANNOUNCING = """
memory memories recall recalled recap remember remembered reminder note notes stored saved told said mentioned found results summary
known gedächtnis erinnere erinnerung erinnerungen notiz notizen gesagt gespeichert souviens mémoire souvenir souvenirs dit memoria
recuerdo recuerdos nota notas
"""
ANNOUNCING = frozenset(map(folded, _ANNOUNCING.split()))
_COUNTED = r"[(\[]\d{1,3}[)\]]"
_LEAD = r"\s*[^:\n.!?]{2,80}:\s+"
_ID = r"\b[0-9a-hjkmnp-tv-z]{26}\b"
_SIGNS = r"(?m)^[ \t>]*+(?:(?:text|memory|content|context|title|snippet)\s?[:=]|[-*•▸→]|#{1,6}|\d{1,3}[.)]|\[\d{1,3}\]|\(\d{1,3}\))\s+"
_RANKED = r"(?m)^[ \t]*+(?:\d{1,3}\s+)?[01]\.\d{2,4}\s+"
_MEASURED = r"[(\[](?:score|relevance|similarity|rank|cosine|confidence|id|source|category|trust|flags|title)\b[^()\[\]\n]{0,120}+[)\]]"
_ABOUT = r"\s?·[^·\n]{0,80}+"
# Lines that Clew draws around a hit: how it was found, what it is filed under, how long it took.
EXPLAINED_SIGN = "; score "
EXPLAINED = r"(?m)^[ \t│├└─>*-]*+found (?:by|through|along) .{0,2000}; score [\d.-]+ = "
RENDERED = (
    r"(?m)^[ \t│├└─>*-]*+(?:found (?:by|through|along) .{0,2000}; score [\d.-]+ = .{0,1000}"
    r"|\d+ hits? in \d+ ms .{0,300}|score\s+[\d.]+ = .{0,300}|main reason: .{0,300}|rank \d[\d,]* of .{0,200}"
    r"|(?:method|semantic|recency|importance|access|words|meaning|context|section|named|links|path|time|period)\s{2,}.{0,200}"
    r"|(?:id|rank|score|space|category|source|tags|trust|flags|method|importance|created|t_valid|trace_id|query)\s?[:=].{0,200})$"
)
TEXT_KEYS = ("text", "context", "title", "content", "memory", "snippet")
MOST_VALUES = 2000


def unwrapped(text: str) -> tuple[str, bool]:
    r"""Return a text without the signs that Clew draws around a hit, and whether Clew explained one in it.

    >>> unwrapped("1 0.850 Ann likes tea\n01m7gfwdmr422zgpq588cdfnzy · fact · just now")
    ('Ann likes tea\n', False)
    >>> unwrapped("Found by its words (rank 1, BM25 4.20); score 0.850 = semantic 0.850 (1.00 × 0.85).")
    ('', True)
    """
    read = served_text(text)
    bare = _compiled(RENDERED).sub("", read)
    if _compiled(_ID).search(bare):
        bare = _compiled(_ABOUT).sub("", _compiled(_ID).sub("", bare))
    bare = _compiled(_MEASURED).sub("", _compiled(_RANKED).sub("", bare))
    return _compiled(_SIGNS).sub("", bare), _compiled(EXPLAINED).search(read) is not None


def served_text(text: str) -> str:
    """Return what an answer of Clew in JSON says in words; any other text as it is."""
    return "\n".join(_said(text)) if text.lstrip()[:1] in ("{", "[") else text


def without_lead(text: str) -> str:
    """Return a text without the words up to a first colon that only announce what was remembered.

    >>> without_lead("Quick summary of the stored notes: Ann likes tea"), without_lead("Notes from Oslo: Ann likes tea")
    ('Ann likes tea', 'Notes from Oslo: Ann likes tea')
    """
    lead = _compiled(_LEAD).match(text)
    if lead is None:
        return text
    said = words(_compiled(_COUNTED).sub("", lead.group()))
    plain = all(folded(word) in WRAPPING or (word.isalpha() and (word.islower() or at == 0)) for at, word in enumerate(said))
    heard = set(map(folded, said))
    return text[lead.end() :] if plain and TURNING.isdisjoint(heard) and not ANNOUNCING.isdisjoint(heard) else text


def named_ids(text: str) -> tuple[str, ...]:
    """Return what looks like the ids of memories, each once."""
    return tuple(dict.fromkeys(_compiled(_ID).findall(text)))


def _said(text: str) -> Iterator[str]:
    """Yield what an answer in JSON says in words; any other text as it is."""
    try:
        waiting: list[Any] = [json.loads(text)]
    except (ValueError, RecursionError):
        yield text
        return
    for _ in range(MOST_VALUES):
        if not waiting:
            return
        each = waiting.pop(0)
        if isinstance(each, list):
            waiting += each
        elif isinstance(each, dict):
            yield from (value for key in TEXT_KEYS if isinstance(value := each.get(key), str) and value)
            waiting += [value for value in each.values() if isinstance(value, list | dict)]


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
