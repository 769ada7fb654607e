"""Build a package into a read-only tree, once, named by its contents."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from plyhouse.protocol.hosting.package import Manifest, Package, digest_of, version_of

__all__ = ["Built", "build", "version_of"]


@dataclass(frozen=True, slots=True)
class Built:
    """A package that can be played."""

    folder: Path
    """Its tree: nothing in it can be written."""
    digest: str
    """The digest that its runner reports to the server, see `digest_of`."""
    manifest: Manifest
    readable: tuple[str, ...] = ()
    """Folders that its program may read beside the tree."""

    @property
    def spec(self) -> str:
        """The bot as `plyhouse.bots.loading` takes it; empty for a program."""
        return str(self.folder / self.manifest.bot) if self.manifest.bot else ""


def build(package: Package, store: Path, name: str = "") -> Built:
    """Write the tree to ``store``, unless it is there; blocking, so not for an event loop.

    ``name`` is that of the tree's folder; empty for the package's version.

    Two builds of one package at a time do no harm: the tree appears whole, and once.
    """
    folder = store.resolve() / (name or version_of(package))
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
    return Built(folder, digest_of(package), package.manifest)


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
