"""Options of a run of a bot, its reaction to signals, and its result as values and as text.

>>> lost = SeatResult("m1", "pig", 0, ("bert/rival",), Outcome("flag_fall", [-1.0, 1.0], 0), 1, 900)
>>> verdict(lost)
'lost −1 after 1 ply: flag fall by us'
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from plyhouse.bots.client.client import FIRST_ATTEMPTS, Client, ClientError, ConnectionLost
from plyhouse.bots.client.timing import REAL_CLOCK, Clock
from plyhouse.bots.process.author_log import AuthorLine
from plyhouse.bots.process.bot_process import IMPORT_TIMEOUT
from plyhouse.bots.process.launcher import BARE, Launcher
from plyhouse.bots.process.ply_cost import CostOfPly
from plyhouse.bots.process.supervisor import HANG_GRACE
from plyhouse.games.base import Game
from plyhouse.games.errors import GameError, listed
from plyhouse.games.registry import add_game_file, get_game
from plyhouse.protocol.codec import MSGPACK, Codec
from plyhouse.protocol.messages import VOID, Answer, Challenge, ChallengeClosed, Ok, Outcome
from plyhouse.protocol.parts import HelpDemand, ending_words
from plyhouse.protocol.text import minus

__all__ = [
    "AcceptedGames",
    "ChallengeFailed",
    "ChallengeRequest",
    "Challenger",
    "RunOptions",
    "RunSummary",
    "SeatResult",
    "SeekRequest",
    "counted",
    "on_signals",
    "verdict",
]

TIME_CONTROL: Final = "move:1"
"""The time control of a seek or challenge that names none."""


@dataclass(frozen=True, slots=True)
class SeatResult:
    """The result of one match, from our seat."""

    match: str
    game: str
    seat: int
    opponents: tuple[str, ...]
    outcome: Outcome
    plies: int
    charged_ms: int
    """Total time charged to us, as far as ledgers arrived."""
    advice: str = ""
    """How the author avoids such an end; empty if the runner does not know."""

    @property
    def points(self) -> float:
        """Our utility."""
        returns = self.outcome.returns
        return returns[self.seat] if self.seat < len(returns) else 0.0


@dataclass(slots=True)
class RunSummary:
    """The results of a run."""

    bot: str
    results: list[SeatResult] = field(default_factory=list)
    interrupted: bool = False
    left_running: int = 0
    """Matches that were still running at the end."""

    @property
    def won(self) -> int:
        """Matches with a positive return."""
        return sum(result.points > 0 for result in self.results)

    @property
    def lost(self) -> int:
        """Matches with a negative return."""
        return sum(result.points < 0 for result in self.results)


def verdict(result: SeatResult) -> str:
    """Return the result of a match as one line for people."""
    outcome = result.outcome
    points = minus(f"{result.points:+g}")
    if outcome.termination in VOID:
        word = "void"
    elif result.points > 0:
        word = "won"
    else:
        word = "lost" if result.points < 0 else "drawn"
    why = ending_words(outcome.termination)
    if outcome.seat is not None and outcome.termination not in ("normal", "draw_agreed"):
        why += " by us" if outcome.seat == result.seat else " by the opponent"
    reason = f" ({outcome.reason.rstrip('.')})" if outcome.reason else ""
    return f"{word} {points} after {counted(result.plies, 'ply', 'plies')}: {why}{reason}"


def counted(number: int, one: str, many: str) -> str:
    """``1 match``, ``2 matches``."""
    return f"{number} {one if number == 1 else many}"


class ChallengeFailed(ClientError):  # noqa: N818 - the opponent's decision
    """An opponent declined, or did not answer in time."""


@dataclass(frozen=True, slots=True)
class ChallengeRequest:
    """The opponents of a challenge, each ``player/bot``, and its terms."""

    opponents: Sequence[str]
    game: str
    time_control: str = TIME_CONTROL
    rated: bool = False
    mirrored: bool = False
    help: HelpDemand = ""


class Challenger:
    """Sends the challenge of one run, one at a time."""

    def __init__(
        self, request: ChallengeRequest, say: Callable[[str], None], fail: Callable[..., None]
    ) -> None:
        """``fail`` receives the error that ends the run."""
        self._request = request
        self._say = say
        self._fail = fail
        self._open = ""
        self._closed: dict[str, ChallengeClosed] = {}
        """Challenges that were closed since the last one was sent, by others as well."""

    async def challenge(self, client: Client) -> None:
        """Send the challenge; do nothing while the last one is open."""
        if self._open:
            return
        asked = self._request
        first, *others = asked.opponents
        self._closed.clear()
        try:
            answer = await client.request(
                lambda number: Challenge(
                    number,
                    first,
                    asked.game,
                    asked.time_control,
                    asked.rated,
                    mirrored=asked.mirrored,
                    others=others,
                    help=asked.help,
                )
            )
        except ConnectionLost:
            return  # sent again after the reconnect
        except ClientError as error:
            self._fail(error)
            return
        if isinstance(answer, Ok):
            kind = "rated" if asked.rated else "casual"
            self._say(
                f"challenging {listed(asked.opponents)}: {asked.game}, {asked.time_control}, {kind}"
            )
            self.opened(answer.challenge)

    def opened(self, challenge: str) -> None:
        """Note the id of the open challenge."""
        self._open = challenge
        if challenge in self._closed:  # a quick opponent's answer came with the id
            self.closed(self._closed[challenge])

    def closed(self, message: ChallengeClosed) -> None:
        """Note that a challenge is no longer open."""
        if message.challenge != self._open:
            self._closed[message.challenge] = message
            return
        self._open = ""
        who = listed(self._request.opponents)
        if message.reason == "declined":
            self._fail(ChallengeFailed(f"{who} declined: {message.detail or 'no reason given'}."))
        elif message.reason == "expired":
            self._fail(ChallengeFailed(f"{who} did not answer in time."))

    def lost(self) -> None:
        """Forget the open challenge: the server did so when the connection was lost."""
        self._open = ""

    def begun(self) -> None:
        """Note that a match began: a hosted opponent accepts without a word."""
        self._open = ""

    async def withdraw(self, client: Client) -> None:
        """Withdraw the open challenge."""
        challenge, self._open = self._open, ""
        if challenge:
            with contextlib.suppress(ClientError):  # it may be over
                await client.request(lambda number: Answer(number, challenge, accept=False))


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201 - the default output of a program


@dataclasses.dataclass(frozen=True, slots=True)
class SeekRequest:
    """A pool to enter; ``count`` 0 means as many matches as come."""

    game: str
    time_control: str = TIME_CONTROL
    rated: bool = False
    count: int = 1
    mirrored: bool = False
    help: HelpDemand = ""

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
    rated: str | None = None
    """Time control of the rated challenges that it accepts; None to accept none of them."""
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
    turn_seconds: float | None = None
    """Most seconds of a turn, where the clock leaves more."""
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


class AcceptedGames:
    """The accepted games: as the user specified them, and as the server knows them.

    A server knows games of files by their names only.  It may name any game, but only what the
    user named may be a file that is run.  Raises `GameError` for a game that is not known.

    Without ``files``, a spec may not name a file.  The games of a sandboxed bot are a stranger's
    claim, and a game's file would run here, outside of the sandbox.
    """

    def __init__(self, specs: Iterable[str], *, files: bool = True) -> None:
        self._files: dict[str, str] = {}
        self.specs = tuple(specs)
        for spec in self.specs:
            get_game(spec, files=files)
        self.offered = tuple([self.named(spec) for spec in self.specs])

    def named(self, spec: str) -> str:
        """Return the spec by the game's own name where it names a file that the user chose."""
        game = get_game(spec, files=True)
        if not game.source:
            return spec
        name = add_game_file(game.source)
        self._files[name] = game.source
        return name + game.spec.removeprefix(game.source)

    def game(self, spec: str) -> tuple[Game | None, bool]:
        """Return the game of a server's spec, if it is known, and whether it may be a file."""
        files = spec in self.specs
        try:
            return get_game(spec, files=files), files
        except GameError:
            return None, False

    def file(self, name: str) -> str:
        """Return the file of a game of the user's own; empty for others."""
        return self._files.get(name, "")

    def accepts(self, spec: str) -> bool:
        """Return whether the bot plays this when others ask for it."""
        return spec in self.offered or spec.partition("(")[0] in self.offered
