"""``plyhouse export``: matches of a server as files for training and statistics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from plyhouse.clients.shared.errors import EXIT_UNREACHABLE, EXIT_USAGE, CommandError
from plyhouse.clients.shared.options import server_option, token_option
from plyhouse.clients.shared.output import counted, note

if TYPE_CHECKING:
    from plyhouse.clients.api.client import Api
    from plyhouse.protocol.api.routes import Call

DAY = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"])


class _Rows:
    """Counts the rows of JSON Lines, and the matches to which they belong."""

    def __init__(self) -> None:
        self.rows = 0
        self._match = self._rest = b""

    def matches(self, part: bytes) -> int:
        """Return how many matches begin in the next part."""
        *lines, self._rest = (self._rest + part).split(b"\n")
        self.rows += len(lines)
        found = 0
        for line in lines:
            match = line.partition(b",")[0]  # the first field of a row
            found += match != self._match
            self._match = match
        return found

    def end(self) -> None:
        """Raise `CommandError` if the last row is cut off: a proxy may end a part as a whole."""
        if self._rest:
            raise CommandError("The data set ends within a row. Ask again.", EXIT_UNREACHABLE)

    def add(self, results: Iterable[Any]) -> None:
        """Do nothing: `matches` counts."""

    def __str__(self) -> str:
        return f"{self.rows:,} rows"


@click.command()
@click.option("--game", metavar="SPEC", help="Game; without parameters, it fits all of them.")
@click.option("--player", metavar="NAME", help="Player who has a seat, with any bot.")
@click.option("--bot", metavar="PLAYER/BOT", help="Bot that has a seat.")
@click.option("--competition", metavar="NAME", help="Competition that the matches belong to.")
@click.option("--since", type=DAY, metavar="DATE", help="Matches that ended then or later (UTC).")
@click.option("--until", type=DAY, metavar="DATE", help="Matches that ended before (UTC).")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the last N matches.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "parquet"]),
    default="jsonl",
    show_default=True,
    help="JSON Lines, or Parquet, which needs the extra parquet.",
)
@click.option(
    "--to",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="Folder of the files.  [default: here]",
)
@server_option()
@token_option()
def export(
    since: datetime | None,
    until: datetime | None,
    form: str,
    folder: Path,
    server: str,
    token: str | None,
    **which: Any,
) -> None:
    """Write matches of a server as a data set.

    The file matches has a row for each match, and plies one for each ply. A ply has the position as
    its seat saw it, the legal actions, the action and the clock. The files have matches whose whole
    pairing is over, if your token may see them. docs/dataset.md shows how to read them.
    """
    from plyhouse.clients.api.client import Api
    from plyhouse.clients.shared.http import ONCE
    from plyhouse.server.results.dataset import has_parquet

    if form == "parquet" and not has_parquet():
        raise CommandError(
            "Parquet needs pyarrow: pip install 'plyhouse[parquet]'. --format jsonl needs nothing.",
            EXIT_USAGE,
        )
    if since is not None and until is not None and since >= until:
        raise click.UsageError("No match ends between them: --since must be before --until.")
    which |= {"since_ms": _milliseconds(since), "until_ms": _milliseconds(until)}
    folder.mkdir(parents=True, exist_ok=True)
    with Api(server, token or "", patience=ONCE) as api:
        written = _written(api, folder, form, which)
    note(f"Wrote {' and '.join(written)}.")


def _written(api: Api, folder: Path, form: str, which: Mapping[str, Any]) -> list[str]:
    """Write both files, or none; return them in words."""
    from plyhouse.protocol.api import calls

    counts: dict[str, int] = {}
    with TemporaryDirectory(prefix=".export-", dir=folder) as name:
        parts = Path(name)
        # A match that ends between the two is in matches alone, so that each ply has its match.
        # With a limit it may push out an older match, whose plies are there already.
        for rows in ("plies", "matches"):
            call = calls.dataset(rows=rows, **which)
            counts[rows] = _fetch(api, call, rows, parts / f"{rows}.{form}")
        for part in parts.iterdir():
            part.replace(folder / part.name)
    return [
        f"{folder / f'{rows}.{form}'} ({counted(counts[rows], 'row')})"
        for rows in ("matches", "plies")
    ]


def _milliseconds(when: datetime | None) -> int | None:
    return None if when is None else max(0, round(when.replace(tzinfo=UTC).timestamp() * 1000))


def _fetch(api: Api, call: Call[bytes], kind: str, place: Path) -> int:
    """Write the rows of a call to a file; return their number.

    Parquet is made here, so that the server need not have pyarrow.  Raises `ApiError`,
    `Unreachable` and `OSError`, which leave a part of the file.
    """
    from plyhouse.clients.arena.progress import watched
    from plyhouse.protocol.api.matches import DATASET_MATCHES
    from plyhouse.server.results.dataset import KINDS, ParquetRows

    rows = _Rows()
    with ExitStack() as stack:
        response = stack.enter_context(api.streamed(call))
        matches = int(response.headers[DATASET_MATCHES])
        progress = stack.enter_context(watched(matches, rows, what=f"matches ({kind})"))
        out: Any = stack.enter_context(place.open("wb"))
        if place.suffix == ".parquet":
            out = stack.enter_context(ParquetRows(out, KINDS[kind]))
        for each in response.iter_bytes():
            out.write(each)
            for _ in range(rows.matches(each)):
                progress.advance(())
        rows.end()
    return rows.rows
