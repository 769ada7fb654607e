"""Errors of requests to a server.

ApiError          the server refused: ``code`` is stable and for programs, ``str()`` for people
Unreachable       nobody answered, or what answered is no Plyhouse server
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

__all__ = ["ApiError", "Unreachable"]


class ApiError(Exception):
    """The server refused a request.

    >>> error = ApiError("auth/required", "Send the header 'Authorization: Bearer TOKEN'.", 401)
    >>> error.code, error.status
    ('auth/required', 401)
    """

    def __init__(
        self,
        code: str,
        message: str,
        status: int,
        retry_after: float | None = None,
        fields: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        """Stable: what programs decide by."""
        self.status = status
        """HTTP's status."""
        self.retry_after = retry_after
        """Seconds after which the server asks to be asked again; None if it said nothing."""
        self.fields = dict(fields or {})
        """All that the server said, such as the ``mistakes`` of a competition file, one by one."""


class Unreachable(Exception):  # noqa: N818 - a condition, named like those of the house
    """The server could not be reached, or what answered is no Plyhouse server."""

    code: ClassVar[str] = "connection/unreachable"
