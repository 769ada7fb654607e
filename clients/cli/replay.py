"""``plyhouse replay``: step through a match that was played, or write it as a page."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from plyhouse.clients.shared.errors import EXIT_USAGE, CommandError
from plyhouse.clients.shared.games import game_files_option
from plyhouse.clients.shared.options import Server, match_of_file_option, number_option, on_server
from plyhouse.clients.shared.output import has_colour, has_controls, note
from plyhouse.clients.shared.screen_mode import draws_in_place, plain_option

if TYPE_CHECKING:
    from plyhouse.clients.replay.positions import Position
    from plyhouse.server.results.record import Record

KEYS: Final = "Enter or space: on; b: back; g: to the start; G: to the end; p: play; q: quit"
NEXT: Final = ("\r", "\n", " ", "n", "l", "\x1b[C", "\x1b[B")
BACK: Final = ("b", "h", "\x7f", "\x1b[D", "\x1b[A")
FIRST: Final = ("g", "0", "\x1b[H")
LAST: Final = ("G", "$", "\x1b[F")
QUIT: Final = ("q", "\x03", "\x04")
PACE: Final = 1.0
"""Seconds between positions that are played."""

FORMS: Final = {
    "pgn": "chess as PGN",
    "sgf": "go or othello as SGF",
    "pdn": "checkers as PDN",
    "mat": "backgammon as MAT",
    "pbn": "bridge as PBN",
    "gcg": "Scrabble as GCG",
    "phh": "Texas hold'em as PHH",
    "txt": "any game as text",
}
"""The formats of `plyhouse.server.results.notations`, which takes long to import."""

_Command = TypeVar("_Command", bound=Callable[..., Any])


def _notation_options(command: _Command) -> _Command:
    """Add an option for each of the `FORMS`."""
    for form, what in reversed(FORMS.items()):
        option = click.option(f"--{form}", "form", flag_value=form, help=f"Write {what} instead.")
        command = option(command)
    return command


@click.command()
@click.argument("what", metavar="FILE|MATCH")
@match_of_file_option()
@click.option(
    "--seat",
    type=click.IntRange(1),
    help="As this seat saw it, from 1.  [default: as spectators do]",
)
@number_option("--ply", 0, "Begin after this ply.", 0)
@click.option(
    "--play",
    "pace",
    type=click.FloatRange(0, 3600),
    is_flag=False,
    flag_value=PACE,
    metavar="SECONDS",
    help="Show one position after the other, so far apart, instead of waiting for keys.",
)
@click.option(
    "--html",
    "page",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write one page instead that holds all it needs, for any browser.",
)
@_notation_options
@plain_option()
@game_files_option()
@on_server
def replay(
    what: str,
    which: str | None,
    seat: int | None,
    ply: int,
    pace: float | None,
    page: Path | None,
    form: str | None,
    plain: bool,
    server: Server,
) -> None:
    """Step through a recorded match.

    It is one of a FILE of records, or MATCH of a server; FILE `-` is a record on standard input.

    `plyhouse match --save FILE` and `plyhouse record` write such files. In a terminal the board is
    drawn in place; `?` lists the keys.  With --plain, positions follow each other as lines.  In a
    pipe all positions are written.

    --pgn and the like write the moves in the format of the game: of all matches of a FILE, or of
    the one that --match names.
    """
    from plyhouse.clients.replay.positions import holders, positions_of
    from plyhouse.clients.shared.games import known_game, seat_index

    if form is not None:
        if Path(what).is_file() and which is None:
            from plyhouse.clients.replay.record_files import records_in

            _write_moves(records_in(Path(what)), what, form)
        else:
            _write_moves([record_asked(what, which, server)], what, form)
        return
    record = record_asked(what, which, server)
    game = known_game(record.game, f"match {record.match}")
    viewer = seat_index(game, seat)
    positions = positions_of(record, game, viewer)
    if page is not None:
        from plyhouse.clients.replay.positions import replay_page

        try:
            page.write_text(replay_page(record, game, positions, viewer), encoding="utf-8")
        except OSError as error:
            reason = (error.strerror or "cannot be written").lower()
            raise CommandError(f"{page}: {reason}.", EXIT_USAGE) from error
        note(f"Wrote {page}: open it in a browser.")
        return
    players = ", ".join(
        f"{holder} ({game.seat_name(seat)})" for seat, holder in enumerate(holders(record))
    )
    title = f"{record.game}, {record.time_control}: {players}"
    start = next((i for i, each in enumerate(positions) if each.ply >= ply), len(positions) - 1)
    if draws_in_place(plain):
        from plyhouse.clients.shared.screens import show_replay

        show_replay(record, game, positions, title, start, pace)
    elif pace is not None:
        if not has_controls(sys.stdout):
            click.echo(f"{title}\n")
        _play(title, positions, start, pace)
    elif sys.stdin.isatty() and sys.stdout.isatty():
        _step(title, positions, start)
    else:
        click.echo(f"{title}\n")
        for position in positions[start:]:
            click.echo(f"{_shown(position, positions)}\n")


def _write_moves(records: Iterable[Record], what: str, form: str) -> None:
    """Write the moves of matches in a format, those of other games left out."""
    from plyhouse.games.errors import GameError
    from plyhouse.server.results.notations import ONE_MATCH, notation

    games = set()
    texts: list[str] = []
    for record in records:
        games.add(record.game)
        try:
            text = notation(record, form)
        except GameError as error:
            raise CommandError(f"Match {record.match} does not fit its game: {error}") from error
        if text is None:
            continue
        if texts and form in ONE_MATCH:
            raise CommandError(
                f"{what} holds several matches, and a file of {form} holds one: name it with "
                "--match, such as --match 2.",
                EXIT_USAGE,
            )
        texts.append(text)
    if not texts:
        played = ", ".join(sorted(games)) or "no match"
        raise CommandError(f"{what} holds {played}; --{form} writes {FORMS[form]}.", EXIT_USAGE)
    click.echo("\n".join(texts), nl=False)


def record_asked(what: str, which: str | None, server: Server) -> Record:
    """Return the record that was asked for: of a file (- is standard input), else of a server.

    Raises `CommandError` and what reading or asking may raise.
    """
    from plyhouse.clients.replay.record_files import records_in
    from plyhouse.server.results.record import read_record

    if what == "-":
        return read_record(sys.stdin.buffer.read())
    if Path(what).is_file():
        return _chosen(records_in(Path(what)), what, which)
    if which is not None or what.endswith((".json", ".jsonl")) or "/" in what:
        raise CommandError(f"There is no file {what}.", EXIT_USAGE)

    from plyhouse.protocol.api import calls

    return read_record(server.ask(calls.record(what)).text)


def _chosen(records: Iterator[Record], file: str, which: str | None) -> Record:
    """One of the records of a file."""
    count = 0
    first: Record | None = None
    for count, record in enumerate(records, 1):
        if which in (str(count), record.match):
            return record
        first = first or record
    if first is None:
        raise CommandError(f"There is no record in {file}.", EXIT_USAGE)
    if which is not None:
        raise CommandError(
            f"There is no match {which} in {file}, which holds 1 to {count}.", EXIT_USAGE
        )
    if count > 1:
        note(f"The first of {count} matches in {file}; --match 2 is the next.")
    return first


def _shown(position: Position, positions: list[Position]) -> str:
    """Return a position as text, after the actions that led to it."""
    from plyhouse.games.scene_text import draw_fields

    head = f"Ply {position.ply} of {positions[-1].ply}"
    lines = [f"{head}: {', '.join(position.told)}" if position.told else head]
    lines.append(draw_fields(position.scene, colour=has_colour(sys.stdout)))
    if position.end:
        lines.append(position.end)
    return "\n".join(lines)


def _show(title: str, position: Position, positions: list[Position]) -> None:
    """Print a position, below the title on a cleared screen if the terminal can clear."""
    if has_controls(sys.stdout):
        click.clear()
        click.echo(title)
    click.echo(f"{_shown(position, positions)}\n")


def _play(title: str, positions: list[Position], start: int, pace: float) -> None:
    """One position after the other."""
    for index in range(start, len(positions)):
        _show(title, positions[index], positions)
        if index + 1 < len(positions):
            time.sleep(pace)


def _step(title: str, positions: list[Position], at: int) -> None:
    """Let keys choose the position."""
    last = len(positions) - 1
    while True:
        _show(title, positions[at], positions)
        click.echo(KEYS)
        key = click.getchar()
        if not key.startswith("\x1b"):
            key = key[:1]  # of what was typed faster than it was shown
        if key in QUIT:
            return
        if key == "p":
            _play(title, positions, at, PACE)
            at = last
        elif key in NEXT:
            at = min(last, at + 1)
        elif key in BACK:
            at = max(0, at - 1)
        elif key in FIRST:
            at = 0
        elif key in LAST:
            at = last
