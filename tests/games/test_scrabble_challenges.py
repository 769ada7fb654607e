"""Challenges in Scrabble: plays of any letters, their answers, and what seats know of them."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.games.test_scrabble import CAT, after, drawn, position

from plyhouse.games import CHANCE, TERMINAL, IllegalAction, InvalidAction, get_game
from plyhouse.games.hidden.scrabble.legality import free_play, placed_play
from plyhouse.games.hidden.scrabble.lines import free_places
from plyhouse.games.hidden.scrabble.match_rules import CHALLENGES, rules_of
from plyhouse.games.hidden.scrabble.rules import unseen_tiles
from plyhouse.games.hidden.scrabble.state import ScrabbleState
from plyhouse.games.hidden.scrabble.tiles import COUNTS, square_name, tiles_named
from plyhouse.games.hidden.scrabble.words import FOLDER, build_words, packed
from plyhouse.games.native import COMPILED
from plyhouse.games.scene import Button, Grid, Placing, Text, scene_fields
from plyhouse.games.testing import check_game

VARIANTS = [name for name in CHALLENGES if name != "none"]
GAMES: dict[str, Any] = {name: get_game(f"scrabble(challenges={name})") for name in VARIANTS}
SINGLE = GAMES["single"]
SEEDS = st.integers(0, 2**32)
EXAMPLES = 15 if COMPILED else 3
RACKS = "ACTZVW?EIOURST"


def with_challenges(state: Any, name: str) -> Any:
    """Return a state of a match without challenges as one of a variant."""
    changed = state.copied()
    changed.rules = rules_of(2, "enable", False, 0, name)
    return changed


# Answers to a play


@pytest.mark.parametrize("name", VARIANTS)
def test_play_waits_for_the_next_seat_before_tiles_are_drawn(name: str) -> None:
    game = GAMES[name]
    state = after(drawn(RACKS, game), "8H CATZ", game=game)
    assert state.to_move == 1
    assert state.actions() == ("accept", "challenge")
    assert state.chance_outcomes() == ()
    assert [len(rack) for rack in state.racks] == [3, 7]
    assert state.bag_size() == 86
    assert state.scores == (2 * 15, 0)
    state = after(state, "accept", game=game)
    assert (state.to_move, state.turn) == (CHANCE, 0)
    state = after(state, "+EEEE", game=game)
    assert (state.to_move, state.scores, state.scoreless) == (1, (30, 0), 0)


@pytest.mark.parametrize("name", VARIANTS)
def test_challenge_of_a_wrong_word_returns_tiles_and_points(name: str) -> None:
    game = GAMES[name]
    start = drawn(RACKS, game)
    state = after(start, "8H CAtZ", "challenge", game=game)
    assert (state.to_move, state.turn, state.scores, state.scoreless) == (1, 1, (0, 0), 1)
    assert (state.racks, state.bag, state.board) == (start.racks, start.bag, start.board)
    seen = game.observe(state, 1)
    assert seen.shown == ("ACZ?", "")
    texts = [each.text for each in game.scene(seen).elements if isinstance(each, Text)]
    assert "seat 2: challenge; 8H CAtZ is taken back" in texts


@pytest.mark.parametrize(
    ("name", "turn", "scores", "scoreless", "said"),
    [
        ("single", 1, (10, 0), 0, "stands"),
        ("double", 0, (10, 0), 1, "stands and costs a turn"),
        ("five", 1, (15, 0), 0, "stands, 5 points more"),
    ],
)
def test_challenge_of_a_right_word_costs_what_the_variant_says(
    name: str, turn: int, scores: Any, scoreless: int, said: str
) -> None:
    game = GAMES[name]
    state = after(drawn(RACKS, game), "8H CAT", "challenge", game=game)
    assert (state.to_move, state.turn) == (CHANCE, 0)
    state = after(state, "+EEE", game=game)
    assert (state.to_move, state.scores, state.scoreless) == (turn, scores, scoreless)
    scene = game.scene(game.observe(state, 1))
    texts = [each.text for each in scene.elements if isinstance(each, Text)]
    assert f"seat 2: challenge; 8H CAT {said}" in texts
    grid = next(each for each in scene.elements if isinstance(each, Grid))
    marked = [cell.name for row in grid.rows for cell in row if cell.highlight]
    assert marked == ["H8", "I8", "J8"]


def test_words_across_a_play_are_looked_up_too() -> None:
    state = with_challenges(position(CAT, "DOLS", "EEEEEEE"), "single")
    right, wrong = state.after("K5 DOLS"), state.after("K6 DOL")
    assert (right.wrong_words(), right.answer()) == ([], "accept")
    assert (wrong.wrong_words(), wrong.answer()) == (["CATL"], "challenge")
    assert wrong.after("accept").scores[0] > 0


@pytest.mark.parametrize(
    ("answer", "name", "scores"),
    [
        ("accept", "single", (100 + 15 + 2, 90 - 2)),
        ("challenge", "single", (100, 90)),
        ("challenge", "double", (100, 90)),
        ("challenge", "five", (100, 90)),
    ],
)
def test_last_tile_ends_the_game_only_if_the_play_stands(
    answer: str, name: str, scores: Any
) -> None:
    state = with_challenges(position(CAT, "Z", "", "EE", (100, 90)), name)
    state = state.after("8H CATZ")
    assert state.to_move == 1
    state = state.after(answer)
    assert state.scores == scores
    assert (state.to_move == TERMINAL) == (answer == "accept")
    if answer == "challenge":
        assert (state.to_move, state.racks[0]) == (1, tiles_named("Z"))


@pytest.mark.parametrize(("name", "more"), [("single", 0), ("double", 0), ("five", 5)])
def test_wrong_challenge_of_the_last_play_ends_the_game(name: str, more: int) -> None:
    state = with_challenges(position(CAT, "S", "", "EE", (100, 90)), name)
    state = state.after("8H CATS").after("challenge")
    assert state.to_move == TERMINAL
    assert state.scores == (100 + 6 + 2 + more, 90 - 2)
    texts = [
        each.text
        for each in GAMES[name].scene(GAMES[name].observe(state, 1)).elements
        if isinstance(each, Text)
    ]
    assert not any("costs a turn" in text for text in texts)


def test_plays_taken_back_and_lost_turns_count_as_turns_without_points() -> None:
    game = GAMES["double"]
    state = after(drawn(RACKS, game), "-", "-", "-", "-", "8H CATZ", "challenge", game=game)
    assert (state.to_move, state.scoreless) == (1, 5)
    state = after(state, "8H EURIO", game=game)
    assert after(state, "challenge", game=game).to_move == TERMINAL
    blanks = after(drawn("??EEEEEEIOURST", game), "8H aa", game=game)
    assert after(blanks, "accept", "+EE", game=game).scoreless == 1
    assert after(blanks, "challenge", "+EE", game=game).scoreless == 2


def test_of_three_seats_only_the_next_one_answers_and_may_lose_its_turn() -> None:
    game: Any = get_game("scrabble(challenges=double,seats=3)")
    state = after(drawn("CATZVW?EIOURSTEIOURST", game), "8H CAT", game=game)
    assert [game.observe(state, seat).legal for seat in range(3)] == [
        (),
        ("accept", "challenge"),
        (),
    ]
    state = after(state, "challenge", "+EEE", game=game)
    assert (state.to_move, state.scoreless) == (2, 1)
    state = after(state, "-", game=game)
    texts = [
        each.text for each in game.scene(game.observe(state, 1)).elements if isinstance(each, Text)
    ]
    assert "seat 3: passes" in texts
    assert state.to_move == 0


# Notation


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("8G XCATz", "8G XCATz"),
        ("8h catx", "8H CATx"),
        ("H8=Q", ""),
        ("K8=X", "8H CATX"),
        ("K8=x", "8H CATx"),
        ("K9=O J9=X", "9J XO"),
        ("K9=O K8=X K7=D", "K7 DXO"),
        ("G7=D H7=X K7=O", ""),
    ],
)
def test_plays_of_any_letters_are_read(text: str, meaning: str) -> None:
    state = with_challenges(position(CAT, "DEORX?", "EEEEEEEE"), "single")
    if meaning:
        assert SINGLE.parse(state, text) == meaning
        assert SINGLE.parse(state, meaning) == meaning
        return
    with pytest.raises(IllegalAction, match="without a gap"):
        SINGLE.parse(state, text)


def test_without_a_blank_all_letters_of_a_play_are_capitals() -> None:
    state = with_challenges(position(CAT, "DEORX", "EEEEEEEE"), "single")
    assert SINGLE.parse(state, "8h catx") == "8H CATX"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("8H CATSS", "the rack has not enough tiles: S"),
        ("8H DATE", "square H8 has the letter C"),
        ("8I ATE", "tiles beside the word make it CATE, which must be written whole"),
        ("8H CAT", "the play lays no tile"),
        ("1A DE", "no tile of the play lies beside one on the board"),
        ("8N OXER", "the word does not fit on the board"),
        ("accept", "no play waits to be accepted or challenged"),
        ("challenge", "no play waits to be accepted or challenged"),
    ],
)
def test_other_rules_hold_for_plays_of_any_letters(text: str, rule: str) -> None:
    state = with_challenges(position(CAT, "DEORXS", "EEEEEEEE"), "single")
    with pytest.raises(IllegalAction) as caught:
        SINGLE.parse(state, text)
    assert caught.value.rule == rule


def test_first_play_has_two_letters_or_more() -> None:
    state = drawn(RACKS, SINGLE)
    for text in ("8H C", "H8=C"):
        with pytest.raises(IllegalAction, match="a word has two letters or more"):
            SINGLE.parse(state, text)
    with pytest.raises(IllegalAction, match="must cover the centre, H8"):
        SINGLE.parse(state, "A1=C B1=A")


def test_waiting_play_must_be_answered() -> None:
    state = after(drawn(RACKS, SINGLE), "8H CAT", game=SINGLE)
    assert SINGLE.parse(state, " Challenge ") == "challenge"
    for text in ("-", "-E", "8H CATS", "K8=S"):
        with pytest.raises(IllegalAction, match="8H CAT must be accepted or challenged first"):
            SINGLE.parse(state, text)
    with pytest.raises(InvalidAction):
        SINGLE.parse(state, "doubt")


def test_without_challenges_words_must_be_in_the_list() -> None:
    game: Any = get_game("scrabble")
    state = drawn(RACKS, game)
    assert game.parse(state, "H8=C I8=A J8=T") == "8H CAT"
    with pytest.raises(IllegalAction, match="CATZ is not in the word list"):
        game.parse(state, "H8=C I8=A J8=T K8=Z")
    with pytest.raises(IllegalAction, match="plays cannot be challenged in this match"):
        game.parse(state, "challenge")


# Random matches


def random_play(state: Any, rng: random.Random) -> str:
    """Return a play of random tiles at a random place; "" if no tile fits."""
    rack = list(state.racks[state.turn])
    places = free_places(state.board, len(rack))
    if not places:
        return ""
    rng.shuffle(rack)
    parts = []
    for square, tile in zip(rng.choice(places), rack, strict=False):
        letter = chr(64 + tile) if tile else rng.choice("aeiouxyz")
        parts.append(f"{square_name(square, down=True)}={letter}")
    rng.shuffle(parts)
    return " ".join(parts)


@settings(max_examples=EXAMPLES, deadline=None)
@given(SEEDS, st.sampled_from(VARIANTS), st.integers(2, 4))
def test_random_matches_keep_tiles_points_and_views(seed: int, name: str, seats: int) -> None:
    rng = random.Random(seed)
    game: Any = get_game(f"scrabble(challenges={name},seats={seats})")
    state = game.initial_state()
    kinds = set()
    for _ in range(game.info.max_plies):
        assert tiles_of(state) == list(COUNTS)
        if rng.random() < 0.05:
            seat = rng.randrange(seats)
            seen = game.observe(state, seat)
            sampled = game.sample_state(seen, rng)
            assert game.observe(sampled, seat) == seen
            assert game.information_state(sampled, seat) == game.information_state(state, seat)
            assert game.scene(seen) == game.scene(game.observe(sampled, seat))
            assert tiles_of(sampled) == list(COUNTS)
        if state.to_move == TERMINAL:
            break
        if state.to_move == CHANCE:
            state = state.after(state.drawn(rng.random()))
            continue
        if state.laid:
            wrong = state.wrong_words()
            answer = rng.choice(state.actions())
            before = state
            state = state.after(answer)
            kinds.add((answer, bool(wrong)))
            back = answer == "challenge" and wrong
            assert (state.board == before.board) == (not back)
            continue
        text = random_play(state, rng) if rng.random() < 0.6 else state.plays(True).texts[-1:]
        text = text[0] if isinstance(text, list) and text else text
        action = game.parse(state, text or "-")
        assert game.parse(state, game.format(state, action)) == action
        assert action in ("-", free_play(state, action))
        state = state.after(action)
    assert state.to_move == TERMINAL
    assert ("challenge", True) in kinds or ("accept", True) in kinds


def tiles_of(state: Any) -> list[int]:
    """Return how many tiles of each kind lie on the board, on racks, aside and in the bag."""
    counts = list(state.bag)
    for code in state.board:
        if code:
            counts[0 if code > 32 else code] += 1
    for tile in itertools.chain(state.aside, *state.racks):
        counts[tile] += 1
    return counts


@settings(max_examples=EXAMPLES, deadline=None)
@given(SEEDS)
def test_any_letters_are_legal_on_free_places_and_nowhere_else(seed: int) -> None:
    rng = random.Random(seed)
    state = SINGLE.initial_state()
    plies = rng.randrange(12)
    while plies or state.to_move == CHANCE or state.laid:
        if state.to_move == CHANCE:
            state = state.after(state.drawn(rng.random()))
            continue
        plies -= not state.laid
        text = "accept" if state.laid else SINGLE.parse(state, random_play(state, rng) or "-")
        state = state.after(text)
        if state.to_move == TERMINAL:
            return
    tiles = "".join(chr(64 + tile) if tile else "e" for tile in state.racks[state.turn])
    legal = {frozenset(place) for place in free_places(state.board, len(tiles))}
    some = [set(rng.sample(range(225), rng.randint(1, len(tiles)))) for _ in range(20)]
    row = [set(range(15 * (at // 15), 15 * (at // 15) + 15)) for at in rng.sample(range(225), 5)]
    for place in [*(set(each) for each in rng.sample(sorted(map(sorted, legal)), 20)), *some, *row]:
        parts = [
            f"{square_name(square, down=True)}={letter}"
            for square, letter in zip(sorted(place), tiles, strict=False)
        ]
        covered = frozenset(sorted(place)[: len(tiles)])
        if covered in legal:
            action = SINGLE.parse(state, " ".join(parts))
            assert sorted(state.after(action).laid) == sorted(covered)
        else:
            with pytest.raises(IllegalAction):
                SINGLE.parse(state, " ".join(parts))


@pytest.mark.parametrize("name", VARIANTS)
def test_variant_keeps_every_law_with_plays_of_any_letters(name: str) -> None:
    rng = random.Random(name)
    game = GAMES[name]
    positions: list[Any] = []
    state = game.initial_state()
    while state.to_move != TERMINAL and len(positions) < 12:
        if state.to_move == CHANCE:
            state = state.after(state.drawn(rng.random()))
            continue
        if state.laid or rng.random() < 0.2:
            positions.append(state)
        actions = state.actions() if state.laid else (random_play(state, rng) or "-",)
        state = state.after(game.parse(state, rng.choice(actions)))
    check_game(game, max_states=4, seed=1, positions=positions[-6:])


# What seats know


def test_nothing_shows_whether_a_word_is_in_the_list_until_it_is_challenged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two word lists, of which one has the word that is played, look the same to everybody."""
    monkeypatch.setenv(FOLDER, str(tmp_path))
    seen = []
    for name, words in (("less", ["CAT"]), ("more", ["CAT", "CATZ"])):
        tmp_path.joinpath(f"{name}.bin").write_bytes(packed(build_words(words)))
        game: Any = get_game(f"scrabble(challenges=double,dictionary={name})")
        start = drawn(RACKS, game)
        state = after(start, "H8=C I8=A J8=T K8=Z", game=game)
        views = [state.actions()]
        views += everything(game, start, state, "8H CATZ")
        drawing = after(state, "accept", game=game)
        views += everything(game, state, drawing, "accept")
        views += everything(game, drawing, after(drawing, "+EEEE", game=game), None)
        seen.append(views)
        challenged = after(state, "challenge", game=game)
        assert (challenged.to_move == CHANCE) == (name == "more")
    assert seen[0] == seen[1]


def everything(game: Any, before: Any, state: Any, action: str | None) -> list[Any]:
    """Return all that viewers are shown of a state, and of the action before it."""
    shown: list[Any] = [state.to_move]
    for viewer in (0, 1, None):
        observation = game.observe(state, viewer)
        shown += [observation.fields(), scene_fields(game.scene(observation))]
        if action:
            shown.append(game.visible(before, action, viewer))
    return shown


def test_other_tiles_of_the_rack_stay_hidden_in_a_challenge() -> None:
    """Two matches that differ in unseen tiles look the same to the challenger."""
    seen = []
    for rest, other in (("VW?", "EIO"), ("EEI", "VW?")):
        game = GAMES["five"]
        state = drawn(f"CATZ{rest}EIOURST", game)
        views = []
        for text in ("8H CATZ", "challenge", f"-{other[0]}", "8H CAT", "accept"):
            if state.to_move == 1 and text.startswith("-"):
                text = "-"
            state = after(state, text, game=game)
            views.append(game.observe(state, 1))
            views.append(game.observe(state, None))
        seen.append(views)
    assert seen[0] == seen[1]


def test_tiles_that_a_challenge_returned_are_on_every_sampled_rack() -> None:
    state = after(drawn(RACKS, SINGLE), "8H CATZ", "challenge", "-", game=SINGLE)
    seen = SINGLE.observe(state, 1)
    for seed in range(10):
        rack = list(SINGLE.sample_state(seen, random.Random(seed)).racks[0])
        for tile in tiles_named("ACTZ"):
            rack.remove(tile)
    played = after(state, "8H CAT", "accept", "+EEE", game=SINGLE)
    assert SINGLE.observe(played, 1).shown == ("Z", "")
    exchanged = after(state, "-VW", game=SINGLE)
    assert SINGLE.observe(exchanged, 1).shown == ("", "")
    assert sorted(unseen_tiles(seen)).count(26) == 1


# Scenes


def test_scene_offers_any_tiles_on_free_places_and_then_the_answers() -> None:
    state = drawn(RACKS, SINGLE)
    scene = SINGLE.scene(SINGLE.observe(state, 0))
    placing = next(each for each in scene.elements if isinstance(each, Placing))
    assert {"H8 I8", "G8 H8", "H7 H8", "H8 H9"} <= set(placing.spots)
    assert all("H8" in spots.split(" ") for spots in placing.spots)
    assert SINGLE.scene(SINGLE.observe(state, 1)).seat_to_move == 0
    state = after(state, "8H CATZ", game=SINGLE)
    scene = SINGLE.scene(SINGLE.observe(state, 1))
    buttons = [each.action for each in scene.elements if isinstance(each, Button)]
    assert buttons == ["accept", "challenge"]
    assert scene.status == "seat 2 to accept or challenge 8H CATZ"
    rack = next(each for each in scene.elements if isinstance(each, Placing))
    assert (rack.actions, rack.placed, rack.spots) == ((), (), ()), "it is seen, and offers nothing"


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("single", "Challenge"),
        ("double", "Challenge (risks a turn)"),
        ("five", "Challenge (risks 5 points)"),
    ],
)
def test_scene_of_a_waiting_play_shows_its_points_and_the_cost_of_a_challenge(
    name: str, label: str
) -> None:
    game = GAMES[name]
    state = after(drawn(RACKS, game), "8H CATZ", game=game)
    for viewer in (0, 1, None):
        scene = game.scene(game.observe(state, viewer))
        texts = [each.text for each in scene.elements if isinstance(each, Text)]
        assert "seat 1: 8H CATZ for 30" in texts
        labels = [each.label for each in scene.elements if isinstance(each, Button)]
        assert labels == (["Accept", label] if viewer == 1 else [])


def test_state_of_a_waiting_play_can_be_rebuilt() -> None:
    state = after(drawn(RACKS, SINGLE), "8H CATZ", game=SINGLE)
    kind, parts = state.__reduce__()
    assert kind is ScrabbleState
    assert SINGLE.describe(ScrabbleState(*parts)) == SINGLE.describe(state)
    assert placed_play(state.board, "H8=A") == ""
