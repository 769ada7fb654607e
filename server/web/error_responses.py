"""Errors of the web API: one JSON form for all of them, with the stable codes of the protocol.

The body follows RFC 9457 (``application/problem+json``): ``status``, ``title``, ``detail`` (one
sentence for people) and our ``code`` for programs.
"""

from __future__ import annotations

import http
import logging
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Final

from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException

from plyhouse.games.errors import GameError
from plyhouse.protocol.api.answers import problem
from plyhouse.protocol.codec import lowered
from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.accounts.roles import NotStaff
from plyhouse.server.competition_rules.class_list import InvalidStudents
from plyhouse.server.competition_rules.dates import InvalidTime
from plyhouse.server.competition_rules.file_reader import InvalidCompetition
from plyhouse.server.hosting.runners import RunnerRefused
from plyhouse.server.jobs.helper_jobs import NotWorkedOut
from plyhouse.server.web.forwarding import LeaderNeeded
from plyhouse.server.web.pages.rendering import page
from plyhouse.storage.errors import InvalidValue, StorageError, Unknown, public_message

log = logging.getLogger("plyhouse.server.web")

_STATUS: Final = {
    "auth/required": 401,
    "auth/bad_token": 401,
    "auth/revoked": 401,
    "auth/disabled": 403,
    "auth/suspended": 409,
    "auth/rate": 429,
    "auth/limit": 409,
    "auth/scope": 403,
    "auth/role": 403,
    "auth/registration_closed": 403,
    "auth/bad_password": 401,
    "auth/signed_out": 401,
    "auth/other_page": 403,
    "guest/closed": 403,
    "guest/full": 503,
    "guest/casual": 409,
    "house/no_bot": 503,
    "server/overloaded": 503,
    "auth/name_taken": 409,
    "runner/name_taken": 409,
    "game/unknown": 404,
    "match/unknown": 404,
    "match/not_over": 409,
    "match/not_yours": 403,
    "storage/unknown": 404,
    "storage/exists": 409,
    "storage/display_taken": 409,
    "storage/bad_name": 400,
    "storage/bad_value": 400,
    "storage/not_now": 409,
    "storage/limit": 409,
    "competition/code_unknown": 404,
    "competition/invalid": 400,
    "competition/bad_list": 400,
    "competition/bad_time": 400,
    "submission/not_hosted": 403,
    "hosted/closed": 403,
    "hosted/no_runner": 503,
    "hosted/busy": 503,
    "hosted/limit": 429,
    "submission/too_large": 413,
    "submission/too_many": 429,
    "submission/busy": 429,
    "submission/quota": 409,
    "submission/entered": 409,
    "review/off": 501,
    "review/busy": 503,
    "review/failed": 500,
    "review/too_long": 504,
    "tree/off": 501,
    "tree/busy": 503,
    "tree/rate": 429,
    "tree/failed": 500,
    "tree/too_long": 504,
    "tree/impossible": 400,
    "tree/hidden": 409,
    "server/storage": 503,
    "server/shutting_down": 503,
}


class Problem(Exception):  # noqa: N818 (named after RFC 9457)
    """An error response with its own code, if no other exception of the server has one."""

    def __init__(self, code: str, detail: str, status: int | None = None) -> None:
        super().__init__(detail)
        self.code = code
        self.status = status


_BY_AREA: Final = {"storage": 503, "competition": 409, "erasure": 409}


def _respond(
    code: str, detail: str, status: int | None = None, wait: int | None = None, **more: Any
) -> Response[dict[str, Any]]:
    """Return an error response; ``wait`` is the number of seconds after which to retry."""
    if status is None:
        status = _STATUS.get(code) or _BY_AREA.get(code.partition("/")[0], 400)
    sentence = detail if detail.endswith((".", "!", "?", "]")) else f"{detail}."
    body = problem(status, code, sentence, **more)
    headers = {"www-authenticate": "Bearer"} if status == 401 else {}
    if wait is not None:
        body["retry_after"] = wait
        headers["retry-after"] = str(wait)
    return Response(
        body, status_code=status, media_type="application/problem+json", headers=headers
    )


def _known(_: Request[Any, Any, Any], error: Exception) -> Response[dict[str, Any]]:
    code = getattr(error, "code", "server/fault")
    if isinstance(error, Unknown):
        code = "storage/unknown"
    detail = str(error)
    if isinstance(error, StorageError):
        detail = public_message(error)
        if detail != str(error) and not isinstance(error, InvalidValue):  # the client's mistake
            log.error("request failed", extra={"code": code, "why": str(error)})
    wait = getattr(error, "retry_after", None)
    return _respond(code, detail, getattr(error, "status", None), wait)


def _not_worked_out(_: Request[Any, Any, Any], error: Exception) -> Response[dict[str, Any]]:
    wait = getattr(error, "retry_after", None)
    return _respond(getattr(error, "code", "server/fault"), str(error), wait=wait)


def _many(_: Request[Any, Any, Any], error: Exception) -> Response[dict[str, Any]]:
    """Return one response for several invalid parameters or fields."""
    if isinstance(error, InvalidCompetition):
        return _respond(error.code, str(error), mistakes=list(map(asdict, error.mistakes)))
    rows = error.rows if isinstance(error, InvalidStudents) else ()
    return _respond(InvalidStudents.code, str(error), rows=list(map(asdict, rows)))


def _http(request: Request[Any, Any, Any], error: Exception) -> Response[dict[str, Any]]:
    status = getattr(error, "status_code", 500)
    detail = str(getattr(error, "detail", error))
    if isinstance(error, ValidationException):
        extra = error.extra if isinstance(error.extra, list) else []
        reasons = [_reason(item) for item in extra if isinstance(item, dict)]
        if reasons:
            detail = "; ".join(reasons)
    elif status == 400:  # raised by the reader of bodies
        detail = f"The body could not be read: {lowered(detail)}"
    if status == 413:
        most = request.route_handler.resolve_request_max_body_size()
        detail = f"The body is too long: at most {most} bytes are read."
    if status == 405:
        detail = f"{request.method} is not possible at {request.url.path}; see /api for what is."
    if status == 404:
        detail = f"There is nothing at {request.url.path}; see /api for what there is."
    return _respond(f"http/{status}", detail, status)


def _reason(item: dict[str, Any]) -> str:
    """A mistake in one parameter or field; ``data`` is Litestar's name for the body."""
    key, message = item.get("key", "data"), str(item.get("message", ""))
    if message == "Expected `str` of length >= 1":
        return f"{key} is empty: give a text"
    if key != "data":
        return f"{key}: {message}"
    if message == "'data'":
        return "The request needs a body: a JSON object"
    return f"The body is not as it should be: {lowered(message)}"


def _fault(request: Request[Any, Any, Any], error: Exception) -> Response[dict[str, Any]]:
    what = {"method": request.method, "path": request.url.path}
    log.error("request failed", extra=what, exc_info=error)
    return _respond("server/fault", "The server made an error; its log says more.", 500)


def _recursion(request: Request[Any, Any, Any], error: Exception) -> Response[dict[str, Any]]:
    if "deserializing" in str(error):  # the reader of bodies says so
        return _respond("http/400", "The body could not be read: it is nested too deeply.", 400)
    return _fault(request, error)


HANDLERS: Final[dict[type[Exception] | int, Any]] = {
    InvalidCompetition: _many,
    InvalidStudents: _many,
    InvalidTime: _known,
    Problem: _known,
    LeaderNeeded: _known,
    NotWorkedOut: _not_worked_out,
    RunnerRefused: _known,
    NotStaff: _known,
    ProtocolError: _known,
    StorageError: _known,
    GameError: _known,
    HTTPException: _http,
    RecursionError: _recursion,
    Exception: _fault,
}
"""For Litestar: which exception becomes which answer."""


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
