"""``plyhouse code``: codes by which students join a competition."""

from __future__ import annotations

import click

from plyhouse.clients.cli.administration import why_option
from plyhouse.clients.cli.student import late_option
from plyhouse.clients.shared.lazy import HintingGroup
from plyhouse.clients.shared.options import Server, competition_option, on_server
from plyhouse.clients.shared.output import counted, minute, note, print_table
from plyhouse.protocol.api import competition_calls


@click.group(cls=HintingGroup)
def code() -> None:
    """Create codes by which students join.

    These commands need the server and the token of an organiser: see `plyhouse login`.
    """


@code.command()
@competition_option()
@click.option(
    "--uses", type=click.IntRange(1, 10_000), required=True, help="Number of students who may join."
)
@click.option("--expires", default="", metavar="TIME", help="When it ends; a time with its zone.")
@click.option("--group", default="", help="Let members into this group instead.")
@late_option
@on_server
@why_option(required=False)
def create(
    competition: str, uses: int, expires: str, group: str, late_until: str, server: Server, why: str
) -> None:
    """Create a code and print it.

    Students join with it: plyhouse join CODE --player NAME
    """
    call = competition_calls.new_code(
        competition, uses=uses, expires=expires, group=group, late_until=late_until, why=why
    )
    made = server.request(call)
    note(f"For {counted(uses, 'student')} of {competition}:")
    click.echo(made.code)
    if made.delays:
        note(made.delays)


@code.command("list")
@competition_option()
@on_server
def list_codes(competition: str, server: Server) -> None:
    """List the codes of a competition."""
    rows = server.request(competition_calls.codes(competition))
    if not rows:
        note(f"No codes for {competition} yet.")
        return
    zone = ""
    if any(each.expires_ms for each in rows):
        zone = server.request(competition_calls.competition(competition)).zone
    cells = [
        [
            each.code,
            f"{each.used} of {each.uses}",
            minute(each.expires_ms, zone) if each.expires_ms else "-",
            each.group or "-",
            "revoked" if each.revoked_ms else "valid",
        ]
        for each in rows
    ]
    print_table("Codes", ["code", "used", "expires", "group", "state"], cells, "lllll")


@code.command()
@click.argument("code_text", metavar="CODE")
@on_server
def revoke(code_text: str, server: Server) -> None:
    """Revoke CODE; students who joined with it stay."""
    server.request(competition_calls.revoke_code(code_text))
    note(f"{code_text} is revoked.")
