"""Players, accounts, tokens, sessions, seeks and the audit log, as the HTTP API answers them."""

from __future__ import annotations

from typing import Final, NamedTuple

from plyhouse.protocol.api.bots import Bot
from plyhouse.protocol.api.matches import Match
from plyhouse.protocol.api.rows import Row


class PlayerAccount(Row, frozen=True):
    """An account of a person or a team."""

    id: int
    name: str
    created_ms: int
    display: str = ""
    """The display name (Unicode, NFC); empty if there is none."""
    disabled_ms: int | None = None
    """When an organiser disabled its login; null if it may log in."""


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


class Token(Row, frozen=True):
    """Stored data of a token; the secret itself is not stored."""

    id: int
    player_id: int
    prefix: str
    """The first characters of the token, enough to recognise and revoke it by."""
    scopes: tuple[str, ...]
    label: str
    created_ms: int
    last_used_ms: int | None
    """Accurate to a minute: not every use is written."""
    revoked_ms: int | None


class AuditEntry(Row, frozen=True):
    """An entry of the audit log; ids rise in the order in which entries become visible."""

    id: int
    at_ms: int
    who: str
    """The player of an organiser's token, or who used the command line."""
    what: str
    """The kind of the subject and the action, such as ``player.disable`` or ``match.void``."""
    subject: str
    """The subject of the action, for people."""
    subject_id: str
    """The same for programs: the id in the database."""
    why: str
    keep_matches: bool
    """True if running matches of the subject are played on."""


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


class OfferedTime(NamedTuple):
    """A time control that clients offer to people."""

    control: str
    name: str
    meaning: str


OFFERED_TIMES: Final = (
    OfferedTime(
        "total:300+5", "5 min + 5 s", "five minutes each, and five seconds more after every action"
    ),
    OfferedTime(
        "total:60+1", "1 min + 1 s", "one minute each, and a second more after every action"
    ),
    OfferedTime("total:900+10", "15 min + 10 s", "a quarter of an hour each, and ten seconds more"),
    OfferedTime("move:30", "30 s a move", "thirty seconds for every action"),
)
"""The menu of time controls, the usual one first."""


class Seek(Row, frozen=True):
    """An open seek."""

    player: str
    """The seeking bot as ``player/bot``, or the player's name for a person."""
    game: str
    time_control: str
    rated: bool
    mirrored: bool
    seats: int
