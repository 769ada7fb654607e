"""Decide which connection of a bot counts: one place for all logins.

A single server decides for itself.  In a cluster the leader decides for all servers, one login
after the other, so two programs can never both become the connection of one bot.
"""

from __future__ import annotations

import secrets
import time

from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.accounts.tickets import Ticket, TicketOffice
from plyhouse.server.match.presence import Presence
from plyhouse.server.table.directory import Directory
from plyhouse.server.table.participants import Line, Participant


class BotConnections:
    """The authority on the connections of bots."""

    def __init__(self, directory: Directory, hosting: TicketOffice) -> None:
        self._directory = directory
        self._hosting = hosting

    def ticket(self, secret: str) -> Ticket | None:
        """Return the ticket of a hosted bot with this secret; None if it is not valid."""
        return self._hosting.ticket(secret)

    def admit(
        self, presence: Presence, line: Line, *, key: str = "", takeover: bool = False
    ) -> tuple[Participant, bool]:
        """Make ``line`` the connection of a bot; ``key`` is the session key that the client sent.

        Returns also whether the bot was hosted and away.  Raises `ProtocolError` if another
        connection of the bot stays, or if a ticket is not valid any more.
        """
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
            if not _same_key(key, participant.key) and not takeover:
                raise ProtocolError("auth/already_connected", _already(known))
            other.fail("auth/replaced")
        was_hosted = bool(known.hosted) and participant.line is None
        # Ending the other connection may have removed the participant.
        self._directory.enter(participant, line, presence)
        return participant, was_hosted


def _same_key(sent: str, key: str) -> bool:
    """Compare session keys in constant time."""
    return secrets.compare_digest(sent.encode(errors="surrogatepass"), key.encode())


def _already(presence: Presence) -> str:
    since = time.strftime("%H:%M:%S UTC", time.gmtime(presence.since))
    return (
        f"{presence.name} is connected already, since {since}: stop that program, give this "
        "one another bot name, or send hello with takeover to replace the other."
    )
