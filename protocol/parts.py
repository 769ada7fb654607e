"""What messages are made of: bounded types of fields, the base classes, and the nested structs.

Import these from `plyhouse.protocol.messages`, which explains the conventions. The lines
``field: text`` of the docstrings, here and in the messages, are the documentation of the fields:
the JSON Schema and the message table under ``docs/protocol`` are generated from them.
"""

from __future__ import annotations

import re as regex
from typing import Annotated, Any, Final, Literal, TypeAlias

from msgspec import Meta, Struct

__all__ = [
    "CHANCE_SEAT",
    "PROTOCOL_VERSION",
    "VOID",
    "ActingSeat",
    "ActionText",
    "BotName",
    "ChallengeEnd",
    "ClockState",
    "Digest",
    "Event",
    "GameSpec",
    "HexNonce",
    "Identifier",
    "IllegalRule",
    "Label",
    "LedgerEntry",
    "Limits",
    "MatchSnapshot",
    "MatchStatus",
    "Message",
    "Milliseconds",
    "Outcome",
    "OwnBotName",
    "Part",
    "Ping",
    "PlayerName",
    "PlyIndex",
    "Pong",
    "RequestId",
    "SeatIndex",
    "SeatInfo",
    "Termination",
    "TimeControlText",
    "wire_name",
]

PROTOCOL_VERSION: Final = "1"
CHANCE_SEAT: Final = -1
"""``Event.seat`` of what chance did: a roll, a card dealt."""

# Whole numbers stay below 2**53 so that every language with double-precision numbers reads them.
RequestId: TypeAlias = Annotated[int, Meta(gt=0, lt=2**53)]
PlyIndex: TypeAlias = Annotated[int, Meta(ge=0, lt=2**31)]
SeatIndex: TypeAlias = Annotated[int, Meta(ge=0, lt=1000)]
ActingSeat: TypeAlias = Annotated[int, Meta(ge=CHANCE_SEAT, lt=1000)]
Milliseconds: TypeAlias = Annotated[int, Meta(ge=0, lt=2**53)]
Identifier: TypeAlias = Annotated[str, Meta(min_length=1, max_length=64)]
Label: TypeAlias = Annotated[str, Meta(max_length=64)]
Digest: TypeAlias = Annotated[
    str, Meta(max_length=64, extra_json_schema={"pattern": "^([0-9a-f]{64})?$"})
]
# The decoder sees to the length of names, the server to their letters: it refuses wrong ones with
# auth/bad_name, and a sentence that says what is allowed.
_NAME: Final = r"(?=.*[^_.-])[^\x00-,/:-@\[-^`{-\xa0]{1,32}"
PlayerName: TypeAlias = Annotated[
    str, Meta(min_length=1, max_length=32, extra_json_schema={"pattern": f"^{_NAME}$"})
]
OwnBotName: TypeAlias = Annotated[
    str, Meta(max_length=32, extra_json_schema={"pattern": f"^({_NAME})?$"})
]
BotName: TypeAlias = Annotated[str, Meta(min_length=1, max_length=65)]
GameSpec: TypeAlias = Annotated[str, Meta(min_length=1, max_length=256)]
TimeControlText: TypeAlias = Annotated[str, Meta(min_length=1, max_length=64)]
ActionText: TypeAlias = Annotated[str, Meta(max_length=4096)]
HexNonce: TypeAlias = Annotated[str, Meta(max_length=64, pattern=r"^([0-9a-fA-F]{2})*$(?!\n)")]

Termination: TypeAlias = Literal[
    "normal",
    "resignation",
    "draw_agreed",
    "flag_fall",
    "illegal_action",
    "disconnect",
    "no_show",
    "bot_crash",
    "server_fault",
    "aborted",
]
"""Why a match ended; ``server_fault`` and ``aborted`` are void and count for nothing."""

VOID: Final[frozenset[Termination]] = frozenset({"server_fault", "aborted"})
"""Terminations of matches that count for nothing."""

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


class SeatInfo(Part, frozen=True):
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


class Event(Part, frozen=True):
    """One thing that happened in a match, as this viewer may see it.

    ply: index of the seat's action; for chance, of the seat action that it precedes.
    seat: who acted; -1 for chance.
    action: the action in the notation of the game; absent if hidden from this viewer.
    ms: milliseconds charged to the seat's clock; absent for chance and where the time is hidden.
    """

    ply: PlyIndex
    seat: ActingSeat
    action: str | None = None
    ms: Milliseconds | None = None


class ClockState(Part, frozen=True):
    """The clock of one seat when the frame was made.

    seat: whose clock.
    remaining_ms: milliseconds left before flag fall: in byo-yomi main time and all periods left
        together, with a bank what the ply has free and the bank.
    running: whether this clock runs, or is about to since it is this seat's turn: it starts when
        the turn has been written. At most one clock runs; none while the server pauses.
    periods: byo-yomi periods left, the current one included; absent in other time controls, and
        when none is left.
    bank_ms: milliseconds left in the bank; absent in other time controls.
    """

    seat: SeatIndex
    remaining_ms: Milliseconds
    running: bool = False
    periods: int | None = None
    bank_ms: Milliseconds | None = None


class LedgerEntry(Part, frozen=True):
    """How the time of one ply was accounted for, in milliseconds.

    ply: the ply.
    seat: who acted.
    thought_ms: from the writing of the turn frame to the reading of the action; shown as the sum
        of the three parts, each rounded down, so up to 2 ms short.
    lag_refunded_ms: part of it given back for the measured round trip, within the caps.
    stall_ms: part of it that the server itself caused; never charged.
    charged_ms: what was taken off the clock: exactly thought_ms - stall_ms - lag_refunded_ms.
    remaining_ms: what the clock showed after the ply, increment included, as in the clocks.
    """

    ply: PlyIndex
    seat: SeatIndex
    thought_ms: Milliseconds
    lag_refunded_ms: Milliseconds
    stall_ms: Milliseconds
    charged_ms: Milliseconds
    remaining_ms: Milliseconds


class Outcome(Part, frozen=True):
    """How a match ended.

    termination: why it ended; ``server_fault`` and ``aborted`` are void.
    returns: utility of each seat, by the scale of the game.
    seat: who caused it, such as the seat that resigned or fell; absent if nobody did.
    reason: one sentence for people.
    """

    termination: Termination
    returns: list[float]
    seat: SeatIndex | None = None
    reason: str = ""


class MatchSnapshot(Part, frozen=True):
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
    draw_offers: seats that want the draw that is on offer; empty if none is.
    """

    match: str
    pairing: str
    game: str
    time_control: str
    rated: bool
    seat: SeatIndex | None
    players: list[SeatInfo]
    status: MatchStatus
    ply: PlyIndex
    commitment: str = ""
    nonces: list[str] = []
    illegal_rule: IllegalRule = "forfeit"
    events: list[Event] = []
    observation: dict[str, Any] = {}
    clocks: list[ClockState] = []
    your_turn: bool = False
    deadline_ms: Milliseconds | None = None
    scene: dict[str, Any] | None = None
    outcome: Outcome | None = None
    draw_offers: list[SeatIndex] = []


class Limits(Part, frozen=True):
    """What the server puts up with on this connection.

    max_frame: longest frame it reads, in bytes.
    max_matches: most matches this connection can have at once.
    """

    max_frame: int = 65536
    max_matches: int = 16


class Ping(Message, frozen=True):
    """Ask for a ``pong``. Both sides may; both must answer at once.

    id: number to be repeated in the ``pong``.
    """

    id: RequestId


class Pong(Message, frozen=True):
    """Answer a ``ping``.

    re: id of the ping.
    """

    re: RequestId
