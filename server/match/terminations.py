"""The ways in which a match can end, how each counts, and its returns.

The table `TERMINATIONS` also has whose fault each is.

A *forfeit* is a match that a seat lost by something else than play.  Reports, standings, logs, the
suspension of versions and the table of ``docs/endings.md`` all read `TERMINATIONS`.  A *void* match
counts for nothing (`plyhouse.protocol.messages.VOID`).

>>> TERMINATIONS["flag_fall"].forfeit, TERMINATIONS["resignation"].forfeit
(True, False)
>>> fault_of("disconnect")
<Fault.CONNECTION: 'connection'>

If a match did not end by the rules of its game, this module computes its returns.  A seat that
forfeits or resigns gets the lowest return of the game, and so do the seats of its team
(`Game.team`).  The returns of the other seats depend on the game's utility:

* zero sum: the loss of the guilty seat is shared equally, ``-min / (n - 1)`` each;
* constant sum: the constant is one best and ``n - 1`` worst returns (a winner takes all), and
  the others share equally what the guilty seat left of it;
* two teams: the seats of the other team get what the guilty team lost, ``-min``;
* general sum, and other numbers of teams: everyone else gets the most that the game can give,
  since nobody else did wrong and nobody's return depends on another's.

A flag fall against a seat that cannot win is a draw (`Game.can_win`).

All are within the bounds that the game has with its parameters.  An agreed draw gives everyone 0 in
a zero-sum game, an equal share of the constant in a constant-sum game, and the middle of the bounds
elsewhere.  A void match (`VOID`) has no result; its returns are written as zeros and count for
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from plyhouse.games.base import Game, Utility
from plyhouse.protocol.messages import VOID, Outcome, Termination

__all__ = [
    "FORFEITS",
    "TERMINATIONS",
    "VOID",
    "Fault",
    "TerminationFacts",
    "counts_word",
    "draw_returns",
    "fault_of",
    "flag_returns",
    "forfeit_returns",
    "forfeiting_seat",
    "void_returns",
]


class Fault(StrEnum):
    """The party whose fault an ending is."""

    NOBODY = "nobody"
    """A regular ending."""
    PROGRAM = "program"
    """The fault of the bot's program, which would do it again."""
    CONNECTION = "connection"
    """The bot was away: its machine, its network, or a late start."""
    SERVER = "server"
    """The fault of the server or the game, or an organiser's decision."""


@dataclass(frozen=True, slots=True)
class TerminationFacts:
    """One way in which a match ends."""

    name: Termination
    words: str
    """The seat's action or the event, such as "ran out of time"."""
    meaning: str
    """The meaning, for the documentation."""
    fault: Fault
    examples: str = ""
    """Actions of a bot that cause it, for the documentation."""
    remedy: str = ""
    """Advice for its author; empty if it is no forfeit."""

    @property
    def counts(self) -> bool:
        """True if the match has a result."""
        return self.name not in VOID

    @property
    def forfeit(self) -> bool:
        """True if a seat lost by something else than play.

        Forfeits in a row suspend a version.
        """
        return self.fault in (Fault.PROGRAM, Fault.CONNECTION)


_TABLE: Final = (
    TerminationFacts("normal", "played to the end", "By the rules of the game.", Fault.NOBODY),
    TerminationFacts("resignation", "resigned", "A seat gave up.", Fault.NOBODY),
    TerminationFacts(
        "draw_agreed",
        "agreed on a draw",
        "Both seats agreed, in games that have draw offers.",
        Fault.NOBODY,
    ),
    TerminationFacts(
        "flag_fall",
        "ran out of time",
        "A seat's time was up.",
        Fault.PROGRAM,
        "too slow, hangs, waits for input",
        "keep to the time that is left, in Python by turn.limit or turn.report",
    ),
    TerminationFacts(
        "illegal_action",
        "played an illegal action",
        "A seat did what the rules do not allow, and the match's rule is `forfeit`.",
        Fault.PROGRAM,
        "breaks the rules, writes what is no action",
        "choose one of the legal actions of the turn",
    ),
    TerminationFacts(
        "disconnect",
        "was away",
        "A seat was away for longer than the grace period, or was excluded by an organiser.",
        Fault.CONNECTION,
        "runner stopped, computer asleep, network gone",
        "keep the bot connected until its last match is over",
    ),
    TerminationFacts(
        "no_show",
        "did not come",
        "Only one seat or team was not ready in time, in a rated match or a competition.",
        Fault.CONNECTION,
        "runner stopped before the match began",
        "start the bot before its matches begin",
    ),
    TerminationFacts(
        "bot_crash",
        "failed",
        "The bot's runner reported that its program failed.",
        Fault.PROGRAM,
        "exception, process ended, out of memory",
        "see its output, repeat the position with plyhouse bot ask, and fix the error",
    ),
    TerminationFacts(
        "no_answer",
        "named no legal action",
        "The runner of a language model reported that the model named no legal action.",
        Fault.PROGRAM,
        "rambles, repeats an illegal action, refuses",
        "see its output for what the model said, and ask it in another way",
    ),
    TerminationFacts(
        "server_fault", "server at fault", "The server or the game's own code failed.", Fault.SERVER
    ),
    TerminationFacts(
        "aborted",
        "stopped",
        "Not all seats became ready, or an organiser stopped the match.",
        Fault.SERVER,
    ),
)

TERMINATIONS: Final[Mapping[str, TerminationFacts]] = {each.name: each for each in _TABLE}
"""Every termination of the protocol, in the order of the documentation."""

FORFEITS: Final = frozenset(each.name for each in _TABLE if each.forfeit)
"""The terminations that are forfeits."""


def fault_of(termination: str) -> Fault:
    """Return whose fault a termination is; nobody's for one of a newer server."""
    known = TERMINATIONS.get(termination)
    return Fault.NOBODY if known is None else known.fault


def forfeiting_seat(outcome: Outcome | None) -> int | None:
    """Return the seat that forfeited; None if none did."""
    return outcome.seat if outcome is not None and outcome.termination in FORFEITS else None


def counts_word(facts: TerminationFacts) -> str:
    """Return how an ending counts, for tables."""
    if not facts.counts:
        return "no"
    return "yes, a forfeit" if facts.forfeit else "yes"


def _constant(game: Game) -> float:
    """Return the sum of returns of a constant-sum game: one best and all others worst."""
    least, most = game.return_bounds
    return most + (game.seats - 1) * least


def forfeit_returns(game: Game, guilty: int) -> tuple[float, ...]:
    """Return the returns of a match that seat ``guilty`` forfeited.

    See the module's rule.
    """
    least, most = game.return_bounds
    teams = [game.team(seat) for seat in range(game.seats)]
    others = game.seats - 1
    if game.info.utility is Utility.ZERO_SUM:
        share = -least / others if others else 0.0
    elif game.info.utility is Utility.TEAM and len(set(teams)) == 2:
        share = -least
    elif game.info.utility is Utility.CONSTANT_SUM:
        share = (_constant(game) - least) / others if others else 0.0
    else:
        share = most
    share = max(least, min(most, share))
    return tuple(least if team == teams[guilty] else share for team in teams)


def flag_returns(game: Game, state: Any, guilty: int) -> tuple[float, ...]:
    """Return the returns of a match in which the time of seat ``guilty`` ran out.

    It draws where the only opponent cannot win, and forfeits elsewhere.
    """
    if game.seats == 2 and not game.can_win(state, 1 - guilty):
        return draw_returns(game)
    return forfeit_returns(game, guilty)


def draw_returns(game: Game) -> tuple[float, ...]:
    """Return the returns of a match whose seats agreed on a draw."""
    if game.info.utility is Utility.ZERO_SUM:
        share = 0.0
    elif game.info.utility is Utility.CONSTANT_SUM:
        share = _constant(game) / game.seats
    else:
        share = sum(game.return_bounds) / 2
    return (share,) * game.seats


def void_returns(seats: int) -> tuple[float, ...]:
    """Return the zeros written for a match that counts for nothing."""
    return (0.0,) * seats
