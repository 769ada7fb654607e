"""Data of a state for each viewer: what its game allows, made no more often than necessary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from plyhouse.games.base import CHANCE, TERMINAL, Information, Observation
from plyhouse.games.deterministic.tic_tac_toe import TicTacToe
from plyhouse.games.errors import AmbiguousAction, GameError, IllegalAction, InvalidAction
from plyhouse.games.hidden.coin_guess import CoinGuess
from plyhouse.games.hidden.kuhn_poker import KuhnPoker
from plyhouse.games.registry import get_game
from plyhouse.games.scene import Scene
from plyhouse.games.stochastic.pig import Pig
from plyhouse.protocol.messages import CHANCE_SEAT, Event, LedgerEntry
from plyhouse.server.match.clock import Clock
from plyhouse.server.match.time_control import MS, SECOND, Ledger, TimeControl
from plyhouse.server.match.views import MAX_LEGAL, Views, clock_states, ledger_entry

from .harness import NO_LAG, Heap, HeapState


@dataclass(frozen=True)
class Count(Observation):
    number: int


class Counted(Heap):
    """Numbers its observations and scenes."""

    observation_type = Count  # type: ignore[assignment]

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**parameters)
        self.observed = 0

    def observe(self, state: Any, seat: int | None) -> Any:
        self.observed += 1
        return Count(seat, state.to_move, ("1", "2"), self.observed)

    def scene(self, observation: Any) -> Scene:
        return Scene((), f"{observation.number} for {observation.seat}", observation.to_move)


# ------------------------------------------------------------------------------- histories


def test_open_actions_are_the_same_for_all_viewers() -> None:
    game = TicTacToe()
    views = Views(game, 2)
    state: Any = game.initial_state()
    views.record(state, game.parse(state, "b2"), "b2", 0, 0, 1_999_999)
    assert views.length == 1
    for viewer in (0, 1, None):
        assert views.events(viewer) == [Event(0, 0, "b2", 1)]


class Named(Heap):
    """Shows one of its actions in words."""

    def display(self, state: Any, action: Any) -> str:
        return "two coins" if action == 2 else str(action)


def test_shown_form_of_an_action_is_sent_if_it_differs() -> None:
    views = Views(Named(), 2)
    for action in (1, 2):
        views.record(HeapState(9, 2, 0), action, str(action), 0, 0, 0)
    assert views.events(0) == [Event(0, 0, "1", 0), Event(0, 0, "2", 0, "two coins")]


class Spoken(CoinGuess):
    """Says what it hides to those who see it."""

    display_is_public = True

    def display(self, state: Any, action: Any) -> str:
        return f"a {self.format(state, action)}"


def test_words_of_a_hidden_action_are_for_those_who_see_it() -> None:
    for game, words in ((Spoken(), "a penny"), (CoinGuess(), "")):
        views = Views(game, 2)
        state: Any = game.initial_state()
        views.record(state, game.parse(state, "penny"), "penny", 0, 0, 0)
        assert views.events(0) == [Event(0, 0, "penny", 0, words)]
        assert views.events(1) == views.events(None) == [Event(0, 0, None, 0)]


def test_part_of_an_action_that_others_see_is_in_words_beside_its_notation() -> None:
    game: Any = get_game("scrabble")
    state = game.initial_state()
    for tile in "RELICTSAEINRT?":
        state = state.after(game.parse_chance(state, tile))
    views = Views(game, 2)
    views.record(state, game.parse(state, "-CT"), "-CT", 0, 0, 0)
    assert views.events(0) == [Event(0, 0, "-CT", 0, "exchanged CT")]
    assert views.events(1) == views.events(None) == [Event(0, 0, "-2", 0, "exchanged 2")]


def test_chance_takes_no_time() -> None:
    game = Pig()
    views = Views(game, 2)
    start: Any = game.initial_state()
    state = start.after(game.parse(start, "roll"))
    views.record(state, 3, "3", CHANCE_SEAT, 1, None)
    assert views.events(1) == [Event(1, CHANCE_SEAT, "3", None, "\N{DIE FACE-3}")]
    assert views.events(1)[0].ms is None


def test_hidden_actions_are_seen_by_those_who_may() -> None:
    game = CoinGuess()
    views = Views(game, 2)
    state: Any = game.initial_state()
    views.record(state, game.parse(state, "penny"), "penny", 0, 0, 2 * MS)
    assert views.length == 1
    assert views.events(0) == [Event(0, 0, "penny", 2)]
    assert views.events(1) == views.events(None) == [Event(0, 0, None, 2)]


def test_deal_is_seen_by_its_seat_alone() -> None:
    game = KuhnPoker(seats=3)
    views = Views(game, 3)
    state: Any = game.initial_state()
    for number in range(3):
        card = state.chance_outcomes()[0][0]
        views.record(state, card, views.chance_text(state, card), CHANCE_SEAT, 0, None)
        state = state.after(card)
        for viewer in (0, 1, 2, None):
            shown = [event.action is not None for event in views.events(viewer)]
            assert shown == [seat == viewer for seat in range(number + 1)]


class Whispered(KuhnPoker):
    """Shows every viewer who it is."""

    asked: ClassVar[list[int | None]] = []

    def visible(self, state: Any, action: Any, seat: int | None) -> str | None:
        self.asked.append(seat)
        return str(seat)


def test_game_is_asked_once_for_each_seat_and_the_spectators() -> None:
    for seats in (2, 3):
        views = Views(Whispered(seats=seats), seats)
        Whispered.asked.clear()
        views.record(None, None, "x", 0, 0, 0)
        viewers = [*range(seats), None]
        assert Whispered.asked == viewers
        for viewer in viewers:
            assert views.events(viewer) == [Event(0, 0, str(viewer), 0)]


@pytest.mark.parametrize("game", [Heap(), CoinGuess()], ids=["open", "hidden"])
def test_rollback_forgets_the_last_events_of_everyone(game: Any) -> None:
    views = Views(game, 2)
    state = game.initial_state()
    action = state.actions()[0]
    for ply in range(3):
        views.record(state, action, "x", 0, ply, 0)
    views.rollback(1)
    assert views.length == 1
    for viewer in (0, 1, None):
        assert [event.ply for event in views.events(viewer)] == [0]
    views.record(state, action, "x", 0, 1, 0)
    assert views.length == 2
    assert [event.ply for event in views.events(1, 1)] == [1]
    assert views.events(None, 2) == []


# ---------------------------------------------------------------------------- observations


def test_observation_of_a_state_is_made_once_for_each_viewer() -> None:
    game = Counted()
    views = Views(game, 2)
    state, later = HeapState(9, 2, 0), HeapState(8, 2, 1)
    fields = views.observation(state, 0)
    assert fields == {"seat": 0, "to_move": 0, "legal": ("1", "2"), "number": 1}
    assert views.observation(state, 0) is fields
    assert views.observation(state, None)["number"] == 2
    assert views.observation(state, 0) is fields
    assert views.observation(later, 0)["number"] == 3
    assert views.observation(state, 0)["number"] == 4, "the last state only is kept"
    views.forget()
    assert views.observation(state, 0)["number"] == 5


def test_scene_is_drawn_once_from_the_viewers_observation() -> None:
    game = Counted()
    views = Views(game, 2)
    state, later = HeapState(9, 2, 0), HeapState(8, 2, 1)
    fields, scene = views.drawn(state, 1)
    assert (fields["seat"], fields["number"]) == (1, 1)
    assert scene["status"] == "1 for 1"
    assert scene["viewer"] == 1
    assert tuple(scene["seats"]) == (game.seat_name(0), game.seat_name(1))
    again = views.drawn(state, 1)
    assert again[0] is fields
    assert again[1] is scene
    assert views.drawn(state, 0)[1]["status"] == "2 for 0"
    assert views.drawn(later, 1)[1]["status"] == "3 for 1"
    views.forget()
    assert views.drawn(later, 1)[1]["status"] == "4 for 1"


def test_match_that_stopped_shows_no_seat_to_move() -> None:
    game = Counted()
    fields, scene = Views(game, 2).stopped(HeapState(9, 2, 0), 1)
    assert fields == {"seat": 1, "to_move": TERMINAL, "legal": (), "number": 1}
    assert scene["status"] == "The match is over"
    assert scene.get("seat_to_move") is None
    assert scene["viewer"] == 1
    assert tuple(scene["seats"]) == (game.seat_name(0), game.seat_name(1))


# -------------------------------------------------------------------------- legal, refused


class Wide(HeapState):
    """A position with many actions."""

    __slots__ = ()

    def actions(self) -> tuple[int, ...]:
        return tuple(range(self.left))


@pytest.mark.parametrize("number", [1, MAX_LEGAL, MAX_LEGAL + 1])
def test_legal_actions_are_listed_up_to_a_number(number: int) -> None:
    listed = Views(Heap(), 2).legal(Wide(number, 2, 0))
    assert listed == [str(action) for action in range(min(number, 256))]


@pytest.mark.parametrize(("mover", "listed"), [(CHANCE, 0), (TERMINAL, 0), (0, 2), (1, 2)])
def test_legal_actions_are_listed_for_a_seat_to_move(mover: int, listed: int) -> None:
    state = HeapState(9, 2, mover)
    assert len(Views(Heap(), 2).legal(state)) == listed


SECRET = "the ace of spades"


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (InvalidAction("x", "heap", SECRET), "'x' cannot be read as an action of coin_guess."),
        (
            AmbiguousAction("x", SECRET, [SECRET]),
            "'x' could mean several actions: write it in full.",
        ),
        (IllegalAction("x", SECRET, [SECRET]), "'x' is not legal here."),
        (
            IllegalAction("x", SECRET, [SECRET], rule="it is late"),
            "'x' is not legal here, because it is late.",
        ),
        (GameError(SECRET), "'x' is not legal here."),
    ],
    ids=lambda value: type(value).__name__,
)
def test_refusal_in_a_hidden_game_is_written_without_its_error(
    error: GameError, sentence: str
) -> None:
    assert Views(CoinGuess(), 2).refusal(error, "x") == sentence
    assert Views(TicTacToe(), 2).refusal(error, "x") == str(error)


@pytest.mark.parametrize(("length", "dots"), [(40, ""), (41, "...")])
def test_refusal_quotes_at_most_forty_characters(length: int, dots: str) -> None:
    error = IllegalAction("x", SECRET, [])
    shown = Views(CoinGuess(), 2).refusal(error, "y" * length)
    assert shown == f"'{'y' * 40}{dots}' is not legal here."


def test_text_of_chance_is_given_at_chance_nodes_only() -> None:
    game = Pig()
    views = Views(game, 2)
    start: Any = game.initial_state()
    rolled = start.after(game.parse(start, "roll"))
    assert views.chance_text(rolled, rolled.chance_outcomes()[0][0]) == "1"
    for state in (start, HeapState(0, 2, 0)):
        with pytest.raises(ValueError, match="not a chance node"):
            views.chance_text(state, 1)


def test_games_of_the_two_kinds_are_what_these_tests_take_them_for() -> None:
    assert Heap.info.information is TicTacToe.info.information is Information.PERFECT
    assert CoinGuess.info.information is not Information.PERFECT


# ---------------------------------------------------------------------------------- clocks


def readings(clock: Clock, now: int, mover: int | None) -> list[tuple[Any, ...]]:
    return [
        (each.seat, each.remaining_ms, each.running, each.periods, each.bank_ms)
        for each in clock_states(clock, now, mover)
    ]


def clock(control: str) -> Clock:
    return Clock(TimeControl.parse(control), 2, NO_LAG)


@pytest.mark.parametrize("mover", [0, 1, None])
def test_plain_clocks_that_rest_show_who_is_to_move(mover: int | None) -> None:
    watch = clock("total:60+0")
    watch.start(0, 0)
    watch.stop(0, 1500 * MS + 1)
    assert readings(watch, 99 * SECOND, mover) == [
        (0, 58_499, mover == 0, None, None),
        (1, 60_000, mover == 1, None, None),
    ]


def test_running_clock_shows_its_ply() -> None:
    watch = clock("total:60+0")
    watch.start(1, 0)
    assert readings(watch, 2 * SECOND, 1) == [
        (0, 60_000, False, None, None),
        (1, 58_000, True, None, None),
    ]


def test_clocks_of_more_parts_show_them_also_at_rest() -> None:
    assert readings(clock("byoyomi:60+5x10"), 0, 0) == [
        (0, 110_000, True, 5, None),
        (1, 110_000, False, 5, None),
    ]
    watch = clock("bank:1+30")
    watch.start(1, 0)
    assert readings(watch, 2500 * MS, 1) == [
        (0, 31_000, False, None, 30_000),
        (1, 28_500, True, None, 28_500),
    ]


@pytest.mark.parametrize("control", ["total:60+0", "bank:1+59"])
def test_no_clock_runs_in_a_pause(control: str) -> None:
    watch = clock(control)
    watch.pause(0)
    assert [each[2] for each in readings(watch, 5, 0)] == [False, False]
    watch.start(0, 0)
    assert [each[2] for each in readings(watch, 5, 0)] == [False, False]


def test_ledger_in_milliseconds_adds_up() -> None:
    part = MS + 999_999
    ledger = Ledger(6 * part, 1 * part, 2 * MS + part, 3 * MS + part, 4 * MS + part)
    assert ledger_entry(7, 1, ledger) == LedgerEntry(7, 1, 1 + 3 + 4, 1, 3, 4, 5)
