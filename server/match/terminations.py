"""The table of the ways in which a match can end, and how each counts.

It also has whose fault each is.

A *forfeit* is a match that a seat lost by something else than play.  Reports, standings, logs, the
suspension of versions and the table of ``docs/endings.md`` all read `ENDINGS`; none has its own
list.  A *void* match counts for nothing (`plyhouse.protocol.messages.VOID`).

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


class Fault(StrEnum):
    """The party whose fault an ending is."""

    NOBODY = "nobody"
    """A regular ending."""
    PROGRAM = "program"
    """The fault of the bot's program, which would do it again."""
    CONNECTION = "connection"
    """The bot was away: its machine, its network, or a late start."""
    HOUSE = "house"
    """The fault of the server or the game, or an organiser's decision."""


@dataclass(frozen=True, slots=True)
class Ending:
    """One way in which a match ends."""

    name: Termination
    words: str
    """The seat's action or the event, such as "ran out of time"."""
    meaning: str
    """The meaning, for the documentation."""
    fault: Fault
    examples: str = ""
    """Actions of a bot that cause it, for the documentation."""

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
        "Only one seat or team was not ready in time, in a rated match or a competition.",
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
    """Return whose fault a termination is; nobody's for one of a newer server."""
    known = ENDINGS.get(termination)
    return Fault.NOBODY if known is None else known.fault


def forfeiting_seat(outcome: Outcome | None) -> int | None:
    """Return the seat that forfeited; None if none did."""
    return outcome.seat if outcome is not None and outcome.termination in FORFEITS else None


def counts_word(ending: Ending) -> str:
    """Return how an ending counts, for tables."""
    if not ending.counts:
        return "no"
    return "yes, a forfeit" if ending.forfeit else "yes"
