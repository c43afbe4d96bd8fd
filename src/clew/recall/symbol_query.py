"""Answer queries without words by substring search, and explain filters that match nothing."""

from __future__ import annotations

from clew.ports import Sort, Store
from clew.recall.state import Recall
from clew.times import iso
from clew.types import Filter, Kind, Match, Ranking, ranked
from clew.words import words

SCAN_LIMIT = 1000  # latest memories that are scanned: symbols are not indexed, and such queries are rare
_CONDITIONS = ("kinds", "categories", "tags", "metadata", "since", "until", "as_of", "known_at")


def has_no_words(text: str) -> bool:
    """Return whether a text has neither a letter nor a digit.

    >>> has_no_words("🚀 ???"), has_no_words("a 🚀")
    (True, False)
    """
    return not words(text)


def search_symbols(recall: Recall, *, store: Store, limit: int) -> tuple[Ranking, str]:
    """Return the memories that contain the symbols of a query without words, and a note about that.

    An embedding model maps "🚀" and "???" to unknown tokens, so its nearest neighbours would be arbitrary.
    """
    wanted = recall.question.text.split()
    nodes = store.listing(recall.question.where, sort=Sort.RECENT, limit=SCAN_LIMIT)
    counts = [(node.id, sum(symbol in node.text for symbol in wanted)) for node in nodes]
    found = ranked(Match(id, float(count)) for id, count in counts if count)[:limit]
    scope = f"the {SCAN_LIMIT:,} latest memories" if len(nodes) == SCAN_LIMIT else "all memories that pass the filter"
    return found, f"The question has no word: its signs were looked for as they are written, in {scope}."


def empty_filter_notes(recall: Recall, *, store: Store) -> tuple[str, ...]:
    """Return a note if nothing was found because nothing passes the filter; it covers this space only."""
    where = recall.question.where
    if recall.hits or recall.rejected or any(recall.channels.values()) or store.listing(where, sort=Sort.RECENT, limit=1):
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
    return ", ".join(f"{key}={value[key]}" for key in value) if name == "metadata" else ", ".join(value)
