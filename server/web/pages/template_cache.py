"""Compiled templates, kept where Python keeps compiled modules: in ``__pycache__`` beside them.

To compile all templates takes a server a quarter of a second.  What is kept is used for the very
text that it was made from, by the same Jinja and the same settings, and else made anew; where
nothing can be written, every server makes it for itself.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from jinja2 import BytecodeCache, compiler
from jinja2.bccache import Bucket

__all__ = ["KeptTemplates"]

SUFFIX: Final = ".jinja"


class KeptTemplates(BytecodeCache):
    """Keeps the templates of a folder; ``settings`` are modules that say how they are compiled."""

    def __init__(self, templates: Path, settings: Sequence[str]) -> None:
        # Where Python would keep what is made of a file there: it may have been told a folder.
        self._folder = Path(importlib.util.cache_from_source(str(templates / "any.py"))).parent
        made_by = hashlib.sha256()
        for module in (*settings, compiler.__file__):
            about = os.stat(module)
            made_by.update(f"{module}|{about.st_size}|{about.st_mtime_ns}\n".encode())
        self._made_by = made_by.digest()

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill the bucket, unless what is kept was made by others; Jinja compares the text."""
        with contextlib.suppress(OSError), self._file(bucket).open("rb") as file:
            if file.read(len(self._made_by)) == self._made_by:
                bucket.load_bytecode(file)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what was compiled, whole or not at all: several servers may start at once."""
        if sys.dont_write_bytecode or bucket.code is None:
            return
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._folder, suffix=SUFFIX)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(self._made_by)
                    bucket.write_bytecode(file)
                os.replace(name, self._file(bucket))
            except BaseException:
                os.unlink(name)
                raise

    def _file(self, bucket: Bucket) -> Path:
        return self._folder / f"{bucket.key}{SUFFIX}"
