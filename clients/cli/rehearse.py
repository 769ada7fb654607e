"""``plyhouse competition rehearse``: a file on this machine, or a competition on a server."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plyhouse.clients.cli.administration import why_option
from plyhouse.clients.shared.competition_requests import read_text, request
from plyhouse.clients.shared.errors import EXIT_FAILED, EXIT_OK, EXIT_USAGE, CommandError
from plyhouse.clients.shared.options import (
    competition_argument,
    explicit,
    json_option,
    number_option,
    server_option,
    token_option,
)
from plyhouse.clients.shared.output import counted, note, print_json, print_table
from plyhouse.protocol.api.boards import BoardLine

if TYPE_CHECKING:
    from plyhouse.clients.rehearsal.outcome_check import RehearsalFacts, Verdict
    from plyhouse.clients.rehearsal.small_competition import SmallCompetition


@click.command()
@competition_argument(shown="FILE|NAME")
@server_option(default=None)
@token_option()
@number_option("--minutes", 5.0, "With FILE: when to give up.", 0.1, 24 * 60)
@click.option(
    "--time-control",
    default="",
    help="With FILE: instead of the file's.  [default: the file's, or move:1 where a hung bot "
    "would use up more than a second]",
)
@why_option(required=False)
@json_option()
def rehearse(
    name: str,
    server: str | None,
    token: str | None,
    minutes: float,
    time_control: str,
    why: str,
    as_json: bool,
) -> int:
    """Rehearse a competition, here or on a server.

    FILE is played on a small scale, with a separate server and database. The bots are real: two
    honest ones, one for each baseline, and impostors.  These fail to import, crash, hang, play
    slowly, break the rules, hoard memory, lose their connection, log in twice, or print. The
    command then shows which rule each of them hit and what the table shows for it. Exit code 1 if
    one was not treated as promised. It prints what is smaller than in FILE. Nothing is left behind,
    also after Ctrl-C.

    NAME is an open competition on the server that --server names. Its final is played there as it
    would be now: with the bots submitted so far and the baselines, on the connected runners; finals
    go first. The rehearsal counts for nothing: no rating, no grade, no suspension. Only you see its
    standings, and each author sees their own matches. It is a separate competition, "NAME
    (rehearsal)"; delete it before the next one.
    """
    place = Path(name)
    if place.is_file():
        if explicit("server"):
            raise click.UsageError(
                f"{name} is a file, which is rehearsed on this machine: leave out --server, or "
                "give the name of an open competition"
            )
        return _rehearse_here(place, minutes, time_control, as_json)
    if place.suffix == ".toml":
        raise CommandError(f"There is no file {name}.", EXIT_USAGE)
    if server is None:
        raise click.UsageError(
            f"There is no file {name}. If it is a competition on a server, give --server"
        )
    _rehearse_there(name, server, token, why, as_json)
    return EXIT_OK


def _rehearse_there(name: str, server: str, token: str | None, why: str, as_json: bool) -> None:
    from plyhouse.protocol.api import competition_calls

    made = request(server, token, competition_calls.rehearse_competition(name, why=why))
    if as_json:
        print_json(made)
        return
    if made.left_out:
        note(f"Left out, as they have no submission that is ready: {', '.join(made.left_out)}.")
    shown = made.name
    note(f"{shown} has begun: plyhouse competition status {shown!r}, standings {shown!r}")
    note(f"To remove it afterwards: plyhouse competition delete {shown!r} --why rehearsed")


def _rehearse_here(file: Path, minutes: float, time_control: str, as_json: bool) -> int:
    from plyhouse.clients.rehearsal.outcome_check import judge
    from plyhouse.clients.rehearsal.participants import cast_of
    from plyhouse.clients.rehearsal.rehearsal import rehearse as play
    from plyhouse.clients.rehearsal.small_competition import scaled
    from plyhouse.clients.shared.child_processes import terminating_signals
    from plyhouse.server.competition_rules.file_reader import read_competition

    text = read_text(file)
    cast = cast_of(read_competition(text))
    small = scaled(text, len(cast), time_control)
    begun = time.monotonic()
    note(
        f"Rehearsing {small.file.name} with {counted(len(cast), 'bot')}. {' '.join(small.changes)}"
    )
    with terminating_signals():
        facts = play(small, cast, minutes, note)
    verdicts, wrong = judge(cast, facts)
    seconds = time.monotonic() - begun
    if as_json:
        click.echo(json.dumps(_as_json(small, facts, verdicts, wrong, seconds), indent=2))
    else:
        _show(small, facts, verdicts, wrong, seconds)
    sound = not wrong and not any(each.wrong for each in verdicts)
    return EXIT_OK if sound else EXIT_FAILED


def _show(
    small: SmallCompetition,
    facts: RehearsalFacts,
    verdicts: list[Verdict],
    wrong: list[str],
    seconds: float,
) -> None:
    rows = []
    for each in verdicts:
        line = each.line
        rows.append(
            [
                each.role.entry,
                each.role.does,
                _hit(each),
                "not in it" if line is None else _shown(line),
                each.grade or "-",
                "no" if each.wrong else "yes",
            ]
        )
    columns = ["entry", "does", "rule that it hit", "the table shows", "grade", "as promised"]
    print_table(f"Rehearsal of {small.file.name}", columns, rows, "lwwwll")
    matches = counted(len(facts.matches), "match", "matches")
    click.echo(f"{matches} in {seconds:.0f} s, every record verified.")
    for each in verdicts:
        for text in each.wrong:
            click.echo(f"WRONG  {each.role.entry}: {text}.")
    for text in wrong:
        click.echo(f"WRONG  {text}")
    if not wrong and not any(each.wrong for each in verdicts):
        click.echo("Everybody was treated as promised.")


def _hit(verdict: Verdict) -> str:
    """Which rule it hit, and how often."""
    parts = [f"{kind} ({count})" for kind, count in sorted(verdict.forfeits.items())]
    if verdict.suspended:
        parts.append("suspended")
    return ", ".join(parts) or ("-" if verdict.role.forfeits else verdict.role.promise)


def _shown(line: BoardLine) -> str:
    place = "no place" if line.place is None else f"place {line.place}"
    score = "-" if line.score is None else f"{line.score:.2f}"
    status = "" if line.status == "active" else f", {line.status}"
    return (
        f"{place}, score {score}, {line.wins}-{line.draws}-{line.losses}, "
        f"{counted(line.forfeits, 'forfeit')}{status}"
    )


def _as_json(
    small: SmallCompetition,
    facts: RehearsalFacts,
    verdicts: list[Verdict],
    wrong: list[str],
    seconds: float,
) -> dict[str, Any]:
    return {
        "name": small.file.name,
        "changes": list(small.changes),
        "over": facts.over,
        "matches": len(facts.matches),
        "seconds": round(seconds, 1),
        "bots": [
            {
                "entry": each.role.entry,
                "does": each.role.does,
                "promised": each.role.promise,
                "forfeits": dict(each.forfeits),
                "suspended": each.suspended,
                "table": None if each.line is None else asdict(each.line),
                "grade": each.grade,
                "wrong": list(each.wrong),
            }
            for each in verdicts
        ],
        "wrong": wrong,
    }
