"""The OpenAPI description, made to say what is answered in truth.

Litestar derives it from the handlers.  This module adds the common parts of all routes: refusals
are ``application/problem+json``, and a value may fit several types of a union.
"""

from __future__ import annotations

from typing import Any, Final

__all__ = ["complete"]

PROBLEM: Final = {
    "type": "object",
    "description": "Why a request was refused (RFC 9457).",
    "required": ["type", "status", "title", "code", "detail"],
    "properties": {
        "type": {"type": "string"},
        "status": {"type": "integer"},
        "title": {"type": "string"},
        "code": {"type": "string", "description": "Stable: for programs."},
        "detail": {"type": "string", "description": "One sentence: for people."},
    },
}
_REFUSED: Final = {
    "description": "Refused; the body says why.",
    "content": {
        "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}},
    },
}


def complete(described: dict[str, Any]) -> dict[str, Any]:
    """Return a description with what is derived wrongly, or not at all, put right."""
    made: dict[str, Any] = _any_of(described)
    made["components"]["schemas"]["Problem"] = PROBLEM
    for path in made["paths"].values():
        for operation in path.values():
            if isinstance(operation, dict) and "responses" in operation:
                operation["responses"].pop("400", None)
                operation["responses"] |= {"4XX": _REFUSED, "5XX": _REFUSED}
    return made


def _any_of(part: Any) -> Any:
    """Turn "exactly one of" into "any of": 10 is an integer and a number as well."""
    if isinstance(part, dict):
        return {("anyOf" if key == "oneOf" else key): _any_of(each) for key, each in part.items()}
    if isinstance(part, list | tuple):
        return [_any_of(each) for each in part]
    return part
