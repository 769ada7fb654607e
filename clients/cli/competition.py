"""``plyhouse competition``: from a file to grades, on a server; the older ones in the database.

Competitions go by their name.  The modules beside this one have the other commands:
``competition_status``, ``competition_results``, ``competition_steering``.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from plyhouse.clients.cli.administration import why_option
from plyhouse.clients.cli.competition_change import (
    baseline,
    change,
    copy,
    print_file,
    refuse_unfit_references,
    renamed,
    unfreeze,
)
from plyhouse.clients.cli.competition_messages import announce, announcements, regrade
from plyhouse.clients.cli.competition_results import export, report, standings, suspicious
from plyhouse.clients.cli.competition_staff import staff
from plyhouse.clients.cli.competition_status import POLL, WaitNotes, pairings, status
from plyhouse.clients.cli.competition_steering import (
    delete,
    list_competitions,
    pause,
    rehearse,
    resume,
)
from plyhouse.clients.shared.errors import EXIT_USAGE, CommandError
from plyhouse.clients.shared.http import ask
from plyhouse.clients.shared.lazy import HintingGroup
from plyhouse.clients.shared.options import (
    Server,
    competition_argument,
    game_option,
    names_server,
    on_server,
    read_text,
    server_option,
    time_control_option,
    token_option,
    why_text,
)
from plyhouse.clients.shared.output import counted, minute, note, print_table
from plyhouse.protocol.api import calls, competition_calls
from plyhouse.protocol.api.answers import ApiError, Unreachable

if TYPE_CHECKING:
    from plyhouse.protocol.api.competitions import Competition, Measure
    from plyhouse.server.competition_rules.file import CompetitionFile
    from plyhouse.server.competition_rules.preview import Measured, Preview

__all__ = ["competition", "read_text", "why_text"]


ORDER: Final = {
    "Prepare": ("new", "check", "rehearse", "open", "list", "file", "change", "copy"),
    "While it is open": (
        *("status", "announce", "announcements", "baseline", "staff"),
        *("freeze", "unfreeze", "extend", "pause", "resume", "delete"),
    ),
    "The final": ("run", "pairings", "disqualify", "withdraw", "finish", "rerun"),
    "Results": ("standings", "report", "export", "regrade", "suspicious"),
}
"""The commands by section of the help."""


@click.group(cls=HintingGroup, order=ORDER)
def competition() -> None:
    """Set up and run competitions, from one file to grades.

    A file says what is played and when: `new` writes one, `check` says what it will cost, `open`
    takes it to a server. Then students join and connect their bots; `freeze` ends changes, `run`
    begins the final, `export` writes standings and grades. With dates in the file these happen by
    themselves. These commands need a server and the token of an organiser: see `plyhouse login`.
    PLYHOUSE_COMPETITION names the competition where NAME is left out.
    """


competition.add_command(rehearse)
competition.add_command(suspicious)
competition.add_command(staff)
competition.add_command(regrade)
competition.add_command(baseline)


@competition.command()
@click.argument("name")
@game_option(multiple=True, required=False)
@time_control_option()
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where to write it.  [default: the name with .toml]",
)
@click.option("--hosted", is_flag=True, help="Take a built-in bot as baseline, run by the server.")
@click.option("--from", "old", default="", metavar="OLD", help="Start with the file of OLD.")
@on_server
def new(
    name: str,
    games: tuple[str, ...],
    time_control: str,
    output: Path | None,
    hosted: bool,
    old: str,
    server: Server,
) -> None:
    """Write a commented, valid competition file.

    The freeze is in two weeks, the final an hour later. Without --game it is connect_four. One game
    is played against a baseline until every grade is certain.

    With --from it is the file of the competition OLD on the server, without dates that are over;
    `plyhouse competition copy` then opens it with the students of OLD.
    """
    from datetime import UTC, datetime

    from plyhouse.server.competition_rules.class_list import account_name
    from plyhouse.server.competition_rules.file_reader import read_competition
    from plyhouse.server.competition_rules.file_template import template

    now = datetime.now(UTC)
    if old:
        there = server.request(competition_calls.competition_file(old))
        text = renamed(there.file, name, now)
    else:
        text = template(name, games or ("connect_four",), time_control, now, hosted=hosted)
    read_competition(text, now)
    place = output or Path(f"{account_name(name, plain=True).lower() or 'competition'}.toml")
    try:
        with place.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise CommandError(
            f"{place} is there already: remove it, or give another place with -o.", EXIT_USAGE
        ) from None
    then = f"copy {old!r} {place}" if old else f"check {place}"
    note(f"Wrote {place}. Change what you like, then: plyhouse competition {then}")


def _measured(found: CompetitionFile, known: Sequence[Measure]) -> dict[str, Measured]:
    """Return the measurements of each game, from those ``known`` or from a sample."""
    from plyhouse.server.competition_rules.preview import measured_game

    own = {each.game: each for each in known}
    return {
        game: measured_game(game, found.time_control, own.get(game), time.perf_counter_ns)
        for game in found.games
    }


def _runner_cores(server: str) -> int | None:
    """Say how many machines run bots for a server, and return their cores; None without any."""
    there = ask(server, calls.runner_capacity())
    machines = counted(there.machines, "runner machine")
    note(f"{machines} with {counted(there.cores, 'core')} for bots now.")
    if there.machines and there.lacking:
        note(
            f"None of them has {' or '.join(there.lacking)}: a bot that is started with it "
            "waits for a machine that has it."
        )
    return there.cores or None


@competition.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@server_option(default=None)
@token_option()
@click.option(
    "--entries",
    type=click.IntRange(2, 100_000),
    help="Number of bots in the final, with baselines.  [default: the file's limit and those]",
)
@click.option(
    "--cores",
    type=click.IntRange(1, 4096),
    help="Cores on which all bots think, if they share a machine; otherwise each brings its own.",
)
def check(
    file: Path, server: str | None, token: str | None, entries: int | None, cores: int | None
) -> None:
    """Check a competition file and estimate its cost.

    With --server the server decides: it knows baselines, names that are taken, the date, and how
    long finals took there. Only such a final says how long one typically takes. Without matches
    there, each game is played here at random for a moment, to count plies. If the server of
    `plyhouse login` does not answer, the file is checked here alone.
    """
    from plyhouse.games.registry import get_game
    from plyhouse.server.competition_rules.file_reader import read_competition
    from plyhouse.server.competition_rules.formats import FormatError
    from plyhouse.server.competition_rules.grade_precision import grade_notes
    from plyhouse.server.results.scoring import scoring_rule

    text = read_text(file)
    server, known = _asked(server, token, text)
    found = read_competition(text)
    refuse_unfit_references(text)
    if server is None:
        _note_past(found)
    from plyhouse.server.competition_rules.preview import basis, counted_entries, preview

    measured = _measured(found, known)
    most = found.limits.students * found.entries_per_student + len(found.baselines)
    if server is not None and cores is None and found.hosting_required:
        cores = _runner_cores(server)
    try:
        cost = preview(found, entries or most, found.dates.final, measured, cores)
    except FormatError as error:
        shown = counted_entries(found, entries or most)
        raise CommandError(f"With {shown}: {error}.", EXIT_USAGE) from None
    note(f"{file} is valid: {found.name}, {counted(len(found.games), 'game')}.")
    for game in found.games:
        note(f"{game} is scored {scoring_rule(get_game(game), found.scored_by(game))}.")
    for text in grade_notes(found, entries or most):
        note(text)
    if cost is None:
        note(
            "A ladder has no end, and so no cost: it plays as long as bots are connected, at most "
            f"{counted(found.limits.matches_at_a_time, 'match', 'matches')} at a time."
        )
        return
    _show_cost(cost, counted_entries(found, cost.entries), cores, found.dates.zone)
    for text in basis(found, cost):
        note(text)
    if server is None and cost.typical_hours is None:
        note("Only a server knows its finals: check with --server.")


def _asked(
    server: str | None, token: str | None, text: str
) -> tuple[str | None, Sequence[Measure]]:
    """Let the server check a file; return it, or None if it could not be asked, and its answer."""
    if server is None:
        return None, ()
    try:
        return server, Server(server, token).request(competition_calls.check_competition(text))
    except Unreachable as error:
        if names_server():
            raise
        note(f"{error} {server} could not be asked, so the file is checked here alone.")
        return None, ()


def _note_past(file: CompetitionFile) -> None:
    """Note dates that are over by the clock of this machine; a server goes by its own."""
    from datetime import UTC, datetime

    from plyhouse.server.competition_rules.dates import in_words

    now = datetime.now(UTC)
    dates = file.dates
    for name, date in (
        ("opening", dates.opening),
        ("freeze", dates.freeze),
        ("final", dates.final),
    ):
        if date is not None and date <= now:
            note(
                f"dates.{name}: {in_words(date, dates.zone)} is over by the clock of this "
                f"machine ({in_words(now, dates.zone)}). A server goes by its own clock: check "
                "with --server."
            )


def _show_cost(cost: Preview, entries: str, cores: int | None, zone: str) -> None:
    from plyhouse.server.competition_rules.dates import in_words

    rows = [
        [
            each.game,
            f"{each.matches:,}",
            "unknown" if (pace := each.measured.pace) is None else f"{pace:.2f} s",
            f"{each.measured.most:.1f} s",
            _source(each.measured),
        ]
        for each in cost.games
    ]
    columns = ["game", "matches", "pace of a final", "thinking at most", "plies from"]
    print_table(f"Cost with {entries}, baselines included", columns, rows, "lrrrl")
    machine = f"on {counted(cores, 'core')}" if cores else "each bot on a core of its own"
    click.echo(
        f"Together {cost.matches:,} matches, with at most {cost.most:,.1f} core-hours of thinking."
    )
    typical, all_time = cost.typical_hours, _duration(cost.hours)
    least = "" if typical is None else f"the final typically takes {_duration(typical)}, and "
    click.echo(
        f"With {cost.at_a_time} matches at a time, {machine}, {least}thinking takes at "
        f"most {all_time}."
    )
    if (end := cost.end(typical)) is not None:
        click.echo(f"It typically ends by {in_words(end, zone)}.")
    if (end := cost.end(cost.hours)) is not None:
        click.echo(f"Bots that use all their time think until {in_words(end, zone)}.")
    note("At most: every bot uses all its time. Starts of bots and the network come on top.")


def _duration(hours: float) -> str:
    """A duration in the unit that fits.

    >>> _duration(0.001), _duration(0.2), _duration(3.25), _duration(100)
    ('4 s', '12 min', '3.2 h', '4.2 days')
    """
    if hours < 1 / 60:
        return f"{math.ceil(hours * 3600)} s"
    if hours < 1:
        return f"{hours * 60:.0f} min"
    return f"{hours:,.1f} h" if hours < 48 else f"{hours / 24:,.1f} days"


def _source(measured: Measured) -> str:
    where = "on the server" if measured.source == "server" else "here, at random"
    each = f"{measured.plies:.0f} plies each"
    return f"{counted(measured.matches, 'match', 'matches')} {where}, {each}"


@competition.command("open")
@competition_argument(shown="FILE|NAME")
@on_server
@why_option(required=False)
def open_competition(name: str, server: Server, why: str) -> None:
    """Open a competition.

    FILE opens a new one on a server; NAME opens one that waits for its date.
    """
    place = Path(name)
    if place.is_file():
        text = read_text(place)
        refuse_unfit_references(text)
        made = server.request(competition_calls.open_competition(text, why=why))
    elif place.suffix == ".toml":
        raise CommandError(f"There is no file {place}.", EXIT_USAGE)
    else:
        made = _step(server, name, "open", why)
    at_ms = made.opens_ms if made.status == "draft" else None
    when = f"; it opens {minute(at_ms, made.zone)}" if at_ms is not None else ""
    note(f"{made.name} is {made.status}{when}.")


def _step(
    server: Server, name: str, step: competition_calls.StepName, why: str, *, anyway: bool = False
) -> Competition:
    return server.request(competition_calls.step_competition(name, step, why=why, anyway=anyway))


@competition.command()
@competition_argument()
@on_server
@why_option(required=False)
def freeze(name: str, server: Server, why: str) -> None:
    """Freeze the versions that play in a competition.

    Practice goes on.
    """
    made = _step(server, name, "freeze", why)
    note(f"{made.name} is frozen: entries keep their versions.")


anyway_option = click.option(
    "--anyway",
    is_flag=True,
    help="Although some may still submit, wait for a check, or be left out.",
)


@competition.command()
@competition_argument()
@on_server
@click.option("--wait", is_flag=True, help="Wait for checks of submissions first.")
@anyway_option
@why_option(required=False)
def run(name: str, server: Server, wait: bool, anyway: bool, why: str) -> None:
    """Start the final of a frozen competition."""
    notes = WaitNotes()
    while True:
        try:
            made = _step(server, name, "run", why, anyway=anyway)
            break
        except ApiError as error:
            if not wait or error.code != "competition/unchecked":
                raise
            notes.tell(server.request(competition_calls.competition(name)))
            time.sleep(POLL)
    note(f"The final of {made.name} has begun: plyhouse competition status {name!r}")


@competition.command()
@competition_argument()
@on_server
@anyway_option
@why_option(required=False)
def rerun(name: str, server: Server, anyway: bool, why: str) -> None:
    """Play a finished final again where entries changed.

    Pairings whose versions both still play are not played again: their results count as they are.
    For a student to submit again, grant an extension first: plyhouse competition extend.
    """
    made = _step(server, name, "rerun", why, anyway=anyway)
    note(f"The final of {made.name} runs again: plyhouse competition status {name!r}")


@competition.command()
@competition_argument()
@on_server
@click.option("--yes", is_flag=True, help="Do not ask, although pairings have not begun.")
@why_option(required=False)
def finish(name: str, server: Server, yes: bool, why: str) -> None:
    """End the final with its current table.

    A ladder has no other end.

    Matches that run are played on, and count. It says whose pairings are left out; at a terminal
    it asks before that.
    """
    import sys

    if not yes and sys.stdin.isatty():
        view = server.request(competition_calls.competition(name))
        left = [game.unplayed for game in view.progress if game.unplayed]
        for said in left:
            note(f"{said}.")
        if left:
            click.confirm(f"End the final of {view.name} without them?", abort=True, err=True)
    made = server.request(competition_calls.finish_competition(name, why=why))
    note(f"{made.name} is finished.")
    for said in made.unplayed:
        note(f"Left out: {said}.")


@competition.command()
@competition_argument("who", "STUDENT|PLAYER/BOT")
@on_server
@why_option()
def disqualify(name: str, who: str, server: Server, why: str) -> None:
    """Disqualify a student with all entries, or one entry.

    Nothing more of it is begun, and it has no rank and no grade. Its matches stay in the results of
    the others.
    """
    gone = server.request(competition_calls.disqualify(name, who, why))
    entries = ", ".join(each.entry for each in gone) or "no entry yet"
    note(f"Disqualified {who} ({entries}).")


@competition.command()
@competition_argument("who", "STUDENT|PLAYER/BOT")
@on_server
@why_option(required=False)
def withdraw(name: str, who: str, server: Server, why: str) -> None:
    """Withdraw a student with all entries, or one entry.

    Nothing more of it is begun. It keeps its results and its rank.
    """
    gone = server.request(competition_calls.withdraw(name, who, why=why))
    entries = ", ".join(each.entry for each in gone) or "no entry"
    note(f"Withdrew {who} ({entries}).")


@competition.command()
@competition_argument("student", "STUDENT")
@click.option("--until", required=True, help="A time with its zone: 2027-01-31T18:00:00+01:00.")
@on_server
@why_option(required=False)
def extend(name: str, student: str, until: str, server: Server, why: str) -> None:
    """Let a student submit after the freeze.

    --until says how long.
    """
    made = server.request(competition_calls.extend(name, student, until, why=why))
    note(f"{made.student} may submit until {minute(made.until_ms, made.zone)}.")
    if made.delays:
        note(made.delays)


for command in (announce, announcements, standings, pairings, report, export, status):
    competition.add_command(command)
for command in (change, unfreeze, print_file, copy):
    competition.add_command(command)
for command in (list_competitions, pause, resume, delete):
    competition.add_command(command)
