"""``plyhouse competition suspicious``: results and choices that deserve a look."""

from __future__ import annotations

import click

from plyhouse.clients.shared.options import (
    competition_argument,
    json_option,
    server_option,
    token_option,
)
from plyhouse.clients.shared.output import counted, note, print_json, print_table, signed
from plyhouse.protocol.api import competition_calls
from plyhouse.protocol.api.suspicions import Suspicions

__all__ = ["suspicious"]


@click.command()
@competition_argument()
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Which part of what is named may be named by accident.",
)
@server_option()
@token_option()
@json_option()
def suspicious(name: str, level: float, server: str, token: str | None, as_json: bool) -> None:
    """List pairs of students with unlikely results or choices.

    Files: entries of different owners that are the same, byte for byte.
    Results: what two owners scored against each other beside what the fit of all results expects.
    Choices: bots that do the same in almost all positions that both faced, where others do not.
    All are a reason to look, and prove nothing.
    """
    from plyhouse.clients.shared.competition_requests import request

    found = request(server, token, competition_calls.suspicions(name, level=level))
    if as_json:
        print_json(found)
        return
    _show_same_files(found)
    _show_pairs(found)
    _show_likenesses(found)
    if found.left_out:
        matches = counted(found.left_out, "match", "matches")
        note(f"{matches} left out: older ones, or of a game that is not here.")
    note(
        "A reason to look, no proof: a bot may be made against another, and two may call the same "
        "search, have read the same book, or have left the starter as it is."
    )


def _show_same_files(found: Suspicions) -> None:
    if not found.same_files:
        click.echo("Files: no two entries of different owners are the same.")
        return
    rows = [[each.digest[:12], ", ".join(each.entries)] for each in found.same_files]
    print_table("The same files", ["digest", "entries"], rows, "lw")


def _show_pairs(found: Suspicions) -> None:
    tested = counted(found.pairs_tested, "pair of owners", "pairs of owners")
    if not found.pairs:
        click.echo(f"Results: nothing unlikely among {tested}.")
        return
    rows = [
        [
            f"{each.one} - {each.other}",
            str(each.matches),
            f"{each.score:g}",
            f"{each.expected:.1f}",
            signed(each.residual, 1),
            f"{each.adjusted:.2g}",
        ]
        for each in found.pairs
    ]
    columns = ["pair", "matches", "score of the first", "expected", "residual", "adjusted p"]
    print_table(f"Unlikely results among {tested}", columns, rows, "lrrrrr")


def _show_likenesses(found: Suspicions) -> None:
    records = counted(found.records, "record")
    if not found.likenesses:
        click.echo(f"Choices: no two bots of different owners near identical in {records}.")
        return
    rows = [
        [
            f"{each.one} - {each.other}",
            str(each.positions),
            str(each.same),
            f"{each.expected:.1f}",
            f"{each.adjusted:.2g}",
        ]
        for each in found.likenesses
    ]
    columns = ["bots", "positions of both", "same choice", "expected", "adjusted p"]
    print_table(f"Near identical choices in {records}", columns, rows, "lrrrr")
