"""``plyhouse record``: the record of a match, from a database or a server."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from plyhouse.clients.shared.errors import EXIT_USAGE, CommandError
from plyhouse.clients.shared.games import game_files_option
from plyhouse.clients.shared.options import database_option, server_option, token_option
from plyhouse.clients.shared.output import counted, note
from plyhouse.protocol.api import calls
from plyhouse.protocol.api.matches import Seat

__all__ = ["record", "record_from_database"]


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
@server_option(default=None)
@token_option()
@database_option()
def record(
    match_id: str,
    output: Path | None,
    why: bool,
    server: str | None,
    token: str | None,
    database: str,
) -> None:
    """Fetch the record of a match.

    The record has everything that is needed to replay and verify the match.

    Reads the database, or asks a running server when --server is given. The chance seed is in
    it once the whole pairing is over.
    """
    if why:
        if server is not None:
            click.echo(_ending_from_server(server, match_id, token))
        else:
            click.echo(asyncio.run(_ending_from_database(database, match_id)))
        return
    if server is not None:
        from plyhouse.clients.shared.http import ask
        from plyhouse.server.results.record import read_record, write_record

        text = write_record(read_record(ask(server, calls.record(match_id), token).text))
    else:
        text = asyncio.run(record_from_database(database, match_id))
    if output is None:
        click.echo(text, nl=False)
        return
    if not output.parent.is_dir():
        raise CommandError(f"There is no folder {output.parent}: make it first.", EXIT_USAGE)
    output.write_text(text, encoding="utf-8")
    note(f"Wrote {output}. Check it: plyhouse verify {output}")


async def record_from_database(url: str, match_id: str) -> str:
    """The text of a record, read from the database itself."""
    from plyhouse.clients.shared.games import known_game
    from plyhouse.server.results.record import stored_record, write_record
    from plyhouse.storage import match_reads
    from plyhouse.storage.store import Store

    store = await Store.open(url, create=False)
    try:
        stored = await store.read(match_reads.stored_match, match_id)
    finally:
        await store.close()
    return write_record(stored_record(stored, known_game(stored.header.game, f"match {match_id}")))


def _ending_from_server(server: str, match_id: str, token: str | None) -> str:
    """Print a server's record; parts for the bot's author need the author's token."""
    from plyhouse.clients.shared.http import ask
    from plyhouse.protocol.api.answers import ApiError

    view = ask(server, calls.match(match_id), token)
    if view.status != "finished":
        return f"Match {match_id} is not over."
    detail = ""
    culprit: Seat | None = None
    hint = "Whose bot caused the end is told more: give its token."
    if token:
        try:
            told = ask(server, calls.detail(match_id), token)
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
    if hint and view.termination in ("bot_crash", "illegal_action"):
        note(hint)
    return text


async def _ending_from_database(url: str, match_id: str) -> str:
    """How a match ended, and what is kept of it for the author of a bot that failed."""
    from plyhouse.server.match.events import end_data
    from plyhouse.storage import match_reads
    from plyhouse.storage.store import Store

    async with await Store.open(url, create=False) as store:
        stored = await store.read(match_reads.stored_match, match_id)
    ends = [row for row in stored.events if row.kind == "end"]
    if not ends:
        return f"Match {match_id} is not over."
    end, data = ends[-1], end_data(ends[-1])
    seat = next((each for each in stored.header.seats if each.seat == end.seat), None)
    who = "" if seat is None else _by(seat.player, seat.bot)
    void = stored.header.void_reason
    return _ending(match_id, end.ply, end.text, who, data.reason, data.detail, void)


def _by(player: str, bot: str) -> str:
    return f" by {player}{f'/{bot}' if bot else ''}"


def _ending(
    match: str, ply: int, termination: str, who: str, reason: str, detail: str, void: str | None
) -> str:
    """The lines of an ending; empty texts are left out."""
    lines = [
        f"Match {match} ended after {counted(ply, 'ply', 'plies')}: "
        f"{termination.replace('_', ' ')}{who}.",
        reason,
        detail.rstrip(),
        "" if void is None else f"Void, it counts nowhere: {void}",
    ]
    return "\n".join(filter(None, lines))
