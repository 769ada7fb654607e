"""``plyhouse record``: the record of a match, from a database or a server."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from plyhouse.clients.cli.shared.errors import EXIT_USAGE, CommandError
from plyhouse.clients.cli.shared.options import database_option, server_option, token_option
from plyhouse.clients.cli.shared.output import note

__all__ = ["record", "record_from_database"]


@click.command()
@click.argument("match_id")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write; standard output without it.",
)
@server_option(default=None)
@token_option()
@database_option()
def record(
    match_id: str, output: Path | None, server: str | None, token: str | None, database: str
) -> None:
    """Fetch the record of the match MATCH_ID: everything that is needed to replay and check it.

    Reads the database, or asks a running server when --server is given. The chance seed is in
    it once the whole pairing is over.
    """
    if server is not None:
        import json

        from plyhouse.clients.cli.shared.http import call, path
        from plyhouse.server.results.record import read_record, write_record

        answer = call(server, "GET", path("matches", match_id, "record"), token=token)
        text = write_record(read_record(json.dumps(answer)))
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
    from plyhouse.games.registry import get_game
    from plyhouse.server.results.record import stored_record, write_record
    from plyhouse.storage.store import Store

    store = await Store.open(url, create=False)
    try:
        stored = await store.match(match_id)
    finally:
        await store.close()
    return write_record(stored_record(stored, get_game(stored.header.game)))
