"""Rock, paper, scissors: both choose at the same time; paper beats rock, scissors beat
paper, rock beats scissors.

Choices are written ``rock``, ``paper`` and ``scissors``.  A round is worth 1 to its winner
and -1 to the loser; with ``rounds`` above 1 returns are sums.  In the only equilibrium each
choice has chance 1/3, and the value is 0.
"""

from __future__ import annotations

from typing import ClassVar, Final

from mypy_extensions import mypyc_attr

from plyhouse.games.base import ChanceKind, GameInfo, Information, Parameter, Utility
from plyhouse.games.hidden.matrix import MAX_ROUNDS, Matrix, Payoffs, table_of

__all__ = ["RockPaperScissors"]

_NAMES: Final[tuple[str, ...]] = ("rock", "paper", "scissors")

_PAYOFFS: Final[Payoffs] = (
    ((0.0, 0.0), (-1.0, 1.0), (1.0, -1.0)),
    ((1.0, -1.0), (0.0, 0.0), (-1.0, 1.0)),
    ((-1.0, 1.0), (1.0, -1.0), (0.0, 0.0)),
)


@mypyc_attr(allow_interpreted_subclasses=True)
class RockPaperScissors(Matrix):
    """Rock, paper, scissors, once or repeated.

    >>> game = RockPaperScissors()
    >>> state = game.initial_state()
    >>> state = state.after(game.parse(state, "rock"))
    >>> game.visible(game.initial_state(), 0, 1) is None  # seat 1 is not told what seat 0 chose
    True
    >>> state.after(game.parse(state, "paper")).returns()
    (-1.0, 1.0)
    """

    info: ClassVar[GameInfo] = GameInfo(
        name="rock_paper_scissors",
        title="Rock, paper, scissors",
        summary="Both choose at the same time; each choice beats one other.",
        min_seats=2,
        max_seats=2,
        chance=ChanceKind.DETERMINISTIC,
        information=Information.IMPERFECT,
        utility=Utility.ZERO_SUM,
        min_return=-float(MAX_ROUNDS),
        max_return=float(MAX_ROUNDS),
        max_plies=2 * MAX_ROUNDS,
        parameters=(Parameter("rounds", 1, "how often it is played", 1, MAX_ROUNDS),),
        simultaneous=True,
    )
    action_pattern: ClassVar[str] = "rock|paper|scissors"

    def check_parameters(self) -> None:
        """Keep the table."""
        self.keep(table_of(_NAMES, _NAMES, _PAYOFFS, self.int_parameter("rounds")))
