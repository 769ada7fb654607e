"""The ways in which a match can end: one table of names, whose fault each is, how each counts.

A *forfeit* is a match that a seat lost otherwise than by play.  Reports, standings, logs, the
suspension of versions and the table of ``docs/fairness.md`` all read `ENDINGS`; none has a list of
its own.  What is *void* counts for nothing (`plyhouse.protocol.messages.VOID`).

>>> ENDINGS["flag_fall"].forfeit, ENDINGS["resignation"].forfeit
(True, False)
>>> fault_of("disconnect")
<Fault.CONNECTION: 'connection'>
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from plyhouse.protocol.messages import VOID, Outcome, Termination

__all__ = ["ENDINGS", "FORFEITS", "Ending", "Fault", "counts_word", "fault_of", "forfeiting_seat"]


class Fault(StrEnum):
    """Whose fault an ending is."""

    NOBODY = "nobody"
    """It is how matches end."""
    PROGRAM = "program"
    """The bot's own: its program did it, and would do it again."""
    CONNECTION = "connection"
    """The bot was not there: its machine, its network, or whoever started it too late."""
    HOUSE = "house"
    """The server's, the game's, or an organiser's wish."""


@dataclass(frozen=True, slots=True)
class Ending:
    """One way in which a match ends."""

    name: Termination
    words: str
    """What the seat did, or what happened: "ran out of time"."""
    meaning: str
    """For the documentation."""
    fault: Fault
    examples: str = ""
    """What a bot does to get there, for the documentation."""

    @property
    def counts(self) -> bool:
        """Whether the match has a result."""
        return self.name not in VOID

    @property
    def forfeit(self) -> bool:
        """Whether a seat lost otherwise than by play; forfeits in a row suspend a version."""
        return self.fault in (Fault.PROGRAM, Fault.CONNECTION)


_TABLE: Final = (
    Ending("normal", "played to the end", "By the rules of the game.", Fault.NOBODY),
    Ending("resignation", "resigned", "A seat gave up.", Fault.NOBODY),
    Ending(
        "draw_agreed",
        "agreed on a draw",
        "Both seats agreed, in games that have draw offers.",
        Fault.NOBODY,
    ),
    Ending(
        "flag_fall",
        "ran out of time",
        "A seat's time was up.",
        Fault.PROGRAM,
        "too slow, hangs, waits for input",
    ),
    Ending(
        "illegal_action",
        "played an illegal action",
        "A seat did what the rules do not allow, and the match's rule is `forfeit`.",
        Fault.PROGRAM,
        "breaks the rules, writes what is no action",
    ),
    Ending(
        "disconnect",
        "was away",
        "A seat was away for longer than the grace period, or was excluded by an organiser.",
        Fault.CONNECTION,
        "runner stopped, computer asleep, network gone",
    ),
    Ending(
        "no_show",
        "did not come",
        "A seat was the only one not ready in time, in a rated match or a competition.",
        Fault.CONNECTION,
        "runner stopped before the match began",
    ),
    Ending(
        "bot_crash",
        "failed",
        "The bot's runner reported that its program failed.",
        Fault.PROGRAM,
        "exception, process ended, out of memory",
    ),
    Ending(
        "server_fault", "server at fault", "The server or the game's own code failed.", Fault.HOUSE
    ),
    Ending(
        "aborted",
        "stopped",
        "Not all seats became ready, or an organiser stopped the match.",
        Fault.HOUSE,
    ),
)

ENDINGS: Final[Mapping[str, Ending]] = {each.name: each for each in _TABLE}
"""Every termination of the protocol, in the order of the documentation."""

FORFEITS: Final = frozenset(each.name for each in _TABLE if each.forfeit)
"""The terminations that are forfeits."""


def fault_of(termination: str) -> Fault:
    """Whose fault a termination is; one of a newer server is nobody's."""
    known = ENDINGS.get(termination)
    return Fault.NOBODY if known is None else known.fault


def forfeiting_seat(outcome: Outcome | None) -> int | None:
    """The seat that lost otherwise than by play; None if none did."""
    return outcome.seat if outcome is not None and outcome.termination in FORFEITS else None


def counts_word(ending: Ending) -> str:
    """How it counts, for tables."""
    if not ending.counts:
        return "no"
    return "yes, a forfeit" if ending.forfeit else "yes"
