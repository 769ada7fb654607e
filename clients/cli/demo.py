"""``plyhouse demo``: the whole house in one command.

Starts the real server in its own process on a SQLite file, registers players, and starts real bots
as processes that connect over websockets. An organiser creates a round robin for each game through
the HTTP API, and the leaderboards are printed.  No process is left, also after an error.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from plyhouse.clients.shared.child_processes import Processes, terminating_signals
from plyhouse.clients.shared.errors import EXIT_FAILED, EXIT_OK, CommandError
from plyhouse.clients.shared.http import ask
from plyhouse.clients.shared.options import DEFAULT_SERVER, number_option
from plyhouse.clients.shared.output import has_controls, note
from plyhouse.clients.shared.standings import print_standings
from plyhouse.protocol.api import calls, competition_calls

HERE: Final = Path(__file__).resolve().parent
ORGANISER: Final = "organiser"
START_TIMEOUT: Final = 120.0
"""Seconds for the bots to be ready, on a machine with much else to do."""
PLAY_TIMEOUT: Final = 300.0
"""Seconds after which the competitions count as stuck."""
RATINGS_TIMEOUT: Final = 10.0
POLL: Final = 0.2


@dataclass(frozen=True)
class DemoBot:
    """A bot of the demo: its player, its name there, how to load it, and what it plays."""

    player: str
    name: str
    spec: str
    games: tuple[str, ...]


@dataclass(frozen=True)
class DemoCompetition:
    """A competition of the demo."""

    game: str
    time_control: str
    rounds: int


# The searches have depths: those that think as long as they may would keep everybody waiting.
_OWN = f"{HERE.parent / 'builtin_bots' / 'demo.py'}:"
BOTS: Final = (
    DemoBot("rosa", "random", "random", ()),
    DemoBot("max", "minimax", "minimax(depth=5)", ("tic_tac_toe", "connect_four")),
    DemoBot("ada", "alpha_beta", "alpha_beta(depth=9)", ("tic_tac_toe", "connect_four")),
    DemoBot("eva", "expectiminimax", "expectiminimax(depth=6)", ("tic_tac_toe", "pig")),
    DemoBot("hal", "hold_at_20", f"{_OWN}HoldAtTwenty", ("pig",)),
    DemoBot("carl", "coin_guess_optimal", "coin_guess_optimal", ("coin_guess",)),
    DemoBot("nick", "always_nickel", f"{_OWN}AlwaysNickel", ("coin_guess",)),
    DemoBot("kira", "kuhn_optimal", "kuhn_optimal", ("kuhn_poker",)),
    DemoBot("mo", "maniac", f"{_OWN}Maniac", ("kuhn_poker",)),
)
COMPETITIONS: Final = (
    DemoCompetition("connect_four", "bank:0.03+2", 2),
    DemoCompetition("pig", "bank:0.03+2", 3),
    DemoCompetition("tic_tac_toe", "bank:0.03+2", 3),
    DemoCompetition("coin_guess", "move:1", 15),
    DemoCompetition("kuhn_poker", "move:1", 15),
)


@click.command()
@click.option("--keep", is_flag=True, help="Leave server and bots running until Ctrl-C.")
@number_option("--port", 0, "0 picks a free one.", 0, 65535)
@click.option(
    "--database",
    metavar="URL",
    default="sqlite:///plyhouse-demo.db",
    show_default=True,
    help="Where the results go; they are added to those of earlier demos.",
)
def demo(keep: bool, port: int, database: str) -> int:
    """Play five games between bots on a local server.

    Starts a server and real bots, and shows the leaderboards.

    Takes less than a minute, needs no network, and leaves nothing behind but the database.
    """
    from plyhouse.search.build_report import build_info, how_to_compile

    start = time.monotonic()
    with terminating_signals(), contextlib.ExitStack() as stack:
        house = _House(database, Path(stack.enter_context(tempfile.TemporaryDirectory())))
        stack.callback(house.processes.close)
        tokens = asyncio.run(house.register_players())
        server = house.start_server(port)
        click.echo(f"Server   {server}, database {_place(database)}")
        house.start_bots(server, tokens)
        click.echo(f"Bots     {len(BOTS)} processes: {', '.join(bot.name for bot in BOTS)}")
        competitions = _organise(server, tokens[ORGANISER])
        matches = _wait_until_played(server, tokens[ORGANISER], competitions, house)
        played = time.monotonic() - start
        _wait_for_ratings(server)
        for competition in COMPETITIONS:
            click.echo()
            answer = ask(server, calls.leaderboard(competition.game))
            print_standings(competition.game, answer.standings)
        click.echo()
        sound = _verify_one(server, competitions)
        click.echo(f"{matches} matches in {played:.0f} s, database {_place(database)}")
        if not sound:
            return EXIT_FAILED
        click.echo()
        if advice := how_to_compile(build_info()):
            click.echo(f"{advice}\n")
        if keep:
            _stay(server, database, house)
        else:
            click.echo(
                f"To see the matches, start a server and open {DEFAULT_SERVER}/ in a browser:\n"
                f"  {_program()} serve --database {database}\n"
                f"Then try:\n{_next_steps()}"
            )
        return EXIT_OK


class _House:
    """The processes of the demo, and what they print."""

    def __init__(self, database: str, logs: Path) -> None:
        self.database = database
        self.processes = Processes(logs)

    async def register_players(self) -> dict[str, str]:
        """Make (or find) the players; returns a fresh token for each, by name."""
        from plyhouse.storage import people
        from plyhouse.storage.errors import Unknown
        from plyhouse.storage.store import Store

        tokens: dict[str, str] = {}
        async with await Store.open(self.database) as store:
            for name in [*(bot.player for bot in BOTS), ORGANISER]:
                try:
                    row = await store.read(people.player, name)
                except Unknown:
                    row = await store.add_player(name)
                scopes = ["play", "organise"] if name == ORGANISER else ["play"]
                tokens[name] = await store.add_token(row, scopes, "demo")
        return tokens

    def start_server(self, port: int) -> str:
        """Start the server; returns its address."""
        return self.processes.start_server(["--port", str(port), "--database", self.database])

    def start_bots(self, server: str, tokens: Mapping[str, str]) -> None:
        """Start every bot and wait until all are connected."""
        for bot in BOTS:
            games = bot.games or tuple(competition.game for competition in COMPETITIONS)
            arguments = [
                "bot",
                "run",
                bot.spec,
                "--server",
                server,
                "--name",
                bot.name,
            ]
            for game in games:
                arguments += ["--game", game]
            self.processes.start(bot.name, arguments, {"PLYHOUSE_TOKEN": tokens[bot.player]})
        deadline = time.monotonic() + START_TIMEOUT
        while ask(server, calls.health()).bots < len(BOTS):
            self.check()
            if time.monotonic() > deadline:
                raise CommandError("Not all bots have connected in time.", EXIT_FAILED)
            time.sleep(POLL)

    def check(self) -> None:
        """Raise if a process has ended."""
        for name, process in self.processes.running.items():
            code = process.poll()
            if code is not None:
                tail = "\n".join(self.processes.log(name).strip().splitlines()[-5:])
                raise CommandError(f"{name} ended with code {code}:\n{tail}", EXIT_FAILED)


def _organise(server: str, token: str) -> dict[str, str]:
    """Create the competitions through the API; return their names by game."""
    made = {}
    title = free_title(each.name for each in ask(server, competition_calls.competitions()))
    from plyhouse.server.competition_rules.file_template import round_robin_text

    for competition in COMPETITIONS:
        entries = [
            f"{bot.player}/{bot.name}"
            for bot in BOTS
            if not bot.games or competition.game in bot.games
        ]
        name = f"{title}: {competition.game}"
        text = round_robin_text(
            name,
            competition.game,
            competition.time_control,
            rounds=competition.rounds,
            mirrored=True,
            rated=True,
        )
        ask(server, competition_calls.open_competition(text, entries=entries), token)
        made[competition.game] = name
    return made


def free_title(names: Iterable[str]) -> str:
    """Return a title that none of the competitions with these names has.

    Names are unique, and a demo may find the database of an earlier one.

    >>> free_title([]), free_title(["Demo: pig"]), free_title(["Demo: pig", "Demo 2: pig"])
    ('Demo', 'Demo 2', 'Demo 3')
    """
    taken = {name.partition(":")[0] for name in names}
    number = 1
    title = "Demo"
    while title in taken:
        number += 1
        title = f"Demo {number}"
    return title


def _wait_until_played(
    server: str, token: str, competitions: Mapping[str, str], house: _House
) -> int:
    """Show how the competitions get on; returns the number of matches."""
    deadline = time.monotonic() + PLAY_TIMEOUT
    with _bars() as show:
        while True:
            views = {
                game: ask(server, competition_calls.competition(name), token)
                for game, name in competitions.items()
            }
            for game, view in views.items():
                show(game, view.progress[0].finished, view.progress[0].planned)
            if all(view.status == "finished" for view in views.values()):
                return sum(view.progress[0].finished for view in views.values())
            house.check()
            if time.monotonic() > deadline:
                raise CommandError("The competitions did not end in time.", EXIT_FAILED)
            time.sleep(POLL)


@contextlib.contextmanager
def _bars() -> Iterator[Any]:
    """Progress per game: bars while a person watches, a line at the end otherwise."""
    if not has_controls(sys.stdout):
        said: set[str] = set()

        def tell(game: str, done: int, planned: int) -> None:
            if done >= planned and game not in said:
                said.add(game)
                click.echo(f"Played   {game}: {planned} matches")

        yield tell
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeElapsedColumn as Elapsed

    columns = (TextColumn("{task.description:14}"), BarColumn(), MofNCompleteColumn(), Elapsed())
    with Progress(*columns) as progress:
        tasks: dict[str, Any] = {}

        def draw(game: str, done: int, planned: int) -> None:
            if game not in tasks:
                tasks[game] = progress.add_task(game, total=planned)
            progress.update(tasks[game], completed=done)

        yield draw


def _wait_for_ratings(server: str) -> None:
    """Ratings are fitted a moment after the last match."""
    deadline = time.monotonic() + RATINGS_TIMEOUT
    seen = None
    while time.monotonic() < deadline:
        boards = [ask(server, calls.leaderboard(competition.game)) for competition in COMPETITIONS]
        lines = [line for board in boards for line in board.standings]
        # Fitted, and no fit that came after it has changed anything.
        if boards == seen and all(line.rating is not None for line in lines):
            return
        seen = boards
        time.sleep(1.2)


def _verify_one(server: str, competitions: Mapping[str, str]) -> bool:
    """Fetch a record of a game with dice, and recompute it here."""
    from plyhouse.server.results.record import read_record
    from plyhouse.server.results.verify import verify

    newest = calls.page_of_matches(competition=competitions["pig"], status="finished", limit=1)
    match = ask(server, newest)[0].match
    record = read_record(ask(server, calls.record(match)).text)
    report = verify(record)
    rolls = report.check("chance").count
    if report.ok:
        click.echo(f"Record of match {match} (pig) verified: all {rolls} rolls recomputed.")
    else:
        click.echo(f"Record of match {match} (pig) does not hold:\n{report}")
    return report.ok


def _stay(server: str, database: str, house: _House) -> None:
    """Leave everything running until Ctrl-C."""
    click.echo(
        f"Open {server}/ in a browser: leaderboards and matches. Play at {server}/play.\n"
        "The server runs until you press Ctrl-C. Try in another terminal:\n"
        f"{_next_steps()}\n"
        "Connect your bot:\n"
        f"  {_program()} admin player add NAME --database {database}\n"
        f"  {_program()} bot run mybot.py --server {server} --token TOKEN --game tic_tac_toe --seek"
    )
    sys.stdout.flush()
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            house.check()
            time.sleep(1)
    note("\nStopping.")


def _next_steps() -> str:
    """Return commands that show more, one in each line."""
    return (
        f"  {_program()} play connect_four --against medium\n"
        f"  {_program()} bot new mybot.py --game tic_tac_toe\n"
        f"  {_program()} match mybot.py random --game tic_tac_toe"
    )


def _program() -> str:
    """Return how to call the command in the shell: its path if it is not on the path."""
    called = Path(sys.argv[0])
    if called.name != "plyhouse" or shutil.which("plyhouse") is not None:
        return "plyhouse"
    return os.path.relpath(called)


def _place(database: str) -> str:
    """Where a database lies, as a whole path if it is a file."""
    if database.startswith("sqlite:///"):
        return str(Path(database.removeprefix("sqlite:///")).resolve())
    return database
