"""A bot on this machine as what is sent to a server: a name and bytes.

The server checks the contents; this module only packs them.
"""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

from plyhouse.protocol.hosting.package import ignored

__all__ = ["packed"]


def packed(bot: str | os.PathLike[str]) -> tuple[str, bytes]:
    """Return the name and the bytes of a Python file or a zip, or a folder made into a zip.

    Raises `FileNotFoundError`, and `ValueError` for links: a server takes ordinary files only.
    """
    path = Path(bot)
    if not path.is_dir():
        return path.name, path.read_bytes()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(each for each in folders if not ignored(each))
            for each in sorted({*folders, *(each for each in names if not ignored(each))}):
                found = Path(folder) / each
                if found.is_symlink():
                    raise ValueError(f"{found} is a link: packages hold ordinary files only")
                if each in names:
                    archive.write(found, found.relative_to(path).as_posix())
    return path.resolve().name, out.getvalue()
