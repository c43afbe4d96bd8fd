"""From a graph to edges between nodes, and how they are kept up to date in a store."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import clew
from clew.graph.code.graph import (
    CALLS,
    CODE_EDGES,
    DEFINES,
    IMPORTS,
    MAX_IN,
    MAX_OUT,
    FileNodes,
    Piece,
    build_graph,
    edges_between,
)
from clew.graph.code.linking import LinkReport, SymbolCache, link_code
from clew.ports import Sort
from clew.testing import FixedClock, where
from clew.types import Edge, Kind, Node

NOW = FixedClock()()
PADDING = "".join(
    f"# {n} lines of padding, so that a definition gets a chunk of its own\n" for n in range(12)
)


def python(texts: dict[str, str]) -> tuple[Edge, ...]:
    """Return the edges of files whose chunks are their lines."""
    places = {}
    for path, text in texts.items():
        starts = [0, *(at + 1 for at, letter in enumerate(text) if letter == "\n")]
        pieces = [
            Piece(start, end, f"{path}:{n}")
            for n, (start, end) in enumerate(zip(starts, [*starts[1:], len(text)], strict=True), 1)
        ]
        places[path] = FileNodes(path, tuple(pieces))
    return edges_between(places, build_graph(texts, dict.fromkeys(texts, "python")), NOW)


def shown(edges: tuple[Edge, ...]) -> list[tuple[str, str, str, float, str]]:
    return [(edge.source, edge.kind, edge.target, edge.confidence, edge.evidence) for edge in edges]


def test_files_import_files_files_define_in_chunks_and_chunks_call_chunks() -> None:
    made = python(
        {"a.py": "from b import f\nf(); f()\n", "b.py": "x = 1\ndef f():\n    return f\n"}
    )
    assert shown(made) == [
        ("a.py", IMPORTS, "b.py", 1.0, "line 1: import f from b"),
        ("b.py", DEFINES, "b.py:2", 1.0, "line 2: function f"),
        ("a.py:2", CALLS, "b.py:2", 0.95, "line 2: f()"),
    ]
    assert all(edge.weight == edge.confidence and edge.t_created == NOW for edge in made)


def test_nothing_points_at_itself_and_a_file_without_nodes_is_passed_over() -> None:
    texts = {"a.py": "from b import f\nf()\n", "b.py": "def f(): f()\n"}
    made = build_graph(texts, dict.fromkeys(texts, "python"))
    whole = {"b.py": FileNodes("b", (Piece(0, 99, "b"),))}
    assert edges_between(whole, made, NOW) == ()


def test_a_place_in_two_chunks_belongs_to_the_later_one() -> None:
    nodes = FileNodes("root", (Piece(0, 10, "one"), Piece(8, 20, "two"), Piece(25, 30, "three")))
    assert [nodes.at(offset) for offset in (0, 7, 8, 9, 19, 20, 25)] == [
        "one",
        "one",
        "two",
        "two",
        "two",
        None,
        "three",
    ]


def test_the_degree_of_a_node_is_bounded_and_the_surest_edges_stay() -> None:
    many = 100
    callers = {f"m{n}.py": "from hub import f\nf()\n" for n in range(many)}
    hub = "def f(): ...\n" + "".join(f"def g{n}(): ...\n" for n in range(many))
    user = "from hub import *\n" + "; ".join(f"g{n}()" for n in range(many)) + "\n"
    made = python({**callers, "hub.py": hub, "user.py": user, "v.py": "import hub\nhub.g1()"})
    into = Counter((edge.kind, edge.target) for edge in made if edge.kind != DEFINES)
    out = Counter((edge.kind, edge.source) for edge in made if edge.kind != DEFINES)
    assert into[CALLS, "hub.py:1"] == into[IMPORTS, "hub.py"] == MAX_IN == max(into.values())
    assert out[CALLS, "user.py:2"] == MAX_OUT == max(out.values())


# In a store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "__init__.py").write_text("")
    (tmp_path / "shop" / "cart.py").write_text(
        f"def add(): ...\n{PADDING}def total():\n    return add()\n{PADDING}"
    )
    (tmp_path / "main.py").write_text("from shop.cart import add\nadd()\n")
    (tmp_path / "other.py").write_text("import main\n")
    (tmp_path / "notes.md").write_text("# add() is not code here\n")
    return tmp_path


def opened() -> clew.Clew:
    sizes = {"min_tokens": 10, "target_tokens": 60, "max_tokens": 90, "overlap_tokens": 0}
    return clew.open(":memory:", model={"embedder": "none"}, clock=FixedClock(), chunking=sizes)


def roots(memory: clew.Clew) -> list[tuple[str, Node]]:
    live = memory.store.listing(where(), sort=Sort.RECENT, limit=1000)
    return [
        (node.source, node)
        for node in live
        if node.root is None and node.kind in (Kind.DOCUMENT, Kind.CHUNK)
    ]


def linked(memory: clew.Clew, known: SymbolCache | None = None) -> LinkReport:
    return link_code(memory.store, roots(memory), now=NOW, known=known)


def live_edges(memory: clew.Clew) -> set[tuple[str, str, str]]:
    """Return the code edges between live nodes that count, each end as its file and how it begins."""
    nodes = {node.id: node for node in memory.store.nodes() if node.t_expired is None}
    edges = [
        edge
        for edge in memory.store.edges(sorted(nodes))
        if edge.kind in CODE_EDGES and edge.weight > 0
    ]
    named = {
        id: f"{Path(node.source).name}: {node.text.split(chr(10))[0]}" for id, node in nodes.items()
    }
    return {
        (named[edge.source], edge.kind, named[edge.target])
        for edge in edges
        if edge.source in nodes and edge.target in nodes
    }


def test_an_imported_tree_is_linked_chunk_by_chunk(folder: Path) -> None:
    with opened() as memory:
        memory.import_path(folder)
        found = live_edges(memory)
        done = linked(memory)
    assert ("main.py: from shop.cart import add", IMPORTS, "cart.py: def add(): ...") in found
    assert ("main.py: from shop.cart import add", CALLS, "cart.py: def add(): ...") in found
    assert any(
        kind == CALLS and source.startswith("cart.py") and target == "cart.py: def add(): ..."
        for source, kind, target in found
    )
    assert ("other.py: import main", IMPORTS, "main.py: from shop.cart import add") in found
    assert done.edges > 4 and (done.written, done.retracted) == (0, 0), (
        "the import has linked all of it already"
    )
    assert not any("notes.md" in end for source, _, target in found for end in (source, target))


def test_linking_again_writes_nothing_and_parses_nothing(folder: Path) -> None:
    known: SymbolCache = {}
    with opened() as memory:
        memory.import_path(folder)
        first = linked(memory, known)
        again = linked(memory, known)
    assert first.parsed == 3 and again == LinkReport(first.edges, 0, 0, 0)


def test_a_changed_file_is_linked_anew_from_both_sides_and_only_it_is_parsed(folder: Path) -> None:
    known: SymbolCache = {}
    with opened() as memory:
        memory.import_path(folder)
        linked(memory, known)
        (folder / "shop" / "cart.py").write_text(f"# changed\n{PADDING}def add(): ...\n")
        memory.import_path(folder)
        assert linked(memory, known).parsed == 1
        found = live_edges(memory)
        linked(memory)
        assert live_edges(memory) == found
    targets = {
        target for source, kind, target in found if kind == CALLS and source.startswith("main.py")
    }
    assert len(targets) == 1 and targets.pop().startswith("cart.py")
    assert ("main.py: from shop.cart import add", IMPORTS, "cart.py: # changed") in found


def test_an_edge_that_no_longer_holds_between_unchanged_files_loses_its_weight(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.py").write_text("class A:\n    def untangle(self): ...\n")
    (tmp_path / "user.py").write_text("def f(x):\n    x.untangle()\n")
    with opened() as memory:
        memory.import_path(tmp_path)
        assert linked(memory).edges == 1
        (tmp_path / "b.py").write_text("class B:\n    def untangle(self): ...\n")
        memory.import_path(tmp_path)
        assert live_edges(memory) == set()
        assert linked(memory) == LinkReport(edges=0, written=0, retracted=0, parsed=3), (
            "the import has retracted it already"
        )


def test_links_that_a_killed_run_did_not_write_are_written_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").write_text("def untangle(): ...\n")
    (tmp_path / "user.py").write_text("from a import untangle\n\nuntangle()\n")
    with opened() as memory:
        with monkeypatch.context() as killed, pytest.raises(KeyboardInterrupt):
            killed.setattr("clew.documents.importing.link_code", interrupted)
            memory.import_path(tmp_path)
        assert live_edges(memory) == set()
        assert memory.import_path(tmp_path).totals["unchanged"] == 2
        assert live_edges(memory) != set()


def interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_texts_that_differ_in_white_space_alone_are_not_taken_for_one_another(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.py").write_text("def f(): ...\n\n\n\n\ndef g(): f()\n")
    (tmp_path / "b.py").write_text("def f(): ...\ndef g(): f()\n")
    known: SymbolCache = {}
    with opened() as memory:
        memory.import_path(tmp_path)
        assert linked(memory, known).parsed == 2
