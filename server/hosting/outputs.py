"""What hosted bots printed in their matches, and how they failed: taken from runners, for authors.

A bot's output is for its author and for administrators (scope ``admin``), from the end of the match
on: not for opponents, not for organisers, and not while the match is played.  So it leads from no
bot to another one.
"""

from __future__ import annotations

import asyncio
import zlib
from dataclasses import dataclass

import msgspec

from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.config import ServerConfig
from plyhouse.server.hosting.runner_messages import MatchOutput, OutputLine, PlyCost
from plyhouse.storage.outputs import OutputRow
from plyhouse.storage.rows import Identity, StoredMatch, wall_ms
from plyhouse.storage.store import Store

__all__ = ["BotOutput", "Kept", "Outputs"]


class Kept(msgspec.Struct, frozen=True):
    """What is kept of a part; the fields of a `MatchOutput`."""

    lines: list[OutputLine]
    costs: list[PlyCost]
    cut: int
    cut_at: int


@dataclass(frozen=True, slots=True)
class BotOutput:
    """What a bot printed in a match on one machine, and where that is kept."""

    row: OutputRow
    kept: Kept


class Outputs:
    """What is kept of what hosted bots printed."""

    def __init__(self, config: ServerConfig, store: Store) -> None:
        self._most = config.max_output_bytes_per_player
        self._store = store

    async def keep(self, said: MatchOutput) -> None:
        """Keep what a runner tells; told again it is the same.  Raises `Unknown`."""
        kept = Kept(said.lines, said.costs, said.cut, said.cut_at)
        data = await asyncio.to_thread(lambda: zlib.compress(msgspec.json.encode(kept)))
        await self._store.outputs.keep(
            *(said.match, said.bot, said.part, data, wall_ms()),
            crashes=sum(line.kind == "crash" for line in said.lines),
            most_bytes=self._most,
        )

    def may_read(self, stored: StoredMatch, identity: Identity) -> bool:
        """Whether there may be something of a match that this one reads: once it is over."""
        return bool(_readable(stored, identity))

    async def of(self, stored: StoredMatch, identity: Identity) -> list[BotOutput]:
        """What may be seen of a match: that of one's own bots, by seat.

        Raises `ProtocolError` while it is played, and for anyone who has no bot in it.
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
        rows = await self._store.outputs.of_match(header.id, sorted(mine))
        return await asyncio.to_thread(lambda: [BotOutput(row, _read(row.data)) for row in rows])


def _readable(stored: StoredMatch, identity: Identity) -> set[int]:
    """The bots of a match whose output somebody may read."""
    everything = "admin" in identity.scopes
    return {
        seat.bot_id
        for seat in stored.header.seats
        if (everything or seat.player_id == identity.player_id)
        and not identity.guest
        and seat.bot.lower() != seat.player.lower()  # somebody in person
    }


def _read(data: bytes) -> Kept:
    return msgspec.json.decode(zlib.decompress(data), type=Kept)
