"""The messages of protocol v1, as typed structs.

A frame holds one message: a map whose field ``type`` names it. Fields with a default may be left
out, and are left out when they have it. Every request of a client carries an ``id`` of its choice
(positive, not in use by another open request); exactly one answer carries the same number in
``re``: the success named below or an ``error``.

Conventions: fields ending in ``_ms`` are integer milliseconds; ``seat`` counts from 0; ``ply``
counts the actions of seats in a match from 0, so "ply 3" is the fourth action; ids of matches,
pairings, seeks and challenges are short url-safe strings; a game is written as its name with any
parameters that differ from the defaults, such as ``pig`` or ``connect_four(columns=5,rows=4)``.

The lines ``field: text`` of the docstrings are the documentation of the fields: the JSON Schema
and the message table under ``docs/protocol`` are generated from them.
"""

from __future__ import annotations

import re as regex
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args

import msgspec
from msgspec import Meta, Struct

__all__ = [
    "CHANCE_SEAT",
    "CLIENT_TYPES",
    "PROTOCOL_VERSION",
    "SERVER_TYPES",
    "AcceptDraw",
    "Accepted",
    "Act",
    "Answer",
    "Bye",
    "Challenge",
    "ChallengeClosed",
    "Challenged",
    "ClientMessage",
    "ClockState",
    "DeclineDraw",
    "DrawDeclined",
    "DrawOffered",
    "Error",
    "Event",
    "Finished",
    "Hello",
    "IllegalRule",
    "LedgerEntry",
    "Limits",
    "MatchMessage",
    "MatchSnapshot",
    "MatchStatus",
    "Message",
    "Notice",
    "OfferDraw",
    "Ok",
    "Outcome",
    "Ping",
    "Pong",
    "Ready",
    "Register",
    "Registered",
    "Resign",
    "Revealed",
    "SeatInfo",
    "Seek",
    "ServerMessage",
    "Sync",
    "Termination",
    "Turn",
    "Unseek",
    "Unwatch",
    "Update",
    "Watch",
    "Welcome",
    "wire_name",
]

PROTOCOL_VERSION: Final = "1"
CHANCE_SEAT: Final = -1
"""``Event.seat`` of what chance did: a roll, a card dealt."""

# Whole numbers stay below 2**53 so that every language with double-precision numbers reads them.
RequestId: TypeAlias = Annotated[int, Meta(gt=0, lt=2**53)]
PlyIndex: TypeAlias = Annotated[int, Meta(ge=0, lt=2**31)]
SeatIndex: TypeAlias = Annotated[int, Meta(ge=0, lt=1000)]
Identifier: TypeAlias = Annotated[str, Meta(min_length=1, max_length=64)]
Name: TypeAlias = Annotated[str, Meta(max_length=64)]
BotName: TypeAlias = Annotated[str, Meta(min_length=1, max_length=129)]
GameSpec: TypeAlias = Annotated[str, Meta(min_length=1, max_length=256)]
TimeControlText: TypeAlias = Annotated[str, Meta(min_length=1, max_length=64)]
ActionText: TypeAlias = Annotated[str, Meta(max_length=4096)]
HexNonce: TypeAlias = Annotated[str, Meta(max_length=64, pattern=r"^([0-9a-fA-F]{2})*$")]

Termination: TypeAlias = Literal[
    "normal",
    "resignation",
    "draw_agreed",
    "flag_fall",
    "illegal_action",
    "disconnect",
    "bot_crash",
    "server_fault",
    "aborted",
]
"""Why a match ended; ``server_fault`` and ``aborted`` are void and count for nothing."""

MatchStatus: TypeAlias = Literal["waiting", "running", "finished"]
IllegalRule: TypeAlias = Literal["forfeit", "retry"]
ChallengeEnd: TypeAlias = Literal["declined", "expired", "accepted", "withdrawn"]


def wire_name(class_name: str) -> str:
    """Return the ``type`` of a message class: ``OfferDraw`` is ``offer_draw`` on the wire."""
    return regex.sub(r"(?<=[a-z])(?=[A-Z])", "_", class_name).lower()


class Message(
    Struct,
    frozen=True,
    gc=False,  # messages never refer to themselves, so the collector need not track them
    omit_defaults=True,
    tag_field="type",
    tag=wire_name,
):
    """Base of everything that is sent as a frame of its own."""


class Part(Struct, frozen=True, gc=False, omit_defaults=True):
    """Base of what is only sent inside messages."""


# ------------------------------------------------------------------------------- parts


class SeatInfo(Part):
    """Who holds a seat.

    player: account that the bot belongs to.
    bot: name of the bot under its player; empty for the player itself.
    version: label of the bot's build; empty if it gave none.
    rating: strength in this game when the match was made, in Elo points; absent if unrated.
    kind: ``bot`` or ``human``.
    """

    player: str
    bot: str = ""
    version: str = ""
    rating: float | None = None
    kind: str = "bot"


class Event(Part):
    """One thing that happened in a match, as this viewer may see it.

    ply: index of the seat's action; for chance, of the seat action that it precedes.
    seat: who acted; -1 for chance.
    action: the action in the notation of the game; absent if hidden from this viewer.
    ms: milliseconds charged to the seat's clock; absent for chance and where the time is hidden.
    """

    ply: int
    seat: int
    action: str | None = None
    ms: int | None = None


class ClockState(Part):
    """The clock of one seat when the frame was made.

    seat: whose clock.
    remaining_ms: milliseconds left before flag fall, or in the current period.
    running: whether this clock is running now.
    periods: byo-yomi periods left, the current one included; absent in other time controls.
    bank_ms: milliseconds left in the bank; absent in other time controls.
    """

    seat: int
    remaining_ms: int
    running: bool = False
    periods: int | None = None
    bank_ms: int | None = None


class LedgerEntry(Part):
    """How the time of one ply was accounted for, in milliseconds.

    ply: the ply.
    seat: who acted.
    thought_ms: from the writing of the turn frame to the reading of the action.
    lag_refunded_ms: part of it given back for the measured round trip, within the caps.
    stall_ms: part of it that the server itself caused; never charged.
    charged_ms: what was taken off the clock.
    remaining_ms: what the clock showed after the ply.
    """

    ply: int
    seat: int
    thought_ms: int
    lag_refunded_ms: int
    stall_ms: int
    charged_ms: int
    remaining_ms: int


class Outcome(Part):
    """How a match ended.

    termination: why it ended; ``server_fault`` and ``aborted`` are void.
    returns: utility of each seat, by the scale of the game.
    seat: who caused it, such as the seat that resigned or fell; absent if nobody did.
    reason: one sentence for people.
    """

    termination: Termination
    returns: list[float]
    seat: int | None = None
    reason: str = ""


class MatchSnapshot(Part):
    """Everything this viewer may know of a match: enough to join it at any moment.

    match: id of the match.
    pairing: id of the pairing, whose matches share a seed with the seats swapped.
    game: the game with its parameters.
    time_control: the time control in its canonical form.
    rated: whether it counts for the leaderboard.
    seat: your seat; absent for spectators.
    players: who holds each seat.
    status: ``waiting`` (for ``ready``), ``running`` or ``finished``.
    ply: index of the next seat action.
    commitment: SHA-256 of the pairing's seed, as hex.
    nonces: what each seat contributed to the randomness, as hex; empty until all are ready.
    illegal_rule: what follows on an illegal action: ``forfeit``, or ``retry`` on the same clock.
    events: all events so far.
    observation: what this viewer sees now, by the observation fields of the game.
    clocks: the clock of every seat.
    your_turn: whether the server waits for your action.
    deadline_ms: milliseconds until your flag falls, lag refund aside; absent if not your turn.
    scene: drawing of the observation, if ``hello.scenes`` asked for it.
    outcome: how it ended; absent while it runs.
    """

    match: str
    pairing: str
    game: str
    time_control: str
    rated: bool
    seat: int | None
    players: list[SeatInfo]
    status: MatchStatus
    ply: int
    commitment: str = ""
    nonces: list[str] = []
    illegal_rule: IllegalRule = "forfeit"
    events: list[Event] = []
    observation: dict[str, Any] = {}
    clocks: list[ClockState] = []
    your_turn: bool = False
    deadline_ms: int | None = None
    scene: dict[str, Any] | None = None
    outcome: Outcome | None = None


class Limits(Part):
    """What the server puts up with on this connection.

    max_frame: longest frame it reads, in bytes.
    max_matches: most matches this connection can have at once.
    """

    max_frame: int = 65536
    max_matches: int = 16


# --------------------------------------------------------------------- client to server


class Hello(Message):
    """Say who you are; the first request of a connection. Answer: ``welcome``.

    id: number of this request.
    token: secret of the player's account.
    bot: name of this bot under its player; empty to play as the player in person.
    games: games in which you accept matches made by organisers and challengers.
    client: name and version of your program, for statistics.
    updates: whether to be sent ``update`` in your own matches when it is not your turn.
    scenes: whether to be sent scenes, ready to draw.
    max_matches: most matches you want to play at once.
    session: key from an earlier ``welcome``: go on with that session.
    takeover: whether to replace another open connection of the same bot.
    version: label of this build of the bot; results are kept apart by it.
    protocol: version of the protocol you speak.
    """

    id: RequestId
    token: Annotated[str, Meta(max_length=256)]
    bot: Name = ""
    games: Annotated[list[GameSpec], Meta(max_length=256)] = []
    client: Name = ""
    updates: bool = False
    scenes: bool = False
    max_matches: Annotated[int, Meta(ge=1, le=65536)] = 16
    session: Name = ""
    takeover: bool = False
    version: Name = ""
    protocol: Name = PROTOCOL_VERSION


class Register(Message):
    """Make an account, where the organiser left registration open; before ``hello``.
    Answer: ``registered``.

    id: number of this request.
    player: name of the account.
    """

    id: RequestId
    player: Identifier


class Seek(Message):
    """Ask to be paired with anyone who seeks the same. Answer: ``ok`` with ``seek``.

    id: number of this request.
    game: the game.
    time_control: the time control, such as ``move:1`` or ``total:60+0.5``.
    rated: whether the matches count for the leaderboard.
    count: number of matches wanted; 0 for as many as come until the seek is withdrawn.
    mirrored: whether to play in pairs with the seats swapped and the same chance stream.
    """

    id: RequestId
    game: GameSpec
    time_control: TimeControlText
    rated: bool = False
    count: Annotated[int, Meta(ge=0, le=1_000_000)] = 1
    mirrored: bool = False


class Unseek(Message):
    """Withdraw a seek. Answer: ``ok``.

    id: number of this request.
    seek: id from the ``ok`` that answered the seek.
    """

    id: RequestId
    seek: Identifier


class Challenge(Message):
    """Ask one opponent for a match. Answer: ``ok`` with ``challenge``.

    id: number of this request.
    opponent: ``player/bot``, or the name of a player alone.
    game: the game.
    time_control: the time control.
    rated: whether the match counts for the leaderboard.
    seat: seat you want; absent for any.
    mirrored: whether to play a pair of matches with the seats swapped.
    """

    id: RequestId
    opponent: BotName
    game: GameSpec
    time_control: TimeControlText
    rated: bool = False
    seat: SeatIndex | None = None
    mirrored: bool = False


class Answer(Message):
    """Accept or decline a challenge. Answer: ``ok``.

    id: number of this request.
    challenge: id from ``challenged``.
    accept: whether to play.
    reason: why not, for the challenger.
    """

    id: RequestId
    challenge: Identifier
    accept: bool
    reason: Annotated[str, Meta(max_length=256)] = ""


class Ready(Message):
    """Say that you have set up for a ``waiting`` match; it starts when every seat has.
    Answer: ``ok``.

    id: number of this request.
    match: id of the match.
    nonce: your contribution to the randomness of the match, as hex, at most 32 bytes.
    """

    id: RequestId
    match: Identifier
    nonce: HexNonce = ""


class Act(Message):
    """Play an action. Answer: ``accepted``. Safe to send again after a reconnect.

    id: number of this request.
    match: id of the match.
    ply: index of the action, from ``turn`` or the snapshot.
    action: the action in the notation of the game.
    """

    id: RequestId
    match: Identifier
    ply: PlyIndex
    action: ActionText


class Resign(Message):
    """Give a match up. Answer: ``ok``.

    id: number of this request.
    match: id of the match.
    reason: ``resignation``, or ``bot_crash`` when the runner speaks for a bot that failed.
    detail: what went wrong, such as a traceback; shown to the author of the bot only.
    """

    id: RequestId
    match: Identifier
    reason: Literal["resignation", "bot_crash"] = "resignation"
    detail: Annotated[str, Meta(max_length=16384)] = ""


class OfferDraw(Message):
    """Offer a draw; it stands until the opponent has acted. Answer: ``ok``.

    id: number of this request.
    match: id of the match.
    """

    id: RequestId
    match: Identifier


class AcceptDraw(Message):
    """Accept the draw on offer. Answer: ``ok``.

    id: number of this request.
    match: id of the match.
    """

    id: RequestId
    match: Identifier


class DeclineDraw(Message):
    """Decline the draw on offer. Answer: ``ok``.

    id: number of this request.
    match: id of the match.
    """

    id: RequestId
    match: Identifier


class Sync(Message):
    """Ask for the full state of a match of yours. Answer: ``match``.

    id: number of this request.
    match: id of the match.
    """

    id: RequestId
    match: Identifier


class Watch(Message):
    """Follow a match as a spectator. Answer: ``match``; then ``update`` and ``finished`` come.

    id: number of this request.
    match: id of the match.
    """

    id: RequestId
    match: Identifier


class Unwatch(Message):
    """Stop following a match. Answer: ``ok``.

    id: number of this request.
    match: id of the match.
    """

    id: RequestId
    match: Identifier


class Bye(Message):
    """Leave in good order: seeks and challenges are withdrawn. Answer: ``ok``, then the server
    closes with code 1000. A bot that leaves running matches may still come back to them.

    id: number of this request.
    """

    id: RequestId


# ------------------------------------------------------------------------ either direction


class Ping(Message):
    """Ask for a ``pong``. Both sides may; both must answer at once.

    id: number to be repeated in the ``pong``.
    """

    id: RequestId


class Pong(Message):
    """Answer a ``ping``.

    re: id of the ping.
    """

    re: RequestId


# --------------------------------------------------------------------- server to client


class Welcome(Message):
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

    re: int
    player: str
    bot: str
    session: str
    protocol: str
    server: str
    time_ms: int
    heartbeat_ms: int
    limits: Limits = msgspec.field(default_factory=Limits)
    matches: list[MatchSnapshot] = []


class Registered(Message):
    """The account was made.

    re: id of the ``register``.
    player: its name.
    token: its secret, shown this once.
    """

    re: int
    player: str
    token: str


class Ok(Message):
    """The request was carried out.

    re: id of the request.
    seek: id of the seek that was opened.
    challenge: id of the challenge that was made.
    """

    re: int
    seek: str = ""
    challenge: str = ""


class Error(Message):
    """Something was refused.

    code: stable code, see the table of errors.
    message: one sentence for people.
    re: id of the request; absent if there was none or it could not be read.
    match: id of the match concerned, if any.
    legal: the legal actions, when an action was refused (a long list may be cut short).
    fatal: whether the server closes the connection now.
    """

    code: str
    message: str
    re: int | None = None
    match: str = ""
    legal: list[str] = []
    fatal: bool = False


class MatchMessage(Message, tag="match"):
    """A match as it stands: at its start, and in answer to ``sync`` and ``watch``.

    snapshot: the match.
    re: id of the request that asked for it; absent when a match begins.
    """

    snapshot: MatchSnapshot
    re: int | None = None


class Turn(Message):
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
    ply: int
    events: list[Event] = []
    observation: dict[str, Any] = {}
    clocks: list[ClockState] = []
    deadline_ms: int = 0
    scene: dict[str, Any] | None = None
    retry: bool = False


class Accepted(Message):
    """Your action was played and stored.

    re: id of the ``act``.
    match: id of the match.
    ply: index of the action.
    events: what happened since the last message of this match to you, your action included.
    clocks: the clock of every seat.
    ledger: how your time was accounted for.
    duplicate: whether this ply had been accepted before; nothing changed now.
    """

    re: int
    match: str
    ply: int
    events: list[Event] = []
    clocks: list[ClockState] = []
    ledger: LedgerEntry | None = None
    duplicate: bool = False


class Update(Message):
    """Something happened in a match you follow: for spectators, and for seats that set
    ``hello.updates``.

    match: id of the match.
    ply: index of the next seat action.
    events: what happened since the last message of this match to you.
    observation: what you see now.
    clocks: the clock of every seat.
    scene: drawing of the observation, if ``hello.scenes`` asked for it.
    """

    match: str
    ply: int
    events: list[Event] = []
    observation: dict[str, Any] = {}
    clocks: list[ClockState] = []
    scene: dict[str, Any] | None = None


class DrawOffered(Message):
    """A draw is on offer.

    match: id of the match.
    seat: who offers it.
    """

    match: str
    seat: int


class DrawDeclined(Message):
    """The draw on offer was declined, or lapsed because play went on.

    match: id of the match.
    seat: who declined it.
    """

    match: str
    seat: int


class Finished(Message):
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


class Revealed(Message):
    """A pairing is over; sent for those of its matches that finished earlier.

    pairing: id of the pairing.
    seed: its seed as hex; its SHA-256 is the ``commitment`` of the matches.
    """

    pairing: str
    seed: str


class Challenged(Message):
    """Somebody asks you for a match: send ``answer``.

    challenge: id to answer with.
    opponent: who asks, as ``player/bot``.
    game: the game.
    time_control: the time control.
    rated: whether it would count for the leaderboard.
    seat: seat you would have; absent if it is drawn.
    expires_ms: milliseconds until the challenge lapses.
    """

    challenge: str
    opponent: str
    game: str
    time_control: str
    rated: bool = False
    seat: int | None = None
    expires_ms: int = 0


class ChallengeClosed(Message):
    """A challenge is no longer open; sent to both sides.

    challenge: its id.
    reason: ``declined``, ``expired``, ``accepted`` or ``withdrawn``.
    detail: what the opponent said, if anything.
    """

    challenge: str
    reason: ChallengeEnd
    detail: str = ""


class Notice(Message):
    """Something you should know that answers no request.

    code: stable code of the errors table, or ``notice/...``.
    message: one sentence for people.
    """

    code: str
    message: str


ClientMessage: TypeAlias = (
    Hello
    | Register
    | Seek
    | Unseek
    | Challenge
    | Answer
    | Ready
    | Act
    | Resign
    | OfferDraw
    | AcceptDraw
    | DeclineDraw
    | Sync
    | Watch
    | Unwatch
    | Ping
    | Pong
    | Bye
)
"""Everything a client may send."""

ServerMessage: TypeAlias = (
    Welcome
    | Registered
    | Ok
    | Error
    | MatchMessage
    | Turn
    | Accepted
    | Update
    | DrawOffered
    | DrawDeclined
    | Finished
    | Revealed
    | Challenged
    | ChallengeClosed
    | Ping
    | Pong
    | Notice
)
"""Everything a server may send."""


def _by_wire_name(union: Any) -> dict[str, Any]:
    return {member.__struct_config__.tag: member for member in get_args(union)}


CLIENT_TYPES: Final[dict[str, type[ClientMessage]]] = _by_wire_name(ClientMessage)
"""``type`` on the wire to class, in the order of the documentation."""
SERVER_TYPES: Final[dict[str, type[ServerMessage]]] = _by_wire_name(ServerMessage)
"""``type`` on the wire to class, in the order of the documentation."""
