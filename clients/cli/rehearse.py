"""``plyhouse competition rehearse``: a competition file played small, with bots that misbehave."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plyhouse.clients.shared.errors import EXIT_FAILED, EXIT_OK
from plyhouse.clients.shared.options import json_option
from plyhouse.clients.shared.output import counted, note, print_table
from plyhouse.protocol.api.boards import BoardLine

if TYPE_CHECKING:
    from plyhouse.clients.rehearsal.judgement import Facts, Verdict
    from plyhouse.clients.rehearsal.scaled import Scaled

__all__ = ["rehearse"]


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option(
    "--minutes",
    type=click.FloatRange(0.1, 24 * 60),
    default=5.0,
    show_default=True,
    help="When to give up.",
)
@click.option(
    "--time-control",
    default="",
    help="Instead of the file's.  [default: the file's, or move:1 where a hung bot would use up "
    "more than a second]",
)
@json_option()
def rehearse(file: Path, minutes: float, time_control: str, as_json: bool) -> int:
    """Play the competition of FILE on this machine, on a small scale, with bots that misbehave.

    A server and its database of its own, here and for this time only, and real bots: two honest
    ones, one for each baseline, and impostors that cannot be imported, crash, hang, are slow,
    break the rules, hoard memory, are cut off, log in twice, or print. Then it says which rule
    each of them hit and what the table shows for it. Exit code 1 if one was treated otherwise
    than promised.

    What is made smaller than in FILE is said. Nothing is left behind, also after Ctrl-C.
    """
    from plyhouse.clients.rehearsal.cast import cast_of
    from plyhouse.clients.rehearsal.judgement import judge
    from plyhouse.clients.rehearsal.rehearsal import rehearse as play
    from plyhouse.clients.rehearsal.scaled import scaled
    from plyhouse.clients.shared.organising import read_text
    from plyhouse.clients.shared.processes import terminating_signals
    from plyhouse.server.competition.file import read_competition

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
    small: Scaled, facts: Facts, verdicts: list[Verdict], wrong: list[str], seconds: float
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
    small: Scaled, facts: Facts, verdicts: list[Verdict], wrong: list[str], seconds: float
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
