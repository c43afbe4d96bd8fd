"""A caller's answers are the same, byte for byte, whether or not other spaces exist, and whatever is done in them.

Two worlds: in one the caller is alone, in the other everybody else acts in between. What the caller
is told, refusals and their words included, must not differ. Ids and the clock are given, so that
nothing else can.
"""

from __future__ import annotations

import dataclasses
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import clew
from clew.engine.auth import EVERY_RIGHT, Grant, Right
from clew.engine.authorised import Guarded
from clew.errors import ClewError
from clew.search.state import Recall
from clew.testing import FixedClock, node
from clew.types import OutcomeKind

CANARY = "zanzibar"
# where ids are made
MADE_IN = ("clew.engine.clew", "clew.engine.explaining", "clew.memories.firewall.recalled_texts")
TIMINGS = frozenset({"milliseconds", "seconds"})
OWN, OTHERS = "team", ("hr", "legal")

# --- what can be done ---

WORDS = st.sampled_from(
    "Coffee machine broken kitchen Anna Matt Joyce Postgres staging database port deploy tea 数据库".split()
)
TEXTS = st.lists(WORDS, min_size=4, max_size=8, unique=True).map(" ".join)
SECRETS = TEXTS.map(lambda text: f"{text} {CANARY}") | TEXTS
IDS = st.sampled_from(
    [*(f"team{n:03}" for n in range(8)), *(f"hr{n:03}" for n in range(5)), "legal000", "nobody"]
)
SPACES = st.sampled_from([None, OWN, OWN, OWN, "hr", "absent"])
ON_AN_ID = st.sampled_from(
    "get history versions questions related invalidate expire reassert protect forget unarchive supersede update".split()
)
LISTS = st.sampled_from(["recent", "important", "popular"])


def fields(texts: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, Any]]:
    optional = {
        "title": texts,
        "importance": st.sampled_from([0.1, 0.9]),
        "idempotency_key": st.sampled_from(["k1", "k2"]),
        "on_duplicate": st.sampled_from(["reinforce", "insert", "error"]),
        "near": st.booleans(),
        "tags": st.just(["red"]),
        "source": texts,
    }
    return st.fixed_dictionaries({}, optional=optional)


def doings(texts: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[Any, ...]]:
    """Return everything that a caller can ask or do, with ids and spaces of its own and of others."""
    recipes = st.sampled_from(["balanced", "lexical", "dense", "thorough", "staged", "agent"])
    return st.one_of(
        st.tuples(st.just("remember"), texts, fields(texts), SPACES),
        st.tuples(st.just("remember"), texts, fields(texts), st.none()),
        st.tuples(
            st.just("converse"),
            st.lists(texts, min_size=1, max_size=3),
            st.sampled_from(["s1", "s2"]),
            SPACES,
        ),
        st.tuples(st.just("import"), texts, st.sampled_from(["notes.md", "plan.md"])),
        st.tuples(st.just("recall"), texts, recipes, SPACES),
        st.tuples(st.just("why"), texts, IDS),
        st.tuples(st.just("traced"), texts, st.sampled_from([OWN, *OTHERS])),
        st.tuples(st.just("one"), ON_AN_ID, IDS, texts),
        st.tuples(st.just("link"), IDS, IDS),
        st.tuples(st.just("list"), LISTS, SPACES),
        st.tuples(st.just("stats"), SPACES),
        st.tuples(st.just("conflicts"), SPACES),
        st.tuples(st.just("dismiss"), IDS, IDS),
        st.tuples(st.just("decay"), SPACES, st.booleans()),
        st.tuples(st.just("export"), SPACES),
        st.tuples(st.just("whole"), st.sampled_from(["verify", "backup", "load"])),
    )


LIVES = st.lists(
    st.one_of(
        st.tuples(st.just("caller"), doings(TEXTS)),
        st.tuples(st.just("others"), doings(SECRETS), st.sampled_from(OTHERS)),
        st.tuples(st.just("clock"), st.sampled_from([1, 40])),
    ),
    min_size=6,
    max_size=20,
)
READER, WRITER = frozenset({Right.READ}), frozenset({Right.READ, Right.WRITE})
GRANTS = st.builds(
    Grant,
    name=st.just("bot"),
    rights=st.sampled_from(
        [EVERY_RIGHT, EVERY_RIGHT, EVERY_RIGHT, WRITER, READER, frozenset({Right.WRITE})]
    ),
    spaces=st.sampled_from([frozenset({OWN}), frozenset({OWN}), frozenset({OWN, "absent"})]),
)
# Asked at the end of every life, about what is the caller's and what is not.
LAST: tuple[tuple[Any, ...], ...] = (
    *(
        ("recall", "Anna on the staging database port", recipe, OWN)
        for recipe in ("balanced", "lexical", "dense", "thorough", "agent")
    ),
    ("recall", f"What is kept about {CANARY[:4]} coffee and Postgres?", "balanced", OWN),
    *(
        ("why", "Anna and Matt Joyce deploy Postgres", id)
        for id in ("team000", "hr000", "hr001", "nobody")
    ),
    *(
        ("one", method, id, "")
        for method in ("get", "history", "versions", "related")
        for id in ("team000", "hr000", "legal000")
    ),
    *(("list", sort, OWN) for sort in ("recent", "important", "popular")),
    *((method, space) for method in ("stats", "export") for space in (OWN, "hr", None)),
    ("traced", "Where does the staging database listen?", OWN),
    ("decay", OWN, True),
    (
        "converse",
        ["Anna says the staging database listens on port 5433", "Matt deploys tea"],
        "s1",
        OWN,
    ),
    ("remember", "Anna says the staging database listens on port 5433", {"near": True}, OWN),
    (
        "remember",
        "Anna and Matt Joyce deploy tea to the kitchen",
        {"idempotency_key": "k1", "near": True},
        OWN,
    ),
    ("remember", "Anna says the staging database listens on port 6000", {"near": True}, OWN),
    *(("conflicts", space) for space in (OWN, "hr", None)),
    *(
        ("dismiss", first, second)
        for first, second in (("team000", "hr000"), ("hr000", "hr001"), ("team000", "team001"))
    ),
)


# --- doing it ---


class Ids:
    """Names nodes by whoever acts, so that a caller's ids do not depend on others."""

    def __init__(self) -> None:
        self.actor = OWN
        self.made: Counter[str] = Counter()

    def __call__(self, now: datetime) -> str:
        self.made[self.actor] += 1
        return f"{self.actor}{self.made[self.actor] - 1:03}"


@contextmanager
def world(path: Path | str | None) -> Iterator[tuple[clew.Clew, Ids, FixedClock]]:
    """Open a Clew in memory or on a path, with given ids and a given clock, that counts accesses only when it is told to."""
    ids, clock = Ids(), FixedClock()
    with ExitStack() as stack:
        for module in MADE_IN:
            stack.enter_context(patch(f"{module}.new_id", ids))
        options: dict[str, Any] = {
            "model": {"embedder": "hashing"},
            "access": {"flush_seconds": 3600.0},
        }
        memory = stack.enter_context(
            clew.open(":memory:" if path is None else path, clock=clock, **options)
        )
        yield memory, ids, clock


def _there(space: str | None) -> dict[str, Any]:
    return {} if space is None else {"where": {"space": space}}


def _traced(face: Guarded, text: str, space: str) -> Any:
    trace = json.loads(json.dumps(face.trace(face.recall(text))))
    trace["question"]["where"]["space"] = space
    return trace, face.replay(trace)


def _listed(face: Guarded, sort: str, space: str | None) -> Any:
    page = face.page(sort, limit=2, **_there(space))
    return (
        page,
        face.page(sort, limit=2, cursor=page.cursor, **_there(space)),
        getattr(face, sort)(50, **_there(space)),
    )


def _conflicts(face: Guarded, space: str | None) -> Any:
    found = face.conflicts(space=space)
    return list(found), found.examined, found.notes


WITH_TEXT: dict[str, Callable[[Guarded, str, str], Any]] = {
    "supersede": lambda face, id, text: face.supersede(id, text),
    "update": lambda face, id, text: face.update(id, title=text, importance=0.8),
}
WHOLE: dict[str, Callable[[Guarded], Any]] = {
    "verify": lambda face: face.verify(),
    "backup": lambda face: face.backup("/nowhere/at/all"),
    "load": lambda face: face.load([]),
}
DONE: dict[str, Callable[..., Any]] = {
    "remember": lambda face, text, given, space: face.remember(
        text, **given, **({} if space is None else {"space": space})
    ),
    "converse": lambda face, texts, session, space: face.remember_conversation(
        [{"speaker": "Anna", "text": text} for text in texts], session=session, space=space
    ),
    "import": lambda face, text, name: face.import_data(f"# {text}\n\n{text}. {text}.", name=name),
    "recall": lambda face, text, recipe, space: face.recall(text, recipe=recipe, **_there(space)),
    "why": lambda face, text, id: (face.why(text, id), face.why_not(text, id)),
    "traced": _traced,
    "one": lambda face, method, id, text: (
        WITH_TEXT[method](face, id, text) if method in WITH_TEXT else getattr(face, method)(id)
    ),
    "link": lambda face, source, target: face.link(source, target),
    "list": _listed,
    "stats": lambda face, space: face.stats(space),
    "conflicts": _conflicts,
    "dismiss": lambda face, first, second: face.dismiss_conflict(".".join(sorted((first, second)))),
    "decay": lambda face, space, dry_run: face.decay(space=space, dry_run=dry_run),
    "export": lambda face, space: list(face.export(space=space)),
    "whole": lambda face, method: WHOLE[method](face),
}


def plain(value: Any) -> Any:
    """Return an answer as data that prints alike for alike answers.

    Only how long it took is left out.
    """
    if isinstance(value, Recall):
        shown = (
            "terms",
            "channels",
            "cutoffs",
            "hits",
            "rejected",
            "best_confidence",
            "notes",
            "stats",
            "nothing_relevant",
        )
        return {name: plain(getattr(value, name)) for name in shown}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [
            type(value).__name__,
            {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)},
        ]
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, Mapping):
        return {
            str(name): plain(each) for name, each in sorted(value.items()) if name not in TIMINGS
        }
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if isinstance(value, np.ndarray):
        return value.tolist()
    return (
        [plain(each) for each in value]
        if isinstance(value, Sequence) and not isinstance(value, str)
        else str(value)
    )


def told(face: Guarded, doing: tuple[Any, ...]) -> str:
    """Return what a caller is told: the answer, or the refusal with all its words."""
    name, *given = doing
    try:
        answer = plain(DONE[name](face, *given))
    except ClewError as error:
        answer = [type(error).__name__, str(error), plain(vars(error))]
    face.clew._tracker.flush()
    return json.dumps([plain(doing), answer], ensure_ascii=False)


def transcript(
    grant: Grant, lives: Sequence[tuple[Any, ...]], *, path: Path | str | None, alone: bool
) -> list[str]:
    """Live through everything, or only what the caller does, and return what the caller was told."""
    said = []
    with world(path) as (memory, ids, clock):
        # and the store has its model
        own = memory.remember("Anna says the staging database listens on port 5433", space=OWN)
        assert own.outcome is OutcomeKind.INSERTED
        for actor, *doing in (*lives, *(("caller", last) for last in LAST)):
            if actor == "clock":
                clock.advance(days=doing[0])
            elif actor == "caller":
                ids.actor = OWN
                said.append(told(Guarded(memory, grant), doing[0]))
            elif not alone:
                ids.actor = doing[1]
                told(
                    Guarded(
                        memory,
                        Grant(name="other", rights=EVERY_RIGHT, spaces=frozenset({doing[1]})),
                    ),
                    doing[0],
                )
    return said


def check(grant: Grant, lives: Sequence[tuple[Any, ...]], *, path: Path | None = None) -> None:
    alone, together = (None if path is None else path / name for name in ("alone", "together"))
    expected = transcript(grant, lives, path=alone, alone=True)
    found = transcript(grant, lives, path=together, alone=False)
    assert found == expected
    assert CANARY not in "".join(found)


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(grant=GRANTS, lives=LIVES)
def test_nothing_done_in_other_spaces_changes_what_a_caller_is_told(
    grant: Grant, lives: list[tuple[Any, ...]]
) -> None:
    check(grant, lives)


@settings(max_examples=6, suppress_health_check=list(HealthCheck))
@given(grant=GRANTS, lives=LIVES)
def test_a_store_on_disk_tells_as_little(grant: Grant, lives: list[tuple[Any, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        check(grant, lives, path=Path(folder))


def test_what_another_space_lacks_is_not_noted_in_an_answer() -> None:
    with world(None) as (memory, _, _):
        memory.store.insert([node("hr000", "The vault opens at nine", space="hr")])
        assert memory.recall("When does the vault open?", where={"space": OWN}).notes == (
            "The space team holds nothing to recall.",
        )
        assert any(
            "no vectors yet" in note
            for note in memory.recall("When does the vault open?", where={"space": "hr"}).notes
        )
        memory.remember("Anna says the staging database listens on port 5433", space=OWN)
        assert not any(
            "vector" in note
            for note in memory.recall("Where does the database listen?", where={"space": OWN}).notes
        )
        assert any(
            "have no vector" in note
            for note in memory.recall("When does the vault open?", where={"space": "hr"}).notes
        )
