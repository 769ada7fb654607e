"""One process of the local arena: a hub, the bots, and pairings played one after the other.

`plyhouse.clients.arena.series` starts it as a separate program.  It talks JSON lines: the
first line in is the `Series`; the answer ``{"ready": true}`` or ``{"error": ...}``.  Every further
line in is the index of a pairing, answered with its matches.  It exits at the end of the input, so
it never outlives its parent.  The output of bots goes to standard error.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import re
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec

from plyhouse.bots.loading import BotLoadError
from plyhouse.bots.running.python_session import RunOptions, run_bot
from plyhouse.bots.running.run_options import SeatResult
from plyhouse.clients.arena.memory_server import (
    PLAYER,
    connector_of,
    local_hub,
    online,
)
from plyhouse.clients.arena.series import ArenaFailure, PlayedPairing, Series
from plyhouse.clients.arena.tally import MatchResult
from plyhouse.clients.shared.errors import EXIT_FAILED, exit_code, sentence
from plyhouse.clients.shared.program_settings import collect_rarely, loop_factory
from plyhouse.games.registry import get_game
from plyhouse.protocol.messages import Outcome
from plyhouse.server.gateway.local_hub import LocalHub
from plyhouse.server.match.terms import Terms
from plyhouse.server.match.time_control import TimeControl

if TYPE_CHECKING:
    from plyhouse.bots.hosting.hosted_session import MakeSession

Work: TypeAlias = "asyncio.Task[None]"

NOTE: Final = re.compile(r"match \w+(?:, turn\.ply \d+)?: ([^:\n]*)")
"""A runner's note on one match; what comes before its first colon says of what kind it is."""


def pairing_seed(seed: int, index: int) -> bytes:
    """The chance seed of pairing ``index`` in the series with ``seed``."""
    return hashlib.sha256(f"plyhouse-match|{seed}|{index}".encode()).digest()


def seat_orders(sides: Sequence[int], mirrored: bool, index: int) -> list[tuple[int, ...]]:
    """Return the seat orders of a pairing's matches: every rotation, or one that alternates.

    ``sides`` has the bot of each seat in the first order.

    >>> seat_orders(range(3), mirrored=True, index=0)
    [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    >>> seat_orders((0, 1, 0, 1), mirrored=True, index=0)
    [(0, 1, 0, 1), (1, 0, 1, 0)]
    >>> [seat_orders(range(2), mirrored=False, index=index) for index in range(3)]
    [[(0, 1)], [(1, 0)], [(0, 1)]]
    """
    bots = max(sides) + 1
    rotations = [tuple((side + turn) % bots for side in sides) for turn in range(bots)]
    return rotations if mirrored else [rotations[index % bots]]


def copies(order: Sequence[int]) -> list[int]:
    """Return for each seat how many earlier seats its bot has.

    >>> copies((1, 0, 1, 0))
    [0, 0, 1, 1]
    """
    return [order[:seat].count(bot) for seat, bot in enumerate(order)]


class Arena:
    """Plays pairings of a series on its own hub."""

    def __init__(self, series: Series, hub: LocalHub) -> None:
        self.series = series
        self.hub = hub
        game = get_game(series.game, files=True)
        self.terms = Terms(
            game, TimeControl.parse(series.time_control), rated=False, mirrored=series.mirrored
        )
        self.sides = series.sides or tuple(range(game.seats))
        # A bot that plays several seats connects once for each, as partners must not share what
        # they know.
        self._names = [
            _another(name, copy, series.names)
            for copy in range(1 + max(copies(self.sides)))
            for name in series.names
        ]
        self._runs: list[asyncio.Task[Any]] = []
        self._results: dict[tuple[str, int], SeatResult] = {}
        self._news = asyncio.Event()
        self._noted: set[tuple[str, str]] = set()

    @asynccontextmanager
    async def bots(self) -> AsyncIterator[list[int]]:
        """Connect all bots; raises what keeps one of them from playing."""
        token = self.hub.add_player(PLAYER)
        boxed = self.series.boxed or ("",) * len(self.series.bots)
        async with (
            boxes(boxed, self.series.game) as makers,
            self._connected(token, makers) as holders,
        ):
            yield holders

    @asynccontextmanager
    async def _connected(
        self, token: str, makers: Sequence[tuple[str, MakeSession] | None]
    ) -> AsyncIterator[list[int]]:
        try:
            for index in range(len(self._names)):
                self._runs.append(asyncio.create_task(self._run(index, token, makers)))
            names = [f"{PLAYER}/{name}" for name in self._names]
            yield [await online(self.hub, name, self._check_runs) for name in names]
        finally:
            for run in self._runs:
                run.cancel()
            await asyncio.gather(*self._runs, return_exceptions=True)

    async def _run(
        self, index: int, token: str, makers: Sequence[tuple[str, MakeSession] | None]
    ) -> None:
        name, bot = self._names[index], index % len(self.series.bots)
        options = RunOptions(
            bot=name,
            games=[self.series.game],
            # A process for each match of a pairing: none has to wait for another one's turn.
            workers=len(self.series.bots) if self.series.mirrored else 1,
            seed=self.series.seed * len(self._names) + index,
            opening_plies=self.series.opening_plies,
            turn_seconds=self.series.turn_seconds[bot] if self.series.turn_seconds else None,
            say=lambda line: self._say(name, line),
            log_folder=Path(self.series.log_folder) if self.series.log_folder else None,
            on_result=self._finished,
            first_attempts=1,
        )
        connector = connector_of(self.hub)
        made = makers[bot]
        if made is not None:
            spec, make = made
            await make(spec, connector, token, options).run()
        else:
            await run_bot(self.series.bots[bot], "", token, options, connector=connector)

    def _check_runs(self) -> None:
        """Raise the error that ended a bot's run; without an error, none ends."""
        for run in self._runs:
            if run.done():
                run.result()
                raise RuntimeError("a bot has left the arena")

    def _finished(self, result: SeatResult) -> None:
        self._results[result.match, result.seat] = result
        self._news.set()

    def _say(self, name: str, line: str) -> None:
        """Pass on what a bot printed and how it failed; the runner's progress is of no interest.

        The runner's notes that repeat for each match are shown once: the result counts them.
        """
        if not line.startswith(f"[{name}] "):
            return
        noted = NOTE.match(line.removeprefix(f"[{name}] "))
        if noted is not None:
            if (name, noted[1]) in self._noted:
                return
            self._noted.add((name, noted[1]))
        print(line, file=sys.stderr, flush=True)

    async def play(self, index: int, holders: Sequence[int]) -> PlayedPairing:
        """Play one pairing; ``holders`` are the ids that `bots` returned."""
        seats = self.terms.game.seats
        orders = seat_orders(self.sides, self.series.mirrored, index)
        bots = len(self.series.bots)
        # The seed is known: the same series gives the same dice again.
        pairing = self.hub.live_matches.begin(
            self.terms,
            [
                [holders[bot + bots * copy] for bot, copy in zip(order, copies(order), strict=True)]
                for order in orders
            ],
            seed=pairing_seed(self.series.seed, index),
        )
        matches = list(pairing.open)
        wanted = [(match, seat) for match in matches for seat in range(seats)]
        while not all(key in self._results for key in wanted):
            self._news.clear()
            news = asyncio.create_task(self._news.wait())
            await asyncio.wait({news, *self._runs}, return_when=asyncio.FIRST_COMPLETED)
            news.cancel()
            self._check_runs()
        played = [
            self._result(
                index,
                order,
                [self._results.pop((match, s)) for s in range(seats)],
                match,
            )
            for match, order in zip(matches, orders, strict=True)
        ]
        records = [self._record(match) for match in matches] if self.series.records else []
        return PlayedPairing(played, records)

    def _result(
        self,
        index: int,
        order: tuple[int, ...],
        seen: Sequence[SeatResult],
        match: str,
    ) -> MatchResult:
        """Return a match's result for each bot; partners have the same returns."""
        outcome: Outcome = seen[0].outcome
        bots = tuple(dict.fromkeys(order))
        charged = dict.fromkeys(bots, 0)
        for bot, result in zip(order, seen, strict=True):
            charged[bot] += result.charged_ms * 1_000_000
        luck = self._luck(match)
        events = [
            (each.seat, each.text)
            for each in self.hub.kept.stored(match).events
            if each.kind in ("action", "chance")
        ]
        returns = outcome.returns and [outcome.returns[order.index(bot)] for bot in bots]
        return MatchResult(
            pairing=index,
            bots=bots,
            returns=tuple(returns),
            termination=outcome.termination,
            culprit=None if outcome.seat is None else bots.index(order[outcome.seat]),
            plies=seen[0].plies,
            charged_ns=tuple(charged.values()),
            reason=outcome.reason,
            luck=tuple([luck[order.index(bot)] for bot in bots]) if luck else (),
            course=hashlib.sha256(repr(events).encode()).hexdigest()[:16],
        )

    def _luck(self, match: str) -> tuple[float, ...]:
        """Return the luck of each seat if the game's positions can be called down."""
        game = self.terms.game
        if not hasattr(game.initial_state(), "call_down"):
            return ()
        from plyhouse.server.results.luck import called_down, match_luck

        events = [(each.kind, each.seat, each.text) for each in self.hub.kept.stored(match).events]
        return match_luck(game, events, called_down)

    def _record(self, match: str) -> str:
        from plyhouse.server.results.record import stored_record

        record = stored_record(self.hub.kept.stored(match), self.terms.game)
        return msgspec.json.encode(record).decode()


@asynccontextmanager
async def boxes(
    bots: Sequence[str], game: str
) -> AsyncIterator[list[tuple[str, MakeSession] | None]]:
    """Prepare bots for the sandbox of a server, see `boxed`; None for those without a name.

    Raises `SandboxError` if there is no sandbox here.
    """
    if not any(bots):
        yield [None] * len(bots)
        return
    # Few series need these.
    from plyhouse.bots.hosting.hosted_session import boxed
    from plyhouse.bots.sandbox.client import ForkServerClient
    from plyhouse.bots.sandbox.tiers import choose_tier

    fork_server = await ForkServerClient.start()
    try:
        tier = await choose_tier(fork_server)
        with tempfile.TemporaryDirectory(prefix="plyhouse-match-") as store:
            make = partial(boxed, fork_server=fork_server, tier=tier, games=[game])
            yield [await asyncio.to_thread(make, bot, Path(store)) if bot else None for bot in bots]
    finally:
        await fork_server.close()


def _another(name: str, copy: int, taken: Sequence[str]) -> str:
    """Return the name of a bot's connection number ``copy``, unlike the names of other bots."""
    found = f"{name}.{copy + 1}" if copy else name
    while copy and found in taken:
        found += "-"
    return found


def failure_of(error: BaseException) -> ArenaFailure:
    """An error as the parent passes it on."""
    code = exit_code(error)
    if code is None:
        return ArenaFailure(
            f"internal error: {type(error).__name__}: {sentence(error)}", EXIT_FAILED
        )
    details = error.details if isinstance(error, BotLoadError) else ""
    return ArenaFailure(sentence(error), code, details)


def _say(answer: PlayedPairing | ArenaFailure | bool) -> None:
    if isinstance(answer, bool):
        fields: Any = {"ready": answer}
    elif isinstance(answer, ArenaFailure):
        fields = {"error": answer}
    else:
        fields = {"played": answer}
    sys.stdout.write(msgspec.json.encode(fields).decode() + "\n")
    sys.stdout.flush()


def _read(loop: asyncio.AbstractEventLoop, lines: asyncio.Queue[str], work: Work) -> None:
    """Pass lines from the parent to the loop; at the end of the input, end the work."""
    with contextlib.suppress(RuntimeError):  # the loop may be closed by then
        for line in sys.stdin:
            loop.call_soon_threadsafe(lines.put_nowait, line)
        loop.call_soon_threadsafe(work.cancel)


async def _serve(lines: asyncio.Queue[str]) -> None:
    """Answer lines for ever."""
    series = msgspec.json.decode(await lines.get(), type=Series)
    try:
        async with local_hub(series.illegal_rule) as hub:
            arena = Arena(series, hub)
            async with arena.bots() as holders:
                _say(True)
                while True:
                    _say(await arena.play(int(await lines.get()), holders))
    except Exception as error:
        _say(failure_of(error))


async def serve() -> None:
    """Answer lines until the input ends, at once also in the middle of a match: a parent that
    was killed wants no result any more.
    """
    lines: asyncio.Queue[str] = asyncio.Queue()
    work = asyncio.create_task(_serve(lines))
    # A daemon, since nothing ends a read from a pipe but its other side.
    reader = Thread(target=_read, args=(asyncio.get_running_loop(), lines, work), daemon=True)
    reader.start()
    with contextlib.suppress(asyncio.CancelledError):
        await work


def main() -> None:
    """Be a process of the arena."""
    # Ctrl-C reaches the whole group; the parent decides, and ends our input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    collect_rarely()
    with (
        asyncio.Runner(loop_factory=loop_factory()) as runner,
        contextlib.suppress(BrokenPipeError),
    ):
        runner.run(serve())


if __name__ == "__main__":
    main()
