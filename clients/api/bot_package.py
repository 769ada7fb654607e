"""A bot on this machine as what is sent to a server: a name and bytes.

The server checks the contents; this module only packs them.
"""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from typing import Final

__all__ = ["packed"]

LEFT_OUT: Final = frozenset({"__pycache__", "__MACOSX", ".git", ".venv", ".idea", ".DS_Store"})


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
            folders[:] = sorted(set(folders) - LEFT_OUT)
            for each in sorted({*folders, *names} - LEFT_OUT):
                found = Path(folder) / each
                if found.is_symlink():
                    raise ValueError(f"{found} is a link: packages hold ordinary files only")
                if each in names:
                    archive.write(found, found.relative_to(path).as_posix())
    return path.resolve().name, out.getvalue()
