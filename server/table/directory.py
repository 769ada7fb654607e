"""The directory: connections of bots, owners of matches, and leaders of pools.

A single process holds everything, so every answer is "here".  Code asks this module so that several
processes can share the work later.  A match then belongs to the process whose epoch is a condition
of all its writes.  A connection belongs to the process that holds its socket, and a pool of seeks
or a competition to the one process that leads it.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterator
from dataclasses import replace
from typing import Any, Final

from msgspec import structs

from plyhouse.protocol.messages import ServerMessage
from plyhouse.server.table.live import LiveMatch
from plyhouse.server.table.participants import Line, Participant
from plyhouse.server.table.presence import MatchSummary, Presence

__all__ = ["Directory"]

RECENT: Final = 500
"""Finished matches kept in memory, to answer repeated actions and late requests."""


class Directory:
    """Participants, connections and matches of this server.

    The gateway and the table use `participants`, `live` and `recent`.  All other packages use the
    records that the directory publishes (`presences`, `summary`), and send messages by bot id.
    """

    def __init__(self) -> None:
        self.presences: dict[int, Presence] = {}
        """The latest record of each bot that is connected or holds a seat, by bot id."""
        self.participants: dict[int, Participant] = {}
        """The connections of these bots, by bot id."""
        self.live: dict[str, LiveMatch] = {}
        """Matches that are not over, by id."""
        self.recent: dict[str, LiveMatch] = {}
        """The last finished matches, the oldest first."""
        self._by_name: dict[str, int] = {}
        """The ids of the connected bots, by their names in small letters."""
        self._connections = 0
        """Number of logins since the start."""
        self._leading = True

    # ------------------------------------------------------------- who is connected where

    def find(self, name: str) -> Presence | None:
        """Return a connected bot by name: ``player/bot``, or ``player`` for a person."""
        bot = self._by_name.get(name.lower())
        return None if bot is None else self.presences[bot]

    def online(self) -> list[str]:
        """Return the names of the connected bots."""
        return [self.presences[bot].name for bot in self._by_name.values()]

    def is_online(self, bot: int) -> bool:
        """Return whether a bot is connected."""
        here = self.presences.get(bot)
        return here is not None and here.online

    def send(self, bot: int, message: ServerMessage) -> None:
        """Send a message to a bot; it is lost if the bot is not connected."""
        participant = self.participants.get(bot)
        if participant is not None and participant.line is not None:
            participant.line.send(message)

    def add(self, presence: Presence) -> Participant:
        """Add a bot that is not known yet, and return its participant."""
        participant = self.participants[presence.bot_id] = Participant(presence)
        self.presences[presence.bot_id] = presence
        return participant

    def update(self, participant: Participant, **changes: Any) -> None:
        """Change fields of a bot's presence, and publish the new record."""
        presence = participant.presence = structs.replace(participant.presence, **changes)
        if self.participants.get(presence.bot_id) is participant:
            self.presences[presence.bot_id] = presence

    def enter(self, participant: Participant, line: Line, **changes: Any) -> None:
        """Connect a bot by this line; ``changes`` are other fields of its presence."""
        self._connections += 1
        participant.line = line
        self.participants[participant.presence.bot_id] = participant
        self.update(participant, connection=self._connections, **changes)
        self._by_name[participant.presence.name.lower()] = participant.presence.bot_id

    def leave(self, participant: Participant) -> None:
        """Note that a bot's connection has ended."""
        participant.line = None
        self._by_name.pop(participant.presence.name.lower(), None)
        self.update(participant, connection=0)
        self.forget(participant.presence.bot_id)

    def forget(self, bot: int) -> None:
        """Forget a bot that is neither connected nor holds a seat."""
        presence = self.presences.get(bot)
        if presence is not None and not presence.online and not presence.matches:
            del self.participants[bot], self.presences[bot]

    def come_back(self, participant: Participant) -> None:
        """Give a returning bot its seats in recent matches.

        The bot has a new object, because the old one was forgotten while it was away.
        """
        bot = participant.presence.bot_id
        for live in self.recent.values():
            if any(holder.presence.bot_id == bot for holder in live.holders):
                live.holders = tuple(
                    participant if holder.presence.bot_id == bot else holder
                    for holder in live.holders
                )

    def drop_recent(self, player_id: int) -> None:
        """Drop the recent matches of a player, so that requests read the database."""
        for live in tuple(self.recent.values()):
            if any(holder.presence.player_id == player_id for holder in live.holders):
                del self.recent[live.id]

    def forget_players(self, gone: Container[int]) -> None:
        """Detach deleted players from all matches.

        Later players may get their numbers.
        """
        for presence in tuple(self.presences.values()):
            if presence.player_id in gone:
                self.forget(presence.bot_id)
        for live in self.recent.values():
            live.holders = tuple(
                _detached(holder) if holder.presence.player_id in gone else holder
                for holder in live.holders
            )

    # ------------------------------------------------------------------- who owns a match

    def match(self, identifier: str) -> LiveMatch | None:
        """Return a match that is running or has ended recently."""
        return self.live.get(identifier) or self.recent.get(identifier)

    def summary(self, identifier: str) -> MatchSummary | None:
        """Return the summary of a running match; None if it is over or unknown."""
        live = self.live.get(identifier)
        return None if live is None else live.summary()

    def summaries(self) -> list[MatchSummary]:
        """Return the summaries of all running matches."""
        return [live.summary() for live in self.live.values()]

    def matches_of(self, bot: int) -> Iterator[tuple[LiveMatch, int]]:
        """Yield a bot's running matches with its seats.

        Some may end meanwhile.
        """
        presence = self.presences.get(bot)
        for identifier, seat in () if presence is None else presence.matches.items():
            live = self.live.get(identifier)
            if live is not None:
                yield live, seat

    def seat_of(self, participant: Participant, identifier: str) -> tuple[LiveMatch, int] | None:
        """Return a match of a participant and its seat there; None if it holds none."""
        seat = participant.presence.matches.get(identifier)
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
            self.update(holder, matches={**holder.presence.matches, live.id: seat})

    def ended(self, live: LiveMatch) -> None:
        """Move a match to the recent ones, after it was stored and its seats know the end."""
        self.live.pop(live.id, None)
        for holder in live.holders:
            left = {each: seat for each, seat in holder.presence.matches.items() if each != live.id}
            self.update(holder, matches=left)
        self.recent[live.id] = live
        while len(self.recent) > RECENT:
            del self.recent[next(iter(self.recent))]

    # --------------------------------------------------------------------- who leads what

    def leads(self, what: Hashable) -> bool:
        """Return whether this process makes the pairings of something.

        The source is a pool of seeks, or a competition.

        It makes all of them, from its claim of the database until it begins to stop.
        """
        return self._leading

    def abdicate(self) -> None:
        """Stop to make pairings, because the server stops."""
        self._leading = False


def _detached(holder: Participant) -> Participant:
    """Return the holder of a seat whose account is deleted."""
    nobody = structs.replace(holder.presence, player_id=0, bot_id=0, matches={}, connection=0)
    return replace(holder, presence=nobody, line=None)
