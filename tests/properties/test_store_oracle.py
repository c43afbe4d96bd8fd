"""The SQLite store does what the brute-force store does, whatever is done to both."""

from __future__ import annotations

import math
import shutil
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from clew.ports import ModelInfo, Sort, Store
from clew.store.memory import MemoryStore
from clew.store.sqlite import SqliteStore
from clew.testing import codes, embedding, later, node, raises, unit, where
from clew.text.words import content_hash
from clew.types import Edge, Embedding, Filter, Kind, Node, Ranking, Role

RELATIVE = 1e-6  # scores closer than this may change places: two ways to sum the same numbers
COUNTED = (
    "nodes",
    "live",
    "expired",
    "archived",
    "memories",
    "versions",
    "ending",
    "by_kind",
    "by_category",
    "by_space",
    "events",
    "edges",
    "vectors",
    "unembedded",
    "token_codes",
)
MODELS = (ModelInfo("first", 8), ModelInfo("second", 12))

WORDS = st.sampled_from(["apple", "pear", "plum", "fig", "数据库", "naïve", "getUserName"])
TEXTS = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)
SPACES = st.sampled_from(["default", "default", "work"])
CATEGORIES = st.sampled_from(["observation", "fact"])
KINDS = st.sampled_from([Kind.MEMORY, Kind.MEMORY, Kind.CHUNK])
TAGS = st.lists(st.sampled_from(["red", "blue"]), unique=True).map(tuple)
METADATA = st.dictionaries(
    st.sampled_from(["k", "a.b"]), st.sampled_from([1, 1.0, True, None, "1", [1]]), max_size=2
)
TIMES = st.integers(-3, 3).map(later)
MAYBE_TIMES = st.none() | TIMES
TERMS = st.lists(
    st.sampled_from(["appl", "pear", "plum", "fig", "数据", "naiv", "user", "nothing"]), max_size=5
)
LIMITS = st.sampled_from([0, 1, 3, 10, 1000])

FIELDS = {
    "title": st.just("") | TEXTS,
    "category": CATEGORIES,
    "kind": KINDS,
    "tags": TAGS,
    "metadata": METADATA,
    "importance": st.sampled_from([0.25, 0.5, 0.75]),
    "t_valid": TIMES,
    "t_invalid": MAYBE_TIMES,
    "t_created": TIMES,
    "t_expired": st.none() | MAYBE_TIMES,
    "archived": st.sampled_from([False, False, True]),
}
NODE_FIELDS = st.fixed_dictionaries(
    {"text": TEXTS, "space": SPACES}, optional={**FIELDS, "accesses": st.integers(0, 2)}
)
CHANGES = st.fixed_dictionaries({}, optional={**FIELDS, "text": TEXTS})
CONDITIONS = {
    "kinds": st.lists(KINDS, min_size=1, max_size=2).map(tuple),
    "categories": st.lists(CATEGORIES, min_size=1, max_size=2).map(tuple),
    "tags": TAGS,
    "metadata": METADATA,
    "since": TIMES,
    "until": TIMES,
    "as_of": TIMES,
    "known_at": TIMES,
    "now": TIMES,
    "archived": st.just(True),
}
# Few conditions at a time: under many of them nothing passes, and two empty answers agree on
# anything.
PAIRS = st.sampled_from(sorted(CONDITIONS)).flatmap(
    lambda name: st.tuples(st.just(name), CONDITIONS[name])
)
FILTERS = st.builds(
    lambda space, pairs: where(**{"space": space, **dict(pairs)}),
    SPACES,
    st.lists(PAIRS, min_size=1, max_size=3),
)


class SideBySide(RuleBasedStateMachine):
    """Does the same to both stores and asks both the same."""

    @initialize(batch=st.lists(NODE_FIELDS, max_size=12))
    def open(self, batch: list[dict[str, Any]]) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="clew-oracle-"))
        self.sqlite = SqliteStore.open(self.folder / "store", synchronous="OFF")
        self.memory = MemoryStore()
        self.ids: list[str] = []
        self.model = 0
        self.steps = 0
        self._both(lambda store: store.activate(MODELS[0]))
        self._insert(batch, embedded=True, descending=False)

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.sqlite.close()
            shutil.rmtree(self.folder)

    def _both(self, act: Any) -> Any:
        expected, found = act(self.memory), act(self.sqlite)
        assert found == expected
        return found

    @property
    def dimension(self) -> int:
        return MODELS[self.model].dimension

    # --- writing ---

    @rule(
        batch=st.lists(NODE_FIELDS, min_size=1, max_size=5),
        embedded=st.booleans(),
        descending=st.booleans(),
    )
    def insert(self, batch: list[dict[str, Any]], embedded: bool, descending: bool) -> None:
        self._insert(batch, embedded=embedded, descending=descending)

    def _insert(self, batch: list[dict[str, Any]], *, embedded: bool, descending: bool) -> None:
        first = len(self.ids)
        nodes = [
            node(f"{'z' if descending else 'a'}{(999 - i if descending else i):03}", **fields)
            for i, fields in enumerate(batch, first)
        ]
        vectors = [self._embedding(each) for each in nodes] if embedded else []
        self._both(lambda store: store.insert(nodes, vectors))
        self.ids += [each.id for each in nodes]

    def _embedding(self, of: Node) -> Embedding:
        """Return a vector, of most texts with token codes."""
        tokens = (
            codes(of.text, len(of.text) % 5, dimension=self.dimension)
            if "pear" not in of.text
            else None
        )
        return embedding(of, unit(of.text, self.dimension), tokens=tokens)

    @precondition(lambda self: self.ids)
    @rule(data=st.data(), changes=CHANGES, embedded=st.booleans())
    def update(self, data: st.DataObject, changes: dict[str, Any], embedded: bool) -> None:
        id = data.draw(st.sampled_from(self.ids))
        if "text" in changes:
            changes = {**changes, "content_hash": content_hash(changes["text"])}
        if not self.memory.get([id]):
            return
        self._both(lambda store: store.update(id, **changes))
        if embedded:
            kept = self.memory.get([id])[id]
            self._both(lambda store: store.put([self._embedding(kept)], MODELS[self.model]))

    @precondition(lambda self: self.ids)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        ids = data.draw(st.lists(st.sampled_from(self.ids), max_size=3))
        self._both(lambda store: store.delete(ids))

    @precondition(lambda self: self.ids)
    @rule(data=st.data(), at=TIMES)
    def touch_and_link(self, data: st.DataObject, at: Any) -> None:
        ids = data.draw(st.lists(st.sampled_from(self.ids), min_size=1, max_size=3))
        self._both(lambda store: store.touch(ids, at, min_interval_seconds=86_400))
        alive = [id for id in ids if self.memory.get([id])]
        edges = [
            Edge(source=source, target=alive[0], kind="k", weight=0.5, t_created=at)
            for source in alive
        ]
        self._both(lambda store: store.link(edges))

    @rule(fields=NODE_FIELDS, search=st.booleans())
    def roll_back(self, fields: dict[str, Any], search: bool) -> None:
        def act(store: Store) -> None:
            with raises(ZeroDivisionError), store.transaction():
                fresh = node("m", **fields)
                store.insert([fresh], [self._embedding(fresh)])
                store.delete(self.ids[:2])
                if search:
                    store.dense(unit("apple", self.dimension), where(), limit=5)
                raise ZeroDivisionError

        self._both(act)

    @rule(share=st.integers(0, 10))
    def change_the_model(self, share: int) -> None:
        self.model = 1 - self.model
        model = MODELS[self.model]
        nodes = list(self.memory.nodes())[: share * 3]
        self._both(lambda store: store.put([self._embedding(each) for each in nodes], model))
        self._both(lambda store: store.activate(model))

    @rule()
    def reopen(self) -> None:
        self.sqlite.close()
        self.sqlite = SqliteStore.open(self.folder / "store", synchronous="OFF")

    @rule()
    def compact(self) -> None:
        self._both(lambda store: store.compact())

    # --- asking: always under the drawn filter and under the bare one, which more nodes pass ---

    @rule(terms=TERMS, filter=FILTERS, limit=LIMITS)
    def sparse(self, terms: list[str], filter: Filter, limit: int) -> None:
        for asked in (filter, where(space=filter.space)):
            found = self.sqlite.sparse(terms, asked, limit=limit)
            everything = self.memory.sparse(terms, asked, limit=10_000)
            assert self.memory.sparse(terms, asked, limit=limit) == everything[:limit]
            agree(found, everything, limit=limit)

    @rule(
        text=TEXTS,
        filter=FILTERS,
        limit=LIMITS,
        role=st.sampled_from([Role.CONTENT, Role.CONTENT, Role.QUESTION]),
    )
    def dense(self, text: str, filter: Filter, limit: int, role: Role) -> None:
        query = unit(text, self.dimension)
        for asked in (filter, where(space=filter.space)):
            found = self.sqlite.dense(query, asked, limit=limit, role=role)
            agree(found, self.memory.dense(query, asked, limit=10_000, role=role), limit=limit)

    @rule(
        filter=FILTERS,
        limit=LIMITS,
        importance=st.sampled_from([0.0, 0.5]),
        accesses=st.integers(0, 1),
    )
    def listing(self, filter: Filter, limit: int, importance: float, accesses: int) -> None:
        for sort in Sort:
            least: dict[str, Any] = {
                "sort": sort,
                "limit": limit,
                "min_importance": importance,
                "min_accesses": accesses,
            }
            self._both(partial(_listing, where=filter, **least))
            self._both(
                partial(
                    _listing,
                    where=where(space=filter.space),
                    **{**least, "min_importance": 0.0, "min_accesses": 0},
                )
            )

    @rule(text=TEXTS, space=SPACES)
    def find_hash(self, text: str, space: str) -> None:
        self._both(lambda store: store.find_hash(space, content_hash(text)))

    @rule(limit=LIMITS, text=TEXTS)
    def vectors(self, limit: int, text: str) -> None:
        for tokens in (False, True):
            self._both(
                lambda store, tokens=tokens: store.unembedded(
                    MODELS[self.model].id, limit=limit, tokens=tokens
                )
            )
        self._both(lambda store: store.cosines(unit(text, self.dimension), self.ids))

    @invariant()
    def everything_is_kept_alike(self) -> None:
        if not hasattr(self, "folder"):
            return
        self._both(lambda store: store.get(self.ids))
        self._both(lambda store: {name: store.stats()[name] for name in COUNTED})
        self._both(lambda store: store.token_codes(self.ids))

    @invariant()
    def everything_is_found_alike(self) -> None:
        if not hasattr(self, "folder"):
            return
        self.steps += 1
        for space in ("default", "work"):
            self._ask_all(where(space=space), limit=4)
            self._ask_all(where(space=space, archived=True, known_at=later(1)), limit=100)

    def _ask_all(self, filter: Filter, *, limit: int) -> None:
        for sort in Sort:
            self._both(partial(_listing, where=filter, sort=sort, limit=limit))
        terms = ["appl", "pear", "nothing", "数据"]
        agree(
            self.sqlite.sparse(terms, filter, limit=limit),
            self.memory.sparse(terms, filter, limit=10_000),
            limit=limit,
        )
        # not at every step: several changes between two searches must be followed too
        if self.steps % 3 == 0:
            query = unit("apple", self.dimension)
            agree(
                self.sqlite.dense(query, filter, limit=limit),
                self.memory.dense(query, filter, limit=10_000),
                limit=limit,
            )

    @rule()
    def logs(self) -> None:
        self._both(lambda store: [store.events(id) for id in self.ids])
        self._both(
            lambda store: sorted(
                (edge.source, edge.target, edge.kind, edge.weight) for edge in store.edges(self.ids)
            )
        )


def _listing(store: Store, **asked: Any) -> tuple[Node, ...]:
    return store.listing(asked.pop("where"), **asked)


def agree(found: Ranking, everything: Ranking, *, limit: int) -> None:
    """Check that a ranking is the head of the oracle's, but for the order of scores that are nearly the same."""
    scores = {match.id: match.score for match in everything}
    assert len(found) == len(everything[:limit])
    assert len({match.id for match in found}) == len(found)
    for one, other in zip(found, everything, strict=False):
        assert math.isclose(one.score, scores[one.id], rel_tol=RELATIVE, abs_tol=1e-12)
        assert math.isclose(one.score, other.score, rel_tol=RELATIVE, abs_tol=1e-12)


TestSideBySide = SideBySide.TestCase
TestSideBySide.settings = settings(
    max_examples=15,
    stateful_step_count=30,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
