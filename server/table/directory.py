"""The one place that answers who is connected where, who owns a match, and who leads a pool.

Today one process has it all, so every answer is "here".  The questions are asked in this one place
so that several processes can share a house later: then a match belongs to the process whose epoch
every write of it is conditional on, a connection to the process that holds its socket, and a pool
of seeks or a competition to the one process that leads it.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterator
from dataclasses import replace
from typing import Final

from plyhouse.server.table.live import LiveMatch
from plyhouse.server.table.participants import Line, Participant

__all__ = ["Directory"]

RECENT: Final = 500
"""Finished matches kept at hand, so that a repeated action or a late question is answered."""


class Directory:
    """Participants, connections and matches of this server."""

    def __init__(self) -> None:
        self.participants: dict[int, Participant] = {}
        """Bots that are connected or hold a seat, by their id in the database."""
        self.live: dict[str, LiveMatch] = {}
        """Matches that are not over, by id."""
        self.recent: dict[str, LiveMatch] = {}
        """The last matches that are over, the oldest first."""
        self._by_name: dict[str, Participant] = {}
        """Those that are connected, by their name in small letters."""
        self._leading = True

    # ------------------------------------------------------------- who is connected where

    def find(self, name: str) -> Participant | None:
        """A connected bot by name: ``player/bot``, or ``player`` for a person."""
        return self._by_name.get(name.lower())

    def online(self) -> list[str]:
        """Names of the connected bots."""
        return [each.name for each in self._by_name.values()]

    def enter(self, participant: Participant, line: Line) -> None:
        """A bot is connected by this line from now on."""
        self.participants[participant.bot_id] = participant
        self._by_name[participant.name.lower()] = participant
        participant.line = line

    def leave(self, participant: Participant) -> None:
        """A bot's connection is gone."""
        participant.line = None
        self._by_name.pop(participant.name.lower(), None)
        self.forget(participant)

    def forget(self, participant: Participant) -> None:
        """Put a bot away if it is neither connected nor holds a seat."""
        if not participant.online and not participant.matches:
            self.participants.pop(participant.bot_id, None)

    def come_back(self, participant: Participant) -> None:
        """Give a bot that was away for long, and is known by a new object since it came back,
        its seats in matches that have ended meanwhile.
        """
        for live in self.recent.values():
            if any(holder.bot_id == participant.bot_id for holder in live.holders):
                live.holders = tuple(
                    participant if holder.bot_id == participant.bot_id else holder
                    for holder in live.holders
                )

    def drop_recent(self, player_id: int) -> None:
        """Forget the finished matches of a player: who asks for one reads it from the database."""
        for live in tuple(self.recent.values()):
            if any(holder.player_id == player_id for holder in live.holders):
                del self.recent[live.id]

    def forget_players(self, gone: Container[int]) -> None:
        """Let nobody be taken for players that are deleted, and whose numbers may be given anew."""
        for participant in tuple(self.participants.values()):
            if participant.player_id in gone and not participant.online:
                self.forget(participant)
        for live in self.recent.values():
            if any(holder.player_id in gone for holder in live.holders):
                live.holders = tuple(
                    replace(holder, player_id=0, bot_id=0, matches={}, line=None)
                    if holder.player_id in gone
                    else holder
                    for holder in live.holders
                )

    # ------------------------------------------------------------------- who owns a match

    def match(self, identifier: str) -> LiveMatch | None:
        """A match that runs here, or was over not long ago."""
        return self.live.get(identifier) or self.recent.get(identifier)

    def matches_of(self, participant: Participant) -> Iterator[tuple[LiveMatch, int]]:
        """The matches in which it holds a seat, and which one; they may end meanwhile."""
        for identifier, seat in tuple(participant.matches.items()):
            live = self.live.get(identifier)
            if live is not None:
                yield live, seat

    def seat_of(self, participant: Participant, identifier: str) -> tuple[LiveMatch, int] | None:
        """A match of a participant and its seat there; None if it holds none."""
        seat = participant.matches.get(identifier)
        if seat is not None:
            return self.live[identifier], seat
        over = self.recent.get(identifier)
        if over is None:
            return None
        for number, holder in enumerate(over.holders):
            if holder is participant:
                return over, number
        return None

    def began(self, live: LiveMatch) -> None:
        """A match was made here, or taken up."""
        self.live[live.id] = live
        for seat, holder in enumerate(live.holders):
            holder.matches[live.id] = seat

    def ended(self, live: LiveMatch) -> None:
        """A match is over, durable and told."""
        self.live.pop(live.id, None)
        for holder in live.holders:
            holder.matches.pop(live.id, None)
        self.recent[live.id] = live
        while len(self.recent) > RECENT:
            del self.recent[next(iter(self.recent))]

    # --------------------------------------------------------------------- who leads what

    def leads(self, what: Hashable) -> bool:
        """Whether this process makes the pairings of a pool of seeks, or of a competition.

        It does for all of them, from its claim of the database until it begins to stop.
        """
        return self._leading

    def abdicate(self) -> None:
        """Begin nothing new any more: the server stops."""
        self._leading = False
