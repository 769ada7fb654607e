"""Hooks of MkDocs: descriptions of pages, sizes of pictures, and a name for the search dialog.

Search engines show the description of a page below its title.
A browser reserves the place of a picture whose size it knows, so that text below does not move.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

IMAGE: Final = re.compile(r'<img ([^>]*\bsrc="([^":]+)"[^>]*)>')
DIALOG: Final = 'data-md-component="search" role="dialog"'
SVG: Final = re.compile(rb'<svg\b[^>]*?\bviewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"')

LONGEST: Final = 160
"""Characters of a description; search engines cut longer ones."""
MARKUP: Final = ("|", "!", "-", "*", ":", ">", "<", "[", "1")
"""Beginnings of blocks that are no paragraph."""


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> None:
    """Describe a page by its first paragraph, unless its author has."""
    if text := first_paragraph(markdown):
        page.meta.setdefault("description", html.escape(text))


def first_paragraph(markdown: str) -> str:
    """Return the first sentences of a page without markup, `LONGEST` characters at most."""
    prose = re.sub(r"<!--.*?-->|^( *)```.*?^\1```$", "", markdown, flags=re.S | re.M)
    for block in re.split(r"\n\s*\n", prose):
        text = "\n".join(line for line in block.splitlines() if not line.startswith("#")).strip()
        if text and not text.startswith(MARKUP):
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", " ".join(text.split()))
            cut = plain if len(plain) <= LONGEST else plain[: LONGEST - 1].rpartition(" ")[0] + "…"
            ended = cut.rpartition(". ")[0]
            return f"{ended}." if ended and cut.endswith("…") else cut
    return ""


def on_page_content(html: str, *, page: Any, config: Any, **_: Any) -> str:
    """Add the width and height of pictures that have only one or none."""
    folder = Path(config["docs_dir"], page.file.src_uri).parent

    def sized(found: re.Match[str]) -> str:
        attributes, source = found.groups()
        if "height=" in attributes:
            return found[0]
        wide, high = size_of(folder / unquote(source))
        shown = re.search(r'\bwidth="(\d+)"', attributes)
        if shown is None:
            return f'<img width="{wide:.0f}" height="{high:.0f}" {attributes}>'
        return f'<img height="{high * int(shown[1]) / wide:.0f}" {attributes}>'

    return IMAGE.sub(sized, html)


def on_post_page(output: str, **_: Any) -> str:
    """Name the search dialog for screen readers; the theme does not."""
    return output.replace(DIALOG, f'{DIALOG} aria-label="Search"')


on_post_template = on_post_page  # for 404.html


def size_of(picture: Path) -> tuple[float, float]:
    """Return width and height of an SVG or WebP picture; raises ValueError for other formats."""
    data = picture.read_bytes()
    if found := SVG.search(data):
        return float(found[1]), float(found[2])
    chunk = data[12:16] if data[:4] == b"RIFF" else b""
    if chunk == b"VP8X":
        return 1 + _number(data[24:27]), 1 + _number(data[27:30])
    if chunk == b"VP8L":
        bits = _number(data[21:25])
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if chunk == b"VP8 ":
        return _number(data[26:28]) & 0x3FFF, _number(data[28:30]) & 0x3FFF
    raise ValueError(f"{picture} is neither an SVG with a viewBox nor a WebP picture")


def _number(data: bytes) -> int:
    return int.from_bytes(data, "little")
