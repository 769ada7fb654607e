"""``plyhouse competition baseline``: check a reference bot again, or replace it."""

from __future__ import annotations

import click

from plyhouse.clients.cli.administration import why_option
from plyhouse.clients.cli.shared.options import (
    competition_argument,
    server_option,
    token_option,
)
from plyhouse.clients.cli.shared.organising import request
from plyhouse.clients.cli.shared.output import note

__all__ = ["baseline"]


@click.command()
@competition_argument("bot", "PLAYER/BOT")
@click.option(
    "--reference",
    default="",
    metavar="REFERENCE",
    help='Let this one take its place: "ismcts(simulations=200)".',
)
@server_option()
@token_option()
@why_option(required=False)
def baseline(name: str, bot: str, reference: str, server: str, token: str | None, why: str) -> None:
    """Check a baseline of NAME again, or replace it.

    PLAYER/BOT is a reference bot that the file of the competition names. This works before and
    after the freeze, and again when the final is over. A baseline that staff submitted is replaced
    by submitting another version: plyhouse submit FILE --bot BOT --competition NAME.
    """
    body = {"bot": bot, "reference": reference, "why": why}
    made = request(server, token, "POST", "competitions", name, "baselines", body=body)
    if made["status"] == "waiting":
        note(f"{made['bot']} waits for its check: plyhouse competition status {name!r}")
    else:
        note(f"{made['bot']} has passed its check before, and can play.")
