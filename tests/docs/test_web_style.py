"""The page about the style of the web client has every token with its values."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r":root \{([^}]*)\}")
TOKEN = re.compile(r"(--[\w-]+): ([^;]+);")


def test_page_names_every_token_with_its_values() -> None:
    style = (ROOT / "clients/web/style.css").read_text(encoding="utf-8")
    page = (ROOT / "docs/web-style.md").read_text(encoding="utf-8")
    light, dark = (dict(TOKEN.findall(block)) for block in BLOCK.findall(style)[:2])
    assert len(dark) >= 18
    for name, value in light.items():
        if name in dark:
            assert f"| `{name}` | `{value}` | `{dark[name]}` |" in page
        elif not name.startswith("--heat-"):
            spaced = re.sub(r"(?<=\d)(?=r?em)", " ", value)
            assert f"`{name}` ({spaced})" in page
