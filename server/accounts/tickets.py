"""Tickets: secret tokens by which a runner logs in the bots that it hosts."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from plyhouse.protocol.hosting.runner_messages import BotWanted

TICKET_PREFIX: Final = "ticket_"
"""Marks a token as a ticket, which is not in the database."""


class Ticket(Struct, frozen=True):
    """The login of a hosted bot; the secret is that of ``wanted``."""

    machine: str
    """The name of the runner that hosts the bot."""
    wanted: BotWanted
    """The description that the runner has of the bot; another one needs another ticket."""


class TicketOffice:
    """The tickets of hosted bots; here those of a server that hosts none."""

    def ticket(self, secret: str) -> Ticket | None:
        """Return the ticket with this secret; None if it is not valid."""
        return None

    def holds(self, bot: int) -> bool:
        """Return whether a machine runs this bot, so that its author must not."""
        return False
