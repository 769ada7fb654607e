"""Opening books: counts by position, choice by lower bound, files."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from plyhouse.games.errors import GameMismatch
from plyhouse.games.registry import get_game
from plyhouse.search.evaluation.opening_book import InvalidBook, OpeningBook, wilson
from plyhouse.search.evaluation.played_matches import InvalidMatch, PlayedMatch

WON = ("a1", "b1", "a2", "b2", "a3")
LOST = ("b1", "a1", "c3", "a2", "b3", "a3")
DRAWN = ("b2", "a1", "b1", "b3", "c3")


def small_book() -> OpeningBook:
    """Corner: won 4 of 4; edge: lost 3 of 3; centre: drawn 10 of 10."""
    matches = [PlayedMatch(WON, (1.0, -1.0))] * 4
    matches += [PlayedMatch(LOST, (-1.0, 1.0))] * 3
    matches += [PlayedMatch(DRAWN, (0.0, 0.0))] * 10
    return OpeningBook.from_matches(get_game("tic_tac_toe"), matches)


def test_counts_and_scores_are_of_the_seat_that_moves() -> None:
    game = get_game("tic_tac_toe")
    book = small_book()
    start: Any = game.initial_state()
    found = {move.text: (move.count, move.score) for move in book.moves(start)}
    assert found == {"a1": (4, 1.0), "b1": (3, 0.0), "b2": (10, 0.5)}
    reply = start.after(game.parse(start, "b1"))
    assert [(move.text, move.score) for move in book.moves(reply)] == [("a1", 1.0)]
    assert book.matches == 17
    assert len(book) == 1 + 4 + 5 + 4


def test_positions_reached_by_other_orders_are_counted_together() -> None:
    game = get_game("tic_tac_toe")
    one = PlayedMatch(("a1", "b2", "c3", "a2"), (1.0, -1.0))
    two = PlayedMatch(("c3", "b2", "a1", "a2"), (-1.0, 1.0))
    book = OpeningBook.from_matches(game, [one, two])
    state: Any = game.initial_state()
    for text in ("c3", "b2", "a1"):
        state = state.after(game.parse(state, text))
    assert [(m.text, m.count, m.score) for m in book.moves(state)] == [("a2", 2, 0.5)]


def test_the_best_move_has_the_best_lower_bound() -> None:
    game = get_game("tic_tac_toe")
    start = game.initial_state()
    book = small_book()
    assert game.format(start, book.choose(start)) == "a1"
    # Four wins prove more than half of ten points, but not with a minimum of five matches.
    assert game.format(start, book.choose(start, minimum=5)) == "b2"
    assert book.choose(start, minimum=11) is None
    often = OpeningBook.from_matches(
        game,
        [PlayedMatch(WON, (1.0, -1.0))] * 1
        + [PlayedMatch(DRAWN, (1.0, -1.0))] * 40
        + [PlayedMatch(DRAWN, (-1.0, 1.0))] * 5,
    )
    assert game.format(start, often.choose(start, minimum=1)) == "b2"


def test_weighted_choice_follows_points_and_the_seed() -> None:
    game = get_game("tic_tac_toe")
    start = game.initial_state()
    book = small_book()
    rng = random.Random(2)
    drawn = [game.format(start, book.choose(start, policy="weighted", rng=rng)) for _ in range(900)]
    assert drawn.count("b1") == 0
    assert drawn.count("b2") / drawn.count("a1") == pytest.approx(5 / 4, rel=0.25)
    again = random.Random(2)
    assert drawn[:20] == [
        game.format(start, book.choose(start, policy="weighted", rng=again)) for _ in range(20)
    ]
    lost = start.after(game.parse(start, "a1"))
    assert book.choose(lost, policy="weighted") is None  # nothing here ever made a point


def test_unknown_positions_and_the_end_have_no_moves() -> None:
    game = get_game("tic_tac_toe")
    book = small_book()
    state: Any = game.initial_state()
    unknown = state.after(game.parse(state, "c1"))
    assert book.moves(unknown) == []
    assert book.choose(unknown) is None
    for text in WON:
        state = state.after(game.parse(state, text))
    assert book.moves(state) == []


def test_the_interval_is_wilsons() -> None:
    # Wilson's interval of 8 in 10, from the literature (e.g. Brown, Cai, DasGupta 2001).
    assert wilson(0.8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert wilson(0.0, 5)[0] == 0.0
    assert wilson(1.0, 5)[1] == 1.0


def test_dice_are_passed_over() -> None:
    game = get_game("pig(target=10)")
    match = PlayedMatch(("roll", "6", "hold", "roll", "1", "roll", "5", "hold"), (1.0, -1.0))
    book = OpeningBook.from_matches(game, [match], plies=5)
    assert len(book) == 3
    state: Any = game.initial_state().after(0).after(6)
    assert [(m.text, m.score) for m in book.moves(state)] == [("hold", 1.0)]


def test_a_book_is_the_same_after_being_saved(tmp_path: Path) -> None:
    game = get_game("tic_tac_toe")
    book = small_book()
    book.save(tmp_path / "book.json")
    loaded = OpeningBook.load(tmp_path / "book.json", game)
    start = game.initial_state()
    assert loaded.moves(start) == book.moves(start)
    assert (loaded.matches, loaded.plies, len(loaded)) == (17, 20, len(book))
    lines = [place.line for place in loaded.places.values()]
    assert "b2 a1" in lines
    assert "87.5" not in book.table(start)
    assert book.table(start).splitlines()[1].split()[:3] == ["a1", "4", "100.0%"]


def test_a_file_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    game = get_game("tic_tac_toe")
    path = tmp_path / "book.json"
    small_book().save(path)
    with pytest.raises(InvalidBook, match="it is for tic_tac_toe, not for connect_four"):
        OpeningBook.load(path, get_game("connect_four"))
    content = json.loads(path.read_text())
    for text in ("", "[]", "{}", path.read_text()[:-20], '{"format": "other"}'):
        path.write_text(text)
        with pytest.raises(InvalidBook, match="not an opening book of Plyhouse, or it is damaged"):
            OpeningBook.load(path, game)
    place = next(iter(content["positions"].values()))
    wrong: list[Any] = [{"a1": [1, 2.0]}, {"a1": [0, 0.0]}, {"a1": 5}, []]
    for moves in wrong:
        place["moves"] = moves
        path.write_text(json.dumps(content))
        with pytest.raises(InvalidBook, match="it is damaged"):
            OpeningBook.load(path, game)


def test_what_cannot_be_is_told() -> None:
    with pytest.raises(GameMismatch, match="its seats do not see the whole state"):
        OpeningBook(get_game("kuhn_poker"))
    with pytest.raises(ValueError, match="plies=0"):
        OpeningBook(get_game("pig"), 0)
    book = small_book()
    with pytest.raises(InvalidMatch, match="m9, action 1"):
        book.add(PlayedMatch(("a1", "a1"), (1.0, -1.0), "m9"))
    assert book.matches == 17
    with pytest.raises(ValueError, match="expected 'best' or 'weighted'"):
        book.choose(get_game("tic_tac_toe").initial_state(), policy="any")  # type: ignore[arg-type]
