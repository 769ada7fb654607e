"""Whole matches over real sockets, and everything that can go wrong in one."""

from __future__ import annotations

import asyncio
import gc
import hashlib
import random
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.harness.server import legal_action

from plyhouse.games.registry import get_game
from plyhouse.protocol.codec import JSON, MSGPACK
from plyhouse.protocol.messages import (
    CHANCE_SEAT,
    Accepted,
    Act,
    Error,
    Finished,
    MatchMessage,
    OfferDraw,
    Ok,
    Ready,
    Resign,
    Revealed,
    Sync,
    Turn,
    Unwatch,
    Update,
    Watch,
)
from plyhouse.server.results.record import stored_record
from plyhouse.server.results.verify import verify
from plyhouse.server.table import directory
from plyhouse.server.table.live import LiveMatch
from plyhouse.storage import leaderboards, match_reads

OpenHouse = Callable[..., Awaitable[Any]]
GAMES = ("tic_tac_toe", "connect_four", "pig", "coin_guess", "kuhn_poker")


@pytest.mark.parametrize("game", GAMES)
async def test_whole_match_of_every_game_is_played_recorded_and_verified(
    house: Any, game: str
) -> None:
    one = await house.bot("alice", codec=MSGPACK)
    two = await house.bot("bob", codec=JSON)
    for client in (one, two):
        assert isinstance(await client.seek(game, rated=True), Ok)
    starts = await asyncio.gather(one.start(), two.start())
    ends = await asyncio.gather(
        *(
            client.play(start, seed)
            for seed, (client, start) in enumerate(zip((one, two), starts, strict=True))
        )
    )
    assert starts[0].match == starts[1].match
    assert ends[0].outcome == ends[1].outcome
    assert ends[0].outcome.termination == "normal"
    assert ends[0].pairing_done
    assert hashlib.sha256(bytes.fromhex(ends[0].seed)).hexdigest() == starts[0].commitment

    stored = await house.hub.store.read(match_reads.stored_match, starts[0].match)
    record = stored_record(stored, get_game(game))
    report = verify(record)
    assert report.ok, report
    await house.hub.ratings.settle()
    board = await house.hub.store.read(leaderboards.leaderboard, game)
    assert sum(line.games for line in board) == 2
    assert all(line.rating is not None for line in board)


async def test_the_same_action_again_gets_the_same_answer_and_another_one_a_conflict(
    house: Any,
) -> None:
    (mover, _), (match, _) = await house.pair("tic_tac_toe")
    turn = await mover.next(Turn)
    first = await mover.ask(Act, match.match, turn.ply, "a1")
    again = await mover.ask(Act, match.match, turn.ply, "a1")
    other = await mover.ask(Act, match.match, turn.ply, "b2")
    assert isinstance(first, Accepted)
    assert not first.duplicate
    assert isinstance(again, Accepted)
    assert again.duplicate
    assert again.ledger == first.ledger
    assert (type(other), other.code) == (Error, "action/conflict")


async def test_illegal_action_is_answered_with_the_legal_ones_and_forfeits(house: Any) -> None:
    (mover, other), (match, _) = await house.pair("tic_tac_toe")
    turn = await mover.next(Turn)
    answer = await mover.ask(Act, match.match, turn.ply, "z9")
    assert isinstance(answer, Error)
    assert answer.code in ("action/invalid", "action/illegal")
    assert len(answer.legal) == 9
    assert not answer.fatal
    end = await other.next(Finished)
    assert (end.outcome.termination, end.outcome.seat) == ("illegal_action", 0)
    assert end.outcome.returns == [-1.0, 1.0]


async def test_illegal_action_may_be_retried_on_the_same_clock(open_house: OpenHouse) -> None:
    house = await open_house(illegal_rule="retry")
    (mover, other), (match, _) = await house.pair("tic_tac_toe")
    first = await mover.next(Turn)
    assert isinstance(await mover.ask(Act, match.match, first.ply, "z9"), Error)
    retry = await mover.next(Turn)
    assert retry.retry
    assert retry.ply == first.ply
    assert retry.deadline_ms <= first.deadline_ms
    assert isinstance(await mover.ask(Act, match.match, retry.ply, "b2"), Accepted)
    assert (await other.next(Turn)).events[-1].action == "b2"


async def test_out_of_turn_early_and_late_actions_have_their_own_errors(house: Any) -> None:
    (mover, other), (match, _) = await house.pair("tic_tac_toe")
    await mover.next(Turn)
    codes = [
        (await other.ask(Act, match.match, 0, "a1")).code,
        (await mover.ask(Act, match.match, 5, "a1")).code,
        (await mover.ask(Act, "nosuchmatch", 0, "a1")).code,
    ]
    assert isinstance(await mover.ask(Act, match.match, 0, "a1"), Accepted)
    codes.append((await other.ask(Act, match.match, 0, "a1")).code)
    assert codes == [
        "match/not_your_turn",
        "match/future_ply",
        "match/unknown",
        "match/stale_ply",
    ]


async def test_after_the_end_everything_is_answered_that_it_is_over(house: Any) -> None:
    (loser, winner), (match, _) = await house.pair("tic_tac_toe")
    assert isinstance(await loser.ask(Resign, match.match), Ok)
    end = await winner.next(Finished)
    assert end.outcome.termination == "resignation"
    late = await loser.ask(Act, match.match, 0, "a1")
    assert (type(late), late.code) == (Error, "match/over")
    assert (await winner.ask(Resign, match.match)).code == "match/over"
    snapshot = (await winner.ask(Sync, match.match)).snapshot
    assert snapshot.status == "finished"
    assert snapshot.outcome == end.outcome


async def test_a_third_bot_cannot_act_in_a_match(house: Any) -> None:
    _, (match, _) = await house.pair("tic_tac_toe")
    stranger = await house.bot("carol")
    assert (await stranger.ask(Act, match.match, 0, "a1")).code == "match/not_yours"
    assert (await stranger.ask(OfferDraw, match.match)).code == "match/not_yours"


def ring(live: Any) -> None:
    """Ring the alarm of a match now, independently of the real clock."""
    live.cancel_alarm()
    live.check_time()


async def test_flag_falls_close_to_its_deadline(house: Any) -> None:
    clients, (match, _) = await house.pair("tic_tac_toe", "move:0.05")
    end = await clients[1].next(Finished)
    assert (end.outcome.termination, end.outcome.seat) == ("flag_fall", 0)
    stored = await house.hub.store.read(match_reads.stored_match, match.match)
    last = stored.events[-1]
    assert last.kind == "end"


async def test_flag_falls_at_the_deadline_and_not_before(still_house: Any, clock: Any) -> None:
    (mover, other), (match, _) = await still_house.pair("tic_tac_toe", "move:5")
    await mover.next(Turn)
    live = still_house.hub.directory.own[match.match]
    still_house.move_to(live.match.deadline() - 1)
    ring(live)
    assert live.match.status == "running"
    still_house.move_to(clock.now + 1)
    ring(live)
    end = await other.next(Finished)
    assert end.outcome.termination == "flag_fall"


async def test_action_stamped_in_time_counts_although_it_is_handled_later(
    still_house: Any, clock: Any
) -> None:
    (mover, other), (match, _) = await still_house.pair("tic_tac_toe", "move:5")
    await mover.next(Turn)
    live = still_house.hub.directory.own[match.match]
    session = live.holders[0].line
    in_time = live.match.deadline() - 1
    still_house.move_to(in_time + 5_000_000_000)
    session.received(MSGPACK.encode(Act(99, match.match, 0, "a1")), in_time)
    ring(live)
    assert isinstance(await other.next(Turn), Turn)


async def test_a_standstill_of_the_server_is_not_charged(still_house: Any, clock: Any) -> None:
    (mover, _), (match, _) = await still_house.pair("tic_tac_toe", "total:10")
    await mover.next(Turn)
    still_house.hub.watchdog.beat()
    clock.advance(30)  # longer than the whole time of the seat
    still_house.hub.watchdog.beat()
    live = still_house.hub.directory.own[match.match]
    ring(live)
    assert live.match.status == "running"
    still_house.move_to(clock.now + 2_000_000_000)
    answer = await mover.ask(Act, match.match, 0, "a1")
    assert isinstance(answer, Accepted)
    assert answer.ledger is not None
    assert 29_000 < answer.ledger.stall_ms <= 30_000
    assert 1_900 < answer.ledger.charged_ms <= 2_100


async def test_match_is_aborted_when_a_seat_is_never_ready(open_house: OpenHouse) -> None:
    house = await open_house(ready_timeout=0.1)
    one, two = await house.bot("alice"), await house.bot("bob")
    await one.seek("pig")
    await two.seek("pig")
    match = (await one.next(MatchMessage)).snapshot
    await one.ask(Ready, match.match)
    end = await one.next(Finished)
    assert end.outcome.termination == "aborted"
    assert "not ready" in end.outcome.reason


async def test_who_alone_does_not_come_to_a_rated_match_forfeits_it(house: Any) -> None:
    one, two = await house.bot("alice"), await house.bot("bob")
    for client in (one, two):
        await client.seek("kuhn_poker", rated=True)
    match = (await one.next(MatchMessage)).snapshot
    assert not match.events, "nothing is dealt before all are ready"
    await one.ask(Ready, match.match)
    live = house.hub.directory.own[match.match]
    live.input(live.match.tick, live.match.deadline())  # the time to get ready is over
    end = await one.next(Finished)
    assert (end.outcome.termination, end.outcome.seat) == ("no_show", 1 - match.seat)
    assert end.outcome.returns[match.seat] > 0 > end.outcome.returns[1 - match.seat]
    stored = await house.hub.store.read(match_reads.stored_match, match.match)
    assert verify(stored_record(stored, get_game("kuhn_poker"))).ok
    board = await house.hub.store.read(leaderboards.leaderboard, "kuhn_poker")
    assert [(line.player, line.wins) for line in board] == [("alice", 1), ("bob", 0)]


async def test_mirrored_pairing_swaps_seats_and_reveals_the_seed_at_the_end(house: Any) -> None:
    one = await house.bot("alice", max_matches=4)
    two = await house.bot("bob", max_matches=4)
    for client in (one, two):
        await client.seek("kuhn_poker", mirrored=True)
    starts = [await one.start(), await one.start()]
    for _ in range(2):
        await two.start()
    assert {start.seat for start in starts} == {0, 1}
    assert starts[0].pairing == starts[1].pairing
    assert starts[0].commitment == starts[1].commitment
    by_id = {start.match: start for start in starts}
    first, second = by_id
    await one.ask(Resign, first)
    early = await one.next(Finished, match=first)
    assert not early.pairing_done
    assert early.seed == ""
    await two.ask(Resign, second)
    late = await one.next(Finished, match=second)
    assert late.pairing_done
    assert hashlib.sha256(bytes.fromhex(late.seed)).hexdigest() == starts[0].commitment
    assert (await one.next(Revealed)).seed == late.seed
    assert (await two.next(Revealed)).seed == late.seed


async def test_ended_matches_are_gone_without_the_garbage_collector(
    house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Left to it they pile up by the thousand, and when it runs at last everybody's clock waits.
    monkeypatch.setattr(directory, "RECENT", 0)
    gc.collect()
    gc.disable()
    try:
        one = await house.bot("alice", max_matches=4)
        two = await house.bot("bob", max_matches=4)
        for client in (one, two):
            await client.seek("kuhn_poker", mirrored=True)
        begun = set()
        for _ in range(2):
            match = (await two.start()).match
            begun.add(match)
            await one.start()
            await two.ask(Resign, match)
            await one.next(Finished, match=match)
        assert await one.next(Revealed)
        # Others may be there: pytest keeps what the frames of a failed test hold.
        lives = [each for each in gc.get_objects() if type(each) is LiveMatch]
        left = [each for each in lives if each.id in begun]
    finally:
        gc.enable()
    assert left == []


async def test_long_matches_that_are_over_do_not_stay_in_memory(
    house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """500 matches of a thousand hands of hold'em took two gigabytes."""
    monkeypatch.setattr(directory, "RECENT_PLIES", 6)
    bots, starts = await house.pair("tic_tac_toe", count=1)
    last = ""
    for _ in range(2):
        last = starts[0].match
        await asyncio.gather(*(c.play(s) for c, s in zip(bots, starts, strict=True)))
        for each in bots:
            await each.seek("tic_tac_toe", count=1)
        starts = await asyncio.gather(*(each.start() for each in bots))
    assert list(house.hub.directory.recent) == [last]


async def test_spectator_follows_a_match_to_its_end(house: Any) -> None:
    clients, (match, other) = await house.pair("tic_tac_toe")
    watcher = await house.bot("carol", codec=JSON, scenes=True)
    seen = (await watcher.ask(Watch, match.match)).snapshot
    assert seen.seat is None
    assert seen.scene is not None
    ends = asyncio.gather(clients[0].play(match, 1), clients[1].play(other, 2))
    update = await watcher.next(Update)
    assert update.events[0].action is not None
    assert (await watcher.next(Finished)).outcome == (await ends)[0].outcome
    assert (await watcher.ask(Unwatch, match.match)).code == "match/unknown"


@pytest.mark.parametrize("game", ["kuhn_poker", "coin_guess"])
async def test_spectator_of_hidden_information_sees_nothing_hidden(house: Any, game: str) -> None:
    clients, (match, other) = await house.pair(game)
    if game == "coin_guess":  # somebody hides a coin; in poker the cards are dealt by now
        turn = await clients[0].next(Turn)
        action = legal_action(turn, get_game(game), random.Random(1))
        assert isinstance(await clients[0].ask(Act, match.match, turn.ply, action), Accepted)
    watcher = await house.bot("carol", scenes=True)
    seen = (await watcher.ask(Watch, match.match)).snapshot
    own = (await clients[0].ask(Sync, match.match)).snapshot
    assert seen.scene is not None
    assert [event.action for event in seen.events if event.action is None]
    for event in seen.events:  # thinking times are public, as the clocks are; chance takes none
        assert (event.ms is None) == (event.seat == CHANCE_SEAT)
    assert seen.observation != own.observation
    assert [event.action for event in own.events] != [event.action for event in seen.events]
    await asyncio.gather(clients[0].play(match, 1), clients[1].play(other, 2))
    assert (await watcher.next(Finished)).outcome.termination == "normal"


async def test_seats_with_updates_hear_of_the_others_actions(house: Any) -> None:
    one = await house.bot("alice", updates=True, scenes=True)
    two = await house.bot("bob")
    for client in (one, two):
        await client.seek("tic_tac_toe")
    starts = await asyncio.gather(one.start(), two.start())
    await asyncio.gather(one.play(starts[0], 1), two.play(starts[1], 2))
    updates = [each for each in one.inbox if isinstance(each, Update)]
    assert not [each for each in two.inbox if isinstance(each, Update)]
    assert all(each.scene for each in updates)


async def test_a_fault_in_one_match_makes_it_void_and_harms_no_other(
    house: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (mover, other), (match, _) = await house.pair("tic_tac_toe")
    await mover.next(Turn)

    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("plyhouse.server.match.history.Mark", broken)
    await mover.send(Act(50, match.match, 0, "a1"))
    end = await other.next(Finished)
    assert end.outcome.termination == "server_fault"
    assert "a bug" not in repr(end)
    assert match.match in {getattr(record, "match", None) for record in caplog.records}
    await mover.seek("tic_tac_toe")
    await other.seek("tic_tac_toe")
    assert (await mover.start()).match != match.match
