"""``plyhouse verify``: recompute what records claim."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from plyhouse.clients.replay.record_files import records_in
from plyhouse.clients.shared.errors import EXIT_FAILED, EXIT_OK, EXIT_USAGE, CommandError
from plyhouse.clients.shared.games import UnknownGameError, game_files_option, known_game
from plyhouse.clients.shared.output import counted, note

if TYPE_CHECKING:
    from plyhouse.games.base import Game
    from plyhouse.server.results.record import Record

__all__ = ["verify"]


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--game",
    metavar="SPEC",
    help="Game to check all of them with, where it was loaded from a file: mygame.py:MyGame. "
    "A record is not trusted with the name of a file to run.",
)
@game_files_option()
@click.option("-v", "--verbose", is_flag=True, help="List the checks of sound records, too.")
def verify(files: tuple[Path, ...], game: str | None, verbose: bool) -> int:
    """Recompute every roll and action of a record.

    A file holds one record, as `plyhouse record` writes it, or one per line, as
    `plyhouse match --save` does. Plays each match again: every roll from the revealed seed,
    every action by the rules, every clock by its ledger, the result. Ends with exit code 1
    when something does not hold, and with 2 when a game is not known here.
    """
    from plyhouse.games.registry import get_game
    from plyhouse.server.results.verify import verify as check

    against = get_game(game, files=True) if game is not None else None
    sound = checked = 0
    unknown: list[UnknownGameError] = []
    for file in files:
        for record in records_in(file):
            try:
                game_of = against or _game_of(record, file)
            except UnknownGameError as error:
                unknown.append(error)
                continue
            report = check(record, game_of)
            checked += 1
            sound += report.ok
            if verbose or not report.ok:
                click.echo(f"{file}: match {record.match} ({record.game})\n{report}")
    for text in dict.fromkeys(str(each) for each in unknown):
        note(text)
    if unknown:
        records = counted(len(unknown), "record")
        note(f"{records} could not be checked.")
    if checked == 0 and unknown:
        return EXIT_USAGE
    if checked == 0:
        raise CommandError(f"There is no record in {', '.join(map(str, files))}.")
    if checked == sound:
        click.echo(_all_sound(sound, more=bool(unknown)))
        return EXIT_USAGE if unknown else EXIT_OK
    click.echo(f"{checked - sound} of {checked} records do not hold.")
    return EXIT_FAILED


def _game_of(record: Record, file: Path) -> Game | None:
    """The game of a record; None where its parameters cannot be, which the check then tells."""
    from plyhouse.games.errors import GameError

    try:
        return known_game(record.game, f"a record of {file}")
    except GameError:
        return None


def _all_sound(count: int, *, more: bool) -> str:
    """``more``: other records could not be checked."""
    if count == 1:
        return "1 record is sound."
    return f"{count} records are sound." if more else f"All {count} records are sound."
