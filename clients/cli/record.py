"""``plyhouse record``: the record of a match, from a server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from plyhouse.clients.replay.record_files import records_in
from plyhouse.clients.shared.errors import EXIT_FAILED, EXIT_OK, EXIT_USAGE, CommandError
from plyhouse.clients.shared.games import UnknownGameError, game_files_option, known_game
from plyhouse.clients.shared.options import Server, on_server
from plyhouse.clients.shared.output import counted, note
from plyhouse.protocol.api import calls
from plyhouse.protocol.api.matches import Seat
from plyhouse.protocol.parts import ending_words

if TYPE_CHECKING:
    from plyhouse.games.base import Game
    from plyhouse.server.results.record import Record


@click.command()
@click.argument("match_id")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write; standard output without it.",
)
@click.option(
    "--why",
    is_flag=True,
    help="Say instead how it ended, with the traceback if a bot crashed: a server tells it to the "
    "bot's own --token only.",
)
@game_files_option()
@on_server
def record(match_id: str, output: Path | None, why: bool, server: Server) -> None:
    """Fetch the record of a match.

    The record has everything that is needed to replay and verify the match.

    The chance seed is in it once the whole pairing is over.
    """
    if why:
        click.echo(_ending_from_server(server, match_id))
        return
    from plyhouse.server.results.record import read_record, write_record

    text = write_record(read_record(server.ask(calls.record(match_id)).text))
    if output is None:
        click.echo(text, nl=False)
        return
    if not output.parent.is_dir():
        raise CommandError(f"There is no folder {output.parent}: make it first.", EXIT_USAGE)
    output.write_text(text, encoding="utf-8")
    note(f"Wrote {output}. Check it: plyhouse verify {output}")


def _ending_from_server(server: Server, match_id: str) -> str:
    """Print a server's record; parts for the bot's author need the author's token."""
    from plyhouse.protocol.api.answers import ApiError

    view = server.ask(calls.match(match_id))
    if view.status != "finished":
        return f"Match {match_id} is not over."
    detail = ""
    culprit: Seat | None = None
    hint = "Whose bot caused the end is told more: give its token."
    if server.token:
        try:
            told = server.ask(calls.detail(match_id))
            culprit, detail, hint = view.seats[told.seat], told.detail, ""
        except ApiError as error:
            if error.code != "match/not_yours":
                raise
            hint = str(error)
    text = _ending(
        match_id,
        view.ply,
        view.termination,
        _by(culprit.player, culprit.bot) if culprit else "",
        view.reason,
        detail,
        view.void_reason,
    )
    if hint and view.termination in ("bot_crash", "illegal_action", "no_answer"):
        note(hint)
    return text


def _by(player: str, bot: str) -> str:
    return f" by {player}{f'/{bot}' if bot else ''}"


def _ending(
    match: str, ply: int, termination: str, who: str, reason: str, detail: str, void: str | None
) -> str:
    """The lines of an ending; empty texts are left out."""
    lines = [
        f"Match {match} ended after {counted(ply, 'ply', 'plies')}: "
        f"{ending_words(termination)}{who}.",
        reason,
        detail.rstrip(),
        "" if void is None else f"Void, it counts nowhere: {void}",
    ]
    return "\n".join(filter(None, lines))


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
