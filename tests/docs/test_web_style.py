"""The page about the style of the web client has every token with its values."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r":root \{([^}]*)\}")
TOKEN = re.compile(r"(--[\w-]+): ([^;]+);")
DISTANCE = re.compile(r"(?<![\w-])(?:padding|margin|gap)[\w-]*: ([^;}]+)")
LENGTH = re.compile(r"(?<![\w.-])(\d*\.?\d+)(px|rem)")
LEAST = {"px": 4, "rem": 0.25}
"""The first full distance; anything shorter is `--space-half`."""


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


def test_distances_below_a_quarter_rem_are_tokens() -> None:
    found = []
    for sheet in sorted((ROOT / "clients/web").glob("*.css")):
        for value in DISTANCE.findall(sheet.read_text(encoding="utf-8")):
            short = [
                size + unit for size, unit in LENGTH.findall(value) if 0 < float(size) < LEAST[unit]
            ]
            if short:
                found.append(f"{sheet.name}: {value}")
    assert found == []
