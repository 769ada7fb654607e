"""Players, accounts, sessions and seeks, as the HTTP API answers them."""

from __future__ import annotations

from plyhouse.protocol.api.bots import Bot
from plyhouse.protocol.api.matches import Match
from plyhouse.protocol.api.rows import Row


class Player(Row, frozen=True):
    """A player with its bots and their latest matches."""

    player: str
    display: str
    """The display name; empty if there is none."""
    disabled: bool
    """True if an organiser has disabled its login."""
    created_ms: int
    bots: list[Bot]
    online: list[str]
    matches: list[Match]


class Account(Row, frozen=True):
    """A new account, with its token, which only this answer shows."""

    player: str
    token: str


class ErasedPlayer(Row, frozen=True):
    """An erased person."""

    pseudonym: str
    """The name of the account from now on."""
    matches: int
    """Number of matches that stay, under the pseudonym."""
    competitions: list[str]
    """Unfinished competitions from which the account was removed."""


class MadeToken(Row, frozen=True):
    """A new token, which only this answer shows."""

    token: str


class Opponent(Row, frozen=True):
    """Bots that are connected and can be challenged."""

    opponent: str
    """The first of them."""
    others: list[str]
    """All but the first, as a challenge names them."""


class OwnMatch(Row, frozen=True):
    """An unfinished match of the person."""

    match: str
    game: str
    time_control: str
    status: str
    opponents: list[str]


class Person(Row, frozen=True):
    """The signed-in person, and the options that the server offers."""

    player: str
    """Empty if nobody is signed in."""
    guest: bool
    scopes: list[str]
    expires_ms: int
    """When the session ends, since 1970; 0 if there is none."""
    matches: list[OwnMatch]
    guests: bool
    """True if the server accepts guests."""
    registration: str
    levels: list[str]
    """Built-in bots, the weakest first; empty if the server offers none."""


class Seek(Row, frozen=True):
    """An open seek."""

    player: str
    """The seeking bot as ``player/bot``, or the player's name for a person."""
    game: str
    time_control: str
    rated: bool
    mirrored: bool
    seats: int
