"""``plyhouse games``."""

from __future__ import annotations

import json

import pytest
from tests.cli.conftest import Plyhouse

FIVE = ("coin_guess", "connect_four", "kuhn_poker", "pig", "tic_tac_toe")


def test_all_games_are_listed(plyhouse: Plyhouse) -> None:
    done = plyhouse("games")
    assert done.code == 0
    assert all(name in done.out for name in FIVE)
    assert "\x1b" not in done.out, "no colours when piped"


@pytest.mark.parametrize("name", FIVE)
def test_a_game_is_explained(plyhouse: Plyhouse, name: str) -> None:
    done = plyhouse("games", name)
    assert done.code == 0
    assert f"({name})" in done.out.splitlines()[0]
    assert "Returns" in done.out


def test_parameters_are_named_with_their_ranges(plyhouse: Plyhouse) -> None:
    done = plyhouse("games", "pig(target=50)")
    assert "pig(target=50)" in done.out
    assert "target = 100" in done.out


def test_json_is_for_scripts(plyhouse: Plyhouse) -> None:
    listed = json.loads(plyhouse("games", "--json").out)
    assert {game["name"] for game in listed} >= set(FIVE)
    one = json.loads(plyhouse("games", "pig(target=50)", "--json").out)
    assert {p["name"]: p["value"] for p in one["parameters"]}["target"] == 50


def test_an_unknown_game_is_answered_with_the_nearest(plyhouse: Plyhouse) -> None:
    done = plyhouse("games", "conect_four")
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert "did you mean connect_four?" in done.err


def test_a_bad_parameter_says_what_is_allowed(plyhouse: Plyhouse) -> None:
    done = plyhouse("games", "pig(target=0)")
    assert done.code == 2
    assert "target" in done.err


def test_what_a_bot_is_shown_is_told(plyhouse: Plyhouse) -> None:
    shown = plyhouse("games", "pig").out
    assert "turn_total (integer)  Points at risk in this turn." in shown
    facts = json.loads(plyhouse("games", "pig", "--json").out)
    fields = {field["name"]: field for field in facts["observation"]["fields"]}
    assert fields["turn_total"]["type"] == "integer"
    assert facts["observation"]["schema"]["properties"]["scores"]["type"] == "array"
    assert facts["example"]["type"] == "turn"
    assert set(facts["example"]["observation"]) == set(fields)
