"""The examples of the protocol's guide."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


PAGES = ("protocol.md", "reconnect.md")
GUIDE = "\n".join((ROOT / "docs" / page).read_text(encoding="utf-8") for page in PAGES)


def examples() -> Iterator[dict[str, Any]]:
    """Every message in a json fence."""
    decoder = json.JSONDecoder()
    for fence in re.findall(r"```json[^\n]*\n(.*?)```", GUIDE, re.DOTALL):
        rest = fence.strip()
        while rest:
            value, end = decoder.raw_decode(rest)
            yield value
            rest = rest[end:].lstrip()
