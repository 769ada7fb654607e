"""``plyhouse bot ask``: what a bot plays at one ply of a match that was played, here and now."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plyhouse.clients.shared.errors import EXIT_FAILED, EXIT_OK
from plyhouse.clients.shared.games import file_of, game_files_option, known_game, seat_text
from plyhouse.clients.shared.options import Server, json_option, on_server
from plyhouse.clients.shared.output import note

if TYPE_CHECKING:
    from plyhouse.bots.running.ask_bot import Asked
    from plyhouse.clients.review.recorded_position import RecordedTurn
    from plyhouse.games.base import Game


@click.command()
@click.argument("spec", metavar="BOT")
@click.option("--match", "match", required=True, metavar="MATCH", help="Id of the match.")
@click.option(
    "--ply", "number", type=click.IntRange(1), required=True, help="Ply to ask about, from 1."
)
@click.option(
    "--record",
    "file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="File of records that has the match, as `plyhouse match --save` writes it; MATCH may "
    "then be its number, from 1.",
)
@click.option(
    "--seed",
    default="",
    metavar="SEED",
    help="Seed of the bot's run, which `plyhouse bot run` says: with it turn.rng is what it was "
    "in the match.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(0.001, 86400),
    help="Time until the flag falls.  [default: what the bot had]",
)
@click.option("--sandbox", is_flag=True, help="Run the bot in the sandbox of a server.")
@json_option()
@game_files_option()
@on_server
def ask(
    spec: str,
    match: str,
    number: int,
    file: Path | None,
    seed: str,
    seconds: float | None,
    sandbox: bool,
    as_json: bool,
    server: Server,
) -> int:
    """Ask a bot for its action at one ply of a match.

    The record of MATCH (from a file or a server) gives what the seat saw at that ply,
    and the time it had. BOT runs in its own process, as on a server, and starts in the middle of
    the match: it is a new object, and turn.history has all earlier plies.

    Prints what it chooses, how long it took, what it prints, and whether that is what was
    played. Ends with exit code 1 if the bot failed or found nothing in time.
    """
    from plyhouse.bots.hosting.hosted_session import launched
    from plyhouse.bots.running.ask_bot import ask_bot
    from plyhouse.clients.cli.replay import record_asked
    from plyhouse.clients.review.recorded_position import moment_of

    if file is not None:
        record = record_asked(str(file), match, server)
    else:
        record = record_asked(match, None, server)
    game = known_game(record.game, f"match {record.match}")
    ply = number - 1
    moment = moment_of(record, game, ply)
    printed: list[str] = []

    def show(line: str) -> None:
        printed.append(line)
        if not as_json:
            note(line)

    game_file = file_of(game.info.name)

    async def asked() -> Asked:
        async with launched(spec, sandbox=sandbox, games=[game_file]) as (bot, launcher):
            return await ask_bot(
                bot,
                moment.snapshot,
                game,
                game_file=game_file,
                seed=seed,
                left_ns=None if seconds is None else round(seconds * 1e9),
                output=show,
                launcher=launcher,
            )

    answer = asyncio.run(asked())
    same = _same(game, moment, answer.action)
    if as_json:
        told = {
            "match": record.match,
            "ply": ply,
            "seat": moment.seat,
            "how": answer.how,
            "action": answer.action,
            "played": moment.played,
            "same": same,
            "seconds": round(answer.seconds, 4),
            "allowed": answer.allowed,
            "advised": answer.advised,
            "seed": seed or None,
            "warning": answer.warning,
            "error": answer.error,
            "details": answer.details,
            "output": printed,
        }
        click.echo(json.dumps(told, indent=2))
    else:
        _show(game, moment, answer, same, seed)
    return EXIT_FAILED if answer.how in ("failed", "nothing", "late") else EXIT_OK


def _same(game: Game, moment: RecordedTurn, action: str) -> bool | None:
    """Return whether an action means what was played; None where one of the two is missing."""
    from plyhouse.games.errors import GameError

    if not action or not moment.played:
        return None
    state = moment.position.state
    try:
        return bool(game.parse(state, action) == game.parse(state, moment.played))
    except GameError:
        return False


def _show(game: Game, moment: RecordedTurn, answer: Asked, same: bool | None, seed: str) -> None:
    from plyhouse.games.scene import scene_fields
    from plyhouse.games.scene_text import draw_fields

    snapshot = moment.snapshot
    who = seat_text(game, moment.seat)
    seen = game.decode_observation(snapshot.observation)
    click.echo(f"Match {snapshot.match}, {snapshot.game}, ply {snapshot.ply + 1}, as {who}:")
    click.echo(draw_fields(scene_fields(game.scene(seen))))
    took = f"after {answer.seconds:.3f} s of {answer.allowed:.3f} s"
    words = {
        "chosen": f"It chooses {answer.action} {took}.",
        "best": f"Time is nearly out {took}: the best it has reported, {answer.action}, is played.",
        "late": f"It chooses {answer.action or 'nothing'} {took}: too late, its flag has fallen.",
        "resigned": f"It resigns {took}.",
        "failed": f"It fails {took}: {answer.error}\n{answer.details}".rstrip(),
        "nothing": f"It finds nothing in its {answer.allowed:.3f} s: its flag falls.",
    }
    click.echo(words[answer.how])
    if answer.warning:
        click.echo(answer.warning)
    event = moment.event
    if event is not None and moment.played:
        click.echo(
            f"In the match: {moment.played}, thought {event.thought_ns / 1e9:.3f} s, charged "
            f"{event.charged_ns / 1e9:.3f} s. " + ("The same." if same else "Not the same.")
        )
    elif event is not None:
        click.echo(f"In the match nothing was played here: {event.text.replace('_', ' ')}.")
    if not seed and same is False:
        note("A bot that uses turn.rng repeats its choice only with the --seed of its run.")
