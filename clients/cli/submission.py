"""``plyhouse submission``: the bots that you submitted to a server."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import click

from plyhouse.clients.cli.submit import need_player_token, show
from plyhouse.clients.shared.errors import EXIT_OK, EXIT_USAGE, CommandError
from plyhouse.clients.shared.lazy import HintingGroup
from plyhouse.clients.shared.options import Server, json_option, on_server
from plyhouse.clients.shared.output import counted, harmless, minute, note, print_json, print_table
from plyhouse.protocol.api import calls
from plyhouse.protocol.api.matches import KeptOutput, Output, PlyCost
from plyhouse.protocol.api.submissions import OpenToPlay, Submission

SHOWN: Final = 50
"""Matches that are listed at most."""


@click.command()
@click.argument("match", required=False)
@click.option("--bot", default="", metavar="NAME", help="Show only the output of this bot.")
@on_server
@json_option()
def logs(match: str | None, bot: str, server: Server, as_json: bool) -> int:
    """Show what your hosted bots printed in a match.

    Also shows how they failed. Without MATCH, it lists the latest matches.

    Each line stands under the ply that the bot was asked for, with what that ply cost the machine.
    Seats and plies count from 0, as in `turn.seat` and `turn.ply`.
    It is there some seconds after the match, for you alone; docs/hosted-bots.md says how long.
    """
    server.need_token()
    if match and match.isdecimal():
        raise CommandError(
            f"{match} is the number of a submission: give the id of a match, or nothing to list "
            "the latest matches.",
            EXIT_USAGE,
        )
    if not match:
        _list(server.ask(calls.outputs(bot, SHOWN)), as_json)
        return EXIT_OK
    found = [
        part
        for part in server.ask(calls.output(match))
        if not bot or part.bot.partition("/")[2].lower() == bot.lower()
    ]
    if as_json:
        print_json(found)
        return EXIT_OK
    for part in found:
        for line in in_lines(part):
            click.echo(line)
    if not found:
        note(
            "Nothing is kept: either nothing was printed, or it has not come yet, or it was long "
            "ago. Bots that connect from your own machine print there."
        )
    return EXIT_OK


def in_lines(part: Output) -> Iterator[str]:
    r"""Print a bot's output, under the plies in which it appeared.

    >>> from plyhouse.protocol.api.matches import OutputLine
    >>> line, cost = OutputLine(2, "print", "hm"), PlyCost(2, 1.5, 1.0, 0.0)
    >>> print(*in_lines(Output("m1", "ada/mine", 0, "", 0, [line], [cost], 0, 0)), sep="\n")
    ada/mine, seat 0
    ply 2: 1.5 ms, 1.0 ms of the processor
      hm
    """
    yield f"{part.bot}, seat {part.seat}"
    costs = {each.ply: each for each in part.costs}
    shown: set[int | None] = set()
    last: int | str | None = ""
    for number, line in enumerate(part.lines):
        if part.cut and number == part.cut_at:
            yield f"[... {counted(part.cut, 'byte')} are left out ...]"
            last = ""
        ply = line.ply
        for earlier in sorted(costs.keys() - shown):
            if ply is not None and earlier < ply:
                shown.add(earlier)
                yield _heading(earlier, costs)
        if ply != last:
            yield _heading(ply, costs)
            shown.add(ply)
            last = ply
        mark = {"note": "-- ", "crash": "!! "}.get(line.kind, "")
        for text in line.text.split("\n"):
            yield f"  {mark}{harmless(text)}"
    for ply in sorted(costs.keys() - shown):
        yield _heading(ply, costs)


def _heading(ply: int | None, costs: dict[int, PlyCost]) -> str:
    if ply is None:
        return "outside of its plies:"
    if ply not in costs:
        return f"ply {ply}:"
    cost = costs[ply]
    waited = f", {cost.waited_ms:.1f} ms it waited for one" if cost.waited_ms >= 0.1 else ""
    return f"ply {ply}: {cost.wall_ms:.1f} ms, {cost.cpu_ms:.1f} ms of the processor{waited}"


def _list(rows: Sequence[KeptOutput], as_json: bool) -> None:
    if as_json:
        print_json(rows)
        return
    if not rows:
        note("Nothing is kept of bots of yours that a server has run.")
        return
    results = {"W": "won", "D": "drawn", "L": "lost"}
    cells = [
        [
            *(each.match, each.bot, each.game, str(each.seat)),
            *(results.get(each.result or "", "void"), str(each.crashes or "-")),
            "-" if each.finished_ms is None else minute(each.finished_ms),
        ]
        for each in rows
    ]
    columns = ["match", "bot", "game", "seat", "result", "crashes", "ended"]
    print_table("Output", columns, cells, "lllrlrl")


@click.group(cls=HintingGroup)
def submission() -> None:
    """Look after the bots you submitted.

    A submission goes by its number, which `plyhouse submit` and `list` show.
    """


@submission.command("list")
@click.option("--bot", default="", metavar="NAME", help="Only submissions of this bot.")
@on_server
@json_option()
def list_submissions(bot: str, server: Server, as_json: bool) -> None:
    """List your submissions."""
    need_player_token(server)
    _print(server.ask(calls.submissions(bot)), as_json)


@submission.command("show")
@click.argument("number", type=int)
@on_server
@json_option()
def show_submission(number: int, server: Server, as_json: bool) -> None:
    """Show one submission with the report of its check."""
    need_player_token(server)
    found = server.ask(calls.submission(number))
    if as_json:
        print_json(found)
        return
    _print([found], False)
    show(found, False)


submission.add_command(logs)


@submission.command()
@click.argument("number", type=int)
@on_server
def remove(number: int, server: Server) -> None:
    """Remove a submission that plays nowhere."""
    need_player_token(server)
    server.ask(calls.remove_submission(number))
    note(f"Submission {number} is removed.")


@submission.command("open")
@click.argument("number", type=int)
@on_server
@json_option()
def open_to_people(number: int, server: Server, as_json: bool) -> None:
    """Let people play against the bot of a submission.

    They play against the latest submission of the bot that is ready. `close` ends it.
    """
    _play(number, server, as_json, play=True)


@submission.command("close")
@click.argument("number", type=int)
@on_server
@json_option()
def close_to_people(number: int, server: Server, as_json: bool) -> None:
    """Stop people from playing against the bot of a submission."""
    _play(number, server, as_json, play=False)


def _play(number: int, server: Server, as_json: bool, *, play: bool) -> None:
    need_player_token(server)
    found = server.ask(calls.submission(number))
    owner, _, name = found.bot.partition("/")
    opened = server.ask(calls.open_bot(owner, name, OpenToPlay(play)))
    whether = "can" if play else "can no longer"
    note(f"People {whether} play against {found.bot}.")
    if as_json:
        print_json(replace(found, open=opened.open))


def _print(rows: Sequence[Submission], as_json: bool) -> None:
    if as_json:
        print_json(rows)
        return
    if not rows:
        note("No submissions yet: plyhouse submit mybot.py")
        return
    cells = [
        [
            str(each.submission),
            each.bot,
            each.version or "-",
            each.digest[:12],
            each.status,
            ", ".join(each.games) or "-",
            minute(each.submitted_ms),
            ", ".join(one.competition for one in each.competitions if one.outcome == "entered")
            or "-",
        ]
        for each in rows
    ]
    columns = ["id", "bot", "version", "digest", "state", "games", "submitted", "entered in"]
    print_table("Submissions", columns, cells, "rlllllll")
