"""The prisoners' dilemma, once or repeated, with the course's years in prison.

Two prisoners choose at the same time, without contact: ``deny`` or ``accept``.  If both deny, both
get 10 years; if both accept, 5 years.  If one denies while the other accepts, the one who denies
goes free and the other gets 10 years.  Returns are years as negative numbers, summed over
``rounds``.

To deny is never worse and sometimes better, so both deny: 10 years each, although both
would get 5 if both accepted.  As a prisoner who faces a denial gets 10 years in any case,
one denying while the other accepts is an equilibrium too, if a weak one.
"""

from __future__ import annotations

from typing import ClassVar, Final

from mypy_extensions import mypyc_attr

from plyhouse.games.base import ChanceKind, GameInfo, Information, Parameter, Utility
from plyhouse.games.hidden.matrix import MAX_ROUNDS, Matrix, Payoffs, table_of

__all__ = ["ACCEPT", "DENY", "PrisonersDilemma"]

DENY: Final = 0
ACCEPT: Final = 1

_NAMES: Final[tuple[str, ...]] = ("deny", "accept")

_YEARS: Final[Payoffs] = (
    ((-10.0, -10.0), (0.0, -10.0)),
    ((-10.0, 0.0), (-5.0, -5.0)),
)


@mypyc_attr(allow_interpreted_subclasses=True)
class PrisonersDilemma(Matrix):
    """The prisoners' dilemma.

    >>> game = PrisonersDilemma(rounds=2)
    >>> state = game.initial_state()
    >>> for choice in ("deny", "accept"):
    ...     state = state.after(game.parse(state, choice))
    >>> game.observe(state, 0).rounds, game.observe(state, 0).totals
    ((('deny', 'accept'),), (0.0, -10.0))
    """

    info: ClassVar[GameInfo] = GameInfo(
        name="prisoners_dilemma",
        title="Prisoners' dilemma",
        summary="Deny or accept: what is best for each is bad for both.",
        min_seats=2,
        max_seats=2,
        chance=ChanceKind.DETERMINISTIC,
        information=Information.IMPERFECT,
        utility=Utility.GENERAL_SUM,
        min_return=-10.0 * MAX_ROUNDS,
        max_return=0.0,
        max_plies=2 * MAX_ROUNDS,
        parameters=(Parameter("rounds", 1, "how often it is played", 1, MAX_ROUNDS),),
        simultaneous=True,
    )
    action_pattern: ClassVar[str] = "deny|accept"

    def check_parameters(self) -> None:
        """Keep the table."""
        self.keep(table_of(_NAMES, _NAMES, _YEARS, self.int_parameter("rounds")))
