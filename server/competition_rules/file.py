"""The competition file: TOML read into values, with all mistakes at once.

A file has three lines at least::

    name = "Connect four cup"
    games = ["connect_four"]
    time_control = "move:1"

`read_competition` returns a `CompetitionFile` or raises `InvalidCompetition` with the list of all
`Mistake` values, each with a stable code::

    competition/not_toml          the text is no TOML; the message names the line
    competition/unknown_key       no such key here; the message names the nearest known one
    competition/missing_key       a required key is missing
    competition/bad_type          a value of the wrong type, such as a text instead of a number
    competition/bad_value         a value of the right type that is not permitted
    competition/unknown_game      no such game, or a parameter that it does not have
    competition/unknown_format    no such format
    competition/no_zone           a time without a zone, which is ambiguous
    competition/date_past         a date that is over already
    competition/date_order        freeze before opening, final before freeze
    competition/name_taken        the name belongs to another competition (reported by a server)
    competition/missing_baseline  a baseline bot that has never logged in (reported by a server)
    competition/unfit_baseline    a baseline that cannot play one of the games
    competition/twin_differs      a twin that is not the same bot (reported by a server)

The time is an argument.  None skips the check of past dates, for a file that was accepted when its
dates were still to come.
"""

from __future__ import annotations

import difflib
import itertools
import json
import math
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Any, Final

from plyhouse.games.base import Scoring
from plyhouse.games.errors import GameError
from plyhouse.games.registry import get_game
from plyhouse.server.competition_rules import format_registry, formats
from plyhouse.server.competition_rules.file_scoring import read_points, read_scoring
from plyhouse.server.competition_rules.file_table import InvalidCompetition, Mistake, Table
from plyhouse.server.competition_rules.format_registry import FORMATS
from plyhouse.server.competition_rules.format_types import FormatError
from plyhouse.server.competition_rules.ladder import Ladder
from plyhouse.server.competition_rules.late_submissions import MAX_DAYS, LateRule
from plyhouse.server.competition_rules.reference_baselines import (
    HOUSE,
    HOUSE_LEVELS,
    reference_misfit,
    reference_problem,
)
from plyhouse.server.match.time_control import InvalidTimeControl, TimeControl
from plyhouse.server.results.scoring import default_scoring
from plyhouse.storage.names import name_problem, normal, unseen

__all__ = [
    "MAX_FILE",
    "VISIBILITIES",
    "Baseline",
    "CompetitionFile",
    "Dates",
    "FormatTerms",
    "InvalidCompetition",
    "Limits",
    "Mistake",
    "Practice",
    "read_competition",
]

MAX_FILE: Final = 32_768
"""Largest length of a competition file, in characters."""
MAX_NAME: Final = 64
MAX_GAMES: Final = 32
MOST_AT_A_TIME: Final = 1024
MAX_RULES: Final = 20_000
VISIBILITIES: Final = ("public", "class", "anonymous")
"""Readers of the board: everybody, the class, or each student its own line and those just ahead."""

_ROBINS: Final = ("round_robin", "double_round_robin")
_REPEATED: Final = (*_ROBINS, "gauntlet")
"""Formats whose schedule is known from the beginning and can be played several times."""
_BRACKETS: Final = ("knockout", "double_elimination", "groups_knockout")
"""Formats in which a loss eliminates."""

_SIGNS: Final = " .,:()&'+-_"
"""Signs that a competition's name may have besides letters and digits of all scripts."""


@dataclass(frozen=True, slots=True)
class FormatTerms:
    """A format: a name of the catalogue with the parameters given."""

    name: str = "round_robin"
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Dates:
    """Dates of automatic steps, in UTC; None: the organiser decides."""

    opening: datetime | None = None
    freeze: datetime | None = None
    final: datetime | None = None


@dataclass(frozen=True, slots=True)
class Baseline:
    """A bot of the staff that students are measured against."""

    bot: str
    """The bot, as ``player/bot``."""
    hidden: bool = False
    """True if students do not see it on the board."""
    grade: str = ""
    """The grade for reaching ``at_least`` against it; empty: none."""
    at_least: float = 0.5
    """The mean score against it, from 0 to 1, that the grade needs."""
    twin_of: str = ""
    """The baseline of which this is a copy under a second name; empty if it is no twin.
    Differences between the two on the board are noise.  A twin has no grade, and it is hidden if
    its original is."""
    reference: str = ""
    """The built-in bot, with options, that the server submits as this baseline.  Empty for bots
    that staff submit."""
    points: float | None = None
    """The points of the grade; None: evenly spaced (`points_of`)."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper limits of a competition."""

    students: int = 200
    """The largest number of students; a group counts once.  0: a competition without students."""
    matches_at_a_time: int = 8
    """The largest number of matches of the final that run at the same time, besides free play."""
    absent_minutes: int = 30
    """Minutes for which a game of the final waits for an entry before withdrawing it; 0: for ever.
    Half an hour is enough to restart a machine or to call a student.  A Swiss of eight rounds
    still ends in an afternoon if each round loses an entry."""


@dataclass(frozen=True, slots=True)
class Practice:
    """Practice from the opening to the freeze, which counts for nothing."""

    ladder: bool = False
    """True if entries play each other on a practice ladder."""
    matches_at_a_time: int = 4
    """The largest number of matches of the ladder that run at the same time."""
    baselines: bool = True
    """True if baselines play on the ladder; hidden ones and twins never do."""


@dataclass(frozen=True, slots=True)
class CompetitionFile:
    """The contents of a competition file."""

    name: str
    games: tuple[str, ...]
    """Canonical specs without duplicates."""
    time_control: TimeControl
    format: FormatTerms = FormatTerms()
    mirrored: bool = True
    """True if each pairing is played from every seat."""
    rounds: int = 1
    """The number of times the whole schedule is played, in formats with a fixed schedule."""
    rated: bool = False
    """True if matches of the final count for leaderboards; only with a public board."""
    entries_per_student: int = 1
    dates: Dates = Dates()
    baselines: tuple[Baseline, ...] = ()
    """Baselines in the order of the file, from the easiest grade to the best."""
    board: str = "class"
    """One of `VISIBILITIES`."""
    limits: Limits = Limits()
    hosting_required: bool = False
    """True if only submitted bots play in the final, on runner machines."""
    rules: str = ""
    """The text of the rules for students."""
    scoring: Mapping[str, Scoring] = field(default_factory=dict)
    """The scoring of the games for which the file sets it; see `scored_by`."""
    every_lower: bool = True
    """True if a grade also needs the thresholds of all lower grades."""
    practice: Practice = Practice()
    points: float | None = None
    """The points of the best grade if grades are evenly spaced; None: one point per grade."""
    late: LateRule = field(default_factory=LateRule)
    """The rule for late submissions: their limit and their cost."""

    def scored_by(self, game: str) -> Scoring:
        """Return the scoring of a game: the file's, or else the game's default."""
        found = self.scoring.get(game)
        return default_scoring(get_game(game)) if found is None else found

    @property
    def until_certain(self) -> bool:
        """True if entries meet baselines until their grades are certain."""
        return self.format.parameters.get("until_certain") is True

    @property
    def originals(self) -> tuple[Baseline, ...]:
        """The baselines that students are measured against: all but twins."""
        return tuple(each for each in self.baselines if not each.twin_of)

    @property
    def twins(self) -> dict[str, str]:
        """The original of each twin, both as lower-case names."""
        return {each.bot.lower(): each.twin_of.lower() for each in self.twinned}

    @property
    def twinned(self) -> tuple[Baseline, ...]:
        """The baselines that are twins of others."""
        return tuple(each for each in self.baselines if each.twin_of)

    @property
    def laps(self) -> int:
        """The number of times that entries meet each other in a round robin."""
        if self.format.name == "double_round_robin":
            return 2 * self.rounds
        return self.rounds * int(self.format.parameters.get("laps", 1))

    @property
    def terms(self) -> tuple[str, dict[str, Any]]:
        """The format for `format_registry.make_format`, with ``rounds`` included."""
        if self.format.name in _ROBINS:
            return "round_robin", {"laps": self.laps}
        given = dict(self.format.parameters)
        if self.format.name == "gauntlet":
            given["times"] = self.rounds * int(given.get("times", 1))
        return self.format.name, given

    def play(self, game: str) -> formats.Format | Ladder:
        """Return the format for a game; raises `FormatError` if it is impossible."""
        name, given = self.terms
        seats = get_game(game).seats
        return format_registry.make_format(name, seats=seats, mirrored=self.mirrored, **given)


def read_competition(text: str, now: datetime | None = None) -> CompetitionFile:
    """Read a competition file; raises `InvalidCompetition` with all of its mistakes.

    ``now`` has a zone; dates before it are mistakes.

    >>> read_competition('games = ["pgi"]; time_control = "move:1"'.replace(";", chr(10)))
    Traceback (most recent call last):
    plyhouse.server.competition_rules.file_table.InvalidCompetition: The competition file \
has 2 mistakes:
      name: is missing; write it like name = "Connect four cup"  [competition/missing_key]
      games[0]: There is no game named 'pgi'; did you mean pig?  [competition/unknown_game]
    """
    if len(text) > MAX_FILE:
        raise InvalidCompetition(
            [Mistake("competition/bad_value", "", f"the file is longer than {MAX_FILE:,} "
                     "characters; put long texts elsewhere and link them in rules")]
        )  # fmt: skip
    try:
        values = tomllib.loads(text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        what = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "too deeply nested"
        raise InvalidCompetition(
            [Mistake("competition/not_toml", "", f"the file is no TOML: {what}")]
        ) from error
    mistakes: list[Mistake] = []
    found = _competition(Table(values, "", mistakes), now)
    if found is None or mistakes:
        raise InvalidCompetition(mistakes)
    return found


def _competition(table: Table, now: datetime | None) -> CompetitionFile | None:
    name = _name(table)
    games = _games(table)
    control = _control(table)
    style = _format(table)
    mirrored = table.flag("mirrored", default=True)
    rounds = table.number("rounds", 1, 1, 1000)
    rated = table.flag("rated", default=style.name == "ladder")
    entries = table.number("entries_per_student", 1, 1, 100)
    dates = _dates(table.table("dates"), now)
    baselines = _baselines(table)
    if rounds > 1 and style.name not in _REPEATED:
        table.bad(
            "rounds",
            f"is for {', '.join(_REPEATED)}, which can be played several times; leave it out, "
            f"and see [format] for what {style.name} takes",
        )
    if style.name == "gauntlet" and not baselines:
        table.wrong(
            "missing_key",
            "baselines",
            'is missing; a gauntlet is played against some: [[baselines]] with bot = "staff/easy"',
        )
    board = table.text("board", "class", 32)
    if board is not None and board not in VISIBILITIES:
        table.bad("board", f"must be {_either(VISIBILITIES)}, not {board!r}")
    bounds = table.table("limits")
    limits = Limits(
        bounds.number("students", Limits().students, 0, 10_000),
        bounds.number("matches_at_a_time", Limits().matches_at_a_time, 1, MOST_AT_A_TIME),
        bounds.number("absent_minutes", Limits().absent_minutes, 0, 10_080),
    )
    bounds.end()
    hosting = table.table("hosting")
    required = hosting.flag("required", default=False)
    hosting.removed(
        "shared_chance",
        "is not possible: two bots on one machine can tell each other the dice of a match. Delete "
        "the line; each match has its own dice, and luck adjustment evens them out",
    )
    hosting.end()
    standing = table.table("practice")
    practice = Practice(
        standing.flag("ladder", default=False),
        standing.number("matches_at_a_time", Practice().matches_at_a_time, 1, MOST_AT_A_TIME),
        standing.flag("baselines", default=True),
    )
    standing.end()
    rules = table.text("rules", "One bot each.", MAX_RULES) or ""
    scoring = read_scoring(table, games or ())
    grading = table.table("grading")
    every_lower = grading.flag("every_lower", default=True)
    points = read_points(grading, baselines)
    grading.end()
    late = _late(table.table("late"), dates)
    table.end()
    if name is None or games is None or control is None:
        return None
    found = CompetitionFile(
        name=name,
        games=games,
        time_control=control,
        format=style,
        mirrored=mirrored,
        rounds=rounds,
        rated=rated,
        entries_per_student=entries,
        dates=dates,
        baselines=baselines,
        board=board or "class",
        limits=limits,
        hosting_required=required,
        rules=rules,
        scoring=scoring,
        every_lower=every_lower,
        practice=practice,
        points=points,
        late=late,
    )
    if not table.mistakes:
        _fitting(found, table)
    return found


def _late(table: Table, dates: Dates) -> LateRule:
    given = table.number("days", 0, 1, MAX_DAYS)
    share = table.take("penalty_per_day", float, "a percentage", "penalty_per_day = 10")
    if share is not None and not (math.isfinite(share) and 0 <= share <= 100):
        table.bad("penalty_per_day", f"must be from 0 to 100, not {share:g}")
    if share is not None and not given:
        table.wrong("missing_key", "days", "is missing; say for how many days: days = 3")
    if given and dates.freeze is None:
        text = "needs a date to count from: freeze under [dates]"
        table.wrong("missing_key", "days", text)
    table.end()
    return LateRule(given, share or 0.0)


def _fitting(file: CompetitionFile, table: Table) -> None:
    """Note games the format cannot pair, and parameters that conflict."""
    if file.until_certain:
        _until_certain(file, table)
    _twins(file, table)
    for number, baseline in enumerate(file.baselines):
        for game in file.games if baseline.reference else ():
            misfit = reference_misfit(baseline.reference, get_game(game))
            if misfit:
                text = f"{misfit}; ismcts, pimc, best and random play every game"
                table.wrong("unfit_baseline", f"baselines[{number}].reference", text)
    if file.practice.ladder:
        _practice(file, table)
    for number, game in enumerate(file.games):
        try:
            file.play(game)
        except FormatError as error:
            at = f"games[{number}]" if get_game(game).seats != 2 else "format"
            table.bad(at, str(error))


def _practice(file: CompetitionFile, table: Table) -> None:
    """Note games that a ladder cannot pair."""
    for game in file.games:
        seats = get_game(game).seats
        if seats != 2:
            text = f"is for games of two seats, and {game} has {seats}: leave it out"
            table.bad("practice.ladder", text)


def _until_certain(file: CompetitionFile, table: Table) -> None:
    """Note everything that prevents a separate decision against each baseline."""
    if len(file.games) > 1:
        text = "is for one game, as a grade is by the mean over all: open a competition for each"
        table.bad("format.until_certain", text)
    if not any(each.grade for each in file.baselines):
        text = "needs a baseline that is worth a grade: grade and at_least under [[baselines]]"
        table.bad("format.until_certain", text)
    for number, each in enumerate(file.baselines):
        if each.grade and not 0 < each.at_least < 1:
            text = (
                f"must be between 0 and 1 with until_certain, not {each.at_least:g}: that "
                "is never certain"
            )
            table.bad(f"baselines[{number}].at_least", text)


def _twins(file: CompetitionFile, table: Table) -> None:
    """Note twins that cannot measure the noise of this board."""
    names = {each.bot.lower(): each for each in file.baselines}
    seen: set[str] = set()
    for number, each in enumerate(file.baselines):
        if not each.twin_of:
            continue
        at, wanted = f"baselines[{number}].twin_of", each.twin_of.lower()
        original = names.get(wanted)
        if original is None:
            near = difflib.get_close_matches(wanted, names.keys() - {each.bot.lower()}, n=1)
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
        elif file.format.name in _BRACKETS:
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


def _name(table: Table) -> str | None:
    name = table.text("name", "Connect four cup", MAX_NAME, needed=True)
    if name is None:
        return None
    name = normal(" ".join(name.split()))
    if not _is_name(name):
        table.bad(
            "name",
            f"{name!r} cannot name a competition; begin with a letter or digit and use letters, "
            "digits, spaces and . , : ( ) & ' + - _",
        )
        return None
    return name


def _is_name(name: str) -> bool:
    """Return whether a text in normal form C can name a competition."""

    def word(each: str) -> bool:
        return each.isalnum() or unicodedata.category(each)[0] == "M"

    return (
        name[:1].isalnum()
        and (word(name[-1]) or name[-1] in "_.)")
        and all((word(each) or each in _SIGNS) and not unseen(each) for each in name)
    )


def _games(table: Table) -> tuple[str, ...] | None:
    specs = table.take("games", list, "a list of games", 'games = ["connect_four"]', needed=True)
    if specs is None:
        return None
    if not 1 <= len(specs) <= MAX_GAMES:
        table.bad("games", f"must name 1 to {MAX_GAMES} games, not {len(specs)}")
        return None
    found: list[str] = []
    for number, spec in enumerate(specs):
        at = f"games[{number}]"
        if not isinstance(spec, str):
            table.wrong("bad_type", at, f'must be a text like "connect_four", not {spec!r}')
            continue
        try:
            canonical = get_game(spec).spec
        except GameError as error:
            table.wrong("unknown_game", at, str(error))
            continue
        if len(canonical) > 200:
            table.bad(at, "is longer than 200 characters")
        elif canonical in found:
            table.bad(at, f"{canonical} is in the list already; name it once")
        else:
            found.append(canonical)
    return tuple(found) if len(found) == len(specs) else None


def _control(table: Table) -> TimeControl | None:
    text = table.text("time_control", "move:1", 64, needed=True)
    if text is None:
        return None
    try:
        return TimeControl.parse(text)
    except InvalidTimeControl as error:
        table.bad("time_control", str(error))
        return None


def _format(table: Table) -> FormatTerms:
    inner = table.table("format")
    name = inner.text("name", "round_robin", 32)
    if name is None:
        inner.end()
        return FormatTerms()
    if name not in FORMATS:
        near = difflib.get_close_matches(name, FORMATS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(FORMATS)}"
        inner.wrong("unknown_format", "name", f"there is no format {name!r}; {hint}")
        return FormatTerms()
    given: dict[str, Any] = {}
    for each in format_registry.described(name):
        shown = (each.choices or (each.least,))[0] if each.default is None else each.default
        example = f"{each.name} = {_toml(shown)}"
        value = inner.take(each.name, each.kind, each.words, example)
        if value is None:
            continue
        if not each.within(value):
            inner.bad(each.name, f"must be {each.words}, not {value!r}")
        else:
            given[each.name] = value
    inner.end()
    return FormatTerms(name, given)


def _toml(value: Any) -> str:
    """Return a value in TOML."""
    return str(value).lower() if isinstance(value, bool) else json.dumps(value)


def _dates(table: Table, now: datetime | None) -> Dates:
    names = ("opening", "freeze", "final")
    found = {name: _date(table, name, now) for name in names}
    table.end()
    given = [(name, value) for name in names if (value := found[name]) is not None]
    for (first, earlier), (second, later) in itertools.pairwise(given):
        if later < earlier:
            table.wrong(
                "date_order",
                second,
                f"{_shown(later)} is before {first} ({_shown(earlier)}); "
                "the order is opening, freeze, final",
            )
    return Dates(**found)


def _date(table: Table, name: str, now: datetime | None) -> datetime | None:
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
    if value.tzinfo is None:
        table.wrong(
            "no_zone",
            name,
            f"{value.isoformat()} has no zone, and clocks differ; add Z for UTC or an offset: "
            f"{value.isoformat()}+01:00",
        )
        return None
    try:
        value = value.astimezone(UTC)
    except OverflowError:
        table.bad(name, "is beyond the calendar")
        return None
    if now is not None and value <= now:
        fix = "leave it out to open at once" if name == "opening" else "give a date to come"
        table.wrong("date_past", name, f"{_shown(value)} is over; {fix}")
        return None
    return value


def _baselines(table: Table) -> tuple[Baseline, ...]:
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
    elif text and (player not in HOUSE or name in HOUSE_LEVELS):
        levels = ", ".join(HOUSE_LEVELS)
        table.bad(
            "bot",
            f"{bot!r} cannot be a bot of the house: call it {HOUSE[0]}/{text.partition('(')[0]}-1, "
            f"or {HOUSE[0]}/ANYTHING but {levels}, which people play against",
        )
    return text


def _shown(when: datetime) -> str:
    return when.strftime("%Y-%m-%d %H:%M UTC")


def _either(names: Sequence[str]) -> str:
    quoted = [repr(name) for name in names]
    return f"{', '.join(quoted[:-1])} or {quoted[-1]}"
