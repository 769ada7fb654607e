"""What a run was asked for and what came of it, as values and as words."""

from __future__ import annotations

from dataclasses import dataclass, field

from plyhouse.bots.running.play import MatchResult
from plyhouse.protocol.messages import VOID

__all__ = ["RunSummary", "SeekRequest", "counted", "verdict"]


@dataclass(frozen=True, slots=True)
class SeekRequest:
    """A pool to enter; ``count`` 0 means as many matches as come."""

    game: str
    time_control: str = "move:1"
    rated: bool = False
    count: int = 1
    mirrored: bool = False


@dataclass(slots=True)
class RunSummary:
    """What came of a run."""

    bot: str
    results: list[MatchResult] = field(default_factory=list)
    interrupted: bool = False
    left_running: int = 0
    """Matches that were still going on when we left."""

    @property
    def won(self) -> int:
        """Matches with a positive return."""
        return sum(result.points > 0 for result in self.results)

    @property
    def lost(self) -> int:
        """Matches with a negative return."""
        return sum(result.points < 0 for result in self.results)


def verdict(result: MatchResult) -> str:
    """How a match went, as one line for people."""
    outcome = result.outcome
    points = f"{result.points:+g}"
    if outcome.termination in VOID:
        word = "void"
    elif result.points > 0:
        word = "won"
    else:
        word = "lost" if result.points < 0 else "drawn"
    why = outcome.termination.replace("_", " ")
    if outcome.seat is not None and outcome.termination not in ("normal", "draw_agreed"):
        why += " by us" if outcome.seat == result.seat else " by the opponent"
    reason = f" ({outcome.reason.rstrip('.')})" if outcome.reason else ""
    return f"{word} {points} after {counted(result.plies, 'ply', 'plies')}: {why}{reason}"


def counted(number: int, one: str, many: str) -> str:
    """``1 match``, ``2 matches``."""
    return f"{number} {one if number == 1 else many}"
