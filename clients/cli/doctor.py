"""``plyhouse doctor``: what is installed here, which build of the searches runs, what works."""

from __future__ import annotations

import asyncio
import importlib.metadata
import platform
import shutil
import sys
from pathlib import Path

import click

from plyhouse.clients.shared.errors import EXIT_OK, exit_code, sentence
from plyhouse.clients.shared.options import database_option, json_option, server_option

SHOWN = ("click", "litestar", "msgpack", "msgspec", "numpy", "rich", "sqlalchemy", "uvicorn")
OPTIONAL = ("uvloop", "asyncpg")


@click.group(invoke_without_command=True)
@database_option()
@server_option(default=None, login=False)
@click.pass_context
def doctor(ctx: click.Context, database: str, server: str | None) -> int:
    """Check what is installed and whether it works.

    Shows which build of the searches runs and why.

    Ends with exit code 3 when the database, or the server given with --server, cannot be
    reached. `plyhouse doctor sandbox` looks at what bots of others could do on this machine.
    """
    if ctx.invoked_subcommand is not None:
        ctx.obj = database
        return EXIT_OK
    lines = [
        ("Plyhouse", f"{importlib.metadata.version('plyhouse')} in {_home()}"),
        (
            "Python",
            f"{platform.python_version()} ({platform.python_implementation()}) at {sys.executable}",
        ),
        ("Platform", f"{platform.platform()}, {_cores()}"),
        ("Searches", _build()),
        ("Own games", _own_games()),
        ("Packages", ", ".join(_version(name) for name in SHOWN)),
        ("Optional", ", ".join(_version(name) for name in OPTIONAL)),
    ]
    worst = EXIT_OK
    for title, text in lines:
        click.echo(f"{title:10} {text}")
    for title, check in (("Database", _database), ("Server", _server)):
        target = database if title == "Database" else server
        if target is None:
            continue
        try:
            text = check(target)
        except Exception as error:
            code = exit_code(error)
            if code is None:
                raise
            worst, text = max(worst, code), f"{target}: {sentence(error)}"
        click.echo(f"{title:10} {text}")
    return worst


@doctor.command()
@click.option(
    "--tier",
    type=click.Choice(["landlock", "bubblewrap", "rlimits"]),
    help="Probe this tier only; by default all that this machine has.",
)
@json_option()
@click.pass_obj
def sandbox(database: str, tier: str | None, as_json: bool) -> int:
    """Probe every sandbox that this machine has.

    Shows which protections hold.

    On the running kernel, small bots try to read the database, write, connect, signal another
    process, and use more than their limits. Ends with exit code 1 if no tier denies all of it,
    or if the one given with --tier does not.
    """
    from plyhouse.clients.bot_check.sandbox_check import probe_tiers

    file = _database_file(database)
    return asyncio.run(probe_tiers(tier, [file] if file else [], as_json=as_json))


def _home() -> Path:
    from plyhouse.clients import cli

    return Path(cli.__path__[0]).parent.parent


def _cores() -> str:
    import os

    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{count} core{'' if count == 1 else 's'}"


def _version(name: str) -> str:
    try:
        return f"{name} {importlib.metadata.version(name)}"
    except importlib.metadata.PackageNotFoundError:
        return f"{name} (not installed)"


def _build() -> str:
    """Which build of the games and searches is loaded, and why."""
    from plyhouse.search.build_report import build_info, how_to_compile

    info = build_info()
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    sentences = (str(info), how_to_compile(info), f"C compiler: {compiler or 'none found'}")
    return " ".join(filter(None, sentences))


def _own_games() -> str:
    """Return whether `plyhouse compile` has what it needs."""
    from importlib.util import find_spec

    missing = [name for name in ("mypyc", "setuptools") if find_spec(name) is None]
    if missing:
        return f"no `plyhouse compile` without {missing[0]}: pip install 'plyhouse[compile]'"
    return (
        f"`plyhouse compile` uses {_version('mypy')}; `plyhouse games FILE` says what is compiled"
    )


def _database(url: str) -> str:
    """How the database does; does not make one that is not there."""
    from plyhouse.storage import people

    file = _database_file(url)
    if file is not None and not file.exists():
        return f"{url}: not there yet (made by the first command that writes to it)"

    async def look() -> str:
        from plyhouse.storage.store import Store

        store = await Store.open(url, migrate=False)
        try:
            players = await store.read(people.list_players)
            return f"{url}: works, {len(players)} player{'' if len(players) == 1 else 's'}"
        finally:
            await store.close()

    return asyncio.run(look())


def _database_file(url: str) -> Path | None:
    """The file of a SQLite database; None for any other."""
    if not url.startswith("sqlite:///") or ":memory:" in url:
        return None
    return Path(url.removeprefix("sqlite:///"))


def _server(address: str) -> str:
    """Return the server's report on itself."""
    from dataclasses import replace

    from plyhouse.clients.shared.http import ask
    from plyhouse.protocol.api import calls

    about = ask(address, replace(calls.health(), timeout=5.0))
    return f"{address}: works, version {about.version}"
