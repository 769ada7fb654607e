"""The games that each algorithm can play, and the algorithm that suits a game best.

Decided from the facts a game declares (`GameInfo`), before the first node is visited.

>>> from plyhouse.games import get_game
>>> fitting_algorithms(get_game("pig"))[:3]
('expectiminimax', 'team_search', 'maxn')
>>> fitting_solvers(get_game("kuhn_poker"))
('cfr_plus', 'discounted_cfr', 'cfr', 'mccfr')
>>> require_game("alpha_beta", get_game("pig"))  # doctest: +ELLIPSIS
Traceback (most recent call last):
plyhouse.games.errors.GameMismatch: alpha_beta cannot play pig: it has chance nodes; it plays ...
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from plyhouse.games.base import ChanceKind, Game, Information, Observation, Utility
from plyhouse.games.errors import GameMismatch
from plyhouse.search.limit import MAX_DEPTH
from plyhouse.search.tree_size import (
    MAX_NODES,
    SOLVABLE,
    histories,
    is_larger,
    is_longer,
    positions,
    probed_sizes,
)

__all__ = [
    "ALGORITHMS",
    "EQUILIBRIUM_SOLVERS",
    "SOLVERS",
    "WIDE",
    "Choice",
    "Needs",
    "fitting_algorithms",
    "fitting_solvers",
    "recommended",
    "require_fit",
    "require_game",
    "require_solvable",
]


@dataclass(frozen=True)
class Needs:
    """Requirements of the algorithms on a game."""

    algorithm: str
    deterministic: bool = True
    perfect_information: bool = True
    two_player_zero_sum: bool = True
    two_sides: bool = False
    """True if two teams against each other do as well as two seats."""
    imperfect_information: bool = False
    """True if it makes sense only where something is hidden."""
    whole_plays: bool = False
    """True if it walks every play to its end, which may take `MAX_DEPTH` plies."""
    estimate: bool = False
    """True if it needs an estimate of positions, from the game or from its caller."""

    def misfits(self, game: Game) -> Iterator[str]:
        """Say, one reason after the other, why the game does not fit."""
        info = game.info
        if self.deterministic and game.chance_kind is not ChanceKind.DETERMINISTIC:
            yield "it has chance nodes"
        if self.perfect_information and info.information is not Information.PERFECT:
            yield "its seats do not see the whole state"
        if self.imperfect_information and info.information is Information.PERFECT:
            yield "its seats see the whole state, where one action is best for certain"
        elif self.whole_plays and is_longer(game):
            yield f"a match may take more than {MAX_DEPTH} plies, chance included"
        if self.two_player_zero_sum:
            teams = len({game.team(seat) for seat in range(game.seats)})
            sides = teams if self.two_sides and info.utility is Utility.TEAM else game.seats
            if sides != 2:
                seats = "1 seat" if game.seats == 1 else f"{game.seats} seats"
                yield f"it has {seats}" + (", which are not two teams" if self.two_sides else "")
            # The returns of two teams are opposite: `Utility.TEAM` promises it.
            opposite = info.utility is Utility.TEAM and teams == 2
            if info.utility is not Utility.ZERO_SUM and not opposite:
                yield "its returns do not sum to zero"

    def wanted(self) -> str:
        """Describe the games that fit, for the message of a refusal."""
        words = [
            "deterministic" if self.deterministic else "",
            self.sides(),
        ]
        kind = ", ".join(word for word in words if word)
        text = f"{kind} games" if kind else "games"
        if self.imperfect_information:
            most = f", at most {MAX_DEPTH} plies long" if self.whole_plays else ""
            return f"{text} of imperfect information{most}"
        return f"{text} of perfect information" if self.perfect_information else text

    def sides(self) -> str:
        """Describe who plays against whom."""
        if not self.two_player_zero_sum:
            return ""
        return "two-seat or two-team, zero-sum" if self.two_sides else "two-seat, zero-sum"


ALGORITHMS: Final = {
    needs.algorithm: needs
    for needs in (
        Needs("alpha_beta"),
        Needs("minimax"),
        Needs("expectiminimax", deterministic=False),
        Needs("team_search", deterministic=False, two_sides=True),
        Needs("maxn", deterministic=False, two_player_zero_sum=False),
        Needs("paranoid", deterministic=False, two_player_zero_sum=False),
        Needs("expectimax", deterministic=False, two_player_zero_sum=False),
        Needs("mcts", deterministic=False, two_player_zero_sum=False),
        Needs("puct", deterministic=False, two_player_zero_sum=False, estimate=True),
        Needs("flat_monte_carlo", deterministic=False, two_player_zero_sum=False),
        Needs(
            "ismcts",
            deterministic=False,
            perfect_information=False,
            two_player_zero_sum=False,
        ),
        Needs(
            "pimc",
            deterministic=False,
            perfect_information=False,
            two_player_zero_sum=False,
        ),
        Needs(
            "random_action",
            deterministic=False,
            perfect_information=False,
            two_player_zero_sum=False,
        ),
    )
}
"""Every algorithm of the library by name, the most specialised first."""

SOLVERS: Final = {
    needs.algorithm: needs
    for needs in (
        Needs("retrograde"),
        Needs("value_iteration", deterministic=False),
    )
}
"""Solvers of all positions of a game.  They are never offered for a game, because its static facts
do not tell whether all positions fit into memory.
"""


EQUILIBRIUM_SOLVERS: Final = {
    name: Needs(
        name,
        deterministic=False,
        perfect_information=False,
        two_player_zero_sum=False,
        imperfect_information=True,
        whole_plays=True,
    )
    for name in ("cfr_plus", "discounted_cfr", "cfr", "mccfr")
}
"""Every algorithm that works out a policy for a whole game of imperfect information."""


def require_solvable(algorithm: str, game: Game) -> None:
    """Raise `GameMismatch` unless equilibrium solvers, or judges of policies, fit the game.  The
    size of the tree is checked later, when it is unfolded, and for judges the length of plays.
    """
    _require_kind(algorithm, game)
    needs = EQUILIBRIUM_SOLVERS.get(algorithm) or replace(
        EQUILIBRIUM_SOLVERS["cfr"], algorithm=algorithm, whole_plays=False
    )
    reasons = tuple(needs.misfits(game))
    if reasons:
        raise mismatch(needs, game, reasons)


def fitting_algorithms(game: Game) -> tuple[str, ...]:
    """Names of the algorithms that can play the game, the most specialised first.

    One that needs an estimate is among them only if the game's states have a ``heuristic()``.
    """
    estimated = hasattr(game.initial_state(), "heuristic")
    return tuple(
        name
        for name, needs in ALGORITHMS.items()
        if (estimated or not needs.estimate) and not any(needs.misfits(game))
    )


def fitting_solvers(game: Game) -> tuple[str, ...]:
    """Names of the algorithms that can solve the game: of a tree of more than `MAX_NODES` nodes,
    as random plays guess it, only the one that samples.
    """
    if any(EQUILIBRIUM_SOLVERS["cfr"].misfits(game)):
        return ()
    if is_larger(probed_sizes(game, 1000 * MAX_NODES), MAX_NODES):
        return ("mccfr",)
    return tuple(EQUILIBRIUM_SOLVERS)


def require_fit(algorithm: str, game: Game, state: Any) -> None:
    """Raise `GameMismatch` unless the algorithm can play the game from this state.

    Raises `ValueError` when no seat is to move in ``state``, `TypeError` for what is no state.
    """
    require_game(algorithm, game)
    if not hasattr(state, "after"):
        raise TypeError(f"{algorithm} searches from a state, not from {_kind(state)}")
    if state.to_move < 0:
        what = "a chance node" if state.to_move == -1 else "the end of the game"
        raise ValueError(f"{algorithm} searches for an action of a seat, but this is {what}")


def require_turn(algorithm: str, game: Game, observation: Observation) -> None:
    """Raise `GameMismatch` unless the algorithm can play the game from what a seat sees.

    Raises `ValueError` when it is not the observer's turn, `TypeError` for what is no observation.
    """
    require_game(algorithm, game)
    given: Any = observation
    if not isinstance(given, Observation):
        advice = ": give it game.observe(state, state.to_move)"
        raise TypeError(
            f"{algorithm} searches from what a seat sees, an observation, not from "
            f"{_kind(given)}{advice if hasattr(given, 'after') else ''}"
        )
    if observation.seat is None or observation.seat != observation.to_move:
        who = "a spectator" if observation.seat is None else f"seat {observation.seat}"
        raise ValueError(
            f"{algorithm} searches for an action of the seat that observes, but this is seen by "
            f"{who} while to_move is {observation.to_move}"
        )


def require_game(algorithm: str, game: Game) -> None:
    """Raise `GameMismatch` unless the algorithm can play the game, `TypeError` for what is none."""
    _require_kind(algorithm, game)
    needs = ALGORITHMS.get(algorithm) or SOLVERS[algorithm]
    reasons = tuple(needs.misfits(game))
    if reasons:
        raise mismatch(needs, game, reasons)


def _require_kind(algorithm: str, game: Game) -> None:
    """Raise `TypeError` for what is no game, such as its name, or its state in the wrong place."""
    given: Any = game
    if not hasattr(given, "info"):
        name = isinstance(given, str)
        what = f"{given!r}: get_game(...) makes a game of a name" if name else _kind(given)
        raise TypeError(f"{algorithm} takes a game first, not {what}")


def _kind(given: object) -> str:
    """Describe a value passed in place of a game, a state or an observation."""
    if isinstance(given, Observation):
        return f"an observation ({type(given).__name__})"
    return f"{'a state ' if hasattr(given, 'after') else ''}({type(given).__name__})"


def mismatch(needs: Needs, game: Game, reasons: tuple[str, ...]) -> GameMismatch:
    """Build the refusal: what was asked, why not, what would fit."""
    fits = f"it plays {needs.wanted()}; {alternatives(game)}"
    return GameMismatch(needs.algorithm, game.spec, " and ".join(reasons), fits)


def alternatives(game: Game) -> str:
    """Name what can play the game, and what can solve it."""
    solvers = ", ".join(fitting_solvers(game))
    return f"what can play {game.spec}: {', '.join(fitting_algorithms(game))}" + (
        f"; what can solve it: {solvers}" if solvers else ""
    )


WIDE: Final = 40
"""Actions in the first position from which on a full-width search hardly gets anywhere."""


@dataclass(frozen=True)
class Choice:
    """An algorithm and why."""

    algorithm: str
    """Name of a function of `plyhouse.search`; "cfr_plus" stands for playing the policy that it
    computes."""
    reason: str
    """One sentence."""


def recommended(game: Game) -> Choice:
    """Name the algorithm that is most likely to play the game well, and why.

    The rules rest on matches whose results are in benchmarks/NOTES.md.  None names a game.

    >>> from plyhouse.games import get_game
    >>> recommended(get_game("backgammon"))
    Choice(algorithm='expectiminimax', reason='It is a duel with dice and estimates its positions.')
    >>> recommended(get_game("go")).algorithm
    'mcts'
    """
    info = game.info
    if info.information is Information.IMPERFECT:
        if histories(game) <= SOLVABLE:
            return Choice("cfr_plus", "It hides information and is small enough to be solved.")
        return Choice("ismcts", "It hides information and is too large to be solved.")
    if info.utility is Utility.TEAM and game.seats > 1:
        return Choice("team_search", "Its seats are teams.")
    chance = game.chance_kind is not ChanceKind.DETERMINISTIC
    estimated = hasattr(game.initial_state(), "heuristic")
    if game.seats == 2 and zero_sum(game):
        if not estimated:
            if not chance and positions(game) <= SOLVABLE:
                return Choice("alpha_beta", "It is small enough to be searched to its end.")
            return Choice("mcts", "It has no estimate of positions: playouts give one.")
        if chance:
            return Choice("expectiminimax", "It is a duel with dice and estimates its positions.")
        if len(game.initial_state().actions()) > WIDE:
            return Choice("mcts", "It is too wide to look at every action.")
        return Choice("alpha_beta", "It is a duel without chance and estimates its positions.")
    if game.seats == 1 and estimated:
        return Choice("expectimax", "It is played alone, against chance.")
    if estimated:
        return Choice("maxn", "It has several seats and estimates its positions.")
    return Choice("mcts", "Any number of seats, any returns: playouts fit all.")


def zero_sum(game: Game) -> bool:
    """Return whether what one seat wins the others lose."""
    return game.info.utility in (Utility.ZERO_SUM, Utility.CONSTANT_SUM)
