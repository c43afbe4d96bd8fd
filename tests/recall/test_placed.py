"""Places of hits as columns: the same numbers as places by themselves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.recall.fuse import convex, rrf
from clew.recall.placed import Placed, relevance
from clew.recall.state import Place
from clew.types import Match, ranked

IDS = st.sampled_from("abcdefgh")
RANKINGS = st.dictionaries(IDS, st.floats(0, 1)).map(lambda found: ranked(map(Match, found, found.values())))
CHANNELS = st.dictionaries(st.sampled_from(["sparse", "dense", "context"]), RANKINGS, min_size=1)
WEIGHTS = {"dense": 0.31, "context": 0.26, "sparse": 0.43}


@given(CHANNELS, st.booleans())
def test_relevances_are_what_places_add_up_to_to_the_last_bit(channels: dict[str, tuple[Match, ...]], by_rank: bool) -> None:
    placed = rrf(channels, weights=WEIGHTS, k=60) if by_rank else convex(channels, weights=WEIGHTS, lows=dict.fromkeys(channels, 0.1))
    assert placed.relevances() == {id: relevance(places) for id, places in placed.items()}
    assert placed.keys() == {match.id for ranking in channels.values() for match in ranking}
    assert len(placed) == len(list(placed))


def test_a_hit_has_a_place_in_each_channel_that_found_it_and_in_no_other() -> None:
    channels = {"sparse": (Match("b", 7.0), Match("a", 5.0)), "dense": (Match("a", 0.9),)}
    placed = convex(channels, weights={"dense": 0.6, "sparse": 0.4}, lows={"dense": 0.0, "sparse": 0.0})
    assert placed["b"] == {"sparse": Place(1, 7.0, 1.0, 0.4)}
    assert list(placed["a"]) == ["dense", "sparse"]
    assert placed["a"]["sparse"].rank == 2
    with pytest.raises(KeyError):
        placed["c"]
    assert len(Placed({})) == 0
