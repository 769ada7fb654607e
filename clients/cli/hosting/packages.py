"""Packages in a folder of the machine: fetched by their digest, built into read-only trees once."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from plyhouse.bots.hosting.build import Built, build
from plyhouse.bots.hosting.package import read_package
from plyhouse.protocol.package import Rules

__all__ = ["Packages", "WrongPackageError"]


class WrongPackageError(Exception):
    """What was fetched is not what its digest says."""

    code = "submission/wrong_digest"


class Packages:
    """The packages of one folder; blocking, so not for an event loop.

    ``fetch`` gets a zip by its digest, ``rules`` what its server lets in.  Several machines may
    share a folder.
    """

    def __init__(
        self, folder: Path, fetch: Callable[[str], bytes], rules: Callable[[], Rules] = Rules
    ) -> None:
        self._zips = folder / "packages"
        self._trees = folder / "trees"
        self._fetch = fetch
        self.rules = rules

    def zip_of(self, digest: str) -> Path:
        """The package as it was handed in, fetched unless it is here."""
        self._zips.mkdir(parents=True, exist_ok=True)
        place = self._zips / f"{digest}.zip"
        if not place.is_file():
            data = self._fetch(digest)
            part = place.with_name(f".{digest}.{os.getpid()}")
            part.write_bytes(data)
            part.replace(place)
        return place

    def built(self, digest: str) -> Built:
        """Its tree; raises `SubmissionError` if these rules refuse it, and `WrongPackageError`."""
        place = self.zip_of(digest)
        made = build(read_package(place, self.rules()), self._trees)
        if made.digest != digest:
            place.unlink(missing_ok=True)
            raise WrongPackageError(
                f"the package fetched as {digest[:12]}... has the digest {made.digest[:12]}..."
            )
        return made
