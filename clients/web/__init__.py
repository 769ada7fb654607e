"""The web client: static ES modules, HTML and CSS that a server hands out; nothing to build.

It speaks protocol v1 (JSON) and the HTTP API, and draws scenes: it knows no game.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

__all__ = ["FOLDER"]

FOLDER: Final = Path(__file__).resolve().parent
"""Where the files lie; ``index.html`` is the start page."""
