"""A package as a read-only tree, built once, under the name of what it holds."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from plyhouse.bots.hosting.package import Manifest, Package
from plyhouse.bots.running.digest import bot_digest

__all__ = ["Built", "build", "version_of"]


@dataclass(frozen=True, slots=True)
class Built:
    """A package that can be played."""

    folder: Path
    """Its tree: nothing in it can be written."""
    version: str
    """SHA-256 of all that it holds: the same version is the same package."""
    digest: str
    """What its runner reports to the server.

    For a bot by our API it is `bot_digest`, the same number that the author's own runner reports
    for these files; it leaves out files that the bot does not import.  For a program, `version`.
    """
    manifest: Manifest
    requirements: tuple[str, ...]

    @property
    def spec(self) -> str:
        """The bot as `plyhouse.bots.loading` takes it; empty for a program."""
        return str(self.folder / self.manifest.bot) if self.manifest.bot else ""


def version_of(package: Package) -> str:
    """The SHA-256 of names, contents, and what may be run; 64 hexadecimal digits."""
    whole = hashlib.sha256(b"plyhouse-package-1")
    for name, content in sorted(package.files.items()):
        mark = b"x" if name in package.executable else b"-"
        for each in (name.encode(), mark, content):
            whole.update(len(each).to_bytes(8, "big") + each)
    return whole.hexdigest()


def build(package: Package, store: Path) -> Built:
    """Write the tree to ``store``, unless it is there; blocking, so not for an event loop.

    Two builds of one package at a time do no harm: the tree appears whole, and once.
    """
    version = version_of(package)
    folder = store.resolve() / version
    if not folder.is_dir():
        store.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=".draft-", dir=store.resolve()))
        try:
            _write(package, draft)
            with contextlib.suppress(FileExistsError, OSError):
                draft.rename(folder)
        finally:
            if draft.exists():
                _writable(draft)
                shutil.rmtree(draft, ignore_errors=True)
        if not folder.is_dir():
            raise OSError(f"the tree {folder} could not be made")
    digest = bot_digest(str(folder / package.manifest.bot)) if package.manifest.bot else version
    return Built(folder, version, digest, package.manifest, package.requirements)


def _write(package: Package, top: Path) -> None:
    for name, content in package.files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o555 if name in package.executable else 0o444)
    for folder, _, _ in os.walk(top, topdown=False):
        os.chmod(folder, 0o555)  # noqa: S103 - bots' users have to read it


def _writable(top: Path) -> None:
    for folder, _, _ in os.walk(top):
        os.chmod(folder, 0o700)
