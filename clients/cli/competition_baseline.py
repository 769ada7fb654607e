"""``plyhouse competition baseline``: check a reference bot again, or replace it."""

from __future__ import annotations

from collections.abc import Mapping

import click

from plyhouse.clients.cli.administration import why_option
from plyhouse.clients.shared.competition_requests import request
from plyhouse.clients.shared.options import (
    competition_argument,
    server_option,
    token_option,
)
from plyhouse.clients.shared.output import note
from plyhouse.protocol.api import competition_calls

__all__ = ["baseline", "refuse_unfit_options", "refuse_unfit_references"]


def refuse_unfit_options(references: Mapping[str, str]) -> None:
    """Raise `InvalidCompetition` for options that a reference bot does not take.

    ``references`` are bots with their options, by their keys in the competition file.  The bots
    are loaded, which a server does not do.
    """
    from plyhouse.bots.loading import BotLoadError, bot_options, load_bot
    from plyhouse.server.competition_rules.file_table import InvalidCompetition, Mistake

    mistakes = []
    for key, reference in references.items():
        try:
            bot_options(reference, load_bot(reference))
        except BotLoadError as error:
            mistakes.append(Mistake("competition/unfit_baseline", key, str(error)))
    if mistakes:
        raise InvalidCompetition(mistakes)


def refuse_unfit_references(text: str) -> None:
    """Raise `InvalidCompetition` for reference bots of a file whose options are wrong.

    A file with other mistakes passes: its reader reports them.
    """
    from plyhouse.server.competition_rules.file_reader import InvalidCompetition, read_competition

    try:
        baselines = read_competition(text).baselines
    except InvalidCompetition:
        return
    refuse_unfit_options(
        {
            f"baselines[{number}].reference": each.reference
            for number, each in enumerate(baselines)
            if each.reference
        }
    )


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
    """Check a baseline again, or replace it.

    PLAYER/BOT is a reference bot that the file of the competition names. This works before and
    after the freeze, and again when the final is over. A baseline that staff submitted is replaced
    by submitting another version: plyhouse submit FILE --bot BOT --competition NAME.
    """
    from plyhouse.server.competition_rules.reference_baselines import reference_problem

    if reference and not reference_problem(reference):  # else the server names the mistake
        refuse_unfit_options({"--reference": reference})
    made = request(
        server, token, competition_calls.check_baseline(name, bot, reference=reference, why=why)
    )
    if made.status == "waiting":
        note(f"{made.bot} waits for its check: plyhouse competition status {name!r}")
    else:
        note(f"{made.bot} has passed its check before, and can play.")
