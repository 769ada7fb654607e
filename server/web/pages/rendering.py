"""Render pages from templates.

Templates escape all values; only macros return HTML.  No template uses ``|safe``, and no Python
code creates `markupsafe.Markup`: a test checks both.  An unknown name in a template raises
`jinja2.UndefinedError`.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import Any, Final

import jinja2
from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined
from litestar import MediaType, Response

from plyhouse.server.version import project_links, server_version
from plyhouse.server.web import templates
from plyhouse.server.web.client import INDEX, imported_by
from plyhouse.server.web.pages import template_filters

__all__ = ["ENVIRONMENT", "bytecode_cache", "missing", "page", "prepare", "render"]

NAVIGATION: Final = (
    ("/play", "Play"),
    ("/competitions", "Competitions"),
    ("/leaderboards", "Leaderboards"),
    ("/matches", "Matches"),
    ("/wall", "Wall"),
    ("/account", "Account"),
)
"""Where the links at the top of every page lead, and what they say."""


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
    made.globals["imported_by"] = imported_by
    made.globals["VERSION"] = server_version()
    made.globals["LINKS"] = project_links()
    made.filters.update(template_filters.FILTERS)
    return made


ENVIRONMENT: Final = _environment()


def prepare() -> None:
    """Compile all templates and read what scripts import, before clocks run that wait for it."""
    for name in ENVIRONMENT.list_templates(extensions=["html", "svg"]):
        ENVIRONMENT.get_template(name)
    imported_by(INDEX)  # reads the modules


def render(template: str, /, **values: Any) -> str:
    """Return the HTML of a template with these values."""
    return ENVIRONMENT.get_template(template).render(values)


def page(template: str, /, *, status: int = 200, **values: Any) -> Response[str]:
    """Answer with a page."""
    return Response(render(template, **values), media_type=MediaType.HTML, status_code=status)


def missing(text: str) -> Response[str]:
    """Answer that a page is not there; ``text`` says why."""
    return page("missing.html", status=404, title="Not found", text=text)
