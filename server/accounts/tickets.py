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
