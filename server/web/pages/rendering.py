"""The template engine: made once, everything escaped, nothing undefined.

All values are escaped where a template writes them, so that a name is text wherever it comes
from; only what macros return is HTML already.  There is no ``|safe`` in any template, and no
`markupsafe.Markup` is made in Python: a test sees to both.  A name that a template does not
know is an error (`jinja2.UndefinedError`), never an empty place.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from litestar import MediaType, Response

from plyhouse.server.web import templates
from plyhouse.server.web.client import INDEX, imported_by
from plyhouse.server.web.pages import words
from plyhouse.server.web.pages.template_cache import KeptTemplates

__all__ = ["ENVIRONMENT", "missing", "page", "prepare", "render"]

NAVIGATION: Final = (
    ("/", "Leaderboards"),
    ("/competitions", "Competitions"),
    ("/matches", "Matches"),
    ("/wall", "Wall"),
    ("/play", "Play"),
    ("/account", "Account"),
    ("/api", "API"),
)
"""Where the links at the top of every page lead, and what they say."""


def _environment() -> Environment:
    folder = Path(templates.__file__).parent
    made = Environment(
        loader=FileSystemLoader(folder),
        bytecode_cache=KeptTemplates(folder, (__file__, words.__file__)),
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
    made.filters.update(words.FILTERS)
    return made


ENVIRONMENT: Final = _environment()


def prepare() -> None:
    """Compile all templates and read what scripts import, before clocks run that wait for it."""
    for name in ENVIRONMENT.list_templates(extensions=["html"]):
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
    return page("missing.html", status=404, text=text)
