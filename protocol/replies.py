"""What servers send. Import these from `plyhouse.protocol.messages`."""

# ruff: noqa: RUF012 - msgspec gives every instance its own copy of an empty list or dict

from __future__ import annotations

from typing import Any

import msgspec

from plyhouse.protocol.parts import (
    ChallengeEnd,
    ClockState,
    Event,
    Identifier,
    LedgerEntry,
    Limits,
    MatchSnapshot,
    Message,
    Milliseconds,
    Outcome,
    Phrase,
    PlyIndex,
    RequestId,
    SeatIndex,
)


class Welcome(Message, frozen=True):
    """You are logged in: the connection is open.

    re: id of the ``hello``.
    player: your account.
    bot: your bot; empty if you play in person.
    session: key for ``hello.session`` when you connect again.
    protocol: version of the protocol, "1".
    server: name and version of the server program.
    time_ms: the server's wall clock, milliseconds since 1970-01-01T00:00:00Z.
    heartbeat_ms: the server sends a ``ping`` at least this often, in milliseconds.
    limits: the server's limits for this connection.
    matches: every running match in which you hold a seat.
    """

    re: RequestId
    player: str
    bot: str
    session: str
    protocol: str
    server: str
    time_ms: Milliseconds
    heartbeat_ms: Milliseconds
    limits: Limits = msgspec.field(default_factory=Limits)
    matches: list[MatchSnapshot] = []


class Registered(Message, frozen=True):
    """The server has created the account.

    re: id of the ``register``.
    player: name of the account.
    token: secret of the account; the server shows it only here.
    """

    re: RequestId
    player: str
    token: str


class Ok(Message, frozen=True):
    """The server has carried out the request.

    re: id of the request.
    seek: id of the new seek.
    challenge: id of the new challenge.
    """

    re: RequestId
    seek: str = ""
    challenge: str = ""


class Error(Message, frozen=True):
    """The server has refused a request or a frame.

    code: stable code; see the table of errors.
    message: one sentence for people.
    re: id of the request; absent if there was none or the server could not read it.
    match: id of the match concerned, if any.
    legal: the legal actions after an illegal one; a long list may be cut short.
    fatal: whether the server closes the connection now.
    ply: index of the match's next seat action, if your action was for another ply or seat.
    """

    code: str
    message: str
    re: RequestId | None = None
    match: str = ""
    legal: list[str] = []
    fatal: bool = False
    ply: PlyIndex | None = None


class MatchMessage(Message, tag="match", frozen=True):
    """A snapshot of a match: when it begins, and in answer to ``sync`` and ``watch``.

    snapshot: the match.
    re: id of the request; absent when a match begins.
    """

    snapshot: MatchSnapshot
    re: RequestId | None = None


class Turn(Message, frozen=True):
    """It is your turn and your clock runs.

    match: id of the match.
    ply: index to repeat in ``act``.
    events: events since the last message that you received about this match.
    observation: your current observation; its fields depend on the game.
    clocks: the clock of every seat.
    deadline_ms: milliseconds from sending this frame until your flag falls, without lag refund.
    scene: drawing of the observation, if ``hello.scenes`` asked for it.
    retry: whether your last action was illegal and you may try again on the same clock.
    """

    match: str
    ply: PlyIndex
    events: list[Event] = []
    observation: dict[str, Any] = {}
    clocks: list[ClockState] = []
    deadline_ms: Milliseconds = 0
    scene: dict[str, Any] | None = None
    retry: bool = False


class Accepted(Message, frozen=True):
    """The server has played and stored your action.

    re: id of the ``act``.
    match: id of the match.
    ply: index of the action.
    events: events since the last message that you received about this match, including your action.
    clocks: the clock of every seat.
    ledger: how the server accounted for your time.
    duplicate: whether the server had accepted this ply before; the request changed nothing.
    info_refused: why the server did not store ``act.info``; empty if it did or there was none.
    """

    re: RequestId
    match: str
    ply: PlyIndex
    events: list[Event] = []
    clocks: list[ClockState] = []
    ledger: LedgerEntry | None = None
    duplicate: bool = False
    info_refused: str = ""


class Update(Message, frozen=True):
    """Something happened in a match that you follow: for spectators, and for seats that set
    ``hello.updates``.

    match: id of the match.
    ply: index of the next seat action.
    events: events since the last message that you received about this match.
    observation: your current observation.
    clocks: the clock of every seat.
    scene: drawing of the observation, if ``hello.scenes`` asked for it.
    info: ``act.info`` of the last action, for spectators, if the bot set ``info.live`` and it
        cannot help an opponent.
    """

    match: str
    ply: PlyIndex
    events: list[Event] = []
    observation: dict[str, Any] = {}
    clocks: list[ClockState] = []
    scene: dict[str, Any] | None = None
    info: dict[str, Any] | None = None


class DrawOffered(Message, frozen=True):
    """A seat has offered a draw.

    match: id of the match.
    seat: the seat that offers it.
    """

    match: str
    seat: SeatIndex


class DrawDeclined(Message, frozen=True):
    """A seat has declined the draw offer, or let it lapse by acting.

    match: id of the match.
    seat: the seat that declined it.
    """

    match: str
    seat: SeatIndex


class Said(Message, frozen=True):
    """A seat has said a phrase; sent to seats and spectators that set ``hello.scenes``.

    match: id of the match.
    seat: the seat that said it.
    phrase: what it said.
    """

    match: str
    seat: SeatIndex
    phrase: Phrase


class Finished(Message, frozen=True):
    """A match is over.

    match: id of the match.
    outcome: how it ended.
    events: events since the last message that you received about this match.
    record_url: address of the match record; empty if the server keeps none.
    pairing_done: whether this was the last match of its pairing.
    seed: the pairing's seed as hex, if ``pairing_done``; use it to verify the chance events.
    """

    match: str
    outcome: Outcome
    events: list[Event] = []
    record_url: str = ""
    pairing_done: bool = False
    seed: str = ""


class Revealed(Message, frozen=True):
    """A pairing is over; sent for its matches that finished earlier.

    pairing: id of the pairing.
    seed: its seed as hex; its SHA-256 is the ``commitment`` of the matches.
    """

    pairing: str
    seed: str


class Challenged(Message, frozen=True):
    """Someone challenges you to a match: send ``answer``.

    challenge: id for your answer.
    opponent: the challenger, as ``player/bot``.
    game: the game.
    time_control: the time control.
    rated: whether the match would count for the leaderboard.
    seat: your seat; absent if it is drawn at random.
    expires_ms: milliseconds until the challenge lapses.
    others: the other opponents, in a game for three or more.
    """

    challenge: str
    opponent: str
    game: str
    time_control: str
    rated: bool = False
    seat: SeatIndex | None = None
    expires_ms: Milliseconds = 0
    others: list[str] = []


class ChallengeClosed(Message, frozen=True):
    """A challenge is no longer open; sent to all sides.

    challenge: id of the challenge.
    reason: ``declined``, ``expired``, ``accepted`` or ``withdrawn``.
    detail: the reason that the opponent gave, if any.
    """

    challenge: str
    reason: ChallengeEnd
    detail: str = ""


class Notice(Message, frozen=True):
    """News that answers no request.

    ``notice/seek_waits``: why one of your seeks has found no opponent yet; sent after some seconds
    without a match, and again when the reason changes. ``auth/suspended``: the server has suspended
    this version after repeated forfeits, now or before your login; ``notice/reinstated``: it has
    lifted the suspension. ``notice/away`` and ``notice/back``: a seat of a match has lost its
    connection, or is back. These go to spectators, and to seats that set ``hello.updates`` or
    ``hello.scenes``; if you join later, you receive them for the seats that are away.
    ``notice/spectators``: how many watch the match, after that has changed; it goes to spectators
    and seats that set ``hello.scenes``.

    code: stable code of the errors table, or ``notice/...``.
    message: one sentence for people.
    match: the match concerned, if any.
    seat: the seat that is away or back.
    remaining_ms: how long the match waits for the seat, unless its flag falls earlier.
    count: number of spectators.
    """

    code: str
    message: str
    match: Identifier | None = None
    seat: SeatIndex | None = None
    remaining_ms: Milliseconds | None = None
    count: int | None = None
