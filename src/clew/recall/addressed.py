"""How would the question be asked in the talk itself? There nobody speaks of Melanie: she is spoken to, and says "I".

"What books has Melanie read?" is near to every turn that says "Melanie", most of all to those that only greet her. Asked as the
other one would ask her, "What books have you read?", it is near to what she answers. So where a question names somebody who talks
in the best hits, it is searched for in this form too, by meaning alone, and that has a share of the relevance.
A question that names none of them passes untouched, and costs nothing but a look at the hits.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field, replace

from clew.ports import Store
from clew.recall.beside import answers, joined
from clew.recall.fetch import covered
from clew.recall.state import ADDRESSED, LazyHits, Place, Recall, Stage
from clew.recall.talk import speaker
from clew.words import STOP_WORDS, folded, words

LOOKED_AT = 20  # hits: whoever the question names has said, or is told, some of them
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_REPEATED = re.compile(r"\byour?(?:(?:,| and|, and| or)? (your?))+\b")
_PRONOUN = re.compile(r"\b(?:she|he|they|her|his|their)\b")
_SECOND = {"she": "you", "he": "you", "they": "you", "her": "your", "his": "your", "their": "your"}
_VERB = re.compile(r"\b(does|has|is|was)( you)\b|\b(you )(does|has|is|was)\b", re.IGNORECASE)
_PLURAL = {"does": "do", "has": "have", "is": "are", "was": "were"}


def addressed(text: str, people: Collection[str]) -> str:
    """Return an English question as it would be put to those of the people whom it names; as it is where it names none.

    People are folded names, as `speaker` gives them; in the question a name begins with a capital letter.

    >>> addressed("What books has Melanie read?", ["melanie", "caroline"]), addressed("Where do Ann Lee's kids play?", ["ann lee", "bob"])
    ('What books have you read?', 'Where do your kids play?')
    >>> addressed("What do Ann and Bob like about their town?", ["ann", "bob"]), addressed("Is her ann here?", ["ann"])
    ('What do you like about your town?', 'Is her ann here?')
    """
    names = {name for person in people for name in person.split()} - STOP_WORDS

    def spoken(found: re.Match[str]) -> str:
        word = found.group()
        if not word[0].isupper() or folded(word) not in names:
            return word
        return "your" if word.casefold().endswith(("'s", "’s")) else "you"

    said = _WORD.sub(spoken, text)
    if said == text:
        return text
    said = _PRONOUN.sub(lambda found: _SECOND[found.group()], _REPEATED.sub(r"\1", said))
    return _VERB.sub(_agreeing, said)


def _agreeing(found: re.Match[str]) -> str:
    before, you, again, after = found.groups()
    verb = before or after
    plural = _PLURAL[verb.lower()]
    plural = plural.capitalize() if verb[0].isupper() else plural
    return f"{plural}{you}" if before else f"{again}{plural}"


@dataclass(frozen=True, slots=True)
class Addressed:
    """Search once more for a question that names one of those who talk, as it would be asked to them."""

    weight: float
    stages: tuple[Stage, ...] = field(repr=False, compare=False)
    """By which a question gets hits by meaning, with a relevance each."""
    store: Store = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Set the hits anew, in their new order, and the question as it was asked."""
        asked = recall.question.text
        text = addressed(asked, self._people(recall))
        if text == asked:
            return recall
        found = answers(recall, text, self.stages)
        if not found:
            return recall
        places = {id: Place(rank, worth, worth, self.weight) for rank, (id, worth) in enumerate(found.items(), start=1)}
        return replace(joined(recall, ADDRESSED, places, share=self.weight), addressed=text)

    def _people(self, recall: Recall) -> frozenset[str]:
        """Return who talks in the best hits; nobody where that cannot matter, where most are no talk, and where only one talks."""
        capital = any(word[0].isupper() and folded(word) not in STOP_WORDS for word in words(recall.question.text))
        if recall.vector is None or not capital or not covered(recall, store=self.store).keyed:
            return frozenset()
        nodes = self.store.get(LazyHits.of(recall.hits).ids(LOOKED_AT)).values()
        heard = [speaker(node.text) for node in nodes if node.context]
        everyone = frozenset(filter(None, heard))
        return everyone if len(everyone) > 1 and heard.count("") * 2 <= len(heard) else frozenset()
