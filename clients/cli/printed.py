"""``plyhouse output``: what hosted bots printed in their matches, for their author."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import click

from plyhouse.clients.cli.shared.errors import EXIT_OK, EXIT_REFUSED, CommandError
from plyhouse.clients.cli.shared.options import json_option, server_option, token_option
from plyhouse.clients.cli.shared.output import counted, harmless, note, print_table

__all__ = ["in_lines", "output"]


@click.command()
@click.argument("match", required=False)
@click.option("--bot", default="", metavar="NAME", help="Of this bot only.")
@server_option()
@token_option()
@json_option()
def output(match: str | None, bot: str, server: str, token: str | None, as_json: bool) -> int:
    """Show what your hosted bots printed in MATCH and how they failed, or list the latest matches.

    Each line stands under the ply that the bot was asked for, with what that ply cost the machine.
    It is there some seconds after the match, for you alone; docs/hosted-bots.md says how long.
    """
    from plyhouse.clients.cli.shared.http import call
    from plyhouse.clients.cli.shared.http import path as api

    if not token:
        raise CommandError(
            "There is no token: set PLYHOUSE_TOKEN, or give --token, of whose bot it is.",
            EXIT_REFUSED,
        )
    if not match:
        rows = call(server, "GET", f"{api('outputs')}?{urlencode({'bot': bot})}", token=token)
        _list(rows, as_json)
        return EXIT_OK
    found = [
        part
        for part in call(server, "GET", api("matches", match, "output"), token=token)
        if not bot or part["bot"].partition("/")[2].lower() == bot.lower()
    ]
    if as_json:
        click.echo(json.dumps(found, indent=2))
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


def in_lines(part: dict[str, Any]) -> Iterator[str]:
    r"""What a bot printed, under the plies in which it did.

    >>> line, cost = {"ply": 2, "kind": "print", "text": "hm"}, {"ply": 2, "wall_ms": 1.5}
    >>> cost |= {"cpu_ms": 1.0, "waited_ms": 0.0}
    >>> part = {"bot": "ada/mine", "seat": 0, "lines": [line], "costs": [cost]}
    >>> print(*in_lines({**part, "cut": 0, "cut_at": 0}), sep="\n")
    ada/mine, seat 0
    ply 2: 1.5 ms, 1.0 ms of the processor
      hm
    """
    yield f"{part['bot']}, seat {part['seat']}"
    costs = {each["ply"]: each for each in part["costs"]}
    shown: set[int] = set()
    last: Any = ""
    for number, line in enumerate(part["lines"]):
        if part["cut"] and number == part["cut_at"]:
            yield f"[... {counted(part['cut'], 'byte')} are left out ...]"
            last = ""
        ply = line["ply"]
        for earlier in sorted(costs.keys() - shown):
            if ply is not None and earlier < ply:
                shown.add(earlier)
                yield _heading(earlier, costs)
        if ply != last:
            yield _heading(ply, costs)
            shown.add(ply)
            last = ply
        mark = {"note": "-- ", "crash": "!! "}.get(line["kind"], "")
        for text in line["text"].split("\n"):
            yield f"  {mark}{harmless(text)}"
    for ply in sorted(costs.keys() - shown):
        yield _heading(ply, costs)


def _heading(ply: int | None, costs: dict[int, Any]) -> str:
    if ply is None:
        return "outside of its plies:"
    if ply not in costs:
        return f"ply {ply}:"
    cost = costs[ply]
    waited = f", {cost['waited_ms']:.1f} ms it waited for one" if cost["waited_ms"] >= 0.1 else ""
    return f"ply {ply}: {cost['wall_ms']:.1f} ms, {cost['cpu_ms']:.1f} ms of the processor{waited}"


def _list(rows: list[dict[str, Any]], as_json: bool) -> None:
    from plyhouse.clients.cli.administration import minute

    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    if not rows:
        note("Nothing is kept of bots of yours that a server has run.")
        return
    results = {"W": "won", "D": "drawn", "L": "lost"}
    cells = [
        [
            *(each["match"], each["bot"], each["game"], str(each["seat"])),
            *(results.get(each["result"], "void"), str(each["crashes"] or "-")),
            minute(each["finished_ms"]),
        ]
        for each in rows
    ]
    columns = ["match", "bot", "game", "seat", "result", "crashes", "ended (UTC)"]
    print_table("Output", columns, cells, "lllrlrl")
