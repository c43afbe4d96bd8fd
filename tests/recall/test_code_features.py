"""Code is ranked by what its files are called, what they define and what kind of files they are.

Other stores pay nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import clew
from clew.search import diversity
from clew.search.diversity import asked_identifiers, defines, demotion, match_path
from clew.testing import FixedClock

HANDLING = "def handle(request):\n    # sessions are read from the cookie of the request and written back at its end\n    return {0}\n"


@pytest.fixture
def memory() -> Iterator[clew.Clew]:
    with clew.open(":memory:", model={"embedder": "hashing"}, clock=FixedClock()) as memory:
        yield memory


def imported(memory: clew.Clew, folder: Path, files: Mapping[str, str]) -> clew.Clew:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    memory.import_path(folder)
    return memory


def asked(memory: clew.Clew, question: str, *, k: int = 10) -> list[str]:
    return [
        Path(hit.node.source).name
        for hit in memory.recall(question, k=k, track=False).hits
        if hit.node
    ]


def test_a_file_named_after_the_question_comes_before_one_that_says_the_same(
    memory: clew.Clew, tmp_path: Path
) -> None:
    said_twice = f"{HANDLING.format(1)}\n\ndef again():\n    # handled: sessions, sessions and sessions\n    return handle\n"
    imported(memory, tmp_path, {"alpha.py": said_twice, "sessions.py": HANDLING.format(2)})
    assert asked(memory, "how are sessions handled")[0] == "sessions.py"
    assert (
        asked(memory.variant(**{"recall.code_features": False}), "how are sessions handled")[0]
        == "alpha.py"
    )


def test_the_chunk_that_defines_a_name_comes_before_those_that_use_it(
    memory: clew.Clew, tmp_path: Path
) -> None:
    uses = "def start():\n    session = ClientSession()\n    ClientSession.check(session)\n    return ClientSession, session\n"
    imported(
        memory,
        tmp_path,
        {"a_use.py": uses, "client.py": "class ClientSession:\n    closed = False\n"},
    )
    best = memory.recall("ClientSession", track=False).hits[0]
    assert best.node is not None
    assert best.node.source.endswith("client.py")
    assert "It defines what the question names." in best.explanation


@pytest.mark.parametrize(
    "other",
    ["tests/a_session.py", "legacy/a_session.py", "examples/a_session.py", "a_session_test.py"],
)
def test_tests_examples_and_legacy_copies_come_behind(
    memory: clew.Clew, tmp_path: Path, other: str
) -> None:
    imported(memory, tmp_path, {other: HANDLING.format(1), "session.py": HANDLING.format(2)})
    assert asked(memory, "how is the session of a request read")[0] == "session.py"


def test_a_test_is_found_first_where_tests_are_asked_for(memory: clew.Clew, tmp_path: Path) -> None:
    imported(
        memory, tmp_path, {"tests/session.py": HANDLING.format(1), "session.py": HANDLING.format(2)}
    )
    best = memory.recall("test of how the session is read", track=False).hits[0]
    assert "file_kind" not in best.components
    assert best.node is not None
    assert best.node.source.endswith("tests/session.py")


def test_an_older_version_of_a_file_comes_behind_the_newer_one() -> None:
    assert demotion("api/v1/app.py", (), others={"api/v2/app.py"}) == 1.0
    assert demotion("api/v2/app.py", (), others={"api/v1/app.py"}) == 0.0
    assert demotion("v1/app.py", (), others={"v1/app.py", "cli.py"}) == 0.0


def test_documentation_beside_code_comes_behind_it_unless_it_is_asked_for(
    memory: clew.Clew, tmp_path: Path
) -> None:
    prose = "# Requests\n\nWhen a request begins, its cookie is read; when the request ends, the cookie is written back.\n"
    imported(memory, tmp_path, {"guide.md": prose, "jar.py": HANDLING.format(1)})
    assert asked(memory, "how is the cookie of a request read")[0] == "jar.py"
    assert asked(memory, "documentation on how the cookie of a request is read")[0] == "guide.md"


def test_documentation_that_was_imported_from_elsewhere_stays_where_it_is(
    memory: clew.Clew, tmp_path: Path
) -> None:
    imported(memory, tmp_path / "project", {"jar.py": HANDLING.format(1)})
    imported(
        memory,
        tmp_path / "notes",
        {"cookies.md": "# Cookies\n\nThe cookie of a request is read at its beginning.\n"},
    )
    (note,) = (
        hit
        for hit in memory.recall("how is the cookie of a request read", track=False).hits
        if hit.node and "notes" in hit.node.source
    )
    assert "file_kind" not in note.components


def test_several_chunks_of_one_file_leave_room_for_others(
    memory: clew.Clew, tmp_path: Path
) -> None:
    long = "\n\n".join(
        f"def cookie_{n}(jar):\n"
        + "".join(f"    cookie = read_the_cookie(jar, {n}, {line})\n" for line in range(60))
        for n in range(8)
    )
    imported(memory, tmp_path, {"jars.py": long, "store.py": HANDLING.format(1)})
    assert "store.py" in asked(memory, "where is the cookie read", k=4)
    assert (
        asked(memory.variant(**{"recall.code_features": False}), "where is the cookie read", k=4)
        == ["jars.py"] * 4
    )


def test_the_components_of_code_add_up_and_are_explained(memory: clew.Clew, tmp_path: Path) -> None:
    imported(
        memory, tmp_path, {"tests/session.py": HANDLING.format(1), "session.py": HANDLING.format(2)}
    )
    for hit in memory.recall("how is the session of a request read", track=False).hits:
        assert sum(part.contribution for part in hit.components.values()) == pytest.approx(
            hit.score, abs=1e-9
        )
        assert "Its file or folder is named after" in hit.explanation
    assert "Its file is a test, an example, documentation" in hit.explanation


def test_the_answer_for_k_is_the_head_of_the_answer_for_a_larger_k(
    memory: clew.Clew, tmp_path: Path
) -> None:
    imported(memory, tmp_path, {f"part{n}/session.py": HANDLING.format(n) for n in range(40)})
    assert (
        asked(memory, "session of a request", k=5)
        == asked(memory, "session of a request", k=30)[:5]
    )


def test_a_store_without_code_is_read_no_further_than_its_best_hits(
    memory: clew.Clew, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.remember_many(
        [f"The session number {n} was read from a cookie" for n in range(80)], near=False
    )
    asked_for: list[int] = []
    read = memory.store.get
    monkeypatch.setattr(memory.store, "get", lambda ids: asked_for.append(len(ids)) or read(ids))  # type: ignore[func-returns-value]
    names = {
        name for hit in memory.recall("session cookie", track=False).hits for name in hit.components
    }
    assert sum(asked_for[1:]) <= diversity.DEPTH  # the walk along links reads its own first
    assert not names & {"file_name", "definition", "file_kind", "same_file"}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("func (r *Router) ServeHTTP(w", "ServeHTTP"),
        ("export default class Router {", "Router"),
        ("pub fn parse<T>(", "parse"),
        ("defmodule Phoenix.Router do", "Router"),
        ("async function* walk(tree) {", "walk"),
        ("const settle = (resolve) => {", "settle"),
        ("class Response:", "Response"),
    ],
)
def test_a_definition_is_seen_in_many_languages(text: str, name: str) -> None:
    assert defines(text, [name])
    assert not defines(text.replace(name, f"{name}s"), [name])


def test_names_in_a_question_are_told_from_its_words() -> None:
    assert asked_identifiers("how res.redirect builds the Location header") == {
        "redirect",
        "Location",
    }
    assert asked_identifiers("session management") == frozenset()
    assert asked_identifiers("render_template") == {"render_template"}


def test_a_path_matches_by_the_beginnings_of_its_words() -> None:
    assert match_path(["configur", "load"], "flask/config.py") == 0.5
    assert match_path(["middlewar", "cor"], "middleware/cors.py") == 1.0
    assert match_path([], "config.py") == 0.0
