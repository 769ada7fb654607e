"""How the server's log is written: every line an event with its fields, for people or programs.

All modules use the standard library's `logging`, with what happened as the message and what it
happened to in ``extra``::

    log.info("match ended", extra={"match": live.id, "termination": "normal"})

Nothing is configured at import: within other programs these are ordinary log records.  `set_up`
writes them to the console, for people or as one JSON object a line.

Two things hold for every line of every module. It is one line, with any names and reasons from
clients; the lines of a traceback are indented, so that none looks like an event. And it has no
token.

Levels: *error* is for losses and bugs, which somebody has to look at. *warning* is for trouble with
which the server goes on, such as a missing database, a slow client or a refused login. *info* is
for events, and *debug* for connections without a login and their refusals.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, TextIO

from plyhouse.server.config import LOG_FORMATS

_TOKEN: Final = re.compile(r"ply_[A-Za-z0-9_\-]{4,}")
_HIDDEN: Final = "ply_***"
_QUIET: Final = {
    "uvicorn": logging.ERROR,  # it warns of each request of a stranger that is none
    **dict.fromkeys(("aiosqlite", "alembic", "httpx", "litestar", "mcp"), logging.WARNING),
}
"""Libraries that have much to say about what is ordinary, and the least level of their lines."""
_ORDINARY: Final = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName"}
"""Attributes that every record may have; the others are the fields of an event."""
_COLOURS: Final = {"debug": 32, "info": 32, "warning": 33, "error": 31, "critical": 31}
"""Colours of the levels, as a terminal numbers them."""


def set_up(level: str, form: str = "console", stream: TextIO | None = None) -> None:
    """Send the records of all loggers to a stream (standard error), in one of `LOG_FORMATS`."""
    handler = logging.StreamHandler(stream)
    colours = handler.stream.isatty() and "NO_COLOR" not in os.environ
    handler.setFormatter(formatter(form, colours=colours))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for name, least in _QUIET.items():
        logging.getLogger(name).setLevel(least)


def formatter(form: str, *, colours: bool = False) -> logging.Formatter:
    """Make a formatter for log records, in one of `LOG_FORMATS`."""
    if form not in LOG_FORMATS:
        raise ValueError(f"{form!r} is no format of the log; there are {', '.join(LOG_FORMATS)}")
    return _Formatter(_json if form == "json" else partial(_console, colours=colours))


class _Formatter(logging.Formatter):
    """Makes a record harmless before a format writes it.

    ``written(event, trace)`` returns the line of an event, with the lines of its traceback.
    """

    def __init__(self, written: Callable[[Mapping[str, Any], str], str]) -> None:
        super().__init__()
        self._written = written

    def format(self, record: logging.LogRecord) -> str:
        try:
            return self._line(record)
        except Exception as error:  # logging would write the record as it is, with its tokens
            kept = {name: getattr(record, name) for name in ("name", "levelname", "created")}
            happened = "a line of %s:%d cannot be written: %s"
            where = record.module, record.lineno, type(error).__name__
            return self._line(logging.makeLogRecord({**kept, "msg": happened, "args": where}))

    def _line(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC)
        event = {
            "time": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": _clean(record.getMessage()),
        }
        for name, value in vars(record).items():
            if name not in _ORDINARY:
                event[name] = _clean(value)
        trace = ""
        if record.exc_info:
            text = _TOKEN.sub(_HIDDEN, self.formatException(record.exc_info))
            trace = "\n".join(f"    {_printable(line)}" for line in text.splitlines())
        return self._written(event, trace)


_encode: Final = json.JSONEncoder(ensure_ascii=False).encode


def _json(event: Mapping[str, Any], trace: str) -> str:
    """Write one JSON object."""
    return _encode({**event, "exception": trace} if trace else event)


def _console(event: Mapping[str, Any], trace: str, *, colours: bool) -> str:
    """Write fields as ``name=value``, and a traceback below."""
    (_, time), (_, level), (_, logger), (_, happened), *fields = event.items()
    padded, shown = f"{level:<9}", f"{happened:<20}"
    if colours:
        padded = f"\x1b[{_COLOURS.get(level, 0)}m{padded}\x1b[0m"
        shown = f"\x1b[1m{shown}\x1b[0m"
    # Quotes show where a value ends: a reason could look like further fields.
    values = [f"{name}={value!r}" for name, value in fields]
    line = " ".join([f"{time} [{padded}] {shown} [{logger}]", *values])
    return f"{line}\n{trace}" if trace else line


def _clean(value: Any) -> Any:
    """Without tokens, and without characters that begin a line of their own or steer a terminal."""
    if isinstance(value, str):
        return _printable(_TOKEN.sub(_HIDDEN, value))
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, list | tuple | set | frozenset):
        return [_clean(each) for each in value]
    return _clean(str(value))


def _printable(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in text
    )
