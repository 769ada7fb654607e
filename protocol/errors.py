"""Errors of the protocol: stable codes, their sentences, and the exceptions.

    ProtocolError
      RemoteProtocolError    the peer made a mistake: answer with an ``error`` message
      LocalProtocolError     our own program made a mistake: a bug here, nothing was sent

Codes are part of protocol v1: programs depend on them, so their meaning never changes. Sentences
are for people and may change at any time. ``docs/protocol/errors.md`` is generated from `ERRORS`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from plyhouse.protocol.replies import Error

CLOSE_NORMAL: Final = 1000
"""WebSocket close code after ``bye``, or when either side closes without an error."""

CLOSE_GENERIC: Final = 4400
"""WebSocket close code of fatal errors that define no other one."""


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """One row of the table of errors."""

    code: str
    """``area/what``, as sent in ``error.code``."""
    meaning: str
    """When the error occurs, for the documentation."""
    message: str
    """Default sentence, for senders without a more precise one."""
    fatal: bool = False
    """True if the error closes the connection."""
    close: int = CLOSE_GENERIC
    """WebSocket close code, if the error closes the connection."""


_TABLE: Final[tuple[ErrorCode, ...]] = (
    # -- frames and messages ----------------------------------------------------------------
    ErrorCode(
        "protocol/malformed",
        "The frame is not one complete msgpack or JSON map, or breaks a limit on its contents.",
        "The server could not read the frame: send one map with a field 'type' per frame.",
    ),
    ErrorCode(
        "protocol/unknown_type",
        "The message has a `type` that this version does not know.",
        "The server does not know this type of message.",
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
        "The message is well formed but not allowed now: a second `hello`, a request id still in "
        "use, or a `pong` without a `ping`.",
        "This message is not allowed now.",
    ),
    ErrorCode(
        "protocol/rate",
        "Too many messages in too short a time.",
        "Too many messages: slow down and connect again later.",
        fatal=True,
        close=4429,
    ),
    # -- authentication ---------------------------------------------------------------------
    ErrorCode(
        "auth/required",
        "Anything but `hello`, `register` or `ping` before `welcome`; or anything but watching "
        "after a `hello` without a token.",
        "Send hello with a token first.",
    ),
    ErrorCode(
        "auth/bad_token",
        "No account has this token.",
        "The server does not know this token: check it, or ask the organiser for a new one.",
        fatal=True,
        close=4401,
    ),
    ErrorCode(
        "auth/revoked",
        "The token has been revoked.",
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
        "The server has suspended this version of the bot after repeated forfeits and does not "
        "pair it; also sent as a `notice`, at login and when it happens.",
        "This version is suspended: fix the bot, or ask the organiser to reinstate it.",
    ),
    ErrorCode(
        "auth/rate",
        "Too many wrong tokens or new accounts from one address, or logins of one player or of a "
        "bot with long matches, in too short a time.",
        "Too many attempts: wait before you try again.",
        fatal=True,
        close=4429,
    ),
    ErrorCode(
        "auth/limit",
        "The player has as many bots, or the bot as many versions, as this server allows.",
        "You have too many bots or versions: use one that you have used before.",
    ),
    ErrorCode(
        "auth/scope",
        "The token is valid but does not allow this request.",
        "This token does not allow that request.",
    ),
    ErrorCode(
        "auth/timeout",
        "No `hello` within 10 s of connecting.",
        "No hello arrived in time: send it within 10 s of connecting.",
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
        "The server itself runs this bot, in a competition.",
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
        "Over HTTP: the password is wrong for this name, or a new password is not allowed.",
        "The name or the password is wrong.",
    ),
    ErrorCode(
        "auth/signed_out",
        "`hello` with `signed_in`, but nobody is signed in in this browser, or the page belongs to "
        "another server; also sent to open connections when the person signs out.",
        "You are not signed in here: sign in, or play as a guest.",
        fatal=True,
        close=4401,
    ),
    ErrorCode(
        "auth/registration_closed",
        "`register` on a server where only organisers create accounts.",
        "Registration is closed: ask the organiser for a token.",
    ),
    ErrorCode(
        "auth/name_taken",
        "`register` with the name of an existing player.",
        "This name is taken: choose another.",
    ),
    ErrorCode(
        "auth/bad_name",
        "The name of a player or bot has characters other than letters, digits, `_`, `-` and `.`, "
        "mixes scripts, or has no letter or digit. Or a version has unprintable characters.",
        "This name is not allowed.",
    ),
    # -- games and time controls ------------------------------------------------------------
    ErrorCode("game/unknown", "The server has no such game.", "The server has no such game."),
    ErrorCode(
        "game/bad_parameter",
        "The game has no such parameter, or the value is out of range.",
        "A parameter of the game is wrong.",
    ),
    ErrorCode(
        "game/unfit",
        "The game does not suit the request, for example because of its number of seats.",
        "This game does not suit the request.",
    ),
    ErrorCode(
        "game/version",
        "The server has another version of the game's rules.",
        "The server has another version of the rules of this game: update your installation.",
    ),
    ErrorCode(
        "time_control/invalid",
        "The time control is malformed or has impossible times.",
        "The time control is not valid: try move:1, total:60+0.5, byoyomi:60+5x10 or bank:1+30.",
    ),
    # -- seeks and challenges ---------------------------------------------------------------
    ErrorCode("seek/duplicate", "The bot has the same seek open.", "This seek is already open."),
    ErrorCode(
        "seek/unknown",
        "No open seek of yours has this id.",
        "You have no open seek with this id: it may have been matched or withdrawn.",
    ),
    ErrorCode("seek/limit", "Too many open seeks.", "Too many seeks are open: withdraw one."),
    ErrorCode("seek/plies", "A player's plies of a day are used up.", "Play again later."),
    ErrorCode(
        "challenge/unknown",
        "The challenge does not exist, is not yours, or is over.",
        "You have no open challenge with this id: it may be over.",
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
        "The author of the bot has not opened its submissions for play by you.",
        "This bot plays only when its author connects it.",
    ),
    ErrorCode(
        "hosted/no_runner",
        "No runner machine is connected that could start the bot.",
        "No runner machine is connected that could start the bot.",
    ),
    ErrorCode(
        "hosted/busy",
        "The bot or its runner machine cannot take another match now.",
        "The bot or its machine cannot take another match now: ask again in a moment.",
    ),
    ErrorCode(
        "hosted/limit",
        "The server runs as many bots for you as it allows a person.",
        "The server runs no more bots for you: finish a match first.",
    ),
    ErrorCode(
        "guest/closed",
        "Over HTTP: the operator of this server takes no guests.",
        "This server takes no guests: sign in.",
    ),
    ErrorCode(
        "guest/full",
        "Over HTTP: the server has as many guests, in all or from one address, as it allows.",
        "The server takes no more guests now: come back later, or sign in.",
    ),
    ErrorCode(
        "guest/casual",
        "A rated match with a guest or a built-in bot, which play casual matches only.",
        "Guests and built-in bots play casual matches only.",
    ),
    ErrorCode(
        "guest/busy",
        "A guest plays one match at a time, and has one open seek or challenge.",
        "Guests play one match at a time: finish or resign the one you have.",
    ),
    # -- matches ----------------------------------------------------------------------------
    ErrorCode("match/unknown", "No match has this id.", "No match has this id."),
    ErrorCode(
        "match/not_yours", "You have no seat in this match.", "You have no seat in this match."
    ),
    ErrorCode(
        "match/draw_offered_already",
        "You have already offered a draw at this ply and it was declined.",
        "You have already offered a draw at this ply: offer again at a later one.",
    ),
    ErrorCode(
        "match/no_phrases", "Phrases are refused in this match.", "Say nothing in this match."
    ),
    ErrorCode(
        "match/too_many_phrases", "You sent `say` too often.", "Wait some seconds to say more."
    ),
    ErrorCode(
        "match/too_many_nonces",
        "You have sent `ready` with another nonce too often; the last accepted one counts.",
        "You have changed your nonce too often.",
    ),
    ErrorCode(
        "match/too_many_snapshots",
        "You have requested snapshots (`sync`, `watch`) too often; wait before the next request.",
        "Too many snapshots: wait a while; the server sends updates without being asked.",
    ),
    ErrorCode(
        "match/not_your_turn",
        "Another seat is to act; `ply` is the current ply of the match.",
        "It is not your turn.",
    ),
    ErrorCode(
        "match/not_running",
        "The match has not started yet, or is paused.",
        "The match is not running.",
    ),
    ErrorCode(
        "match/over",
        "The match has finished; the server still answers a repeated action by `accepted`.",
        "The match is over.",
    ),
    ErrorCode(
        "match/not_over",
        "The match, or another match of its pairing, is still running.",
        "This match is public once all matches of its pairing are over.",
    ),
    ErrorCode(
        "match/stale_ply",
        "`act.ply` is past and was another seat's; `ply` is the current ply of the match.",
        "This ply has already been played.",
    ),
    ErrorCode(
        "match/future_ply",
        "The match has not reached `act.ply` yet; `ply` is the current ply of the match.",
        "The match has not reached this ply yet.",
    ),
    ErrorCode(
        "match/not_ready",
        "The match still waits for `ready` from its seats.",
        "The match has not started: not every seat is ready.",
    ),
    ErrorCode(
        "match/draw_not_offered",
        "`accept_draw` or `decline_draw` without an open offer of an opponent.",
        "No opponent has an open draw offer.",
    ),
    ErrorCode(
        "match/no_draws",
        "The game does not have draw offers.",
        "Draws cannot be offered in this game.",
    ),
    # -- actions ----------------------------------------------------------------------------
    ErrorCode(
        "action/invalid",
        "The text is not an action of this game; `legal` lists the legal actions.",
        "This is not an action of the game.",
    ),
    ErrorCode(
        "action/illegal",
        "The action is not legal in this position; `legal` lists the legal actions.",
        "This action is not legal here.",
    ),
    ErrorCode(
        "action/ambiguous",
        "The text matches more than one legal action; `legal` lists the legal actions.",
        "This action is ambiguous.",
    ),
    ErrorCode(
        "action/conflict",
        "`act.ply` is past, and you played another action at it.",
        "You have already played another action at this ply.",
    ),
    # -- the server -------------------------------------------------------------------------
    ErrorCode(
        "server/shutting_down",
        "The server is stopping; running matches resume when it is back.",
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
        "The server failed because of a bug of its own; its log has the details.",
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
        "The server refused the request because it could not store it.",
        "The server could not store this: try again.",
    ),
    # -- language models ----------------------------------------------------------------------
    ErrorCode(
        "help/level",
        "Over MCP: the level of help at which the bot plays leaves this out.",
        "The level of help at which this bot plays leaves that out.",
    ),
    ErrorCode(
        "help/required",
        "A seek, a challenge or a competition demands a level of help, and the label of the bot's "
        "version states another one or none.",
        "The label of this bot's version does not state the level of help that is demanded.",
    ),
)

ERRORS: Final[dict[str, ErrorCode]] = {row.code: row for row in _TABLE}
"""Every code of protocol v1, in the order of the documentation."""


class ProtocolError(Exception):
    """A violation of the protocol.

    `code` is a key of `ERRORS`; `message` is one sentence for people.  `fatal` is true if the
    connection must be closed.  `re` is the id of the request, if it could be read.  `retry_after`
    is the number of seconds to wait before another attempt, if one may succeed.
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
        """Return the ``error`` message for the peer."""
        return Error(
            self.code, self.message, re=self.re, match=match, legal=list(legal), fatal=self.fatal
        )

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.code!r}, {self.message!r}, "
            f"fatal={self.fatal}, re={self.re})"
        )


class RemoteProtocolError(ProtocolError):
    """A mistake of the peer; the connection stays open unless `fatal`."""


class LocalProtocolError(ProtocolError):
    """A mistake of our own program; nothing was sent."""


def error_code(code: str) -> ErrorCode:
    """Return the row of `code`; raise ValueError for an unknown code."""
    try:
        return ERRORS[code]
    except KeyError:
        raise ValueError(f"no error code {code!r} in plyhouse.protocol.errors.ERRORS") from None


def close_code(code: str) -> int:
    """Return the WebSocket close code for `code`, even if `code` is unknown."""
    row = ERRORS.get(code)
    return CLOSE_GENERIC if row is None else row.close
