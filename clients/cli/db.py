"""``plyhouse admin db``: look after a database."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from plyhouse.clients.shared.errors import EXIT_FAILED, EXIT_OK
from plyhouse.clients.shared.lazy import HintingGroup
from plyhouse.clients.shared.options import database_option
from plyhouse.clients.shared.output import note


@click.group(cls=HintingGroup)
def db() -> None:
    """Copy, back up, check or upgrade the database.

    URLs are those of plyhouse serve: sqlite:///file.db or postgresql://user@host/name.
    """


@db.command()
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
def copy(source: str, target: str) -> None:
    """Copy everything FROM one database TO another, empty one.

    From SQLite to PostgreSQL, back, or to the same kind. Stop the server first: what is
    played meanwhile would be missing. All is copied or nothing; FROM stays as it is.
    """
    from plyhouse.storage import maintenance

    reached: dict[str, int] = {}

    def progress(table: str, rows: int) -> None:
        if rows // 100_000 > reached.get(table, 0) // 100_000:
            note(f"{table}: {rows:,} rows")
        reached[table] = rows

    rows = asyncio.run(maintenance.copy(source, target, progress))
    filled = sum(bool(count) for count in reached.values())
    note(f"Copied {rows:,} rows of {filled} tables.")


@db.command()
@click.argument("file", type=click.Path(path_type=Path))
@database_option()
def backup(file: Path, database: str) -> None:
    """Write a copy of the database to the new SQLite file FILE.

    Also while a server runs on it. To go back to the copy, serve it, or put it into a new
    database with plyhouse admin db copy.
    """
    from plyhouse.storage import maintenance

    asyncio.run(maintenance.backup(database, file))
    note(f"Wrote {file}. It holds the seeds of running matches: keep it to yourself.")


@db.command()
@database_option()
def check(database: str) -> int:
    """Look for damage in the database.

    It checks the file, the matches, and what leaderboards count.

    Prints one line for each thing found, and then ends with exit code 1.
    """
    from plyhouse.storage import maintenance

    found = asyncio.run(maintenance.check(database))
    for line in found:
        click.echo(line)
    note(f"{len(found)} found" if found else "Nothing is wrong.")
    return EXIT_FAILED if found else EXIT_OK


@db.command()
@database_option()
def upgrade(database: str) -> None:
    """Bring an older database up to date.

    plyhouse serve does so when it starts. Back the database up before.
    """
    from plyhouse.storage import maintenance

    before, after = asyncio.run(maintenance.upgrade(database))
    if before == after:
        note(f"The database has schema {after} already: nothing to do.")
    else:
        note(f"Brought the database from schema {before} to {after}.")
