"""Options of a run of a bot, and its reaction to signals."""

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
from plyhouse.bots.process.author_log import AuthorLine
from plyhouse.bots.process.bot_process import IMPORT_TIMEOUT
from plyhouse.bots.process.launcher import BARE, Launcher
from plyhouse.bots.process.ply_cost import CostOfPly
from plyhouse.bots.process.supervisor import HANG_GRACE
from plyhouse.bots.running.challenges import ChallengeRequest
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
        """Describe the seek for people.

        >>> SeekRequest("pig", rated=True, mirrored=True).words(2)
        'pig, move:1, rated, mirrored: 2 matches'
        """
        kind = f"{'rated' if self.rated else 'casual'}{', mirrored' if self.mirrored else ''}"
        matches = counted(count, "match", "matches") if count else "as many matches as come"
        return f"{self.game}, {self.time_control}, {kind}: {matches}"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class RunOptions:
    """Options of a run; by default the bot accepts matches until it is stopped."""

    bot: str | None = None
    """Its name under the account; None for the bot's own."""
    version: str = ""
    """Label of this build; results are kept apart by it."""
    games: Sequence[str] | None = None
    """Games accepted from organisers and challengers; None for the games of the bot, or all."""
    seeks: Sequence[SeekRequest] = ()
    """The pools to enter."""
    challenge: ChallengeRequest | None = None
    """The opponents to challenge, again after each match."""
    matches: int | None = None
    """End after so many finished matches."""
    idle_exit: float | None = None
    """Seconds without any match after which to end."""
    workers: int = 1
    """Processes that play in parallel. A bot whose ``choose`` is not async plays one match in each,
    and gets at least enough of them for a mirrored seek.
    """
    forgetful: bool = False
    """True if every match is played by a fresh process, so that nothing is remembered."""
    max_matches: int | None = None
    """Most matches at once; None for what the workers can play."""
    takeover: bool = False
    """True if to replace another open connection of the same bot."""
    seed: int | None = None
    """Makes ``turn.rng`` and the nonces repeatable."""
    opening_plies: int = 0
    """Number of plies at the start of each match that are random. They are the same in all matches
    of a pairing if all its bots run with this number.
    """
    log_folder: Path | None = None
    """Folder for the bot's output."""
    pages: str = ""
    """Where the server shows matches to people, up to the id; empty if nowhere."""
    say: Callable[[str], None] = _to_stderr
    """Receives progress lines."""
    on_result: Callable[[SeatResult], None] | None = None
    """Receives every result."""
    codec: Codec = MSGPACK
    clock: Clock = REAL_CLOCK
    import_timeout: float = IMPORT_TIMEOUT
    """Seconds that importing the bot may take."""
    hang_grace: float = HANG_GRACE
    """Seconds after its time is up in which a bot may still answer, before it is ended."""
    launcher: Launcher = BARE
    """Starts the bot's processes: ours to begin with, or in a sandbox."""
    on_cost: Callable[[CostOfPly], None] | None = None
    """Receives the cost of every ply, for hosted bots."""
    on_line: Callable[[AuthorLine], None] | None = None
    """Receives output and failures of the bot, by match and ply."""
    on_up: Callable[[bool], None] | None = None
    """For a program: called with True after its login, with False when it ends unexpectedly."""
    digest: str | None = None
    """Digest of the bot's files, if known; None to compute it."""
    first_attempts: int = FIRST_ATTEMPTS
    """Attempts of the first connection before the run gives up."""


@contextlib.contextmanager
def on_signals(interrupt: Callable[[], None]) -> Iterator[None]:
    """Call ``interrupt`` on the running loop on SIGINT and SIGTERM."""
    loop = asyncio.get_running_loop()
    handled = (signal.SIGINT, signal.SIGTERM)
    for number in handled:
        loop.add_signal_handler(number, interrupt)
    try:
        yield
    finally:
        for number in handled:
            loop.remove_signal_handler(number)
