"""Read files of match records."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from plyhouse.clients.shared.errors import EXIT_FAILED, EXIT_USAGE, CommandError

if TYPE_CHECKING:
    from plyhouse.server.results.record import Record

__all__ = ["records_in"]

MATCH_ID: Final = re.compile("[0-9a-z]{14}")


def records_in(file: Path) -> Iterator[Record]:
    """Yield the records of a file; raise `CommandError` if it cannot be read."""
    from plyhouse.server.results.record import RecordError, read_record

    try:
        data = file.read_bytes()
    except OSError as error:
        if not file.exists() and MATCH_ID.fullmatch(str(file)):
            raise CommandError(
                f"There is no file {file}. If that is a match, save its record first: "
                f"plyhouse record {file} -o {file}.json",
                EXIT_USAGE,
            ) from error
        if not file.exists():
            raise CommandError(
                f"There is no file {file}. Give a file of records. `plyhouse record MATCH -o FILE` "
                "writes one for a match of a server; MATCH is its id of 14 digits and letters. "
                "`plyhouse match --save FILE` writes one for matches on your machine.",
                EXIT_USAGE,
            ) from error
        reason = (error.strerror or "cannot be read").lower()
        raise CommandError(f"{file}: {reason}.", EXIT_USAGE) from error
    # A single record is indented over many lines; in a series, each record has one line.
    lines = data.splitlines()
    series = len(lines) > 1 and lines[0].rstrip().endswith(b"}")
    for number, text in enumerate(lines if series else [data], 1):
        if not text.strip():
            continue
        try:
            yield read_record(text)
        except RecordError as error:
            place = f"{file}, line {number}" if series else str(file)
            raise CommandError(f"{place}: {error}", EXIT_FAILED) from error
