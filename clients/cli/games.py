"""``plyhouse games``: what can be played, and the rules of each game."""

from __future__ import annotations

import json
import textwrap
from typing import Any

import click
import msgspec

from plyhouse.clients.shared.errors import EXIT_USAGE, CommandError
from plyhouse.clients.shared.games import game_files_option
from plyhouse.clients.shared.options import json_option, server_option
from plyhouse.clients.shared.output import print_json, print_table
from plyhouse.games._compiled import state_of
from plyhouse.games.base import Game, Parameter
from plyhouse.games.observation_fields import observation_fields, observation_schema
from plyhouse.games.registry import game_class, game_file, game_names, get_game
from plyhouse.games.rules import rules_text
from plyhouse.protocol.api.server import ListedGame
from plyhouse.server.match.example_turns import example_turn


@click.command()
@click.argument("name", required=False)
@game_files_option()
@server_option(default=None, login=False)
@json_option()
def games(name: str | None, server: str | None, as_json: bool) -> None:
    """List the games, or explain one of them.

    With NAME: its rules, notation and parameters.

    NAME may have parameters, as in 'pig(target=50)', or be a file: mygame.py:MyGame.

    With --server, those that can be played on a running server, as it describes them.
    """
    if server is not None:
        _of_server(server, name, as_json)
        return
    if name is not None:
        game = get_game(name, files=True)  # The user of a command may run files.
        click.echo(json.dumps(_facts(game), indent=2) if as_json else _explain(game))
        return
    all_games = [game_class(known)() for known in game_names()]
    if as_json:
        click.echo(json.dumps([_facts(game) for game in all_games], indent=2))
        return
    _print_games(
        [
            [
                game.info.name,
                _seats(game),
                game.chance_kind.value,
                game.info.information.value,
                game.info.summary,
            ]
            for game in all_games
        ]
    )


def _print_games(rows: list[list[str]]) -> None:
    columns = ["game", "seats", "chance", "information", "summary"]
    print_table("Games", columns, rows, "lrllw")


def _of_server(server: str, name: str | None, as_json: bool) -> None:
    """The games of a running server, or one of them: a bare name, as parameters change no rules."""
    from plyhouse.clients.shared.http import ask
    from plyhouse.protocol.api import calls

    found = ask(server, calls.games())
    if name is not None:
        wanted = name.partition("(")[0].strip()
        chosen = next((each for each in found if each.name == wanted), None)
        if chosen is None:
            known = ", ".join(each.name for each in found)
            raise CommandError(
                f"{server} has no game named '{wanted}'; it has {known}.", EXIT_USAGE
            )
        if as_json:
            print_json(chosen)
        else:
            click.echo(_explain_view(chosen))
    elif as_json:
        print_json(found)
    else:
        _print_games(
            [
                [
                    each.name,
                    _range(each.min_seats, each.max_seats),
                    each.chance,
                    each.information,
                    each.summary,
                ]
                for each in found
            ]
        )


def _seats(game: Game) -> str:
    return _range(game.info.min_seats, game.info.max_seats)


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}-{high}"


def _facts(game: Game) -> dict[str, Any]:
    """Everything a game declares of itself, for scripts."""
    info = game.info
    return {
        "name": info.name,
        "spec": game.spec,
        "title": info.title,
        "summary": info.summary,
        "seats": game.seats,
        "min_seats": info.min_seats,
        "max_seats": info.max_seats,
        "chance": game.chance_kind.value,
        "information": info.information.value,
        "utility": info.utility.value,
        "min_return": game.return_bounds[0],
        "max_return": game.return_bounds[1],
        "max_plies": info.max_plies,
        "draw_offers": info.draw_offers,
        "simultaneous": info.simultaneous,
        "parameters": [
            {
                "name": parameter.name,
                "value": game.parameters[parameter.name],
                "default": parameter.default,
                "minimum": parameter.minimum,
                "maximum": parameter.maximum,
                "choices": parameter.choices,
                "description": parameter.description,
            }
            for parameter in info.parameters
        ],
        "observation": {
            "fields": [
                {"name": field.name, "type": field.type, "meaning": field.meaning}
                for field in observation_fields(game)
            ],
            "schema": observation_schema(game),
        },
        "example": msgspec.to_builtins(example_turn(game)),
    }


def _explain_view(view: ListedGame) -> str:
    """The page about a game as a server describes it: without the rules, which lie there."""
    lines = [
        f"{view.title} ({view.name})",
        "",
        view.summary,
        "",
        f"Seats        {_range(view.min_seats, view.max_seats)}",
        f"Kind         {view.chance}, {view.information} information, "
        f"{view.utility.replace('_', ' ')}",
        f"Draw offers  {'yes' if view.draw_offers else 'no'}",
    ]
    if view.parameters:
        lines += ["", "Parameters"]
        for each in view.parameters:
            choices = None if each.choices is None else tuple(each.choices)
            bounds = (each.minimum, each.maximum, choices)
            parameter = Parameter(each.name, each.default, each.description, *bounds)
            lines.append(f"  {_parameter(parameter)}")
    lines += ["", "Observation"]
    for field in view.observation.fields:
        lines.append(_field(field.name, field.type, field.meaning))
    return "\n".join(lines)


def _explain(game: Game) -> str:
    """The page about one game."""
    info = game.info
    least, most = game.return_bounds
    unit = f", in {info.returns_unit}" if info.returns_unit else ""
    lines = [f"{info.title} ({game.spec})", "", info.summary, "", rules_text(game), ""]
    state = game.initial_state()
    lines += [
        f"Seats        {_seats(game)}: "
        + ", ".join(f"{seat + 1} {game.seat_name(seat)}" for seat in range(game.seats)),
        f"Kind         {game.chance_kind.value}, {info.information.value} information, "
        f"{info.utility.value.replace('_', ' ')}",
        f"Returns      {least:g} to {most:g} per seat{unit}",
        f"Draw offers  {'yes' if info.draw_offers else 'no'}",
    ]
    notation = getattr(game, "action_notation", "")
    if notation:
        lines.append(f"Notation     {notation}")
    if state.to_move >= 0:
        legal = game.observe(state, state.to_move).legal
        lines.append(f"First ply    {', '.join(legal)}")
    if ".py" in game.source:
        lines.append(f"Build        {_build(game)}")
    if info.parameters:
        lines += ["", "Parameters"]
        lines += [f"  {_parameter(parameter)}" for parameter in info.parameters]
    lines += ["", "Observation"]
    for field in observation_fields(game):
        lines.append(_field(field.name, field.type, field.meaning))
    return "\n".join(lines)


def _field(name: str, kind: str, meaning: str) -> str:
    text = f"  {name} ({kind})  {meaning}".rstrip()
    return textwrap.fill(text, 96, subsequent_indent="      ")


def _build(game: Game) -> str:
    """Return whether a game of a file runs compiled, and why."""
    state = state_of(game_file(game.source))
    return f"{'compiled' if state.compiled else 'pure'}. {state.reason}"


def _parameter(parameter: Parameter) -> str:
    """``target = 100 (10 to 1000)  points that win``."""
    bounds = ""
    if parameter.choices is not None:
        bounds = f" ({' or '.join(str(choice) for choice in parameter.choices)})"
    elif parameter.minimum is not None or parameter.maximum is not None:
        bounds = f" ({parameter.minimum} to {parameter.maximum})"
    text = f"{parameter.name} = {parameter.default}{bounds}  {parameter.description}"
    return textwrap.fill(text, 96, subsequent_indent="      ")
