"""The directory: connections of bots, owners of matches, and leaders of pools.

A single process holds everything, so every answer is "here".  Code asks this module so that several
processes can share the work later.  A match then belongs to the process whose epoch is a condition
of all its writes.  A connection belongs to the process that holds its socket, and a pool of seeks
or a competition to the one process that leads it.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterator
from dataclasses import replace
from typing import Final

from plyhouse.server.table.live import LiveMatch
from plyhouse.server.table.participants import Line, Participant

__all__ = ["Directory"]

RECENT: Final = 500
"""Finished matches kept in memory, to answer repeated actions and late requests."""


class Directory:
    """Participants, connections and matches of this server."""

    def __init__(self) -> None:
        self.participants: dict[int, Participant] = {}
        """Bots that are connected or hold a seat, by bot id."""
        self.live: dict[str, LiveMatch] = {}
        """Matches that are not over, by id."""
        self.recent: dict[str, LiveMatch] = {}
        """The last finished matches, the oldest first."""
        self._by_name: dict[str, Participant] = {}
        """The connected participants, by their names in small letters."""
        self._leading = True

    # ------------------------------------------------------------- who is connected where

    def find(self, name: str) -> Participant | None:
        """Return a connected bot by name: ``player/bot``, or ``player`` for a person."""
        return self._by_name.get(name.lower())

    def online(self) -> list[str]:
        """Return the names of the connected bots."""
        return [each.name for each in self._by_name.values()]

    def enter(self, participant: Participant, line: Line) -> None:
        """Connect a bot by this line."""
        self.participants[participant.bot_id] = participant
        self._by_name[participant.name.lower()] = participant
        participant.line = line

    def leave(self, participant: Participant) -> None:
        """Note that a bot's connection has ended."""
        participant.line = None
        self._by_name.pop(participant.name.lower(), None)
        self.forget(participant)

    def forget(self, participant: Participant) -> None:
        """Forget a bot that is neither connected nor holds a seat."""
        if not participant.online and not participant.matches:
            self.participants.pop(participant.bot_id, None)

    def come_back(self, participant: Participant) -> None:
        """Give a returning bot its seats in recent matches.

        The bot has a new object, because the old one was forgotten while it was away.
        """
        for live in self.recent.values():
            if any(holder.bot_id == participant.bot_id for holder in live.holders):
                live.holders = tuple(
                    participant if holder.bot_id == participant.bot_id else holder
                    for holder in live.holders
                )

    def drop_recent(self, player_id: int) -> None:
        """Drop the recent matches of a player, so that requests read the database."""
        for live in tuple(self.recent.values()):
            if any(holder.player_id == player_id for holder in live.holders):
                del self.recent[live.id]

    def forget_players(self, gone: Container[int]) -> None:
        """Detach deleted players from all matches.

        Later players may get their numbers.
        """
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
        """Return a match that is running or has ended recently."""
        return self.live.get(identifier) or self.recent.get(identifier)

    def matches_of(self, participant: Participant) -> Iterator[tuple[LiveMatch, int]]:
        """Yield a participant's running matches with its seats.

        Some may end meanwhile.
        """
        for identifier, seat in tuple(participant.matches.items()):
            live = self.live.get(identifier)
            if live is not None:
                yield live, seat

    def seat_of(self, participant: Participant, identifier: str) -> tuple[LiveMatch, int] | None:
        """Return a match of a participant and its seat there; None if it holds none."""
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
        """Add a match that was created or restored."""
        self.live[live.id] = live
        for seat, holder in enumerate(live.holders):
            holder.matches[live.id] = seat

    def ended(self, live: LiveMatch) -> None:
        """Move a match to the recent ones, after it was stored and its seats know the end."""
        self.live.pop(live.id, None)
        for holder in live.holders:
            holder.matches.pop(live.id, None)
        self.recent[live.id] = live
        while len(self.recent) > RECENT:
            del self.recent[next(iter(self.recent))]

    # --------------------------------------------------------------------- who leads what

    def leads(self, what: Hashable) -> bool:
        """Return whether this process makes the pairings of something.

        That is a pool of seeks, or a competition.

        It makes all of them, from its claim of the database until it begins to stop.
        """
        return self._leading

    def abdicate(self) -> None:
        """Stop to make pairings, because the server stops."""
        self._leading = False
