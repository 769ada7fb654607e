"""Read a competition file: TOML into values, with all mistakes at once.

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
import json
import math
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from plyhouse.games.errors import GameError
from plyhouse.games.registry import get_game
from plyhouse.protocol.api.bodies import MAX_FILE
from plyhouse.protocol.parts import (
    DEFAULT_HELP,
    HELP_LEVELS,
    LONGEST_COMPETITION,
    LONGEST_TIME,
    HelpDemand,
)
from plyhouse.server.competition_rules import format_registry
from plyhouse.server.competition_rules.file import (
    MAX_DAYS,
    MOST_AT_A_TIME,
    VISIBILITIES,
    Baseline,
    CompetitionFile,
    Dates,
    FormatTerms,
    LateRule,
    Limits,
    Practice,
)
from plyhouse.server.competition_rules.file_sections import (
    check_references,
    check_sides,
    check_twins,
    read_baselines,
    read_dates,
    read_points,
    read_scoring,
)
from plyhouse.server.competition_rules.file_table import (
    InvalidCompetition,
    Mistake,
    Table,
    read_document,
)
from plyhouse.server.competition_rules.format_registry import FORMATS, REPEATED
from plyhouse.server.competition_rules.formats import FormatError
from plyhouse.server.match.time_control import InvalidTimeControl, TimeControl
from plyhouse.server.results.scoring import side_size
from plyhouse.storage.names import normal, unseen

__all__ = [
    "InvalidCompetition",
    "Mistake",
    "read_competition",
]

MAX_GAMES: Final = 32
MAX_RULES: Final = 20_000

_SIGNS: Final = " .,:()&'+-_/"
"""Signs that a competition's name may have in addition to letters and digits of all scripts."""


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
    mistakes: list[Mistake] = []
    found = _competition(Table(read_document(text), "", mistakes), now)
    if found is None or mistakes:
        raise InvalidCompetition(mistakes)
    return found


def _limits(table: Table) -> Limits:
    usual = Limits()
    limits = Limits(
        table.number("students", usual.students, 0, 10_000),
        table.number("matches_at_a_time", usual.matches_at_a_time, 1, MOST_AT_A_TIME),
        table.number("absent_minutes", usual.absent_minutes, 0, 10_080),
        _help(table),
    )
    if limits.help and not limits.students:
        table.bad("help", "is for competitions with students, whose entries have a fixed version")
    table.end()
    return limits


def _hosting_required(table: Table) -> bool:
    required = table.flag("required", default=False)
    table.end()
    return required


def _grading(table: Table, baselines: Sequence[Baseline]) -> tuple[bool, float | None]:
    every_lower = table.flag("every_lower", default=True)
    points = read_points(table, baselines)
    table.end()
    return every_lower, points


def _practice(table: Table) -> Practice:
    practice = Practice(
        table.flag("ladder", default=False),
        table.number("matches_at_a_time", Practice().matches_at_a_time, 1, MOST_AT_A_TIME),
        table.flag("baselines", default=True),
    )
    table.end()
    return practice


def _competition(table: Table, now: datetime | None) -> CompetitionFile | None:
    name = _name(table)
    games = _games(table)
    control = _control(table)
    style = _format(table)
    mirrored = table.flag("mirrored", default=True)
    rounds = table.number("rounds", 1, 1, 1000)
    rated = table.flag("rated", default=style.name == "ladder")
    teams = table.flag("teams", default=False)
    size = _side_size(table, games or ()) if teams else 1
    entries = table.number("entries_per_student", size, 1, 100)
    if entries % size:
        table.bad("entries_per_student", f"must be a multiple of {size} with teams, not {entries}")
    dates = read_dates(table.table("dates"), now)
    baselines = read_baselines(table)
    if rounds > 1 and style.name not in REPEATED:
        text = f"is for {', '.join(REPEATED)}, which can be played several times; leave it out, "
        table.bad("rounds", f"{text}and see [format] for what {style.name} takes")
    if style.name == "gauntlet" and not baselines:
        table.wrong(
            "missing_key",
            "baselines",
            'is missing; a gauntlet is played against some: [[baselines]] with bot = "staff/easy"',
        )
    board = _board(table)
    limits = _limits(table.table("limits"))
    required = _hosting_required(table.table("hosting"))
    practice = _practice(table.table("practice"))
    rules = table.text("rules", "One bot each.", MAX_RULES) or ""
    scoring = read_scoring(table, games or ())
    every_lower, points = _grading(table.table("grading"), baselines)
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
        teams=teams and size > 1,
        entries_per_student=entries,
        dates=dates,
        baselines=baselines,
        board=board,
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


def _help(table: Table) -> HelpDemand:
    """Return the level of help that entries must have; empty for any."""
    given = table.text("help", DEFAULT_HELP, 32)
    level = next((each for each in HELP_LEVELS if each == given), None)
    if given is not None and level is None:
        *most, last = map(repr, HELP_LEVELS)
        table.bad("help", f"must be {', '.join(most)} or {last}, not {given!r}")
    return level or ""


def _board(table: Table) -> str:
    board = table.text("board", "class", 32)
    if board is not None and board not in VISIBILITIES:
        quoted = [repr(name) for name in VISIBILITIES]
        table.bad("board", f"must be {', '.join(quoted[:-1])} or {quoted[-1]}, not {board!r}")
    return board or "class"


def _side_size(table: Table, games: Sequence[str]) -> int:
    """Return the bots of a side; note games that two sides of as many bots cannot play."""
    sizes = []
    for spec in games:
        sizes.append(side_size(get_game(spec)))
        if not sizes[-1] or sizes[-1] != sizes[0]:
            text = f"is for games of two equal teams, such as bridge, and {spec} is none"
            table.bad("teams", text)
            return 1
    return sizes[0] if sizes else 1


def _late(table: Table, dates: Dates) -> LateRule:
    given = table.number("days", 0, 1, MAX_DAYS)
    share = table.take("penalty_per_day", float, "a percentage", "penalty_per_day = 10")
    if share is not None and not (math.isfinite(share) and 0 <= share <= 100):
        table.bad("penalty_per_day", f"must be from 0 to 100, not {share:g}")
    if share is not None and not given:
        table.wrong("missing_key", "days", "is missing; say for how many days: days = 3")
    waits = table.flag("final_waits", default=True)
    unread = any(each.key in ("dates.freeze", "dates.zone") for each in table.mistakes)
    if given and dates.freeze is None and not unread:
        text = "needs a date to count from: freeze under [dates]"
        table.wrong("missing_key", "days", text)
    table.end()
    return LateRule(given, share or 0.0, waits)


def _fitting(file: CompetitionFile, table: Table) -> None:
    """Note games the format cannot pair, and parameters that conflict."""
    if file.until_certain:
        _until_certain(file, table)
    check_twins(file, table)
    check_references(file, table)
    if file.practice.ladder:
        _check_practice(file, table)
    if file.teams:
        _teams(file, table)
    for number, game in enumerate(file.games):
        try:
            file.play(game)
        except FormatError as error:
            at = f"games[{number}]" if get_game(game).seats != 2 else "format"
            table.bad(at, f"{error}{_teams_advice(file, game)}")


def _teams_advice(file: CompetitionFile, game: str) -> str:
    """Return the advice to set ``teams`` if the format could then pair the games."""
    sizes = {side_size(get_game(each)) for each in file.games}
    if file.teams or file.format.name == "ladder" or len(sizes) > 1 or max(sizes) < 2:
        return ""
    try:
        replace(file, teams=True).play(game)
    except FormatError:
        return ""
    return ", or set teams = true"


def _teams(file: CompetitionFile, table: Table) -> None:
    """Note what competitions of teams do not have."""
    if file.format.name == "ladder":
        table.bad("format.name", "cannot be a ladder with teams: use swiss or round_robin")
    if file.twins:
        table.bad("baselines", "have no twin_of with teams: leave it out")
        return
    check_sides(file, table)


def _check_practice(file: CompetitionFile, table: Table) -> None:
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


def _name(table: Table) -> str | None:
    name = table.text("name", "Connect four cup", LONGEST_COMPETITION, needed=True)
    if name is None:
        return None
    name = normal(" ".join(name.split()))
    if not _is_name(name):
        table.bad(
            "name",
            f"{name!r} cannot name a competition; begin with a letter or digit and use letters, "
            "digits, spaces and . , : ( ) & ' + - _ /",
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
    text = table.text("time_control", "move:1", LONGEST_TIME, needed=True)
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
