"""What can go wrong on the wire: stable codes, their sentences, and the exceptions.

    ProtocolError
      RemoteProtocolError    the peer misbehaved: tell it with an ``error`` message
      LocalProtocolError     our own side misused the protocol: a bug here, nothing was sent

A code is part of protocol v1: it never changes its meaning, and programs decide by it. Sentences
are for people and may be reworded at any time. ``docs/protocol/errors.md`` is generated from
`ERRORS`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from plyhouse.protocol.replies import Error

__all__ = [
    "CLOSE_NORMAL",
    "ERRORS",
    "ErrorCode",
    "LocalProtocolError",
    "ProtocolError",
    "RemoteProtocolError",
    "close_code",
    "error_code",
]

CLOSE_NORMAL: Final = 1000
"""WebSocket close code after ``bye``, or when either side has simply finished."""

CLOSE_GENERIC: Final = 4400
"""WebSocket close code of a fatal error whose code has no close code of its own."""


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """One row of the table of errors."""

    code: str
    """``area/what``, as sent in ``error.code``."""
    meaning: str
    """When it is sent, for the documentation."""
    message: str
    """The sentence sent when the sender has nothing more precise to say."""
    fatal: bool = False
    """Whether the server closes the connection after sending it."""
    close: int = CLOSE_GENERIC
    """WebSocket close code used when the connection is closed because of it."""


_TABLE: Final[tuple[ErrorCode, ...]] = (
    # -- frames and messages ----------------------------------------------------------------
    ErrorCode(
        "protocol/malformed",
        "The frame is not one complete msgpack or JSON map, or breaks a limit on its contents.",
        "The frame could not be read: send one map with a field 'type' per frame.",
    ),
    ErrorCode(
        "protocol/unknown_type",
        "The message has a `type` that this version does not know.",
        "This type of message is not known here.",
    ),
    ErrorCode(
        "protocol/bad_field",
        "A field is missing, of the wrong type or out of range; the message names it.",
        "A field of the message is missing or has a wrong value.",
    ),
    ErrorCode(
        "protocol/oversized",
        "The frame is longer than `welcome.limits.max_frame` bytes.",
        "The frame is too long.",
        fatal=True,
        close=1009,
    ),
    ErrorCode(
        "protocol/wrong_frame",
        "A text frame on the msgpack subprotocol, or a binary frame on the JSON one.",
        "This kind of frame does not belong to the subprotocol in use.",
        fatal=True,
        close=1003,
    ),
    ErrorCode(
        "protocol/version",
        "The peers share no version of the protocol.",
        "This server speaks plyhouse.v1+msgpack and plyhouse.v1+json.",
        fatal=True,
        close=4426,
    ),
    ErrorCode(
        "protocol/unexpected",
        "The message is well formed but cannot be sent now: a second `hello`, a request id "
        "still in use, a `pong` nobody asked for.",
        "This message is not expected now.",
    ),
    ErrorCode(
        "protocol/rate",
        "Too many messages in too short a time.",
        "Too many messages: slow down and connect again later.",
        fatal=True,
        close=4429,
    ),
    # -- who you are ------------------------------------------------------------------------
    ErrorCode(
        "auth/required",
        "Anything but `hello`, `register` or `ping` before `welcome`; or anything but watching "
        "after a `hello` without a token.",
        "Send hello with a token first.",
    ),
    ErrorCode(
        "auth/bad_token",
        "No account has this token.",
        "This token is not known here: check it, or ask the organiser for a new one.",
        fatal=True,
        close=4401,
    ),
    ErrorCode(
        "auth/revoked",
        "The token was valid once and has been revoked.",
        "This token was revoked: ask the organiser for a new one.",
        fatal=True,
        close=4401,
    ),
    ErrorCode(
        "auth/disabled",
        "An organiser has disabled the player or the bot; also sent to open connections when that "
        "happens.",
        "This player or bot was disabled: ask the organiser why.",
        fatal=True,
        close=4401,
    ),
    ErrorCode(
        "auth/suspended",
        "This version of the bot was suspended after repeated forfeits, so it is not paired; also "
        "sent as a `notice`, at login and when it happens.",
        "This version is suspended: mend the bot, or ask the organiser to reinstate it.",
    ),
    ErrorCode(
        "auth/rate",
        "Too many wrong tokens or new accounts from one address, or logins of one player, in too "
        "short a time.",
        "Too many attempts: wait before you try again.",
        fatal=True,
        close=4429,
    ),
    ErrorCode(
        "auth/limit",
        "The player has as many bots, or the bot as many versions, as this server allows.",
        "There are too many bots or versions: use one that is known here.",
    ),
    ErrorCode(
        "auth/scope",
        "The token is valid but does not allow this.",
        "This token does not allow that.",
    ),
    ErrorCode(
        "auth/timeout",
        "No `hello` within 10 s of connecting.",
        "No hello came in time.",
        fatal=True,
        close=4408,
    ),
    ErrorCode(
        "auth/already_connected",
        "This bot has another open connection, and `hello.takeover` was not set.",
        "This bot is already connected: set takeover to replace that connection.",
        fatal=True,
        close=4409,
    ),
    ErrorCode(
        "bot/hosted",
        "The server runs this bot itself, in a competition that is being played.",
        "The server runs this bot now, in a competition: connect when that is over.",
        fatal=True,
        close=4409,
    ),
    ErrorCode(
        "auth/replaced",
        "A newer connection of the same bot took over.",
        "A newer connection of this bot took over.",
        fatal=True,
        close=4410,
    ),
    ErrorCode(
        "auth/bad_password",
        "Over HTTP: the name and the password do not go together, or a new password cannot be "
        "taken.",
        "This name and this password do not go together.",
    ),
    ErrorCode(
        "auth/signed_out",
        "`hello` with `signed_in`, and nobody is signed in at this browser, or the page is not one "
        "of this server; also sent to open connections when the person signs out.",
        "You are not signed in here: sign in, or play as a guest.",
        fatal=True,
        close=4401,
    ),
    ErrorCode(
        "auth/registration_closed",
        "`register` on a server whose organiser makes the accounts.",
        "Registration is closed: ask the organiser for a token.",
    ),
    ErrorCode(
        "auth/name_taken",
        "`register` with the name of an existing player.",
        "This name is taken.",
    ),
    ErrorCode(
        "auth/bad_name",
        "The name of a player or bot has other characters than letters, digits, `_`, `-` and `.`, "
        "mixes scripts, or has no letter or digit; or a version has characters that cannot be "
        "printed.",
        "This name is not allowed.",
    ),
    # -- games and time controls ------------------------------------------------------------
    ErrorCode("game/unknown", "No such game on this server.", "This game is not known here."),
    ErrorCode(
        "game/bad_parameter",
        "The game has no such parameter, or the value is out of range.",
        "A parameter of the game is wrong.",
    ),
    ErrorCode(
        "game/unfit",
        "The game does not fit what was asked for, such as its number of seats.",
        "The game does not fit this use.",
    ),
    ErrorCode(
        "game/version",
        "The server has another version of the game's rules.",
        "The rules of this game have another version here.",
    ),
    ErrorCode(
        "time_control/invalid",
        "The time control could not be read or has impossible times.",
        "The time control is not valid: try move:1, total:60+0.5, byoyomi:60+5x10 or bank:1+30.",
    ),
    # -- finding opponents ------------------------------------------------------------------
    ErrorCode(
        "seek/duplicate",
        "The same seek is already open for this bot.",
        "This seek is already open.",
    ),
    ErrorCode("seek/unknown", "No open seek of yours has this id.", "No such seek is open."),
    ErrorCode("seek/limit", "Too many open seeks.", "Too many seeks are open: withdraw one."),
    ErrorCode(
        "challenge/unknown",
        "The challenge does not exist, is not yours, or is over.",
        "No such challenge is open.",
    ),
    ErrorCode("challenge/offline", "The opponent is not connected.", "The opponent is offline."),
    ErrorCode("challenge/declined", "The opponent declined.", "The opponent declined."),
    ErrorCode(
        "challenge/self",
        "A bot cannot challenge itself, nor a bot of its own player in rated play.",
        "You cannot challenge yourself.",
    ),
    ErrorCode(
        "challenge/not_accepting",
        "The opponent does not accept this game, or accepts no challenges.",
        "The opponent does not accept challenges to this game.",
    ),
    ErrorCode(
        "hosted/closed",
        "Nobody, or not you, may play against what was handed in of this bot.",
        "This bot plays only when its author connects it.",
    ),
    ErrorCode(
        "hosted/no_runner",
        "No runner machine is there that could start the bot.",
        "No runner machine is there.",
    ),
    ErrorCode(
        "hosted/busy",
        "The bot, or the machine on which it runs, has no room for a match now.",
        "There is no room for a match now: ask again in a moment.",
    ),
    ErrorCode(
        "hosted/limit",
        "As many bots run for you as the server allows a person.",
        "As many bots run for you as one may have.",
    ),
    ErrorCode(
        "guest/closed",
        "Over HTTP: the operator of this server takes no guests.",
        "This server takes no guests: sign in.",
    ),
    ErrorCode(
        "guest/full",
        "Over HTTP: there are as many guests, in all or from one address, as may be.",
        "There are as many guests as may be: come back later, or sign in.",
    ),
    ErrorCode(
        "guest/casual",
        "A rated match with a guest, or with a bot of the house: they play casual ones only.",
        "Guests and the bots of the house play casual matches only.",
    ),
    ErrorCode(
        "guest/busy",
        "A guest plays one match at a time, and has one open seek or challenge.",
        "Guests play one match at a time: finish or resign the one you have.",
    ),
    # -- matches ----------------------------------------------------------------------------
    ErrorCode("match/unknown", "No match has this id.", "No such match is known here."),
    ErrorCode("match/not_yours", "You hold no seat of this match.", "This match is not yours."),
    ErrorCode(
        "match/draw_offered_already",
        "You have offered a draw in this ply and it was declined; offer again in a later ply.",
        "You have offered a draw in this ply already.",
    ),
    ErrorCode(
        "match/too_many_nonces",
        "You have sent `ready` with another nonce too often; the last one that was taken counts.",
        "You have changed your nonce too often.",
    ),
    ErrorCode(
        "match/too_many_snapshots",
        "You have asked for snapshots (`sync`, `watch`) too often; ask again in a while.",
        "Too many snapshots: updates come by themselves.",
    ),
    ErrorCode(
        "match/not_your_turn",
        "Another seat is to move; `ply` says where the match stands.",
        "It is not your turn.",
    ),
    ErrorCode(
        "match/not_running",
        "The match has not started yet, or is being paused.",
        "The match is not running.",
    ),
    ErrorCode(
        "match/over",
        "The match has finished; a repeated action of yours is still answered by `accepted`.",
        "The match is over.",
    ),
    ErrorCode(
        "match/not_over",
        "The match, or another one of its pairing, is still being played.",
        "This match can be seen once all matches of its pairing are over.",
    ),
    ErrorCode(
        "match/stale_ply",
        "`act.ply` lies in the past and was another seat's; `ply` says where the match stands.",
        "This ply has been played already.",
    ),
    ErrorCode(
        "match/future_ply",
        "`act.ply` has not been reached yet; `ply` says where the match stands.",
        "This ply has not been reached yet.",
    ),
    ErrorCode(
        "match/not_ready",
        "The match still waits for `ready` from its seats.",
        "The match has not started: not every seat is ready.",
    ),
    ErrorCode(
        "match/draw_not_offered",
        "`accept_draw` or `decline_draw` without an open offer of an opponent.",
        "No draw is on offer.",
    ),
    ErrorCode(
        "match/no_draws",
        "The game does not have draw offers.",
        "Draws cannot be offered in this game.",
    ),
    # -- actions ----------------------------------------------------------------------------
    ErrorCode(
        "action/invalid",
        "The text cannot be read as an action of this game; `legal` lists what can be played.",
        "This is not an action of the game.",
    ),
    ErrorCode(
        "action/illegal",
        "The action can be read but is not allowed here; `legal` lists what can be played.",
        "This action is not legal here.",
    ),
    ErrorCode(
        "action/ambiguous",
        "The text fits more than one legal action; `legal` lists what can be played.",
        "This action is ambiguous.",
    ),
    ErrorCode(
        "action/conflict",
        "`act.ply` lies in the past and was yours, and you played another action there.",
        "Another action was already accepted for this ply.",
    ),
    # -- the server -------------------------------------------------------------------------
    ErrorCode(
        "server/shutting_down",
        "The server is stopping; running matches are resumed when it is back.",
        "The server is shutting down: connect again in a while.",
        fatal=True,
        close=1001,
    ),
    ErrorCode(
        "server/overloaded",
        "The server takes no more connections or matches now.",
        "The server is full: try again later.",
        fatal=True,
        close=1013,
    ),
    ErrorCode(
        "server/fault",
        "A bug in the server; the matches concerned are void.",
        "The server made an error.",
        fatal=True,
        close=1011,
    ),
    ErrorCode(
        "server/slow_consumer",
        "You read too slowly and the queue to you is full.",
        "You read too slowly: the queue of messages to you is full.",
        fatal=True,
        close=4413,
    ),
    ErrorCode(
        "server/storage",
        "The request was refused because it could not be stored.",
        "The server could not store this: try again.",
    ),
)

ERRORS: Final[dict[str, ErrorCode]] = {row.code: row for row in _TABLE}
"""Every code of protocol v1, in the order of the documentation."""


class ProtocolError(Exception):
    """A rule of the protocol was broken.

    `code` is a key of `ERRORS`, `message` one sentence for people, `fatal` whether the connection
    has to be closed, `re` the id of the request concerned where it could still be read, and
    `retry_after` the number of seconds after which another try is worthwhile, if one is.
    """

    def __init__(
        self,
        code: str,
        message: str = "",
        *,
        fatal: bool | None = None,
        re: int | None = None,
        retry_after: int | None = None,
    ) -> None:
        row = error_code(code)
        self.code = code
        self.message = message or row.message
        self.fatal = row.fatal if fatal is None else fatal
        self.re = re
        self.retry_after = retry_after
        super().__init__(self.message)

    @property
    def close(self) -> int:
        """WebSocket close code to use if this error closes the connection."""
        return error_code(self.code).close

    def to_message(self, *, match: str = "", legal: Iterable[str] = ()) -> Error:
        """Return the ``error`` message that tells the peer."""
        return Error(
            self.code, self.message, re=self.re, match=match, legal=list(legal), fatal=self.fatal
        )

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.code!r}, {self.message!r}, "
            f"fatal={self.fatal}, re={self.re})"
        )


class RemoteProtocolError(ProtocolError):
    """The peer broke a rule. The connection survives unless `fatal`."""


class LocalProtocolError(ProtocolError):
    """Our own side asked for something the protocol does not allow now; nothing was sent."""


def error_code(code: str) -> ErrorCode:
    """Return the row of `code`; an unknown one is a bug of the caller and raises ValueError."""
    try:
        return ERRORS[code]
    except KeyError:
        raise ValueError(f"no error code {code!r} in plyhouse.protocol.errors.ERRORS") from None


def close_code(code: str) -> int:
    """Return the WebSocket close code that goes with `code`, known or not."""
    row = ERRORS.get(code)
    return CLOSE_GENERIC if row is None else row.close
