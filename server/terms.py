"""The terms of a match: what is settled before it begins, and what one ply left behind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from plyhouse.games.base import Game
from plyhouse.protocol.messages import IllegalRule, SeatInfo
from plyhouse.server.chance import match_stream
from plyhouse.server.clock import SECOND, LagPolicy, Ledger, TimeControl

__all__ = ["MatchConfig", "Played", "seat_label"]


@dataclass(frozen=True, slots=True)
class MatchConfig:
    """Everything that is settled before a match begins."""

    match: str
    pairing: str
    game: Game
    time_control: TimeControl
    players: tuple[SeatInfo, ...]
    """Who holds each seat; as many as the game has seats."""
    seed: bytes
    """The pairing's secret seed."""
    rated: bool = False
    stream: str = ""
    """Chance stream within the pairing; empty for one of the match's own (see `chance`)."""
    illegal_rule: IllegalRule = "forfeit"
    ready_timeout_ns: int = 10 * SECOND
    disconnect_grace_ns: int = 30 * SECOND
    lag: LagPolicy = field(default_factory=LagPolicy)
    max_retries: int = 10
    """Illegal actions that a seat may retry in one ply, under the rule ``retry``."""

    def __post_init__(self) -> None:
        if len(self.players) != self.game.seats:
            raise ValueError(
                f"{self.game.spec} has {self.game.seats} seats, not {len(self.players)}"
            )

    @property
    def chance_stream(self) -> str:
        """The name of the chance stream, the default filled in."""
        return self.stream or match_stream(self.match)


class Played(Struct, frozen=True, gc=False):
    """An accepted action of a seat."""

    seat: int
    action: Any
    text: str
    """The action in the game's own notation."""
    sent: str
    """The action as the seat wrote it."""
    ledger: Ledger


def seat_label(config: MatchConfig, seat: int) -> str:
    """A seat and its holder for people: ``seat 0 (alice/bot)``."""
    info = config.players[seat]
    name = f"{info.player}/{info.bot}" if info.bot else info.player
    return f"seat {seat} ({name})"
