"""Bots as engines: the services line by line, and whole programs driven by our own clients."""

from __future__ import annotations

import asyncio
import functools
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engines.conftest import play_alone
from tests.harness.patience import PATIENCE

from plyhouse.bots.engines.gtp_bot import GtpBot
from plyhouse.bots.engines.uci_bot import UciBot
from plyhouse.bots.process.supervisor import Supervisor
from plyhouse.bots.serving import shell
from plyhouse.bots.serving.gtp_service import GtpService
from plyhouse.bots.serving.requests import (
    UNBOUNDED,
    Answer,
    Ask,
    Configure,
    Effect,
    Quit,
    Release,
    Say,
    Service,
    Stop,
)
from plyhouse.bots.serving.shell import ServedBot, serve
from plyhouse.bots.serving.uci_service import UciService
from plyhouse.games import get_game
from plyhouse.games.base import TERMINAL
from plyhouse.protocol.parts import Info

PROGRAM = f"{sys.executable} -m plyhouse bot"
MS = 1_000_000
OPTIONS = [("depth", "int", "4"), ("bold", "bool", "false"), ("book", "str", "")]

WORDS = """
uci isready ucinewgame position startpos fen moves e2e4 e7e5 e1g1 go wtime btime winc movestogo
movetime depth nodes infinite stop ponderhit setoption name value depth bold Move Overhead quit 1
1000 -5 99999999999999 rnbqkbnr/8/8/8/8/8/8/RNBQKBNR w KQkq - 0 d boardsize komi clear_board play
genmove black white b A1 pass undo time_settings time_left final_score final_status_list dead # 7 12
known_command showboard list_commands reg_genmove fixed_handicap set_free_handicap D4 E5 byoyomi
place_free_handicap kgs-time_settings ponder searchmoves
""".split()  # noqa: SIM905 - shorter than a list
LINES = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join))


@given(st.lists(LINES, max_size=25), st.sampled_from(["", "e2e4", "pass", "A1", "nonsense"]))
def test_services_survive_any_lines(lines: list[str], action: str) -> None:
    services: list[Service] = [UciService("x", "chess", OPTIONS), GtpService("x", "go(size=5)")]
    for service in services:
        for line in lines:
            for effect in service.receive(line):
                if isinstance(effect, Ask):
                    assert 0 < effect.soft <= effect.hard
                    service.answered(Answer(action, 5 * MS))


def said(effects: list[Effect]) -> str:
    return "\n".join(effect.text for effect in effects if isinstance(effect, Say))


def asked(service: UciService | GtpService, *lines: str) -> Ask:
    for line in lines[:-1]:
        service.receive(line)
    (ask,) = service.receive(lines[-1])
    assert isinstance(ask, Ask)
    return ask


@pytest.mark.parametrize(
    ("go", "most_ms", "depth", "nodes", "held"),
    [
        ("go movetime 500", 470, None, None, False),
        ("go wtime 60000 btime 1000 winc 0 binc 0", 60000 // 20, None, None, False),
        ("go wtime 60000 movestogo 1", 59970, None, None, False),
        ("go wtime 20 btime 20", 20, None, None, False),
        ("go depth 3", UNBOUNDED // MS, 3, None, False),
        ("go nodes 500", UNBOUNDED // MS, None, 500, False),
        ("go infinite", UNBOUNDED // MS, None, None, True),
    ],
)
def test_uci_go_becomes_limits(
    go: str, most_ms: int, depth: int | None, nodes: int | None, held: bool
) -> None:
    ask = asked(UciService("x", "chess"), "position startpos", go)
    assert ask.soft <= most_ms * MS
    assert (ask.depth, ask.nodes, ask.held) == (depth, nodes, held)


@pytest.mark.parametrize(
    ("go", "problem", "bounded"),
    [
        ("movetime abc", "movetime takes a whole number, not 'abc'; the bot thinks for 1 s", True),
        ("movetime", "movetime takes a whole number, not ''; the bot thinks for 1 s", True),
        ("depth nodes 9", "depth takes a whole number, not 'nodes'", False),
        ("searchmoves a2a3 b2b3 depth 2", "searchmoves is ignored: all moves count", False),
        ("mate 2", "mate is ignored; the bot thinks for 1 s", True),
        ("btime 5000", "wtime is missing; the bot thinks for 1 s", True),
        ("fast depth 2", "'fast' is ignored: go does not know it", False),
        ("infinite fast", "'fast' is ignored: go does not know it", False),
        ("infinite movetime x", "movetime takes a whole number, not 'x'", False),
    ],
)
def test_uci_part_of_go_that_is_ignored_is_named(go: str, problem: str, bounded: bool) -> None:
    service = UciService("x", "chess")
    service.receive("position startpos")
    text, ask = service.receive(f"go {go}")
    assert text == Say(f"info string {problem}")
    assert isinstance(ask, Ask)
    assert ask.hard == (1000 * MS if bounded else UNBOUNDED)
    assert ask.held == ("infinite" in go)
    assert (ask.depth, ask.nodes) == (2 if "depth 2" in go else None, 9 if "nodes" in go else None)


@pytest.mark.parametrize("moves", ["e2e4", "move e2e4"])
def test_uci_position_without_the_word_moves_is_refused(moves: str) -> None:
    service = UciService("x", "chess")
    refused = said(service.receive(f"position startpos {moves}"))
    assert refused == (
        f"info string the position is refused: write moves before {moves.split()[0]!r}, as in "
        "position startpos moves e2e4"
    )
    assert said(service.receive("go depth 1")) == f"{refused}\nbestmove 0000"


def test_uci_position_may_be_a_fen_with_moves() -> None:
    ask = asked(
        UciService("x", "chess"),
        "position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1 moves e1g1 e8e7",
        "go movetime 100",
    )
    assert ask.game == 'chess(fen="4k3/8/8/8/8/8/8/4K2R w K - 0 1")'
    assert ask.actions == ("e1g1", "e8e7")


THREEFOLD = " g1f3 g8f6 f3g1 f6g8" * 2
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 5"
ROOK = "4k3/8/8/8/8/8/3R4/4K3 w - - {} 120"


@pytest.mark.parametrize(
    ("game", "position", "start", "actions"),
    [
        ("chess", f"startpos moves{THREEFOLD}", START, ()),
        ("chess", f"startpos moves{THREEFOLD} e2e4", START, ("e2e4",)),
        ("chess", f"startpos moves{THREEFOLD} e2e4 e7e5", START, ("e2e4", "e7e5")),
        (
            "chess",
            f"fen {ROOK.format(99)} moves d2d3",
            "4k3/8/8/8/8/3R4/8/4K3 b - - 0 120",
            (),
        ),
        ("chess", f"fen {ROOK.format(100)}", ROOK.format(0), ()),
        ("chess", f"fen {ROOK.format(1234)} moves d2d3", ROOK.format(0), ("d2d3",)),
        ("chess", "fen 4k3/8/8/8/8/8/8/4K3 w - - 0 1", "4k3/8/8/8/8/8/8/4K3 w - - 0 1", ()),
        (
            "chess",
            "fen 4k3/8/8/8/8/8/8/4K3 w - - 0 1 moves e1e2 e8e7 e2e3",
            "8/4k3/8/8/8/4K3/8/8 b - - 0 2",
            (),
        ),
        (
            "chess",
            "fen 4k3/8/8/8/8/8/4p3/4K3 w - - 0 1 moves e1e2",
            "4k3/8/8/8/8/8/4K3/8 b - - 0 1",
            (),
        ),
    ],
)
def test_uci_play_goes_on_where_nobody_has_claimed_a_draw(
    game: str, position: str, start: str, actions: tuple[str, ...]
) -> None:
    ask = asked(UciService("x", game), f"position {position}", "go movetime 100")
    assert ask.game == f'chess(fen="{start}")'
    assert ask.actions == actions


def test_uci_play_goes_on_after_the_automatic_draw_of_checkers() -> None:
    spec = 'checkers(position="B:WK1,32:B4,K29")'
    service = UciService("x", spec)
    moves, state = [], get_game(spec).initial_state()
    game = get_game(spec)
    for text in ("29-25", "1-5", "25-29", "5-1") * 3:
        if state.to_move == TERMINAL:
            break
        moves.append(text)
        state = state.after(game.parse(state, text))
    assert state.to_move == TERMINAL
    ask = asked(service, f"position startpos moves {' '.join(moves)}", "go movetime 100")
    assert ask.game == spec
    assert ask.actions == ()


@pytest.mark.parametrize("fen", ["7k/5Q2/6K1/8/8/8/8/8 b", "7k/6Q1/6K1/8/8/8/8/8 b"])
def test_uci_position_without_a_legal_move_has_none(fen: str) -> None:
    service = UciService("x", "chess")
    service.receive(f"position fen {fen} - - 0 1")
    assert said(service.receive("go movetime 100")).endswith("bestmove 0000")


@pytest.mark.parametrize(("chess960", "move"), [("false", "e1g1"), ("true", "e1h1")])
def test_uci_castling_is_written_as_the_controller_wants(chess960: str, move: str) -> None:
    service = UciService("x", "chess")
    service.receive(f"setoption name UCI_Chess960 value {chess960}")
    asked(service, "position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1", "go movetime 100")
    assert said(service.answered(Answer("e1g1", MS))) == f"bestmove {move}"


def test_uci_refused_position_is_explained_and_has_no_move() -> None:
    service = UciService("x", "chess")
    assert "'e2e5'" in said(service.receive("position startpos moves e2e5"))
    answer = said(service.receive("go movetime 100"))
    assert answer.startswith("info string the position is refused")
    assert answer.endswith("bestmove 0000")


def test_uci_options_of_the_bot_are_set() -> None:
    service = UciService("x", "chess", OPTIONS)
    lines = said(service.receive("uci")).splitlines()
    assert "option name bold type check default false" in lines
    assert "option name book type string default <empty>" in lines
    assert service.receive("setoption name Depth value 6") == [Configure((("depth", "6"),))]
    assert "no option 'deep'" in said(service.receive("setoption name deep value 6"))


def test_uci_answer_has_the_thoughts_of_the_bot() -> None:
    service = UciService("x", "chess")
    asked(service, "position startpos", "go movetime 100")
    thoughts = Info(value=0.18, depth=3, nodes=7, pv=["e2e4", "e7e5"])
    assert said(service.answered(Answer("e2e4", 90 * MS, thoughts))) == (
        "info depth 3 score cp 99 nodes 7 time 90 pv e2e4 e7e5\nbestmove e2e4"
    )


def test_uci_stop_counts_only_while_the_bot_thinks() -> None:
    service = UciService("x", "chess")
    assert service.receive("stop") == []
    asked(service, "position startpos", "go infinite")
    assert service.receive("stop") == [Stop()]
    assert service.receive("isready") == [Say("readyok")]
    assert service.receive("quit") == [Quit()]


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        (["7 protocol_version"], "=7 2\n"),
        (["known_command undo"], "= true\n"),
        (["known_command fly"], "= false\n"),
        (["fly"], "? unknown command\n"),
        (["boardsize 6"], "? unacceptable size\n"),
        (["boardsize x"], "? boardsize not an integer\n"),
        (["play black Z1"], "? illegal move\n"),
        (["play w A1", "play w B2", "play b C3", "genmove w"], ""),
        (["set_free_handicap D4 E5", "undo"], "? cannot undo\n"),
        (["set_free_handicap D4 E5", "set_free_handicap A1 A2"], "? board not empty\n"),
        (["set_free_handicap D4 E5", "clear_board", "set_free_handicap A1 A2"], "=\n"),
        (["set_free_handicap D4"], "? bad vertex list\n"),
        (["set_free_handicap D4 D4"], "? bad vertex list\n"),
        (["set_free_handicap D4 pass"], "? bad vertex list\n"),
        (["fixed_handicap 2"], "= C3 G7\n"),
        (["boardsize 19", "fixed_handicap 9"], "= D4 Q16 D16 Q4 D10 Q10 K4 K16 K10\n"),
        (["boardsize 13", "fixed_handicap 5"], "= D4 K10 D10 K4 G7\n"),
        (["boardsize 7", "fixed_handicap 5"], "? invalid number of stones\n"),
        (["boardsize 7", "place_free_handicap 5"], "= C3 E5 C5 E3\n"),
        (["fixed_handicap x"], "? handicap not an integer\n"),
        (["komi 7.50000"], "=\n"),
        (["2147483647 name"], "=2147483647 x\n"),
        (["kgs-time_settings byoyomi 10 5 3"], "=\n"),
        (["kgs-time_settings canadian 10 5 3"], "=\n"),
        (["kgs-time_settings absolute 10"], "=\n"),
        (["kgs-time_settings none"], "=\n"),
        (["kgs-time_settings byoyomi 10"], "? syntax error\n"),
        (["kgs-time_settings hourglass 10"], "? syntax error\n"),
        (["undo"], "? cannot undo\n"),
        (["play b A1", "undo", "play b A1"], "=\n"),
        (["komi 0.5", "play b C3", "final_score"], "= B+80.5\n"),
        (["play b C3", "komi 0.5", "final_score"], "= B+80.5\n"),
        (["play b C3", "final_status_list alive"], "= C3\n"),
        (["play b pass", "play w pass", "genmove b"], "= pass\n"),
        (["# a comment"], ""),
    ],
)
def test_gtp_command_is_answered(lines: list[str], answer: str) -> None:
    service = GtpService("x", "go")
    for line in lines[:-1]:
        assert said(service.receive(line)).startswith("=")
    assert said(service.receive(lines[-1])) == answer


def test_gtp_handicap_is_the_start_of_the_bots_match() -> None:
    service = GtpService("x", "go(size=5, komi=0.5)")
    ask = asked(service, "set_free_handicap c3 d4", "komi 5", "genmove w")
    assert ask.game == 'go(komi=5.0,position="W:BC3,D4:W",size=5)'
    assert ask.actions == ()
    assert said(service.answered(Answer("A1", MS))) == "= A1\n"
    assert asked(service, "play b b2", "genmove w").actions == ("A1", "B2")


def test_gtp_colour_may_play_twice() -> None:
    service = GtpService("x", "go(size=5)")
    ask = asked(service, "play b D4", "play b E5", "play b A1", "genmove w")
    assert (ask.game, ask.actions) == ('go(position="B:BD4,E5:W",size=5)', ("A1",))
    service.answered(Answer("C3", MS))
    ask = asked(service, "undo", "undo", "genmove w")
    assert (ask.game, ask.actions) == ('go(position="B:BD4:W",size=5)', ("E5",))


def test_gtp_colours_take_turns_where_the_game_has_no_such_start() -> None:
    service = GtpService("x", "othello")
    refused = "? it is the turn of black; send play black pass first\n"
    assert said(service.receive("play w d3")) == refused
    assert said(service.receive("genmove w")) == refused
    assert said(service.receive("fixed_handicap 2")) == "? othello has no handicap\n"


def test_gtp_game_goes_on_after_its_automatic_end() -> None:
    service = GtpService("x", "go(size=5)")
    points = ["A1", "B2", "C3", "D4", "E5", "A3", "B4", "C5", "D2", "E1"]
    for ply in range(100):  # a ply for each point and 4 colours of play end it
        point = "pass" if ply % 2 else points[ply // 2 % 10]
        if said(service.receive(f"play {'bw'[ply % 2]} {point}")) != "=\n":
            assert said(service.receive(f"play {'bw'[ply % 2]} pass")) == "=\n"
    ask = asked(service, "play b C1", "genmove w")
    assert ask.actions[-1:] == ("C1",)


def test_gtp_play_goes_on_after_two_passes() -> None:
    service = GtpService("x", "go(size=5)")
    for line in ("play b C3", "play w pass", "play b pass", "play w D4"):
        assert said(service.receive(line)) == "=\n"
    ask = asked(service, "genmove b")
    assert (ask.game, ask.actions) == ('go(position="W:BC3:W",size=5)', ("D4",))


def test_gtp_move_that_is_only_asked_for_is_not_played() -> None:
    service = GtpService("x", "go(size=5)")
    assert asked(service, "time_settings 60 0 0", "reg_genmove b").actions == ()
    assert said(service.answered(Answer("C3", 50_000 * MS))) == "= C3\n"
    ask = asked(service, "genmove b")
    assert (ask.actions, ask.hard > 50_000 * MS) == ((), True)


@pytest.mark.parametrize(
    ("lines", "least_ms", "most_ms"),
    [
        (["time_settings 0 10 1"], 9000, 10_000),
        (["time_settings 0 10 5"], 1000, 2_000),
        (["time_settings 60 0 0"], 500, 6_000),
        (["time_settings 60 0 0", "time_left b 2 0"], 20, 1_000),
        (["time_settings 0 1 0"], 5000, 5_000),
        (["time_settings 60 0 0", "time_left b 0 0"], 0, 1),
        (["kgs-time_settings byoyomi 0 5 3"], 4900, 5_000),
        (["kgs-time_settings byoyomi 60 5 3", "time_left b 3 2"], 4900, 5_000),
        (["kgs-time_settings byoyomi 60 5 3", "time_left b 2 1"], 1_500, 2_000),
        (["kgs-time_settings canadian 0 10 5"], 1000, 2_000),
        (["kgs-time_settings absolute 60"], 500, 6_000),
        (["kgs-time_settings none"], 5000, 5_000),
    ],
)
def test_gtp_time_becomes_limits(lines: list[str], least_ms: int, most_ms: int) -> None:
    ask = asked(GtpService("x", "go"), *lines, "genmove b")
    assert least_ms * MS <= ask.soft <= most_ms * MS


def test_gtp_time_is_counted_without_time_left() -> None:
    service = GtpService("x", "go")
    first = asked(service, "time_settings 60 0 0", "genmove b")
    service.answered(Answer("D4", 50_000 * MS))
    service.receive("play w E5")
    assert asked(service, "genmove b").hard < first.hard - 49_000 * MS


def test_gtp_bot_may_resign_or_fail() -> None:
    service = GtpService("x", "go")
    asked(service, "3 genmove b")
    assert said(service.answered(Answer("", MS, resigns=True))) == "=3 resign\n"
    asked(service, "4 genmove b")
    assert said(service.answered(Answer("", MS, problem="it failed"))) == "?4 it failed\n"


def test_bot_speaks_uci_to_our_client() -> None:
    bot = UciBot(engine=f"{PROGRAM} as-uci alpha_beta", options="depth=2; Move Overhead=50")
    actions, _ = play_alone(bot, "chess", 4, seconds=PATIENCE)
    assert len(actions) == 4
    mate = 'chess(fen="rnbqkbnr/pppp1ppp/8/4p3/6P1/5P2/PPPPP2P/RNBQKBNR b KQkq g3 0 2")'
    other = UciBot(engine=f"{PROGRAM} as-uci alpha_beta", options="depth=2; Move Overhead=50")
    assert play_alone(other, mate, 1, seconds=PATIENCE)[0] == ["d8h4"]


def test_bot_speaks_gtp_to_our_client() -> None:
    bot = GtpBot(engine=f"{PROGRAM} as-gtp 'mcts(simulations=20)'")
    control = f"total:{2 * PATIENCE:g}"
    actions, state = play_alone(bot, "go(size=5, komi=0.5)", 12, PATIENCE, control)
    assert len(actions) == 12 or state.to_move < 0


def served(command: str, lines: str) -> list[str]:
    """What a served bot writes for all lines at once."""
    done = subprocess.run(
        [sys.executable, "-m", "plyhouse", "bot", *command.split()],
        input=lines,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def test_search_without_end_stops_on_request() -> None:
    lines = "position startpos\ngo infinite\nisready\nstop\nquit\n"
    written = served("as-uci random", lines)
    assert written[0] == "readyok"
    # `quit` may come before the answer; without it, the end of the lines waits for the answer.
    assert served("as-uci random", lines.removesuffix("quit\n"))[-1].startswith("bestmove ")


@pytest.mark.parametrize(("command", "ask"), [("as-uci", "isready"), ("as-gtp", "name")])
def test_line_that_is_no_utf_8_is_refused_in_any_locale(command: str, ask: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "plyhouse", "bot", command, "random"],
        input=f"\udcff {ask}\n{ask}\nquit\n".encode("utf-8", "surrogateescape"),
        capture_output=True,
        env=os.environ | {"PYTHONIOENCODING": "utf-8:strict"},
        timeout=PATIENCE,
        check=True,
    )
    assert b"unknown command" in done.stdout
    assert (b"readyok" if ask == "isready" else b"= random") in done.stdout


class StoppableBot(ServedBot):
    """Answers a question without end when it is told to stop; others at once."""

    def __init__(self, actions: Sequence[str] = ("e2e4", "e7e5")) -> None:
        super().__init__("random", print)
        self.actions = actions
        self.asked: list[Ask] = []
        self.stopped = asyncio.Event()

    async def ask(self, ask: Ask) -> Answer:
        self.asked.append(ask)
        if ask.held or ask.hard >= 5000 * MS:
            await self.stopped.wait()
            self.stopped.clear()
            await asyncio.sleep(0.01)  # the answer comes from a process
        return Answer(self.actions[len(ask.actions) % 2], MS)

    def stop(self) -> None:
        self.stopped.set()


async def served_lines(bot: ServedBot, *lines: str, service: Service | None = None) -> list[str]:
    """What `serve` writes for lines that all come at once."""
    queue: asyncio.Queue[str | None] = asyncio.Queue()
    for line in [*lines, None]:
        queue.put_nowait(line)
    written: list[str] = []
    served = serve(bot, service or UciService("x", "chess"), queue, written.append)
    await asyncio.wait_for(served, PATIENCE)
    return "\n".join(written).splitlines()


async def test_uci_position_behind_stop_is_that_of_the_next_go() -> None:
    bot = StoppableBot()
    written = await served_lines(
        bot,
        "position startpos",
        "go infinite",
        "stop",
        "position startpos moves d2d4",
        "go movetime 300",
    )
    assert written == ["bestmove e2e4", "bestmove e7e5"]
    assert [ask.actions for ask in bot.asked] == [(), ("d2d4",)]


async def test_end_of_lines_ends_a_search_without_limit() -> None:
    assert await served_lines(StoppableBot(), "position startpos", "go") == ["bestmove e2e4"]


async def test_end_of_lines_ends_a_gtp_turn() -> None:
    service = GtpService("x", "go")
    bot = StoppableBot(["D4", "E5"])
    written = await served_lines(
        bot, "komi 7", "time_settings 600 0 0", "genmove b", service=service
    )
    assert written == ["=", "", "=", "", "= D4"]


async def test_gtp_command_during_thinking_is_answered_after_the_move() -> None:
    service = GtpService("x", "go")
    bot = StoppableBot(["D4", "E5"])
    lines = ["time_settings 0 4 1", "genmove b", "1 genmove w", "2 name"]
    written = await served_lines(bot, *lines, service=service)
    assert written == ["=", "", "= D4", "", "=1 E5", "", "=2 x"]


async def test_bot_that_ends_its_stopped_turn_is_not_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shell, "HANG_GRACE", 60)
    monkeypatch.setattr(shell, "Supervisor", functools.partial(Supervisor, hang_grace=60))
    code = """
import time
from plyhouse.bots import Bot

class MyBot(Bot):
    def choose(self, turn):
        turn.report(turn.legal[0])
        while not turn.over:
            time.sleep(0.01)
        time.sleep(0.1)
        return turn.legal[0]
"""
    (tmp_path / "mybot.py").write_text(code, "utf-8")
    output: list[str] = []
    bot = ServedBot(str(tmp_path / "mybot.py"), output.append)
    await bot.start()
    written = await served_lines(bot, "position startpos", "go movetime 100")
    await bot.close()
    assert written[-1].startswith("bestmove ")
    assert "did not come back" not in "\n".join(output)


def test_uci_go_after_a_position_during_thinking_has_no_move() -> None:
    service = UciService("x", "chess", OPTIONS)
    asked(service, "position startpos", "go infinite")
    refused = said(service.receive("position startpos moves e2e4"))
    assert refused == "info string the position is refused: send stop first, the bot thinks"
    assert "send stop first" in said(service.receive("setoption name depth value 6"))
    service.answered(Answer("e2e4", MS))
    assert said(service.receive("go movetime 100")) == f"{refused}\nbestmove 0000"
    asked(service, "position startpos moves e2e4", "go movetime 100")


@pytest.mark.parametrize("game", ["chess", "nim"])
def test_game_without_a_pass_is_refused_by_gtp(game: str) -> None:
    with pytest.raises(subprocess.CalledProcessError) as failed:
        served(f"as-gtp random --game {game}", "name\n")
    assert "GTP is for games with a pass, like go and othello" in failed.value.stderr


def test_othello_is_served_by_gtp() -> None:
    assert served("as-gtp random --game othello", "name\n") == ["= random", ""]


def test_game_with_dice_is_refused() -> None:
    with pytest.raises(subprocess.CalledProcessError) as failed:
        served("as-uci random --game pig", "uci\n")
    assert "for games for two without chance" in failed.value.stderr


async def test_isready_is_answered_while_the_bot_ends_its_turn() -> None:
    lines = ["position startpos", "go infinite", "stop", "isready", "position startpos", "isready"]
    written = await served_lines(StoppableBot(), *lines)
    assert written == ["readyok", "bestmove e2e4", "readyok"]


async def test_stop_right_after_go_is_answered_with_the_first_report(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shell, "GRACE", 3600)  # the search never ends by itself
    bot = ServedBot("alpha_beta", print)
    await bot.start()
    try:
        for _ in range(3):
            written = await served_lines(bot, "position startpos", "go infinite", "stop")
            assert written[-1].startswith("bestmove ")
    finally:
        await bot.close()


async def answered_without_end(bot: ServedBot, *lines: str) -> str:
    """The move that `serve` writes after lines of a controller that goes on listening."""
    queue: asyncio.Queue[str | None] = asyncio.Queue()
    moves: asyncio.Queue[str] = asyncio.Queue()

    def write(text: str) -> None:
        if "bestmove" in text:
            moves.put_nowait(text.splitlines()[-1])

    for line in lines:
        queue.put_nowait(line)
    serving = asyncio.create_task(serve(bot, UciService("x", "chess"), queue, write))
    try:
        return await asyncio.wait_for(moves.get(), PATIENCE)
    finally:
        queue.put_nowait(None)
        await serving


@pytest.mark.parametrize("limit", ["wtime 900 btime 900 winc 0 binc 0", "movetime 100", "depth 2"])
async def test_ponderhit_lets_the_bot_move_in_its_own_time(limit: str) -> None:
    bot = ServedBot("alpha_beta", print)
    await bot.start()
    try:
        lines = ["position startpos moves e2e4 e7e5", f"go ponder {limit}", "ponderhit"]
        assert (await answered_without_end(bot, *lines)).startswith("bestmove ")
    finally:
        await bot.close()


def test_ponderhit_counts_only_while_the_bot_ponders() -> None:
    service = UciService("x", "chess")
    assert service.receive("ponderhit") == []
    ask = asked(service, "position startpos", "go ponder wtime 60000 btime 60000")
    assert (ask.held, ask.hard) == (True, UNBOUNDED)
    (release,) = service.receive("ponderhit")
    assert isinstance(release, Release)
    assert 0 < release.hard < 60_000 * MS
    assert service.receive("ponderhit") == []
    service.answered(Answer("e2e4", MS))
    assert service.receive("ponderhit") == []


def test_uci_option_of_two_kinds_has_a_default() -> None:
    service = UciService("x", "chess", [("book", "bool", ""), ("depth", "int", "")])
    lines = said(service.receive("uci")).splitlines()
    assert "option name book type string default <empty>" in lines
    assert "option name depth type string default <empty>" in lines
