"""Dates with time and zone, in the format of RFC 3339."""

from __future__ import annotations

from datetime import UTC, datetime

__all__ = ["InvalidTime", "milliseconds", "milliseconds_of", "read_time"]

EXAMPLE = "2027-01-31T18:00:00+01:00"


class InvalidTime(ValueError):  # noqa: N818 - as InvalidAction
    """A text that is no time, or one without a zone."""

    code = "competition/bad_time"


def read_time(text: str) -> datetime:
    """Read a time, in UTC; raises `InvalidTime`.

    >>> read_time("2027-01-31T18:00+01:00").isoformat()
    '2027-01-31T17:00:00+00:00'
    >>> read_time("2027-01-31")
    Traceback (most recent call last):
    plyhouse.server.competition_rules.dates.InvalidTime: '2027-01-31' has no time and zone; write \
it like 2027-01-31T18:00:00+01:00
    """
    try:
        when = datetime.fromisoformat(text.strip())
    except ValueError:
        raise InvalidTime(f"{text!r} is no time; write it like {EXAMPLE}") from None
    if when.tzinfo is None:
        what = "zone" if "T" in text or " " in text.strip() else "time and zone"
        raise InvalidTime(f"{text!r} has no {what}; write it like {EXAMPLE}")
    try:
        return when.astimezone(UTC)
    except OverflowError:
        raise InvalidTime(f"{text!r} is beyond the calendar") from None


def milliseconds(when: datetime) -> int:
    """Return the milliseconds since 1970."""
    return int(when.timestamp() * 1000)


def milliseconds_of(when: datetime | None) -> int | None:
    """Return the milliseconds since 1970 of a date; None if there is none."""
    return None if when is None else milliseconds(when)
