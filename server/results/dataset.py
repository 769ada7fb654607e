"""Data sets: matches as rows, one for each match or one for each ply, for those who train models.

A row of a ply has the position as the moving seat saw it.  Everything in it goes through
`plyhouse.server.match.views`, so that a data set shows nothing that the seat was not sent.  The
caller has to see to it that what the seats saw is public.

Rows are structs of `plyhouse.protocol.api.matches`.  They are written as JSON Lines; `ParquetRows`
turns those into Parquet with the columns of the struct.  A server does that by ``python -m`` with
this module: pyarrow takes half a second to load, which the clocks of matches would feel.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Self, cast

import msgspec
from msgspec import inspect

from plyhouse.games.base import MOST_LISTED, Game
from plyhouse.games.errors import GameError
from plyhouse.games.position import Position
from plyhouse.games.registry import get_game
from plyhouse.games.scene_text import draw_fields
from plyhouse.protocol.api.matches import Match, PlyRow
from plyhouse.protocol.messages import Event
from plyhouse.server.match.events import kept_info
from plyhouse.server.match.views import Views
from plyhouse.storage.rows import StoredMatch

KINDS: Final[dict[str, type[msgspec.Struct]]] = {"matches": Match, "plies": PlyRow}
"""The rows of a data set."""
FORMS: Final = {"jsonl": "application/jsonl", "parquet": "application/vnd.apache.parquet"}
"""The media type of each format."""
GROUP: Final = 8 << 20
"""Bytes of JSON Lines that make a row group of Parquet; as many are in memory."""
NOT_IN_FILES: Final = "snapshot"
"""The field of `Match` that only a running match has."""
HIDDEN: Final = "?"
"""An action or outcome that a seat did not see."""

Reviewed = Mapping[int, Mapping[str, Any]]
"""Plies of a match as `plyhouse.protocol.api.positions.ReviewedPly`, by number."""


def ply_rows(stored: StoredMatch, game: Game, reviewed: Reviewed) -> Iterator[PlyRow]:
    """Yield a row for each ply of a match; raises `GameError` if it does not fit the game."""
    views = Views(game, game.seats)
    position = Position(game)
    told = [0] * game.seats
    for row in stored.events:
        if row.kind not in ("action", "chance"):
            continue
        state, seat = position.state, row.seat
        if row.kind == "action":
            fields, scene = views.drawn(state, seat)
        action = position.apply(seat, row.text)
        charged = row.charged_ns if row.kind == "action" else None
        views.record(state, action, row.text, seat, row.ply, charged)
        if charged is None:
            continue
        before = views.events(seat, told[seat])[:-1]
        told[seat] = views.length
        info = kept_info(row.data)
        review = reviewed.get(row.ply, {})
        yield PlyRow(
            match=stored.header.id,
            game=game.spec,
            ply=row.ply,
            seat=seat,
            observation=draw_fields(scene),
            seen=event_lines(before),
            legal=list(fields["legal"]),
            legal_left_out=len(fields["legal"]) >= MOST_LISTED,
            action=row.text,
            thought_ms=row.thought_ns / 1e6,
            charged_ms=row.charged_ns / 1e6,
            remaining_ms=row.remaining_ns / 1e6,
            said=None if info is None else info.value,
            value=review.get("played"),
            best_action=review.get("best_action", ""),
            best=review.get("best"),
            certainty=review.get("certainty", ""),
        )


def event_lines(events: Sequence[Event]) -> list[str]:
    """Return events as ``SEAT: ACTION``, with `HIDDEN` for what the seat did not see."""
    return [f"{each.seat}: {each.action or HIDDEN}" for each in events]


def ply_lines(found: Sequence[tuple[StoredMatch, Reviewed]]) -> bytes:
    """Return the plies of matches as JSON Lines.

    A match whose game is not here any more, or has other rules now, has none.
    """
    lines = b""
    for stored, reviewed in found:
        try:
            rows = list(ply_rows(stored, get_game(stored.header.game), reviewed))
        except GameError:
            continue
        lines += json_lines(rows)
    return lines


def json_lines(rows: Sequence[msgspec.Struct]) -> bytes:
    """Return rows as JSON Lines."""
    return msgspec.json.Encoder().encode_lines(rows)


def has_parquet() -> bool:
    """Return whether Parquet can be written here."""
    return importlib.util.find_spec("pyarrow") is not None


class ParquetRows:
    """Writes JSON Lines to a file as Parquet, in row groups of about `GROUP` bytes."""

    def __init__(self, out: Any, kind: type[msgspec.Struct]) -> None:
        self._arrow = importlib.import_module("pyarrow")
        self._json = importlib.import_module("pyarrow.json")
        self._schema = self._arrow.schema(_fields(self._arrow, kind))
        parquet = importlib.import_module("pyarrow.parquet")
        self._writer = parquet.ParquetWriter(out, self._schema, compression="zstd")
        self._waiting = bytearray()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:  # the last row may be cut off, and the file is not to be kept
            with contextlib.suppress(Exception):
                self._writer.close()

    def write(self, lines: bytes) -> None:
        """Write lines, the last of which may be cut off and continue in the next ones."""
        self._waiting += lines
        if len(self._waiting) >= GROUP:
            whole = self._waiting.rfind(b"\n") + 1
            self._group(bytes(self._waiting[:whole]))
            del self._waiting[:whole]

    def close(self) -> None:
        """Write what is left, and the end of the file."""
        self._group(bytes(self._waiting))
        self._waiting.clear()
        self._writer.close()

    def _group(self, lines: bytes) -> None:
        if lines:
            table = self._json.read_json(
                io.BytesIO(lines),
                # A row must not be longer than a block.
                read_options=self._json.ReadOptions(use_threads=False, block_size=len(lines)),
                parse_options=self._json.ParseOptions(
                    explicit_schema=self._schema, unexpected_field_behavior="ignore"
                ),
            )
            self._writer.write_table(table)


def _fields(arrow: Any, kind: type[msgspec.Struct]) -> list[Any]:
    """Return the columns of a struct, as Arrow has them."""
    described = cast("inspect.StructType", inspect.type_info(kind))
    return [
        (each.encode_name, _column(arrow, each.type))
        for each in described.fields
        if each.name != NOT_IN_FILES
    ]


def _column(arrow: Any, kind: inspect.Type) -> Any:
    match kind:
        case inspect.UnionType(types=types):
            return _column(arrow, next(t for t in types if not isinstance(t, inspect.NoneType)))
        case inspect.ListType(item_type=item):
            return arrow.list_(_column(arrow, item))
        case inspect.StructType(cls=cls):
            return arrow.struct(_fields(arrow, cls))
        case inspect.BoolType():
            return arrow.bool_()
        case inspect.IntType():
            return arrow.int64()
        case inspect.FloatType():
            return arrow.float64()
        case _:
            return arrow.string()


def main() -> None:
    """Turn JSON Lines from standard input into Parquet; the argument is one of `KINDS`."""
    with ParquetRows(sys.stdout.buffer, KINDS[sys.argv[1]]) as writer:
        while lines := sys.stdin.buffer.read(1 << 20):
            writer.write(lines)


if __name__ == "__main__":
    main()
