"""Tickets: secret tokens by which a runner logs in the bots that it hosts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

TICKET_PREFIX: Final = "ticket_"
"""Marks a token as a ticket, so that a wrong ticket does not count as a wrong token."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """The login that a ticket grants."""

    secret: str
    machine: str
    bot: int
    player_id: int
    player: str
    name: str
    version: int
    label: str
    digest: str
    terms: tuple[object, ...] = ()
    """`Wanted.terms`: when they change, the bot gets another ticket."""
