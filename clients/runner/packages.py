"""Folders of a runner: packages, and what no bot can name.

Packages are fetched by their digest, and built into read-only trees once.  If all take up more than
a bound, those unused for longest are removed.  Files in use are touched repeatedly, so that
machines that share a folder keep each other's.

Logs, the outbox and packages lie in a private folder.  Landlock keeps a bot from reading and
listing files, but not from asking for a file's size and times by its name.  So the names are
secret: a part of each path is random.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import logging
import logging.handlers
import os
import secrets
import shutil
import stat
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

from plyhouse.bots.hosting.build import Built, build
from plyhouse.bots.local_packages import read_package
from plyhouse.protocol.hosting.package import Rules

PREFIX: Final = "private-"
MOVED: Final = ("logs", "outbox", "packages")
"""Folders that lie in the private one."""
FILE_BYTES: Final = 10 << 20
"""Bytes of a file before the next one begins."""
FILES: Final = 5
"""Files that are kept: the present one and four older ones."""
KEEP: Final = 2 << 30
"""Bytes that packages and trees may take up."""
IN_USE: Final = 900.0
"""Seconds for which nothing is removed after it was used."""


def private_folder(folder: Path) -> Path:
    """Return the private folder in ``folder``, made if there is none; raises `OSError`.

    Programs that share ``folder`` share it.  Folders that earlier versions kept in ``folder`` move
    into it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = sorted(folder.glob(f"{PREFIX}*"))
        private = found[0] if found else folder / f"{PREFIX}{secrets.token_hex(16)}"
        private.mkdir(mode=0o700, exist_ok=True)
        for name in MOVED:
            if not (private / name).exists():
                with contextlib.suppress(FileNotFoundError):
                    (folder / name).rename(private / name)
    finally:
        os.close(lock)
    return private


def place_of(private: Path, digest: str) -> str:
    """Return the name of a place for a bot's files that no other bot can find out."""
    return hashlib.sha256(f"{private.name}/{digest}".encode()).hexdigest()[:32]


def runner_log(folder: Path, name: str) -> logging.Logger:
    """Return a logger that writes ``runner-NAME.log``, and older files ``.1`` to ``.4``.

    ``folder`` is the runner's.  The files lie in its private folder, because the log quotes bots:
    a bot that can ask for the size of the file could read there what another bot printed.
    Raises `OSError`.
    """
    safe = "".join(c if c.isalnum() or c in "-_." else "_" for c in name)
    handler = logging.handlers.RotatingFileHandler(
        private_folder(folder) / f"runner-{safe}.log",
        maxBytes=FILE_BYTES,
        backupCount=FILES - 1,
        encoding="utf-8",
        errors="replace",
    )
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    log = logging.Logger("plyhouse.runner")
    log.addHandler(handler)
    return log


class WrongPackageError(Exception):
    """The downloaded package does not match its digest."""

    code = "submission/wrong_digest"


class Packages:
    """The packages of one folder; blocking, so not for an event loop.

    ``fetch`` gets a zip by its digest, ``rules`` what its server lets in.  Several machines may
    share a folder.
    """

    def __init__(
        self,
        folder: Path,
        fetch: Callable[[str], bytes],
        rules: Callable[[], Rules] = Rules,
        *,
        keep: int = KEEP,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self._private: Path | None = None
        self._fetch = fetch
        self.rules = rules
        self._keep = keep
        self._now = now
        self._tree_of: dict[str, Path] = {}
        """By digest."""
        self._sizes: dict[Path, int] = {}
        """The sizes of trees, which do not change."""

    @property
    def private(self) -> Path:
        """The folder that no bot can name."""
        if self._private is None:
            self._private = private_folder(self._folder)
        return self._private

    @property
    def _zips(self) -> Path:
        return self.private / "packages"

    @property
    def _trees(self) -> Path:
        return self._folder / "trees"

    def zip_of(self, digest: str) -> Path:
        """Return the submitted package, fetched if it is not here."""
        self._zips.mkdir(parents=True, exist_ok=True)
        place = self._zips / f"{digest}.zip"
        if not place.is_file():
            data = self._fetch(digest)
            part = place.with_name(f".{digest}.{secrets.token_hex(8)}")  # bots may share it
            part.write_bytes(data)
            part.replace(place)
        self._touch(place)
        return place

    def built(self, digest: str) -> Built:
        """Its tree; raises `SubmissionError` if these rules refuse it, and `WrongPackageError`."""
        place = self.zip_of(digest)
        name = place_of(self.private, digest)
        made = build(read_package(place, self.rules()), self._trees, name)
        if made.digest != digest:
            place.unlink(missing_ok=True)
            raise WrongPackageError(
                f"the package fetched as {digest[:12]}... has the digest {made.digest[:12]}..."
            )
        self._tree_of[digest] = made.folder
        self._touch(made.folder)
        return made

    def tidy(self, used: Collection[str]) -> list[Path]:
        """Remove what was not used for longest, until the rest is within the bound.

        Never what is ``used`` (digests), here or by another machine lately.  Returns what is gone.
        """
        for digest in used:
            self._touch(self._zips / f"{digest}.zip")
            if digest in self._tree_of:
                self._touch(self._tree_of[digest])
        found: list[tuple[float, Path, int]] = []
        for place in (*_entries(self._zips), *_entries(self._trees)):
            with contextlib.suppress(OSError):
                found.append((place.stat().st_mtime, place, self._size(place)))
        total = sum(size for _, _, size in found)
        gone = []
        for used_at, place, size in sorted(found):
            unfinished = place.name.startswith(".")  # of a program that was killed
            if used_at > self._now() - IN_USE or not (unfinished or total > self._keep):
                continue
            remove(place)
            self._sizes.pop(place, None)
            total -= size
            gone.append(place)
        return gone

    def _touch(self, place: Path) -> None:
        with contextlib.suppress(OSError):
            os.utime(place, (self._now(), self._now()))

    def _size(self, place: Path) -> int:
        if not place.is_dir():
            return place.stat().st_size
        if place not in self._sizes:
            self._sizes[place] = sum(
                each.stat().st_size for each in place.rglob("*") if each.is_file()
            )
        return self._sizes[place]


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def remove(place: Path) -> None:
    """Remove a file, or a read-only tree: under another name, so that nobody finds half of it."""
    with contextlib.suppress(OSError):
        if not place.is_dir():
            place.unlink(missing_ok=True)
            return
        if not place.name.startswith("."):
            gone = place.with_name(f".gone-{secrets.token_hex(8)}")
            place.rename(gone)
            place = gone
        for folder, _, _ in os.walk(place):
            os.chmod(folder, stat.S_IRWXU)
        shutil.rmtree(place)
