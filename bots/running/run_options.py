"""What can be asked of a run of a bot: options before it starts, signals while it goes on."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from plyhouse.bots.client.client import FIRST_ATTEMPTS
from plyhouse.bots.client.timing import REAL_CLOCK, Clock
from plyhouse.bots.process.author import Line
from plyhouse.bots.process.launching import BARE, Launcher
from plyhouse.bots.process.ledger import CostOfPly
from plyhouse.bots.process.spawn import IMPORT_TIMEOUT
from plyhouse.bots.process.supervisor import HANG_GRACE
from plyhouse.bots.running.summary import SeatResult, counted
from plyhouse.protocol.codec import MSGPACK, Codec

__all__ = ["RunOptions", "SeekRequest", "on_signals"]


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201 - the default output of a program


@dataclasses.dataclass(frozen=True, slots=True)
class SeekRequest:
    """A pool to enter; ``count`` 0 means as many matches as come."""

    game: str
    time_control: str = "move:1"
    rated: bool = False
    count: int = 1
    mirrored: bool = False

    def words(self, count: int) -> str:
        """What is sought, for people.

        >>> SeekRequest("pig", rated=True, mirrored=True).words(2)
        'pig, move:1, rated, mirrored: 2 matches'
        """
        kind = f"{'rated' if self.rated else 'casual'}{', mirrored' if self.mirrored else ''}"
        matches = counted(count, "match", "matches") if count else "as many matches as come"
        return f"{self.game}, {self.time_control}, {kind}: {matches}"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class RunOptions:
    """How a bot is run; the defaults play whatever others ask it for, until it is stopped."""

    bot: str | None = None
    """Its name under the account; None for the bot's own."""
    version: str = ""
    """Label of this build; results are kept apart by it."""
    games: Sequence[str] | None = None
    """What it accepts from organisers and challengers; None for the bot's own, else all."""
    seeks: Sequence[SeekRequest] = ()
    """The pools to enter."""
    matches: int | None = None
    """End after so many finished matches."""
    idle_exit: float | None = None
    """End when so many seconds have passed without any match."""
    workers: int = 1
    """Processes that play in parallel; a bot whose ``choose`` is not async plays one match in
    each, and has at least as many as a mirrored seek needs."""
    forgetful: bool = False
    """Whether every match is played by a process of its own, so that nothing is remembered."""
    max_matches: int | None = None
    """Most matches at once; None for what the workers can play."""
    takeover: bool = False
    """Whether to replace another open connection of the same bot."""
    seed: int | None = None
    """Makes ``turn.rng`` and the nonces repeatable."""
    opening_plies: int = 0
    """So many plies of each match are played at random instead of by the bot, alike in all
    matches of a pairing, if all bots of the pairing are run so."""
    log_folder: Path | None = None
    """Where the bot's output is kept."""
    pages: str = ""
    """Where the server shows matches to people, up to the id; empty if nowhere."""
    say: Callable[[str], None] = _to_stderr
    """Gets progress lines."""
    on_result: Callable[[SeatResult], None] | None = None
    """Gets every result as it comes."""
    codec: Codec = MSGPACK
    clock: Clock = REAL_CLOCK
    import_timeout: float = IMPORT_TIMEOUT
    """Seconds that importing the bot may take."""
    hang_grace: float = HANG_GRACE
    """Seconds after its time is up in which a bot may still answer, before it is ended."""
    launcher: Launcher = BARE
    """Starts the bot's processes: ours to begin with, or in a sandbox."""
    on_cost: Callable[[CostOfPly], None] | None = None
    """Gets what every ply cost of the processor; matters where bots of others run."""
    on_line: Callable[[Line], None] | None = None
    """Gets what the bot prints and how it fails, by match and ply."""
    on_up: Callable[[bool], None] | None = None
    """Told of a program: False when it has ended by itself, True when the server let it in."""
    digest: str | None = None
    """What the bot's files hold, if that is known; None to work it out."""
    first_attempts: int = FIRST_ATTEMPTS
    """How often to try to connect at first, before the server counts as not there."""


@contextlib.contextmanager
def on_signals(interrupt: Callable[[], None]) -> Iterator[None]:
    """Call ``interrupt`` on the running loop whenever the program is told to stop."""
    loop = asyncio.get_running_loop()
    handled = (signal.SIGINT, signal.SIGTERM)
    for number in handled:
        loop.add_signal_handler(number, interrupt)
    try:
        yield
    finally:
        for number in handled:
            loop.remove_signal_handler(number)
