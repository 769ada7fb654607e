"""Positions of Scrabble with very many plays: short lists, and plays that are judged one by one."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest

from plyhouse.games import CHANCE, AmbiguousAction, IllegalAction, InvalidAction
from plyhouse.games.base import MOST_LISTED, Game
from plyhouse.games.errors import GameError
from plyhouse.games.hidden.scrabble import action_lists
from plyhouse.games.hidden.scrabble import state as state_module
from plyhouse.games.hidden.scrabble.legality import canonical_play
from plyhouse.games.hidden.scrabble.state import ScrabbleState
from plyhouse.server.match.views import Views

from .test_scrabble import TWO, random_position


def with_blanks(rng: random.Random, plies: int) -> ScrabbleState:
    """Return a position in which the seat to move holds both blanks, which it has kept."""
    state = TWO.initial_state()
    for _ in range(400):
        if state.to_move == CHANCE:
            possible = {tile for tile, _ in state.chance_outcomes()}
            wanted = [tile for tile in (0, 19, 5, 18, 20, 1, 9, 14) if tile in possible]
            lucky = state.turn == 0 and wanted and rng.random() < 0.8
            state = state.after(wanted[0] if lucky else state.drawn(rng.random()))
            continue
        if plies <= 0 and state.racks[state.to_move].count(0) == 2:
            break
        plays = [text for text in state.listed()[0] if " " in text and text[3:].isupper()]
        state = state.after(rng.choice(plays) if plays else "-")
        plies -= 1
    return state  # type: ignore[no-any-return]


@pytest.fixture
def unlisted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where all actions of a position are made."""

    def fail(*_: object) -> None:
        raise AssertionError("all plays were listed")

    monkeypatch.setattr(state_module, "actions_with", fail)


@pytest.mark.usefixtures("unlisted")
@pytest.mark.parametrize("plies", [0, 3, 8])
def test_no_view_and_no_judgement_lists_all_plays_of_two_blanks(plies: int) -> None:
    state = with_blanks(random.Random(plies), plies)
    seat = state.to_move
    views = Views(TWO, 2)
    fields, scene = views.drawn(state, seat)
    assert not fields["complete"]
    assert len(fields["legal"]) <= MOST_LISTED
    assert sum(" " in text for text in fields["legal"]) >= 20, "words, not only exchanges"
    assert "-" in fields["legal"]
    assert len(msgspec.json.encode(fields)) < 8_000
    assert len(msgspec.json.encode(scene)) < 400_000
    assert len(views.legal(state)) <= 256
    for text in fields["legal"]:
        assert TWO.parse(state, text) == text
    for text in ("8H zzz", "-QQ", "accept", "H8=e", "", "x", "15O ABCDEFGHIJKLMNO"):
        with pytest.raises(GameError) as refused:
            TWO.parse(state, text)
        assert views.refusal(refused.value, text)
    assert not TWO.observe(state, 1 - seat).legal
    assert TWO.observe(state, 1 - seat).complete


def test_steps_of_a_list_are_bounded_with_any_rack() -> None:
    for seed in range(4):
        state = with_blanks(random.Random(seed), 2 * seed)
        plays = state.plays(False, action_lists._Looks(32))
        assert plays.stopped
        assert plays.steps < 10_000  # 32 looks, and the calls that return at once after the last
        assert set(state.listed()[0]) <= set(state.actions())


@pytest.mark.parametrize("seed", range(5))
def test_list_that_is_complete_has_all_actions(seed: int) -> None:
    state = random_position(random.Random(seed), 2 * seed)
    listed, complete = state.listed()
    assert complete == TWO.lists_all(state)
    assert set(listed) <= set(state.actions())
    if complete:
        assert listed == state.actions()


@pytest.mark.parametrize("seed", range(4))
def test_play_is_read_as_if_all_were_listed(seed: int) -> None:
    """The rules of `Game.parse`, which writes out all actions, on the same texts."""
    rng = random.Random(seed)
    state = random_position(rng, 3 * seed)
    for _ in range(40):
        text = rng.choice(state.actions())
        if rng.random() < 0.7:
            text = "".join([rng.choice((each.lower(), each.upper(), each)) for each in text])
        if rng.random() < 0.3:
            text = text.replace(rng.choice(text), rng.choice("ABCDE?-58 "), 1)
        assert read(TWO.parse, state, text) == read(slowly, state, text), text


def read(parse: Any, state: Any, text: str) -> Any:
    """Return the action, or the type of the refusal with the actions that it names."""
    try:
        return parse(state, text)
    except AmbiguousAction as error:
        return sorted(error.candidates)
    except (IllegalAction, InvalidAction) as error:
        return type(error)


def slowly(state: Any, text: str) -> Any:
    """Read a text as games with few actions do."""
    if text.startswith("-"):
        text = "-" + "".join(sorted(text[1:].upper(), key=lambda each: (each == "?", each)))
    return Game.parse(TWO, state, canonical_play(state.board, text))
