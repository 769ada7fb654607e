"""Scrabble: plays against a slow generator, scores, the end of the game, and what seats know."""

from __future__ import annotations

import itertools
import random
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plyhouse.games import CHANCE, TERMINAL, IllegalAction, InvalidAction, get_game
from plyhouse.games.errors import InvalidParameter
from plyhouse.games.hidden.scrabble.leaves import kept_after, leave_value, ranked, read_leaves
from plyhouse.games.hidden.scrabble.legality import broken_rule, canonical_play, is_legal
from plyhouse.games.hidden.scrabble.match_rules import rules_of
from plyhouse.games.hidden.scrabble.plays import Plays, placed_squares, play_parts, play_score
from plyhouse.games.hidden.scrabble.rules import FewPlays, unseen_tiles
from plyhouse.games.hidden.scrabble.state import ScrabbleState
from plyhouse.games.hidden.scrabble.tiles import (
    COUNTS,
    PREMIUMS,
    SIZE,
    SQUARES,
    VALUES,
    square_name,
    tiles_named,
    transposed,
)
from plyhouse.games.hidden.scrabble.words import FOLDER, build_words, packed, word_list
from plyhouse.games.native import COMPILED
from plyhouse.games.scene import Placing

TWO: Any = get_game("scrabble")
SEEDS = st.integers(0, 2**32)
EXAMPLES = 12 if COMPILED else 2
WORDS = word_list("enable")
EMPTY = "." * 15


def drawn(tiles: str, game: Any = TWO) -> Any:
    """Return the state after these tiles were drawn, those of seat 0 first."""
    state = game.initial_state()
    for tile in tiles:
        state = state.after(game.parse_chance(state, tile))
    return state


def after(state: Any, *texts: str, game: Any = TWO) -> Any:
    """Return the state after actions, and after draws (``+ABC``) between them."""
    for text in texts:
        if text.startswith("+"):
            for tile in text[1:]:
                state = state.after(game.parse_chance(state, tile))
        else:
            state = state.after(game.parse(state, text))
    return state


def position(rows: str, rack: str, bag: str = "", other: str = "E", scores: Any = (0, 0)) -> Any:
    """Return a state with seat 0 to move; rows of the board are separated by blanks."""
    board = bytearray(SQUARES)
    for row, line in enumerate(rows.split()):
        for column, letter in enumerate(line):
            board[SIZE * row + column] = 0 if letter == "." else ord(letter) - 64
    counts = bytearray(27)
    for tile in tiles_named(bag):
        counts[tile] += 1
    racks = (tiles_named(rack), tiles_named(other))
    rules = rules_of(2, "enable", False)
    return ScrabbleState(
        0, rules, bytes(board), racks, bytes(counts), scores, 0, 0, b"", ("", ""), b"", (b"", b"")
    )


def random_position(rng: random.Random, plies: int, game: Any = TWO) -> Any:
    """Return a state of a seat to move, after plies of mixed plays, exchanges and passes."""
    state = game.initial_state()
    while plies or state.to_move == CHANCE:
        if state.to_move == TERMINAL:
            return random_position(rng, plies // 2, game)
        if state.to_move == CHANCE:
            state = state.after(state.drawn(rng.random()))
            continue
        plays = state.plays()
        if plays.texts and rng.random() < 0.95:
            some = rng.sample(range(len(plays.texts)), min(4, len(plays.texts)))
            state = state.after(plays.texts[max(some, key=plays.scores.__getitem__)])
        else:
            state = state.after(rng.choice(state.actions()))
        plies -= 1
    return state if state.to_move != TERMINAL else random_position(rng, plies, game)


# The generator against every way to lay tiles, tried one by one


def slow_plays(state: Any, most: int) -> set[str]:
    """Return all plays of at most this number of tiles: every line, place and order of tiles."""
    rack = state.racks[state.turn]
    found = set()
    for start, down in itertools.product(range(SQUARES), (False, True)):
        for count in range(1, most + 1):
            line = range(start % SIZE, SIZE)
            squares = [SIZE * (start // SIZE) + at for at in line]
            if down:
                squares = [transposed(square) for square in squares]
            empty = [square for square in squares if not state.board[square]]
            if squares[0] not in empty or len(empty) < count:
                continue
            for tiles in set(itertools.permutations(rack, count)):
                choices = [range(1, 27) if tile == 0 else [tile] for tile in tiles]
                for letters in itertools.product(*choices):
                    codes = [
                        letter + (32 if tile == 0 else 0)
                        for letter, tile in zip(letters, tiles, strict=True)
                    ]
                    if text := slow_text(state.board, empty[:count], codes, down):
                        found.add(text)
    return found


def slow_text(board: bytes, squares: list[int], codes: list[int], down: bool) -> str:
    """Return the play that lays these tiles; "" if it breaks a rule."""
    grid = {square: code for square, code in enumerate(board) if code}
    grid.update(zip(squares, codes, strict=True))
    if not any(board):
        if 112 not in squares or len(squares) < 2:
            return ""
    elif not any(
        0 <= r < 15 and 0 <= c < 15 and board[15 * r + c]
        for square in squares
        for r, c in (
            (square // 15 - 1, square % 15),
            (square // 15 + 1, square % 15),
            (square // 15, square % 15 - 1),
            (square // 15, square % 15 + 1),
        )
    ):
        return ""
    main = ""
    for square, way in [(squares[0], down)] + [(square, not down) for square in squares]:
        row, column = divmod(square, 15)
        step = (1, 0) if way else (0, 1)
        while (row - step[0], column - step[1]) >= (0, 0) and (
            15 * (row - step[0]) + column - step[1] in grid and column - step[1] >= 0
        ):
            row, column = row - step[0], column - step[1]
        first = 15 * row + column
        word = ""
        while row < 15 and column < 15 and 15 * row + column in grid:
            square_now = 15 * row + column
            letter = chr(grid[square_now] + 64)
            word += letter if square_now in squares else letter.upper()
            row, column = row + step[0], column + step[1]
        if len(word) > 1 and word.upper() not in WORDS:
            return ""
        if way == down and not main:
            if len(word) < 2:
                return ""
            main = f"{square_name(first, down)} {word}"
    return canonical_play(board, main)


@pytest.mark.parametrize("seed", range(6))
def test_plays_of_few_tiles_are_those_of_a_slow_generator(seed: int) -> None:
    rng = random.Random(seed)
    state = random_position(rng, seed * 4)
    most = 3 if 0 not in state.racks[state.turn] else 2
    fast = {
        text
        for text in state.plays().texts
        if len(placed_squares(state.board, *play_parts(text))) <= most  # type: ignore[misc]
    }
    assert fast == slow_plays(state, most)


def whole_words(state: Any) -> set[str]:
    """Return all legal plays by trying every word of the list at every place."""
    found = set()
    letters = {chr(64 + code % 32) for code in state.board if code}
    rack = state.racks[state.turn]
    own = {chr(64 + tile) for tile in rack if tile}
    blanks = rack.count(0)
    words: dict[int, list[str]] = {}
    for word in WORDS.words():
        if len(set(word) - own - letters) <= blanks:
            words.setdefault(len(word), []).append(word)
    lists = {length: "\n".join(each) for length, each in words.items()}
    for start in range(2 * SQUARES):
        for length in range(2, SIZE + 1 - start % SIZE):
            # Words of the letters on the board and tiles; all others are quick to leave out.
            line = [state.board[at] for at in line_squares(start, length)]
            if line.count(0) not in range(1, len(rack) + 1):
                continue
            free = "." if blanks else f"[{''.join(own)}]"
            pattern = "".join([chr(64 + code % 32) if code else free for code in line])
            for word in re.findall(f"^{pattern}$", lists.get(length, ""), re.MULTILINE):
                spelt = spellings(state, start, word)
                found |= {text for text in spelt if not broken_rule(state, text)}
    return {canonical_play(state.board, text) for text in found}


def line_squares(start: int, length: int) -> list[int]:
    """Return the squares of a line: across below `SQUARES`, and else down."""
    down, first = divmod(start, SQUARES)
    return [transposed(first + at) if down else first + at for at in range(length)]


def spellings(state: Any, start: int, word: str) -> list[str]:
    """Return how a word can be laid from a place: which letters are blanks."""
    down = start >= SQUARES
    line = line_squares(start, len(word))
    need = list(state.racks[state.turn])
    free = []
    for at, square in enumerate(line):
        if state.board[square]:
            if state.board[square] % 32 != ord(word[at]) - 64:
                return []
        else:
            free.append(at)
    if not free or len(free) > len(need):
        return []
    name = square_name(line[0], down)
    found = []
    for count in range(need.count(0) + 1):
        for small in itertools.combinations(free, count):
            text = "".join(c.lower() if at in small else c for at, c in enumerate(word))
            found.append(f"{name} {text}")
    return found


@pytest.mark.parametrize("seed", range(4))
def test_plays_are_all_words_of_the_list_that_break_no_rule(seed: int) -> None:
    rng = random.Random(100 + seed)
    state = random_position(rng, 3 + 5 * seed)
    assert set(state.plays().texts) == whole_words(state)


@settings(max_examples=EXAMPLES, deadline=None)
@given(SEEDS)
def test_plays_break_no_rule_and_score_as_counted_apart(seed: int) -> None:
    rng = random.Random(seed)
    state = random_position(rng, rng.randrange(20))
    plays = state.plays()
    assert len(set(plays.texts)) == len(plays.texts)
    for text, score in zip(plays.texts, plays.scores, strict=True):
        assert broken_rule(state, text) == ""
        assert play_score(state.board, *play_parts(text)) == score  # type: ignore[misc]
    best = Plays(WORDS.edges, state.board, state.racks[state.turn], True)
    if plays.texts:
        assert best.scores[-1] == max(plays.scores)
        assert best.texts[-1] in plays.texts


# Scores


def test_scores_are_those_of_the_examples_in_the_rules_of_the_game() -> None:
    """The five turns by which the leaflet of the game (Hasbro) explains scoring."""
    state = drawn("HORNEEEFAMEEEE")
    scores = []
    following = {"8F HORN": "FAM", "H6 FARM": "PASTE", "10F PASTE": "OB", "9H MOB": "BIT"}
    for text in [*following, "11E BIT"]:
        before = state.scores
        turn = state.to_move
        state = state.after(TWO.parse(state, text))
        scores.append(state.scores[turn] - before[turn])
        while state.to_move == CHANCE:
            state = state.after(state.chance_outcomes()[0][0])
        if text in following:
            state = replaced(state, following[text])
    assert scores == [14, 9, 25, 16, 16]


def replaced(state: Any, rack: str) -> Any:
    """Return the state with other tiles for the seat to move, filled up with E."""
    racks = list(state.racks)
    racks[state.turn] = tiles_named(rack.ljust(7, "E"))
    return ScrabbleState(
        state.to_move, state.rules, state.board, tuple(racks), state.bag, state.scores,
        state.scoreless, state.turn, state.aside, state.last, state.laid, state.shown,
    )  # fmt: skip


CAT = f"{EMPTY} " * 7 + ".......CAT....."


@pytest.mark.parametrize(
    ("rows", "rack", "text", "score"),
    [
        ("", "CARNIES", "8D CARNIES", 2 * (6 + 6) + 50),
        ("", "A?", "8H aA", 2),
        (CAT, "S", "8H CATS", 6),
        (CAT, "?", "8H CATs", 5),
        ("", "QUIZ", "8G QUIZ", 2 * 22),
        # Both words of the S: CATS 6, and 2 + 1 + 1 + 1 over squares without premiums.
        (CAT, "DOLS", "K5 DOLS", 6 + 2 * (2 + 1 + 1 + 1)),
    ],
)
def test_scores_are_those_counted_by_hand(rows: str, rack: str, text: str, score: int) -> None:
    state = position(rows, rack, "EEEEEEE")
    assert text in state.plays().texts
    assert state.after(text).scores == (score, 0)


def test_board_and_tiles_are_the_standard_ones() -> None:
    kinds = {kind: PREMIUMS.count(kind) for kind in "TDtd"}
    assert kinds == {"T": 8, "D": 17, "t": 12, "d": 24}
    assert sum(COUNTS) == 100
    assert sum(count * value for count, value in zip(COUNTS, VALUES, strict=True)) == 187
    assert PREMIUMS == PREMIUMS[::-1] == "".join(PREMIUMS[column::SIZE] for column in range(SIZE))


# The course of a game


def test_seat_that_plays_its_last_tile_gets_what_the_other_has_left() -> None:
    state = position(CAT, "S", "", "QE", (100, 90))
    state = after(state, "8H CATS")
    assert state.to_move == TERMINAL
    assert state.scores == (100 + 6 + 11, 90 - 11)
    assert state.returns() == (1.0, -1.0)


def test_six_turns_without_points_end_the_game_and_tiles_left_count_against_all() -> None:
    state = drawn("AEINRTSQZBCDEF")
    state = after(state, "-", "-Q", "+A", "-", "-", "-")
    assert state.to_move == 1
    assert state.scoreless == 5
    state = after(state, "-")
    assert state.to_move == TERMINAL
    assert state.scores == (-7, -(1 + 10 + 3 + 3 + 2 + 1 + 4))


def test_points_start_the_count_of_turns_without_points_again() -> None:
    state = after(drawn("AEINRTSQZBCDEF"), "-", "-", "8D STAINER", "+AEINRTS")
    assert state.scoreless == 0


def test_exchanged_tiles_return_to_the_bag_after_the_draw() -> None:
    state = after(drawn("AEINRTSQZBCDEF"), "-", "-QZ")
    assert state.to_move == CHANCE
    assert state.bag_size() == 86
    assert state.bag[17] == state.bag[26] == 0
    state = after(state, "+AA")
    assert state.bag_size() == 86
    assert state.bag[17] == state.bag[26] == 1
    assert state.to_move == 0


@pytest.mark.parametrize(("bag", "allowed"), [("EEEEEEE", True), ("EEEEEE", False)])
def test_exchange_needs_seven_tiles_in_the_bag(bag: str, allowed: bool) -> None:
    state = position(CAT, "SVV", bag)
    assert ("-VV" in state.actions()) == allowed
    if not allowed:
        with pytest.raises(IllegalAction, match="at least 7 tiles in the bag, which holds 6"):
            TWO.parse(state, "-VV")


@pytest.mark.parametrize(
    ("scores", "wins", "points"),
    [
        ((300, 200, 250), (2.0, -1.0, -1.0), (50.0, -50.0, 0.0)),
        ((300, 300, 240), (0.5, 0.5, -1.0), (20.0, 20.0, -40.0)),
        ((5000, 200, 200), (2.0, -1.0, -1.0), (1000.0, -500.0, -500.0)),
    ],
)
def test_returns_are_shares_of_the_win_or_leads(scores: Any, wins: Any, points: Any) -> None:
    for kind, expected in (("wins", wins), ("points", points)):
        game: Any = get_game(f"scrabble(returns={kind},seats=3)")
        state = game.initial_state()
        state.scores = scores
        assert state.returns() == pytest.approx(expected)


# Notation


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("8H CATS", "the rack has not enough tiles: S"),
        ("8H CATx", "CATX is not in the word list"),
        ("8H DATE", "square H8 has the letter C"),
        ("8I ATE", "tiles beside the word make it CATE, which must be written whole"),
        ("8H CAT", "the play lays no tile"),
        ("1A DE", "no tile of the play lies beside one on the board"),
        ("8N OXER", "the word does not fit on the board"),
        ("9H XO", "XO and CX and AO are not in the word list"),
        ("-DDX", "the rack has not enough tiles: D"),
    ],
)
def test_illegal_action_names_the_rule_it_breaks(text: str, rule: str) -> None:
    state = position(CAT, "DEORX?" if "S" not in text else "DEORX", "EEEEEEEE")
    with pytest.raises(IllegalAction) as caught:
        TWO.parse(state, text)
    assert caught.value.rule == rule


def test_first_play_must_cover_the_centre() -> None:
    with pytest.raises(IllegalAction, match="must cover the centre, H8"):
        TWO.parse(drawn("AEINRTSQZBCDEF"), "1A TRAINS")


@pytest.mark.parametrize("text", ["", "WORD", "8D", "16A CAT", "8P CAT", "8D C4T", "-1"])
def test_text_that_is_no_action_is_invalid(text: str) -> None:
    with pytest.raises(InvalidAction):
        TWO.parse(drawn("AEINRTSQZBCDEF"), text)


def test_action_can_be_written_in_other_ways() -> None:
    state = position(CAT, "DORXS?", "EEEEEEEE")
    assert TWO.parse(state, "-?xd") == "-DX?"
    assert TWO.parse(state, "8h CATS") == "8H CATS"
    rows = CAT.split()
    rows[6] = "..........A...."
    assert TWO.parse(position(" ".join(rows), "S", "EEEEEEEE"), "K7 AS") == "8H CATS"


@pytest.mark.parametrize("seed", range(3))
def test_every_action_is_read_as_it_is_written(seed: int) -> None:
    state = random_position(random.Random(seed), 6 * seed)
    for action in state.actions():
        assert TWO.parse(state, TWO.format(state, action)) == action


# What seats know


def test_others_see_only_how_many_tiles_are_exchanged_and_drawn() -> None:
    start = drawn("AEINRTSQZBCDEF")
    state = start.after(TWO.parse(start, "-AE"))
    assert TWO.visible(start, "-AE", 0) == "-AE"
    assert TWO.visible(start, "-AE", 1) == TWO.visible(start, "-AE", None) == "-2"
    assert TWO.visible(state, 1, 0) == "A"
    assert TWO.visible(state, 1, 1) is TWO.visible(state, 1, None) is None
    own, other = TWO.observe(state, 0), TWO.observe(state, 1)
    assert (own.aside, own.aside_size, own.last) == ("AE", 2, ("-AE", ""))
    assert (other.aside, other.aside_size, other.last) == ("", 2, ("-2", ""))
    assert other.rack_sizes == (5, 7)


@settings(max_examples=EXAMPLES, deadline=None)
@given(SEEDS)
def test_exchange_of_unseen_tiles_changes_nothing_that_a_seat_sees(seed: int) -> None:
    rng = random.Random(seed)
    game: Any = get_game("scrabble(seats=3)")
    state = random_position(rng, rng.randrange(30), game)
    seat = rng.randrange(3)
    seen = game.observe(state, seat)
    other = game.sample_state(seen, rng)
    assert game.observe(other, seat) == seen
    assert game.scene(game.observe(other, seat)) == game.scene(seen)
    assert sorted(unseen_tiles(seen)) == sorted(
        [tile for by, rack in enumerate(other.racks) if by != seat for tile in rack]
        + [tile for tile, count in enumerate(other.bag) for _ in range(count)]
        + list(other.aside if seat != other.turn else b"")
    )


def test_sampled_racks_differ() -> None:
    state = drawn("AEINRTSQZBCDEF")
    seen = TWO.observe(state, 0)
    racks = {TWO.sample_state(seen, random.Random(seed)).racks[1] for seed in range(20)}
    assert len(racks) == 20


# Scenes


@pytest.mark.parametrize("seed", range(3))
def test_placements_of_a_scene_mean_the_plays(seed: int) -> None:
    state = random_position(random.Random(seed), 5 * seed + 1)
    seen = TWO.observe(state, state.to_move)
    scene = TWO.scene(seen)
    placing = next(each for each in scene.elements if isinstance(each, Placing))
    plays = state.plays()
    count = len(plays.texts) if seen.complete else 100
    assert list(placing.actions[:count]) == plays.texts[:count]
    assert list(placing.worth[:count]) == plays.scores[:count]
    assert bool(placing.spots) != seen.complete  # others are judged when they are laid
    for text, placed in zip(placing.actions[count:], placing.placed[count:], strict=True):
        assert "-" + placed.replace("=", "").replace(" ", "") == text
    for text, placed in zip(placing.actions[:count], placing.placed[:count], strict=True):
        board = state.after(text).board
        laid = [
            f"{square_name(square, True)}={chr(64 + board[square])}"
            for square in range(SQUARES)
            if board[square] and not state.board[square]
        ]
        assert sorted(laid) == placed.split(" ")


# Word lists


def test_word_list_has_the_words_of_enable() -> None:
    words = WORDS.words()
    assert len(words) == 168_551
    assert words == sorted(set(words))
    assert max(map(len, words)) == 15
    assert {len(word) for word in words} == set(range(2, 16))
    assert sum(len(word) == 2 for word in words) == 96
    for word in ("AA", "ZYZZYVA", "QUIXOTRY", "CATS"):
        assert word in WORDS
    for word in ("QI", "ZA", "CATZ", "", "CA", "cats"):
        assert word not in WORDS


@settings(max_examples=60, deadline=None)
@given(st.sets(st.text("ABCZ", min_size=1, max_size=6), max_size=30))
def test_built_list_has_exactly_its_words(words: set[str]) -> None:
    built = build_words(words)
    expected = sorted(word for word in words if len(word) > 1)
    assert built.words() == expected
    for word in words:
        assert (word in built) == (len(word) > 1)


def test_other_list_is_found_by_its_name_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.joinpath("tiny.bin").write_bytes(packed(build_words(["AB", "BA", "BAB"])))
    tmp_path.joinpath("bad.bin").write_bytes(b"no list")
    with pytest.raises(InvalidParameter):
        get_game("scrabble(dictionary=tiny)")
    monkeypatch.setenv(FOLDER, str(tmp_path))
    game: Any = get_game("scrabble(dictionary=tiny)")
    assert game.initial_state().rules.words.words() == ["AB", "BA", "BAB"]
    for name in ("../tiny", "tiny.bin", str(tmp_path / "tiny"), "Tiny", "none", ""):
        with pytest.raises(InvalidParameter):
            type(game)(dictionary=name)
    with pytest.raises(ValueError, match="is damaged"):
        get_game("scrabble(dictionary=bad)").initial_state()


# Searches


def test_game_of_few_plays_has_the_plays_of_most_points() -> None:
    state = drawn("AEINRTSQZBCDEF")
    few = TWO.abstraction()
    assert isinstance(few, FewPlays)
    sampled = few.sample_state(TWO.observe(state, 0), random.Random(1))
    plays = state.plays()
    points = dict(zip(plays.texts, plays.scores, strict=True))
    chosen = sampled.actions()
    assert len(chosen) == 9
    assert set(chosen) <= set(state.actions())
    assert min(points[text] for text in chosen[:-1]) >= sorted(plays.scores)[-8]


def test_action_is_judged_alone_as_the_list_of_all_says() -> None:
    game = get_game("scrabble")
    rng = random.Random(3)
    state: Any = game.initial_state()
    for _ in range(12):
        while state.to_move == CHANCE:
            state = state.after(state.drawn(rng.random()))
        actions = set(state.actions())
        for action in rng.sample(sorted(actions), 40):
            assert is_legal(state, action)
            place = rng.randrange(len(action))
            letter = rng.choice("ABCDEFGHIJKLMNOabcdefgh0123456789 -?")
            text = action[:place] + letter + action[place + 1 :]
            assert is_legal(state, text) == (text in actions), text
        state = state.after(rng.choice(sorted(actions)))


def test_list_of_plays_stops_when_it_is_told_to() -> None:
    game = get_game("scrabble")
    state: Any = game.initial_state()
    for tile in "AEINR??RELICTS":
        state = state.after(game.parse_chance(state, tile))
    asked = itertools.count()
    some = state.plays(False, lambda: next(asked) > 3)
    assert some.stopped
    assert 0 < len(some.texts) < len(state.plays().texts)
    assert (
        ranked(state, 5)
        == sorted(
            [
                (score + leave_value(kept_after(state, text)), score, text)
                for text, score in zip(state.plays().texts, state.plays().scores, strict=True)
            ],
            key=lambda each: (-each[0], each[2]),
        )[:5]
    )


def test_leave_is_worth_its_tiles_and_those_that_belong_together() -> None:
    worth = {text: leave_value(tiles_named(text)) for text in ("", "?", "S", "Q", "U", "QU", "UQ")}
    assert worth[""] == 0.0
    assert worth["?"] > 20.0 > worth["S"] > 6.0
    assert worth["Q"] < -6.0
    assert worth["QU"] == worth["UQ"] > worth["Q"] + worth["U"] + 1.0


def test_leaves_of_a_wrong_length_are_refused() -> None:
    with pytest.raises(ValueError, match="are 3 bytes, not 814"):
        read_leaves(b"abc")


def test_play_is_shown_with_its_points_and_an_exchange_in_words() -> None:
    state = TWO.initial_state()
    for tile in "RELICTSAEINRT?":
        state = state.after(TWO.parse_chance(state, tile))
    assert TWO.display(state, TWO.parse(state, "8D RELICT")) == "8D RELICT +18"
    assert TWO.display(state, TWO.parse(state, "-CT")) == "exchanged CT"
    assert TWO.display(state, TWO.parse(state, "-")) == "pass"
