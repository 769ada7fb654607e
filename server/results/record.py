"""Records: replayable histories of matches in ``plyhouse-record-1`` JSON.

A record holds everything needed to replay and check the match without the server.  It has the game
with its parameters, the seats, every action and chance outcome, and the ledger of every ply in
nanoseconds.  It also has the outcome and the committed chance seed.
`plyhouse.server.results.verify` recomputes it.  The kinds of events are those of
`plyhouse.server.match.events`.  The lines ``field: text`` of the docstrings are the documentation
of the format in ``docs/record.md``.

A record never contains the error output of bots, tokens, or the seed of a pairing that is still
being played.  In a game with hidden information publish a record only when its pairing is over.

Fields may be added within format 1; readers ignore unknown fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

import msgspec
from msgspec import Struct

from plyhouse.games.base import Game, ParameterValue
from plyhouse.games.registry import get_game
from plyhouse.protocol.messages import IllegalRule, Outcome
from plyhouse.protocol.parts import Info
from plyhouse.protocol.text import decoded
from plyhouse.server.match.chance import CHANCE_VERSION, commitment
from plyhouse.server.match.events import end_data, kept_info
from plyhouse.server.match.terms import MatchConfig, config_of
from plyhouse.server.match.time_control import LagPolicy
from plyhouse.storage.rows import EventRow, StoredMatch

RECORD_FORMAT: Final = "plyhouse-record-1"
"""The value of the field ``format``."""


class RecordError(ValueError):
    """A text is no record, a damaged one, or one of a newer format."""

    code: ClassVar[str] = "record/damaged"


class RecordSeat(Struct, frozen=True, omit_defaults=True):
    """The holder of a seat.

    player: account that the bot belongs to.
    bot: name of the bot under its player; empty for the player in person.
    version: label of the bot's build; empty if it gave none.
    """

    player: str
    bot: str = ""
    version: str = ""


class RecordChance(Struct, frozen=True):
    """The source of the rolls and deals.

    version: of the recipe above: 1, as in the text of the HMAC.
    commitment: SHA-256 of the seed's bytes, in lower-case hex, told before the match.
    stream: the name of the stream, as in the text of the HMAC.
    nonces: what each seat contributed, in seat order, in lower-case hex; empty for a seat that gave
        nothing, and for all while the match waits for a seat. The stream ``pairing`` does not use
        them.
    seed: the seed in lower-case hex; null while its pairing is not over.
    """

    version: int
    commitment: str
    stream: str
    nonces: list[str]
    seed: str | None = None


class RecordEvent(Struct, frozen=True, omit_defaults=True):
    """One event; events are in the order in which they happened. Times are nanoseconds.

    kind: what happened, see the kinds below.
    ply: index of the next action of a seat when it happened: of an action its own index, of chance
        the index of the action that it precedes.
    seat: who did it; -1 for chance, and at the end if nobody caused it.
    text: the nonce, the outcome of chance, the action, the refused text (its first 256 characters,
        with U+FFFD for NUL) or the termination; empty for draws.
    thought_ns: from the write of the turn to the read of the action.
    lag_ns: part of it given back for the measured round trip.
    stall_ns: part of it in which the server was absent.
    charged_ns: what the clock was charged: thought_ns - lag_ns - stall_ns.
    remaining_ns: what the seat had then until its next flag fall, increment included; 0 when its
        flag has fallen.
    on_clock: in the ``end`` event, whose ply was under way and has this ledger; -1 if nobody's.
    info: what the bot said of its thoughts along with the action: ``value`` (what its seat expects,
        in the game's returns), ``depth``, ``nodes``, ``pv`` (the play it expects) and ``text``;
        only once the pairing is over.
    """

    kind: str
    ply: int
    seat: int
    text: str = ""
    thought_ns: int = 0
    lag_ns: int = 0
    stall_ns: int = 0
    charged_ns: int = 0
    remaining_ns: int = 0
    on_clock: int = -1
    info: Info | None = None


class Record(Struct, frozen=True):
    """A whole match.

    format: ``plyhouse-record-1``; within it fields may be added, so ignore those you do not know.
    match: id of the match.
    pairing: id of the pairing, whose matches share the seed.
    game: the game with the parameters that differ from the defaults.
    parameters: all parameters of the game, defaults filled in.
    time_control: the time control in its canonical form.
    rated: whether it counted for the leaderboard.
    illegal_rule: what follows on an illegal action: ``forfeit``, or ``retry`` on the same clock.
    lag: how much lag was refunded at most.
    seats: who held each seat, in seat order.
    chance: what the rolls and deals were made from.
    events: all that happened.
    outcome: how it ended; null if it was not finished when the record was made.
    max_retries: illegal actions in one ply that did not forfeit yet, under the rule ``retry``.
    started_ms: wall clock when all seats were ready, in milliseconds since 1970 (UTC).
    finished_ms: wall clock at the end, in the same unit.
    void_reason: why the match was made void, so that it counts nowhere; null if it was not. An
        organiser can void it, and so can a runner whose machine was too busy for a bot.
    """

    format: str
    match: str
    pairing: str
    game: str
    parameters: dict[str, ParameterValue]
    time_control: str
    rated: bool
    illegal_rule: IllegalRule
    lag: LagPolicy
    seats: list[RecordSeat]
    chance: RecordChance
    events: list[RecordEvent]
    outcome: Outcome | None
    max_retries: int = 10  # the format is frozen: records that omit it mean this number
    started_ms: int | None = None
    finished_ms: int | None = None
    void_reason: str | None = None


def _event(row: EventRow, *, reveal: bool, waiting: bool) -> RecordEvent:
    return RecordEvent(
        *(row.kind, row.ply, row.seat, "" if waiting and row.kind == "ready" else row.text),
        *(row.thought_ns, row.lag_ns, row.stall_ns, row.charged_ns, row.remaining_ns),
        end_data(row).on_clock if row.kind == "end" else -1,
        kept_info(row.data) if reveal and row.kind == "action" else None,
    )


def _outcome(end: EventRow, config: MatchConfig) -> Outcome:
    data = end_data(end)
    fields = {
        "termination": end.text,
        "returns": list(data.returns),
        "seat": None if end.seat < 0 else end.seat,
        "reason": data.cause.sentence(config.players),
    }
    return msgspec.convert(fields, Outcome)


def make_record(
    config: MatchConfig,
    events: Sequence[EventRow],
    *,
    reveal: bool,
    started_ms: int | None = None,
    finished_ms: int | None = None,
    void_reason: str | None = None,
) -> Record:
    """Return a match's record from its rows; ``reveal``: the pairing is over.

    While the match waits for a seat, the nonces of the others are left out: with them the last seat
    could choose its own nonce to influence the chance outcomes.
    """
    nonces = [""] * config.game.seats
    waiting = not any(row.kind == "end" for row in events)
    waiting &= len({row.seat for row in events if row.kind == "ready"}) < config.game.seats
    for row in events:
        if row.kind == "ready" and not waiting:
            nonces[row.seat] = row.text
    end = next((row for row in reversed(events) if row.kind == "end"), None)
    return Record(
        format=RECORD_FORMAT,
        match=config.match,
        pairing=config.pairing,
        game=config.game.spec,
        parameters=dict(config.game.parameters),
        time_control=str(config.time_control),
        rated=config.rated,
        illegal_rule=config.illegal_rule,
        lag=config.lag,
        seats=[RecordSeat(info.player, info.bot, info.version) for info in config.players],
        chance=RecordChance(
            CHANCE_VERSION,
            commitment(config.seed),
            config.chance_stream,
            nonces,
            config.seed.hex() if reveal else None,
        ),
        events=[_event(row, reveal=reveal, waiting=waiting) for row in events],
        outcome=None if end is None else _outcome(end, config),
        max_retries=config.max_retries,
        started_ms=started_ms,
        finished_ms=finished_ms,
        void_reason=void_reason,
    )


def stored_record(stored: StoredMatch, game: Game) -> Record:
    """Return a stored match's record, with the seed if the pairing is over."""
    return make_record(
        config_of(stored.header, game),
        stored.events,
        reveal=stored.pairing.finished_ms is not None,
        started_ms=stored.header.started_ms,
        finished_ms=stored.header.finished_ms,
        void_reason=stored.header.void_reason,
    )


def record_json(stored: StoredMatch) -> bytes:
    """Return the record of a stored match as JSON without indentation."""
    return msgspec.json.encode(stored_record(stored, get_game(stored.header.game)))


def write_record(record: Record) -> str:
    """Return a record as indented JSON text that ends in a newline."""
    return msgspec.json.format(msgspec.json.encode(record), indent=1).decode() + "\n"


def read_record(text: str | bytes) -> Record:
    """Read a record; raises `RecordError` with the mistake and its place."""
    try:
        plain: Any = msgspec.json.decode(decoded(text) if isinstance(text, bytes) else text)
    except (ValueError, RecursionError) as error:  # also msgspec.DecodeError
        raise RecordError(f"This is not a record: it is not JSON ({error}).") from error
    form = plain.get("format") if isinstance(plain, dict) else None
    if not isinstance(form, str) or not form.startswith("plyhouse-record-"):
        raise RecordError(f"This is not a record: it has no field format: {RECORD_FORMAT!r}.")
    if form != RECORD_FORMAT:
        raise RecordError(
            f"This record has format {form!r}, this version of Plyhouse reads {RECORD_FORMAT!r}."
        )
    try:
        return msgspec.convert(plain, Record)
    except msgspec.ValidationError as error:
        raise RecordError(f"The record is damaged: {error}.") from error
