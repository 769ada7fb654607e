"""Write the synchronous client: ``python -m tests.server.make_sync_client``.

``clients/api/sync_api.py`` is ``clients/api/async_api.py`` without ``async`` and ``await``; a test
compares the two.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

from plyhouse.clients import api

__all__ = ["TARGET", "sync_text"]

FOLDER: Final = Path(api.__file__).resolve().parent
"""The package, which may be installed from a wheel."""
STYLED_AS: Final = Path(__file__).resolve().parents[2] / "clients" / "api" / "sync_api.py"
"""Where ruff looks for its settings."""
SOURCE: Final = FOLDER / "async_api.py"
TARGET: Final = FOLDER / "sync_api.py"

HEAD: Final = '''\
"""`Api`: a server's HTTP API, for scripts and notebooks that wait for every answer.

`python -m tests.server.make_sync_client` writes this module from `async_api`: change that one.
"""
'''
CHANGES: Final = (
    (r'^""".*?"""\n', HEAD),
    (r"Several calls\s+may\s+be awaited at once\.", "Two threads\n    must not use it at once."),
    (r"await asyncio\.to_thread\((\w+), (\w+)\)", r"\1(\2)"),
    (r"Awaitable\[None\]\] = asyncio\.sleep", "None] = time.sleep"),
    (r"import asyncio\b", "import time"),
    (r"\bAsync(Api|Iterator)\b", r"\1"),
    (r"\bhttpx\.AsyncClient\b", "httpx.Client"),
    (r"\b__a(enter|exit)__\b", r"__\1__"),
    (r"\baclose\b", "close"),
    (r"\b(async|await) ", ""),
    (r"for row in page:\s+yield row", "yield from page"),
)


def sync_text() -> str:
    """Return the text of the module that waits."""
    text = SOURCE.read_text(encoding="utf-8")
    for pattern, replacement in CHANGES:
        text, times = re.subn(pattern, replacement, text, flags=re.DOTALL)
        assert times, f"{pattern} is not in {SOURCE}"
    for step in (("format",), ("check", "--fix", "--quiet"), ("format",)):
        command = [sys.executable, "-m", "ruff", *step, f"--stdin-filename={STYLED_AS}", "-"]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
        text = done.stdout
    return text


if __name__ == "__main__":
    TARGET.write_text(sync_text(), encoding="utf-8")
