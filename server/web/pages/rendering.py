"""Render pages from templates, and plots as SVG files.

Templates escape all values; only macros return HTML.  No template uses ``|safe``, and no Python
code creates `markupsafe.Markup`: a test checks both.  An unknown name in a template raises
`jinja2.UndefinedError`.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import sys
from pathlib import Path
from typing import Any, Final

import jinja2
from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined
from litestar import MediaType, Response

from plyhouse.protocol.api.bodies import (
    LONGEST_ANNOUNCEMENT,
    LONGEST_CODE,
    LONGEST_REFERENCE,
    LONGEST_REGRADE,
    LONGEST_WHY,
)
from plyhouse.protocol.parts import (
    LONGEST_BOT,
    LONGEST_COMPETITION,
    LONGEST_GAME,
    LONGEST_ID,
    LONGEST_NAME,
    LONGEST_SECRET,
    LONGEST_TIME,
)
from plyhouse.server.version import project_links, server_version
from plyhouse.server.web import templates
from plyhouse.server.web.client import EVERYWHERE, FILES, FOLDER, PAGES, SHEET, address
from plyhouse.server.web.pages import template_filters
from plyhouse.server.web.plots import Plot

NAVIGATION: Final = (
    ("/play", "Play"),
    ("/competitions", "Competitions"),
    ("/leaderboards", "Leaderboards"),
    ("/matches", "Matches"),
    ("/wall", "Wall"),
    ("/account", "Account"),
)
"""Where the links at the top of every page lead, and what they say."""


SCRIPT: Final = re.compile(r'set script = "([\w.]+)"')
"""The place of a template that names its script."""
FIRST_ROWS: Final = 50
"""Rows of a long table that a page shows at first."""
LONGEST: Final = {
    "announcement": LONGEST_ANNOUNCEMENT,
    "bot": LONGEST_BOT,
    "code": LONGEST_CODE,
    "competition": LONGEST_COMPETITION,
    "game": LONGEST_GAME,
    "id": LONGEST_ID,
    "name": LONGEST_NAME,
    "reference": LONGEST_REFERENCE,
    "regrade": LONGEST_REGRADE,
    "secret": LONGEST_SECRET,
    "time": LONGEST_TIME,
    "why": LONGEST_WHY,
}
"""Characters that the fields of forms take at most."""


def bytecode_cache(folder: Path) -> FileSystemBytecodeCache | None:
    """Return a cache of compiled templates in ``__pycache__``; None if it is not writable.

    Compiling all templates takes a quarter of a second.
    """
    if sys.dont_write_bytecode:
        return None
    place = Path(importlib.util.cache_from_source(str(folder / "any.py"))).parent
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    if not os.access(place, os.W_OK):
        return None
    # Jinja notices changed templates and another Python, but not another version of itself.
    return FileSystemBytecodeCache(str(place), f"jinja-{jinja2.__version__}-%s.cache")


def _environment() -> Environment:
    folder = Path(templates.__file__).parent
    made = Environment(
        loader=FileSystemLoader(folder),
        bytecode_cache=bytecode_cache(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # Read once: what is served does not change while a server runs.
        auto_reload=False,
        cache_size=-1,
    )
    made.globals["NAVIGATION"] = NAVIGATION
    made.globals["web"] = address
    made.globals["FIRST_ROWS"] = FIRST_ROWS
    made.globals["LONGEST"] = LONGEST
    made.globals["VERSION"] = server_version()
    made.globals["LINKS"] = project_links()
    made.filters.update(template_filters.FILTERS)
    return made


ENVIRONMENT: Final = _environment()


def prepare() -> None:
    """Compile all templates and bundle their scripts, before clocks run that wait for it."""
    scripts = {EVERYWHERE}
    for name in ENVIRONMENT.list_templates(extensions=["html", "svg"]):
        ENVIRONMENT.get_template(name)
        text = (Path(templates.__file__).parent / name).read_text(encoding="utf-8")
        scripts.update(SCRIPT.findall(text))
    FILES.bundle([SHEET, *(f"{PAGES}{each}" for each in sorted(scripts))])


def render(template: str, /, **values: Any) -> str:
    """Return the HTML of a template with these values."""
    return ENVIRONMENT.get_template(template).render(values)


def page(template: str, /, *, status: int = 200, **values: Any) -> Response[str]:
    """Answer with a page."""
    return Response(render(template, **values), media_type=MediaType.HTML, status_code=status)


def missing(text: str) -> Response[str]:
    """Answer that a page is not there; ``text`` says why."""
    return page("missing.html", status=404, title="Not found", text=text)


TOKENS: Final = re.compile(
    r"^:root \{[^}]*\}|^@media screen and \(prefers-color-scheme: dark\) \{\s*:root \{[^}]*\}\s*\}",
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
