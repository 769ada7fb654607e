"""Matrix games by parameter, rock paper scissors and the prisoners' dilemma."""

from __future__ import annotations

from typing import Any

import pytest

from plyhouse.games import TERMINAL, Game, InvalidParameter, State, get_game
from plyhouse.search import Solution, cfr_plus

DILEMMA = get_game("prisoners_dilemma")


def play(spec: str, *choices: str) -> State:
    game = get_game(spec)
    state = game.initial_state()
    for choice in choices:
        state = state.after(game.parse(state, choice))
    return state


def matrix(payoffs: str, **more: Any) -> Game:
    return type(get_game("matrix"))(payoffs=payoffs, **more)


@pytest.mark.parametrize(
    ("one", "two", "wins"),
    [
        ("rock", "scissors", 1),
        ("scissors", "paper", 1),
        ("paper", "rock", 1),
        ("rock", "paper", -1),
        ("rock", "rock", 0),
    ],
)
def test_what_beats_what(one: str, two: str, wins: int) -> None:
    state = play("rock_paper_scissors", one, two)
    assert state.to_move == TERMINAL
    assert state.returns() == (wins, -wins)


@pytest.mark.parametrize(
    ("one", "two", "years"),
    [
        ("deny", "deny", (-10, -10)),
        ("accept", "accept", (-5, -5)),
        ("deny", "accept", (0, -10)),
        ("accept", "deny", (-10, 0)),
    ],
)
def test_years_of_the_course(one: str, two: str, years: tuple[int, int]) -> None:
    assert play("prisoners_dilemma", one, two).returns() == years


def pure_equilibria(game: Game) -> list[tuple[str, str]]:
    """Pairs of choices from which neither seat alone can gain."""
    start = game.initial_state()
    found = []
    for one in start.actions():
        second = start.after(one)
        for two in second.actions():
            got = second.after(two).returns()
            first_gains = any(
                start.after(other).after(two).returns()[0] > got[0] for other in start.actions()
            )
            second_gains = any(
                second.after(other).returns()[1] > got[1] for other in second.actions()
            )
            if not first_gains and not second_gains:
                found.append((game.format(start, one), game.format(second, two)))
    return found


def test_equilibria_of_two_by_two() -> None:
    assert pure_equilibria(DILEMMA) == [("deny", "deny"), ("deny", "accept"), ("accept", "deny")]
    classic = matrix("3,3 0,5; 5,0 1,1")
    assert pure_equilibria(classic) == [("2", "2")]
    battle = matrix("2,1 0,0; 0,0 1,2")
    assert pure_equilibria(battle) == [("1", "1"), ("2", "2")]
    assert pure_equilibria(get_game("matrix")) == [], "matching pennies has none in pure choices"


def test_to_deny_is_never_worse_and_accepting_together_is_better_for_both() -> None:
    for other in ("deny", "accept"):
        denied = play("prisoners_dilemma", "deny", other).returns()[0]
        assert denied >= play("prisoners_dilemma", "accept", other).returns()[0]
    assert sum(play("prisoners_dilemma", "accept", "accept").returns()) == -10


@pytest.mark.parametrize(
    ("payoffs", "value", "first", "second"),
    [
        ("0 -1 1; 1 0 -1; -1 1 0", 0.0, [1 / 3] * 3, [1 / 3] * 3),
        ("1 -1; -1 1", 0.0, [0.5, 0.5], [0.5, 0.5]),
        # The course's coins: hide penny or nickel, guess Lincoln or Jefferson.
        ("-1 1; 5 -5", 0.0, [5 / 6, 1 / 6], [0.5, 0.5]),
        # Rock worth 2: Nash has 1/4 rock, 1/2 paper, 1/4 scissors.
        ("0 -1 2; 1 0 -1; -2 1 0", 0.0, [0.25, 0.5, 0.25], [0.25, 0.5, 0.25]),
        ("3 1; 0 2", 1.5, [0.5, 0.5], [0.25, 0.75]),
    ],
)
def test_mixed_equilibria(
    payoffs: str,
    value: float,
    first: list[float],
    second: list[float],
) -> None:
    game = matrix(payoffs)
    solution = cfr_plus(game, iterations=3000)
    assert solution.exploitability() < 1e-3
    assert solution.value(0) == pytest.approx(value, abs=1e-3)
    start = game.initial_state()
    assert shares(solution, start) == pytest.approx(first, abs=0.02)
    assert shares(solution, start.after(start.actions()[0])) == pytest.approx(second, abs=0.02)


def shares(solution: Solution, state: State) -> list[float]:
    return [share for _, share in solution.policy(state)]


def test_rock_paper_scissors_is_the_matrix_of_its_payoffs() -> None:
    game = get_game("rock_paper_scissors")
    solution = cfr_plus(game, iterations=100)
    assert shares(solution, game.initial_state()) == pytest.approx([1 / 3] * 3, abs=0.02)


def test_rounds_are_summed_and_seen_when_over() -> None:
    spec = "prisoners_dilemma(rounds=3)"
    game = get_game(spec)
    state = play(spec, "accept", "accept", "deny")
    assert game.observe(state, 0).fields()["own"] == "deny"
    for viewer in (1, None):
        seen = game.observe(state, viewer).fields()
        assert seen["own"] is None
        assert seen["committed"] is True
        assert seen["rounds"] == (("accept", "accept"),)
    over = play(spec, "accept", "accept", "deny", "accept", "deny", "deny")
    assert over.to_move == TERMINAL
    assert over.returns() == (-15.0, -25.0)


def test_a_commit_is_told_to_its_owner_only() -> None:
    start = DILEMMA.initial_state()
    assert [DILEMMA.visible(start, 0, viewer) for viewer in (0, 1, None)] == ["deny", None, None]
    second = start.after(0)
    assert [DILEMMA.visible(second, 1, viewer) for viewer in (0, 1, None)] == ["accept"] * 3


def test_names_of_choices() -> None:
    game = matrix("1 2; 3 4", rows="up,down", columns="left, right")
    start = game.initial_state()
    assert game.format(start, 1) == "down"
    assert game.format(start.after(1), 0) == "left"
    assert start.after(1).after(0).returns() == (3.0, -3.0)


def test_choices_that_go_by_a_number_are_that_number() -> None:
    numbered = matrix("1 2; 3 4").initial_state()
    assert (numbered.actions(), numbered.after(2).actions()) == ((1, 2), (1, 2))
    assert numbered.after(2).after(1).returns() == (3.0, -3.0)
    named = matrix("1 2 3; 4 5 6", rows="10,0", columns="2,1,fold")
    start = named.initial_state()
    assert (start.actions(), start.after(0).actions()) == ((10, 0), (2, 1, 0))
    assert start.after(0).after(1).returns() == (5.0, -5.0)
    assert named.format(start.after(0), 0) == "fold"
    assert named.parse(start, "0") == 0


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"payoffs": "1 2; 3"}, "row 2 has 1 cells, but row 1 has 2"),
        ({"payoffs": "1 x"}, "in row 1, 'x' of 'x' is not a number"),
        ({"payoffs": "1,2,3"}, "more than two numbers"),
        ({"payoffs": "1; ; 2"}, "row 2 is empty"),
        ({"payoffs": ""}, "row 1 is empty"),
        ({"payoffs": "nan"}, "not within"),
        ({"payoffs": "1e9"}, "not within"),
        ({"payoffs": "; ".join(["1"] * 21)}, "at most 20 rows"),
        ({"rows": "a"}, "the table has 2 rows, but 1 are named"),
        ({"columns": "a,a"}, "'a' is named twice"),
        ({"columns": "a,B!"}, "'B!' is not small letters"),
        ({"columns": f"a,{'b' * 41}"}, "at most 40"),
        ({"columns": "1,02"}, "write the number '02' as 2"),
        ({"rounds": 0}, "from 1 to 200"),
    ],
)
def test_bad_tables_are_refused_by_name(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        type(get_game("matrix"))(**parameters)
    assert words in str(caught.value)
