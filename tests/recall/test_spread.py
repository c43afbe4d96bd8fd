"""A signal spreads from the best hits.

Names lead to their subjects, hubs lead nowhere, and nothing linked means nothing changed.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clew
from clew.graph.links import MAX_NODES, NAMED_BY, NAMES, OPENS, SHARES, LinksFrom, damping
from clew.graph.mentions import mentions
from clew.graph.walk import Limits
from clew.ports import Background
from clew.search.fusion import FeatureWeights, Fuse
from clew.search.spread import TRAVERSAL, Spread
from clew.search.state import NAMED, SPARSE, Hit, Place, Question, Recall, relevance
from clew.settings import EntitySettings, Weights
from clew.store.memory import MemoryStore
from clew.testing import node, where
from clew.text.words import terms
from clew.types import Edge, Node

NOW = datetime(2026, 1, 1, tzinfo=UTC)
HASHING: dict[str, Any] = {"model.embedder": "hashing"}
WEIGHTS = {NAMES: 1.0, NAMED_BY: 0.5, OPENS: 1.0, SHARES: 0.3, "RELATED": 0.4}


def stored(*nodes: Node) -> MemoryStore:
    store = MemoryStore()
    store.insert(nodes)
    store.mention(
        [mention for said in mentions(nodes, settings=EntitySettings()) for mention in said]
    )
    return store


@pytest.fixture
def store() -> MemoryStore:
    return stored(
        node("film", "A drama that Lukas Ferrand directed in 1961.", title="The Salt Meadow"),
        node("man", "A French director, born in Brest.", title="Lukas Ferrand"),
        node("town", "A port in Brittany.", title="Brest"),
        node("other", "A cook from Lyon.", title="Odile Marchand"),
    )


def fusing(store: MemoryStore) -> Fuse:
    weights = FeatureWeights(0.2, 0.7, 0.6)
    return Fuse(
        "weighted",
        60,
        (0.7, 0.3),
        question_share=0.6,
        background=Background(),
        late_interaction=True,
        weights=weights,
        store=store,
    )


def spread(store: MemoryStore, **changes: object) -> Spread:
    limits = Limits(hops=2, least=0.05, nodes=8, fade=0.9)
    options = {
        "starts": 2,
        "named_weight": 0.2,
        "path_weight": 0.5,
        "mode": "expected",
    }
    return Spread(
        **{  # type: ignore[arg-type]
            **options,
            "limits": limits,
            "kinds": WEIGHTS,
            "fuse": fusing(store),
            "store": store,
            **changes,
        }
    )


def asked(text: str, **scores: float) -> Recall:
    question = Question(
        text=text,
        k=5,
        where=where(),
        weights=Weights(1, 0, 0, 0),
        recipe="balanced",
        preset="custom",
    )
    hits = tuple(
        Hit(id, score, {SPARSE: Place(1, score, score, 1.0)}) for id, score in scores.items()
    )
    return Recall(question=question, hits=hits)


def by_id(answer: Recall) -> dict[str, Hit]:
    return {hit.id: hit for hit in answer.hits}


def test_what_a_hit_names_is_reached_with_the_path_that_led_there(store: MemoryStore) -> None:
    found = by_id(spread(store)(asked("when was the drama made", film=0.9)))
    assert [(hop.source, hop.edge, hop.target, hop.evidence) for hop in found["man"].path] == [
        ("film", NAMES, "man", "Lukas Ferrand")
    ]
    assert found["man"].method == TRAVERSAL
    assert (found["man"].hops, found["man"].signal) == (1, found["man"].path[-1].signal)


def test_a_second_hop_leads_on_and_is_weaker(store: MemoryStore) -> None:
    found = by_id(spread(store)(asked("when was the drama made", film=0.9)))
    assert [hop.target for hop in found["town"].path] == ["man", "town"]
    assert found["town"].signal < found["man"].signal


def test_who_is_named_in_the_question_counts_though_no_channel_found_it(store: MemoryStore) -> None:
    found = by_id(spread(store)(asked("was odile marchand a cook", film=0.2)))
    assert found["other"].channels[NAMED].normalised == 1.0
    assert found["other"].method == "direct"


def test_a_start_leads_back_to_who_names_it(store: MemoryStore) -> None:
    found = by_id(spread(store, kinds={NAMED_BY: 0.5})(asked("born where", man=0.8)))
    assert [hop.edge for hop in found["film"].path] == [NAMED_BY]


def test_two_memories_that_name_the_same_are_linked_where_nobody_is_about_it() -> None:
    store = stored(
        node("a", "Ines moved to the Halcyon cluster."),
        node("b", "Backups of the Halcyon cluster run at noon."),
    )
    found = by_id(spread(store)(asked("what did she do", a=0.9)))
    assert [hop.edge for hop in found["b"].path] == [SHARES]


def test_without_titles_a_text_leads_to_those_that_begin_with_what_it_names() -> None:
    store = stored(
        node(
            "film",
            "The Salt Meadow is a drama that Lukas Ferrand directed in 1961, with Odile Marchand, Paul Roche and Jean Vidal.",
        ),
        node("man", "Lukas Ferrand (1920 – 1999) was a French director, born in Brest."),
        node("aside", "At noon they spoke of Lukas Ferrand."),
    )
    found = by_id(spread(store)(asked("where was the director of the drama born", film=0.9)))
    assert [hop.edge for hop in found["man"].path] == [OPENS]
    assert found["aside"].path[-1].edge == SHARES
    assert found["man"].score > found["aside"].score


def test_who_is_about_it_by_a_title_goes_before_those_that_begin_with_it(
    store: MemoryStore,
) -> None:
    said = node("said", "Lukas Ferrand was ill.")
    store.insert([said])
    store.mention(
        [mention for told in mentions([said], settings=EntitySettings()) for mention in told]
    )
    found = by_id(spread(store)(asked("when was the drama made", film=0.9)))
    assert [hop.edge for hop in found["man"].path] == [NAMES]
    assert all(hop.edge != OPENS for hit in found.values() for hop in hit.path)


def test_two_texts_that_begin_with_one_name_still_share_it() -> None:
    store = stored(
        node("a", "Lukas Ferrand directed The Salt Meadow."),
        node("b", "Lukas Ferrand was born in Brest."),
    )
    for start, other in (("a", "b"), ("b", "a")):
        found = by_id(spread(store)(asked("where was the director born", **{start: 0.9})))
        assert other in found


def test_what_the_question_names_itself_is_no_way_to_those_that_begin_with_it() -> None:
    store = stored(
        node("a", "They met Ines Sauer at noon."),
        node("b", "Ines Sauer was late."),
        node("c", "Ines Sauer was ill."),
    )
    found = by_id(spread(store)(asked("when did they meet ines sauer", a=0.9)))
    assert found.keys() == {"a"}


def test_a_stored_edge_is_walked_both_ways_and_counts_by_weight_and_confidence() -> None:
    store = stored(node("a", "the first of two notes"), node("b", "the second of two notes"))
    store.link(
        [
            Edge(
                source="b",
                target="a",
                kind="RELATED",
                weight=0.5,
                confidence=0.5,
                evidence="cosine",
                t_created=NOW,
            )
        ]
    )
    found = by_id(spread(store)(asked("first", a=1.0)))
    assert found["b"].path[0].weight == pytest.approx(WEIGHTS["RELATED"] * 0.25)


def test_an_edge_of_weight_zero_passes_nothing() -> None:
    store = stored(node("a", "the first of two notes"), node("b", "the second of two notes"))
    store.link([Edge(source="a", target="b", kind="RELATED", weight=0.0, t_created=NOW)])
    assert "b" not in by_id(spread(store)(asked("first", a=1.0)))


def test_where_nothing_is_named_and_nothing_linked_nothing_changes(store: MemoryStore) -> None:
    plain = stored(node("a", "rain until noon"), node("b", "sun after that"))
    before = asked("weather", a=0.9, b=0.4)
    after = spread(plain)(before)
    assert after.nodes.keys() == {"a", "b"}  # read once for the stages that follow
    assert replace(after, nodes={}) == before


def test_a_hit_that_the_question_names_gains_the_weight_of_names_and_no_other_loses(
    store: MemoryStore,
) -> None:
    answer = spread(store)(asked("the salt meadow", film=0.9, other=0.3))
    assert [(hit.id, hit.score) for hit in answer.hits if hit.id in ("film", "other")] == [
        ("film", pytest.approx(1.1)),
        ("other", 0.3),
    ]
    assert all(hit.score == relevance(hit.channels) for hit in answer.hits)


def test_what_the_question_may_not_see_is_not_reached(store: MemoryStore) -> None:
    store.update("man", t_expired=NOW)
    store.insert(
        [node("secret", "Of Brest in another space.", title="Lukas Ferrand", space="other")]
    )
    store.mention(
        [
            mention
            for said in mentions([*store.get(["secret"]).values()], settings=EntitySettings())
            for mention in said
        ]
    )
    found = by_id(spread(store)(asked("when was the drama made", film=0.9)))
    assert not {"man", "secret"} & set(found)


def test_a_name_with_too_many_nodes_behind_it_leads_nowhere() -> None:
    crowd = [
        node(f"n{number}", f"Note {number} tells of Lisbon.") for number in range(MAX_NODES + 1)
    ]
    found = by_id(spread(stored(*crowd))(asked("what of it", n0=0.9)))
    assert set(found) == {"n0"}


def test_hubs_are_damped_more_the_more_nodes_name_them() -> None:
    assert 1 == damping(1, power=0.5) > damping(10, power=0.5) > damping(1000, power=0.5) > 0


def test_one_name_with_several_subjects_shares_its_weight() -> None:
    store = stored(
        node("a", "He met Juno Vance."),
        node("b", "A painter.", title="Juno Vance"),
        node("c", "A ship.", title="Juno Vance (ship)"),
    )
    links = LinksFrom(where=where(), weights={NAMES: 1.0}, store=store)(["a"])["a"]
    assert {link.target for link in links} == {"b", "c"}
    assert all(link.weight < 1 for link in links)


def test_drawing_by_chance_follows_the_seed(store: MemoryStore) -> None:
    recall = asked("when was the drama made", film=0.5)
    drawn = [
        frozenset(
            by_id(
                spread(store, mode="sampled")(
                    replace(recall, question=replace(recall.question, seed=seed))
                )
            )
        )
        for seed in range(30)
    ]
    again = [
        frozenset(
            by_id(
                spread(store, mode="sampled")(
                    replace(recall, question=replace(recall.question, seed=seed))
                )
            )
        )
        for seed in range(30)
    ]
    assert drawn == again
    assert len(set(drawn)) > 1


def test_links_found_at_the_end_lead_to_what_was_written_later() -> None:
    with clew.open(":memory:", **HASHING) as memory:
        memory.remember("Project Heron is led by Imke Sauer since May.")
        memory.remember("Works from the Porto office on most days.", title="Imke Sauer")
        answer = memory.recall("who leads project heron", k=2)
    assert {hit.node.title for hit in answer.hits if hit.node} == {"", "Imke Sauer"}


def test_time_passes_no_signal_backwards(store: MemoryStore) -> None:
    """An answer as of an earlier day sees the links of that day's nodes only."""
    late = node(
        "late", "A drama too.", title="Odile Marchand II", t_valid=NOW + timedelta(days=900)
    )
    store.insert([late, node("early", "She worked with Odile Marchand II in those days.")])
    store.mention(
        [
            mention
            for said in mentions(
                list(store.get(["late", "early"]).values()), settings=EntitySettings()
            )
            for mention in said
        ]
    )
    recall = asked("in those days", early=0.9)
    past = replace(
        recall, question=replace(recall.question, where=where(as_of=NOW + timedelta(days=1)))
    )
    assert "late" not in by_id(spread(store)(past))


@given(st.floats(0.01, 1.0), st.floats(0.0, 1.0), st.floats(0.0, 0.9))
def test_no_path_lifts_a_hit_past_the_start_it_came_from(
    film: float, man: float, weight: float
) -> None:
    store = stored(
        node("film", "A drama that Lukas Ferrand directed in 1961.", title="The Salt Meadow"),
        node("man", "A French director, born in Brest.", title="Lukas Ferrand"),
    )
    found = by_id(
        spread(store, starts=1, path_weight=weight)(
            asked("when was it made", film=film, man=min(man, film * 0.999))
        )
    )
    assert found["film"].score == pytest.approx(film)
    assert found["man"].score < found["film"].score


def test_a_question_whose_every_word_the_best_hit_holds_brings_nothing_in(
    store: MemoryStore,
) -> None:
    question = "drama directed 1961"
    recall = replace(asked(question, film=0.9), terms=tuple(terms(question)))
    assert set(by_id(spread(store)(recall))) == {"film"}
    assert "man" in by_id(spread(store)(replace(recall, terms=(*recall.terms, "ghost"))))


@pytest.mark.parametrize("title", ["Harwick Rovers F.C.", ""])
def test_a_name_leads_to_a_longer_title_or_beginning_that_starts_with_it(title: str) -> None:
    text = (
        "The club plays at Mill Lane."
        if title
        else "Harwick Rovers Football Club is a club that plays at Mill Lane."
    )
    store = stored(
        node("man", "He was a keeper for Harwick Rovers until 1988."),
        node("club", text, title=title),
    )
    found = by_id(spread(store)(asked("where did he play until 1988", man=0.9)))
    assert [hop.edge for hop in found["club"].path] == [OPENS]


def test_a_title_that_is_the_name_goes_before_longer_titles_that_start_with_it() -> None:
    store = stored(
        node("man", "He was a keeper for Harwick Rovers until 1988."),
        node("club", "A club.", title="Harwick Rovers"),
        node("season", "A season.", title="Harwick Rovers Ladies"),
    )
    found = by_id(spread(store)(asked("where did he play until 1988", man=0.9)))
    assert [hop.edge for hop in found["club"].path] == [NAMES]
    assert found["club"].score > found["season"].score
    assert all(hop.source != "man" for hop in found["season"].path[-1:])


def test_a_link_that_a_user_makes_brings_its_target_in() -> None:
    with clew.open(":memory:", model={"embedder": "none"}) as memory:
        pump = memory.remember("The garden pump hums at night since the frost.").id
        note = memory.remember("Order a new impeller before April.").id
        assert note not in [hit.id for hit in memory.recall("why is the garden pump loud").hits]
        memory.link(str(pump), str(note), kind="fixed-by")
        found = {hit.id: hit for hit in memory.recall("why is the garden pump loud").hits}
        assert [hop.edge for hop in found[str(note)].path] == ["fixed-by"]
