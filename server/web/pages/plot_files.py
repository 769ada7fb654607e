"""Plots as SVG files that have their colours in themselves."""

from __future__ import annotations

import functools
import re
from typing import Any, Final

from litestar import Response

from plyhouse.server.web.client import FOLDER
from plyhouse.server.web.pages.rendering import missing, render
from plyhouse.server.web.plots import Plot

__all__ = ["plot_answer"]

TOKENS: Final = re.compile(
    r"^:root \{[^}]*\}|^@media \(prefers-color-scheme: dark\) \{\s*:root \{[^}]*\}\s*\}",
    re.MULTILINE,
)
"""The rules of ``style.css`` that name colours, for light and dark."""
UNSAFE: Final = re.compile(r"[^\w.-]+")
HEADERS: Final = {
    # A picture has its colours in itself, and does nothing.
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "cache-control": "no-cache",
}


@functools.cache
def _style() -> str:
    """Return the colours of the pages and the style of plots; empty without the web client."""
    try:
        tokens = (FOLDER / "style.css").read_text(encoding="utf-8")
        looks = (FOLDER / "plots.css").read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    return "\n".join([*TOKENS.findall(tokens), looks])


def plot_answer(plot: Plot | None, subject: str) -> Response[Any]:
    """Answer with the file of a plot, named after its subject; without one, with a page."""
    if plot is None:
        return missing(f"There is no such plot of {subject}.")
    name = UNSAFE.sub("-", f"{subject}-{plot.name}").strip("-")
    return Response(
        render("plot.svg", plot=plot, style=_style()).lstrip(),
        media_type="image/svg+xml",
        headers={**HEADERS, "content-disposition": f'attachment; filename="{name}.svg"'},
    )
