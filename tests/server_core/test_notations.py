"""Records in the formats of their games, read back by what knows them."""

from __future__ import annotations

import io
import random
import re
from typing import Any

import chess.pgn
import msgspec
import pytest
from pokerkit import HandHistory
from tests.harness.pokerkit_hands import random_game

from plyhouse.games.base import CHANCE, TERMINAL
from plyhouse.games.hidden.scrabble.tiles import tile_names
from plyhouse.games.position import Position
from plyhouse.games.registry import BUILT_IN, get_game
from plyhouse.protocol.messages import Outcome
from plyhouse.protocol.parts import Info
from plyhouse.server.match.time_control import SECOND, LagPolicy
from plyhouse.server.results.notations import NOTATIONS, TEXT, form_of, notation
from plyhouse.server.results.record import (
    RECORD_FORMAT,
    Record,
    RecordChance,
    RecordEvent,
    RecordSeat,
)

HOLDERS = [("ann", "x"), ("bob", "y"), ("cy", "z"), ("dee", ""), ("eve", "v"), ("flo", "w")]


def played(spec: str, seed: int, most: int = 1000, termination: Any = "normal") -> Record:
    """A match at random, to its end or so many plies."""
    game = get_game(spec)
    position, rng = Position(game), random.Random(seed)
    events: list[RecordEvent] = []
    while position.mover != TERMINAL and position.ply < most:
        state, mover = position.state, position.mover
        if mover == CHANCE:
            outcomes, shares = zip(*state.chance_outcomes(), strict=True)
            text = game.format_chance(state, rng.choices(outcomes, shares)[0])
            events.append(RecordEvent("chance", position.ply, -1, text))
        else:
            text = game.format(state, rng.choice(state.actions()))
            events.append(RecordEvent("action", position.ply, mover, text))
        position.apply(mover, text)
    over = position.mover == TERMINAL
    returns = list(position.state.returns()) if over else [-1.0, *[1.0] * (game.seats - 1)]
    outcome = Outcome(termination if not over else "normal", returns, None, "late" * (not over))
    return Record(
        *(RECORD_FORMAT, "m1", "p1", game.spec, dict(game.parameters), "move:1", False, "forfeit"),
        LagPolicy(),
        [RecordSeat(name, bot) for name, bot in HOLDERS[: game.seats]],
        RecordChance(1, "", "", [""] * game.seats),
        *(events, outcome),
        started_ms=1_700_000_000_000,
    )


@pytest.mark.parametrize(
    "spec", ["chess", "chess(start=17)", 'chess(fen="8/P6k/8/8/8/8/8/K7 b - - 3 40")']
)
def test_chess_is_read_back_by_another_program(spec: str) -> None:
    for seed in range(4):
        record = played(spec, seed, 120, "flag_fall")
        text = notation(record, "pgn", "Cup")
        assert text is not None
        read = chess.pgn.read_game(io.StringIO(text))
        assert read is not None
        assert read.errors == []
        moves = [each.text for each in record.events]
        for text_move, move in zip(moves, read.mainline_moves(), strict=True):
            assert move.uci()[:2] == text_move[:2]
        assert read.headers["White"] == "ann/x"
        assert read.headers["Black"] == "bob/y"
        if record.outcome is not None and record.outcome.termination != "normal":
            assert read.headers["Result"] == "0-1"
            assert "flag fall. late" in text.replace("\n", " ")


def test_go_has_its_points_from_above_and_how_it_was_won() -> None:
    record = played("go(size=5)", 1, 6, "resignation")
    text = notation(record, "sgf")
    assert text is not None
    assert text.startswith("(;GM[1]FF[4]CA[UTF-8]AP[Plyhouse]SZ[5]KM[7.5]RU[Chinese]PB[ann/x]")
    assert "RE[W+R]" in text
    nodes = re.findall(r";([BW])\[([a-e]{2}|)\]", text)
    assert [colour for colour, _ in nodes] == ["B", "W"] * 3
    for (_, point), event in zip(nodes, record.events, strict=True):
        column, row = "ABCDE".index(event.text[0]), int(event.text[1:])
        assert point == f"{'abcde'[column]}{'abcde'[5 - row]}"


def test_othello_has_its_squares_from_above() -> None:
    record = played("othello", 2)
    text = notation(record, "sgf")
    assert text is not None
    assert text.startswith("(;GM[2]FF[4]CA[UTF-8]AP[Plyhouse]SZ[8]PB[ann/x]")
    nodes = re.findall(r";([BW])\[([a-h]{2}|)\]", text)
    assert len(nodes) == len(record.events)
    for (colour, point), event in zip(nodes, record.events, strict=True):
        assert colour == "BW"[event.seat]
        row = "" if event.text == "pass" else "abcdefgh"[int(event.text[1]) - 1]
        assert point == (event.text[0] + row if row else "")


def test_checkers_is_numbered_with_black_first_and_scored_for_white() -> None:
    record = played("checkers", 3, 5, "resignation")
    text = notation(record, "pdn", "Cup")
    assert text is not None
    assert '[GameType "21"]' in text
    assert '[Black "ann/x"]' in text
    assert '[Result "1-0"]' in text, "seat 1, White, has won"
    moves = [each.text for each in record.events]
    flat = " ".join(text.split())
    assert f"1. {moves[0]} {moves[1]} 2. {moves[2]} {moves[3]} 3. {moves[4]}" in flat
    assert flat.endswith("1-0")


def test_backgammon_has_both_columns_and_the_points() -> None:
    record = played("backgammon", 5)
    text = notation(record, "mat")
    assert text is not None
    lines = text.splitlines()
    assert " 3 point match" in lines, "without a cube, a session counts no gammons"
    turns = [line for line in lines if re.match(r" *\d+\)", line)]
    actions = [each for each in record.events if each.kind == "action"]
    shown = re.findall(
        r"\d\d: (?:Cannot Move|(?:(?:bar|\d+)(?:/(?:off|\d+)\*?)+(?:\(\d\))? ?)+)", text
    )
    assert len(shown) == len(actions)
    if actions[0].seat == 1:
        assert re.match(r"  1\) {30,}", turns[0])
    assert record.outcome is not None
    assert f"Wins {max(record.outcome.returns):g} point" in lines[-1]


@pytest.mark.parametrize(
    ("spec", "form"),
    [
        ("chess", "pgn"),
        ("go(size=5)", "sgf"),
        ("othello", "sgf"),
        ("backgammon", "mat"),
        ("checkers", "pdn"),
    ],
)
def test_renamed_game_is_written_under_its_usual_names(spec: str, form: str) -> None:
    usual = played(spec, seed=4, most=30)
    other: Any = get_game(f"{spec.removesuffix(')')}{',' if '(' in spec else '('}renamed=7)")
    events = [
        msgspec.structs.replace(each, text=other.other(each.text))
        if each.kind in ("action", "chance")
        else each
        for each in usual.events
    ]
    renamed = msgspec.structs.replace(usual, game=other.spec, events=events)
    assert notation(renamed, form) == notation(usual, form)


def test_a_format_is_for_its_own_game() -> None:
    record: Any = played("go(size=5)", 1, 4)
    assert {form: notation(record, form) is None for form in NOTATIONS} == {
        "pgn": True,
        "sgf": False,
        "pdn": True,
        "mat": True,
        "pbn": True,
        "gcg": True,
        "phh": True,
    }


@pytest.mark.parametrize("spec", sorted(BUILT_IN))
def test_every_game_is_written_as_text_with_a_line_for_each_ply(spec: str) -> None:
    record = played(spec, 3)
    text = notation(record, TEXT)
    assert text is not None
    plies = [each for each in record.events if each.kind == "action"]
    numbers = re.findall(r"^ *(\d+)\. ", text, re.MULTILINE)
    assert numbers == [str(ply + 1) for ply in range(len(plies))]
    chances = re.findall(r"(?<= )\((?:[^()]|\(\d\))+\)", text.split("\n\n")[1])
    assert len(chances) == len(record.events) - len(plies)
    assert f"Result: {get_game(spec).seat_name(0)}" in text


# PGN


def clocked(record: Record, seconds: float = 61.25) -> Record:
    """The same match with clocks, and thoughts of its bots."""
    events = [
        msgspec.structs.replace(
            each, remaining_ns=round(seconds * SECOND), info=Info(value=0.18, depth=5)
        )
        for each in record.events
    ]
    return msgspec.structs.replace(record, events=events)


def read_pgn(record: Record, event: str = "Cup") -> tuple[str, chess.pgn.Game]:
    text = notation(record, "pgn", event)
    assert text is not None
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None
    assert game.errors == []
    return text, game


@pytest.mark.parametrize(
    ("control", "tag"),
    [
        *(("total:5+0.1", "5+0.1"), ("total:60+0", "60"), ("total:300+5", "300+5")),
        *(("move:1", "?"), ("byoyomi:60+5x10", "?"), ("bank:1+30", "?"), ("total:0.5+0.1", "?")),
    ],
)
def test_time_control_is_written_as_pgn_has_it(control: str, tag: str) -> None:
    record = msgspec.structs.replace(played("chess", 1, 9), time_control=control)
    _, game = read_pgn(record)
    assert game.headers["TimeControl"] == tag
    game.time_control()  # raises for what is none


@pytest.mark.parametrize(
    ("spec", "form", "white"), [("chess", "pgn", "White"), ("checkers", "pdn", "Black")]
)
def test_versions_have_tags_where_a_seat_has_one(spec: str, form: str, white: str) -> None:
    record = played(spec, 1, 4, "resignation")
    assert "Version" not in str(notation(record, form, "Cup"))
    seats = [
        msgspec.structs.replace(record.seats[0], version="q, help: position"),
        record.seats[1],
    ]
    text = notation(msgspec.structs.replace(record, seats=seats), form, "Cup")
    assert text is not None
    assert re.findall(r"^\[\w+Version .*", text, re.MULTILINE) == [
        f'[{white}Version "q, help: position"]'
    ]


def test_tags_are_in_order_and_lines_short() -> None:
    record = clocked(played("chess(start=17)", 3, 200, "flag_fall"))
    text, game = read_pgn(record, 'A "quoted" \\ cup\nnext {line} \u00e9')
    tags = re.findall(r"^\[(\w+) ", text, re.MULTILINE)
    assert tags[:7] == ["Event", "Site", "Date", "Round", "White", "Black", "Result"]
    assert tags[7:] == sorted(tags[7:])
    shown = game.headers["Event"].replace('\\"', '"').replace("\\\\", "\\")
    assert shown == 'A "quoted" \\ cup next {line} \u00e9'
    assert max(map(len, text.split("\n\n", 1)[1].splitlines())) < 80


def test_long_remark_is_broken_into_lines() -> None:
    record = played("chess", 1, 9, "bot_crash")
    assert record.outcome is not None
    outcome = Outcome("bot_crash", [-1.0, 1.0], 0, f"It {'x' * 200} and {'long ' * 60}")
    text, _ = read_pgn(msgspec.structs.replace(record, outcome=outcome))
    assert max(map(len, text.splitlines())) < 80


def test_clocks_and_thoughts_are_comments_of_the_moves() -> None:
    _, game = read_pgn(clocked(played("chess", 2, 21)))
    evals = []
    for node in game.mainline():
        assert node.clock() == 61.2
        score = node.eval()
        assert score is not None
        evals.append(score.white().score())
    assert evals[:4] == [99, -99, 99, -99]
    _, plain = read_pgn(played("chess", 2, 21))
    assert not any(node.comment for node in list(plain.mainline())[:-1])


@pytest.mark.parametrize(
    ("termination", "tag", "result"),
    [
        ("flag_fall", "time forfeit", "0-1"),
        ("illegal_action", "rules infraction", "0-1"),
        ("bot_crash", "abandoned", "0-1"),
        ("resignation", "normal", "0-1"),
        ("aborted", "abandoned", "*"),
        ("server_fault", "emergency", "*"),
    ],
)
def test_termination_is_a_word_of_pgn(termination: str, tag: str, result: str) -> None:
    _, game = read_pgn(played("chess", 1, 9, termination))
    assert (game.headers["Termination"], game.headers["Result"]) == (tag, result)
    unfinished = msgspec.structs.replace(played("chess", 1, 9), outcome=None)
    assert read_pgn(unfinished)[1].headers["Termination"] == "unterminated"


# SGF


def test_score_of_go_is_the_lead_at_the_end() -> None:
    for seed in range(4):
        record = played("go(size=5, komi=0.5)", seed)
        game = get_game(record.game)
        position = Position(game)
        for each in record.events:
            position.apply(each.seat, each.text)
        seen: Any = game.observe(position.state, None)
        text = notation(record, "sgf")
        assert text is not None
        assert f"RE[{'B' if seen.lead > 0 else 'W'}+{abs(seen.lead):g}]" in text


def test_score_of_othello_is_the_lead_in_discs() -> None:
    text = notation(played("othello", 2), "sgf")
    assert text is not None
    assert re.search(r"RE\[([BW]\+[1-9]\d?|0)\]", text)


def test_stones_at_the_start_of_go_are_set_up() -> None:
    text = notation(played('go(size=5, position="W:BD4,C3:WE5")', 1, 3), "sgf")
    assert text is not None
    assert "AB[db][cc]AW[ea]PL[W]" in text
    assert re.findall(r";([BW])\[", text) == ["W", "B", "W"]


# MAT


def test_columns_of_mat_never_run_together() -> None:
    record = played("backgammon", 5)
    long = [RecordSeat("a" * 40, "b" * 30), RecordSeat("c:d", "e")]
    events = [
        msgspec.structs.replace(each, text="bar/24*/18*/12*/6* bar/24*/18*/12*/6*")
        if each.kind == "action"
        else each
        for each in record.events
    ]
    text = notation(msgspec.structs.replace(record, seats=long, events=events), "mat")
    assert text is not None
    lines = text.splitlines()
    assert f" {'a' * 40}/{'b' * 30} : 0  c.d/e : 0" in lines
    for line in lines:
        if re.match(r" *\d+\) +\d\d:", line):
            assert len(re.findall(r"(?:^ *\d+\) |  )\d\d: ", line)) == len(
                re.findall(r"\d\d: ", line)
            )


def test_backgammon_from_a_position_has_no_mat() -> None:
    assert notation(played('backgammon(position="6x2 5; 1x3; 0 31")', 1), "mat") is None
    assert form_of('backgammon(position="6x2 5; 1x3; 0 31")') == TEXT
    assert form_of("backgammon") == "mat"


# PHH


@pytest.mark.parametrize("seed", range(12))
def test_holdem_is_played_back_by_pokerkit(seed: int) -> None:
    rng = random.Random(seed)
    game = random_game(rng)
    while game.parameters["betting"] == "fixed":  # where rules of short all-ins differ
        game = random_game(rng)
    record = played(game.spec, seed)
    text = notation(record, "phh", "Cup")
    assert text is not None
    won = [0.0] * game.seats
    hands = list(HandHistory.load_all(io.BytesIO(text.encode())))
    assert len(hands) == game.int_parameter("hands")
    for number, hand in enumerate(hands):
        *_, state = hand
        assert not state.status
        for player, chips in enumerate(state.payoffs):
            won[(number + 1 + player) % game.seats] += chips
    unit = 100 / game.int_parameter("big_blind") / len(hands)
    assert record.outcome is not None
    # PokerKit may give an odd chip to another winner, see `tests.harness.pokerkit_hands`.
    assert [chips * unit for chips in won] == pytest.approx(record.outcome.returns, abs=unit)


def test_fixed_limit_is_played_back_by_pokerkit() -> None:
    record = played("texas_holdem(betting=fixed, seats=3, hands=3)", 2)
    text = notation(record, "phh")
    assert text is not None
    for hand in HandHistory.load_all(io.BytesIO(text.encode())):
        assert hand.variant == "FT"
        *_, state = hand
        assert not state.status


def test_hand_that_was_cut_short_has_its_actions() -> None:
    record = played("texas_holdem(hands=1)", 1, 1, "flag_fall")
    text = notation(record, "phh")
    assert text is not None
    assert "# flag fall. late" in text
    (hand,) = HandHistory.load_all(io.BytesIO(text.encode()))
    assert len(hand.actions) == 3


# PBN


def parts_of(record: Record) -> list[dict[str, str]]:
    text = notation(record, "pbn", "Cup")
    assert text is not None
    return [dict(re.findall(r'\[(\w+) "(.*?)"\]', part)) for part in text.strip().split("\n\n")]


def test_bridge_has_every_board_with_deal_and_result() -> None:
    record = played("bridge(boards=4)", 1)
    boards = parts_of(record)
    assert [each["Board"] for each in boards] == ["1", "2", "3", "4"]
    assert [each["Dealer"] for each in boards] == ["N", "E", "S", "W"]
    assert [each["Vulnerable"] for each in boards] == ["None", "NS", "EW", "All"]
    points = [int(each["Score"].removeprefix("NS ")) for each in boards]
    assert record.outcome is not None
    assert sum(points) / 4 == record.outcome.returns[0]
    for each in boards:
        dealer, _, hands = each["Deal"].partition(":")
        assert dealer == each["Dealer"]
        cards = [
            suit + rank
            for hand in hands.split()
            for suit, ranks in zip("SHDC", hand.split("."), strict=True)
            for rank in ranks
        ]
        assert len(cards) == len(set(cards)) == 52


@pytest.mark.parametrize("plies", [1, 3, 40, 1000])
def test_bridge_is_read_by_endplay(plies: int) -> None:
    parser = pytest.importorskip("endplay.parsers.pbn", reason="endplay reads PBN")
    record = played("bridge(boards=2)", 4, plies, "flag_fall")
    boards = parser.loads(notation(record, "pbn", "Cup"))
    for board, tags in zip(boards, parts_of(record), strict=True):
        if "Score" in tags:
            side = -1 if tags["Declarer"] in "EW" else 1
            assert tags["Score"] == f"NS {side * board.contract.score(board.vul)}"


# GCG


@pytest.mark.parametrize("spec", ["scrabble", "scrabble(seats=3)", "scrabble(challenges=five)"])
def test_scrabble_adds_up_to_the_points_of_the_match(spec: str) -> None:
    """Reads the file with a reader of its own: no package for Python reads GCG."""
    assert_adds_up(played(spec, 0))


def test_scrabble_play_that_is_taken_back_costs_its_points() -> None:
    record = played("scrabble(challenges=single)", 0, 0)
    game = get_game(record.game)
    position, rng = Position(game), random.Random(1)
    events: list[RecordEvent] = []

    def apply(text: str) -> None:
        kind, seat = ("chance", -1) if position.mover == CHANCE else ("action", position.mover)
        events.append(RecordEvent(kind, position.ply, seat, text))
        position.apply(position.mover, text)

    for plies in ("VWXZQJ", "challenge", "-", "-", "-", "-", "-", "-", "-"):
        while position.mover == CHANCE:
            outcomes, shares = zip(*position.state.chance_outcomes(), strict=True)
            apply(game.format_chance(position.state, rng.choices(outcomes, shares)[0]))
        if position.mover == TERMINAL:
            break
        rack = tile_names(position.state.racks[position.mover]).replace("?", "")
        apply(f"8H {rack[3::-1]}" if len(plies) == 6 else plies)
    record = msgspec.structs.replace(record, events=events)
    text = notation(record, "gcg")
    assert text is not None
    assert re.search(r">ann/x: (\S+) 8H \w{4} \+(\d+) \2\n>ann/x: \1 -- -\2 0\n", text)
    assert_adds_up(record)


def assert_adds_up(record: Record) -> None:
    text = notation(record, "gcg", "Cup")
    assert text is not None
    game = get_game(record.game)
    totals: dict[str, int] = {}
    board: dict[tuple[int, int], str] = {}
    laid: list[tuple[int, int]] = []
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        found = re.fullmatch(r">(\S+): (?:([A-Z?]+) )?(.+) ([-+]\d+) (-?\d+)", line)
        assert found is not None, line
        nick, rack, move, points, total = found.groups()
        totals[nick] = totals.get(nick, 0) + int(points)
        assert totals[nick] == int(total)
        if move == "--":
            for square in laid:
                del board[square]
        play = re.fullmatch(r"(?:(\d+)([A-O])|([A-O])(\d+)) ([A-Za-z.]+)", move)
        if play is None:
            continue
        across = play[1] is not None
        row, column = int(play[1] or play[4]) - 1, ord(play[2] or play[3]) - 65
        laid = []
        for letter in play[5]:
            assert (letter == ".") == ((row, column) in board), line
            if letter != ".":
                assert ("?" if letter.islower() else letter) in (rack or ""), line
                board[row, column] = letter
                laid.append((row, column))
            row, column = (row, column + 1) if across else (row + 1, column)
    position = Position(game)
    for each in record.events:
        position.apply(each.seat, each.text)
    assert tuple(totals.values()) == position.state.scores
