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
from plyhouse.clients.shared.options import Server, on_server
from plyhouse.clients.shared.output import counted, note

if TYPE_CHECKING:
    from plyhouse.clients.api.client import Api
    from plyhouse.protocol.api.routes import Call

DAY = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"])


class _Rows:
    """Chooses and counts rows of JSON Lines, and counts the matches to which they belong."""

    def __init__(self, kind: str, chosen: set[bytes] | None) -> None:
        """Rows of matches are added to those ``chosen``; plies of others are left out.

        None stands for all matches.
        """
        self.rows = 0
        self._kind = kind
        self._chosen = chosen
        self._match = self._rest = b""

    def whole(self, part: bytes) -> tuple[bytes, int]:
        """Return the rows to write that a part completes, and how many matches begin in them."""
        *lines, self._rest = (self._rest + part).split(b"\n")
        kept: list[bytes] = []
        begun = 0
        for line in lines:
            match = line.partition(b",")[0]  # the first field of a row
            begun += match != self._match
            self._match = match
            if self._chosen is not None and self._kind == "matches":
                self._chosen.add(match)
            if self._chosen is None or match in self._chosen:
                kept.append(line + b"\n")
        self.rows += len(kept)
        return b"".join(kept), begun

    def end(self) -> None:
        """Raise `CommandError` if the last row is cut off: a proxy may end a part as a whole."""
        if self._rest:
            raise CommandError("The data set ends within a row. Ask again.", EXIT_UNREACHABLE)

    def add(self, results: Iterable[Any]) -> None:
        """Do nothing: `whole` counts."""

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
@on_server
def export(
    since: datetime | None,
    until: datetime | None,
    form: str,
    folder: Path,
    server: Server,
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
    with Api(server.address, server.token or "", patience=ONCE) as api:
        written = _written(api, folder, form, which)
    note(f"Wrote {' and '.join(written)}.")


def _written(api: Api, folder: Path, form: str, which: Mapping[str, Any]) -> list[str]:
    """Write both files, or none; return them in words."""
    from plyhouse.protocol.api import calls

    counts: dict[str, int] = {}
    with TemporaryDirectory(prefix=".export-", dir=folder) as name:
        parts = Path(name)
        # A match that ends between the two is in matches alone, so that each ply has its match.
        # With a limit it would push out an older match.  Then the matches come first, and plies of
        # others are left out.
        chosen: set[bytes] | None = None if which["limit"] is None else set()
        for kind in ("plies", "matches") if chosen is None else ("matches", "plies"):
            call = calls.dataset(rows=kind, **which)
            rows = _Rows(kind, chosen)
            _fetch(api, call, kind, parts / f"{kind}.{form}", rows)
            counts[kind] = rows.rows
        for part in parts.iterdir():
            part.replace(folder / part.name)
    return [
        f"{folder / f'{kind}.{form}'} ({counted(counts[kind], 'row')})"
        for kind in ("matches", "plies")
    ]


def _milliseconds(when: datetime | None) -> int | None:
    return None if when is None else max(0, round(when.replace(tzinfo=UTC).timestamp() * 1000))


def _fetch(api: Api, call: Call[bytes], kind: str, place: Path, rows: _Rows) -> None:
    """Write the rows of a call to a file, and count them.

    Parquet is made here, so that the server need not have pyarrow.  Raises `ApiError`,
    `Unreachable` and `OSError`, which leave a part of the file.
    """
    from plyhouse.clients.arena.progress import watched
    from plyhouse.protocol.api.matches import DATASET_MATCHES
    from plyhouse.server.results.dataset import KINDS, ParquetRows

    with ExitStack() as stack:
        response = stack.enter_context(api.streamed(call))
        matches = int(response.headers[DATASET_MATCHES])
        progress = stack.enter_context(watched(matches, rows, what=f"matches ({kind})"))
        out: Any = stack.enter_context(place.open("wb"))
        if place.suffix == ".parquet":
            out = stack.enter_context(ParquetRows(out, KINDS[kind]))
        for each in response.iter_bytes():
            whole, begun = rows.whole(each)
            out.write(whole)
            for _ in range(begun):
                progress.advance(())
        rows.end()
