"""The result of a run, as values and as text.

>>> lost = SeatResult("m1", "pig", 0, ("bert/rival",), Outcome("flag_fall", [-1.0, 1.0], 0), 1, 900)
>>> verdict(lost)
'lost -1 after 1 ply: flag fall by us'
"""

from __future__ import annotations

from dataclasses import dataclass, field

from plyhouse.protocol.messages import VOID, Outcome

__all__ = ["RunSummary", "SeatResult", "counted", "verdict"]


@dataclass(frozen=True, slots=True)
class SeatResult:
    """The result of one match, from our seat."""

    match: str
    game: str
    seat: int
    opponents: tuple[str, ...]
    outcome: Outcome
    plies: int
    charged_ms: int
    """Total time charged to us, as far as ledgers arrived."""

    @property
    def points(self) -> float:
        """Our utility."""
        returns = self.outcome.returns
        return returns[self.seat] if self.seat < len(returns) else 0.0


@dataclass(slots=True)
class RunSummary:
    """The results of a run."""

    bot: str
    results: list[SeatResult] = field(default_factory=list)
    interrupted: bool = False
    left_running: int = 0
    """Matches that were still running at the end."""

    @property
    def won(self) -> int:
        """Matches with a positive return."""
        return sum(result.points > 0 for result in self.results)

    @property
    def lost(self) -> int:
        """Matches with a negative return."""
        return sum(result.points < 0 for result in self.results)


def verdict(result: SeatResult) -> str:
    """Return the result of a match as one line for people."""
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
