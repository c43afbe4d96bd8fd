from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.errors import InputError, RefusedError
from clew.evaluate.data import Passage, Query, Span
from clew.evaluate.measures import (
    DEFAULT_MEASURES,
    SPAN_MEASURES,
    HopRecall,
    Measure,
    all_found,
    by_category,
    collapse,
    column,
    counts,
    hop_of_keys,
    hopwise_recall,
    in_order,
    mean_hops,
    measure,
    measures,
    overall,
    path_coverage,
    paths_complete,
    score,
    span_score,
)

NAMES = tuple(str(each) for each in DEFAULT_MEASURES)
PASSAGES = {id: Passage(id=id, text=id) for id in (f"p{place}" for place in range(40))}


def asked(
    relevant: Mapping[str, int], *, id: str = "q", level: str = "passage", category: str = ""
) -> Query:
    return Query(id=id, text="?", category=category, relevant={level: relevant})


def scored(ranking: Sequence[str], relevant: Mapping[str, int]) -> dict[str, float]:
    return score([asked(relevant)], {"q": ranking}, PASSAGES, level="passage")["q"]


# Names
#
# ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        *NAMES,
        "file-recall@10",
        "token-recall",
        "token-precision",
        "token-IoU",
        "token-IoU@5",
        "session-all@3",
    ],
)
def test_a_measure_is_read_from_its_name_and_prints_as_it(name: str) -> None:
    assert str(measure(name)) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "recall",
        "recall@0",
        "recall@-1",
        "recall@99999",
        "MRR@10",
        "ndcg@10",
        "F1@3",
        "file-token-recall",
        "a b@5",
    ],
)
def test_an_unknown_measure_is_refused_with_the_list_of_those_there_are(name: str) -> None:
    with pytest.raises(InputError, match="nDCG@k"):
        measure(name)


def test_a_level_in_front_of_a_measure_is_part_of_its_value() -> None:
    assert measure("file-recall@10") == Measure("recall", 10, "file")
    assert measure("token-recall") == Measure("token-recall")


def test_measures_are_ordered_as_tables_show_them_and_unknown_names_come_last() -> None:
    assert in_order(["zeal", "MRR", "recall@10", "file-recall@10", "recall@5"]) == [
        "recall@5",
        "recall@10",
        "file-recall@10",
        "MRR",
        "zeal",
    ]


# Hand-computed cases
#
# ------------------------------------------------------------------------------------------------------


def test_a_perfect_ranking_scores_one_in_every_measure_but_precision() -> None:
    values = scored([f"p{place}" for place in range(10)], {"p0": 1, "p1": 1, "p2": 1})
    assert {
        name: values[name] for name in NAMES if not name.startswith("precision")
    } == dict.fromkeys([name for name in NAMES if not name.startswith("precision")], 1.0)
    assert values["precision@5"] == pytest.approx(3 / 5)


def test_a_reversed_ranking_scores_what_its_last_places_are_worth() -> None:
    values = scored([f"p{place}" for place in reversed(range(10))], {"p0": 1, "p1": 1})
    ideal = 1 + 1 / math.log2(3)
    assert values == pytest.approx(
        {
            "recall@5": 0.0,
            "recall@10": 1.0,
            "hit@1": 0.0,
            "hit@5": 0.0,
            "hit@10": 1.0,
            "all@5": 0.0,
            "all@10": 1.0,
            "nDCG@10": (1 / math.log2(10) + 1 / math.log2(11)) / ideal,
            "MRR": 1 / 9,
            "precision@5": 0.0,
        }
    )


def test_recall_is_the_fraction_of_the_known_relevant_and_not_a_hit_rate() -> None:
    values = scored(["p0", "p9"], {"p0": 1, "p1": 1, "p2": 1, "p3": 1})
    assert (values["recall@10"], values["hit@10"], values["all@10"]) == (0.25, 1.0, 0.0)


def test_ndcg_divides_by_the_ideal_of_all_relevant_and_not_of_those_retrieved() -> None:
    assert scored(["p0"], {"p0": 1, "p1": 1})["nDCG@10"] == pytest.approx(
        1 / (1 + 1 / math.log2(3))
    )


def test_ndcg_counts_grades() -> None:
    values = scored(["p1", "p0"], {"p0": 2, "p1": 1})
    assert values["nDCG@10"] == pytest.approx((1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3)))


def test_a_grade_of_zero_is_not_relevant() -> None:
    assert scored(["p5", "p0"], {"p0": 1, "p5": 0})["MRR"] == 0.5


def test_a_missing_answer_and_an_empty_answer_score_zero_and_count() -> None:
    queries = [asked({"p0": 1}, id=id) for id in "abc"]
    scores = score(queries, {"a": ["p0"], "b": []}, PASSAGES, level="passage")
    assert set(scores["b"].values()) == set(scores["c"].values()) == {0.0}
    assert overall(scores)["recall@5"] == pytest.approx(1 / 3)


def test_a_question_with_nothing_relevant_at_a_level_is_left_out_of_it() -> None:
    queries = [
        asked({"p0": 1}, id="a"),
        asked({"p0": 0}, id="b"),
        asked({"f": 1}, id="c", level="file"),
    ]
    scores = score(
        queries, {}, PASSAGES, level="passage", measures=measures(["recall@5", "file-recall@10"])
    )
    assert scores == {"a": {"recall@5": 0.0}, "b": {}, "c": {"file-recall@10": 0.0}}


def test_the_order_of_a_run_is_kept_through_hundreds_of_places_and_whatever_the_ids() -> None:
    ids = [f"{7919 * place % 1009:04}" for place in range(900)]
    passages = {id: Passage(id=id, text="") for id in ids}
    for place in (0, 1, 511, 899):
        values = score([asked({ids[place]: 1})], {"q": ids}, passages, level="passage")
        assert values["q"]["MRR"] == pytest.approx(1 / (place + 1))


def test_a_run_that_names_an_unknown_passage_is_refused() -> None:
    with pytest.raises(InputError, match="does not have"):
        scored(["nowhere"], {"p0": 1})


# Levels
#
# -------------------------------------------------------------------------------------------------------------------


def filed(id: str, file: str) -> Passage:
    return Passage(id=id, text=id, keys={"file": file})


def test_a_ranking_collapses_to_keys_each_at_its_first_place() -> None:
    passages = {
        each.id: each
        for each in (
            filed("1", "a.py"),
            filed("2", "b.py"),
            filed("3", "a.py"),
            Passage(id="4", text=""),
        )
    }
    assert collapse(["1", "3", "4", "2", "1"], passages, "file") == ("a.py", "4", "b.py")


def test_file_recall_counts_files_and_not_chunks() -> None:
    passages = {f"{place}": filed(f"{place}", f"f{place // 12}.py") for place in range(24)}
    query = Query(id="q", text="?", relevant={"file": {"f0.py": 1, "f1.py": 1}, "chunk": {"23": 1}})
    run = {"q": [f"{place}" for place in range(24)]}
    values = score(
        [query], run, passages, level="chunk", measures=measures(["recall@10", "file-recall@10"])
    )
    assert values["q"] == {"recall@10": 0.0, "file-recall@10": 1.0}


# Spans
#
# --------------------------------------------------------------------------------------------------------------------


def test_overlapping_chunks_pay_for_what_they_say_twice() -> None:
    once = span_score([Span("d", 0, 10)], [Span("d", 0, 10)])
    twice = span_score([Span("d", 0, 10), Span("d", 0, 10)], [Span("d", 0, 10)])
    assert once == (1.0, 1.0, 1.0)
    assert twice == (1.0, 0.5, 0.5)


def test_text_of_another_document_costs_precision_and_finds_nothing() -> None:
    found = span_score([Span("other", 0, 10), Span("d", 5, 10)], [Span("d", 0, 10)])
    assert found == pytest.approx((0.5, 5 / 15, 5 / 20))


def test_nothing_returned_scores_zero() -> None:
    assert span_score([], [Span("d", 0, 4)]) == (0.0, 0.0, 0.0)


@given(
    st.lists(st.tuples(st.sampled_from("de"), st.integers(0, 30), st.integers(0, 12)), max_size=6),
    st.integers(0, 30),
    st.integers(1, 12),
)
def test_span_scores_agree_with_sets_of_characters(
    chunks: list[tuple[str, int, int]], start: int, length: int
) -> None:
    returned = [Span(document, first, first + size) for document, first, size in chunks]
    gold = {("d", place) for place in range(start, start + length)} | {
        ("e", place) for place in range(3)
    }
    listed = [(span.document, place) for span in returned for place in range(span.start, span.end)]
    shared = len(gold & set(listed))
    expected = (
        shared / len(gold),
        shared / len(listed) if listed else 0.0,
        shared / (len(listed) + len(gold) - shared),
    )
    found = span_score(
        returned, [Span("d", start, start + length), Span("e", 0, 3), Span("d", start, start + 1)]
    )
    assert found == pytest.approx(expected)


def test_span_measures_are_scored_from_passages_with_offsets_and_cut_off() -> None:
    passages = {
        "a": Passage(id="a", text="", document="d", start=0, end=10),
        "b": Passage(id="b", text="", document="d", start=10, end=20),
    }
    query = Query(id="q", text="?", spans=(Span("d", 10, 20),))
    values = score(
        [query],
        {"q": ["a", "b"]},
        passages,
        level="x",
        measures=(*SPAN_MEASURES, measure("token-recall@1")),
    )
    assert values["q"] == {
        "token-recall": 1.0,
        "token-precision": 0.5,
        "token-IoU": 0.5,
        "token-recall@1": 0.0,
    }


# Several steps
#
# --------------------------------------------------------------------------------------------------------------


def test_hopwise_recall_grows_by_what_each_hop_found() -> None:
    steps = hopwise_recall({"a": 1, "x": 1, "b": 3}, {"a", "b", "never"}, hops=3)
    assert [step.recall for step in steps] == pytest.approx([1 / 3, 1 / 3, 2 / 3])
    assert [step.found for step in steps] == [2, 0, 1]
    assert math.fsum(step.gain for step in steps) == pytest.approx(steps[-1].recall)


def test_hops_are_averaged_over_questions() -> None:
    assert mean_hops([[HopRecall(1, 1.0, 1.0, 4)], [HopRecall(1, 0.5, 0.5, 2)]]) == (
        HopRecall(1, 0.75, 0.75, 3),
    )
    assert mean_hops([]) == ()


def test_a_key_belongs_to_the_first_hop_that_found_one_of_its_passages() -> None:
    passages = {"1": filed("1", "a.py"), "2": filed("2", "a.py")}
    assert hop_of_keys({"1": 2, "2": 1}, passages, "file") == {"a.py": 1}


def test_path_coverage_is_the_share_of_nodes_and_a_complete_path_has_them_all() -> None:
    assert path_coverage(["a", "c"], [["a", "b", "c"], ["c"]]) == pytest.approx((2 / 3 + 1) / 2)
    assert paths_complete(["a", "c"], [["a", "b", "c"], ["c"]]) == 0.5
    assert path_coverage([], []) == paths_complete([], [[]]) == 0.0


# Means
#
# --------------------------------------------------------------------------------------------------------------------


def test_means_are_taken_overall_and_by_category() -> None:
    queries = [
        asked({"p0": 1}, id=id, category=category)
        for id, category in (("a", "x"), ("b", "y"), ("c", "y"), ("d", ""))
    ]
    scores = score(
        queries, {"a": ["p0"], "b": ["p0"]}, PASSAGES, level="passage", measures=measures(["hit@1"])
    )
    assert overall(scores) == {"hit@1": 0.5}
    assert by_category(scores, queries) == {"x": {"hit@1": 1.0}, "y": {"hit@1": 0.5}}
    assert counts(scores, queries, "hit@1") == {"x": 1, "y": 2}
    assert column(scores, "hit@1") == {"a": 1.0, "b": 1.0, "c": 0.0, "d": 0.0}


# Properties
#
# ---------------------------------------------------------------------------------------------------------------

rankings = st.permutations([f"p{place}" for place in range(14)])
relevances = st.dictionaries(
    st.sampled_from([f"p{place}" for place in range(18)]), st.integers(1, 3), min_size=1, max_size=8
)


@given(rankings, relevances)
def test_every_measure_lies_between_zero_and_one_and_all_hit_recall_and_precision_agree(
    ranking: list[str], relevant: dict[str, int]
) -> None:
    values = scored(ranking, relevant)
    assert all(0 <= value <= 1 + 1e-12 for value in values.values())
    for cutoff in (5, 10):
        assert (
            values[f"all@{cutoff}"]
            <= values[f"recall@{cutoff}"] + 1e-12
            <= values[f"hit@{cutoff}"] + 2e-12
        )
    assert values["recall@5"] <= values["recall@10"]
    assert values["hit@1"] <= values["hit@5"] <= values["hit@10"]
    assert values["precision@5"] * 5 == pytest.approx(values["recall@5"] * len(relevant))
    assert values["hit@1"] <= values["MRR"]


@given(rankings, relevances)
def test_the_library_agrees_with_the_definitions_written_out(
    ranking: list[str], relevant: dict[str, int]
) -> None:
    values = scored(ranking, relevant)
    gains = [relevant.get(key, 0) for key in ranking]
    first = next((place for place, gain in enumerate(gains, start=1) if gain), None)
    assert values["recall@10"] == pytest.approx(
        len(set(ranking[:10]) & set(relevant)) / len(relevant)
    )
    assert values["MRR"] == pytest.approx(1 / first if first else 0.0)
    assert values["nDCG@10"] == pytest.approx(
        _dcg(gains) / _dcg(sorted(relevant.values(), reverse=True))
    )
    assert values["all@10"] == all_found(ranking, relevant, 10)


@given(rankings, relevances)
def test_moving_a_relevant_passage_up_never_lowers_a_measure(
    ranking: list[str], relevant: dict[str, int]
) -> None:
    place = next(
        (
            place
            for place, (a, b) in enumerate(pairwise(ranking))
            if a not in relevant and b in relevant
        ),
        None,
    )
    if place is not None:
        better = [*ranking[:place], ranking[place + 1], ranking[place], *ranking[place + 2 :]]
        before, after = scored(ranking, relevant), scored(better, relevant)
        assert all(after[name] >= before[name] - 1e-12 for name in NAMES)


def _dcg(gains: Sequence[int]) -> float:
    return math.fsum(gain / math.log2(place + 1) for place, gain in enumerate(gains[:10], start=1))


# The library
#
# --------------------------------------------------------------------------------------------------------------


def test_without_the_library_the_error_names_the_extra_and_own_measures_still_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(RefusedError, match=r"pip install 'clew\[eval\]'"):
        scored(["p0"], {"p0": 1})
    own = score(
        [asked({"p0": 1})], {"q": ["p0"]}, PASSAGES, level="passage", measures=measures(["all@5"])
    )
    assert own == {"q": {"all@5": 1.0}}
