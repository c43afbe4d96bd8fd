"""Two texts contradict each other where they differ in one piece of which only one can be true."""

from __future__ import annotations

import pytest
from benchmarks.conflicts.pairs import CONFLICTING, PARTS, Pair, labelled

from clew.memories.conflicts import contradiction, explanation, judged
from clew.memories.conflicts.statement import statements
from clew.testing import later, node
from tests.growth import check_linear


@pytest.mark.parametrize(
    ("kind", "first", "second", "pieces"),
    [
        (
            "number",
            "The gateway listens on port 80.",
            "The gateway listens on port 443.",
            ("80", "443"),
        ),
        (
            "number",
            "Tokens expire after 30 minutes.",
            "Tokens expire after 2 hours.",
            ("30 minutes", "2 hours"),
        ),
        ("number", "The call starts at 9 am.", "The call starts at 9 pm.", ("9 am", "9 pm")),
        ("value", "Ann lives in Porto.", "Ann lives in Lisbon.", ("Porto", "Lisbon")),
        ("value", "Ann is the release manager.", "Ben is the release manager.", ("Ann", "Ben")),
        (
            "negation",
            "The API supports paging.",
            "The API does not support paging.",
            ("supports paging", "not supports paging"),
        ),
        ("state", "The login bug is open.", "The login bug is closed.", ("open", "closed")),
        (
            "state",
            "The outage is resolved.",
            "The outage is unresolved.",
            ("resolved", "unresolved"),
        ),
    ],
)
def test_a_contradiction_is_told_by_kind_with_the_differing_pieces(
    kind: str, first: str, second: str, pieces: tuple[str, str]
) -> None:
    found = contradiction(first, second)
    assert found is not None
    assert (found.kind, (found.first, found.second)) == (kind, pieces)
    assert all(piece in explanation(found) for piece in pieces)
    mirrored = contradiction(second, first)
    assert mirrored is not None
    assert (mirrored.kind, mirrored.score) == (found.kind, found.score)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Tokens expire after 30 minutes.", "Tokens expire after half an hour."),
        ("The limit is 1 GB.", "The limit is 1024 MB."),
        ("The shop opens at 14:00.", "The shop opens at 2 pm."),
        ("Telemetry is off.", "Telemetry is not on."),
        ("The service is written in Go.", "The service is written in Go, since last year."),
        ("The feature ships in version 4.", "The feature ships in version 4.2."),
        ("Ann likes tea.", "Ann likes coffee."),
        ("Ann lives in Porto.", "Ben lives in Lisbon."),
        ("Issue 482 is open.", "Issue 517 is closed."),
        ("In March the bill was 80 euros.", "In May the bill was 95 euros."),
        ("Sven drinks coffee.", "Sven drinks coffee without sugar."),
        ("", "The gateway listens on port 80."),
        ("数据库很快。", "数据库很慢。"),
    ],
)
def test_what_can_both_be_true_is_no_contradiction(first: str, second: str) -> None:
    assert contradiction(first, second) is None
    assert contradiction(second, first) is None


@pytest.mark.parametrize("part", PARTS)
def test_the_labelled_pairs_are_many_of_every_kind(part: str) -> None:
    labels = [pair.label for pair in labelled(part)]
    assert len(labels) >= 120
    assert all(labels.count(label) >= 15 for label in CONFLICTING)


@pytest.mark.parametrize(
    ("part", "precision", "recall"), [("tuning", 0.95, 0.95), ("held_out", 0.9, 0.85)]
)
def test_most_labelled_contradictions_are_found_and_little_else(
    part: str, precision: float, recall: float
) -> None:
    pairs = labelled(part)
    found = [pair for pair in pairs if _judged(pair)]
    right = sum(pair.label in CONFLICTING for pair in found)
    assert right / len(found) >= precision
    assert right / sum(pair.label in CONFLICTING for pair in pairs) >= recall


def _judged(pair: Pair) -> bool:
    first, second = (
        node(id, each["text"], metadata=each.get("metadata", {}), **_times(each))
        for id, each in (("a", pair.first), ("b", pair.second))
    )
    return judged(first, second, least_score=0.5) is not None


def _times(fields: object) -> dict[str, object]:
    from clew.times import parse_time

    assert isinstance(fields, dict)
    names = {"valid_from": "t_valid", "valid_to": "t_invalid"}
    return {names[name]: parse_time(str(fields[name]), name) for name in names if name in fields}


def test_speakers_who_speak_of_themselves_do_not_contradict_each_other() -> None:
    ann, ben = (
        node(name, text, metadata={"speaker": name})
        for name, text in (("Ann", "I eat meat."), ("Ben", "I don't eat meat."))
    )
    assert judged(ann, ben) is None
    assert judged(ann, node("c", "I don't eat meat.", metadata={"speaker": "Ann"})) is not None


def test_a_common_title_is_what_short_texts_are_about() -> None:
    assert (
        judged(
            node("a", "15 minutes", title="Redis TTL"), node("b", "30 minutes", title="redis-ttl")
        )
        is not None
    )
    assert (
        judged(
            node("a", "Opens at 9:00", title="Berlin office"),
            node("b", "Opens at 10:00", title="Lyon office"),
        )
        is None
    )


def test_memories_that_are_true_one_after_the_other_do_not_contradict_each_other() -> None:
    first = node("a", "Ann lives in Porto.", t_invalid=later(5))
    assert judged(first, node("b", "Ann lives in Lisbon.", t_valid=later(5))) is None
    assert judged(first, node("b", "Ann lives in Lisbon.", t_valid=later(4))) is not None


def test_texts_far_apart_in_meaning_are_not_compared() -> None:
    first, second = node("a", "Ann lives in Porto."), node("b", "Ann lives in Lisbon.")
    near, far = judged(first, second, share=0.9), judged(first, second, share=0.2)
    assert near is not None
    assert far is None


def test_code_is_not_compared() -> None:
    assert (
        judged(node("a", "port = 3000", category="code"), node("b", "port = 8000", category="code"))
        is None
    )


@pytest.mark.parametrize(
    "piece",
    ["a ", "1 ", "not ", "is ", "1,", "a.b-", "half a ", "on ", "Ann is 7. ", "but ", "Müller’s "],
)
def test_reading_a_long_text_takes_time_in_proportion(piece: str) -> None:
    def read(size: int) -> None:
        statements.cache_clear()
        contradiction(piece * size, f"{piece * size}x")

    check_linear(read, 4000)
