"""Search memories by BM25, with a bonus for quoted phrases.

There is no bonus for unquoted adjacent words. BM25 over ordered bigrams, added to the best hundred
with weights of 0.1 to 0.5, changed nDCG@10 on CACM, SciFact, CoSQA, 2Wiki, HotpotQA and LoCoMo by
−0.5 to +0.9, significantly (p < 0.05) on HotpotQA alone; pairs within a window of six words were no
better. It would require reading the texts of a hundred candidates.
"""

from __future__ import annotations

import re

from clew.ports import Sort, Store
from clew.search.state import Recall, space_coverage
from clew.text.words import idf, plain_words, query_terms, split_unspaced, words
from clew.times import iso
from clew.types import Filter, Kind, Match, Node, Ranking, ranked

MAX_PHRASES = 4  # each costs one search
_QUOTED = re.compile(
    r'"([^"\n]{2,200})"|“([^“”\n]{2,200})”|„([^„“”\n]{2,200})[“”]|«([^«»\n]{2,200})»|「([^「」\n]{2,200})」'
)


def quoted_phrases(text: str) -> tuple[str, ...]:
    """Return the quoted phrases of at least two words, in any style of double quotation marks.

    >>> quoted_phrases('Who sang "The Salt  Meadow" and “Tea for Two”, and what is "tea"?')
    ('the salt meadow', 'tea for two')
    """
    found = (_plain("".join(groups)) for groups in _QUOTED.findall(text))
    return tuple(
        dict.fromkeys(phrase for phrase in found if " " in phrase or split_unspaced(phrase)[1])
    )[:MAX_PHRASES]


def search_words(recall: Recall, *, store: Store, limit: int) -> Ranking:
    """Return the best memories by BM25.

    One that contains a quoted phrase gains the summed IDF of the phrase's terms.

    On HotpotQA's 16 questions with such a phrase nDCG@10 rose from 81.7 to 83.8; half and twice the
    gain: 83.9 and 82.5.
    """
    where = recall.question.where
    found = store.sparse(recall.terms, where, limit=limit)
    if not recall.phrases:
        return found
    scores = {match.id: match.score for match in found}
    for phrase in recall.phrases:
        asked = query_terms(phrase)
        # Search by the phrase alone too: other words may push a match below the limit. That score
        # is a lower bound of its own.
        by_phrase = {match.id: match.score for match in store.sparse(asked, where, limit=limit)}
        gain = _idf(recall, asked, store=store)
        for id, node in store.get(list(by_phrase.keys() | scores.keys())).items():
            if holds_phrase(node, phrase):
                scores[id] = scores.get(id, by_phrase.get(id, 0.0)) + gain
    return ranked(map(Match, scores, scores.values()))[:limit]


def holds_phrase(node: Node, phrase: str) -> bool:
    """Return whether the title or text of a memory contains a phrase word for word.

    >>> from clew.testing import node
    >>> song = node("song", "She sang “Tea for Two” twice.")
    >>> holds_phrase(song, "tea for two"), holds_phrase(song, "for two teas")
    (True, False)
    """
    if split_unspaced(phrase)[1]:  # scripts without spaces have no word boundaries
        return any(phrase in text.casefold() for text in (node.title, node.text))
    return any(f" {phrase} " in f" {_plain(text)} " for text in (node.title, node.text))


def _plain(text: str) -> str:
    return " ".join(plain_words(text))


def _idf(recall: Recall, asked: list[str], *, store: Store) -> float:
    nodes = space_coverage(recall, store=store).nodes
    # Postings include expired memories, so a document frequency may exceed the number of live
    # memories.
    return sum(
        idf(max(nodes, frequency), frequency)
        for frequency in store.holding(asked, recall.question.where.space).values()
    )


# Answer queries without words by substring search, and explain filters that match nothing.

# latest memories that are scanned: symbols are not indexed, and such queries are rare
SCAN_LIMIT = 1000
_CONDITIONS = ("kinds", "categories", "tags", "metadata", "since", "until", "as_of", "known_at")


def has_no_words(text: str) -> bool:
    """Return whether a text has neither a letter nor a digit.

    >>> has_no_words("🚀 ???"), has_no_words("a 🚀")
    (True, False)
    """
    return not words(text)


def search_symbols(recall: Recall, *, store: Store, limit: int) -> tuple[Ranking, str]:
    """Return the memories that contain the symbols of a query without words, and a note about that.

    An embedding model maps "🚀" and "???" to unknown tokens, so its nearest neighbours would be
    arbitrary.
    """
    wanted = recall.question.text.split()
    nodes = store.listing(recall.question.where, sort=Sort.RECENT, limit=SCAN_LIMIT)
    counts = [(node.id, sum(symbol in node.text for symbol in wanted)) for node in nodes]
    found = ranked(Match(id, float(count)) for id, count in counts if count)[:limit]
    scope = (
        f"the {SCAN_LIMIT:,} latest memories"
        if len(nodes) == SCAN_LIMIT
        else "all memories that pass the filter"
    )
    return (
        found,
        f"The question has no word: its signs were looked for as they are written, in {scope}.",
    )


def empty_filter_notes(recall: Recall, *, store: Store) -> tuple[str, ...]:
    """Return a note if nothing was found because nothing passes the filter.

    It covers this space only.
    """
    where = recall.question.where
    if (
        recall.hits
        or recall.rejected
        or any(recall.channels.values())
        or store.listing(where, sort=Sort.RECENT, limit=1)
    ):
        return ()
    asked = [
        f"{name.replace('_', ' ')} {_format_condition(where, name)}"
        for name in _CONDITIONS
        if getattr(where, name) and not _is_default(where, name)
    ]
    if not asked:
        return (f"The space {where.space} holds nothing to recall.",)
    return (f"No memory of the space {where.space} passes the filter: {'; '.join(asked)}.",)


def _is_default(where: Filter, name: str) -> bool:
    return name == "kinds" and {*where.kinds} == {Kind.MEMORY, Kind.CHUNK}  # the default


def _format_condition(where: Filter, name: str) -> str:
    value = getattr(where, name)
    if name in ("since", "until", "as_of", "known_at"):
        return iso(value)
    return (
        ", ".join(f"{key}={value[key]}" for key in value)
        if name == "metadata"
        else ", ".join(value)
    )
