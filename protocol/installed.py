"""The version of Plyhouse that is installed."""

from __future__ import annotations

import functools
import os
import re
import sys
from typing import Final

_FOLDER: Final = re.compile(r"plyhouse-([^-]+)\.dist-info")


@functools.cache
def installed_version() -> str:
    """Return the version of this package; empty if it is not installed.

    The folder of its metadata has the version in its name.  `importlib.metadata` finds it in the
    same way, but takes as long to import as the rest of ``plyhouse --version`` to run.
    """
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except OSError:  # an archive, or no folder at all
            continue
        for found in filter(None, map(_FOLDER.fullmatch, names)):
            return found[1]
    from importlib import metadata  # for packages in archives

    try:
        return metadata.version("plyhouse")
    except metadata.PackageNotFoundError:
        return ""
