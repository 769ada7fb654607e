"""``plyhouse competition``: from a file to grades, on a server; the older ones in the database.

Competitions with a class go by their name.  ``list``, ``pause``, ``resume`` and ``delete`` work on
a server with ``--server`` (or PLYHOUSE_SERVER), also for a round robin without a class, and on the
database itself without it.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plyhouse.clients.cli.administration import minute, operator, why_option, with_store
from plyhouse.clients.cli.competition_results import (
    board,
    export,
    print_board,
    print_certainty,
    report,
)
from plyhouse.clients.cli.rehearse import rehearse
from plyhouse.clients.cli.shared.errors import EXIT_USAGE, CommandError
from plyhouse.clients.cli.shared.lazy import HintingGroup
from plyhouse.clients.cli.shared.options import (
    database_option,
    game_option,
    json_option,
    server_option,
    time_control_option,
    token_option,
)
from plyhouse.clients.cli.shared.organising import needed, request, why_text
from plyhouse.clients.cli.shared.output import counted, note, print_table
from plyhouse.clients.cli.suspicious import suspicious

if TYPE_CHECKING:
    from datetime import datetime

    from plyhouse.server.competition.preview import Measured, Preview
    from plyhouse.storage.store import Store

__all__ = ["competition", "needed", "read_text", "request", "why_text"]

POLL = 0.5
"""Seconds between two looks of ``status --wait``."""


def read_text(file: Path) -> str:
    """The text of a file, in UTF-8."""
    try:
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CommandError(
            f"{file} is not in UTF-8 (byte {error.start + 1}): save it as UTF-8.", EXIT_USAGE
        ) from error


@click.group(cls=HintingGroup)
def competition() -> None:
    """Set up and run competitions: from one file to a table and grades.

    A file says what is played and when: `new` writes one, `check` says what it will cost, `open`
    takes it to a server. Then students join and connect their bots; `freeze` ends changes, `run`
    begins the final, `export` writes standings and grades. With dates in the file these happen by
    themselves. These commands need --server and the token of an organiser, which are best set in
    the environment: PLYHOUSE_SERVER and PLYHOUSE_TOKEN.
    """


competition.add_command(rehearse)
competition.add_command(suspicious)


@competition.command()
@click.argument("name")
@game_option(multiple=True, required=False)
@time_control_option("move:1")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where to write it.  [default: the name with .toml]",
)
def new(name: str, games: tuple[str, ...], time_control: str, output: Path | None) -> None:
    """Write a commented competition file, valid as it stands.

    The freeze is in two weeks, the final an hour later. Without --game it is connect_four.
    """
    from datetime import UTC, datetime

    from plyhouse.server.competition.file import read_competition
    from plyhouse.server.competition.students import account_name
    from plyhouse.server.competition.template import template

    now = datetime.now(UTC)
    text = template(name, games or ("connect_four",), time_control, now)
    read_competition(text, now)
    place = output or Path(f"{account_name(name).lower()}.toml")
    try:
        with place.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise CommandError(
            f"{place} is there already: remove it, or give another place with -o.", EXIT_USAGE
        ) from None
    note(f"Wrote {place}. Change what you like, then: plyhouse competition check {place}")


@competition.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@server_option(default=None)
@token_option()
@click.option(
    "--entries",
    type=click.IntRange(2, 100_000),
    help="Bots of the final.  [default: as many as the file allows, and its baselines]",
)
@click.option(
    "--cores",
    type=click.IntRange(1, 4096),
    help="Cores on which all bots think, if they share a machine; otherwise each brings its own.",
)
def check(
    file: Path, server: str | None, token: str | None, entries: int | None, cores: int | None
) -> None:
    """Say all that is wrong with FILE, and what the competition will cost.

    With --server also what only the server knows: baselines, names that are taken, and how long
    matches took there. Otherwise each game is played here at random for a moment.
    """
    from datetime import UTC, datetime

    from plyhouse.server.competition.facts import FormatError
    from plyhouse.server.competition.file import read_competition

    text = read_text(file)
    now = datetime.now(UTC)
    known: list[dict[str, Any]] = []
    if server is not None:
        known = request(server, token, "POST", "check", body={"file": text})
    found = read_competition(text, now)
    from plyhouse.server.competition.preview import Measured, preview, sample

    measured: dict[str, Measured] = {}
    for game in found.games:
        own = next((each for each in known if each["game"] == game and each["matches"]), None)
        measured[game] = (
            Measured(own["seconds"], own["matches"], None, "server")
            if own is not None
            else sample(game, found.time_control, time.perf_counter_ns)
        )
    most = found.limits.students * found.entries_per_student + len(found.baselines)
    if server is not None and cores is None and found.hosting_required:
        from plyhouse.clients.cli.shared.http import call, path

        there = call(server, "GET", path("runner", "capacity"))
        cores = there["cores"] or None
        machines = counted(there["machines"], "runner machine")
        note(f"{machines} with {counted(there['cores'], 'core')} for bots now.")
    try:
        cost = preview(found, entries or most, found.dates.final or now, measured, cores)
    except FormatError as error:
        raise CommandError(f"With {entries or most} entries: {error}.", EXIT_USAGE) from None
    note(f"{file} is valid: {found.name}, {counted(len(found.games), 'game')}.")
    if cost is None:
        note(
            "A ladder has no end, and so no cost: it plays as long as bots are connected, at most "
            f"{counted(found.limits.matches_at_a_time, 'match', 'matches')} at a time."
        )
        return
    _show_cost(cost, measured, cores)


def _show_cost(cost: Preview, measured: dict[str, Measured], cores: int | None) -> None:
    rows = [
        [
            each.game,
            f"{each.matches:,}",
            f"{each.measured.seconds:.1f} s",
            f"{each.seconds / 3600:,.1f}",
            _source(each.measured),
        ]
        for each in cost.games
    ]
    columns = ["game", "matches", "a match", "core-hours", "measured by"]
    print_table(f"Cost with {cost.entries} entries", columns, rows, "lrrrl")
    machine = f"on {counted(cores, 'core')}" if cores else "each bot on a core of its own"
    click.echo(
        f"Together {cost.matches:,} matches and {cost.core_hours:,.1f} core-hours; with "
        f"{cost.at_a_time} matches at a time, {machine}, over by {_moment(cost.end)}."
    )
    if any(each.source == "sample" for each in measured.values()):
        note(
            "Samples are played at random; in them every bot thinks all its time, so faster bots "
            "are done sooner."
        )


def _source(measured: Measured) -> str:
    where = "on the server" if measured.source == "server" else "here, at random"
    plies = f", {measured.plies:.0f} plies each" if measured.plies is not None else ""
    return f"{counted(measured.matches, 'match', 'matches')} {where}{plies}"


def _moment(when: datetime) -> str:
    return when.strftime("%Y-%m-%d %H:%M UTC")


@competition.command("open")
@click.argument("file_or_name", metavar="FILE|NAME")
@server_option()
@token_option()
@why_option(required=False)
def open_competition(file_or_name: str, server: str, token: str | None, why: str) -> None:
    """Open a competition on a server by its FILE; or one that waits for its date, by NAME."""
    place = Path(file_or_name)
    if place.is_file():
        made = request(
            server, token, "POST", "competitions", body={"file": read_text(place), "why": why}
        )
    elif place.suffix == ".toml":
        raise CommandError(f"There is no file {place}.", EXIT_USAGE)
    else:
        made = _step(server, token, file_or_name, "open", why)
    when = f"; it opens {minute(made['opens_ms'])} UTC" if made["status"] == "draft" else ""
    note(f"{made['name']} is {made['status']}{when}.")


def _step(
    server: str, token: str | None, name: str, step: str, why: str, **more: Any
) -> dict[str, Any]:
    body = {"why": why, **more}
    answer: dict[str, Any] = request(server, token, "POST", "competitions", name, step, body=body)
    return answer


@competition.command()
@click.argument("name")
@server_option()
@token_option()
@why_option(required=False)
def freeze(name: str, server: str, token: str | None, why: str) -> None:
    """Let the versions that play in NAME change no more; practice goes on."""
    made = _step(server, token, name, "freeze", why)
    note(f"{made['name']} is frozen: what plays changes no more.")


@competition.command()
@click.argument("name")
@server_option()
@token_option()
@click.option("--anyway", is_flag=True, help="Although some may still submit.")
@why_option(required=False)
def run(name: str, server: str, token: str | None, anyway: bool, why: str) -> None:
    """Begin the final of the frozen competition NAME."""
    made = _step(server, token, name, "run", why, anyway=anyway)
    note(f"The final of {made['name']} has begun: plyhouse competition status {name!r}")


@competition.command()
@click.argument("name")
@server_option()
@token_option()
@click.option("--anyway", is_flag=True, help="Although some may still submit.")
@why_option(required=False)
def rerun(name: str, server: str, token: str | None, anyway: bool, why: str) -> None:
    """Play the final of NAME, which is over, again as far as its entries have changed.

    Pairings whose versions both still play are not played again: their results count as they are.
    Who is to hand in anew needs an extension first: plyhouse competition extend.
    """
    made = _step(server, token, name, "rerun", why, anyway=anyway)
    note(f"The final of {made['name']} runs again: plyhouse competition status {name!r}")


@competition.command()
@click.argument("name")
@server_option()
@token_option()
@click.option("--yes", is_flag=True, help="Do not ask, although pairings have not begun.")
@why_option(required=False)
def finish(name: str, server: str, token: str | None, yes: bool, why: str) -> None:
    """End the final of NAME as it stands: a ladder has no other end.

    Matches that run are played on, and count. It says whose pairings are left out; at a terminal
    it asks before that.
    """
    import sys

    if not yes and sys.stdin.isatty():
        view = request(server, token, "GET", "competitions", name)
        left = [game["unplayed"] for game in view["progress"] if game["unplayed"]]
        for said in left:
            note(f"{said}.")
        if left:
            click.confirm(f"End the final of {view['name']} without them?", abort=True, err=True)
    made = _step(server, token, name, "finish", why)
    note(f"{made['name']} is finished.")
    for said in made["unplayed"]:
        note(f"Left out: {said}.")


@competition.command()
@click.argument("name")
@server_option()
@token_option()
@click.option("--game", default="", help="Only this one.  [default: all]")
@json_option()
def rounds(name: str, server: str, token: str | None, game: str, as_json: bool) -> None:
    """Show the final of NAME as its format sees it: table, rounds and brackets, what is next."""
    found = request(server, token, "GET", "competitions", name, "rounds")
    coming = request(server, token, "GET", "competitions", name, "next")
    found = [each for each in found if game in ("", each["game"])]
    if as_json:
        click.echo(json.dumps(found, indent=2))
        return
    if not found:
        note(f"The final of {name} has not begun." if not game else f"There is no game {game}.")
    for each in found:
        ties = each["tie_breaks"]
        lines = [
            [
                "-" if line["place"] is None else str(line["place"]),
                line["entry"] + (" (left)" if line["withdrawn"] else ""),
                f"{line['points']:g}",
                str(line["played"]),
                *(f"{value:g}" for value in line["tie_breaks"]),
            ]
            for line in each["table"]
        ]
        columns = ["place", "entry", "points", "pairings", *ties]
        print_table(f"{each['game']}, {each['format']}", columns, lines, "rlrr" + "r" * len(ties))
        for number in each["rounds"]:
            pairs = [[_met(line), _ended(line), line["key"]] for line in number["lines"]]
            print_table(number["name"], ["pairing", "result", "key"], pairs, "lll")
    _print_next([each for each in coming if game in ("", each["game"])])


def _print_next(coming: list[dict[str, Any]]) -> None:
    """The pairings that come next, as far as they are known."""
    rows = [[each["game"], " - ".join(each["entries"]), each["key"]] for each in coming]
    if rows:
        print_table("Next", ["game", "pairing", "key"], rows, "lll")


def _met(line: dict[str, Any]) -> str:
    return " - ".join(entry or "?" for entry in line["entries"] if entry or line["state"] != "bye")


def _ended(line: dict[str, Any]) -> str:
    played = line["scores"] is not None
    said = " : ".join(f"{each:g}" for each in line["scores"]) if played else str(line["state"])
    return said + (f", {line['winner']} goes on" if line["winner"] else "")


@competition.command()
@click.argument("name")
@server_option()
@token_option()
@click.option("--wait", is_flag=True, help="Wait until its final is over.")
@json_option()
def status(name: str, server: str, token: str | None, wait: bool, as_json: bool) -> None:
    """Show how NAME stands: students, entries, and how far its final is."""
    view = request(server, token, "GET", "competitions", name)
    while wait and view["status"] == "running":
        time.sleep(POLL)
        view = request(server, token, "GET", "competitions", name)
    if as_json:
        click.echo(json.dumps(view, indent=2))
        return
    dates = [
        f"{what} {minute(view[key])} UTC"
        for what, key in (("opens", "opens_ms"), ("freeze", "freezes_ms"), ("final", "final_ms"))
        if view[key] is not None
    ]
    click.echo(f"{view['name']} is {view['status']}" + (f" ({', '.join(dates)})" if dates else ""))
    active = [each for each in view["students"] if each["status"] == "active"]
    entered = {each["entry"].partition("/")[0] for each in view["entries"] if not each["baseline"]}
    idle = [each["student"] for each in active if each["student"] not in entered]
    click.echo(f"{counted(len(active), 'student')}, {len(idle)} without an entry")
    if view["entries"]:
        rows = [
            [
                each["entry"],
                each["version"] or "-",
                each["digest"][:8] or "-",
                "baseline" if each["baseline"] else each["status"],
                "yes" if each["connected"] else "no",
            ]
            for each in view["entries"]
        ]
        columns = ["entry", "version", "digest", "status", "connected"]
        print_table("Entries", columns, rows, "lllll")
        for each in view["entries"]:
            if each["next_version"] or each["next_digest"]:
                later = " ".join(filter(None, (each["next_version"], each["next_digest"][:8])))
                note(f"{each['entry']}: a rerun plays with version {later}.")
    rows = [[each["game"], str(each["finished"]), str(each["planned"])]
            for each in view["progress"]]  # fmt: skip
    print_table("Final", ["game", "played", "matches"], rows, "lrr")
    for game in view["progress"]:
        for reason in game["waiting_for"]:
            note(f"{game['game']}: {reason}")
        for told in game["absent"]:
            note(f"{game['game']}: {told}")
    if view["note"]:
        note(f"Not yet: {view['note']}.")
    for told in view["warnings"]:
        note(told)
    if view["status"] in ("running", "paused"):
        _print_next(request(server, token, "GET", "competitions", name, "next"))
    if any(game["finished"] for game in view["progress"]):
        print_board(request(server, token, "GET", "competitions", name, "table"))
        print_certainty(request(server, token, "GET", "competitions", name, "certainty"))


@competition.command()
@click.argument("name")
@click.argument("who", metavar="STUDENT|PLAYER/BOT")
@server_option()
@token_option()
@why_option()
def disqualify(name: str, who: str, server: str, token: str | None, why: str) -> None:
    """Disqualify a student with all entries of NAME, or one entry.

    Nothing more of it is begun. What it has played stays in the results of the others.
    """
    body = {"who": who, "why": why}
    gone = request(server, token, "POST", "competitions", name, "disqualify", body=body)
    entries = ", ".join(each["entry"] for each in gone) or "no entry yet"
    note(f"Disqualified {who} ({entries}).")


@competition.command()
@click.argument("name")
@click.argument("student")
@click.option("--until", required=True, help="A time with its zone: 2027-01-31T18:00:00+01:00.")
@server_option()
@token_option()
@why_option(required=False)
def extend(name: str, student: str, until: str, server: str, token: str | None, why: str) -> None:
    """Let STUDENT submit to NAME after its freeze, until a time."""
    body = {"student": student, "until": until, "why": why}
    request(server, token, "POST", "competitions", name, "extend", body=body)
    note(f"{student} may submit until {until}.")


for command in (board, report, export):
    competition.add_command(command)


@competition.command("list")
@server_option(default=None)
@database_option()
def list_competitions(server: str | None, database: str) -> None:
    """List the competitions, newest first."""
    if server is not None:
        from plyhouse.clients.cli.shared.http import call, path

        listed = call(server, "GET", path("class", "competitions"))
        others = call(server, "GET", path("competitions"))
        cells = [
            [each["name"], ", ".join(each["games"]), each["status"], "class"] for each in listed
        ]
        cells += [[e["name"], e["game"], e["status"], e["competition"]] for e in others]
        if cells:
            print_table("Competitions", ["name", "games", "status", "id"], cells, "llll")
        else:
            note(f"No competitions on {server}.")
        return
    rows = with_store(database, lambda store: store.competitions())
    courses = with_store(database, lambda store: store.classes.all())
    if not rows and not courses:
        note(f"No competitions in {database}.")
        return
    cells = [
        [each.id, each.name, ", ".join(game.game for game in each.games), each.status,
         minute(each.created_ms)]
        for each in courses
    ]  # fmt: skip
    cells += [[row.id, row.name, row.game, row.status, minute(row.created_ms)] for row in rows]
    columns = ["competition", "name", "game", "status", "made (UTC)"]
    print_table("Competitions", columns, cells, "lllll")


def _steer(
    server: str | None, token: str | None, database: str, name: str, step: str, why: str
) -> str:
    """Pause, resume or delete, wherever it is and whatever kind it has; return its name."""
    if server is None:
        return _steer_stored(database, name, step, why)
    from plyhouse.clients.cli.shared.http import ApiError, call, path

    try:
        if step == "delete":
            _delete_on(server, token, ("class", "competitions", name), why)
        else:
            _step(server, token, name, step, why)
    except ApiError as error:
        if error.code != "storage/unknown":
            raise
        try:  # a round robin without a class, by its id
            if step == "delete":
                _delete_on(server, token, ("competitions", name), why)
            else:
                body = {"why": why_text(why)}
                call(server, "POST", path("competitions", name, step), body, needed(token))
        except ApiError as other:
            raise error if other.code == "storage/unknown" else other from None
    return name


def _delete_on(server: str, token: str | None, parts: tuple[str, ...], why: str) -> None:
    from urllib.parse import quote

    from plyhouse.clients.cli.shared.http import call, path

    query = f"?why={quote(why_text(why), safe='')}"
    call(server, "DELETE", path(*parts) + query, token=needed(token))


def _steer_stored(database: str, name: str, step: str, why: str) -> str:
    status = {"pause": "paused", "resume": "running", "delete": "deleted"}[step]

    async def action(store: Store) -> str:
        from plyhouse.storage.errors import Unknown

        try:
            course = await store.classes.find(name)
        except Unknown:
            office = store.administration
            return (await office.set_competition_status(name, status, operator(why))).name
        return (await store.classes.move(course.id, step, operator(why))).name

    return with_store(database, action)


@competition.command()
@click.argument("name", metavar="NAME|ID")
@why_option(required=False)
@server_option(default=None)
@token_option()
@database_option()
def pause(name: str, why: str, server: str | None, token: str | None, database: str) -> None:
    """Begin nothing more of a competition; matches that run are played on."""
    note(f"{_steer(server, token, database, name, 'pause', why)} is paused.")


@competition.command()
@click.argument("name", metavar="NAME|ID")
@why_option(required=False)
@server_option(default=None)
@token_option()
@database_option()
def resume(name: str, why: str, server: str | None, token: str | None, database: str) -> None:
    """Let a paused competition go on."""
    note(f"{_steer(server, token, database, name, 'resume', why)} is running.")


@competition.command()
@click.argument("name", metavar="NAME|ID")
@why_option()
@server_option(default=None)
@token_option()
@database_option()
def delete(name: str, why: str, server: str | None, token: str | None, database: str) -> None:
    """Begin nothing more of a competition and list it nowhere; its matches stay."""
    note(f"{_steer(server, token, database, name, 'delete', why)} is deleted.")


@competition.command()
@click.argument("competition_id", metavar="ID")
@click.argument("bot", metavar="PLAYER/BOT")
@why_option(required=False)
@database_option()
def withdraw(competition_id: str, bot: str, why: str, database: str) -> None:
    """Take a bot out of what is still to begin of a round robin without a class."""

    async def action(store: Store) -> str:
        player, _, name = bot.partition("/")
        row = await store.bot_named(player, name)
        entry = await store.administration.withdraw(competition_id, row.id, operator(why))
        return f"{entry.player}/{entry.bot}"

    note(f"Withdrew {with_store(database, action)}.")
