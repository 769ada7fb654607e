"""Errors on the command line, and their exit codes for scripts.

Every error that a user can cause or cure ends in one sentence on standard error and one of the
codes below.  It never ends in a traceback, unless ``plyhouse --debug`` asks for one.

Other packages raise *domain errors*: exceptions with a stable ``code`` such as
``game/unknown`` or ``storage/locked``.  The part before the slash decides the exit code.
"""

from __future__ import annotations

import errno
from typing import Final

EXIT_OK: Final = 0
EXIT_FAILED: Final = 1
"""A check or verification failed, or a match could not be played."""
EXIT_USAGE: Final = 2
"""The request is impossible: unknown option, game, file, player."""
EXIT_UNREACHABLE: Final = 3
"""A server, a port or a database could not be reached or used."""
EXIT_REFUSED: Final = 4
"""The request is possible, but refused: the token was not accepted or lacks the scope, a class is
full, a code is used up, a date is past."""
EXIT_INTERRUPTED: Final = 130
"""Ctrl-C, as shells count it: 128 + SIGINT."""

_REFUSALS: Final = {
    "bot": ("hosted",),
    "challenge": ("declined", "not_accepting", "offline"),
    "competition": (
        *("begun", "code_expired", "code_revoked", "code_used_up", "date_past", "entry_limit"),
        *("extension", "frozen", "full", "missing_baseline", "not_handed_in", "not_hosted"),
        *("not_now", "not_open", "revoked", "suspended_baseline", "too_few", "unchecked"),
    ),
    "match": ("not_over",),
    "review": ("busy", "off"),
    "seek": ("limit",),
    "storage": ("disabled", "limit", "login_refused", "not_now", "revoked"),
    "submission": ("busy", "entered", "not_hosted", "quota", "too_many"),
    "tree": ("busy", "off", "rate"),
}
"""Codes that say how things are, and not what is wrong with what was asked."""

_BY_CODE: Final = {
    **{f"{family}/{name}": EXIT_REFUSED for family, names in _REFUSALS.items() for name in names},
    "storage/bad_url": EXIT_USAGE,
    "storage/exists": EXIT_USAGE,
    "storage/display_taken": EXIT_USAGE,
    "storage/unknown": EXIT_USAGE,
    "storage/bad_name": EXIT_USAGE,
    "storage/bad_scope": EXIT_USAGE,
    "storage/driver_missing": EXIT_USAGE,
    "server/fault": EXIT_FAILED,
    "bot/crashed": EXIT_FAILED,
    "server/database": EXIT_UNREACHABLE,
    "http/400": EXIT_FAILED,
    "http/413": EXIT_REFUSED,
}
_BY_FAMILY: Final = {
    "auth": EXIT_REFUSED,
    "guest": EXIT_REFUSED,
    "hosted": EXIT_REFUSED,
    "runner": EXIT_REFUSED,
    "storage": EXIT_UNREACHABLE,
    "server": EXIT_UNREACHABLE,
    "connection": EXIT_UNREACHABLE,
    "http": EXIT_UNREACHABLE,  # of what stands before the server
    "protocol": EXIT_UNREACHABLE,
    "game": EXIT_USAGE,
    "time_control": EXIT_USAGE,
    "config": EXIT_USAGE,
    "action": EXIT_USAGE,
    "policy": EXIT_USAGE,
    "bot": EXIT_USAGE,
    "seek": EXIT_USAGE,
    "challenge": EXIT_USAGE,
    "competition": EXIT_USAGE,
    "record": EXIT_USAGE,
    "match": EXIT_FAILED,
    "submission": EXIT_USAGE,
    "sandbox": EXIT_FAILED,
}

_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors of a write for which there is no room."""
_BY_CLASS: Final = {
    "plyhouse.bots.loading.BotLoadError": EXIT_USAGE,
    "plyhouse.bots.client.client.CannotConnect": EXIT_UNREACHABLE,
}
"""Errors whose class says more than a code; by name, so that nothing has to be imported."""


class CommandError(Exception):
    """A command ends here: one sentence for the user, and the exit code for scripts."""

    def __init__(self, message: str, exit_code: int = EXIT_FAILED) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def code_of(error: BaseException) -> str | None:
    """The stable code of a domain error (``"game/unknown"``), or None for other errors."""
    code = getattr(error, "code", None)
    return code if isinstance(code, str) and "/" in code else None


def exit_code(error: BaseException) -> int | None:
    """The exit code for an error that a user can cure; None when it is a fault of ours."""
    own = getattr(error, "exit_code", None)
    if isinstance(own, int):  # an error that knows better than the table
        return own
    code = code_of(error)
    if code is not None:
        return code_exit(code)
    for kind in type(error).__mro__:
        if (name := f"{kind.__module__}.{kind.__qualname__}") in _BY_CLASS:
            return _BY_CLASS[name]
    if isinstance(error, OSError):
        if isinstance(error, ConnectionError | TimeoutError) or error.errno in (
            errno.EADDRINUSE,
            errno.EADDRNOTAVAIL,
            errno.EHOSTUNREACH,
            errno.ENETUNREACH,
        ):
            return EXIT_UNREACHABLE
        if error.errno in _FULL:
            return EXIT_FAILED
        if error.filename is not None:
            return EXIT_USAGE
    return None


def code_exit(code: str) -> int:
    """The exit code for a stable error code, also one that arrived over the wire.

    >>> code_exit("auth/bad_token"), code_exit("game/unknown"), code_exit("storage/locked")
    (4, 2, 3)
    >>> code_exit("competition/full"), code_exit("competition/code_unknown")
    (4, 2)
    """
    if code in _BY_CODE:
        return _BY_CODE[code]
    return _BY_FAMILY.get(code.split("/", 1)[0], EXIT_FAILED)


def unknown_token(server: str) -> str:
    """Return what to say when a server does not know a token."""
    return (
        f"The server at {server} does not know this token. Check the address and the token: "
        "each server has its own tokens."
    )


def sentence(error: BaseException) -> str:
    """An error as one sentence (or a few lines where it quotes a position)."""
    if (formatted := getattr(error, "format_message", None)) is not None:  # an error of click
        return str(formatted())
    if isinstance(error, OSError) and code_of(error) is None:
        if error.errno in _FULL and error.strerror:
            return f"No more can be written: {error.strerror.lower()}. Make room and try again."
        if error.filename is not None and error.strerror:
            return f"{error.filename}: {error.strerror.lower()}"
        return error.strerror or str(error) or type(error).__name__
    return str(error) or type(error).__name__
