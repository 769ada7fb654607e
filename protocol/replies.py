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
    PlyIndex,
    RequestId,
    SeatIndex,
)

__all__ = [
    "Accepted",
    "ChallengeClosed",
    "Challenged",
    "DrawDeclined",
    "DrawOffered",
    "Error",
    "Finished",
    "MatchMessage",
    "Notice",
    "Ok",
    "Registered",
    "Revealed",
    "Turn",
    "Update",
    "Welcome",
]


class Welcome(Message, frozen=True):
    """You are known: the connection is open.

    re: id of the ``hello``.
    player: your account.
    bot: your bot; empty if you play in person.
    session: key for ``hello.session`` when you connect again.
    protocol: version of the protocol, "1".
    server: name and version of the server program.
    time_ms: the server's wall clock, milliseconds since 1970-01-01T00:00:00Z.
    heartbeat_ms: the server sends a ``ping`` at least this often, in milliseconds.
    limits: what the server puts up with.
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
    """The account was made.

    re: id of the ``register``.
    player: its name.
    token: its secret, shown this once.
    """

    re: RequestId
    player: str
    token: str


class Ok(Message, frozen=True):
    """The request was carried out.

    re: id of the request.
    seek: id of the seek that was opened.
    challenge: id of the challenge that was made.
    """

    re: RequestId
    seek: str = ""
    challenge: str = ""


class Error(Message, frozen=True):
    """Something was refused.

    code: stable code, see the table of errors.
    message: one sentence for people.
    re: id of the request; absent if there was none or it could not be read.
    match: id of the match concerned, if any.
    legal: the legal actions, when an action was refused (a long list may be cut short).
    fatal: whether the server closes the connection now.
    ply: index of the next seat action of that match, when yours was for another ply or seat.
    """

    code: str
    message: str
    re: RequestId | None = None
    match: str = ""
    legal: list[str] = []
    fatal: bool = False
    ply: PlyIndex | None = None


class MatchMessage(Message, tag="match", frozen=True):
    """A match as it stands: at its start, and in answer to ``sync`` and ``watch``.

    snapshot: the match.
    re: id of the request that asked for it; absent when a match begins.
    """

    snapshot: MatchSnapshot
    re: RequestId | None = None


class Turn(Message, frozen=True):
    """It is your turn and your clock runs.

    match: id of the match.
    ply: index to repeat in ``act``.
    events: what happened since the last message of this match to you.
    observation: what you see, by the observation fields of the game.
    clocks: the clock of every seat.
    deadline_ms: milliseconds from the sending of this frame until your flag falls, without refund.
    scene: drawing of the observation, if ``hello.scenes`` asked for it.
    retry: whether your last action was refused and you may try again on the same clock.
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
    """Your action was played and stored.

    re: id of the ``act``.
    match: id of the match.
    ply: index of the action.
    events: what happened since the last message of this match to you, your action included.
    clocks: the clock of every seat.
    ledger: how your time was accounted for.
    duplicate: whether this ply had been accepted before; nothing changed now.
    info_refused: why ``act.info`` was not kept; empty if it was, or if there was none.
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
    """Something happened in a match you follow: for spectators, and for seats that set
    ``hello.updates``.

    match: id of the match.
    ply: index of the next seat action.
    events: what happened since the last message of this match to you.
    observation: what you see now.
    clocks: the clock of every seat.
    scene: drawing of the observation, if ``hello.scenes`` asked for it.
    info: what the bot thought that acted last (``act.info``), for spectators of a match in which
        that can help nobody, if the bot allows it (``info.live``).
    """

    match: str
    ply: PlyIndex
    events: list[Event] = []
    observation: dict[str, Any] = {}
    clocks: list[ClockState] = []
    scene: dict[str, Any] | None = None
    info: dict[str, Any] | None = None


class DrawOffered(Message, frozen=True):
    """A draw is on offer.

    match: id of the match.
    seat: who offers it.
    """

    match: str
    seat: SeatIndex


class DrawDeclined(Message, frozen=True):
    """The draw on offer was declined, or lapsed because play went on.

    match: id of the match.
    seat: who declined it.
    """

    match: str
    seat: SeatIndex


class Finished(Message, frozen=True):
    """A match is over.

    match: id of the match.
    outcome: how it ended.
    events: what happened since the last message of this match to you.
    record_url: where its record can be read; empty if it is not kept.
    pairing_done: whether this was the last match of its pairing.
    seed: the pairing's seed as hex, if ``pairing_done``: check every roll with it.
    """

    match: str
    outcome: Outcome
    events: list[Event] = []
    record_url: str = ""
    pairing_done: bool = False
    seed: str = ""


class Revealed(Message, frozen=True):
    """A pairing is over; sent for those of its matches that finished earlier.

    pairing: id of the pairing.
    seed: its seed as hex; its SHA-256 is the ``commitment`` of the matches.
    """

    pairing: str
    seed: str


class Challenged(Message, frozen=True):
    """Somebody asks you for a match: send ``answer``.

    challenge: id to answer with.
    opponent: who asks, as ``player/bot``.
    game: the game.
    time_control: the time control.
    rated: whether it would count for the leaderboard.
    seat: seat you would have; absent if it is drawn.
    expires_ms: milliseconds until the challenge lapses.
    others: who else is asked, in a game for three and more.
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

    challenge: its id.
    reason: ``declined``, ``expired``, ``accepted`` or ``withdrawn``.
    detail: what the opponent said, if anything.
    """

    challenge: str
    reason: ChallengeEnd
    detail: str = ""


class Notice(Message, frozen=True):
    """Something you should know that answers no request.

    ``notice/seek_waits``: why a seek of yours has found nobody yet; sent after some seconds without
    a match, and again when the reason has changed. ``auth/suspended``: this version was suspended
    after repeated forfeits, or is at your login; ``notice/reinstated``: it is not any more.
    ``notice/away`` and ``notice/back``: a seat of a match has lost its connection, and is there
    again; for spectators, and for seats that set ``hello.updates`` or ``hello.scenes``. Who comes
    later is told of those who are away then.

    code: stable code of the errors table, or ``notice/...``.
    message: one sentence for people.
    match: the match it is about, if it is about one.
    seat: who is away, or back.
    remaining_ms: how long the match waits for who is away, unless its flag falls before.
    """

    code: str
    message: str
    match: Identifier | None = None
    seat: SeatIndex | None = None
    remaining_ms: Milliseconds | None = None
