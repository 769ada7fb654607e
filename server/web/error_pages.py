"""Errors for people: the same answer as programs get, as a page."""

from __future__ import annotations

import http
from collections.abc import Callable
from typing import Any, Final

from litestar import Request, Response

from plyhouse.server.web.pages.rendering import page

__all__ = ["with_pages"]

Call = Request[Any, Any, Any]
Handler = Callable[[Call, Any], Response[dict[str, Any]]]
PROGRAMS: Final = ("/api/", "/web/", "/ws")
"""Beginnings of the paths that only programs and scripts ask for."""
KEPT: Final = ("retry-after", "www-authenticate")
"""Headers of an error that its page has, too."""


def with_pages(handler: Handler) -> Callable[[Call, Exception], Response[Any]]:
    """Wrap a handler of errors: browsers that open an address get a page instead of JSON."""

    def respond(request: Call, error: Exception) -> Response[Any]:
        answer = handler(request, error)
        if not _for_people(request):
            return answer
        status, detail = answer.content["status"], answer.content["detail"]
        title = http.HTTPStatus(status).phrase.capitalize()
        shown = page("missing.html", status=status, title=title, text=detail)
        shown.headers.update(
            {name: answer.headers[name] for name in KEPT if name in answer.headers}
        )
        return shown

    return respond


def _for_people(request: Call) -> bool:
    """Return whether a browser asks for a page; programs accept anything, or JSON."""
    return (
        request.method in ("GET", "HEAD")
        and not request.url.path.startswith(PROGRAMS)
        and "text/html" in request.headers.get("accept", "")
    )
