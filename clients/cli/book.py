"""``plyhouse book``: an opening book from matches that were played."""

from __future__ import annotations

from pathlib import Path

import click

from plyhouse.clients.shared.errors import EXIT_FAILED, CommandError
from plyhouse.clients.shared.games import game_files_option
from plyhouse.clients.shared.options import database_option, number_option, output_option
from plyhouse.clients.shared.output import counted, note


@click.command()
@click.argument("game")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path, dir_okay=False, exists=True))
@game_files_option()
@database_option(default=None)
@output_option("book.json", "the book")
@number_option("--plies", 20, "How far into each match to look.", 1, 1000)
def book(
    game: str, files: tuple[Path, ...], database: str | None, output: Path, plies: int
) -> None:
    """Make an opening book from played matches.

    Counts the actions in the openings of GAME and their results.

    Reads FILES of records, as `plyhouse match --save` writes them, and the matches of a
    database. The bot `book(file="book.json")` plays by the result.
    """
    from plyhouse.clients.replay.record_files import played_matches
    from plyhouse.clients.shared.games import named_spec
    from plyhouse.games.registry import get_game
    from plyhouse.search import InvalidMatch, OpeningBook

    chosen = get_game(named_spec(game))  # as servers and their databases know it
    matches = played_matches(chosen, files, database)
    try:
        made = OpeningBook.from_matches(chosen, matches, plies)
    except InvalidMatch as error:
        raise CommandError(f"{error}", EXIT_FAILED) from error
    made.save(output)
    start = chosen.initial_state()
    if start.to_move >= 0:
        click.echo(made.table(start))
    matches_read = counted(made.matches, "match", "matches")
    note(f"Wrote {output}: {counted(len(made), 'position')} of {matches_read}.")
