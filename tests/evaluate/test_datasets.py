"""Every loader reads its published layout: small self-made folders, one for each."""

from __future__ import annotations

import gzip
import hashlib
import json
import pickle
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from clew.errors import InputError
from clew.evaluate.chunkers import CHUNK, Fixed, cut
from clew.evaluate.data import Dataset, Query
from clew.evaluate.datasets import card, catalogue, load, presence
from clew.evaluate.datasets.locomo import paired

FIXTURES = Path(__file__).parent / "fixtures"
TIMES = ("When did Ada adopt a parrot?", "What did Ada adopt?", "How often?", "When was Bo hired?")
Planted = Callable[[str], Path]


@pytest.fixture
def planted(tmp_path: Path) -> Planted:
    """Copy a fixture and write its source trees, which are kept as JSON so that no tool takes them for ours."""

    def plant(name: str) -> Path:
        folder = tmp_path / name
        shutil.copytree(FIXTURES / name, folder)
        trees = folder / "trees.json"
        for path, text in (
            json.loads(trees.read_text(encoding="utf-8")).items() if trees.exists() else ()
        ):
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="")
        trees.unlink(missing_ok=True)
        return folder

    return plant


def only(dataset: Dataset, id: str) -> Query:
    (query,) = (query for query in dataset.queries if query.id == id)
    return query


def test_locomo_turns_carry_speaker_caption_time_and_session() -> None:
    dataset = load("locomo", FIXTURES / "locomo")
    turns = [passage for passage in dataset.passages if passage.space == "conv-4"]
    assert [turn.keys["turn"] for turn in turns] == [
        "conv-4/D1:1",
        "conv-4/D1:2",
        "conv-4/D2:1",
        "conv-4/D10:1",
    ]
    assert turns[1].text == "Bo: Look at this! [a photo of a red kite]"
    assert turns[1].time == datetime(2024, 3, 3, 13, 5, tzinfo=UTC)
    assert turns[3].time == datetime(2024, 4, 11, 0, 30, tzinfo=UTC)
    assert turns[3].keys["session"] == "conv-4/D10"


def test_locomo_evidence_is_every_turn_that_exists_and_the_rest_is_reported() -> None:
    dataset = load("locomo", FIXTURES / "locomo")
    query = only(dataset, "conv-4/q1")
    assert query.relevant == {
        "turn": {"conv-4/D1:2": 1, "conv-4/D10:1": 1},
        "session": {"conv-4/D1": 1, "conv-4/D10": 1},
    }
    assert any("conv-4/D99:1 (conv-4/q1)" in note for note in dataset.notes)
    assert [query.category for query in dataset.queries[:5]] == [
        "single-hop",
        "multi-hop",
        "temporal",
        "open",
        "adversarial",
    ]


def test_lihua_chats_are_sessions_with_their_messages_and_evidence_names_them() -> None:
    dataset = load("lihua", FIXTURES / "lihua", part="dev")
    assert [(chat.id, chat.time, len(chat.messages)) for chat in dataset.passages] == [
        ("20260105_0900", datetime(2026, 1, 5, 9, tzinfo=UTC), 3),
        ("20260106_1015", datetime(2026, 1, 6, 10, 15, tzinfo=UTC), 1),
        ("20260112_1800", datetime(2026, 1, 12, 18, tzinfo=UTC), 2),
    ]
    assert (
        dataset.passages[1].messages[0].text == "Your bread has been delivered.\nIt is still warm."
    )
    assert [dict(query.relevant.get("session", {})) for query in dataset.queries] == [
        {"20260105_0900": 1, "20260112_1800": 1},
        {"20260106_1015": 1},
        {},
        {"20260112_1800": 1},
        {},
    ]
    assert [query.category for query in dataset.queries] == [
        "Multi",
        "Single",
        "Null",
        "Single",
        "Single",
    ]
    assert dataset.notes == ("1 questions without evidence that names a chat: 4",)


def test_locomo_parts_are_conversations() -> None:
    spaces = {
        part: {query.space for query in load("locomo", FIXTURES / "locomo", part=part).queries}
        for part in ("dev", "test", "all")
    }
    assert spaces["dev"] == {f"conv-{n}" for n in range(4)} and spaces["test"] == {
        "conv-4",
        "conv-5",
    }
    assert spaces["all"] == spaces["dev"] | spaces["test"]


def test_locomo_audit_leaves_out_the_questions_listed() -> None:
    plain, audited = (load("locomo", FIXTURES / "locomo", audit=audit) for audit in (False, True))
    assert {query.id for query in plain.queries} - {query.id for query in audited.queries} == {
        "conv-4/q2"
    }
    assert plain.data_hash != audited.data_hash  # the audit file was read too


def test_locomo_pairs_ask_about_two_events_and_want_what_tells_of_either() -> None:
    """Each question about a time is paired with one further on in its conversation.

    The five ways to ask take turns.
    """
    at = [
        Query(id=f"a/q{n}", text=text, space="a", relevant={"turn": {f"a/D{n}:1": 1}})
        for n, text in enumerate(TIMES)
    ]
    lonely = Query(id="b/q0", text="When did Cy sail?", space="b", relevant={"turn": {"b/D1:1": 1}})
    first, *_, last = pairs = paired([*at, lonely])
    assert (first.id, first.space, first.category) == ("a/q0+q3", "a", "time between")
    assert (
        first.text
        == "How many days passed between the day Ada adopt a parrot and the day Bo was hired?"
    )
    assert first.relevant == {"turn": {"a/D0:1": 1, "a/D3:1": 1}}
    assert last.text == "Which happened first, Bo was hired or Ada adopt a parrot?"
    assert len(pairs) == 2, (
        "no other question asks when, and a conversation with one event has no pair"
    )


@pytest.mark.parametrize("folder", ["longmemeval", "longmemeval_list"])
def test_longmemeval_is_read_from_a_list_and_from_lines(folder: str) -> None:
    dataset = load("longmemeval", FIXTURES / folder, part="all")
    assert [passage.id for passage in dataset.passages] == ["s1", "s2", "s3", "s4"]
    assert dataset.passages[0].text == "user: I talk about s1.\n\nassistant: Tell me more of s1."
    assert dataset.passages[0].time == datetime(2024, 5, 10, 8, 0, tzinfo=UTC)
    assert only(dataset, "q1").relevant == {"session": {"s1": 1, "s2": 1}}
    assert only(dataset, "q1").asked_at == datetime(2024, 5, 28, 23, 59, 59, tzinfo=UTC), (
        "sessions of the same day count, whatever the hour"
    )
    assert any("another date" in note for note in dataset.notes)


def test_longmemeval_keeps_the_earliest_date_of_a_session_that_several_questions_share(
    tmp_path: Path,
) -> None:
    line = json.loads(
        (FIXTURES / "longmemeval" / "longmemeval_oracle.jsonl")
        .read_text(encoding="utf-8")
        .splitlines()[0]
    )
    earlier = {
        **line,
        "question_id": "q9",
        "haystack_dates": ["2020/01/01 (Wed) 08:00"] * len(line["haystack_dates"]),
    }
    (tmp_path / "longmemeval_s.jsonl").write_text(
        "\n".join(map(json.dumps, (line, earlier))), encoding="utf-8"
    )
    assert {
        passage.time.year
        for passage in load("longmemeval", tmp_path, part="all").passages
        if passage.time
    } == {2020}


def test_longmemeval_questions_may_be_asked_at_the_end_of_all() -> None:
    assert (
        only(load("longmemeval", FIXTURES / "longmemeval", part="all", dated=False), "q1").asked_at
        is None
    )


def test_longmemeval_abstentions_have_nothing_relevant() -> None:
    query = only(load("longmemeval", FIXTURES / "longmemeval", part="all"), "q2_abs")
    assert (query.category, query.relevant) == ("knowledge-update_abs", {})


def test_longmemeval_turns_are_judged_by_their_flag() -> None:
    dataset = load("longmemeval", FIXTURES / "longmemeval", part="all", unit="turn")
    assert dataset.levels == ("session", "turn")
    assert dataset.passages[1].keys == {"session": "s1", "turn": "s1#1"}
    assert only(dataset, "q1").relevant["turn"] == {"s1#0": 1, "s2#0": 1}


def test_longmemeval_unpooled_gives_each_question_its_own_sessions() -> None:
    dataset = load("longmemeval", FIXTURES / "longmemeval", part="all", pool=False)
    assert [passage.id for passage in dataset.passages if passage.space == "q3"] == [
        "q3/s4",
        "q3/s1",
    ]
    assert len({passage.id for passage in dataset.passages}) == 5


def test_beir_reads_judgements_of_the_asked_split() -> None:
    dataset = load("beir", FIXTURES / "beir")
    assert {query.id: query.relevant["document"] for query in dataset.queries} == {
        "1": {"d1": 2},
        "2": {"d2": 1},
    }
    assert dataset.passages[0].title == "Bees" and len(dataset.passages) == 3
    assert any("gone (1)" in note for note in dataset.notes)
    # no dev.tsv: train.tsv
    assert [query.id for query in load("beir", FIXTURES / "beir", part="dev").queries] == ["3"]
    assert len(load("scifact", FIXTURES / "beir", part="all").queries) == 3


def test_multi_hop_gold_by_place_in_the_corpus() -> None:
    dataset = load("2wiki", FIXTURES / "hipporag_derived", part="dev")
    assert dataset.queries[0].relevant == {"passage": {"0": 1, "1": 1}}
    assert dataset.queries[0].category == "compositional"


def test_multi_hop_passages_come_with_titles_apart_as_headings_or_without() -> None:
    apart, above, bare = (
        load("2wiki", FIXTURES / "hipporag_derived", part="dev", titles=way).passages
        for way in ("apart", "heading", "none")
    )
    assert all(passage.title for passage in apart)
    assert [(passage.title, passage.text) for passage in above] == [
        ("", f"{passage.title}\n{passage.text}") for passage in apart
    ]
    assert [(passage.title, passage.text) for passage in bare] == [
        ("", passage.text) for passage in apart
    ]
    with pytest.raises(InputError, match="titles: is no place for a title"):
        load("2wiki", FIXTURES / "hipporag_derived", part="dev", titles="below")


def test_multi_hop_gold_by_supporting_facts_uses_text_then_a_title_that_is_unique() -> None:
    dataset = load("hotpotqa", FIXTURES / "hipporag_hotpot", part="dev")
    assert dataset.queries[0].relevant == {"passage": {"0": 1, "1": 1, "3": 1}}


def test_multi_hop_gold_by_supporting_paragraphs_reports_what_the_corpus_lacks() -> None:
    dataset = load("musique", FIXTURES / "hipporag_musique", part="dev")
    assert dataset.queries[0].relevant == {"passage": {"0": 1}}
    assert any("Nowhere (2hop__1_2)" in note for note in dataset.notes)


def test_swe_qa_documents_are_python_files_by_project(planted: Planted) -> None:
    folder = planted("swe_qa")
    dev, test = load("swe-qa", folder, part="dev"), load("swe-qa", folder)
    assert [
        (document.space, document.keys["file"], document.format) for document in dev.documents
    ] == [("pallets/flask", "src/flask/app.py", "python")]
    assert [query.relevant for query in test.queries] == [
        {"file": {"other/a.py": 1, "other/b.py": 1}},
        {"file": {}},
    ]
    assert any("other/c.py (other-1)" in note for note in test.notes)


def test_swe_qa_reads_a_source_distribution_without_unpacking_it(
    planted: Planted, tmp_path: Path
) -> None:
    folder, archives = planted("swe_qa"), tmp_path / "archives"
    archives.mkdir()
    with tarfile.open(archives / "flask-3.1.2.tar.gz", "w:gz") as archive:
        archive.add(folder / "sources/flask-3.1.2", arcname="flask-3.1.2")
    unpacked, packed = (
        load("swe-qa", folder, part="dev"),
        load("swe-qa", folder, part="dev", sources=archives),
    )
    assert packed == unpacked


def test_swe_qa_without_sources_says_how_to_get_them(planted: Planted) -> None:
    folder = planted("swe_qa")
    shutil.rmtree(folder / "sources")
    with pytest.raises(InputError, match="fetch_sources"):
        load("swe-qa", folder)


def test_semble_documents_are_the_files_below_the_folder_that_the_set_names(
    planted: Planted,
) -> None:
    dataset = load("semble", planted("semble"), part="dev")
    assert [
        (document.keys["file"], document.format)
        for document in dataset.documents
        if document.space == "alpha"
    ] == [
        ("src/alpha/boiler.py", "python"),
        ("src/alpha/pump.py", "python"),
    ]
    assert only(dataset, "alpha/0").relevant == {
        "file": {"src/alpha/boiler.py": 1, "src/alpha/pump.py": 1}
    }
    assert any("src/alpha/gone.py (alpha/0)" in note for note in dataset.notes)


def test_semble_takes_tests_and_documentation_from_the_whole_tree(planted: Planted) -> None:
    dataset = load("semble", planted("semble"), part="dev", whole=True)
    files = {document.keys["file"] for document in dataset.documents if document.space == "alpha"}
    assert files == {
        "README.md",
        "src/alpha/boiler.py",
        "src/alpha/pump.py",
        "tests/test_boiler.py",
    }


def test_semble_reads_gold_with_lines_and_reports_projects_without_sources(
    planted: Planted,
) -> None:
    dataset = load("semble", planted("semble"))
    assert [(query.id, query.category, query.relevant) for query in dataset.queries] == [
        ("zeta/0", "symbol", {"file": {"lib/router.js": 1}})
    ]
    assert [document.format for document in dataset.documents] == ["javascript"]
    assert any("left out: eta" in note for note in dataset.notes)


def test_swe_bench_gold_is_what_the_patch_changes(planted: Planted) -> None:
    dataset = load("swe-bench", planted("swe_bench"))
    assert [document.keys["file"] for document in dataset.documents] == [
        "pkg/core.py",
        "pkg/other.py",
    ]
    assert dataset.queries[0].relevant == {"file": {"pkg/core.py": 1}}
    assert any("pkg/new.py" in note for note in dataset.notes)


def test_swe_bench_reads_the_base_commit_of_a_clone_and_not_its_working_tree(
    planted: Planted,
) -> None:
    folder = planted("swe_bench")
    clone = folder / "sources/some__tool"
    (folder / "sources/some__tool-1").rename(clone)
    git(clone, "init", "-q")
    git(clone, "add", ".")
    git(clone, "commit", "-q", "-m", "base")
    commit = git(clone, "rev-parse", "HEAD").strip()
    (clone / "pkg/core.py").write_text("later = True\n", encoding="utf-8")
    rows = folder / "lite.test.jsonl"
    rows.write_text(rows.read_text(encoding="utf-8").replace("abc123", commit), encoding="utf-8")
    dataset = load("swe-bench", folder)
    assert {document.keys["file"]: document.text for document in dataset.documents} == {
        "pkg/core.py": "x = 1\n",
        "pkg/other.py": "z = 3\n",
    }
    assert (clone / "pkg/core.py").read_text(encoding="utf-8") == "later = True\n"


def git(clone: Path, *arguments: str) -> str:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(
        ["git", "-C", str(clone), *who, *arguments], capture_output=True, text=True, check=True
    ).stdout


def test_repoeval_finds_the_missing_lines_and_neither_side_holds_the_other(
    planted: Planted,
) -> None:
    dataset = load("repoeval", planted("repoeval"))
    documents = {document.id: document for document in dataset.documents}
    assert [query.id for query in dataset.queries] == ["some_repo/0#0", "some_repo/1#1"]
    for query in dataset.queries:
        (span,) = query.spans
        missing = documents[span.document].text[span.start : span.end]
        # the question does not hold its answer
        assert missing.strip() and missing.strip() not in query.text
        assert not set(filter(str.strip, query.text.splitlines())) & set(
            documents[span.document].text.splitlines()
        ) - {missing_line(dataset)}
    assert dataset.queries[0].text.splitlines()[-1] == "value_25 = compute(25)"


def missing_line(dataset: Dataset) -> str:
    """Return the first question's missing line, which stands in the second one's window and stays in the corpus."""
    (span,) = dataset.queries[0].spans
    return next(
        document.text[span.start : span.end]
        for document in dataset.documents
        if document.id == span.document
    )


def test_repoeval_reports_questions_that_are_lost_or_repeat_their_answer(planted: Planted) -> None:
    notes = load("repoeval", planted("repoeval")).notes
    assert any("not in the sources: some_repo/2#2" in note for note in notes)
    assert any("repeat their answer: some_repo/3#3" in note for note in notes)


def test_repoeval_blanking_keeps_offsets_and_leaves_the_rest_alone(planted: Planted) -> None:
    folder = planted("repoeval")
    before = (folder / "repositories/line_and_api_level/some_repo/pkg/mod.py").read_text(
        encoding="utf-8"
    )
    (after,) = (
        document.text
        for document in load("repoeval", folder).documents
        if document.keys["file"] == "pkg/mod.py"
    )
    assert [len(line) for line in after.splitlines()] == [len(line) for line in before.splitlines()]
    assert after.splitlines()[:5] == before.splitlines()[:5]


def test_repoeval_function_level_numbers_lines_from_one_and_is_found_all_the_same(
    planted: Planted,
) -> None:
    dataset = load("repoeval", planted("repoeval"), task="function", window=3)
    (span,), (document,) = dataset.queries[0].spans, dataset.documents
    assert document.text[span.start : span.end] == "    # the end of a list\n    return items[-1]"


def test_repoeval_chunks_are_judged_by_overlap_of_lines(planted: Planted) -> None:
    dataset = cut(load("repoeval", planted("repoeval")), Fixed(20))
    (span,), relevant = dataset.queries[1].spans, dataset.queries[1].relevant[CHUNK]
    shared = {
        passage.id: range(max(passage.start, span.start), min(passage.end, span.end))
        for passage in dataset.passages
    }
    assert relevant.keys() == {
        passage.id
        for passage in dataset.passages
        if passage.document == span.document and shared[passage.id]
    }
    assert any("items" in passage.text for passage in dataset.passages if passage.id in relevant)


def test_repobench_gives_each_question_its_own_candidates() -> None:
    dataset = load("repobench-r", FIXTURES / "repobench")
    first, second = dataset.queries
    candidates = [passage for passage in dataset.passages if passage.space == first.space]
    (gold,) = first.relevant["snippet"]
    assert [passage.id for passage in candidates].index(gold) == 1 and len(candidates) == 3
    assert first.text == "a = 1\nb = 2\nc = 3"
    assert second.category == "2k" and len(dataset.passages) == 4
    assert len(load("repobench-r", FIXTURES / "repobench", part="dev").queries) == 1


def test_repobench_reads_the_published_pickle(tmp_path: Path) -> None:
    row = json.loads(
        (FIXTURES / "repobench/python_cff.train_easy.jsonl").read_text(encoding="utf-8")
    )
    content = {"train": {"easy": [row], "hard": []}, "test": {"easy": [row], "hard": [row]}}
    (tmp_path / "python_cff.gz").write_bytes(gzip.compress(pickle.dumps(content)))
    assert [query.category for query in load("repobench-r", tmp_path).queries] == [
        "python_cff/easy",
        "python_cff/hard",
    ]


def test_repobench_runs_nothing_that_a_pickle_asks_for(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "owned",))

    (tmp_path / "python_cff.gz").write_bytes(
        gzip.compress(pickle.dumps({"test": {"easy": [Evil()]}}))
    )
    with pytest.raises(InputError, match="plain data"):
        load("repobench-r", tmp_path)
    assert not (tmp_path / "owned").exists()


def test_chroma_spans_point_at_the_quoted_text() -> None:
    dataset = load("chroma-chunking", FIXTURES / "chroma", part="all")
    texts = {document.id: document.text for document in dataset.documents}
    assert [
        [texts[span.document][span.start : span.end] for span in query.spans]
        for query in dataset.queries
    ] == [
        ["The café opens at nine."],
        ["Sales rose.", "Costs fell."],
    ]
    assert "\r\n" in texts["chatlogs"]  # line ends are untouched, or offsets would slip
    assert [
        query.category for query in load("chroma-chunking", FIXTURES / "chroma", part="dev").queries
    ] == ["chatlogs"]
    # all corpora are searched, whatever the part
    assert len(load("chroma-chunking", FIXTURES / "chroma").documents) == 2


def test_legalbench_spans_are_characters_of_the_corpus() -> None:
    dataset = load("legalbench-rag", FIXTURES / "legal")
    texts = {document.id: document.text for document in dataset.documents}
    assert [
        texts[span.document][span.start : span.end]
        for query in dataset.queries
        for span in query.spans
    ] == [
        "2. It ends in a year.",
        "We keep your name.",
    ]
    assert [query.category for query in dataset.queries] == ["contractnli", "privacy_qa"]


def test_the_limit_takes_the_first_questions_and_leaves_the_corpus_whole() -> None:
    whole, few = load("beir", FIXTURES / "beir"), load("beir", FIXTURES / "beir", limit=1)
    assert few.queries == whole.queries[:1] and few.passages == whole.passages


def test_the_hash_is_that_of_the_bytes_read() -> None:
    content = (FIXTURES / "longmemeval/longmemeval_oracle.jsonl").read_bytes()
    assert (
        load("longmemeval", FIXTURES / "longmemeval", part="dev").data_hash
        == hashlib.sha256(content).hexdigest()
    )


@pytest.mark.parametrize(
    "name", ["locomo", "longmemeval", "lihua", "beir", "chroma", "legal", "repobench"]
)
def test_loading_twice_gives_the_same(name: str) -> None:
    named = {
        "chroma": "chroma-chunking",
        "legal": "legalbench-rag",
        "repobench": "repobench-r",
    }.get(name, name)
    assert load(named, FIXTURES / name, part="all") == load(named, FIXTURES / name, part="all")


def test_the_catalogue_names_licence_source_files_and_parts_of_every_set() -> None:
    for entry in catalogue():
        assert (
            entry.licence
            and entry.source
            and entry.files
            and entry.levels
            and "all" in entry.parts
            and "test" in entry.parts
        )
    assert len({entry.name for entry in catalogue()}) == len(catalogue()) == 19


def test_presence_tells_what_is_there_and_what_is_not(tmp_path: Path) -> None:
    here = presence(card("beir"), FIXTURES / "beir")
    assert here.complete and here.present == ("corpus.jsonl", "qrels/test.tsv", "queries.jsonl")
    gone = presence(card("beir"), tmp_path / "nowhere")
    assert not gone.complete and gone.missing == card("beir").files
