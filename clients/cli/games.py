"""``plyhouse games``: what can be played, and the rules of each game."""

from __future__ import annotations

import ast
import contextlib
import inspect
import json
import textwrap
from typing import Any

import click
import msgspec

from plyhouse.clients.cli.shared.options import json_option
from plyhouse.clients.cli.shared.output import print_table
from plyhouse.games._compiled import state_of
from plyhouse.games.base import Game, Parameter
from plyhouse.games.fields import observation_fields, observation_schema, source_file
from plyhouse.games.registry import game_class, game_file, game_names, get_game
from plyhouse.server.match.example import example_turn

__all__ = ["games", "rules_text"]


@click.command()
@click.argument("name", required=False)
@json_option()
def games(name: str | None, as_json: bool) -> None:
    """List the games, or explain the game NAME: rules, notation and parameters.

    NAME may have parameters, as in 'pig(target=50)', or be a file: mygame.py:MyGame.
    """
    if name is not None:
        game = get_game(name, files=True)  # whoever types a command may run files
        click.echo(json.dumps(_facts(game), indent=2) if as_json else _explain(game))
        return
    all_games = [game_class(known)() for known in game_names()]
    if as_json:
        click.echo(json.dumps([_facts(game) for game in all_games], indent=2))
        return
    rows = [
        [
            game.info.name,
            _seats(game),
            game.chance_kind.value,
            game.info.information.value,
            game.info.summary,
        ]
        for game in all_games
    ]
    columns = ["game", "seats", "chance", "information", "summary"]
    print_table("Games", columns, rows, "lrllw")


def _seats(game: Game) -> str:
    low, high = game.info.min_seats, game.info.max_seats
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
        "min_return": info.min_return,
        "max_return": info.max_return,
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


def _explain(game: Game) -> str:
    """The page about one game."""
    info = game.info
    lines = [f"{info.title} ({game.spec})", "", info.summary, "", rules_text(game), ""]
    state = game.initial_state()
    lines += [
        f"Seats        {_seats(game)}: "
        + ", ".join(f"{seat} {game.seat_name(seat)}" for seat in range(game.seats)),
        f"Kind         {game.chance_kind.value}, {info.information.value} information, "
        f"{info.utility.value.replace('_', ' ')}",
        f"Returns      {info.min_return:g} to {info.max_return:g} per seat",
        f"Draw offers  {'yes' if info.draw_offers else 'no'}",
    ]
    notation = getattr(game, "action_notation", "")
    if notation:
        lines.append(f"Notation     {notation}")
    if state.to_move >= 0:
        legal = game.observe(state, state.to_move).legal
        lines.append(f"First ply    {', '.join(legal)}")
    if game.source:
        lines.append(f"Build        {_build(game)}")
    if info.parameters:
        lines += ["", "Parameters"]
        lines += [f"  {_parameter(parameter)}" for parameter in info.parameters]
    lines += ["", "Observation"]
    for field in observation_fields(game):
        text = f"  {field.name} ({field.type})  {field.meaning}".rstrip()
        lines.append(textwrap.fill(text, 96, subsequent_indent="      "))
    return "\n".join(lines)


def rules_text(game: Game) -> str:
    """The rules as the game's module tells them: the docstring of its source."""
    module = inspect.getmodule(type(game))
    # Compiled modules have no docstring.
    source = source_file(type(game))
    text = None
    with contextlib.suppress(OSError, SyntaxError):
        text = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8")))
    return inspect.cleandoc(text or inspect.getdoc(module) or inspect.getdoc(type(game)) or "")


def _build(game: Game) -> str:
    """Whether a game of a file runs compiled, and why."""
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
