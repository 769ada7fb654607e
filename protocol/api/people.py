"""Players, accounts, sessions and seeks, as the HTTP API answers them."""

from __future__ import annotations

from plyhouse.protocol.api.bots import Bot
from plyhouse.protocol.api.matches import Match
from plyhouse.protocol.api.rows import Row

__all__ = [
    "Account",
    "ErasedPlayer",
    "MadeToken",
    "Opponent",
    "OwnMatch",
    "Person",
    "Player",
    "Seek",
]


class Player(Row, frozen=True):
    """A player with its bots and their latest matches."""

    player: str
    display: str
    """How it wants to be called beside its name; empty: not at all."""
    disabled: bool
    """Whether an organiser keeps it from logging in."""
    created_ms: int
    bots: list[Bot]
    online: list[str]
    matches: list[Match]


class Account(Row, frozen=True):
    """A new account; the token is shown this once."""

    player: str
    token: str


class ErasedPlayer(Row, frozen=True):
    """A person that was erased."""

    pseudonym: str
    """The name of the account from now on."""
    matches: int
    """How many matches stay, under the pseudonym."""
    competitions: list[str]
    """Competitions that the account was taken out of, as they are not over."""


class MadeToken(Row, frozen=True):
    """A token, which is shown only here."""

    token: str


class Opponent(Row, frozen=True):
    """Bots that are connected and can be challenged."""

    opponent: str
    """The first of them."""
    others: list[str]
    """All but the first, as a challenge names them."""


class OwnMatch(Row, frozen=True):
    """A match of the person that is not over."""

    match: str
    game: str
    time_control: str
    status: str
    opponents: list[str]


class Person(Row, frozen=True):
    """Who is signed in at this browser, and what can be done here."""

    player: str
    """Empty if nobody is."""
    guest: bool
    scopes: list[str]
    expires_ms: int
    """When the session ends, since 1970; 0 if there is none."""
    matches: list[OwnMatch]
    guests: bool
    """Whether the server takes guests."""
    registration: str
    levels: list[str]
    """Bots of the house, the weakest first; none if there are no such bots here."""


class Seek(Row, frozen=True):
    """An open seek."""

    player: str
    """Who seeks: ``player/bot``, or the player alone in person."""
    game: str
    time_control: str
    rated: bool
    mirrored: bool
    seats: int
