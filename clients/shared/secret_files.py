"""Files for tokens, which a server shows only once."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from plyhouse.clients.shared.errors import EXIT_USAGE, CommandError
from plyhouse.clients.shared.output import note

__all__ = ["secret_writer"]


@contextlib.contextmanager
def secret_writer(place: Path | None) -> Iterator[Callable[[str], None]]:
    """Give a function that writes a text to a new file, readable by its owner only.

    Opens a temporary file beside ``place`` first, so a folder that cannot be written is reported
    before the server makes a token.  ``place`` appears with all of the text, or not at all.
    ``None`` writes to standard output.  Raises `CommandError` if the file exists.
    """
    if place is None:
        yield lambda text: click.echo(text, nl=False)
        return
    _refuse_existing(place)
    try:
        descriptor, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
    except OSError as error:
        raise CommandError(f"{place} cannot be written: {error.strerror}.", EXIT_USAGE) from None
    part = Path(name)
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:

        def write(text: str) -> None:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
            try:
                os.link(part, place)
            except FileExistsError:  # made by somebody else meanwhile: the text must not be lost
                note(f"{place} exists. The text stands here instead:")
                click.echo(text, nl=False)
            except OSError:  # a file system without hard links
                part.replace(place)

        try:
            yield write
        finally:
            part.unlink(missing_ok=True)


def _refuse_existing(place: Path) -> None:
    if place.exists() or place.is_symlink():
        raise CommandError(
            f"{place} exists already, perhaps with tokens. Give another file.", EXIT_USAGE
        )
