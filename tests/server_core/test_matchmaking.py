"""Pools: fair, without starvation, and never the same player's bots in rated play."""

from __future__ import annotations

import gc
import tracemalloc
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plyhouse.server.lobby.matchmaking import (
    REMEMBERED,
    Matchmaker,
    Proposal,
    Seek,
    SeekDuplicate,
    SeekError,
    SeekLimit,
)


def seek(name: str, **more: Any) -> Seek:
    player, _, bot = name.partition("/")
    more.setdefault("id", f"{name}:{more.get('game', 'pig')}:{more.get('rated', False)}")
    more.setdefault("game", "pig")
    return Seek(player=player, bot=bot, time_control="move:1", **more)


def pairs(proposals: list[Proposal]) -> list[tuple[str, ...]]:
    return [tuple(each.name for each in proposal.seeks) for proposal in proposals]


def plenty(name: str) -> int:
    return 1000


def maker(*names: str, **more: Any) -> Matchmaker:
    made = Matchmaker()
    for name in names:
        made.add(seek(name, **more))
    return made


def test_the_longest_waiting_are_paired_first() -> None:
    made = maker("a/1", "b/1", "c/1", "d/1", "e/1")
    assert pairs(made.pair(plenty)) == [("a/1", "b/1"), ("c/1", "d/1")]
    assert [each.name for each in made.seeks()] == ["e/1"]
    made.add(seek("f/1"))
    assert pairs(made.pair(plenty)) == [("e/1", "f/1")]
    assert len(made) == 0


@pytest.mark.parametrize(
    "difference", [{"game": "kuhn_poker"}, {"rated": True}, {"mirrored": True}, {"invitation": "x"}]
)
def test_only_equal_wishes_meet(difference: dict[str, Any]) -> None:
    made = maker("a/1")
    made.add(seek("b/1", **difference))
    assert made.pair(plenty) == []


def test_bots_of_one_player_meet_only_in_casual_play_or_where_allowed() -> None:
    assert maker("a/1", "a/2", rated=True).pair(plenty) == []
    assert len(maker("a/1", "a/2").pair(plenty)) == 1
    allowed = Matchmaker(own_bots_rated=True)
    allowed.add(seek("a/1", rated=True))
    allowed.add(seek("a/2", rated=True))
    assert len(allowed.pair(plenty)) == 1
    made = maker("a/1", "a/2", "b/1", rated=True)
    assert pairs(made.pair(plenty)) == [("a/1", "b/1")]


def test_a_bot_never_meets_itself() -> None:
    made = maker("a/1")
    with pytest.raises(SeekDuplicate, match="withdraw that seek") as caught:
        made.add(seek("a/1", id="other"))
    assert caught.value.code == "seek/duplicate"


def test_seeks_are_limited_and_withdrawn() -> None:
    made = Matchmaker(max_seeks=2)
    made.add(seek("a/1"))
    made.add(seek("a/1", rated=True))
    with pytest.raises(SeekLimit, match="2 open seeks"):
        made.add(seek("a/1", game="x"))
    made.add(seek("b/1"))
    assert len(made.pair(plenty)) == 1, "a refused seek leaves nothing behind"
    made.add(seek("a/1"))
    assert {each.rated for each in made.withdraw_bot("a", "1")} == {False, True}
    made.add(seek("b/1"))
    assert made.pair(plenty) == []
    with pytest.raises(SeekError, match="is not open") as caught:
        made.withdraw("a/1:pig:False")
    assert caught.value.code == "seek/unknown"
    assert "b/1:pig:False" in made


def test_a_wish_for_several_matches_is_fulfilled_in_turn() -> None:
    made = maker("a/1", "b/1", count=3)
    assert len(made.pair(plenty)) == 3
    assert len(made) == 0


def test_an_endless_wish_ends_when_it_is_withdrawn() -> None:
    made = maker("a/1", "b/1", count=0)
    assert len(made.pair(lambda name: 5)) == 5
    assert len(made) == 2


def test_nobody_gets_more_matches_than_it_has_room_for() -> None:
    made = maker("a/1", "b/1", "c/1", count=0)
    room = {"a/1": 1, "b/1": 3, "c/1": 0}
    assert pairs(made.pair(room.__getitem__)) == [("a/1", "b/1")]


def test_a_rematch_is_avoided_while_somebody_else_waits() -> None:
    made = maker("a/1", "b/1", count=0)
    assert len(made.pair(lambda name: 1)) == 1
    made.add(seek("c/1", count=0))
    assert set(pairs(made.pair(lambda name: 1))[0]) == {"a/1", "c/1"}
    made = maker("a/1", "b/1", count=0)
    made.pair(lambda name: 1)
    assert len(made.pair(lambda name: 1)) == 1, "but nobody waits for nothing"


def test_who_sits_first_alternates() -> None:
    made = maker("a/1", "b/1", count=0)
    firsts = [pairs(made.pair(lambda name: 1))[0][0] for _ in range(6)]
    assert firsts in (["a/1", "b/1"] * 3, ["b/1", "a/1"] * 3)


def test_a_mirrored_pairing_has_every_rotation_and_counts_its_matches() -> None:
    made = Matchmaker()
    for name in ("a/1", "b/1", "c/1"):
        made.add(seek(name, seats=3, mirrored=True, count=3))
    [proposal] = made.pair(plenty)
    orders = [tuple(each.player for each in order) for order in proposal.orders]
    assert orders == [("a", "b", "c"), ("c", "a", "b"), ("b", "c", "a")]
    assert len(made) == 0


def test_pools_take_turns_at_a_bots_room() -> None:
    made = Matchmaker()
    for name in ("a/1", "b/1"):
        for game in ("pig", "kuhn_poker"):
            made.add(seek(name, game=game, count=0))
    games = [proposal.pool.game for proposal in made.pair(lambda name: 4)]
    assert Counter(games) == {"pig": 2, "kuhn_poker": 2}


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 2), st.booleans()), min_size=2, max_size=10
    ),
    st.integers(2, 3),
)
def test_nobody_starves(bots: list[tuple[int, int, bool]], seats: int) -> None:
    """Every bot that can be paired is paired repeatedly, none much less often than others."""
    made = Matchmaker()
    names = {f"p{player}/{bot}": player for player, bot, _ in bots}
    for name in names:
        made.add(seek(name, rated=True, seats=seats, count=0))
    players = set(names.values())
    played: Counter[str] = Counter()
    rounds = 60
    for _ in range(rounds):
        busy: set[str] = set()
        for proposal in made.pair(lambda name: 1):
            group = [each.name for each in proposal.seeks]
            assert len({each.player for each in proposal.seeks}) == seats
            assert busy.isdisjoint(group)
            busy.update(group)
            played.update(group)
    if len(players) < seats:
        assert not played
    else:
        longest = len(names)  # a round serves at least the one that has waited longest
        assert all(played[name] >= rounds // longest for name in names), played


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 7), st.integers(2, 4), st.integers(1, 40))
def test_seats_balance(bots: int, seats: int, rounds: int) -> None:
    made = Matchmaker()
    for number in range(bots):
        made.add(seek(f"p{number}/x", seats=seats, count=0))
    sat: Counter[tuple[str, int]] = Counter()
    for _ in range(rounds):
        for proposal in made.pair(lambda name: 1):
            sat.update((each.name, seat) for seat, each in enumerate(proposal.seeks))
    if bots == seats == 2:
        for number in range(bots):
            counts = [sat[f"p{number}/x", seat] for seat in range(seats)]
            assert max(counts) - min(counts) <= 1


def test_a_rematch_is_avoided_also_where_every_seek_is_for_one_match() -> None:
    made = maker("a/1", "b/1")
    assert pairs(made.pair(plenty)) == [("a/1", "b/1")]
    for name in ("a/1", "b/1", "c/1"):
        made.add(seek(name))
    assert {each.name for each in made.pair(plenty)[0].seeks} == {"a/1", "c/1"}


def test_only_bots_that_were_busy_are_asked_for_their_room_once_they_are_named() -> None:
    made = maker("a/1", "b/1", "c/1", "d/1", count=0)
    asked: list[str] = []

    def room(name: str) -> int:
        asked.append(name)
        return free[name]

    free = {"a/1": 0, "b/1": 0, "c/1": 1, "d/1": 0}
    assert made.pair(room) == []
    asked.clear()
    free["b/1"] = free["d/1"] = 1
    assert pairs(made.pair(room, ["d/1"])) == [("c/1", "d/1")]
    assert sorted(asked) == ["c/1", "d/1"]
    free["c/1"] = free["d/1"] = 0
    assert made.pair(room, ["nobody/1"]) == []
    free["a/1"] = 1
    assert pairs(made.pair(room)) == [("a/1", "b/1")], "without names everybody is asked"


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_naming_who_has_room_again_changes_no_pairing(data: st.DataObject) -> None:
    """Two matchmakers see the same; one asks for everybody's room, one only where it changed."""
    asking, told = Matchmaker(), Matchmaker()
    names = [f"p{player}/{bot}" for player in range(4) for bot in range(2)]
    free = dict.fromkeys(names, 2)
    for number in range(data.draw(st.integers(1, 12))):
        name = data.draw(st.sampled_from(names))
        game = data.draw(st.sampled_from(["pig", "chess"]))
        more: dict[str, Any] = {"game": game, "rated": data.draw(st.booleans())}
        more["count"] = data.draw(st.sampled_from([0, 1, 3]))
        wish = seek(name, id=str(number), **more)
        if all(each.pool != wish.pool or each.name != name for each in asking.seeks()):
            asking.add(wish)
            told.add(wish)
        freed = data.draw(st.lists(st.sampled_from(names), max_size=4))
        for each in freed:
            free[each] += 1
        first, second = asking.pair(free.__getitem__), told.pair(free.__getitem__, freed)
        assert pairs(first) == pairs(second)
        assert asking.seeks() == told.seeks()
        for proposal in first:
            for member in proposal.seeks:
                free[member.name] -= 1
        assert min(free.values()) >= 0


def test_a_new_seek_asks_nobody_of_other_pools() -> None:
    made = Matchmaker()
    for number in range(100):
        made.add(seek(f"p{number}/1", game=f"pig(target={number + 10})"))
    asked: list[str] = []

    def room(name: str) -> int:
        asked.append(name)
        return 1

    assert made.pair(room, []) == []
    asked.clear()
    made.add(seek("new/1", game="pig(target=50)"))
    assert pairs(made.pair(room, [])) == [("p40/1", "new/1")]
    assert sorted(asked) == ["new/1", "p40/1"]


@given(
    wishes=st.lists(
        st.tuples(st.integers(0, 30), st.sampled_from(["pig", "nim", "chess"])), max_size=60
    ),
    limit=st.integers(1, 5),
)
def test_pairing_little_by_little_pairs_as_many(wishes: list[tuple[int, str]], limit: int) -> None:
    """Where the room of bots does not matter, limited rounds end where one round would."""
    at_once, by_parts = Matchmaker(), Matchmaker()
    for number, game in dict.fromkeys(wishes):
        for each in (at_once, by_parts):
            each.add(seek(f"p{number}/1", game=game, count=1))
    whole = at_once.pair(plenty)
    parts: list[Proposal] = []
    while len(some := by_parts.pair(plenty, [], limit)) == limit:
        parts += some
    parts += some
    assert Counter(pairs(parts)) == Counter(pairs(whole))
    assert by_parts.pair(plenty) == []
    assert {each.id for each in by_parts.seeks()} == {each.id for each in at_once.seeks()}


def test_guests_that_come_once_are_forgotten() -> None:
    made = maker()

    def kept() -> int:
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        begin = 0
        for number in range(3 * REMEMBERED):
            for side in "ab":
                name = f"guest-{number}{side}/"
                made.add(seek(name, id=name, invitation=f"i{number}"))
            assert len(made.pair(plenty)) == 1
            if number == REMEMBERED:
                begin = kept()
        assert len(made) == 0
        assert kept() < 1.2 * begin
    finally:
        tracemalloc.stop()


def test_seats_alternate_for_those_who_stay_while_guests_come_and_go() -> None:
    made = maker()
    seated = []
    for number in range(8):
        made.add(seek("a/1", id=f"a{number}"))
        made.add(seek("b/1", id=f"b{number}"))
        (pairing,) = made.pair(plenty)
        seated.append(pairing.seeks[0].name)
        for guest in range(200):
            for side in "ab":
                name = f"guest-{number}-{guest}{side}/"
                made.add(seek(name, id=name, invitation=f"{number}-{guest}"))
            made.pair(plenty)
    assert seated == ["a/1", "b/1"] * 4
