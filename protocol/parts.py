"""Building blocks of messages: bounded field types, base classes and nested structs.

Import these from `plyhouse.protocol.messages`, which explains the conventions. The lines
``field: text`` of the docstrings, here and in the messages, are the documentation of the fields:
the JSON Schema and the message table under ``docs/protocol`` are generated from them.
"""

from __future__ import annotations

import re as regex
from typing import Annotated, Any, Final, Literal, TypeAlias

from msgspec import Meta, Struct

PROTOCOL_VERSION: Final = "1"
CHANCE_SEAT: Final = -1
"""``Event.seat`` of a chance event, such as a roll or a dealt card."""

# Whole numbers stay below 2**53 so that every language with double-precision numbers reads them.
RequestId: TypeAlias = Annotated[int, Meta(gt=0, lt=2**53)]
PlyIndex: TypeAlias = Annotated[int, Meta(ge=0, lt=2**31)]
SeatIndex: TypeAlias = Annotated[int, Meta(ge=0, lt=1000)]
ActingSeat: TypeAlias = Annotated[int, Meta(ge=CHANCE_SEAT, lt=1000)]
Milliseconds: TypeAlias = Annotated[int, Meta(ge=0, lt=2**53)]
LONGEST_ID: Final = 64
Identifier: TypeAlias = Annotated[str, Meta(min_length=1, max_length=LONGEST_ID)]
# Characters at most of what people name, here, in the HTTP API, in storage and in forms.
LONGEST_NAME: Final = 32
"""The name of a player or a bot."""
LONGEST_BOT: Final = 2 * LONGEST_NAME + 1
"""A bot with its player: ``player/bot``."""
LONGEST_DISPLAY: Final = 64
"""A display name; names and groups of class lists become display names."""
LONGEST_COMPETITION: Final = 64
LONGEST_GAME: Final = 256
"""A game with its parameters."""
LONGEST_TIME: Final = 64
MOST_GAMES: Final = 256
"""Games that a ``hello`` names."""
LONGEST_SECRET: Final = 256
"""A token or a password."""
LONGEST_REMARK: Final = 2000
"""The free text of an `Info`."""
LONGEST_LINE: Final = 64
"""Actions of the principal variation of an `Info`."""
LONGEST_DETAIL: Final = 16384
"""The text for the author of a bot that resigns."""
LONGEST_LABEL: Final = 64
"""The label that a bot's program gives its version."""
Label: TypeAlias = Annotated[str, Meta(max_length=LONGEST_LABEL)]
Digest: TypeAlias = Annotated[
    str, Meta(max_length=64, extra_json_schema={"pattern": "^([0-9a-f]{64})?$"})
]
# The decoder checks only the length of a name. The server checks its letters, so that it can answer
# auth/bad_name with a sentence that lists the allowed ones.
_NAME: Final = r"(?=.*[^_.-])[^\x00-,/:-@\[-^`{-\xa0]" + f"{{1,{LONGEST_NAME}}}"
PlayerName: TypeAlias = Annotated[
    str, Meta(min_length=1, max_length=LONGEST_NAME, extra_json_schema={"pattern": f"^{_NAME}$"})
]
OwnBotName: TypeAlias = Annotated[
    str, Meta(max_length=LONGEST_NAME, extra_json_schema={"pattern": f"^({_NAME})?$"})
]
BotName: TypeAlias = Annotated[str, Meta(min_length=1, max_length=LONGEST_BOT)]
GameSpec: TypeAlias = Annotated[str, Meta(min_length=1, max_length=LONGEST_GAME)]
TimeControlText: TypeAlias = Annotated[str, Meta(min_length=1, max_length=LONGEST_TIME)]
Remark: TypeAlias = Annotated[str, Meta(max_length=256)]
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
    "no_answer",
    "server_fault",
    "aborted",
]
"""Why a match ended; a match with ``server_fault`` or ``aborted`` is void."""


def ending_words(termination: str) -> str:
    """Return a termination in words: ``flag_fall`` is "flag fall"."""
    return termination.replace("_", " ")


HelpLevel: TypeAlias = Literal["position", "actions", "rules"]
HELP_LEVELS: Final[tuple[HelpLevel, ...]] = ("position", "actions", "rules")
"""Help for a language model: the position only, the legal actions as well, or also the rules."""
DEFAULT_HELP: Final[HelpLevel] = "position"
"""Help where nothing else is asked for: a model is to know the game."""
HelpDemand: TypeAlias = Literal["", "position", "actions", "rules"]
"""The level that other seats must have; empty if it does not matter."""


def help_label(level: HelpLevel, model: str = "") -> str:
    """Return the label of the version of a bot that is helped so far.

    The level is one of a seat, as other programs work out the legal actions themselves.  A rating
    belongs to a version, so ratings of different levels are separate.

    >>> help_label("actions", "qwen3"), help_label("position")
    ('qwen3, help: actions', 'help: position')
    """
    return f"{model}, help: {level}" if model else f"help: {level}"


def labelled_help(label: str) -> HelpLevel | None:
    """Return the level that the label of a version states; None if it states none.

    >>> labelled_help("qwen3, help: actions"), labelled_help("2.1")
    ('actions', None)
    """
    return next((each for each in HELP_LEVELS if label.endswith(help_label(each))), None)


def help_misfit(name: str, label: str, demand: str) -> str:
    """Return why a bot does not have the level of help that is demanded, as a clause.

    ``label`` is that of its version.  Empty if it has the level, or if none is demanded.

    >>> help_misfit("ada/gpt", "qwen3, help: rules", "position")
    "ada/gpt has the label 'qwen3, help: rules', and help: position is demanded; connect it with \
help=position (plyhouse mcp --help-level position)"
    >>> help_misfit("ada/gpt", "qwen3, help: rules", "rules")
    ''
    """
    if not demand or labelled_help(label) == demand:
        return ""
    has = f"the label {label!r}" if label else "a version without a label"
    return (
        f"{name} has {has}, and help: {demand} is demanded; connect it with help={demand} "
        f"(plyhouse mcp --help-level {demand})"
    )


GiveUp: TypeAlias = Literal["resignation", "bot_crash", "no_answer"]
"""Why a seat gives up, in ``resign``."""

VOID: Final[frozenset[Termination]] = frozenset({"server_fault", "aborted"})
"""Terminations of void matches, which count neither for ratings nor in tables."""

MatchStatus: TypeAlias = Literal["waiting", "running", "finished"]
IllegalRule: TypeAlias = Literal["forfeit", "retry"]
Phrase: TypeAlias = Literal["good_luck", "well_played", "thanks", "oops"]
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
    """Base of the messages; each message is one frame."""


class Part(Struct, frozen=True, gc=False, omit_defaults=True):
    """Base of the structs nested in messages."""


class SeatInfo(Part, frozen=True):
    """The player or bot in a seat.

    player: account that the bot belongs to.
    bot: name of the bot; empty for a player in person.
    version: label of the bot's build; empty if it has none.
    rating: rating in this game when the match was created, in Elo points; absent if unrated.
    kind: ``bot`` or ``human``.
    """

    player: str
    bot: str = ""
    version: str = ""
    rating: float | None = None
    kind: str = "bot"


class Event(Part, frozen=True):
    """One thing that happened in a match, as this viewer may see it.

    ply: index of the seat's action; for a chance event, of the seat action that follows it.
    seat: the seat that acted; -1 for chance.
    action: the action in the notation of the game; absent if hidden from this viewer.
    ms: milliseconds charged to the seat's clock; absent for chance and where the time is hidden.
    display: the action as people write it, such as SAN in chess; empty if that is ``action``.
    """

    ply: PlyIndex
    seat: ActingSeat
    action: str | None = None
    ms: Milliseconds | None = None
    display: str = ""


class ClockState(Part, frozen=True):
    """The clock of one seat when the server built the frame.

    seat: the seat.
    remaining_ms: milliseconds left before flag fall. With byo-yomi: main time plus all remaining
        periods. With a time bank: the free time of the ply plus the bank.
    running: whether this clock runs or starts as soon as the ``turn`` frame is written. At most one
        clock runs, and none runs while the server pauses.
    periods: byo-yomi periods left, including the current one; absent when none is left and in other
        time controls.
    bank_ms: milliseconds left in the time bank; absent in other time controls.
    """

    seat: SeatIndex
    remaining_ms: Milliseconds
    running: bool = False
    periods: int | None = None
    bank_ms: Milliseconds | None = None


class LedgerEntry(Part, frozen=True):
    """How the server accounted for the time of one ply, in milliseconds.

    ply: the ply.
    seat: the seat that acted.
    thought_ms: time from writing the ``turn`` frame to reading the action. It is the sum of the
        three parts below, each rounded down, so it can be up to 2 ms short.
    lag_refunded_ms: part refunded for the measured round trip, within the caps.
    stall_ms: part that the server itself caused; never charged.
    charged_ms: time taken off the clock: exactly thought_ms - stall_ms - lag_refunded_ms.
    remaining_ms: time on the clock after the ply, including the increment.
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
    returns: utility of each seat, on the scale of the game.
    seat: the seat that caused the end, such as by resignation or flag fall; absent if none did.
    reason: one sentence for people.
    """

    termination: Termination
    returns: list[float]
    seat: SeatIndex | None = None
    reason: str = ""


class MatchSnapshot(Part, frozen=True):
    """Everything that this viewer may know about a match; enough to join it at any time.

    match: id of the match.
    pairing: id of the pairing, whose matches have the same bots in swapped seats.
    game: the game with its parameters.
    time_control: the time control in its canonical form.
    rated: whether it counts for the leaderboard.
    seat: your seat; absent for spectators.
    players: the player or bot in each seat.
    status: ``waiting`` (for ``ready``), ``running`` or ``finished``.
    ply: index of the next seat action.
    commitment: SHA-256 of the pairing's seed, as hex.
    nonces: each seat's contribution to the randomness, as hex; empty until all are ready.
    illegal_rule: consequence of an illegal action: ``forfeit``, or ``retry`` on the same clock.
    events: all events so far.
    observation: this viewer's current observation; its fields depend on the game.
    clocks: the clock of every seat.
    your_turn: whether the server waits for your action.
    deadline_ms: milliseconds until your flag falls, without lag refund; absent if not your turn.
    scene: drawing of the observation, if ``hello.scenes`` asked for it.
    outcome: how it ended; absent while it runs.
    draw_offers: seats that have offered or accepted the open draw offer; empty if none is open.
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
    """The server's limits for this connection.

    max_frame: longest frame that the server reads, in bytes.
    max_matches: most matches that this connection can play at once.
    """

    max_frame: int = 65536
    max_matches: int = 16


class Ping(Message, frozen=True):
    """Ask for a ``pong``. Either side may send it; the other must answer at once.

    id: number that the ``pong`` repeats.
    """

    id: RequestId


class Pong(Message, frozen=True):
    """Answer a ``ping``.

    re: id of the ping.
    """

    re: RequestId


class Info(Struct, frozen=True, omit_defaults=True):
    """The thoughts of a bot about an action; every field is optional.

    value: expected return of its seat.
    depth: number of plies that it searched.
    nodes: number of positions that it searched.
    pv: principal variation, as actions in the notation of the game.
    text: any other remark.
    live: whether spectators may see it during the match, if it cannot help an opponent.
    """

    value: float | None = None
    depth: Annotated[int, Meta(ge=0, lt=2**53)] | None = None
    nodes: Annotated[int, Meta(ge=0, lt=2**53)] | None = None
    pv: Annotated[list[Annotated[str, Meta(max_length=256)]], Meta(max_length=LONGEST_LINE)] = []
    text: Annotated[str, Meta(max_length=LONGEST_REMARK)] = ""
    live: bool = False
