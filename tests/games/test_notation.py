from __future__ import annotations

import dataclasses

import pytest

from plyhouse.games import (
    CHANCE,
    AmbiguousAction,
    IllegalAction,
    InvalidAction,
    InvalidObservation,
    State,
    get_game,
)
from plyhouse.games.deterministic.tic_tac_toe import TicTacToe


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("tic_tac_toe", "5"),
        ("tic_tac_toe", ""),
        ("connect_four", "a"),
        ("connect_four", "٤x"),
        ("pig", "fly"),
        ("coin_guess", "dime"),
        ("tic_tac_toe", "x" * 10_000),
    ],
)
def test_what_cannot_be_read_is_invalid(spec: str, text: str) -> None:
    game = get_game(spec)
    with pytest.raises(InvalidAction) as caught:
        game.parse(game.initial_state(), text)
    assert caught.value.code == "action/invalid"
    assert game.action_notation in str(caught.value)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ('backgammon(position="6x2 5; 1x3; 0 31")', "13/98/6"),
        ('backgammon(position="6x2 5; 1x3; 0 31")', "6/99"),
        ("scrabble", "-C\u2028EG"),
        ("scrabble", "-C EG"),
        ("scrabble(challenges=single)", "-\u2028A"),
    ],
)
def test_action_with_an_impossible_part_is_invalid(spec: str, text: str) -> None:
    game = get_game(spec)
    state: State = game.initial_state()
    while state.to_move == CHANCE:
        state = state.after(state.chance_outcomes()[0][0])
    with pytest.raises(InvalidAction):
        game.parse(state, text)


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("hearts", "\N{KELVIN SIGN}h"),
        ("hearts", "Q\N{LATIN SMALL LETTER LONG S}"),
        ("scrabble", "-\N{KELVIN SIGN}"),
        ("monopoly", "build \N{LATIN SMALL LIGATURE ST}ates"),
        ("texas_holdem", "chec\N{KELVIN SIGN}"),
        ("bridge", "Pa\N{LATIN SMALL LETTER SHARP S}"),
    ],
)
def test_letters_that_only_fold_to_ascii_are_invalid(spec: str, text: str) -> None:
    game = get_game(spec)
    state: State = game.initial_state()
    while state.to_move == CHANCE:
        state = state.after(state.chance_outcomes()[0][0])
    with pytest.raises(InvalidAction):
        game.parse(state, text)


@pytest.mark.parametrize(
    ("spec", "text", "legal"),
    [
        ("tic_tac_toe", "d4", "a1, b1, c1, a2, b2, c2, a3, b3, c3"),
        ("connect_four", "8", "1, 2, 3, 4, 5, 6, 7"),
        ("connect_four", "0", "1, 2, 3, 4, 5, 6, 7"),
        ("pig", "hold", "roll"),
        ("coin_guess", "lincoln", "penny, nickel"),
    ],
)
def test_what_the_rules_forbid_is_illegal(spec: str, text: str, legal: str) -> None:
    game = get_game(spec)
    with pytest.raises(IllegalAction) as caught:
        game.parse(game.initial_state(), text)
    assert caught.value.code == "action/illegal"
    assert str(caught.value) == f"{text!r} is not legal; legal here: {legal}."
    assert ", ".join(caught.value.legal) == legal
    assert caught.value.position == game.describe(game.initial_state())


def test_nothing_is_legal_while_the_cards_are_dealt() -> None:
    game = get_game("kuhn_poker")
    with pytest.raises(IllegalAction, match="no seat can act here"):
        game.parse(game.initial_state(), "bet")


def test_impossible_chance_outcomes_are_illegal() -> None:
    game = get_game("kuhn_poker")
    state = game.initial_state().after(game.parse_chance(game.initial_state(), "K"))
    with pytest.raises(IllegalAction, match="legal here: J, Q"):
        game.parse_chance(state, "K")


@pytest.mark.parametrize("text", ["B2", " b2 ", "b2\n"])
def test_case_and_blanks_do_not_matter(text: str) -> None:
    game = get_game("tic_tac_toe")
    assert game.parse(game.initial_state(), text) == 4


class CaseSensitive(TicTacToe):
    """Columns a, A and c: upper and lower case tell actions apart."""

    def format(self, state: State, action: int) -> str:
        return "aAc"[action % 3] + str(action // 3 + 1)


def test_text_with_two_meanings_is_ambiguous() -> None:
    game = CaseSensitive()
    state = game.initial_state()
    assert game.parse(state, "A1") == 1
    assert game.parse(state, "a1") == 0

    class Shouting(CaseSensitive):
        def format(self, state: State, action: int) -> str:
            return ["ab", "aB", "x", "y", "z", "u", "v", "w", "t"][action]

    with pytest.raises(AmbiguousAction) as caught:
        Shouting().parse(state, "AB")
    assert caught.value.candidates == ("ab", "aB")
    assert str(caught.value) == "'AB' is ambiguous; write one of: ab, aB."
    assert caught.value.code == "action/ambiguous"


def test_observations_need_all_their_fields() -> None:
    game = get_game("pig")
    fields = game.observe(game.initial_state(), 0).fields()
    assert game.decode_observation({**fields, "news": "ignored"}) == game.observe(
        game.initial_state(), 0
    )
    del fields["scores"]
    with pytest.raises(InvalidObservation, match="'scores' is missing"):
        game.decode_observation(fields)


def test_observations_hold_plain_data_only() -> None:
    game = get_game("pig")
    fields = {**game.observe(game.initial_state(), 0).fields(), "scores": {"a": 1}}
    with pytest.raises(InvalidObservation, match="dict is not plain data"):
        game.decode_observation(fields)


def test_observations_are_frozen() -> None:
    game = get_game("pig")
    seen = game.observe(game.initial_state(), 0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        seen.to_move = 1  # type: ignore[misc]
