"""Every law of `check_game` catches a game that breaks it."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Hashable
from typing import Any, ClassVar

import pytest

from plyhouse.games import (
    CHANCE,
    TERMINAL,
    ChanceKind,
    Game,
    GameInfo,
    Information,
    Observation,
    State,
    Utility,
    get_game,
)
from plyhouse.games.scene import Button, Scene, Text
from plyhouse.games.testing import LawBroken, check_game, check_notation


class SecretState:
    """Chance deals 1 to 3; seat 0 sees it and says high or low; seat 1 believes or doubts."""

    __slots__ = ("number", "said", "to_move")

    def __init__(self, to_move: int = CHANCE, number: int = 0, said: tuple[str, ...] = ()) -> None:
        self.to_move = to_move
        self.number = number
        self.said = said

    def actions(self) -> tuple[Any, ...]:
        if self.to_move == 0:
            return ("high", "low")
        return ("believe", "doubt") if self.to_move == 1 else ()

    def after(self, action: Any) -> SecretState:
        if self.to_move == CHANCE:
            return type(self)(0, action)
        return type(self)(1 if self.to_move == 0 else TERMINAL, self.number, (*self.said, action))

    def chance_outcomes(self) -> tuple[tuple[Any, float], ...]:
        return ((1, 0.25), (2, 0.25), (3, 0.5)) if self.to_move == CHANCE else ()

    def returns(self) -> tuple[float, ...]:
        true = (self.said[0] == "high") == (self.number == 3)
        return (-1.0, 1.0) if true == (self.said[1] == "believe") else (1.0, -1.0)

    def key(self) -> Hashable:
        return (self.to_move, self.number, self.said)


@dataclasses.dataclass(frozen=True)
class SecretObservation(Observation):
    number: int | None
    said: tuple[str, ...]


class Secret(Game):
    info: ClassVar[GameInfo] = GameInfo(
        name="secret",
        title="Secret",
        summary="A lawful little game.",
        min_seats=2,
        max_seats=2,
        chance=ChanceKind.STOCHASTIC,
        information=Information.IMPERFECT,
        utility=Utility.ZERO_SUM,
        min_return=-1.0,
        max_return=1.0,
        max_plies=3,
    )
    observation_type: ClassVar[type[Observation]] = SecretObservation
    state_type: ClassVar[type[SecretState]] = SecretState

    def initial_state(self) -> State:
        return self.state_type()

    def observe(self, state: Any, seat: int | None) -> SecretObservation:
        knows = seat == 0 or state.to_move == TERMINAL
        number = state.number if knows and state.number else None
        return SecretObservation(
            seat, state.to_move, self.legal_text(state, seat), number, state.said
        )

    def information_state(self, state: Any, seat: int) -> Hashable:
        knows = seat == 0 or state.to_move == TERMINAL
        return (seat, state.to_move, state.number if knows else 0, state.said)

    def visible(self, state: Any, action: Any, viewer: int | None) -> str | None:
        if state.to_move != CHANCE:
            return self.format(state, action)
        return str(action) if viewer == 0 else None

    def sample_state(self, observation: Any, rng: random.Random) -> State:
        number = observation.number
        if number is None:
            number = 0 if observation.to_move == CHANCE else rng.choice([1, 2, 3])
        return self.state_type(observation.to_move, number, observation.said)

    def scene(self, observation: Any) -> Scene:
        buttons = tuple(Button(action, action) for action in observation.legal)
        mover = observation.to_move if observation.to_move >= 0 else None
        return Scene((Text(f"number {observation.number}"), *buttons), "status", mover)

    def describe(self, state: Any) -> str:
        return f"{state.to_move} {state.number} {state.said}"


class PropertyToMove(SecretState):
    @property
    def to_move(self) -> int:
        return self._mover

    @to_move.setter
    def to_move(self, value: int) -> None:
        self._mover = value


class StrangeMover(SecretState):
    def after(self, action: Any) -> SecretState:
        result = super().after(action)
        if result.to_move == 1:
            result.to_move = 7
        return result


class ActionsAsList(SecretState):
    def actions(self) -> Any:
        return list(super().actions())


class RepeatedActions(SecretState):
    def actions(self) -> tuple[Any, ...]:
        return super().actions() * 2


class ShuffledActions(SecretState):
    calls = 0

    def actions(self) -> tuple[Any, ...]:
        ShuffledActions.calls += 1
        actions = super().actions()
        return actions if ShuffledActions.calls % 2 else actions[::-1]


class NoActions(SecretState):
    def actions(self) -> tuple[Any, ...]:
        return ()


class ActionsAtTheEnd(SecretState):
    def actions(self) -> tuple[Any, ...]:
        return super().actions() or ("more",)


class LeakingActions(SecretState):
    """Seat 1's legal actions depend on something that it cannot know."""

    def actions(self) -> tuple[Any, ...]:
        actions = super().actions()
        return actions[:1] if self.to_move == 1 and self.number == 3 else actions


class Unhashable(SecretState):
    def actions(self) -> tuple[Any, ...]:
        return ([1],) if self.to_move == 0 else super().actions()


class Impure(SecretState):
    def after(self, action: Any) -> SecretState:
        result = super().after(action)
        if self.to_move == 0:
            self.number = 1 + self.number % 3
        return result


class ImpureInSecret(Impure):
    """Its state cannot be compared, because it is not pickled."""

    def __reduce__(self) -> Any:
        if self.to_move == 0:
            raise TypeError("not this one")
        return type(self), (self.to_move, self.number, self.said)


class ImpureUnnoticed(Impure):
    """The field that changes is missing from its pickle, and from later states."""

    def after(self, action: Any) -> SecretState:
        result = super().after(action)
        if self.to_move == 0:
            result.number = 1
        return result

    def __reduce__(self) -> Any:
        return type(self), (self.to_move, 1 if self.to_move == 0 else self.number, self.said)


class Unsteady(SecretState):
    calls = 0

    def after(self, action: Any) -> SecretState:
        Unsteady.calls += 1
        result = super().after(action)
        if result.to_move == 0:
            result.number = 1 + Unsteady.calls % 3
        return result


class UnsteadyInSecret(Unsteady):
    def __reduce__(self) -> Any:
        if self.to_move == 0:
            raise TypeError("not this one")
        return type(self), (self.to_move, self.number, self.said)


class Endless(SecretState):
    def after(self, action: Any) -> SecretState:
        if self.to_move == 1:
            return type(self)(0, self.number, (*self.said, action))
        return super().after(action)


class ImprobableChance(SecretState):
    def chance_outcomes(self) -> tuple[tuple[Any, float], ...]:
        return ((1, 0.5), (2, 0.25)) if self.to_move == CHANCE else ()


class NegativeChance(SecretState):
    def chance_outcomes(self) -> tuple[tuple[Any, float], ...]:
        return ((1, 1.5), (2, -0.5)) if self.to_move == CHANCE else ()


class NoChance(SecretState):
    def chance_outcomes(self) -> tuple[tuple[Any, float], ...]:
        return ()


class TooMuch(SecretState):
    def returns(self) -> tuple[float, ...]:
        return (2.0, -2.0)


class NotZeroSum(SecretState):
    def returns(self) -> tuple[float, ...]:
        return (1.0, 0.0)


class OneReturn(SecretState):
    def returns(self) -> tuple[float, ...]:
        return (0.0,)


class NotPicklable(SecretState):
    def __reduce__(self) -> Any:
        raise TypeError("not this one")


class Forgetful(SecretState):
    """Comes back from a copy without what was said."""

    def __reduce__(self) -> Any:
        return type(self), (self.to_move, self.number)


class CoarseKey(SecretState):
    def key(self) -> Hashable:
        return self.number


class WildHeuristic(SecretState):
    def heuristic(self) -> tuple[float, ...]:
        return (5.0, -5.0)


class WildPlayout(SecretState):
    def playout(self, rng: random.Random) -> tuple[float, ...]:
        return (1.0, 1.0)


class LossyOrder(SecretState):
    def order(self, actions: tuple[Any, ...]) -> tuple[Any, ...]:
        return actions[:1]


class InventiveNoise(SecretState):
    def noisy_actions(self) -> tuple[Any, ...]:
        return ("shout",)


class RashForecast(SecretState):
    def forced(self) -> bool:
        return False

    def forces(self, action: Hashable) -> bool:
        return True


BROKEN_STATES: list[tuple[type[SecretState], str, str]] = [
    (PropertyToMove, "to_move", "property"),
    (StrangeMover, "to_move", "7"),
    (ActionsAsList, "fixed order", "not a tuple"),
    (RepeatedActions, "fixed order", "repeats"),
    (ShuffledActions, "fixed order", "asked again"),
    (NoActions, "fixed order", "no action"),
    (ActionsAtTheEnd, "fixed order", "while no seat moves"),
    (Unhashable, "fixed order", "not hashable"),
    (LeakingActions, "sample_state", "seat 1 sees"),
    (Impure, "purity", "state after 'high'"),
    (ImpureInSecret, "purity", "state after 'high'"),
    (ImpureUnnoticed, "purity", "state after all its actions"),
    (Unsteady, "purity", "asked again"),
    (UnsteadyInSecret, "purity", "asked again"),
    (Endless, "termination", "goes on after 3 actions"),
    (ImprobableChance, "chance", "sum to 0.75"),
    (NegativeChance, "chance", "probability 1.5"),
    (NoChance, "chance", "without outcomes"),
    (TooMuch, "returns", "not within -1 to 1"),
    (NotZeroSum, "returns", "sum to 1.0, not 0"),
    (OneReturn, "returns", "how many values"),
    (NotPicklable, "copying", "not this one"),
    (Forgetful, "copying", "after pickle"),
    (CoarseKey, "hooks", "positions with one key"),
    (WildHeuristic, "hooks", "not within"),
    (WildPlayout, "hooks", "sum to 2.0"),
    (LossyOrder, "hooks", "order gives"),
    (InventiveNoise, "hooks", "not all legal"),
    (RashForecast, "hooks", "forces of"),
]


@pytest.mark.parametrize(
    ("kind", "law", "words"), BROKEN_STATES, ids=lambda item: getattr(item, "__name__", None)
)
def test_broken_states_are_caught(kind: type[SecretState], law: str, words: str) -> None:
    class Broken(Secret):
        state_type = kind

    globals()["Broken"] = Broken
    Broken.__qualname__ = "Broken"
    try:
        with pytest.raises(LawBroken) as caught:
            check_game(Broken(), max_states=100)
    finally:
        del globals()["Broken"]
    assert caught.value.law == law
    assert words in str(caught.value)
    assert caught.value.position


class BadName(Secret):
    info = dataclasses.replace(Secret.info, name="Not A Name")


class DeclaredDeterministic(Secret):
    info = dataclasses.replace(Secret.info, chance=ChanceKind.DETERMINISTIC)


class DeclaredPerfect(Secret):
    info = dataclasses.replace(Secret.info, information=Information.PERFECT)


class DeclaredConstantSum(Secret):
    class state_type(SecretState):  # noqa: N801
        def returns(self) -> tuple[float, ...]:
            return (1.0, 0.0) if self.number == 1 else (0.0, 0.0)

        def __reduce__(self) -> Any:
            return DeclaredConstantSum.state_type, (self.to_move, self.number, self.said)

    info = dataclasses.replace(Secret.info, utility=Utility.CONSTANT_SUM)


class UnreadableNotation(Secret):
    def format(self, state: State, action: Any) -> str:
        return "word"


class UntidyNotation(Secret):
    def format(self, state: State, action: Any) -> str:
        return f" {action}"


class GullibleParser(Secret):
    def parse(self, state: State, text: str) -> Any:
        actions = state.actions()
        return text if text in actions else (actions or ("pass",))[0]


class ChanceWithoutNames(Secret):
    def format_chance(self, state: State, outcome: Any) -> str:
        return "card"


class NumbersFromOne(Secret):
    """The announced numbers are one higher than those that chance deals."""

    def format_chance(self, state: Any, outcome: Any) -> str:
        return str(outcome + 1)


class WrongSeat(Secret):
    def observe(self, state: Any, seat: int | None) -> SecretObservation:
        return dataclasses.replace(super().observe(state, seat), seat=0)


class LegalForAll(Secret):
    def observe(self, state: Any, seat: int | None) -> SecretObservation:
        legal = self.legal_text(state, state.to_move)
        return dataclasses.replace(super().observe(state, seat), legal=legal)


class NotPlain(Secret):
    def observe(self, state: Any, seat: int | None) -> SecretObservation:
        return dataclasses.replace(super().observe(state, seat), said=list(state.said))  # type: ignore[arg-type]


class LeakyObservation(Secret):
    def observe(self, state: Any, seat: int | None) -> SecretObservation:
        number = state.number or None
        if seat is None:
            number = None
        return dataclasses.replace(super().observe(state, seat), number=number)


class LeakyToSpectators(Secret):
    def observe(self, state: Any, seat: int | None) -> SecretObservation:
        seen = super().observe(state, seat)
        return seen if seat is not None else dataclasses.replace(seen, number=state.number or None)


class LeakyVisible(Secret):
    def visible(self, state: Any, action: Any, viewer: int | None) -> str | None:
        return str(action)


class LeakyVisibleToSpectators(Secret):
    def visible(self, state: Any, action: Any, viewer: int | None) -> str | None:
        return str(action) if viewer is None else super().visible(state, action, viewer)


class LeakyScene(Secret):
    def observe(self, state: Any, seat: int | None) -> SecretObservation:
        self.peeked = state.number
        return super().observe(state, seat)

    def scene(self, observation: Any) -> Scene:
        scene = super().scene(observation)
        return dataclasses.replace(scene, status=f"psst: {self.peeked}")


class ForgetfulInformationState(Secret):
    """Seat 0 is shown its number, but its information state lost it."""

    def information_state(self, state: Any, seat: int) -> Hashable:
        return (seat, state.to_move, state.said)


class UnhashableInformationState(Secret):
    def information_state(self, state: Any, seat: int) -> Hashable:
        return [seat]  # type: ignore[return-value]


class ForgetfulSampling(Secret):
    def sample_state(self, observation: Any, rng: random.Random) -> State:
        number = 0 if observation.to_move == CHANCE else rng.choice([1, 2, 3])
        return self.state_type(observation.to_move, number, observation.said)


class UnseededSampling(Secret):
    calls = 0

    def sample_state(self, observation: Any, rng: random.Random) -> State:
        if observation.number is not None or observation.to_move == CHANCE:
            return super().sample_state(observation, rng)
        UnseededSampling.calls += 1
        number = 1 + UnseededSampling.calls % 3
        return self.state_type(observation.to_move, number, observation.said)


class EmptyScene(Secret):
    def scene(self, observation: Any) -> Scene:
        return Scene((), "nothing to see", super().scene(observation).seat_to_move)


class SceneOfTheWrongSeat(Secret):
    def scene(self, observation: Any) -> Scene:
        return dataclasses.replace(super().scene(observation), seat_to_move=1)


class MoreThanAtStake(Secret):
    @property
    def return_bounds(self) -> tuple[float, float]:
        return -0.5, 0.5


class MoreAtStakeThanDeclared(Secret):
    @property
    def return_bounds(self) -> tuple[float, float]:
        return -2.0, 2.0


class LongListUnsaid(Secret):
    info = dataclasses.replace(Secret.info, most_actions=1)


class ShortListUnsaid(Secret):
    def listed_actions(self, state: Any) -> Any:
        return state.actions()[:1]


class ListsTheIllegal(Secret):
    info = dataclasses.replace(Secret.info, most_actions=2000)

    def listed_actions(self, state: Any) -> Any:
        return (*state.actions(), "never")


BROKEN_GAMES: list[tuple[type[Secret], str, str]] = [
    (BadName, "info", "Not A Name"),
    (DeclaredDeterministic, "chance", "declared deterministic"),
    (DeclaredPerfect, "observation", "perfect information"),
    (DeclaredConstantSum, "returns", "sum to"),
    (UnreadableNotation, "notation", "meaning of 'word'"),
    (UntidyNotation, "notation", "is written as ' high'"),
    (GullibleParser, "notation", "is read as"),
    (ChanceWithoutNames, "notation", "meaning of 'card'"),
    (NumbersFromOne, "numbers", "1 is written as '2'"),
    (WrongSeat, "observation", "seat"),
    (LegalForAll, "observation", "legal actions"),
    (LongListUnsaid, "observation", "info.most_actions says 1 at most"),
    (ShortListUnsaid, "observation", "listed actions"),
    (ListsTheIllegal, "observation", "a listed action is not legal"),
    (NotPlain, "observation", "field said is not plain"),
    (LeakyObservation, "non-interference", "seat 1 is shown"),
    (LeakyToSpectators, "non-interference", "spectators are shown"),
    (LeakyVisible, "non-interference", "seat 1 is told"),
    (LeakyVisibleToSpectators, "non-interference", "spectators are told"),
    (LeakyScene, "non-interference", "psst"),
    (ForgetfulInformationState, "non-interference", "seat 0 is told"),
    (UnhashableInformationState, "non-interference", "not hashable"),
    (ForgetfulSampling, "sample_state", "seat 0 sees"),
    (UnseededSampling, "sample_state", "sampled again"),
    (EmptyScene, "scene", "actions offered"),
    (SceneOfTheWrongSeat, "scene", "seat_to_move"),
    (MoreThanAtStake, "returns", "not within -0.5 to 0.5"),
    (MoreAtStakeThanDeclared, "info", "return_bounds -2 to 2"),
]


@pytest.mark.parametrize(
    ("kind", "law", "words"), BROKEN_GAMES, ids=lambda item: getattr(item, "__name__", None)
)
def test_broken_games_are_caught(kind: type[Secret], law: str, words: str) -> None:
    with pytest.raises(LawBroken) as caught:
        check_game(kind(), max_states=100)
    assert caught.value.law == law
    assert words in str(caught.value)


def test_a_lawful_game_without_any_base_class_for_states_passes() -> None:
    report = check_game(Secret(), max_states=200)
    assert report.states >= 200
    assert report.longest == 3


class Slurred(Secret):
    """Both words look the same once the number is 9, which is never dealt."""

    def format(self, state: Any, action: Any) -> str:
        return "low" if state.number == 9 else str(action)


def test_positions_of_its_author_are_checked_too() -> None:
    report = check_game(Slurred(), max_states=40)
    assert check_game(Slurred(), max_states=40, positions=[SecretState(0, 3)]).states == (
        report.states + 1
    )
    with pytest.raises(LawBroken, match="meaning of 'low'") as caught:
        check_game(Slurred(), max_states=40, positions=[SecretState(0, 9)])
    assert caught.value.law == "notation"
    with pytest.raises(LawBroken, match="meaning of 'low'"):
        check_notation(Slurred(), SecretState(0, 9))


def test_a_game_of_imperfect_information_must_say_what_a_seat_knows() -> None:
    class Silent(Secret):
        information_state = Game.information_state

    with pytest.raises(TypeError, match="must define information_state"):
        Silent().information_state(Silent().initial_state(), 0)


def test_actions_of_imperfect_information_are_hidden_unless_shown() -> None:
    class Silent(Secret):
        visible = Game.visible

    game = Silent()
    assert game.visible(game.initial_state(), 1, 0) is None


SPECS = [
    "tic_tac_toe",
    "chess",
    "chess(start=0)",
    'chess(fen="4k3/P6P/8/8/8/8/p6p/4K3 w - - 0 1")',
    "go",
    "go(komi=0.5,size=5)",
    "connect_four",
    "connect_four(columns=4,rows=5)",
    "connect_four(columns=5,connect=3,rows=4)",
    "connect_four(columns=6,rows=9)",
    "pig",
    "pig(seats=3,target=30)",
    "pig(seats=10,sides=2,target=4)",
    "coin_guess",
    "coin_guess(variant=bag)",
    "coin_guess(pennies=1.0,variant=bag)",
    "kuhn_poker",
    "kuhn_poker(seats=3)",
    "kuhn_poker(seats=4)",
    "leduc_poker",
    "hearts",
    "hearts(deals=1)",
    "liars_dice",
    "liars_dice(dice=2,faces=4,seats=3,wild=highest)",
    "liars_dice(dice=2,faces=10,seats=6,wild=lowest)",
    "scrabble",
    "scrabble(returns=points,seats=3)",
    "scrabble(challenges=double)",
    "texas_holdem",
    "texas_holdem(betting=fixed,hands=2,seats=4,stack=30)",
    'texas_holdem(ante=1,hands=3,seats=6,stacks="3,200,7,30,90,12")',
    "bridge",
    "bridge(boards=1,first=4)",
    "monopoly",
    "monopoly(rounds=3,seats=4)",
    "monopoly(offers=5,rounds=40,seats=6)",
    "matrix",
    'matrix(columns="a,b",payoffs="3,3 0,5; 5,0 1,1",rounds=3,rows="c,d")',
    'matrix(columns="2,1,fold",payoffs="1 2 3; 3 2 1",rounds=2,rows="10,0")',
    "prisoners_dilemma",
    "prisoners_dilemma(rounds=10)",
    "rock_paper_scissors",
    "rock_paper_scissors(rounds=5)",
    "backgammon",
    'backgammon(position="6x5 3x2; 5x6 1; 1 62")',
    "einstein",
    "einstein(placement=free)",
    'battleship(columns=4,fleet="3,2,1",rows=5)',
    'battleship(columns=3,fleet="2",rows=2)',
    "breakthrough",
    "breakthrough(size=4)",
    "breakthrough(size=5)",
    "checkers",
    'checkers(position="W:WK1,K10,27:BK32,K5,12",quiet_moves=4)',
    "coins",
    "coins(coins=20,max_take=3,misere=false)",
    "hexapawn",
    "hexapawn(size=4)",
    "hexapawn(size=8)",
    "kalah",
    "kalah(houses=2,seeds=10)",
    "nim",
    'nim(heaps="1,2,3,4",misere=true)',
    "othello",
    "othello(score=true)",
    "pacman(layout=duel)",
    "pacman(ghosts=random,layout=trapped)",
    "pacman(layout=trapped,steps=40)",
]

MOST_STATES = {
    "bridge": 40,
    "chess": 40,
    "go": 40,
    "monopoly": 80,
    "scrabble": 10,
    "texas_holdem": 40,
}
"""States to check of games with so many actions that it takes long."""


@pytest.mark.parametrize("spec", SPECS)
def test_built_in_games_keep_every_law(spec: str) -> None:
    game = get_game(spec)
    assert game.spec == spec
    name = game.info.name
    check_game(game, max_states=MOST_STATES.get(name, 250), seed=1)
