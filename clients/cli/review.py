"""``plyhouse review``: where a match was lost."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plyhouse.clients.shared.games import (
    chosen_files,
    game_files_option,
    known_game,
    seat_index,
    seat_text,
)
from plyhouse.clients.shared.options import (
    json_option,
    match_of_file_option,
    number_option,
    server_option,
    token_option,
)
from plyhouse.clients.shared.output import note, print_table, signed

if TYPE_CHECKING:
    from plyhouse.protocol.api.positions import Review, ReviewedPly
    from plyhouse.server.results.record import Record


@click.command()
@click.argument("what", metavar="FILE|MATCH")
@match_of_file_option()
@click.option(
    "--seat",
    type=click.IntRange(1),
    help="The seat to look at, from 1.  [default: the one that lost]",
)
@number_option("--seconds", 20.0, "Time for all plies together.", 0.1, 86400)
@number_option(
    "--threshold",
    0.05,
    "Drop that counts as a loss where values are estimates, as a share of the range of returns.",
    0,
    1,
)
@json_option()
@game_files_option()
@server_option()
@token_option()
def review(
    what: str,
    which: str | None,
    seat: int | None,
    seconds: float,
    threshold: float,
    as_json: bool,
    server: str,
    token: str | None,
) -> None:
    """Find the plies that lost a match.

    Shows what every ply of a seat was worth, beside the best one.

    The match is one of a FILE of records (- is standard input), or MATCH of a server.

    Positions are looked up in a solved table where the game is small, else searched: exactly as
    far as the time allows, and each value says how certain it is. In games with hidden
    information a choice is judged by what the seat knew. The clock of each ply stands beside it.
    """
    from plyhouse.clients.review.review import default_seat
    from plyhouse.clients.review.review import review as reviewed

    record = _record(what, which, server, token)
    game = known_game(record.game, f"match {record.match}")
    named = seat_index(game, seat)
    chosen = default_seat(record) if named is None else named
    if not as_json:
        note(f"Looking at {record.game} for {seconds:g} s at most.")
    found = reviewed(
        record,
        game,
        chosen,
        seconds=seconds,
        threshold=threshold,
        where=_where(what, record, server),
    )
    if as_json:
        import msgspec

        click.echo(json.dumps(msgspec.to_builtins(found), indent=2))
        return
    _show(found, seat_text(game, chosen))


def _record(what: str, which: str | None, server: str, token: str | None) -> Record:
    if what != "-":
        from plyhouse.clients.cli.replay import record_asked

        return record_asked(what, which, server, token)
    from plyhouse.server.results.record import read_record

    return read_record(sys.stdin.buffer.read())


def _where(what: str, record: Record, server: str) -> str:
    """Return the arguments with which `plyhouse bot ask` finds the record again."""
    import shlex

    said = f"--match {shlex.quote(record.match)} "
    if files := chosen_files():
        said += f"--game-files {shlex.quote(files)} "
    if what == "-":
        return said
    if Path(what).is_file():
        return f"--record {shlex.quote(what)} {said}"
    return f"{said}--server {shlex.quote(server)} "


def _show(found: Review, seat: str) -> None:
    title = f"{found.game}, {found.time_control}: match {found.match}"
    title += f", {found.player} as {seat}, judged by {found.method}"
    columns = ["ply", "played", "worth", "best", "worth", "lost", "known", "thought", "lag", "left"]
    cells = [_cells(row) for row in found.plies]
    print_table(title, columns, cells, "rlrlrrlrrr")
    for row in found.plies:
        if row.refused:
            note(f"Ply {row.ply + 1}: refused before: {', '.join(row.refused)}.")
    click.echo(found.verdict)
    note(f"Counted as lost: {found.rule}. It took {found.seconds:.1f} s.")
    if found.command:
        click.echo(f"Ask your bot again: {found.command}")


def _cells(row: ReviewedPly) -> list[str]:
    return [
        str(row.ply + 1),
        row.action or "-",
        "-" if row.played is None else signed(row.played, 2),
        "=" if row.action == row.best_action else row.best_action,
        signed(row.best, 2),
        f"{row.drop:.2f}{' !' if row.lost else ''}" if row.drop > 0.005 else "-",
        row.certainty,
        f"{row.thought_ms / 1000:.2f} s",
        f"{row.lag_ms:.0f} ms",
        f"{row.remaining_ms / 1000:.2f} s",
    ]
