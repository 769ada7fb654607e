"""Decide which connection of a bot counts: one place for all logins.

A single server decides for itself.  In a cluster the leader decides for all servers, one login
after the other, so two programs can never both become the connection of one bot.
"""

from __future__ import annotations

import secrets
import time
from typing import Protocol

from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.accounts.tickets import Ticket
from plyhouse.server.table.directory import Directory
from plyhouse.server.table.pairing_plans import SeatHolder
from plyhouse.server.table.participants import Line, Participant
from plyhouse.server.table.presence import Presence


class TicketOffice(Protocol):
    """The interface of hosting for logins."""

    def ticket(self, secret: str) -> Ticket | None:
        """Return the ticket with this secret; None if it is not valid."""

    def holds(self, bot: int) -> bool:
        """Return whether a machine runs this bot, so that its author must not."""


class NoTickets:
    """A `TicketOffice` where no machine hosts bots."""

    def ticket(self, secret: str) -> Ticket | None:
        """Return None: there are no tickets."""
        return None

    def holds(self, bot: int) -> bool:
        """Return False: no machine runs bots."""
        return False


class Admission:
    """The authority on the connections of bots."""

    def __init__(self, directory: Directory, hosting: TicketOffice) -> None:
        self._directory = directory
        self._hosting = hosting

    def ticket(self, secret: str) -> Ticket | None:
        """Return the ticket of a hosted bot with this secret; None if it is not valid."""
        return self._hosting.ticket(secret)

    def admit(
        self, wanted: SeatHolder, line: Line, *, takeover: bool = False
    ) -> tuple[Participant, bool]:
        """Make ``line`` the connection of a bot; ``wanted.key`` is the key that the client says.

        Returns also whether the bot was hosted and away.  Raises `ProtocolError` if another
        connection of the bot stays, or if a ticket is not valid any more.
        """
        presence = wanted.presence
        bot = presence.bot_id
        if presence.ticket and self._hosting.ticket(presence.ticket) is None:
            raise ProtocolError("auth/bad_token", "This ticket is not good any more.")
        participant = self._directory.participants.get(bot)
        if participant is None:
            participant = self._directory.add_offline(presence)
            self._directory.come_back(participant)
        known = participant.presence
        if not presence.ticket and known.hosted and self._hosting.holds(bot):
            raise ProtocolError("bot/hosted")
        other = participant.line
        if other is not None:
            if not _same_key(wanted.key, participant.key) and not takeover:
                raise ProtocolError("auth/already_connected", _already(known))
            other.fail("auth/replaced")
        was_hosted = bool(known.hosted) and participant.line is None
        # Ending the other connection may have removed the participant.
        seat(self._directory, participant, line, wanted)
        return participant, was_hosted


def seat(
    directory: Directory, participant: Participant, line: Line, holder: SeatHolder, login: int = 0
) -> None:
    """Enter a bot's connection in the directory; ``login`` is its number, 0 for the next one."""
    participant.session_id = holder.session_id
    participant.scopes = holder.scopes
    participant.token_id = holder.token_id
    participant.updates, participant.scenes = holder.updates, holder.scenes
    line.scenes = holder.scenes
    presence = holder.presence
    directory.enter(
        participant,
        line,
        login,
        since=presence.since,
        version=presence.version,
        version_id=presence.version_id,
        suspended=presence.suspended,
        hosted=presence.hosted,
        ticket=presence.ticket,
        kind=presence.kind,
        casual=presence.casual,
        games=presence.games,
        max_matches=presence.max_matches,
    )


def seat_holder(
    participant: Participant, epoch: int = 0, connection: int = 0, *, key: str = ""
) -> SeatHolder:
    """Return the record of a participant for another server."""
    return SeatHolder(
        participant.presence,
        epoch,
        connection,
        participant.updates,
        participant.scenes,
        key,
        participant.token_id,
        participant.session_id,
        participant.scopes,
    )


def _same_key(said: str, key: str) -> bool:
    """Compare session keys in constant time."""
    return secrets.compare_digest(said.encode(errors="surrogatepass"), key.encode())


def _already(presence: Presence) -> str:
    since = time.strftime("%H:%M:%S UTC", time.gmtime(presence.since))
    return (
        f"{presence.name} is connected already, since {since}: stop that program, give this "
        "one another bot name, or send hello with takeover to replace the other."
    )
