"""What answers where there are no words to ask by: signs as they are written, and a word about a filter that nothing passes."""

from __future__ import annotations

from clew.ports import Sort, Store
from clew.recall.state import Recall
from clew.times import iso
from clew.types import Filter, Kind, Match, Ranking, ranked
from clew.words import words

LOOKED_AT = 1000  # latest memories that are read for a sign: no index knows it, and whoever asks for one is rarely in a hurry
_CONDITIONS = ("kinds", "categories", "tags", "metadata", "since", "until", "as_of", "known_at")


def is_wordless(text: str) -> bool:
    """Tell whether a text has neither a letter nor a digit.

    >>> is_wordless("🚀 ???"), is_wordless("a 🚀")
    (True, False)
    """
    return not words(text)


def by_signs(recall: Recall, *, store: Store, limit: int) -> tuple[Ranking, str]:
    """Return the memories that hold what a question without words is made of, and a note that says so.

    A model reads "🚀" and "???" as unknown signs, so the nearest memories would be any.
    """
    wanted = recall.question.text.split()
    nodes = store.listing(recall.question.where, sort=Sort.RECENT, limit=LOOKED_AT)
    held = [(node.id, sum(sign in node.text for sign in wanted)) for node in nodes]
    found = ranked(Match(id, float(count)) for id, count in held if count)[:limit]
    scope = f"the {LOOKED_AT:,} latest memories" if len(nodes) == LOOKED_AT else "all memories that pass the filter"
    return found, f"The question has no word: its signs were looked for as they are written, in {scope}."


def unfiltered(recall: Recall, *, store: Store) -> tuple[str, ...]:
    """Return a note where nothing was found because nothing passes the filter; it tells of the asked space alone."""
    where = recall.question.where
    if recall.hits or recall.rejected or any(recall.channels.values()) or store.listing(where, sort=Sort.RECENT, limit=1):
        return ()
    asked = [f"{name.replace('_', ' ')} {_told(where, name)}" for name in _CONDITIONS if getattr(where, name) and not _usual(where, name)]
    if not asked:
        return (f"The space {where.space} holds nothing to recall.",)
    return (f"No memory of the space {where.space} passes the filter: {'; '.join(asked)}.",)


def _usual(where: Filter, name: str) -> bool:
    return name == "kinds" and {*where.kinds} == {Kind.MEMORY, Kind.CHUNK}  # what is served where nobody asks for a kind


def _told(where: Filter, name: str) -> str:
    value = getattr(where, name)
    if name in ("since", "until", "as_of", "known_at"):
        return iso(value)
    return ", ".join(f"{key}={value[key]}" for key in value) if name == "metadata" else ", ".join(value)
