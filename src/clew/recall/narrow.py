"""Search sections first, then only the chunks inside the best of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from clew.ports import Store
from clew.recall.candidates import EmbedQuery
from clew.recall.sections import sections
from clew.recall.state import Recall

MAX_SECTIONS = 20  # sections whose chunks are searched
FLAT = "The store has no sections, so all of it was searched at once."


@dataclass(frozen=True, slots=True)
class Narrow:
    """Restrict the search to chunks of the best sections and to nodes without a section; add a note if there are no sections."""

    store: Store = field(repr=False, compare=False)
    embed: EmbedQuery = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Restrict the filter of the question."""
        if not self.store.coverage(recall.question.where.space).sections:
            return replace(recall, notes=(*recall.notes, FLAT))
        vector, notes, tokens = self.embed(recall.text_without_times or recall.question.text)
        where = recall.question.where
        found = sections(self.store, where, terms=recall.terms, limit=MAX_SECTIONS)
        within = replace(where, within=tuple(match.id for match in found) or ("",))
        more = tuple(note for note in notes if note not in recall.notes)
        return replace(recall, vector=vector, query=tokens, notes=recall.notes + more, question=replace(recall.question, where=within))
