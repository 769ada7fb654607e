"""How the server's log is written: every line an event with its fields, for people or programs.

All modules use the standard library's `logging`, with what happened as the message and what it
happened to in ``extra``::

    log.info("match ended", extra={"match": live.id, "termination": "normal"})

Nothing is configured at import: within other programs these are ordinary log records.  `set_up`
sends them through structlog, to the console or as one JSON object a line.

Two things hold for every line of every module. It is one line, with any names and reasons from
clients; the lines of a traceback are indented, so that none looks like an event. And it has no
token.

Levels: *error* is for losses and bugs, which somebody has to look at. *warning* is for trouble with
which the server goes on, such as a missing database, a slow client or a refused login. *info* is
for events, and *debug* for connections without a login and their refusals.
"""

from __future__ import annotations

import logging
import os
import re
from datetime import UTC, datetime
from typing import Any, Final, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from plyhouse.server.config import LOG_FORMATS

_TOKEN: Final = re.compile(r"ply_[A-Za-z0-9_\-]{4,}")
_HIDDEN: Final = "ply_***"
_QUIET: Final = {
    "uvicorn": logging.ERROR,  # it warns of each request of a stranger that is none
    **dict.fromkeys(("aiosqlite", "alembic", "httpx", "litestar"), logging.WARNING),
}
"""Libraries that have much to say about what is ordinary, and the least level of their lines."""


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
    last: Processor
    if form == "json":
        last = structlog.processors.JSONRenderer(ensure_ascii=False, default=str)
    else:
        last = structlog.dev.ConsoleRenderer(
            colors=colours,
            pad_event_to=20,
            timestamp_key="time",
            repr_native_str=True,  # a reason could look like further fields
        )
    return structlog.stdlib.ProcessorFormatter(
        processors=[
            structlog.stdlib.add_logger_name,
            structlog.stdlib.add_log_level,
            structlog.stdlib.ExtraAdder(),
            _time,
            structlog.processors.format_exc_info,
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            _harmless,
            _in_order,
            last,
        ]
    )


def _time(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """When the record was made, in UTC to the millisecond."""
    record: logging.LogRecord = event["_record"]
    moment = datetime.fromtimestamp(record.created, UTC)
    event["time"] = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return event


def _harmless(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Without tokens, and without characters that begin a line of their own or steer a terminal."""
    return {name: _clean(value, name) for name, value in event.items()}


def _clean(value: Any, name: str = "") -> Any:
    if isinstance(value, str):
        text = _TOKEN.sub(_HIDDEN, value)
        if name == "exception":
            return "\n".join(f"    {_printable(line)}" for line in text.splitlines())
        return _printable(text)
    if isinstance(value, list | tuple | set | frozenset):
        return [_clean(each) for each in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    return _clean(str(value))


def _printable(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in text
    )


def _in_order(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """The fields of every line come first."""
    first = [name for name in ("time", "level", "logger", "event") if name in event]
    return {name: event[name] for name in (*first, *(each for each in event if each not in first))}
