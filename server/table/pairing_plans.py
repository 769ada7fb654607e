"""Pairings that are to begin: their terms, and in a cluster all that their server must know."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import Struct

from plyhouse.games.base import Game
from plyhouse.protocol.messages import SeatInfo
from plyhouse.server.match.presence import Presence
from plyhouse.server.match.time_control import TimeControl


@dataclass(frozen=True, slots=True)
class Terms:
    """The game of a pairing, and how it is played."""

    game: Game
    time_control: TimeControl
    rated: bool
    mirrored: bool = False
    """True if every rotation of the seats is played with one seed."""

    @property
    def at_once(self) -> int:
        """The number of matches in a pairing, which begin together."""
        return self.game.seats if self.mirrored else 1


class MatchPlan(Struct, frozen=True):
    """One match of a pairing."""

    id: str
    bots: tuple[int, ...]
    """The id of the bot on each seat."""
    players: tuple[SeatInfo, ...]
    """The public facts about the holder of each seat."""


class PairingPlan(Struct, frozen=True):
    """A pairing to begin, with everything that its owner needs."""

    id: str
    game: str
    """The spec of the game."""
    family: str
    """The name of the game, without parameters."""
    simultaneous: bool
    time_control: str
    rated: bool
    tournament: str | None
    round: int
    scoring: str
    """The scoring of its tournament; empty for that of the game."""
    matches: tuple[MatchPlan, ...]
    holders: tuple[Presence, ...]
