"""``plyhouse leaderboard``: the standings of a game, from a database or a server."""

from __future__ import annotations

import asyncio
import json

import click

from plyhouse.clients.shared.games import game_files_option
from plyhouse.clients.shared.options import (
    database_option,
    json_option,
    number_option,
    server_option,
)
from plyhouse.clients.shared.output import note, print_json
from plyhouse.clients.shared.screen_mode import draws_in_place, plain_option
from plyhouse.clients.shared.standings import print_standings, standings_from_database


@click.command()
@click.argument("game", required=False)
@number_option("--limit", 100, "Lines.", 1, 1000)
@click.option(
    "--versions",
    is_flag=True,
    help="Show every version of a bot, not just the one that it played with last.",
)
@game_files_option()
@server_option(default=None)
@database_option()
@plain_option()
@json_option()
def leaderboard(
    game: str | None,
    limit: int,
    versions: bool,
    server: str | None,
    database: str,
    plain: bool,
    as_json: bool,
) -> None:
    """Show the leaderboard of a game.

    It has ratings with their intervals, scores and results.

    Without GAME: all games with results, and of a server the competitions. In a terminal one goes
    from one to the next, and intervals are drawn; --plain prints the table.

    Where the size of the return counts (chips, cents), ratings go by returns, and the
    table shows the mean return per game with its interval in place of the score.

    Reads the database, or asks a running server when --server is given.
    """
    from plyhouse.clients.shared.games import named_spec, spec_of

    if draws_in_place(plain) and not as_json:
        from plyhouse.clients.shared.leaderboard_source import boards_of
        from plyhouse.clients.shared.screens import show_boards

        first = game if game is None else (spec_of if server else named_spec)(game)
        show_boards(boards_of(server, database, limit, versions=versions), first)
        return
    if game is None:
        _list_games(server, database, as_json=as_json)
        return
    if server is not None:
        from plyhouse.clients.shared.http import ask
        from plyhouse.protocol.api import calls

        spec = spec_of(game)
        which = "all" if versions else "latest"
        answer = ask(server, calls.leaderboard(spec, versions=which, limit=limit))
        spec, scoring = answer.game, answer.scoring
        rows = answer.standings
    else:
        from plyhouse.server.results.leaderboards import scoring_of

        spec = named_spec(game)
        scoring = scoring_of(spec).value
        rows = asyncio.run(standings_from_database(database, spec, limit, every_version=versions))
    if as_json:
        print_json({"game": spec, "scoring": scoring, "standings": rows})
    elif rows:
        print_standings(spec, rows, versions=versions)
    else:
        note(f"No rated matches of {spec} yet in {server or database}.")


def _list_games(server: str | None, database: str, *, as_json: bool) -> None:
    """Print the games that have results."""
    from plyhouse.clients.shared.leaderboard_source import games_with_results

    games = asyncio.run(games_with_results(server, database))
    if as_json:
        click.echo(json.dumps(games, indent=2))
    elif games:
        click.echo("\n".join(games))
    else:
        note(f"No rated matches yet in {server or database}.")
