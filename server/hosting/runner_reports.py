"""Reports of runner machines about matches: output and crashes of bots, and flag falls.

A bot's author and administrators (scope ``admin``) can read its output after the match.  Opponents,
organisers and readers during the match cannot.  So bots cannot use it to exchange information.

A bot on a runner machine may lose on time because the machine was busy with another program.  So
such a match does not count at once.  Its machine reports how much of the bot's time went to others
(`FlagFell`).  If that was too much, the match becomes void and is played again.  Its record gives
the reason (``void_reason``), and so does the audit log.  This happens once for each version in a
competition; otherwise a bot that hangs would never lose.

The server accepts a report only under the token of a runner, and only for a bot hosted there.  The
bot itself cannot report.  Without a report within `HOLD_NS` the flag fall counts.  It also counts
if the server restarts before the report arrives.
"""

from __future__ import annotations

import asyncio
import logging
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

import msgspec

from plyhouse.games.errors import GameError
from plyhouse.protocol.errors import ProtocolError
from plyhouse.protocol.hosting.runner_messages import FlagFell, MatchOutput, OutputLine, PlyCost
from plyhouse.server.competitions.tournament_state import MAX_AGAIN, PairingId
from plyhouse.server.config import ServerConfig
from plyhouse.server.hosting.placement import LostTime
from plyhouse.server.match.presence import MatchSummary, Presence
from plyhouse.server.match.time_control import TimeControl
from plyhouse.server.results.voiding import void_match
from plyhouse.storage import competition_results, outputs
from plyhouse.storage.causes import Cause
from plyhouse.storage.errors import AlreadyExists, StorageError, Unknown
from plyhouse.storage.outputs import OutputRow
from plyhouse.storage.rows import By, Identity, StoredMatch, wall_ms
from plyhouse.storage.store import Store

log = logging.getLogger("plyhouse.server.hosting")


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

    async def keep(self, report: MatchOutput) -> None:
        """Store what a runner sends; sending it again changes nothing.  Raises `Unknown`."""
        kept = Kept(report.lines, report.costs, report.cut, report.cut_at)
        data = await asyncio.to_thread(lambda: zlib.compress(msgspec.json.encode(kept)))
        await self._store.write(
            outputs.keep,
            report.match,
            report.bot,
            report.part,
            data,
            wall_ms(),
            crashes=sum(line.kind == "crash" for line in report.lines),
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


HOLD_NS: Final = 8_000_000_000
"""How long the server waits for a report, in nanoseconds: the longest silence of a runner."""


@dataclass(frozen=True, slots=True)
class _Held:
    """A match that does not count yet."""

    match: MatchSummary
    seat: int
    """The seat whose flag fell."""
    bot: Presence
    """The bot on it."""
    until: int

    def is_meant(self, machine: str, report: FlagFell) -> bool:
        """Return whether a report comes from the bot's machine and is about its last ply."""
        of = machine, report.bot, report.ply
        return of == (self.bot.hosted, self.bot.bot_id, self.match.ply)


class FlagReports:
    """Finished matches that wait for a report from a machine.

    The server calls ``settled`` with the match, and whether it is void.
    """

    def __init__(
        self, store: Store, now: Callable[[], int], settled: Callable[[MatchSummary, bool], None]
    ) -> None:
        self._store = store
        self._now = now
        self._settled = settled
        self._held: dict[str, _Held] = {}

    def holds(self, match: MatchSummary) -> bool:
        """Return whether a finished match waits for a report; if not, it counts at once."""
        outcome = match.outcome
        if outcome is None or outcome.seat is None or outcome.termination != "flag_fall":
            return False
        bot = match.seats[outcome.seat]
        if not bot.hosted or not match.tournament:
            return False
        self._held[match.id] = _Held(match, outcome.seat, bot, self._now() + HOLD_NS)
        return True

    async def heard(self, machine: str, flags: Iterable[FlagFell]) -> None:
        """Settle the matches about which a machine reports flag falls."""
        for report in flags:
            held = self._held.get(report.match)
            if held is None or not held.is_meant(machine, report):
                log.warning(
                    "a word about a flag that nobody waits for",
                    extra={"runner": machine, "match": report.match, "ply": report.ply},
                )
                continue
            del self._held[report.match]
            time = LostTime(
                report.allowed, report.lost, report.match_wall, report.match_lost, report.slept
            )
            kept = TimeControl.parse(held.match.time_control).kind != "move"
            void = time.excuses(kept=kept) and await self._is_first(held)
            self._settled(held.match, void and await self._void(held, report))

    def look(self, now: int) -> None:
        """Let matches count for which no report arrived in time."""
        for held in [each for each in self._held.values() if each.until <= now]:
            del self._held[held.match.id]
            log.warning(
                "a flag counts of which its machine said nothing",
                extra={"runner": held.bot.hosted, "match": held.match.id},
            )
            self._settled(held.match, False)

    async def _is_first(self, held: _Held) -> bool:
        """Return whether this version has had no flag fall excused in this competition."""
        tournament = held.match.tournament or ""
        try:
            excused = await self._store.read(
                competition_results.excused, tournament, held.bot.version_id
            )
        except StorageError as error:
            log.error("excuses not read", extra={"match": held.match.id, "why": str(error)})
            return True
        if excused:
            log.warning(
                "a flag counts, because one of this version was excused already",
                extra={"runner": held.bot.hosted, "match": held.match.id},
            )
        return not excused

    async def _void(self, held: _Held, report: FlagFell) -> bool:
        """Make a match void; return False, so that it counts, if storing that fails."""
        cause = _cause(held, report)
        by = By(f"runner {held.bot.hosted}", cause.sentence())
        log.error(
            "a machine was too busy for a bot",
            extra={"runner": held.bot.hosted, "match": held.match.id, "why": by.why},
        )
        try:
            await void_match(self._store, held.match.id, by, cause)
        except AlreadyExists:  # an organiser was quicker
            return True
        except (StorageError, Unknown, GameError) as error:
            log.error("match not made void", extra={"match": held.match.id, "why": str(error)})
            return False
        return True


def _cause(held: _Held, report: FlagFell) -> Cause:
    """Return why a match is void, and the consequence, for readers of its record."""
    milliseconds = [
        round(each / 1_000_000)
        for each in (report.lost, report.allowed, report.match_lost, report.match_wall)
    ]
    numbers = (report.ply + 1, *milliseconds, MAX_AGAIN + 1)
    attempt = PairingId.parse(held.match.pairing, held.match.tournament or "").attempt
    code = "machine_busy" if attempt < MAX_AGAIN else "machine_busy_last"
    return Cause(code, (held.seat,), numbers, (held.bot.hosted,))
