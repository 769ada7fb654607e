"""Dates with time and zone, in the format of RFC 3339."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

EXAMPLE = "2027-01-31T18:00:00+01:00"
YEARS = range(1970, 9999)
"""Years of dates."""


class InvalidTime(ValueError):  # noqa: N818 - as InvalidAction
    """A text that is no time, or one without a zone."""

    code = "competition/bad_time"


def read_time(text: str, zone: str = "") -> datetime:
    """Read a time, in UTC; raises `InvalidTime`.

    ``zone`` is that of times without an offset, a name of the IANA database; empty if they need
    one.

    >>> read_time("2027-01-31T18:00+01:00").isoformat()
    '2027-01-31T17:00:00+00:00'
    >>> read_time("2027-01-31T18:00", "Europe/Berlin").isoformat()
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
    if when.tzinfo is None and zone and ("T" in text or " " in text.strip()):
        return in_zone(when, zone)
    if when.tzinfo is None:
        what = "zone" if "T" in text or " " in text.strip() else "time and zone"
        raise InvalidTime(f"{text!r} has no {what}; write it like {EXAMPLE}")
    return in_calendar(when)


def in_calendar(when: datetime) -> datetime:
    """Return a time in UTC; raises `InvalidTime` for years that cannot be reckoned with.

    Late days after it, and the same time in any zone, are then times as well.
    """
    try:
        found = when.astimezone(UTC)
    except OverflowError:
        found = datetime.min.replace(tzinfo=UTC)
    if found.year not in YEARS:
        raise InvalidTime(
            f"{when.isoformat()} is beyond the calendar: give a year from {YEARS[0]} to {YEARS[-1]}"
        )
    return found


def in_zone(when: datetime, zone: str) -> datetime:
    """Return a local time of a zone in UTC; raises `InvalidTime`.

    ``zone`` is a name of the IANA database.

    >>> in_zone(datetime(2027, 7, 1, 18), "Europe/Berlin").isoformat()
    '2027-07-01T16:00:00+00:00'
    >>> in_zone(datetime(2027, 3, 28, 2, 30), "Europe/Berlin")
    Traceback (most recent call last):
    plyhouse.server.competition_rules.dates.InvalidTime: 2027-03-28T02:30:00 does not exist in \
Europe/Berlin, where clocks go forward; give another time
    """
    local = when.replace(tzinfo=ZoneInfo(zone))
    first, second = (in_calendar(local.replace(fold=fold)) for fold in (0, 1))
    if first == second:
        return first
    if first.astimezone(local.tzinfo).replace(tzinfo=None) != when.replace(fold=0):
        why = "does not exist in {}, where clocks go forward; give another time"
    else:
        why = "is twice in {}, where clocks go back; add an offset, such as +01:00"
    raise InvalidTime(f"{when.isoformat()} {why.format(zone)}")


def in_words(when: datetime, zone: str) -> str:
    """Return a time as people of a zone read it, with the name of the zone.

    >>> in_words(datetime(2027, 7, 1, 16, tzinfo=UTC), "Europe/Berlin")
    '2027-07-01 18:00 Europe/Berlin'
    """
    return f"{when.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M} {zone}"


def days_after(begin_ms: int, days: int, zone: str) -> int:
    """Return the same time of day this number of calendar days later, in ms.

    A day on which clocks change has 23 or 25 hours.

    >>> begin = milliseconds(read_time("2027-03-27T18:00:00+01:00"))
    >>> (days_after(begin, 1, "Europe/Berlin") - begin) // 3_600_000
    23
    """
    begin = datetime.fromtimestamp(begin_ms / 1000, ZoneInfo(zone))
    later = (begin + timedelta(days=days)).astimezone(UTC)  # adds to the time of the wall
    return begin_ms % 1000 + milliseconds(later.replace(microsecond=0))


def milliseconds(when: datetime) -> int:
    """Return the milliseconds since 1970."""
    return int(when.timestamp() * 1000)


def milliseconds_of(when: datetime | None) -> int | None:
    """Return the milliseconds since 1970 of a date; None if there is none."""
    return None if when is None else milliseconds(when)
