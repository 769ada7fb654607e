"""A bot's turn: what it shows, and what it lets the bot do."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import numpy as np
import pytest
from tests.bots.conftest import played
from tests.harness.bot_turns import turn_at

from plyhouse.bots import BotError, HiddenInformation, Match, Resignation, Turn, TurnOver
from plyhouse.bots.process.tracker import OutOfStep, Tracker, position_text
from plyhouse.games.base import CHANCE
from plyhouse.games.registry import BUILT_IN, get_game
from plyhouse.protocol.messages import Event
from plyhouse.search import Limit, alpha_beta
from plyhouse.search.poll import Poll, SearchStopped


def turn_of(
    spec: str, *, seat: int = 0, events: tuple[Event, ...] = (), state: Any = None, **more: Any
) -> Turn:
    game = get_game(spec)
    tracker = Tracker(game, events)
    state = state if state is not None else tracker.state
    return Turn(
        Match("m", game, seat, (), "move:1", False, "forfeit"),
        ply=sum(event.seat >= 0 for event in events),
        state=tracker.state,
        observation=game.observe(state, seat),
        history=events,
        **more,
    )


CONNECT_FOUR = get_game("connect_four")
MATCH = Match("m", CONNECT_FOUR, 0, (), "move:1", False, "forfeit")
SEEN = CONNECT_FOUR.observe(CONNECT_FOUR.initial_state(), 0)


def dealt(card: int) -> Any:
    """Kuhn poker with this card for seat 0 and the next one for seat 1."""
    state = get_game("kuhn_poker").initial_state()
    return state.after(card).after((card + 1) % 3)


def test_the_position_is_rebuilt_from_what_happened() -> None:
    turn = turn_of("connect_four", events=played("4", "4", "1"), seat=1)
    game = get_game("connect_four")
    state: Any = game.initial_state()
    for text in ("4", "4", "1"):
        state = state.after(game.parse(state, text))
    assert game.describe(turn.state) == game.describe(state)
    assert turn.ply == 3
    assert [event.action for event in turn.history] == ["4", "4", "1"]


def test_dice_are_part_of_what_happened() -> None:
    events = (Event(0, 0, "roll"), Event(1, -1, "5"), Event(1, 0, "hold"))
    turn = turn_of("pig", events=events, seat=1)
    assert turn.state.to_move == 1
    assert turn.ply == 2
    assert turn.legal_text == tuple(turn.game.legal_text(turn.state, 1))


@pytest.mark.parametrize(
    "events",
    [
        played("4", "9"),
        (Event(0, 1, "4"),),
        (Event(0, 0, None),),
        (Event(0, -1, "4"),),
    ],
)
def test_what_cannot_have_happened_is_said(events: tuple[Event, ...]) -> None:
    with pytest.raises(OutOfStep):
        Tracker(get_game("connect_four"), events)


def test_a_changed_state_is_named_when_the_match_goes_on() -> None:
    tracker = Tracker(get_game("tic_tac_toe"), played("a1", "b1"))
    assert tracker.state is not None
    tracker.state.to_move = 1  # as a beginner's bot does, to try something
    with pytest.raises(OutOfStep, match=r"The bot has changed turn\.state.*use state\.after\("):
        tracker.add((Event(2, 0, "a2"),))
    tracker = Tracker(get_game("tic_tac_toe"), played("a1", "b1"))
    with pytest.raises(OutOfStep) as caught:
        tracker.add((Event(2, 0, "b1"),))
    assert "turn.state" not in str(caught.value)


def test_changed_state_is_seen_by_what_the_seat_sees() -> None:
    tracker = Tracker(get_game("tic_tac_toe"), played("a1", "b1"))
    state: Any = tracker.state
    seen: Any = tracker.observation({}, 0)
    assert not tracker.changed(seen, 0)
    # A game whose observations differ after their way over the wire, as lists from tuples.
    assert not tracker.changed(dataclasses.replace(seen, legal=list(seen.legal)), 0)
    state.crosses |= 0o400
    assert tracker.changed(seen, 0)
    state.crosses = -1  # nothing can show that
    assert tracker.changed(seen, 0)
    hidden = Tracker(get_game("kuhn_poker"))
    assert not hidden.changed(SEEN, 0)


def test_position_in_words_is_that_of_the_match_after_a_change() -> None:
    turn = turn_of("tic_tac_toe", events=played("a1", "b1"))
    before = position_text(turn)
    turn.state.crosses = 0
    assert position_text(turn) == before


def test_the_history_is_that_of_the_turn_whatever_happens_later() -> None:
    events = list(played("4", "4"))
    turn = Turn(MATCH, ply=2, state=None, observation=SEEN, history=events)
    events.extend(played("1", "2", "3")[2:])
    assert [event.action for event in turn.history] == ["4", "4"]
    assert turn.history is turn.history


def test_a_turn_does_not_read_a_history_that_nobody_asks_for() -> None:
    class Unread(list[Event]):
        def __iter__(self) -> Any:
            raise AssertionError("read, though nobody asked")

        def __getitem__(self, _: Any) -> Any:
            raise AssertionError("read, though nobody asked")

    turn = Turn(MATCH, ply=0, state=None, observation=SEEN, history=Unread(played("4")))
    assert turn.ply == 0


def test_a_search_runs_on_it() -> None:
    turn = turn_of("tic_tac_toe", events=played("a1", "b1", "a2", "b2"))
    assert (
        turn.game.format(turn.state, alpha_beta(turn.game, turn.state, turn.limit).action) == "a3"
    )


def test_hidden_information_has_no_state_but_samples() -> None:
    turn = turn_of("kuhn_poker", state=dealt(1))
    with pytest.raises(HiddenInformation, match=r"turn\.observation.*turn\.sample"):
        _ = turn.state
    seen = {turn.sample().cards for _ in range(50)}
    assert seen == {(1, 0), (1, 2)}
    assert turn.legal_text == ("check", "bet")
    assert turn.game.format(turn.sample(), turn.legal[1]) == "bet"
    assert "card='Q'" in turn.describe()


def test_samples_repeat_with_the_same_randomness() -> None:
    turn = turn_of("kuhn_poker", state=dealt(1))
    one = [turn.sample(random.Random(5)).cards for _ in range(3)]
    assert one == [turn.sample(random.Random(5)).cards for _ in range(3)]


def test_the_limit_counts_from_now_and_never_below_zero() -> None:
    now = [0]
    turn = turn_of("tic_tac_toe", soft=2_000_000_000, hard=3_000_000_000, clock_ns=lambda: now[0])
    assert turn.limit.time == 2.0
    assert turn.time_left == 3.0
    now[0] = 1_500_000_000
    assert turn.limit.time == 0.5
    now[0] = 9_000_000_000
    assert turn.limit.time == 0.0
    assert turn.time_left == 0.0


def test_searches_report_through_the_limit() -> None:
    reported: list[str] = []
    turn = turn_of("tic_tac_toe", on_report=reported.append)
    result = alpha_beta(turn.game, turn.state, turn.limit)
    assert reported[-1] == turn.game.format(turn.state, result.action)


def test_limit_of_a_turn_that_is_over_stops_searches() -> None:
    turn = turn_of("chess", soft=10**18)
    limit = turn.limit
    poll = Poll(limit)
    poll(1)
    turn.end()
    with pytest.raises(SearchStopped):
        poll(17)
    later = Poll(limit)  # a bot may search several times in a turn
    with pytest.raises(SearchStopped):
        later(1)


def test_a_report_takes_actions_and_texts_but_nothing_illegal() -> None:
    reported: list[str] = []
    turn = turn_of("connect_four", on_report=reported.append)
    turn.report(turn.legal[3])
    turn.report("5")
    assert reported == ["4", "5"]
    with pytest.raises(BotError, match="'9' is not legal here, expected one of 1, 2, 3"):
        turn.report("9")


def test_report_of_illegal_bet_names_the_rule() -> None:
    turn = turn_of("monopoly", on_report=lambda _: None)
    with pytest.raises(BotError, match="because the property is not the seat's own, expected one"):
        turn.report("build boardwalk")


def test_reports_after_the_end_stop_the_search() -> None:
    turn = turn_of("connect_four", on_report=lambda _: None)
    turn.end()
    with pytest.raises(TurnOver):
        turn.report(turn.legal[0])
    assert not issubclass(TurnOver, Exception)


def test_resigning_is_an_exception() -> None:
    with pytest.raises(Resignation):
        turn_of("connect_four").resign()


@pytest.mark.parametrize("nonsense", [None, 3.7, object(), [], "", b"4"])
def test_nonsense_is_told_from_actions(nonsense: Any) -> None:
    turn = turn_of("connect_four")
    try:
        _, problem = turn.text_of(nonsense)
    except BotError as error:
        problem = str(error)
    assert "expected one of 1, 2" in problem


class Alike:
    """Equals a number, as the numbers of other libraries do, and is none."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return self.value == other

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    "alike", [np.int64(3), np.uint8(3), np.float64(3.0), np.array(3), Alike(3), 3.0]
)
def test_what_equals_a_legal_action_is_that_action(alike: Any) -> None:
    reported: list[str] = []
    turn = turn_of("connect_four", on_report=reported.append)
    assert turn.text_of(alike) == ("3", "")
    turn.report(alike)
    assert reported == ["3"]


@pytest.mark.parametrize("name", sorted(set(BUILT_IN) - {"scrabble"}))  # whose actions are texts
def test_numbers_of_numpy_are_actions_of_every_game(name: str) -> None:
    game = get_game(name)
    state: Any = game.initial_state()
    while state.to_move == CHANCE:
        state = state.after(state.chance_outcomes()[0][0])
    turn = turn_at(game, state, seat=max(state.to_move, 0))  # all at once: any of them
    alike = [turn.text_of(np.int64(action)) for action in turn.legal]
    assert alike == [(text, "") for text in turn.legal_text]


@pytest.mark.parametrize("far", [np.int64(99), np.float64(2.5), np.array([1, 2, 3]), Alike(99)])
def test_what_equals_no_legal_action_is_told_so(far: Any) -> None:
    turn = turn_of("connect_four")
    try:
        _, problem = turn.text_of(far)
    except BotError as error:  # compiled games cannot write these values down
        problem = str(error)
    assert "expected one of 1, 2" in problem


def test_bounds_that_narrow_a_turn_hold_for_all_that_ask_it() -> None:
    game = get_game("tic_tac_toe")
    state = game.initial_state()
    now = [1_000_000_000]
    turn = turn_at(game, state, soft=2_000_000_000, hard=3_000_000_000, clock_ns=lambda: now[0])
    whole = turn.stopper()
    turn.narrow(Limit(time=0.25, depth=3, simulations=7))
    turn.narrow(Limit(time=5, depth=9, nodes=50))
    limit = turn.limit
    assert (limit.time, limit.depth, limit.nodes, limit.simulations) == (0.25, 3, 50, 7)
    part, rest = turn.stopper(0.5), turn.stopper()
    now[0] += 125_000_000
    assert (part(), rest(), whole()) == (True, False, False)
    now[0] += 125_000_000
    assert (rest(), whole()) == (True, False)
    turn.end()
    assert whole()
