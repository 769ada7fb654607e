"""A match as the terminal follows it: what messages make of it."""

from __future__ import annotations

from tests.cli.scenes import scene_after, scene_of

from plyhouse.clients.terminal.followed_match import MS, FollowedMatch, replayed
from plyhouse.clients.terminal.interfaces import Lost, Position
from plyhouse.games.registry import get_game
from plyhouse.protocol.messages import (
    Accepted,
    ClockState,
    DrawDeclined,
    DrawOffered,
    Event,
    Finished,
    MatchMessage,
    MatchSnapshot,
    Notice,
    Outcome,
    Said,
    SeatInfo,
    Turn,
    Update,
)

PLAYERS = [SeatInfo("alice", kind="human"), SeatInfo("bob", "rook")]
CLOCKS = [ClockState(0, 60_000, running=True), ClockState(1, 50_000)]


def begun(seat: int | None = 0) -> FollowedMatch:
    course = FollowedMatch()
    snapshot = MatchSnapshot(
        match="m", pairing="p", game="tic_tac_toe", time_control="total:60", rated=False,
        seat=seat, players=PLAYERS, status="running", ply=0, clocks=CLOCKS,
        scene=scene_after("tic_tac_toe", 0)[0], observation={"legal": ["a1", "b2"]},
        your_turn=seat == 0,
    )  # fmt: skip
    course.take(MatchMessage(snapshot), 0)
    return course


def test_a_turn_and_what_comes_of_it() -> None:
    course = begun()
    assert (course.turn, course.legal) == (0, ("a1", "b2"))
    assert course.holders == ["alice", "bob/rook"]
    assert course.clocks.left(0, 1500 * MS) == 58_500
    assert course.clocks.left(1, 1500 * MS) == 50_000
    clocks = [ClockState(0, 57_000), ClockState(1, 50_000, running=True)]
    course.take(Accepted(1, "m", 0, [Event(0, 0, "b2", 3000)], clocks), 3000 * MS)
    assert course.turn is None
    assert [(each.at, each.seat, each.text, each.seconds) for each in course.told] == [
        (1, 0, "b2", 3.0)
    ]
    assert course.clocks.running == 1
    scene, _ = scene_after("tic_tac_toe", 2)
    course.take(Turn("m", 2, [Event(1, 1, "a1", 10)], {"legal": ["c3"]}, clocks, scene=scene), 0)
    assert [course.turn, course.last, *course.legal] == [2, 2, "c3"]
    assert course.take(Update("other", 1), 0) is False


def test_who_is_away_is_told_with_the_seconds_left() -> None:
    course = begun()
    away = Notice("notice/away", "bob is away", "m", 1, 20_000)
    course.take(away, 0)
    assert course.clocks.gone(1, 500 * MS) == 20
    assert course.clocks.gone(1, 20_500 * MS) == 0
    assert course.notice == "bob/rook has lost the connection."
    course.take(Notice("notice/back", "bob is back", "m", 1), 0)
    assert course.clocks.gone(1, 0) is None


def test_a_lost_connection_stops_the_clocks_that_are_known() -> None:
    course = begun()
    course.take(Lost("the connection was lost", 2.0), 1000 * MS)
    assert "Trying again in 2 s" in course.trouble
    assert course.clocks.left(0, 9000 * MS) == 59_000
    assert course.clocks.running is None


def test_draws_are_offered_and_declined() -> None:
    course = begun()
    course.take(DrawOffered("m", 1), 0)
    assert (course.offered, course.notice) == (True, "bob/rook offers a draw.")
    course.take(DrawDeclined("m", 0), 0)
    assert course.offered is False
    course.take(DrawOffered("m", 0), 0)
    course.take(DrawDeclined("m", 1), 0)
    assert course.notice == "The draw was declined."


def test_after_the_end_nobody_is_to_move() -> None:
    course = begun()
    assert course.mover(0) == 0
    outcome = Outcome("resignation", [-1.0, 1.0], 0, "seat 1 resigned.")
    course.take(Finished("m", outcome), 0)
    assert course.mover(0) is None
    assert course.turn is None
    assert course.status_at(0) == "bob/rook wins by resignation. Seat 1 resigned."


def test_a_replay_has_names_and_times() -> None:
    game = get_game("kuhn_poker")
    state = game.initial_state()
    scene = scene_of(game, state, None)
    told = ("seat 1: bet in 0.25 s", "chance: (hidden)")
    end = "Result: seat 1 +1.00, seat 2 −1.00 (normal)."
    course = replayed(
        [Position(0, (), scene), Position(1, told, scene, end)], PLAYERS, "kuhn_poker"
    )
    assert [(each.seat, each.text, each.seconds) for each in course.told] == [
        (0, "alice: bet", 0.25), (-1, "chance: (hidden)", None),
    ]  # fmt: skip
    assert course.result() == "Result: alice +1.00, bob/rook −1.00 (normal)."
    assert course.over


def test_phrases_are_shown_until_they_are_muted() -> None:
    course = FollowedMatch()
    course.take(Said("", 1, "well_played"), 0)
    assert course.notice == "seat 2: Well played!"
    course.quiet = True
    course.take(Said("", 1, "oops"), 0)
    assert course.notice == "seat 2: Well played!"
