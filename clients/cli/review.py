"""``plyhouse review``: where a match was lost, and what a bot loses per ply."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import click

from plyhouse.clients.shared.errors import CommandError
from plyhouse.clients.shared.games import (
    chosen_files,
    game_files_option,
    known_game,
    seat_index,
    seat_text,
)
from plyhouse.clients.shared.options import (
    Server,
    json_option,
    match_of_file_option,
    number_option,
    on_server,
)
from plyhouse.clients.shared.output import note, print_table

if TYPE_CHECKING:
    from plyhouse.protocol.api.positions import Review, ReviewedPly, ValueLost
    from plyhouse.server.results.record import Record


@click.command()
@click.argument("what", metavar="[FILE|MATCH]", required=False)
@match_of_file_option()
@click.option(
    "--bot",
    metavar="PLAYER/BOT",
    help="Sum up all matches of this bot: of a FILE, else the last ones on the server.",
)
@number_option("--last", 20, "How many matches on a server --bot sums up.", 1, 10_000)
@click.option(
    "--seat",
    type=click.IntRange(1),
    help="The seat to look at, from 1.  [default: the one that lost]",
)
@number_option("--seconds", 20.0, "Time for all plies together.", 0.1, 86400)
@number_option(
    "--threshold",
    0.05,
    "Drop that counts as a loss where values are estimates, as a share of the range of returns.",
    0,
    1,
)
@json_option()
@game_files_option()
@on_server
def review(
    what: str | None,
    which: str | None,
    bot: str | None,
    last: int,
    seat: int | None,
    seconds: float,
    threshold: float,
    as_json: bool,
    server: Server,
) -> None:
    """Find the plies that lost a match.

    Shows what every ply of a seat was worth, beside the best one.

    The match is one of a FILE of records (- is standard input), or MATCH of a server.

    Positions are looked up in a solved table where the game is small, else searched: exactly as
    far as the time allows, and each value says how certain it is. In games with hidden
    information a choice is judged by what the seat knew. The clock of each ply stands beside it.

    With --bot: the mean value that the bot lost per ply, with its interval, game by game.
    """
    if bot is not None:
        if which is not None or seat is not None:
            raise click.UsageError("--bot looks at all matches and seats of a bot")
        if click.get_current_context().get_parameter_source("threshold") is not (
            click.core.ParameterSource.DEFAULT
        ):
            raise click.UsageError("--bot adds up every drop, so it takes no --threshold")
        _sum_up(bot, what, last, seconds, as_json, server)
        return
    if what is None:
        raise click.UsageError("name a FILE or a MATCH, or a bot: --bot PLAYER/BOT")
    from plyhouse.clients.cli.replay import record_asked
    from plyhouse.clients.review.review import default_seat
    from plyhouse.clients.review.review import review as reviewed

    record = record_asked(what, which, server)
    game = known_game(record.game, f"match {record.match}")
    named = seat_index(game, seat)
    chosen = default_seat(record) if named is None else named
    if not as_json:
        note(f"Looking at {record.game} for {seconds:g} s at most.")
    found = reviewed(
        record,
        game,
        chosen,
        seconds=seconds,
        threshold=threshold,
        where=_where(what, record, server.address),
    )
    if as_json:
        import msgspec

        click.echo(json.dumps(msgspec.to_builtins(found), indent=2))
        return
    _show(found, seat_text(game, chosen))


def _sum_up(
    bot: str, what: str | None, last: int, seconds: float, as_json: bool, server: Server,
) -> None:  # fmt: skip
    from plyhouse.clients.review.losses import Losses
    from plyhouse.clients.review.review import PREPARING, holder
    from plyhouse.games.errors import listed
    from plyhouse.protocol.api.positions import BotReview

    records = [*_records(bot, what, last, server)]
    if not as_json:
        note(f"Looking at {len(records)} matches for about {seconds:g} s.")
    begun = monotonic()
    losses = Losses(
        bot,
        lambda record: known_game(record.game, f"match {record.match}"),
        seconds=seconds * (1 - PREPARING) / max(1, len(records)),
        preparing=seconds * PREPARING,
    )
    losses.add(records)
    found = losses.found()
    if not found:
        seats = (holder(each, seat) for each in records for seat in range(len(each.seats)))
        others = listed(sorted(set(seats)))
        more = f"; there are some of {others}" if others else ""
        raise CommandError(f"There is no finished match of {bot}{more}.")
    if as_json:
        import msgspec

        summary = BotReview(bot, round(monotonic() - begun, 3), found)
        click.echo(json.dumps(msgspec.to_builtins(summary), indent=2))
        return
    columns = ["game", "matches", "plies", "exact", "lost per ply", "interval", "faults"]
    rows, align = [_loss_cells(each) for each in found], "lrrrrll"
    if any(each.more is not None for each in found):
        columns.append("beyond the usual game")
        rows = [[*row, _beyond(each)] for row, each in zip(rows, found, strict=True)]
        align += "l"
    print_table(f"Value lost by {bot}", columns, rows, align)
    for method in dict.fromkeys(each.method for each in found):
        games = ", ".join(each.game for each in found if each.method == method)
        note(f"{games}: judged by {method}.")
    if unjudged := sum(each.unjudged for each in found):
        note(f"{unjudged} plies could not be judged and are left out.")
    scale = _scale(each.unit for each in found)
    note(f"0 is perfect play. {scale} The interval is one over matches (95 %).")


def _scale(units: Iterable[str]) -> str:
    """Return the meaning of values with these units, as a sentence."""
    from plyhouse.games.values import PERCENT

    said = dict.fromkeys(units)
    chances = "Percentages are chances of winning, to which a draw adds a half."
    others = [f"Values are {each} of the game." for each in said if each != PERCENT]
    return " ".join([chances, *others] if PERCENT in said else others)


def _records(bot: str, what: str | None, last: int, server: Server) -> Iterator[Record]:
    """The records of a file, else those of the last matches of a bot on a server."""
    from plyhouse.clients.replay.record_files import records_in, records_of

    if what is not None:
        here = what == "-"
        yield from records_of(sys.stdin.buffer.read(), what) if here else records_in(Path(what))
        return

    from plyhouse.clients.api.client import Api
    from plyhouse.protocol.api.answers import ApiError
    from plyhouse.server.results.record import read_record

    with Api(server.address, server.token or "") as api:
        for match in api.matches(bot=bot, sort="ended", limit=last):
            try:
                yield read_record(api.record(match.match).text)
            except ApiError as error:
                if error.code != "match/not_over":  # Its pairing goes on.
                    raise


def _loss_cells(found: ValueLost) -> list[str]:
    from plyhouse.games.values import drop_text

    faults = [f"{count} {fault.replace('_', ' ')}" for fault, count in found.faults.items()]
    return [
        found.game,
        str(found.matches),
        str(found.plies),
        str(found.exact),
        "-" if found.mean is None else drop_text(found.mean, found.unit),
        "-" if found.interval is None else _range(found.interval, found.unit),
        ", ".join(faults) or "-",
    ]


def _beyond(found: ValueLost) -> str:
    from plyhouse.games.values import drop_text

    if found.more is None:
        return "-"
    text = drop_text(found.more, found.unit)
    if found.more_interval is None:
        return text
    return f"{text} ({_range(found.more_interval, found.unit)})"


def _range(bounds: tuple[float, float], unit: str) -> str:
    from plyhouse.games.values import drop_text

    low, high = (drop_text(each, unit) for each in bounds)
    return f"{low.removesuffix(f' {unit}')} to {high}"


def _where(what: str, record: Record, server: str) -> str:
    """Return the arguments with which `plyhouse bot ask` finds the record again."""
    import shlex

    said = f"--match {shlex.quote(record.match)} "
    if files := chosen_files():
        said += f"--game-files {shlex.quote(files)} "
    if what == "-":
        return said
    if Path(what).is_file():
        return f"--record {shlex.quote(what)} {said}"
    return f"{said}--server {shlex.quote(server)} "


def _show(found: Review, seat: str) -> None:
    title = f"{found.game}, {found.time_control}: match {found.match}"
    title += f", {found.player} as {seat}, judged by {found.method}"
    columns = ["ply", "played", "worth", "best", "worth", "lost", "known", "thought", "lag", "left"]
    cells = [_cells(row, found.unit) for row in found.plies]
    print_table(title, columns, cells, "rlrlrrlrrr")
    for row in found.plies:
        if row.refused:
            note(f"Ply {row.ply + 1}: refused before: {', '.join(row.refused)}.")
    click.echo(found.verdict)
    note(_scale([found.unit]))
    note(f"Counted as lost: {found.rule}. It took {found.seconds:.1f} s.")
    if found.command:
        click.echo(f"Ask your bot again: {found.command}")


def _cells(row: ReviewedPly, unit: str) -> list[str]:
    from plyhouse.games.values import drop_text, value_text

    return [
        str(row.ply + 1),
        row.action or "-",
        "-" if row.played is None else value_text(row.played, unit),
        "=" if row.action == row.best_action else row.best_action,
        value_text(row.best, unit),
        f"{drop_text(row.drop, unit)}{' !' if row.lost else ''}" if row.drop > 0.005 else "-",
        row.certainty,
        f"{row.thought_ms / 1000:.2f} s",
        f"{row.lag_ms:.0f} ms",
        f"{row.remaining_ms / 1000:.2f} s",
    ]
