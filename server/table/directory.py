"""The directory: connections of bots, owners of matches, and the leader.

A single server holds everything.  In a cluster, a match belongs to its owner and a connection to
the server that holds its socket.  The leader knows all bots and all matches.  The other servers
know their own connections and matches, with the bots and owners that these need.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import replace
from typing import Any, Final

from msgspec import structs

from plyhouse.protocol.messages import ServerMessage
from plyhouse.server.match.presence import MatchSummary, Presence
from plyhouse.server.table.live import LiveMatch
from plyhouse.server.table.participants import Line, Participant
from plyhouse.server.table.running_match import RunningMatch

RECENT: Final = 500
"""Finished matches kept in memory, to answer repeated actions and late requests."""
RECENT_PLIES: Final = 200_000
"""Plies of these matches above which the oldest are dropped; each takes about a kilobyte."""


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
        self.live: dict[str, RunningMatch] = {}
        """Matches that are not over, by id."""
        self.own: dict[str, LiveMatch] = {}
        """Those among them that run on this server."""
        self.recent: dict[str, RunningMatch] = {}
        """The last finished matches, the oldest first."""
        self._by_name: dict[str, int] = {}
        """The ids of the connected bots, by their names in small letters."""
        self._logins = 0
        """The number of the last login."""
        self._leading = True

    # ------------------------------------------------------------- who is connected where

    def find(self, name: str) -> Presence | None:
        """Return a connected bot by name: ``player/bot``, or ``player`` for a person."""
        bot = self._by_name.get(name.lower())
        return None if bot is None else self.presences[bot]

    def online(self) -> list[str]:
        """Return the names of the connected bots."""
        return [self.presences[bot].name for bot in self._by_name.values()]

    def connected_here(self) -> int:
        """Return how many bots have their connection on this server."""
        lines = [each.line for each in self.participants.values()]
        return sum(line is not None and not line.on_other_server for line in lines)

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

    def add_offline(self, presence: Presence) -> Participant:
        """Add a bot without the connection and the matches that another server knows of it."""
        return self.add(structs.replace(presence, connection=0, matches={}))

    def update(self, participant: Participant, **changes: Any) -> None:
        """Change fields of a bot's presence, and publish the new record."""
        presence = participant.presence = structs.replace(participant.presence, **changes)
        if self.participants.get(presence.bot_id) is participant:
            self.presences[presence.bot_id] = presence

    def enter(
        self, participant: Participant, line: Line, presence: Presence, login: int = 0
    ) -> None:
        """Connect a bot by this line; ``presence`` is its record as it logged in.

        ``login`` is the number that the leader gave this login; 0 takes the next one.
        """
        if not login:
            self._logins += 1
            login = self._logins
        line.scenes = presence.scenes
        participant.line = line
        known = participant.presence
        participant.presence = structs.replace(
            presence, connection=login, under_review=known.under_review, matches=known.matches
        )
        self.participants[presence.bot_id] = participant
        self.presences[presence.bot_id] = participant.presence
        self._by_name[presence.name.lower()] = presence.bot_id

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

    def match(self, identifier: str) -> RunningMatch | None:
        """Return a match that is running or has ended recently."""
        return self.live.get(identifier) or self.recent.get(identifier)

    def summary(self, identifier: str) -> MatchSummary | None:
        """Return the summary of a running match; None if it is over or unknown."""
        live = self.live.get(identifier)
        return None if live is None else live.summary()

    def summaries(self) -> list[MatchSummary]:
        """Return the summaries of all running matches."""
        return [live.summary() for live in self.live.values()]

    def matches_of(self, bot: int) -> Iterator[tuple[RunningMatch, int]]:
        """Yield a bot's running matches with its seats.

        Some may end meanwhile.
        """
        presence = self.presences.get(bot)
        for identifier, seat in () if presence is None else presence.matches.items():
            live = self.live.get(identifier)
            if live is not None:
                yield live, seat

    def seat_of(self, participant: Participant, identifier: str) -> tuple[RunningMatch, int] | None:
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

    def began(self, live: RunningMatch) -> None:
        """Add a match that was created or restored, here or on another server."""
        self.live[live.id] = live
        if isinstance(live, LiveMatch):
            self.own[live.id] = live
        else:
            self.own.pop(live.id, None)
        for seat, holder in enumerate(live.holders):
            self.update(holder, matches={**holder.presence.matches, live.id: seat})

    def take_seat(self, live: RunningMatch, seat: int, participant: Participant) -> None:
        """Make a participant of this directory the holder of a seat in a running match."""
        live.holders = tuple(
            participant if number == seat else holder for number, holder in enumerate(live.holders)
        )
        self.update(participant, matches={**participant.presence.matches, live.id: seat})

    def ended(self, live: RunningMatch) -> None:
        """Move a match to the recent ones, after it was stored and its seats know the end."""
        self.dropped(live)
        self.recent[live.id] = live
        while len(self.recent) > RECENT:
            del self.recent[next(iter(self.recent))]
        if live.ply * RECENT > RECENT_PLIES:  # shorter ones come to no more, all together
            plies = sum([each.ply for each in self.recent.values()])
            while plies > RECENT_PLIES and len(self.recent) > 1:
                plies -= self.recent.pop(next(iter(self.recent))).ply

    def dropped(self, live: RunningMatch) -> None:
        """Remove a match that this server no longer takes part in."""
        self.live.pop(live.id, None)
        self.own.pop(live.id, None)
        for holder in live.holders:
            left = {each: seat for each, seat in holder.presence.matches.items() if each != live.id}
            self.update(holder, matches=left)

    # --------------------------------------------------------------------- who leads what

    @property
    def leads(self) -> bool:
        """True if this process makes the pairings.

        A single server does, from its claim of the database until it begins to stop.
        """
        return self._leading

    def lead(self, leading: bool, epoch: int = 0) -> None:
        """Begin to make pairings, or stop because the server stops or follows another one.

        The numbers of logins go on above those of earlier leaders, whose epochs are lower.
        """
        self._leading = leading
        self._logins = max(self._logins, epoch << 32)


def _detached(holder: Participant) -> Participant:
    """Return the holder of a seat whose account is deleted."""
    nobody = structs.replace(holder.presence, player_id=0, bot_id=0, matches={}, connection=0)
    return replace(holder, presence=nobody, line=None)
