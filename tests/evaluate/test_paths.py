"""Gold paths between the files of a question, and how much of them a ranking holds."""

from __future__ import annotations

import pytest

from clew.evaluate.codepaths import code_graphs, gold_paths, query_paths
from clew.evaluate.data import Document, Query
from clew.evaluate.measures.rankings import path_at, path_coverage
from clew.graph.code.graph import CodeGraph, build_graph

CHAIN = {
    "a.py": "import b\n",
    "b.py": "import c\nimport x\n",
    "c.py": "import d\n",
    "d.py": "import a\n",
    "x.py": "import d\n",
    "alone.py": "",
}


def chain() -> CodeGraph:
    return build_graph(CHAIN, dict.fromkeys(CHAIN, "python"))


def asked(*gold: str, id: str = "q", space: str = "s") -> Query:
    return Query(id=id, text="?", space=space, relevant={"file": dict.fromkeys(gold, 1)})


def test_a_gold_path_is_the_shortest_in_either_direction() -> None:
    assert gold_paths(chain(), ["a.py"], ["b.py"]) == (("a.py", "b.py"),)
    assert gold_paths(chain(), ["a.py"], ["c.py"]) == (("a.py", "b.py", "c.py"),)
    assert gold_paths(chain(), ["a.py"], ["d.py"]) == (("d.py", "a.py"),)


def test_paths_that_are_too_long_and_files_that_nothing_connects_have_none() -> None:
    assert gold_paths(chain(), ["a.py"], ["c.py"], max_hops=1) == ()
    assert gold_paths(chain(), ["a.py", "alone.py"], ["alone.py", "absent.py"]) == ()


def test_of_paths_of_one_length_the_first_by_name_is_taken() -> None:
    assert gold_paths(chain(), ["b.py"], ["d.py"]) == (("b.py", "c.py", "d.py"),)


def test_of_paths_of_one_length_the_surest_is_taken() -> None:
    texts = {
        "s.py": "from m import f\nfrom z import f2\n",
        "m.py": "from e import f",
        "z.py": "import t",
        "e.py": "def f(): ...\nimport t",
    }
    made = build_graph({**texts, "t.py": ""}, dict.fromkeys([*texts, "t.py"], "python"))
    assert made.neighbours()["s.py"] == {"m.py": 1.0, "z.py": 1.0, "e.py": 0.95}
    assert gold_paths(made, ["s.py"], ["t.py"]) == (("s.py", "z.py", "t.py"),)


def test_a_question_has_the_paths_between_its_own_files() -> None:
    documents = [
        Document(id=f"s/{path}", text=text, space="s", keys={"file": path})
        for path, text in CHAIN.items()
    ]
    queries = [
        asked("a.py", "b.py", "d.py"),
        asked("a.py", id="one"),
        asked("a.py", "alone.py", id="apart"),
        asked("a.py", "b.py", id="x", space="?"),
    ]
    assert query_paths(queries, code_graphs(documents)) == {
        "q": (("a.py", "b.py"), ("d.py", "a.py"), ("b.py", "c.py", "d.py"))
    }


def test_documents_that_are_no_source_are_no_part_of_a_graph() -> None:
    documents = [
        Document(id="1", text="import b", keys={"file": "a.md"}),
        Document(id="2", text="", keys={"file": "b.py"}),
    ]
    assert list(code_graphs([*documents, Document(id="3", text="")])["default"].files) == ["b.py"]


def test_path_at_k_is_the_share_of_each_path_among_the_first_k() -> None:
    paths = (("a", "b", "c"), ("c", "d"))
    ranking = ["c", "x", "a", "d"]
    assert [path_at(ranking, paths, k) for k in (1, 3, 4)] == pytest.approx(
        [(1 / 3 + 1 / 2) / 2, (2 / 3 + 1 / 2) / 2, (2 / 3 + 1) / 2]
    )
    assert path_at(ranking, paths, 4) == path_coverage(ranking, paths)
    assert path_at(ranking, (), 4) == 0.0
