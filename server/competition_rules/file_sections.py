"""Sections of a competition file: dates, scoring, and baselines with their twins."""

from __future__ import annotations

import difflib
import itertools
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Final, Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from plyhouse.games.base import Scoring
from plyhouse.games.errors import GameError
from plyhouse.games.registry import get_game
from plyhouse.server.competition_rules.dates import InvalidTime, in_calendar, in_words, in_zone
from plyhouse.server.competition_rules.file import Baseline, CompetitionFile, Dates
from plyhouse.server.competition_rules.file_table import HINTED, Mistake, Table, read_document
from plyhouse.server.competition_rules.reference_baselines import (
    BUILTIN_LEVELS,
    reference_misfit,
    reference_problem,
)
from plyhouse.storage.names import BUILTIN_NAMES, name_problem, normal

DATES: Final = ("opening", "freeze", "final")
"""The keys of dates, in their order."""


def written_dates(text: str) -> Dates:
    """Return the dates of a file, also of one with mistakes elsewhere.

    Raises `plyhouse.server.competition_rules.file_table.InvalidCompetition` if it is no TOML.
    """
    return read_dates(Table(read_document(text), "", []).table("dates"), None)


def later_final(before: Dates, after: Dates) -> datetime | None:
    """Return where the final moves with a freeze that a new file sets after it; None if it stays.

    It moves as much as the freeze does by the clock on the wall.  It stays if the new file moves it
    itself, or if the files leave out one of the dates.
    """
    begin, freeze, final = before.freeze, after.freeze, after.final
    if begin is None or freeze is None or final is None or final != before.final:
        return None
    if freeze <= final or begin > final:
        return None
    zone = ZoneInfo(after.zone)
    moved: timedelta = _wall(freeze, zone) - _wall(begin, zone)
    return (_wall(final, zone) + moved).replace(tzinfo=zone).astimezone(UTC)


def date_text(when: datetime, dates: Dates) -> str:
    """Return a date as a file with these dates writes it: in their zone, otherwise in UTC."""
    zone = dates.named_zone
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


def read_dates(table: Table, now: datetime | None) -> Dates:
    """Return the dates of a file; mistakes are noted in the table.

    Dates before ``now`` are mistakes, unless it is None.
    """
    zone = _zone(table)
    shown = zone or "UTC"
    found = {name: _date(table, name, zone, now) for name in DATES}
    table.end()
    given = [(name, value) for name in DATES if (value := found[name]) is not None]
    for (first, earlier), (second, later) in itertools.pairwise(given):
        if later < earlier:
            table.wrong(
                "date_order",
                second,
                f"{in_words(later, shown)} is before {first} "
                f"({in_words(earlier, shown)}); "
                "the order is opening, freeze, final",
            )
    return Dates(zone or "UTC", **found)


_NO_PLACES: Final = frozenset({"Factory", "localtime", "posixrules"})
"""Files of the database that are the zone of a machine, or none."""


def _zone(table: Table) -> str:
    """Return the zone of dates without an offset; empty if none is named."""
    name = table.text("zone", "Europe/Berlin", 64) or ""
    if not name:
        return ""
    try:
        if name in _NO_PLACES:
            raise ZoneInfoNotFoundError(name)
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        known = available_timezones()
        cities = {each.rpartition("/")[2].lower(): each for each in sorted(known)}
        near = difflib.get_close_matches(name.rpartition("/")[2].lower(), cities, n=1)
        if name.isupper():  # an abbreviation: CEST is not nearly EST
            near = []
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
        value = in_zone(value, zone) if value.tzinfo is None else in_calendar(value)
    except InvalidTime as error:
        table.bad(name, str(error))
        return None
    if now is not None and value <= now:
        shown = zone or "UTC"
        fix = "leave it out to open at once" if name == "opening" else "give a date to come"
        table.wrong("date_past", name, f"{in_words(value, shown)} is over; {fix}")
        return None
    return value


MOST: Final = 1_000_000.0


def read_scoring(table: Table, games: Sequence[str]) -> dict[str, Scoring]:
    """Return the scoring that a file gives its games, by canonical spec.

    ``scoring`` is a text for all games, or a table with a text for some of them.  Games that the
    file does not mention are left out: their default applies.  Mistakes are noted in the table.
    """
    example = 'scoring = "wins", or scoring = { kuhn_poker = "returns" }'
    value = table.take("scoring", object, "a text or a table", example)
    if value is None:
        return {}
    if isinstance(value, str):
        each = _one_scoring(table, "scoring", value)
        return {} if each is None else dict.fromkeys(games, each)
    if not isinstance(value, dict):
        table.wrong("bad_type", "scoring", f"must be a text or a table; write it like {example}")
        return {}
    found: dict[str, Scoring] = {}
    for spec, given in value.items():
        at = f"scoring.{spec}"
        try:
            canonical = get_game(spec).spec
        except GameError as error:
            table.wrong("unknown_game", at, str(error))
            continue
        if canonical not in games:
            known = ", ".join(games)
            table.bad(at, f"{canonical} is not in games, which has {known}")
            continue
        chosen = _one_scoring(table, at, given)
        if chosen is not None:
            found[canonical] = chosen
    return found


def _one_scoring(table: Table, at: str, value: object) -> Scoring | None:
    """Return a value of `Scoring`; note a mistake and return None for others."""
    if isinstance(value, str) and value in [each.value for each in Scoring]:
        return Scoring(value)
    known = " or ".join(repr(each.value) for each in Scoring)
    table.bad(at, f"must be {known}, not {value!r}")
    return None


class Graded(Protocol):
    """The attributes of a baseline that points need."""

    @property
    def grade(self) -> str:
        """The grade; empty for none."""

    @property
    def points(self) -> float | None:
        """The points that the file gives; None if it gives none."""


def read_points(grading: Table, baselines: Sequence[Graded]) -> float | None:
    """Return the points of the best grade in ``[grading]``, for even spacing.

    Also notes mistakes in the points of the baselines.  Either all graded baselines have points or
    none has.  Points never fall from one grade to the next, and they exclude points of
    ``[grading]``.
    """
    most: float | None = grading.take("points", float, "a number", "points = 10")
    if most is not None and not (math.isfinite(most) and 0.0 < most <= MOST):
        grading.bad("points", f"must be above 0 and at most {MOST:,.0f}, not {most:g}")
    given = [(number, each) for number, each in enumerate(baselines) if each.points is not None]
    if most is not None and given:
        text = (
            "is for grades that are evenly spaced; leave it out, or leave points of baselines out"
        )
        grading.bad("points", text)

    def wrong(number: int, code: str, text: str) -> None:
        grading.mistakes.append(Mistake(f"competition/{code}", f"baselines[{number}].points", text))

    last = 0.0
    for number, each in enumerate(baselines):
        if each.points is None:
            if given and each.grade:
                wrong(number, "missing_key", "is missing: every grade has points, or none has")
            continue
        if not each.grade:
            wrong(number, "bad_value", 'is for a baseline with a grade: grade = "pass"')
        elif not (math.isfinite(each.points) and 0.0 <= each.points <= MOST):
            wrong(number, "bad_value", f"must be from 0 to {MOST:,.0f}, not {each.points:g}")
        elif each.points < last:
            wrong(
                number,
                "bad_value",
                f"must be {last:g} or more, not {each.points:g}: a better grade cannot have fewer "
                "points than the one before it",
            )
        else:
            last = each.points
    return most


BRACKETS: Final = ("knockout", "double_elimination", "groups_knockout")
"""Formats in which a loss eliminates."""


def read_baselines(table: Table) -> tuple[Baseline, ...]:
    """Return the baselines of a file; mistakes are noted in the table."""
    example = '[[baselines]] with bot = "staff/random"'
    rows = table.take("baselines", list, "a list of tables", example)
    found: list[Baseline] = []
    for number, row in enumerate(rows or ()):
        at = f"baselines[{number}]"
        if not isinstance(row, dict):
            table.wrong("bad_type", at, f"must be a table; write {example}")
            continue
        inner = Table(row, at, table.mistakes)
        bot = inner.text("bot", "staff/random", 65, needed=True)
        bot = None if bot is None else normal(bot)
        if bot is not None and not _names_bot(bot):
            inner.bad("bot", f"{bot!r} names no bot; write it like player/bot")
        elif bot is not None and bot.lower() in [each.bot.lower() for each in found]:
            inner.bad("bot", f"{bot} is a baseline already; name it once")
        twin_of = normal(inner.text("twin_of", "staff/random", 65) or "")
        if twin_of:
            for key in {"hidden", "grade", "at_least"} & row.keys():
                text = "is not for a twin: it has no grade, and is hidden if the bot it repeats is"
                inner.bad(key, text)
        hidden = inner.flag("hidden", default=False)
        grade = inner.text("grade", "pass", 32) or ""
        share = inner.take("at_least", float, "a number from 0 to 1", "at_least = 0.5")
        if share is not None and not (math.isfinite(share) and 0 <= share <= 1):
            inner.bad("at_least", f"must be from 0 to 1, not {share:g}")
        if share is not None and not grade and not twin_of:
            inner.wrong("missing_key", "grade", 'is missing; at_least needs one: grade = "pass"')
        reference = _reference(inner, bot or "")
        points = inner.take("points", float, "a number", "points = 10")
        inner.end()
        least = 0.5 if share is None else share
        found.append(Baseline(bot or "", hidden, grade, least, twin_of, reference, points))
    secret = {each.bot.lower() for each in found if each.hidden}
    return tuple(
        replace(each, hidden=True) if each.twin_of.lower() in secret else each for each in found
    )


def _names_bot(text: str) -> bool:
    parts = text.split("/")
    return len(parts) == 2 and not any(map(name_problem, parts))


def _reference(table: Table, bot: str) -> str:
    """Return the built-in bot of a baseline; empty if none is named."""
    text = table.text("reference", "mcts(simulations=200)", 200) or ""
    problem = reference_problem(text) if text else ""
    player, _, name = bot.lower().partition("/")
    if problem:
        table.bad("reference", problem)
    elif text and (player not in BUILTIN_NAMES or name in BUILTIN_LEVELS):
        levels = ", ".join(BUILTIN_LEVELS)
        owner = BUILTIN_NAMES[0]
        table.bad(
            "bot",
            f"{bot!r} cannot be a built-in bot: call it {owner}/{text.partition('(')[0]}-1, "
            f"or {owner}/ANYTHING but {levels}, which people play against",
        )
    return text


def check_twins(file: CompetitionFile, table: Table) -> None:
    """Note twins that cannot measure the noise of this board."""
    names = {each.bot.lower(): each for each in file.baselines}
    seen: set[str] = set()
    for number, each in enumerate(file.baselines):
        if not each.twin_of:
            continue
        at, wanted = f"baselines[{number}].twin_of", each.twin_of.lower()
        original = names.get(wanted)
        if original is None:
            others = names.keys() - {each.bot.lower()} if len(table.mistakes) < HINTED else ()
            near = difflib.get_close_matches(wanted, others, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            text = f"{each.twin_of!r} is no baseline of this file: a twin repeats one{hint}"
        elif original is each:
            text = (
                "a bot cannot be a twin of itself: run the same bot a second time under another "
                f"name, such as {each.bot}-2, and enter that as the twin"
            )
        elif original.twin_of:
            text = f"{original.bot} is a twin itself; name the bot that it repeats"
        elif wanted in seen:
            text = f"{original.bot} has a twin already: one is enough"
        elif file.format.name in BRACKETS:
            text = (
                f"is not for {file.format.name}: one of the two may be out after a match, and then "
                "they show nothing"
            )
        elif file.until_certain:
            text = (
                "is not for a gauntlet with until_certain, which stops when grades are certain: "
                "the two would not play the same number of matches"
            )
        else:
            seen.add(wanted)
            continue
        table.bad(at, text)


def check_sides(file: CompetitionFile, table: Table) -> None:
    """Note baselines that have no partner, or that differ from it.

    Baselines of an account are partners in the order of their names, as in
    `plyhouse.server.competition_rules.sides`.
    """
    owned: dict[str, list[tuple[int, Baseline]]] = defaultdict(list)
    for number, each in enumerate(file.baselines):
        owned[each.bot.partition("/")[0].lower()].append((number, each))
    size = file.side_size
    for bots in owned.values():
        bots.sort(key=lambda numbered: numbered[1].bot.lower())
        for start in range(0, len(bots), size):
            (number, captain), *partners = bots[start : start + size]
            if len(partners) < size - 1:
                account = captain.bot.partition("/")[0]
                more = "a second bot" if size == 2 else f"bots up to {size}"
                text = f"{captain.bot} has no partner: add {more} of account {account}"
                table.bad(f"baselines[{number}].bot", text)
                continue
            for place, partner in partners:
                _check_partner(table, place, partner, captain)


def _check_partner(table: Table, place: int, partner: Baseline, captain: Baseline) -> None:
    at = f"baselines[{place}]"
    if partner.grade:
        table.bad(f"{at}.grade", f"is for a side: give it to its first bot {captain.bot}")
    if partner.hidden != captain.hidden:
        text = (
            f"must be {str(captain.hidden).lower()}, as for its partner {captain.bot}: the table "
            "shows both or none"
        )
        table.bad(f"{at}.hidden", text)


def check_references(file: CompetitionFile, table: Table) -> None:
    """Note built-in baselines that cannot play a game of the file."""
    for number, baseline in enumerate(file.baselines):
        for game in file.games if baseline.reference else ():
            misfit = reference_misfit(baseline.reference, get_game(game))
            if misfit:
                text = f"{misfit}; ismcts, pimc, best and random play every game"
                table.wrong("unfit_baseline", f"baselines[{number}].reference", text)
