"""Real engines: whole games by their own rules and ours, options, and legal moves compared."""

from __future__ import annotations

import os
import random
import re
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.engines.conftest import a_turn, play_alone
from tests.harness.clocks import SECOND, SlowClock
from tests.server_core.test_notations import played

from plyhouse.bots.api import TurnOver
from plyhouse.bots.engines.engine_bot import EngineBot, Thinking
from plyhouse.bots.engines.engine_process import EngineProcess, Wait, find_program
from plyhouse.bots.engines.errors import EngineError
from plyhouse.bots.engines.gnubg_bot import GnubgBot
from plyhouse.bots.engines.gtp_bot import GtpBot, GtpEngine
from plyhouse.bots.engines.uci_bot import UciBot
from plyhouse.bots.engines.xboard_bot import XboardBot
from plyhouse.games import get_game
from plyhouse.games.base import CHANCE, TERMINAL, Game
from plyhouse.protocol.messages import Event
from plyhouse.server.results.notations import notation

Have = Callable[[str], str]

FOOLS_MATE = "rnbqkbnr/pppp1ppp/8/4p3/6P1/5P2/PPPPP2P/RNBQKBNR b KQkq g3 0 2"


@pytest.mark.parametrize(
    ("bot", "name"),
    [
        (UciBot, "stockfish"),
        (UciBot, "fairy-stockfish"),
        (UciBot, "gnuchess"),
        (XboardBot, "fairy-stockfish"),
        (XboardBot, "phalanx"),
    ],
)
def test_engine_finds_mate_in_one(
    bot: type[EngineBot], name: str, engine: Have, slow_clock: SlowClock
) -> None:
    spec = f'chess(fen="{FOOLS_MATE}")'
    player = bot(engine=engine(name))
    actions, state = play_alone(player, spec, 2, seconds=1.2, clock=slow_clock)
    assert actions == ["d8h4"]
    assert state.to_move == TERMINAL


@pytest.mark.parametrize(
    ("bot", "name"),
    [(UciBot, "stockfish"), (XboardBot, "fairy-stockfish"), (XboardBot, "phalanx")],
)
def test_engine_plays_chess_from_move_to_move(
    bot: type[EngineBot], name: str, engine: Have, slow_clock: SlowClock
) -> None:
    player = bot(engine=engine(name))
    actions, _ = play_alone(player, "chess", 8, 1, "total:2+0.01", slow_clock)
    assert len(actions) == 8


def play_turn_too_late(
    bot: EngineBot, game: Game, clock: SlowClock, monkeypatch: pytest.MonkeyPatch
) -> tuple[Any, list[Event]]:
    """Let the first turn end as the engine answers, then play another action and its answer."""
    state = game.initial_state()
    turn = a_turn(game, state, [], 5, "move:5", clock)
    answer = Thinking.answer

    def answer_late(
        self: Thinking, process: Any, receive: Any, decide: Callable[[Any], Any], **more: Any
    ) -> Any:
        def decide_late(message: Any) -> Any:
            action = decide(message)
            if action is not None:
                turn.end()
            return action

        return answer(self, process, receive, decide_late, **more)

    with monkeypatch.context() as patch:
        patch.setattr(Thinking, "answer", answer_late)
        with pytest.raises(TurnOver):
            bot.choose(turn)
    events = []
    for ply in range(2):
        action = state.actions()[ply]
        events.append(Event(ply, state.to_move, game.format(state, action)))
        state = state.after(action)
    return state, events


@pytest.mark.parametrize(
    ("bot", "name"),
    [(UciBot, "stockfish"), (XboardBot, "fairy-stockfish"), (XboardBot, "phalanx")],
)
def test_engine_plays_on_after_another_move_was_played_for_it(
    bot: type[EngineBot],
    name: str,
    engine: Have,
    slow_clock: SlowClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    player, game = bot(engine=engine(name)), get_game("chess")
    state, events = play_turn_too_late(player, game, slow_clock, monkeypatch)
    turn = a_turn(game, state, events, 1, "move:1", slow_clock)
    assert player.choose(turn) in state.actions()


def test_gnu_go_knows_the_board_after_another_move_was_played_for_it(
    engine: Have, slow_clock: SlowClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    player, game = GtpBot(engine=f"{engine('gnugo')} --level 1"), get_game("go(size=5)")
    state, events = play_turn_too_late(player, game, slow_clock, monkeypatch)
    turn = a_turn(game, state, events, 5, "move:5", slow_clock)
    chosen = game.format(state, player.choose(turn))
    stones = player.running(GtpEngine).ask(None, "list_stones", "black").split()
    assert set(stones) == {events[0].action, chosen}


def test_engine_castles_in_chess960(engine: Have, slow_clock: SlowClock) -> None:
    fen = "4k3/8/8/8/8/8/PPPPPPPP/1RK4R w HB - 0 1"
    bot = UciBot(engine=engine("stockfish"))
    game = get_game(f'chess(fen="{fen}")')
    assert "c1h1" in {game.format(game.initial_state(), a) for a in game.initial_state().actions()}
    actions, _ = play_alone(bot, game.spec, 6, 1, "total:2", slow_clock)
    assert len(actions) == 6


def test_skill_level_of_stockfish_is_set(engine: Have) -> None:
    UciBot(engine=engine("stockfish"), options="Skill Level=3; Hash=1; Clear Hash")
    with pytest.raises(EngineError, match="takes a whole number from 0 to 20 as Skill Level"):
        UciBot(engine=engine("stockfish"), options="Skill Level=21")


def legal_moves(process: EngineProcess, moves: list[str]) -> set[str]:
    """The legal moves of Fairy-Stockfish after ``moves``, as its perft lists them."""
    process.send(f"position startpos moves {' '.join(moves)}", "go perft 1")
    found: set[str] = set()
    wait = Wait(time.monotonic_ns() + 20 * SECOND)
    while (line := process.receive(wait)) is not None:
        if line.startswith("Nodes searched"):
            return found
        move, colon, _ = line.partition(":")
        if colon and " " not in move:
            found.add(move)
    raise AssertionError("no answer")


@pytest.mark.parametrize("spec", ["chess", "breakthrough"])
def test_legal_moves_are_those_of_fairy_stockfish(spec: str, engine: Have) -> None:
    process = EngineProcess(find_program(engine("fairy-stockfish"), "uci"))
    process.send("uci", f"setoption name UCI_Variant value {spec}")
    game = get_game(spec)
    rng = random.Random(11)
    for _ in range(4):
        state, moves = game.initial_state(), list[str]()
        while state.to_move != TERMINAL and len(moves) < 60:
            ours = {game.format(state, action) for action in state.actions()}
            assert ours == legal_moves(process, moves), moves
            moves.append(rng.choice(sorted(ours)))
            state = state.after(game.parse(state, moves[-1]))
    process.close("quit")


@pytest.mark.parametrize(("bot", "plies"), [(UciBot, 200), (XboardBot, 6)])
def test_fairy_stockfish_plays_breakthrough(
    bot: type[EngineBot], plies: int, engine: Have, slow_clock: SlowClock
) -> None:
    player = bot(engine=engine("fairy-stockfish"))
    assert list(player.claims()) == ["chess", "breakthrough"]
    actions, state = play_alone(player, "breakthrough", plies, 1, "total:2", slow_clock)
    assert state.to_move == TERMINAL or len(actions) == plies


@pytest.mark.parametrize("spec", ["go(size=5)", "go(size=7, komi=0.5)"])
def test_gnu_go_plays_to_the_end(spec: str, engine: Have, slow_clock: SlowClock) -> None:
    bot = GtpBot(engine=f"{engine('gnugo')} --level 1 --seed 1 --never-resign", options="level 1")
    actions, state = play_alone(bot, spec, 400, 5, "total:5", slow_clock)
    assert actions[-2:] == ["pass", "pass"]
    assert state.to_move == TERMINAL


def test_gnu_go_refuses_a_board_that_is_too_large(engine: Have) -> None:
    bot = GtpBot(engine=engine("gnugo"))
    with pytest.raises(EngineError, match=r"GNU Go refuses 'boardsize 99'.*Check its options"):
        bot.running(bot.kind).ask(None, "boardsize", "99")


@pytest.mark.parametrize("points", [False, True])
def test_gnubg_plays_to_the_end(points: bool, engine: Have, slow_clock: SlowClock) -> None:
    engine("gnubg")
    bot = GnubgBot(options="plies=0", points=points)
    _, state = play_alone(bot, "backgammon", 500, clock=slow_clock)
    assert state.to_move == TERMINAL


def test_gnubg_leaves_the_home_of_the_user_alone(
    engine: Have, tmp_path: Path, slow_clock: SlowClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine("gnubg")
    home, temporary = tmp_path / "home", tmp_path / "temporary"
    home.mkdir()
    temporary.mkdir()
    history = home / ".history"
    history.write_text("my own history\n", "utf-8")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    play_alone(GnubgBot(options="plies=0"), "backgammon", 2, clock=slow_clock)
    EngineBot.unload()
    assert history.read_text("utf-8") == "my own history\n"
    assert list(home.iterdir()) == [history]
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("seed", [0, 1, 5])
def test_gnubg_reads_our_match_files_and_counts_gammons(
    seed: int, engine: Have, tmp_path: Path
) -> None:
    record = played("backgammon", seed)
    text = notation(record, "mat", "Cup")
    assert text is not None
    (tmp_path / "m.mat").write_text(text, "utf-8")
    commands = (
        f'import mat "{tmp_path}/m.mat"\nshow score\nexport match mat "{tmp_path}/back.mat"\n'
    )
    program = find_program(engine("gnubg"), "gnubg").command
    done = subprocess.run(
        program,
        input=commands,
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"HOME": str(tmp_path)},
    )
    assert record.outcome is not None
    one, other = [max(0, round(points)) for points in record.outcome.returns]
    assert f"ann/x {one}, bob/y {other} (match to 3 points)" in done.stdout
    turns = r"\d\d:"
    back = (tmp_path / "back.mat").read_text("utf-8")
    assert re.findall(turns, back) == re.findall(turns, text)


def test_gnubg_finds_its_turn_in_any_position(engine: Have, slow_clock: SlowClock) -> None:
    """Random positions have checkers on the bar, borne off, and doubles."""
    engine("gnubg")
    bot = GnubgBot(options="plies=0")
    game = get_game("backgammon")
    rng = random.Random(5)
    asked = 0
    for seed in range(4):
        state = game.initial_state()
        while state.to_move != TERMINAL:
            if state.to_move == CHANCE:
                state = state.after(rng.choice(state.chance_outcomes())[0])
                continue
            if rng.random() < 0.4:
                action = bot.choose(a_turn(game, state, [], 5, "move:5", slow_clock))
                assert action in state.actions(), (seed, game.describe(state))
                asked += 1
            state = state.after(rng.choice(state.actions()))
    assert asked > 50
