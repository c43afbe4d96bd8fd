"""Sets of source code: releases in the place of checkouts, rules of RepoBench, and questions made from call graphs."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from clew.errors import InputError
from clew.evaluate.comparing import Contest, compare_policies
from clew.evaluate.datasets import load
from clew.evaluate.plan import Plan, Watch
from clew.evaluate.report import PolicySample
from clew.evaluate.running import run

ROW = {
    "repo_name": "some/repo",
    "context": [
        "def far(): ...",
        "def near(shelf): return shelf",
        "def near(shelf): return shelf + 1",
    ],
    "code": "from pkg.near import near\n\nnear(shelf)",
    "next_line": "d = near()",
    "gold_snippet_index": 1,
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    project = tmp_path / "shop-1.0" / "shop"
    (tmp_path / "shop-1.0" / "tests").mkdir(parents=True)
    project.mkdir()
    (project / "__init__.py").write_text("", encoding="utf-8")
    (project / "cart.py").write_text(
        "from shop.price import total_price\n\n\ndef checkout(items):\n    return total_price(items)\n",
        encoding="utf-8",
    )
    (project / "price.py").write_text(
        "from shop.tax import added_tax\n\n\ndef total_price(items):\n    return added_tax(sum(items))\n",
        encoding="utf-8",
    )
    (project / "tax.py").write_text(
        "def added_tax(amount):\n    return amount * 1.2\n", encoding="utf-8"
    )
    (tmp_path / "shop-1.0" / "tests" / "test_cart.py").write_text(
        "from shop.cart import checkout\n\n\ndef test_checkout():\n    assert checkout([1])\n",
        encoding="utf-8",
    )
    return tmp_path


def test_a_release_stands_in_for_the_base_commit(tmp_path: Path) -> None:
    patch = "--- a/pkg/core.py\n+++ b/pkg/core.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"
    row = {
        "instance_id": "a__tool-1",
        "repo": "a/tool",
        "base_commit": "abc",
        "patch": patch,
        "problem_statement": "x",
        "sdist": "tool==1.2",
    }
    (tmp_path / "lite_test.jsonl").write_text(json.dumps(row), encoding="utf-8")
    (tmp_path / "sources" / "tool-1.2" / "pkg").mkdir(parents=True)
    (tmp_path / "sources" / "tool-1.2" / "pkg" / "core.py").write_text("x = 1\n", encoding="utf-8")
    made = load("swe-bench", tmp_path)
    assert [document.keys["file"] for document in made.documents] == ["pkg/core.py"]
    assert made.queries[0].relevant == {"file": {"pkg/core.py": 1}}
    (tmp_path / "lite_test.jsonl").write_text(
        json.dumps({**row, "sdist": "../tool==1.2"}), encoding="utf-8"
    )
    with pytest.raises(InputError, match="sources"):
        load("swe-bench", tmp_path)


def test_projects_of_repoeval_without_a_release_are_left_out_and_told(tmp_path: Path) -> None:
    def task(repo: str) -> dict[str, object]:
        about = {
            "task_id": f"{repo}/idx",
            "ground_truth": "    return 1\n",
            "fpath_tuple": [repo, "pkg", "core.py"],
            "lineno": 1,
        }
        return {"prompt": "def one():", "metadata": about}

    (tmp_path / "datasets").mkdir()
    lines = "".join(json.dumps(task(repo)) + "\n" for repo in ("own_tool", "other_gone"))
    (tmp_path / "datasets" / "function_level_completion_2k_context_codex.test.jsonl").write_text(
        lines, encoding="utf-8"
    )
    (tmp_path / "sources" / "tool-1.0" / "pkg").mkdir(parents=True)
    (tmp_path / "sources" / "tool-1.0" / "pkg" / "core.py").write_text(
        "def one():\n    return 1\n", encoding="utf-8"
    )
    made = load("repoeval", tmp_path, task="function", sources=str(tmp_path / "sources"))
    assert len(made.queries) == 1
    assert any("1 projects without sources left out: other_gone" in note for note in made.notes)


def test_repobench_counts_by_index_or_also_what_is_nearly_the_gold_snippet(tmp_path: Path) -> None:
    (tmp_path / "python_cff.test_easy.jsonl").write_text(json.dumps(ROW), encoding="utf-8")
    (by_index,) = load("repobench-r", tmp_path).queries
    (by_jaccard,) = load("repobench-r", tmp_path, rule="jaccard").queries
    assert len(by_index.relevant["snippet"]) == 1
    assert len(by_jaccard.relevant["snippet"]) == 2
    with pytest.raises(InputError, match="rule"):
        load("repobench-r", tmp_path, rule="magic")


def test_the_authors_lexical_retriever_is_a_system(tmp_path: Path) -> None:
    rows = [ROW, {**ROW, "context": ["near shelf", "def nothing(): ..."], "gold_snippet_index": 1}]
    (tmp_path / "python_cff.test_easy.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )
    plan = Plan(
        dataset="repobench-r",
        path=tmp_path,
        resamples=50,
        cache=tmp_path / "cache",
        settings={"model.embedder": "none"},
    )
    result = run(plan, systems=("jaccard",), watch=Watch()).result
    row = next(row for row in result.rows if row.system == "jaccard")
    assert row.measures["hit@1"] == 0.5
    assert row.cost["chunks_examined"] == 2.5  # every candidate is read


def test_questions_follow_calls_from_file_to_file_and_never_begin_in_a_test(tree: Path) -> None:
    made = load("code-paths", tree)
    chains = {query.category: query for query in made.queries if "`checkout`" in query.text}
    assert chains["one call"].paths == (("shop/cart.py", "shop/price.py"),)
    assert chains["2 calls"].paths == (("shop/cart.py", "shop/price.py", "shop/tax.py"),)
    assert set(chains["2 calls"].relevant["file"]) == {
        "shop/cart.py",
        "shop/price.py",
        "shop/tax.py",
    }
    assert not any("test_checkout" in query.text for query in made.queries)
    for query in made.queries:
        assert all(
            name not in query.text
            for name in ("total_price", "added_tax")
            if f"`{name}`" not in query.text
        )
    assert load("code-paths", tree).queries == made.queries


def test_path_coverage_and_recall_hop_by_hop_are_measured(tree: Path) -> None:
    plan = Plan(
        dataset="code-paths",
        path=tree,
        chunk_size=60,
        resamples=50,
        measures=("recall@4", "path@4"),
        cache=tree / ".cache",
        settings={"model.embedder": "none"},
    )
    report = compare_policies(plan, Contest(budget=4, chunks_per_hop=2, recipe="lexical"), Watch())
    rows = {row.system: row.measures for row in report.result.rows}
    assert rows["multi-hop@4"]["path@4"] > rows["single-hop@4"]["path@4"]
    hops = {each.hop: each.recall for each in report.result.hopwise if each.system == "multi-hop@4"}
    assert hops[2] > hops[1]
    assert all(isinstance(each, PolicySample) for each in report.samples)


class Model(BaseHTTPRequestHandler):
    """Phrases a question; loses the name of every second one."""

    asked = 0

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = body["messages"][1]["content"]
        name = text.split("`")[1]
        said = f"Where does `{name}` lead?" if Model.asked % 2 == 0 else "Where does it lead?"
        Model.asked += 1
        answer = json.dumps({"choices": [{"message": {"content": said}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    Model.asked = 0
    with HTTPServer(("127.0.0.1", 0), Model) as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{made.server_port}/v1"
        made.shutdown()
        thread.join()


def test_a_language_model_may_phrase_the_questions_and_is_named_and_asked_once(
    tree: Path, server: str
) -> None:
    made = load("code-paths", tree, phrased=f"tiny@{server}")
    phrased = [query for query in made.queries if query.text.startswith("Where does `")]
    assert len(phrased) == (len(made.queries) + 1) // 2
    assert any(
        note == f"Phrased by tiny; {len(made.queries) // 2} keep the template's words."
        for note in made.notes
    )
    asked = Model.asked
    assert load("code-paths", tree, phrased=f"tiny@{server}").queries == made.queries
    assert Model.asked == asked
    with pytest.raises(InputError, match="MODEL@URL"):
        load("code-paths", tree, phrased="tiny")
