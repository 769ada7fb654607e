"""Files for tokens: the login that later commands use, and new tokens.

They are in ``login.json`` under ``$XDG_CONFIG_HOME/plyhouse``, by default ``~/.config/plyhouse``.
Only its owner can read the file.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import click

from plyhouse.clients.shared.errors import EXIT_USAGE, CommandError
from plyhouse.clients.shared.output import note


class DamagedLoginError(CommandError):
    """The file of the stored login cannot be understood."""


class StoredLogin(NamedTuple):
    """A server and the token of a player on it."""

    server: str
    token: str


def login_path() -> Path:
    """Return where a login is stored."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    # The specification of XDG says to ignore relative paths.
    folder = Path(base) if os.path.isabs(base) else Path("~/.config").expanduser()
    return folder / "plyhouse" / "login.json"


def stored_login() -> StoredLogin | None:
    """Return the stored login; None if there is none.

    Raises `DamagedLoginError` if the file is damaged, and `CommandError` if others can read it.
    """
    place = login_path()
    try:
        with place.open("rb") as file:
            if os.name == "posix" and stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                raise CommandError(
                    f"Others can read your token in {place}. Run chmod 600 {place}, or "
                    "`plyhouse logout` and ask for a new token.",
                    EXIT_USAGE,
                )
            found = json.loads(file.read())
        return StoredLogin(str(found["server"]), str(found["token"]))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise CommandError(f"{place} cannot be read: {error.strerror}.", EXIT_USAGE) from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise DamagedLoginError(
            f"{place} is damaged: run `plyhouse login` again, or `plyhouse logout`.", EXIT_USAGE
        ) from None


def store_login(login: StoredLogin) -> Path:
    """Replace the stored login; returns its file, which has mode 0600 from the beginning."""
    place = login_path()
    try:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, part = tempfile.mkstemp(dir=place.parent, prefix=".login.")  # mode 0600
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(login._asdict(), file)
                file.write("\n")
            os.replace(part, place)
        except BaseException:
            Path(part).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise CommandError(f"{place} cannot be written: {error.strerror}.", EXIT_USAGE) from None
    return place


def remove_login() -> bool:
    """Remove the stored login; returns whether there was one."""
    try:
        login_path().unlink()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise CommandError(
            f"{login_path()} cannot be removed: {error.strerror}.", EXIT_USAGE
        ) from None
    return True


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
