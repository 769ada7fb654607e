"""The dates of a competition file: times with an offset, or in the time zone that it names."""

from __future__ import annotations

import difflib
import itertools
from datetime import UTC, date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from plyhouse.server.competition_rules.dates import InvalidTime, in_zone
from plyhouse.server.competition_rules.file import Dates
from plyhouse.server.competition_rules.file_table import Mistake, Table, read_document

__all__ = ["DATES", "date_text", "later_final", "read_dates", "written_dates"]

DATES: Final = ("opening", "freeze", "final")
"""The keys of dates, in their order."""


def written_dates(text: str) -> dict[str, datetime]:
    """Return the dates of a file in UTC, also of one with mistakes elsewhere.

    Raises `plyhouse.server.competition_rules.file_table.InvalidCompetition` if it is no TOML.
    """
    found = _dates(text)
    return {name: when for name in DATES if (when := getattr(found, name)) is not None}


def later_final(old: str, new: str) -> datetime | None:
    """Return where the final moves with a freeze that a new file sets after it; None if it stays.

    It moves as much as the freeze does by the clock on the wall.  It stays if the new file moves it
    itself, or if the files leave out one of the dates.  Raises as `written_dates` does.
    """
    before, after = _dates(old), _dates(new)
    begin, freeze, final = before.freeze, after.freeze, after.final
    if begin is None or freeze is None or final is None or final != before.final:
        return None
    if freeze <= final or begin > final:
        return None
    zone = ZoneInfo(after.zone)
    moved: timedelta = _wall(freeze, zone) - _wall(begin, zone)
    return (_wall(final, zone) + moved).replace(tzinfo=zone).astimezone(UTC)


def date_text(when: datetime, text: str) -> str:
    """Return a date as a file writes it: in the zone that it names, otherwise in UTC.

    Raises as `written_dates` does.
    """
    zone = _dates(text).named_zone
    if zone:
        local = _wall(when, ZoneInfo(zone))
        try:
            if in_zone(local, zone) == when:
                return local.isoformat()
        except InvalidTime:
            pass  # where clocks go back, a time needs its offset
    return when.astimezone(UTC).isoformat()


def _wall(when: datetime, zone: ZoneInfo) -> datetime:
    return when.astimezone(zone).replace(tzinfo=None)


def _dates(text: str) -> Dates:
    """Return the dates of a file, without those that have mistakes."""
    mistakes: list[Mistake] = []
    return read_dates(Table(read_document(text), "", mistakes).table("dates"), None)


def read_dates(table: Table, now: datetime | None) -> Dates:
    """Return the dates of a file; mistakes are noted in the table.

    Dates before ``now`` are mistakes, unless it is None.
    """
    zone = _zone(table)
    found = {name: _date(table, name, zone, now) for name in DATES}
    table.end()
    given = [(name, value) for name in DATES if (value := found[name]) is not None]
    for (first, earlier), (second, later) in itertools.pairwise(given):
        if later < earlier:
            table.wrong(
                "date_order",
                second,
                f"{_shown(later)} is before {first} ({_shown(earlier)}); "
                "the order is opening, freeze, final",
            )
    return Dates(zone or "UTC", **found)


def _zone(table: Table) -> str:
    """Return the zone of dates without an offset; empty if none is named."""
    name = table.text("zone", "Europe/Berlin", 64) or ""
    if not name:
        return ""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        known = available_timezones()
        cities = {each.rpartition("/")[2].lower(): each for each in sorted(known)}
        near = difflib.get_close_matches(name.rpartition("/")[2].lower(), cities, n=1)
        hint = f"did you mean {cities[near[0]]}?" if near else "take one like Europe/Berlin"
        if not known:
            hint = "this machine has no time zones: install the package tzdata"
        table.bad("zone", f"there is no time zone {name!r}; {hint}")
        return ""
    return name


def _date(table: Table, name: str, zone: str, now: datetime | None) -> datetime | None:
    example = f"{name} = 2027-01-31T18:00:00+01:00"
    value = table.take(name, object, "a date with time and zone", example)
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            table.bad(name, f"{value!r} is no date; write it like {example}")
            return None
    if value is None:
        return None
    if not isinstance(value, datetime):
        what = "a day without a time" if isinstance(value, date) else repr(value)
        table.wrong(
            "bad_type", name, f"must be a date with time and zone, not {what}; like {example}"
        )
        return None
    if value.tzinfo is None and not zone:
        table.wrong(
            "no_zone",
            name,
            f"{value.isoformat()} has no zone, and clocks differ; add Z for UTC or an offset: "
            f'{value.isoformat()}+01:00, or name the zone of all dates: zone = "Europe/Berlin"',
        )
        return None
    try:
        value = in_zone(value, zone) if value.tzinfo is None else value.astimezone(UTC)
    except InvalidTime as error:
        table.bad(name, str(error))
        return None
    except OverflowError:
        table.bad(name, "is beyond the calendar")
        return None
    if now is not None and value <= now:
        fix = "leave it out to open at once" if name == "opening" else "give a date to come"
        table.wrong("date_past", name, f"{_shown(value)} is over; {fix}")
        return None
    return value


def _shown(when: datetime) -> str:
    return when.strftime("%Y-%m-%d %H:%M UTC")
