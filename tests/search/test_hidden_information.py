"""PIMC and ISMCTS: they know what is seen and no more, and where determinisation fails."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import pytest

from plyhouse.games.base import (
    TERMINAL,
    ChanceKind,
    Game,
    GameInfo,
    Information,
    Observation,
    Utility,
)
from plyhouse.games.errors import GameMismatch
from plyhouse.games.registry import get_game
from plyhouse.games.scene import Scene
from plyhouse.search import (
    Limit,
    SearchResult,
    alpha_beta,
    expectiminimax,
    flat_monte_carlo,
    ismcts,
    pimc,
)

SPECS = ["kuhn_poker", "leduc_poker", "liars_dice", "battleship", "coin_guess", "matrix"]


@dataclass(frozen=True)
class Roads:
    """Averaging over clairvoyance (Russell and Norvig, AIMA, section 6.6).

    Road A leads to a small heap of gold.  Road B leads to a fork: one way jewels, the other a
    bus that runs one over; which is which, the traveller learns too late.
    """

    jewels: int
    """0 if they lie to the left."""
    path: tuple[str, ...] = ()

    @property
    def to_move(self) -> int:
        return TERMINAL if self.path[:1] == ("A",) or len(self.path) == 2 else 0

    def actions(self) -> tuple[str, ...]:
        return ("left", "right") if self.path else ("A", "B")

    def after(self, action: str) -> Roads:
        return replace(self, path=(*self.path, action))

    def chance_outcomes(self) -> tuple[Any, ...]:
        return ()

    def returns(self) -> tuple[float]:
        if self.path[0] == "A":
            return (0.4,)
        return (1.0,) if self.path[1] == ("left", "right")[self.jewels] else (-1.0,)


@dataclass(frozen=True)
class RoadsObservation(Observation):
    path: tuple[str, ...] = ()


class RoadsGame(Game):
    info: ClassVar[GameInfo] = GameInfo(
        name="roads",
        title="Roads",
        summary="Which road?",
        min_seats=1,
        max_seats=1,
        chance=ChanceKind.DETERMINISTIC,
        information=Information.IMPERFECT,
        utility=Utility.GENERAL_SUM,
        min_return=-1.0,
        max_return=1.0,
        max_plies=2,
    )
    observation_type: ClassVar[type[Observation]] = RoadsObservation

    def initial_state(self) -> Roads:  # type: ignore[override]  # to_move is a property here
        return Roads(0)

    def observe(self, state: Any, seat: int | None) -> RoadsObservation:
        return RoadsObservation(seat, state.to_move, (), state.path)

    def information_state(self, state: Any, seat: int) -> Any:
        return state.path

    def sample_state(self, observation: Observation, rng: random.Random) -> Any:
        assert isinstance(observation, RoadsObservation)
        return Roads(rng.randrange(2), observation.path)

    def scene(self, observation: Observation) -> Scene:
        return Scene((), "", None)

    def describe(self, state: Any) -> str:
        return repr(state)


def told(result: SearchResult) -> list[Any]:
    return [
        result.action,
        result.value,
        dict(result.values),
        dict(result.visits),
        result.simulations,
        result.nodes,
    ]


def first_turn(spec: str, skip: int = 0) -> tuple[Game, Any]:
    """A state in which a seat moves, after so many actions of seats."""
    game = get_game(spec)
    state: Any = game.initial_state()
    rng = random.Random(skip)
    while state.to_move < 0 or skip:
        if state.to_move == -1:
            state = state.after(rng.choice(state.chance_outcomes())[0])
        else:
            state = state.after(rng.choice(state.actions()))
            skip -= 1
    return game, state


# Strategy fusion


def test_strategy_fusion_misleads_pimc_and_not_ismcts() -> None:
    game = RoadsGame()
    seen = game.observe(Roads(1), 0)
    fused = pimc(game, seen, Limit(simulations=2000))
    assert fused.action == "B"  # as if it would see the jewels at the fork
    assert fused.values == {"A": pytest.approx(0.4), "B": pytest.approx(0.8, abs=0.1)}
    for observers in ("multiple", "single"):
        honest = ismcts(game, seen, Limit(simulations=4000), observers=observers)
        assert honest.action == "A"
        assert honest.values["A"] == pytest.approx(0.4)
        assert honest.values["B"] == pytest.approx(0.0, abs=0.2)


# What is known


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("skip", [0, 1])
def test_states_that_look_the_same_give_the_same_result(spec: str, skip: int) -> None:
    game, state = first_turn(spec, skip)
    seat = state.to_move
    assert seat >= 0
    seen = game.observe(state, seat)
    rng = random.Random(3)
    others = [game.sample_state(seen, rng) for _ in range(4)]
    for search in (ismcts, pimc):
        wanted = told(search(game, seen, Limit(simulations=120), seed=7))
        for other in others:
            assert game.observe(other, seat) == seen
            again = search(game, game.observe(other, seat), Limit(simulations=120), seed=7)
            assert told(again) == wanted
        assert wanted[0] in state.actions()


def test_only_sampled_states_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    # The searches get an observation and never a state; the game counts what it hands out.
    game, state = first_turn("leduc_poker")
    seen = game.observe(state, state.to_move)
    handed_out = []
    original = game.sample_state

    def counted(observation: Observation, rng: random.Random) -> Any:
        assert observation == seen
        sampled = original(observation, rng)
        handed_out.append(sampled)
        return sampled

    monkeypatch.setattr(game, "sample_state", counted)  # games are shared between tests
    result = ismcts(game, seen, Limit(simulations=200))
    assert len(handed_out) == result.simulations + 1  # one for the legal actions
    cards = {game.information_state(sampled, 1 - state.to_move) for sampled in handed_out}
    assert len(cards) == 5  # every card the other may hold, and not the one that it has


# Sense


def test_the_best_and_the_worst_card_of_kuhn_poker() -> None:
    game = get_game("kuhn_poker")
    for search in (ismcts, pimc):
        # Seat 1 was bet into: call (3) with the king, fold (2) with the jack.
        for card, other, best in ((2, 0, 3), (0, 2, 2)):
            state: Any = game.initial_state()
            for action in (other, card, 1):
                state = state.after(action)
            result = search(game, game.observe(state, 1), Limit(simulations=2000))
            assert result.action == best
            assert result.value == pytest.approx(2.0 if best == 3 else -1.0, abs=0.05)


def test_visits_spread_over_an_equilibrium_of_rock_paper_scissors() -> None:
    game, state = first_turn("rock_paper_scissors")
    seen = game.observe(state, state.to_move)
    result = ismcts(game, seen, Limit(simulations=3000))
    for visits in result.visits.values():
        assert visits == pytest.approx(1000, abs=250)
    chosen = {
        ismcts(game, seen, Limit(simulations=90), seed=seed, choose="sample").action
        for seed in range(25)
    }
    assert chosen == set(state.actions())


def test_observers_make_a_difference_where_others_know_more() -> None:
    game, state = first_turn("liars_dice")
    seen = game.observe(state, state.to_move)
    several = ismcts(game, seen, Limit(simulations=3000), observers="multiple")
    single = ismcts(game, seen, Limit(simulations=3000), observers="single")
    # Seen through the eyes of one seat, the others do not know their own dice.
    assert single.value > several.value


def test_perfect_information_is_a_special_case() -> None:
    game, state = first_turn("connect_four", 0)
    for action in (4, 1, 4, 1, 4, 2):
        state = state.after(action)
    seen = game.observe(state, 0)
    assert ismcts(game, seen, Limit(simulations=2000)).action == 4
    assert pimc(game, seen, Limit(simulations=2000), samples=2).action == 4
    assert pimc(game, seen, Limit(depth=2), samples=2, search=alpha_beta).action == 4


# Limits and options


@pytest.mark.parametrize("search", [ismcts, pimc])
def test_simulations_are_exact_repeatable_and_seeded(search: Any) -> None:
    game, state = first_turn("leduc_poker")
    seen = game.observe(state, state.to_move)
    first = search(game, seen, Limit(simulations=200), seed=1)
    assert told(first) == told(search(game, seen, Limit(simulations=200), seed=1))
    assert told(first) != told(search(game, seen, Limit(simulations=200), seed=2))
    if search is ismcts:
        assert first.simulations == sum(first.visits.values()) == 200
    else:
        assert first.simulations <= 200
        assert sum(first.visits.values()) == 30


@pytest.mark.parametrize("search", [ismcts, pimc])
def test_without_any_time_there_is_still_a_legal_action(search: Any) -> None:
    game, state = first_turn("leduc_poker")
    result = search(game, game.observe(state, state.to_move), Limit(time=0))
    assert result.action in state.actions()
    assert result.simulations == 0


def test_reports_end_with_the_result() -> None:
    game, state = first_turn("liars_dice")
    seen = game.observe(state, state.to_move)
    for search in (ismcts, pimc):
        heard: list[SearchResult] = []
        result = search(game, seen, Limit(simulations=300, report=heard.append))
        assert told(heard[-1]) == told(result)
        assert len(heard) > 3


def test_limits_in_nodes_depth_and_memory() -> None:
    game, state = first_turn("liars_dice")
    seen = game.observe(state, state.to_move)
    result = ismcts(game, seen, Limit(nodes=400))
    assert 400 <= result.nodes <= 400 + result.depth
    assert ismcts(game, seen, Limit(simulations=400, depth=2)).depth == 2
    small = ismcts(game, seen, Limit(simulations=400), max_nodes=3)
    assert small.simulations == 400


def test_pimc_with_votes_of_another_search() -> None:
    game, state = first_turn("kuhn_poker", 1)
    seen = game.observe(state, state.to_move)
    result = pimc(game, seen, Limit(), search=expectiminimax, combine="vote", samples=9)
    assert sum(result.visits.values()) == 9
    assert result.action == max(result.visits, key=lambda action: result.visits[action])
    # An unsuitable inner search is reported: leduc's board card is a chance node.
    leduc, dealt = first_turn("leduc_poker")
    with pytest.raises(GameMismatch, match="alpha_beta cannot play leduc_poker"):
        pimc(leduc, leduc.observe(dealt, dealt.to_move), search=alpha_beta)
    flat = pimc(leduc, leduc.observe(dealt, dealt.to_move), search=flat_monte_carlo)
    assert flat.simulations == 1000


@pytest.mark.parametrize(
    ("search", "options", "error", "message"),
    [
        (ismcts, {"observers": "none"}, ValueError, "expected 'multiple' or 'single'"),
        (ismcts, {"choose": "best"}, ValueError, "expected 'visits' or 'sample'"),
        (ismcts, {"max_nodes": 0}, ValueError, "at least 1"),
        (pimc, {"samples": 0}, ValueError, r"pimc\(samples=0\): expected at least 1"),
        (pimc, {"combine": "max"}, ValueError, "expected 'mean' or 'vote'"),
        (pimc, {"samples": 2.5}, TypeError, "whole number"),
    ],
)
def test_options_out_of_range_are_refused(
    search: Any, options: Any, error: Any, message: str
) -> None:
    game, state = first_turn("kuhn_poker")
    with pytest.raises(error, match=message):
        search(game, game.observe(state, state.to_move), **options)


def test_only_the_seat_to_move_can_search() -> None:
    game, state = first_turn("kuhn_poker")
    for search in (ismcts, pimc):
        with pytest.raises(ValueError, match="seen by seat 1 while to_move is 0"):
            search(game, game.observe(state, 1))
        with pytest.raises(ValueError, match="a spectator"):
            search(game, game.observe(state, None))
