from __future__ import annotations

import random
from typing import Any

import chess as oracle  # python-chess, GPL: a yardstick in tests only
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.games.random_positions import random_position
from tests.harness.counting import divide, positions_by_ply

from plyhouse.games import (
    TERMINAL,
    AmbiguousAction,
    Game,
    GameError,
    IllegalAction,
    InvalidAction,
    InvalidObservation,
    InvalidParameter,
    InvalidPosition,
    get_game,
)
from plyhouse.games.counting import perft
from plyhouse.games.deterministic.chess.notation import read_fen, san, start_fen
from plyhouse.games.deterministic.chess.rules import Chess, ChessState
from plyhouse.games.native import COMPILED
from plyhouse.games.scene import Button

CHESS = get_game("chess")
KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"

PERFT = {
    oracle.STARTING_FEN: (20, 400, 8_902, 197_281, 4_865_609),
    KIWIPETE: (48, 2_039, 97_862, 4_085_603),
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1": (14, 191, 2_812, 43_238, 674_624),
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1": (
        6, 264, 9_467, 422_333,
    ),
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8": (44, 1_486, 62_379, 2_103_487),
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10": (
        46, 2_079, 89_890, 3_894_594,
    ),
    # Chess960, counted by python-chess
    "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9": (21, 528, 12_189),
    "2nnrbkr/p1qppppp/8/1ppb4/6PP/3PP3/PPP2P2/BQNNRBKR w HEhe - 1 9": (21, 807, 18_002),
    "b1q1rrkb/pppppppp/3nn3/8/P7/1PPP4/4PPPP/BQNNRKRB w GE - 1 9": (20, 479, 10_471),
}  # fmt: skip
MOST_PURE = 10_000


def at(fen: str) -> tuple[Game, ChessState]:
    game = get_game(f'chess(fen="{fen}")')
    state = game.initial_state()
    assert isinstance(state, ChessState)
    return game, state


def legal(game: Game, state: Any) -> set[str]:
    return {game.format(state, action) for action in state.actions()}


def play(game: Game, state: Any, moves: str) -> Any:
    for move in moves.split():
        state = state.after(game.parse(state, move))
    return state


@pytest.mark.parametrize("fen", PERFT)
def test_perft(fen: str) -> None:
    _, state = at(fen)
    for depth, count in enumerate(PERFT[fen], 1):
        if COMPILED or count <= MOST_PURE:
            found = perft(state, depth)
            assert found == count, divide(state, depth)


def test_different_positions_by_ply() -> None:
    # A083276 of the OEIS; en passant counts only where it is legal.
    assert positions_by_ply(CHESS.initial_state(), 3) == [1, 20, 400, 5_362]


@pytest.mark.skipif(not COMPILED, reason="takes long when interpreted")
def test_different_positions_after_four_plies() -> None:
    assert positions_by_ply(CHESS.initial_state(), 4)[-1] == 72_078


# Beside python-chess


def board_of(state: ChessState, chess960: bool = False) -> oracle.Board:
    return oracle.Board(fen_of(state), chess960=chess960)


def fen_of(state: ChessState) -> str:
    fen: str = CHESS.observe(state, None).fields()["fen"]
    return fen


def ending(board: oracle.Board) -> str:
    if board.is_checkmate():
        return "checkmate"
    if board.is_stalemate():
        return "stalemate"
    if board.is_insufficient_material():
        return "insufficient material"
    if board.halfmove_clock >= 100:
        return "fifty moves"
    return "threefold repetition" if board.is_repetition(3) else ""


def noisy_move(board: oracle.Board, move: oracle.Move) -> bool:
    """Return whether a move promotes, or captures without losing material at first sight."""
    if move.promotion:
        return True
    if not board.is_capture(move):
        return False
    taken, piece = board.piece_type_at(move.to_square), board.piece_type_at(move.from_square)
    if (
        taken is None
        or piece is None
        or taken >= piece
        or (taken, piece) == (oracle.KNIGHT, oracle.BISHOP)
    ):
        return True
    after = board.copy(stack=False)
    after.remove_piece_at(move.from_square)
    return not after.attackers(not board.turn, move.to_square)


def compare(game: Chess, board: oracle.Board, rng: random.Random, quiet: bool) -> None:
    """Play one game on both boards, looking at everything; ``quiet`` prefers to shuffle."""
    state = game.initial_state()
    while True:
        fields = game.observe(state, None).fields()
        assert fields["fen"] == board.fen()
        assert fields["ending"] == ending(board), board.fen()
        assert fields["check"] == board.is_check()
        if state.to_move == TERMINAL:
            won = 0.0
            if board.is_checkmate():
                won = -1.0 if board.turn else 1.0
            assert state.returns() == (won, -won)
            return
        actions = state.actions()
        moves = {board.uci(move): move for move in board.legal_moves}
        assert {game.format(state, action) for action in actions} == set(moves)
        for each in actions:
            assert state.forces(each) == board.gives_check(moves[game.format(state, each)])
        choice = actions
        if quiet:
            noisy = set(state.noisy_actions())
            choice = tuple([a for a in actions if a not in noisy]) or actions
        action = rng.choice(choice)
        move = moves[game.format(state, action)]
        written = san(state.position, action, actions)
        assert written == board.san(move)
        assert game.parse(state, written) == action
        assert (action in state.noisy_actions()) == noisy_move(board, move)
        board.push(move)
        state = state.after(action)


@settings(max_examples=25 if COMPILED else 6, deadline=None)
@given(st.randoms(use_true_random=False), st.booleans())
def test_random_games_go_as_in_python_chess(rng: random.Random, quiet: bool) -> None:
    game = CHESS
    assert isinstance(game, Chess)
    compare(game, oracle.Board(), rng, quiet)


@settings(max_examples=25 if COMPILED else 6, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(0, 959).filter(lambda n: n != 518))
def test_random_games_of_chess960_go_as_in_python_chess(rng: random.Random, start: int) -> None:
    game = get_game(f"chess(start={start})")
    assert isinstance(game, Chess)
    compare(game, oracle.Board.from_chess960_pos(start), rng, False)


@settings(max_examples=100 if COMPILED else 25, deadline=None)
@given(st.randoms(use_true_random=False), st.booleans())
def test_any_possible_position_has_the_moves_of_python_chess(
    rng: random.Random, crowded: bool
) -> None:
    board = oracle.Board(None)
    squares = rng.sample(range(64), 20 if crowded else 8)
    for index, square in enumerate(squares):
        kind = oracle.KING if index < 2 else rng.randint(oracle.PAWN, oracle.QUEEN)
        if kind == oracle.PAWN and not 8 <= square < 56:
            kind = oracle.KNIGHT
        board.set_piece_at(square, oracle.Piece(kind, index % 2 == 0))
    board.turn = rng.random() < 0.5
    if not board.is_valid():
        return
    position, clock, number = read_fen(board.fen())
    state = ChessState(position, clock, number)
    assert legal(CHESS, state) == {move.uci() for move in board.legal_moves}
    assert fen_of(state) == board.fen()
    for action in state.actions():
        after = board.copy()
        after.push_uci(CHESS.format(state, action))
        reached = state.after(action)
        assert fen_of(reached) == after.fen()
        assert CHESS.observe(reached, None).fields()["ending"] == ending(after)


def test_all_960_starts_are_those_of_python_chess() -> None:
    for number in range(960):
        assert start_fen(number) == oracle.Board.from_chess960_pos(number).fen()


# Rules by name


@pytest.mark.parametrize(
    ("fen", "move"),
    [
        ("8/8/8/K2pP2r/8/8/8/4k3 w - d6 0 1", "e5d6"),  # both pawns leave the rank
        ("4k3/4r3/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6"),  # the capturing pawn is pinned
        ("8/8/8/1b1pP3/8/8/4K3/7k w - d6 0 1", "e5d6"),  # does not end the bishop's check
    ],
)
def test_en_passant_that_would_expose_the_king_is_illegal(fen: str, move: str) -> None:
    game, state = at(fen)
    assert move not in legal(game, state)
    with pytest.raises(IllegalAction):
        game.parse(state, move)
    assert fen_of(state).split()[3] == "-"


def test_en_passant_along_the_pinning_line_is_legal() -> None:
    game, state = at("4k3/8/8/3pP3/2K5/8/8/b7 w - d6 0 1")
    assert "e5d6" in legal(game, state)
    game, state = at("7k/8/8/2pP4/1K6/8/8/8 w - c6 0 1")
    state = play(game, state, "dxc6")  # takes the pawn that gives check
    assert fen_of(state) == "7k/8/2P5/8/1K6/8/8/8 b - - 0 1"


def test_en_passant_lasts_one_ply() -> None:
    state = play(CHESS, CHESS.initial_state(), "e4 a6 e5 d5")
    assert "e5d6" in legal(CHESS, state)
    assert "e5d6" not in legal(CHESS, play(CHESS, state, "a3 h6"))


@pytest.mark.parametrize(
    ("fen", "allowed"),
    [
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", {"e1g1", "e1c1"}),
        ("r3kr2/8/8/8/8/8/8/R3K2R w KQq - 0 1", {"e1c1"}),  # f1 is attacked: through check
        ("r3k1r1/8/8/8/8/8/8/R3K2R w KQq - 0 1", {"e1c1"}),  # g1 is attacked: into check
        ("1r2k2r/8/8/8/8/8/8/R3K2R w KQk - 0 1", {"e1g1", "e1c1"}),  # b1 only the rook passes
        ("3rk2r/8/8/8/8/8/8/R3K2R w KQk - 0 1", {"e1g1"}),
        ("r3k2r/8/8/8/8/8/4r3/R3K2R w KQkq - 0 1", set()),  # out of check
        ("r3k2r/8/8/8/8/8/8/RN2K1NR w KQkq - 0 1", set()),  # knights between
        ("r3k2r/8/8/8/8/8/8/R3K2R w kq - 0 1", set()),  # rights lost
        ("4k3/8/8/8/8/8/7p/R3K2R w KQ - 0 1", {"e1c1"}),  # a pawn attacks g1
    ],
)
def test_castling_needs_rights_free_squares_and_no_check_on_the_way(
    fen: str, allowed: set[str]
) -> None:
    game, state = at(fen)
    assert legal(game, state) & {"e1g1", "e1c1"} == allowed


def test_castling_rights_go_with_the_king_the_rook_and_a_captured_rook() -> None:
    game, state = at("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
    assert fen_of(play(game, state, "e1e2")).split()[2] == "kq"
    assert fen_of(play(game, state, "a1a7")).split()[2] == "Kkq"
    assert fen_of(play(game, state, "h1h8")).split()[2] == "Qq"
    assert fen_of(play(game, state, "O-O")).split()[2] == "kq"
    back = play(game, state, "h1g1 a8b8 g1h1 b8a8")
    assert fen_of(back).split()[2] == "Qk"


def test_chess960_castling_may_not_uncover_the_king() -> None:
    # The king stands on its place already; its rook shields it from the other rook.
    game, state = at("4k3/8/8/8/8/8/8/rRK5 w B - 0 1")
    assert "c1b1" not in legal(game, state)
    game, state = at("4k3/8/8/8/8/8/8/1RK5 w B - 0 1")
    assert fen_of(play(game, state, "c1b1")) == "4k3/8/8/8/8/8/8/2KR4 b - - 1 1"
    assert fen_of(play(game, state, "O-O-O")) == "4k3/8/8/8/8/8/8/2KR4 b - - 1 1"


def test_a_pawn_becomes_any_piece_but_a_king() -> None:
    game, state = at("1n5k/P7/8/8/8/8/8/K7 w - - 0 1")
    moves = {move for move in legal(game, state) if move.startswith("a7")}
    assert moves == {to + piece for to in ("a7a8", "a7b8") for piece in "nbrq"}
    assert fen_of(play(game, state, "axb8=N")).startswith("1N5k/8/")


def test_threefold_ends_the_game_at_the_third_occurrence() -> None:
    state = play(CHESS, CHESS.initial_state(), "Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1")
    assert state.to_move == 1
    state = play(CHESS, state, "Ng8")
    assert state.to_move == TERMINAL
    assert state.returns() == (0.0, 0.0)
    assert CHESS.scene(CHESS.observe(state, 0)).status == "Draw: threefold repetition"


def test_threefold_counts_a_position_with_other_castling_rights_as_another() -> None:
    game, state = at("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
    shuffle = "Ra1b1 Ra8b8 Rb1a1 Rb8a8"
    once = play(game, state, shuffle)  # the same men, fewer rights: the first time
    twice = play(game, once, f"{shuffle} Ra1b1")  # the men stand so for the third time
    assert twice.to_move == 1
    assert play(game, twice, "Ra8b8").to_move == TERMINAL


def test_threefold_counts_a_position_with_en_passant_as_another() -> None:
    moves = "e4 a6 e5 d5 Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1 Ng8"
    state = play(CHESS, CHESS.initial_state(), moves)
    assert state.to_move == 0  # the first time exd6 was possible
    assert play(CHESS, state, "Nf3").to_move == TERMINAL
    # ... but not where the capture was illegal or nothing could capture.
    moves = "e4 d5 Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1 Ng8"
    assert play(CHESS, CHESS.initial_state(), moves).to_move == TERMINAL


def test_fifty_moves_end_the_game_unless_the_last_one_mates() -> None:
    game, state = at("7k/8/6K1/8/8/8/8/R7 w - - 98 80")
    assert play(game, state, "Rb1").to_move == 1
    drawn = play(game, state, "Rb1 Kg8")
    assert game.observe(drawn, 0).fields()["ending"] == "fifty moves"
    game, state = at("7k/8/6K1/8/8/8/8/R7 w - - 99 80")
    assert play(game, state, "Ra8").returns() == (1.0, -1.0)
    assert play(game, state, "Rb1").to_move == TERMINAL


@pytest.mark.parametrize(
    ("board", "drawn"),
    [
        ("4k3/8/8/8/8/8/8/4K3", True),
        ("4k3/8/8/8/8/8/8/4KN2", True),
        ("4k3/8/8/8/8/8/8/4KB2", True),
        ("4k3/8/8/8/8/8/8/2B1KB2", False),
        ("2b1k3/8/8/8/8/8/8/4KB2", True),  # both on light squares
        ("5bk1/8/8/8/8/8/8/4KB2", False),
        ("4kn2/8/8/8/8/8/8/4KN2", False),
        ("4k3/8/8/8/8/8/8/3NKN2", False),
        ("4k3/8/8/8/8/8/8/3BKN2", False),
        ("4k3/7p/8/8/8/8/8/4K3", False),
        ("4k3/8/8/8/8/8/8/4K2R", False),
    ],
)
def test_material_with_which_no_mate_can_be_is_drawn(board: str, drawn: bool) -> None:
    if drawn:
        # Programs play on where nobody has claimed the draw.
        game, state = at(f"{board} w - - 0 1")
        seen: Any = game.observe(state.after(state.actions()[0]), None)
        assert seen.ending == "insufficient material"
    else:
        at(f"{board} w - - 0 1")


def test_an_underpromotion_can_end_the_game() -> None:
    game, state = at("8/P6k/8/8/8/8/8/K7 w - - 0 1")
    assert play(game, state, "a8=N").to_move == TERMINAL
    assert play(game, state, "a8=R").to_move == 1


def test_mate_and_stalemate() -> None:
    state = play(CHESS, CHESS.initial_state(), "f3 e5 g4 Qh4#")
    assert state.returns() == (-1.0, 1.0)
    assert CHESS.scene(CHESS.observe(state, 0)).status == "Checkmate: Black wins"
    game, state = at("7k/8/6Q1/8/8/8/8/K7 w - - 0 1")
    state = play(game, state, "Qf7")
    assert state.returns() == (0.0, 0.0)
    assert game.scene(game.observe(state, 1)).status == "Draw: stalemate"


# Notation


@pytest.mark.parametrize("text", ["e2e4", " E2E4 ", "e4", "e4!"])
def test_uci_and_san_are_read(text: str) -> None:
    state = CHESS.initial_state()
    assert CHESS.format(state, CHESS.parse(state, text)) == "e2e4"


@pytest.mark.parametrize("text", ["e1g1", "e1h1", "O-O", "0-0", "o-o"])
def test_castling_is_read_in_every_spelling(text: str) -> None:
    game, state = at("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
    assert game.format(state, game.parse(state, text)) == "e1g1"


PAWNS = "1n2k3/P7/8/3pP3/8/8/4P3/4K1N1 w - d6 0 1"


@pytest.mark.parametrize(
    ("texts", "action"),
    [
        ("a8=Q a8=q a8Q a8q a8(Q) a8(q) a8/Q a8=Q+ a7a8q a7a8Q a7a8=q a7-a8=Q a7-a8q", "a7a8q"),
        ("axb8=n axb8N axb8(n) a7xb8=N a7xb8n a7b8n", "a7b8n"),
        ("e4 e2-e4 e2e4 Pe4 Pe2-e4 E2E4", "e2e4"),
        ("Nf3 Ng1-f3 Ng1f3 g1-f3 N1f3 Ngf3", "g1f3"),
        ("exd6 exd6ep exd6e.p. exd6+ e5xd6 e5-d6 e5xd6e.p. Pe5xd6ep e5d6", "e5d6"),
    ],
)
def test_ways_to_write_an_action_mean_the_same(texts: str, action: str) -> None:
    game, state = at(PAWNS)
    for text in [*texts.split(), *["exd6 e.p.", "e5xd6 ep"] * (action == "e5d6")]:
        assert game.format(state, game.parse(state, text)) == action


@pytest.mark.parametrize(
    "text", ["exd7 e.p.", "e3 e.p.", "e3ep", "a8=K", "a7-a6", "Na7-a8", "Pg1f3"]
)
def test_ways_to_write_another_action_are_refused(text: str) -> None:
    game, state = at(PAWNS)
    with pytest.raises((IllegalAction, InvalidAction)):
        game.parse(state, text)


def test_san_that_fits_two_pieces_is_ambiguous() -> None:
    game, state = at("4k3/8/8/8/8/5N2/8/1N2K3 w - - 0 1")
    with pytest.raises(AmbiguousAction) as caught:
        game.parse(state, "Nd2")
    assert sorted(caught.value.candidates) == ["Nbd2", "Nfd2"]
    assert game.format(state, game.parse(state, "Nbd2")) == "b1d2"
    assert game.format(state, game.parse(state, "N1d2")) == "b1d2"


def test_a_bishop_is_not_a_pawn_of_the_b_file() -> None:
    game, state = at("4k3/8/8/8/8/2p5/1P1B4/4K3 w - - 0 1")
    assert game.format(state, game.parse(state, "bxc3")) == "b2c3"
    assert game.format(state, game.parse(state, "Bxc3")) == "d2c3"


def test_capitals_tell_a_bishop_on_the_eighth_rank_from_the_b_file() -> None:
    game, state = at("1K1B4/8/3B4/8/8/6b1/N7/k7 w - - 0 1")
    assert game.format(state, game.parse(state, "b8c7")) == "b8c7"
    assert game.format(state, game.parse(state, "B8c7")) == "d8c7"
    assert game.format(state, game.parse(state, "B6c7")) == "d6c7"
    assert game.format(state, game.parse(state, "B8C7")) == "b8c7"


@settings(max_examples=60 if COMPILED else 20, deadline=None)
@given(st.integers(0, 2**32))
def test_san_of_any_position_is_read_as_it_is_written(seed: int) -> None:
    game, state = random_position("chess", random.Random(seed))
    assert isinstance(state, ChessState)
    actions = state.actions()
    for action in actions:
        assert game.parse(state, san(state.position, action, actions)) == action


@pytest.mark.parametrize("text", ["e9", "castle", "", "Zf3", "e2e4e5"])
def test_what_is_no_move_is_invalid(text: str) -> None:
    with pytest.raises(InvalidAction):
        CHESS.parse(CHESS.initial_state(), text)


@pytest.mark.parametrize("text", ["e2e5", "Nd4", "O-O", "e7e5", "e7e8q"])
def test_what_the_rules_forbid_is_illegal(text: str) -> None:
    with pytest.raises(IllegalAction, match="legal here: "):
        CHESS.parse(CHESS.initial_state(), text)


def test_people_are_shown_san_on_buttons() -> None:
    state = CHESS.initial_state()
    buttons = [
        element
        for element in CHESS.scene(CHESS.observe(state, 0)).elements
        if isinstance(element, Button)
    ]
    assert Button("Nf3", "g1f3", ("g1", "f3")) in buttons
    assert len(buttons) == 20


def test_how_often_a_position_occurred_is_observed_and_restored() -> None:
    state = play(CHESS, CHESS.initial_state(), "e4 e5 Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1 Ng8")
    assert state.ending == 5
    assert CHESS.observe(state, 1).fields()["occurrences"] == 3
    state = play(CHESS, CHESS.initial_state(), "Nf3 Nf6 Ng1 Ng8")
    seen = CHESS.observe(state, 0)
    assert seen.fields()["occurrences"] == 2
    start: Any = CHESS.initial_state()
    again: Any = CHESS.sample_state(seen, random.Random(0))
    assert again.key() == state.key() != start.key()
    assert play(CHESS, again, "Nf3 Nf6 Ng1 Ng8").to_move == TERMINAL


def test_a_sampled_state_sees_the_present_position_come_again_but_no_earlier_one() -> None:
    moves = "Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1"
    state = play(CHESS, CHESS.initial_state(), moves)
    again = CHESS.sample_state(CHESS.observe(state, 1), random.Random(0))
    assert again.actions() == state.actions()
    assert play(CHESS, state, "Ng8").to_move == TERMINAL
    assert play(CHESS, again, "Ng8").to_move == 0
    assert play(CHESS, again, "Ng8 Nf3 Nf6 Ng1").to_move == TERMINAL


@pytest.mark.parametrize("occurrences", [-1, 0, 4, 10**9])
def test_a_position_that_occurred_too_often_cannot_be_observed(occurrences: int) -> None:
    seen = CHESS.observe(CHESS.initial_state(), 0)
    bad = CHESS.decode_observation({**seen.fields(), "occurrences": occurrences})
    with pytest.raises(InvalidObservation, match="occurs 1 to 3"):
        CHESS.sample_state(bad, random.Random(0))


# Parameters


@pytest.mark.parametrize(
    ("fen", "reason"),
    [
        (" ", "a FEN has 4 or 6 fields, not 0"),
        ("rnbqkbnr/8/8/8/8/8/8/RNBQKBNR w", "a FEN has 4 or 6 fields, not 2"),
        ("8/8/8/8/8/8/8 w - - 0 1", "the board has 7 ranks, not 8"),
        ("4k3/8/8/9/8/8/8/4K3 w - - 0 1", "'9' on rank 5 is not a piece"),
        ("4k3/8/8/7/8/8/8/4K3 w - - 0 1", "rank 5 has 7 squares, not 8"),
        ("4k3/8/8/8p/8/8/8/4K3 w - - 0 1", "rank 5 has 9 squares, not 8"),
        ("4k3/8/8/8/8/8/8/4K2x w - - 0 1", "'x' on rank 1 is not a piece"),
        ("4k3/8/8/8/8/8/8/K3K3 w - - 0 1", r"white has 2 kings \(a1, e1\), not 1"),
        ("8/8/8/8/8/8/8/4K3 w - - 0 1", "black has 0 kings, not 1"),
        ("4k2P/8/8/8/8/8/8/4K3 w - - 0 1", "white has a pawn on h8"),
        ("4k3/pppppppp/p7/8/8/8/8/4K3 w - - 0 1", "black has 9 pawns"),
        ("4k3/8/8/8/8/Q7/QQQQQQQQ/QQQQKQQQ w - - 0 1", "white has 17 men"),
        ("4k3/8/8/8/8/8/8/4K3 x - - 0 1", "the side to move is 'x'"),
        ("4k3/8/8/8/8/8/8/4RK2 w - - 0 1", "the king of black on e8 is in check"),
        ("8/8/8/4k3/4K3/8/8/7R w - - 0 1", "is in check"),
        ("4k3/8/8/8/8/8/8/R3K2R w X - 0 1", "'X' is not a castling right"),
        ("4k3/8/8/8/8/8/4K3/R6R w K - 0 1", "the king on e2"),
        ("4k3/8/8/8/8/8/8/R3K3 w KQ - 0 1", r"white cannot castle \(K\): there is no rook"),
        ("4k3/8/8/8/8/8/8/R3K2R w KK - 0 1", "the castling right K is given twice"),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d7 0 1", "'d7' is not on the sixth rank"),
        ("4k3/8/8/4P3/8/8/8/4K3 w - d6 0 1", "no pawn can just have skipped d6"),
        ("4k3/8/8/8/8/8/8/R3K3 w Q - x 1", "the half-move clock is 'x'"),
        ("4k3/8/8/8/8/8/8/R3K3 w Q - 0 -1", "the move number is '-1'"),
        ("R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1", "the game is over: checkmate"),
    ],
)
def test_impossible_positions_are_refused_and_say_why(fen: str, reason: str) -> None:
    with pytest.raises(InvalidPosition, match=reason) as caught:
        Chess(fen=fen)
    assert caught.value.code == "position/invalid"
    assert caught.value.game == "chess"


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="rnbqkpRNBQKP12345678/ wb-KQkq", max_size=80))
def test_any_text_is_a_position_or_refused(text: str) -> None:
    try:
        game = Chess(fen=text)
    except GameError:
        return
    assert game.initial_state().actions()


def test_a_position_and_a_number_of_chess960_do_not_go_together() -> None:
    with pytest.raises(InvalidParameter, match="it goes without fen"):
        Chess(fen=KIWIPETE, start=0)
    with pytest.raises(InvalidParameter, match="from 0 to 959"):
        Chess(start=960)


def test_a_spec_with_a_position_can_be_read_again() -> None:
    game = Chess(fen=KIWIPETE)
    assert get_game(game.spec) == game


# Hooks of search


@pytest.mark.parametrize(
    ("fen", "losing"),
    [
        ("4k3/8/2p5/3p4/8/8/8/3RK3 w - - 0 1", "d1d5"),  # a rook for a pawn
        ("4k3/2p5/3n4/4b3/3N4/2P5/8/4K3 b - - 0 1", ""),  # a bishop for a knight
        ("4k3/8/8/3p4/8/8/8/3RK3 w - - 0 1", ""),  # nothing defends the pawn
        ("3rk3/8/8/3p4/8/8/8/3RK3 w - - 0 1", "d1d5"),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", ""),
    ],
)
def test_captures_that_lose_material_are_not_noisy(fen: str, losing: str) -> None:
    game, state = at(fen)
    captures = {
        game.format(state, action)
        for action in state.actions()
        if "x" in san(state.position, action, state.actions())
    }
    noisy = {game.format(state, action) for action in state.noisy_actions()}
    assert captures - noisy == ({losing} if losing else set())


def test_captures_by_the_least_of_the_greatest_come_first() -> None:
    game, state = at("7k/P7/8/3q4/2P1R3/8/3r4/3RK3 w - - 0 1")
    ordered = [game.format(state, action) for action in state.order(state.actions())]
    assert ordered[:2] == ["c4d5", "a7a8q"]
    noisy = {game.format(state, action) for action in state.noisy_actions()}
    assert noisy == {"c4d5", "d1d2", "a7a8q", "a7a8r", "a7a8b", "a7a8n"}
    assert set(ordered[: len(noisy)]) == noisy


def test_the_heuristic_is_the_same_from_both_sides_and_knows_squares() -> None:
    state = CHESS.initial_state()
    assert isinstance(state, ChessState)
    assert state.heuristic()[0] == pytest.approx(0.0, abs=0.002)  # the right to move
    assert play(CHESS, state, "e4").heuristic()[0] > play(CHESS, state, "a3").heuristic()[0]
    _, white = at("4k3/8/8/8/8/3Q4/PP6/4K3 w - - 0 1")
    _, black = at("4k3/pp6/3q4/8/8/8/8/4K3 b - - 0 1")
    assert white.heuristic() == tuple(reversed(black.heuristic()))


def test_kings_come_out_in_the_endgame() -> None:
    def value(fen: str) -> float:
        first: float = at(fen)[1].heuristic()[0]
        return first

    assert value("k7/8/8/8/4K3/8/7P/8 w - - 0 1") > value("k7/8/8/8/8/8/7P/4K3 w - - 0 1")
    full = "rnbqkbnr/8/8/8/{}/8/8/RNBQ{}BNR w - - 0 1"
    assert value(full.format("4K3", "1")) < value(full.format("8", "K"))


def test_playouts_are_seeded_and_agree_with_play() -> None:
    _, state = at(KIWIPETE)
    for seed in range(3 if not COMPILED else 20):
        assert state.playout(random.Random(seed)) == state.playout(random.Random(seed))
        rng = random.Random(seed)
        position = state
        while position.to_move != TERMINAL:
            actions = position.actions()
            position = position.after(actions[int(rng.random() * len(actions))])
        assert state.playout(random.Random(seed)) == position.returns()
