"""Output and crashes of hosted bots in their matches, as runners report them.

A bot's author and administrators (scope ``admin``) can read its output after the match.  Opponents,
organisers and readers during the match cannot.  So bots cannot use it to exchange information.
"""

from __future__ import annotations

import asyncio
import zlib
from dataclasses import dataclass

import msgspec

from plyhouse.protocol.errors import ProtocolError
from plyhouse.protocol.hosting.runner_messages import MatchOutput, OutputLine, PlyCost
from plyhouse.server.config import ServerConfig
from plyhouse.storage import outputs
from plyhouse.storage.outputs import OutputRow
from plyhouse.storage.rows import Identity, StoredMatch, wall_ms
from plyhouse.storage.store import Store

__all__ = ["BotOutput", "Kept", "Outputs"]


class Kept(msgspec.Struct, frozen=True):
    """The stored content of one part; its fields are those of a `MatchOutput`."""

    lines: list[OutputLine]
    costs: list[PlyCost]
    cut: int
    cut_at: int


@dataclass(frozen=True, slots=True)
class BotOutput:
    """The output of a bot in a match on one machine, and its row in the store."""

    row: OutputRow
    kept: Kept


class Outputs:
    """The stored output of hosted bots."""

    def __init__(self, config: ServerConfig, store: Store) -> None:
        self._most = config.max_output_bytes_per_player
        self._store = store

    async def keep(self, said: MatchOutput) -> None:
        """Store what a runner sends; sending it again changes nothing.  Raises `Unknown`."""
        kept = Kept(said.lines, said.costs, said.cut, said.cut_at)
        data = await asyncio.to_thread(lambda: zlib.compress(msgspec.json.encode(kept)))
        await self._store.write(
            outputs.keep,
            said.match,
            said.bot,
            said.part,
            data,
            wall_ms(),
            crashes=sum(line.kind == "crash" for line in said.lines),
            most_bytes=self._most,
        )

    def may_read(self, stored: StoredMatch, identity: Identity) -> bool:
        """Return whether this identity can read output of a match after it ends."""
        return bool(_readable(stored, identity))

    async def of(self, stored: StoredMatch, identity: Identity) -> list[BotOutput]:
        """Return the output of the reader's own bots in a match, by seat.

        Raises `ProtocolError` during the match, and for a reader who has no bot in it.
        """
        header, mine = stored.header, _readable(stored, identity)
        if not mine:
            raise ProtocolError(
                "match/not_yours",
                "What a bot printed is for its author alone, and no bot of yours played here.",
            )
        if header.finished_ms is None:
            raise ProtocolError(
                "match/not_over", f"What was printed in {header.id} can be read when it is over."
            )
        rows = await self._store.read(outputs.of_match, header.id, sorted(mine))
        return await asyncio.to_thread(lambda: [BotOutput(row, _read(row.data)) for row in rows])


def _readable(stored: StoredMatch, identity: Identity) -> set[int]:
    """Return the bots of a match whose output this identity may read."""
    everything = "admin" in identity.scopes
    return {
        seat.bot_id
        for seat in stored.header.seats
        if (everything or seat.player_id == identity.player_id)
        and not identity.guest
        and seat.bot.lower() != seat.player.lower()  # not a person
    }


def _read(data: bytes) -> Kept:
    return msgspec.json.decode(zlib.decompress(data), type=Kept)
