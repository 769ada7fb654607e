"""``plyhouse bot``: write a bot, connect it to a server, choose the version that plays."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

import click

from plyhouse.clients.shared.errors import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_REFUSED,
    EXIT_USAGE,
    CommandError,
    unknown_token,
)
from plyhouse.clients.shared.lazy import LazyGroup
from plyhouse.clients.shared.options import (
    Server,
    competition_option,
    game_option,
    json_option,
    number_option,
    on_server,
    time_control_option,
)
from plyhouse.clients.shared.output import (
    counted,
    late_words,
    minute,
    note,
    print_json,
    print_table,
)
from plyhouse.protocol.api import administration_calls, competition_calls
from plyhouse.protocol.api.submissions import VersionEntry
from plyhouse.protocol.parts import HELP_LEVELS, HelpDemand, HelpLevel

ENGINE_BOTS: Final = ("gnubg", "gtp", "uci", "xboard")
"""The bots that play by an engine, each by the name of its protocol."""


def engine_spec(bot: str, engine: str | None, options: Sequence[str]) -> str:
    """Return the spec of a bot with its engine; raise `CommandError` if it has none.

    >>> engine_spec("uci", "stockfish", ["Skill Level=3", "Hash=16"])
    'uci(engine="stockfish", options="Skill Level=3; Hash=16")'
    """
    if bot not in ENGINE_BOTS:
        raise CommandError(
            f"--engine and --option are for the bots {', '.join(ENGINE_BOTS)}, not for {bot}. "
            'Write options of a bot behind its name: "alpha_beta(depth=6)".',
            EXIT_USAGE,
        )
    given = []
    if engine is not None:
        path = Path(engine).expanduser()
        given.append(f"engine={json.dumps(str(path.resolve()) if path.is_file() else engine)}")
    if options:
        given.append(f"options={json.dumps('; '.join(options))}")
    return f"{bot}({', '.join(given)})" if given else bot


def engine_name(engine: str | None) -> str | None:
    """Return the name of a bot that plays by this engine; None for that of its protocol.

    >>> engine_name("/opt/katago/katago gtp -model best.bin")
    'katago'
    """
    try:
        words = shlex.split(engine or "")
    except ValueError:
        return None  # the bot reports it
    return re.sub(r"[^A-Za-z0-9_-]", "_", Path(words[0]).stem) if words else None


def check_engine_games(spec: str, games: Sequence[str]) -> None:
    """Start the engine once; raise `CommandError` for a game that it does not play.

    Raises `plyhouse.bots.loading.BotLoadError` if the engine cannot be used.
    """
    if not games:
        return
    from plyhouse.clients.shared.games import claimed_games

    claimed = claimed_games(spec)
    for game in games:
        if game.partition("(")[0] not in claimed:
            raise CommandError(
                f"This engine plays {' and '.join(claimed)}, not {game}. Name one of its games "
                "with --game, or an engine that plays the game with --engine.",
                EXIT_USAGE,
            )


_HERE: Final = "plyhouse.clients.cli"

COMMANDS: Final = {
    "new": (f"{_HERE}.new_bot:new_bot", "Write a starter bot into a new file"),
    "check": (f"{_HERE}.check:check", "Check a bot before it may play rated matches"),
    "run": (f"{_HERE}.bot:run", "Connect a bot to a server and let it play"),
    "enter": (f"{_HERE}.bot:enter", "Enter a version of your bot in a competition"),
    "status": (f"{_HERE}.bot:status", "Show suspended versions and the reasons"),
    "versions": (f"{_HERE}.bot:versions", "List the versions of your bots"),
    "as-uci": (f"{_HERE}.bot_serving:as_uci", "Let a bot speak UCI, for chess programs"),
    "as-gtp": (f"{_HERE}.bot_serving:as_gtp", "Let a bot speak GTP, for go programs"),
    "ask": (f"{_HERE}.bot_ask:ask", "Ask a bot for its action at one ply of a match"),
}
"""The subcommands: where each lives and its short help."""


@click.group(cls=LazyGroup, lazy={"Commands": COMMANDS})
def bot() -> None:
    """Write a bot, check it and connect it to a server."""


@click.command()
@click.argument("spec", metavar="BOT")
@on_server
@game_option(multiple=True, required=False)
@click.option("--name", help="Name of the bot under its player.  [default: the bot's own]")
@click.option(
    "--engine",
    metavar="PROGRAM",
    help="Program of the engine, for the bots uci, xboard, gtp and gnubg.",
)
@click.option(
    "--option",
    "engine_options",
    metavar="NAME=VALUE",
    multiple=True,
    help="Option of the engine. May be given several times.",
)
@click.option(
    "--seek/--no-seek",
    default=False,
    show_default=True,
    help="Look for opponents, or only accept competitions and challenges.",
)
@click.option(
    "--challenge",
    "opponents",
    metavar="PLAYER/BOT",
    multiple=True,
    help="Challenge this bot. May be given several times in a game of more seats.",
)
@time_control_option()
@click.option(
    "--rated/--casual",
    default=False,
    show_default=True,
    help="Play for the leaderboard; accept rated challenges with --time-control.",
)
@click.option(
    "--demand-help",
    type=click.Choice(HELP_LEVELS),
    help="With --seek or --challenge: play only language models with this level of help.",
)
@click.option(
    "--matches",
    type=click.IntRange(1),
    help="Leave after so many matches.  [default: 1 with --challenge, else stay until Ctrl-C]",
)
@number_option(
    "--workers", 2, "Processes that play in parallel; mirrored pairings need one per seat.", 1, 1024
)
@click.option("--version-label", default="", help="Label of this build; results are kept apart.")
@click.option(
    "--log-folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Keep what the bot prints and how it fails in a file here.",
)
@click.option("--takeover", is_flag=True, help="Replace another connection of the same bot.")
@click.option("--seed", type=int, help="Makes `turn.rng` repeatable.")
def run(
    spec: str,
    server: Server,
    games: tuple[str, ...],
    name: str | None,
    engine: str | None,
    engine_options: tuple[str, ...],
    seek: bool,
    opponents: tuple[str, ...],
    time_control: str,
    rated: bool,
    demand_help: HelpLevel | None,
    matches: int | None,
    workers: int,
    version_label: str,
    log_folder: Path | None,
    takeover: bool,
    seed: int | None,
) -> int:
    """Connect a bot to a server and let it play.

    BOT is a file (mybot.py, mybot.py:MyBot) or the name of an installed bot (random). It stays
    connected, reconnects when the connection breaks, and plays the matches that organisers and
    challengers start.  With --seek it looks for opponents itself, in the games of --game or else in
    all that it claims.  With --challenge it asks one named bot for a match, and again until it has
    played --matches. Built-in bots such as house/easy accept casual matches. With --rated it also
    accepts rated challenges, with its own --time-control.

    The bot runs in a separate process. Its output and errors appear here.

    The bots uci, xboard, gtp and gnubg play by an engine that is installed on this machine:
    plyhouse bot run uci --engine stockfish --option "Skill Level=3".

    It says what it seeks, why nobody is found while nobody is, where each match can be watched,
    and how it ended.

    The first Ctrl-C lets running matches finish, the second leaves at once.
    """
    from plyhouse.bots.client.client import Refused
    from plyhouse.bots.running.python_session import RunOptions, SeekRequest, run_bot
    from plyhouse.bots.running.run_options import ChallengeFailed, ChallengeRequest
    from plyhouse.protocol.address import Address
    from plyhouse.server.match.time_control import TimeControl

    address = Address.read(server.address)
    token = server.need_token(
        "`plyhouse join CODE` makes one, and so does an operator with `plyhouse admin player add "
        "NAME`.",
    )
    if engine is not None or engine_options or spec in ENGINE_BOTS:
        spec = engine_spec(spec, engine, engine_options)
        name = name or engine_name(engine)
        check_engine_games(spec, games)
    if seek and opponents:
        raise CommandError("--seek and --challenge exclude each other.", EXIT_USAGE)
    if (seek or opponents) and not games:
        from plyhouse.bots.loading import check_spec
        from plyhouse.clients.shared.games import claimed_games

        games = claimed_games(check_spec(spec))
        if not games:
            raise CommandError(f"{spec} plays any game: name one to play with --game.", EXIT_USAGE)
    control = str(TimeControl.parse(time_control))
    demand: HelpDemand = demand_help or ""
    challenge = None
    if opponents:
        if len(games) > 1:
            raise CommandError(
                f"A challenge is about one game: choose one of {', '.join(games)} with --game.",
                EXIT_USAGE,
            )
        challenge = ChallengeRequest(opponents, games[0], control, rated, help=demand)
        matches = matches or 1
    wish = partial(SeekRequest, time_control=control, rated=rated, count=matches or 0, help=demand)
    seeks = [wish(game) for game in games] if seek else []
    try:
        summary = asyncio.run(
            run_bot(
                spec,
                address.websocket,
                token,
                RunOptions(
                    bot=name,
                    games=games or None,
                    rated=control if rated else None,
                    seeks=seeks,
                    challenge=challenge,
                    version=version_label,
                    matches=matches,
                    workers=workers,
                    takeover=takeover,
                    log_folder=log_folder,
                    seed=seed,
                    pages=f"{address.base}/matches/",
                ),
                handle_signals=True,
            )
        )
    except ChallengeFailed as error:
        raise CommandError(str(error), EXIT_REFUSED) from error
    except Refused as error:
        if error.code == "auth/bad_token":
            raise CommandError(unknown_token(address.base), EXIT_REFUSED) from error
        if error.code != "auth/already_connected":
            raise
        # The server's own advice is for those who write hello themselves.
        what = str(error).partition(": ")[0]
        raise CommandError(
            f"{what}: stop that program, give this one another name with --name, or replace the "
            "other with --takeover.",
            EXIT_REFUSED,
        ) from error
    played = len(summary.results)
    drawn = played - summary.won - summary.lost
    matches_played = counted(played, "match", "matches")
    note(f"{matches_played}: {summary.won} won, {drawn} drawn, {summary.lost} lost.")
    if summary.interrupted:
        return EXIT_INTERRUPTED
    crashed = any(
        result.outcome.termination == "bot_crash" and result.outcome.seat == result.seat
        for result in summary.results
    )
    return EXIT_FAILED if crashed else EXIT_OK


@click.command()
@click.argument("name", default="")
@on_server
@json_option()
def versions(name: str, server: Server, as_json: bool) -> None:
    """List the versions of your bots.

    With NAME: of that bot only. Shows where each version plays.

    A version is a label together with the digest of the bot's files: the same label with
    other files is another version.
    """
    rows = server.request(competition_calls.versions(name))
    if as_json:
        print_json(rows)
        return
    if not rows:
        note("No bot of yours has connected yet.")
        return
    cells = [
        [
            each.bot,
            each.version or "-",
            each.digest[:12] or "-",
            minute(each.created_ms),
            ", ".join(f"{entry.competition} ({_how(entry)})" for entry in each.entered) or "-",
        ]
        for each in rows
    ]
    columns = ["bot", "version", "digest", "first seen", "plays in"]
    print_table("Versions", columns, cells, "llllw")


def _how(entry: VersionEntry) -> str:
    if entry.left_out:
        return "not before it is submitted: plyhouse submit"
    return "chosen" if entry.chosen else "the latest"


@click.command()
@on_server
@json_option()
def status(server: Server, as_json: bool) -> None:
    """Show suspended versions and the reasons.

    You see your own; with the token of an organiser, all.

    A version that forfeits again and again is not paired any more. A fixed bot is a new version and
    plays at once.
    """
    rows = server.request(administration_calls.suspensions())
    if as_json:
        print_json(rows)
        return
    if not rows:
        note("No version is suspended.")
        return
    cells = [
        [
            f"{each.player}/{each.bot}",
            each.version or "-",
            each.digest[:12] or "-",
            minute(each.since_ms),
            each.reason,
        ]
        for each in rows
    ]
    columns = ["bot", "version", "digest", "suspended", "why"]
    print_table("Suspended", columns, cells, "llllw")


@click.command()
@click.argument("name")
@competition_option()
@click.option(
    "--version-label",
    default="",
    help="Which version plays: its label, or the beginning of its digest.  [default: the one that "
    "connects last]",
)
@click.option("--replace", default="", metavar="BOT", help="Give it the place of this bot.")
@on_server
def enter(name: str, competition: str, version_label: str, replace: str, server: Server) -> None:
    """Enter a version of your bot in a competition.

    Possible until the freeze, then as long as late days or your extension last. A bot that
    connects is entered automatically if there is room.
    """
    entry = server.request(
        competition_calls.enter(competition, name, version=version_label, replace=replace)
    )
    how = "" if entry.chosen else ", or what connects after it"
    waits = bool(entry.next_version or entry.next_digest)
    label = (entry.next_version if waits else entry.version) or "without a label"
    digest = (entry.next_digest if waits else entry.digest)[:12] or "no digest"
    note(f"{entry.entry} plays in {competition}: version {label} ({digest}){how}.")
    if waits:
        note("The final is over: this version counts after a rerun, which the staff begins.")
    if entry.days_late:
        note(f"It is {late_words(entry.days_late, entry.penalty)}.")
