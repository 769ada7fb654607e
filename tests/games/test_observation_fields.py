"""Every field that a bot is shown is described, and is what its description says."""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path
from typing import Any

import msgspec
import pytest

from plyhouse.games.base import TERMINAL, Observation
from plyhouse.games.observation_fields import observation_fields, observation_schema, source_file
from plyhouse.games.registry import BUILT_IN, get_game
from plyhouse.games.trees import tree_game

TYPES: dict[str, Any] = {
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "string": str,
    "array": list,
}
SPECS = [
    *BUILT_IN,
    "coin_guess(variant=bag)",
    "einstein(placement=free)",
    "kuhn_poker(seats=4)",
    "liars_dice(seats=3,dice=2,wild=lowest)",
    "matrix(rounds=3)",
    "pacman(ghosts=random,steps=9)",
]


def fits(value: Any, schema: dict[str, Any]) -> bool:
    """Return whether a JSON value fits a schema of `plyhouse.games.observation_fields`."""
    if "anyOf" in schema:
        return any(fits(value, option) for option in schema["anyOf"])
    if schema["type"] == "null":
        return value is None
    if not isinstance(value, TYPES[schema["type"]]):
        return False
    if schema["type"] != "array":
        return schema["type"] == "boolean" or not isinstance(value, bool)
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        return False
    parts = schema.get("prefixItems") or [schema["items"]] * len(value)
    return all(map(fits, value, parts))


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_every_field_is_described(name: str) -> None:
    fields = observation_fields(get_game(name))
    assert [field.name for field in fields[:3]] == ["seat", "to_move", "legal"]
    for field in fields:
        assert field.meaning.endswith("."), f"{name}: say what {field.name} means, below the field"
        assert field.schema, f"{name}: the type of {field.name} is not one that goes on the wire"


def test_the_common_fields_say_what_the_negative_seats_mean() -> None:
    to_move = observation_fields(get_game("pig"))[1].meaning
    assert "-1 (`CHANCE`)" in to_move
    assert "-2 (`TERMINAL`)" in to_move


def test_written_trees_are_described_too() -> None:
    fields = observation_fields(tree_game("(3 5)"))
    assert all(field.meaning for field in fields)


@pytest.mark.parametrize("spec", SPECS)
def test_what_is_observed_fits_the_schema(spec: str) -> None:
    game = get_game(spec)
    schema = observation_schema(game)
    rng = random.Random(spec)
    state: Any = game.initial_state()
    for _ in range(400):
        for viewer in (None, *range(game.seats)):
            sent = msgspec.json.encode(game.observe(state, viewer).fields())
            fields = msgspec.json.decode(sent)
            assert list(fields) == schema["required"] == list(schema["properties"])
            for name, value in fields.items():
                assert fits(value, schema["properties"][name]), (name, value)
        if state.to_move == TERMINAL:
            break
        chance = [outcome for outcome, _ in state.chance_outcomes()]
        state = state.after(rng.choice(chance or state.actions()))


OWN = '''
import dataclasses
from plyhouse.games.deterministic.coins import Coins
from plyhouse.games.base import Observation

@dataclasses.dataclass(frozen=True)
class MyObservation(Observation):
    """Mine."""
    pairs: tuple[tuple[int, str], ...]
    """Numbers with
    their ``names``."""
    best: "int | None" = None
    odd: complex = 0

class Mine(Coins):
    observation_type = MyObservation
'''


def test_an_own_game_is_read_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(OWN, encoding="utf-8")
    game = get_game(f"{path}:Mine", files=True)
    found = {field.name: (field.type, field.meaning) for field in observation_fields(game)}
    assert found["pairs"] == ("array of arrays of integer, string", "Numbers with their `names`.")
    assert found["best"] == ("integer or null", "")
    assert found["odd"] == ("anything", "")
    assert source_file(game.observation_type) == path


def test_a_class_without_a_source_still_has_its_types() -> None:
    made = dataclasses.make_dataclass(
        "Made", [("left", int), ("rows", "tuple[str, ...]")], bases=(Observation,), frozen=True
    )

    class Mine(type(get_game("coins"))):  # type: ignore[misc]
        observation_type = made

    found = {field.name: (field.type, field.meaning) for field in observation_fields(Mine())}
    assert found["left"] == ("integer", "")
    assert found["rows"] == ("array of string", "")
    assert found["to_move"][1]
