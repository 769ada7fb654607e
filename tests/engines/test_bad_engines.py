"""Engines that are missing, hang, die or write nonsense: what the author reads, and no zombies."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from tests.engines.conftest import ScriptedEngine, first_turn
from tests.harness.clocks import AheadClock
from tests.harness.patience import PATIENCE

from plyhouse.bots.api import Resignation, TurnOver
from plyhouse.bots.engines import engine_bot, engine_process
from plyhouse.bots.engines.engine_bot import EngineBot
from plyhouse.bots.engines.engine_process import EngineProcess, Wait
from plyhouse.bots.engines.errors import EngineError
from plyhouse.bots.engines.gtp_bot import GtpBot
from plyhouse.bots.engines.uci_bot import UciBot
from plyhouse.bots.engines.xboard_bot import XboardBot
from plyhouse.bots.loading import BotLoadError, bot_options, load_bot

UCI = """
if line == "uci": print("id name Scripted\\noption name Level type spin min 1 max 9\\nuciok")
if line == "isready": print("readyok")
if line == "quit": break
"""
XBOARD = """
if line == "protover 2": print('feature myname="Scripted" ping=1 usermove=1 setboard=1 done=1')
if line.startswith("ping"): print("pong", line.split()[1])
if line == "quit": break
"""
GTP = """
number, command = (line.split() + [""])[:2]
if command == "list_commands": print(f"={number} boardsize\\nclear_board\\nplay\\ngenmove\\n")
elif command == "quit": break
elif command != "genmove": print(f"={number}\\n")
"""


def test_program_that_shares_the_name_of_an_engine_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Debian's ``pachi`` runs and jumps; it knows nothing of go."""
    jumping, engine = tmp_path / "games" / "pachi", tmp_path / "bin" / "pachi"
    for each in (jumping, engine):
        each.parent.mkdir()
        each.touch(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(jumping.parent), str(engine.parent)]))
    known = engine_process.NAMESAKES | {str(jumping)}
    monkeypatch.setattr(engine_process, "NAMESAKES", known)
    assert engine_process.find_program("pachi", "GTP").command[0] == str(engine)
    engine.unlink()
    with pytest.raises(EngineError, match="There is no program 'pachi'"):
        engine_process.find_program("pachi", "GTP")


def test_missing_engine_names_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(engine_process, "GAMES_FOLDERS", ())
    with pytest.raises(EngineError, match=r"There is no program 'stockfish'.* apt-get install st"):
        UciBot()


def test_engine_that_is_not_executable_names_the_fix(tmp_path: Path) -> None:
    file = tmp_path / "engine"
    file.write_text("#!/bin/sh\n", "utf-8")
    with pytest.raises(EngineError, match=f"{file} is not executable: run chmod"):
        UciBot(engine=str(file))


def test_file_that_is_no_program_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "engine"
    file.write_bytes(b"\x7fELF nonsense")
    file.chmod(0o755)
    with pytest.raises(EngineError, match="cannot be started"):
        UciBot(engine=str(file))


def test_program_that_ends_at_once_is_reported() -> None:
    with pytest.raises(EngineError, match="true ended with exit code 0"):
        UciBot(engine="true")


@pytest.mark.parametrize(
    ("spec", "example"),
    [
        ("gnubg(plies=0)", "plies=2; threads=1"),
        ("gtp(level=3)", "level 3"),
        ("uci(hash=3)", "Skill Level=3; Hash=16"),
        ("xboard(hash=3)", "Hash=16"),
    ],
)
def test_engine_option_outside_of_options_names_the_fix(spec: str, example: str) -> None:
    message = f'has no option .*Write options of the engine like options="{example}"'
    with pytest.raises(BotLoadError, match=message):
        bot_options(spec, load_bot(spec))


def test_engine_of_unknown_option_is_refused(scripted_engine: ScriptedEngine) -> None:
    with pytest.raises(EngineError, match="Scripted has no option 'Levle': did you mean Level"):
        UciBot(engine=scripted_engine(UCI), options="Levle=3")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("bestmove (none)", "Scripted says that it has no move, but b1c3 is legal"),
        ("bestmove", "'bestmove', which names no move"),
    ],
)
def test_engine_that_answers_nonsense_is_reported(
    scripted_engine: ScriptedEngine, answer: str, message: str
) -> None:
    bot = UciBot(engine=scripted_engine(f"{UCI}if line.startswith('go'): print({answer!r})"))
    with pytest.raises(EngineError, match=message):
        bot.choose(first_turn("chess"))


@pytest.mark.parametrize(
    ("kind", "code", "game", "move"),
    [
        (UciBot, f"{UCI}if line[:2] == 'go': print('bestmove MOVE')", "chess", "e2e5"),
        (UciBot, f"{UCI}if line[:2] == 'go': print('bestmove MOVE')", "chess", "Nonsense"),
        (XboardBot, f"{XBOARD}if line == 'go': print('move MOVE')", "chess", "e2e5"),
        (GtpBot, f"{GTP}else: print(f'={{number}} MOVE\\n')", "go", "Z9"),
    ],
)
def test_illegal_move_of_an_engine_goes_to_the_referee(
    scripted_engine: ScriptedEngine,
    capsys: pytest.CaptureFixture[str],
    kind: type[EngineBot],
    code: str,
    game: str,
    move: str,
) -> None:
    bot = kind(engine=scripted_engine(code.replace("MOVE", move)))
    turn = first_turn(game)
    for _ in range(2):  # the rule may be to try again
        assert turn.text_of(bot.choose(turn))[0] == move
    assert f"answered '{move}', which is not legal here" in capsys.readouterr().err


@pytest.mark.parametrize(
    "answer",
    [
        f"info string {'x' * 200_000}",
        f"info depth 40 score cp 3 nodes 5 pv e2e4{' g1f3 g8f6' * 15_000}",
        "\\x00\\x1b[31m",
        "bestmov",
    ],
)
def test_line_that_is_no_answer_is_skipped(scripted_engine: ScriptedEngine, answer: str) -> None:
    code = f"{UCI}if line.startswith('go'): print('{answer}\\nbestmove e2e4{' ' * 70_000}')"
    turn = first_turn("chess")
    assert turn.text_of(UciBot(engine=scripted_engine(code)).choose(turn)) == ("e2e4", "")


def test_last_line_needs_no_end(scripted_engine: ScriptedEngine) -> None:
    code = f"{UCI}if line.startswith('go'): print('bestmove e2e4', end=''); break"
    turn = first_turn("chess")
    assert turn.text_of(UciBot(engine=scripted_engine(code)).choose(turn)) == ("e2e4", "")


def test_engine_that_dies_in_its_turn_is_reported_and_replaced(
    scripted_engine: ScriptedEngine, tmp_path: Path
) -> None:
    code = f"""{UCI}
if line.startswith("go"):
    if not os.path.exists({str(tmp_path / "died")!r}):
        open({str(tmp_path / "died")!r}, "w")
        os.kill(os.getpid(), signal.SIGSEGV)
    print("bestmove e2e4")
"""
    bot = UciBot(engine=scripted_engine(code))
    turn = first_turn("chess")
    with pytest.raises(EngineError, match="scripted ended with signal SIGSEGV"):
        bot.choose(turn)
    assert turn.text_of(bot.choose(turn)) == ("e2e4", "")


@pytest.mark.usefixtures("unwatched")
def test_hung_engine_is_killed_before_the_flag_falls(scripted_engine: ScriptedEngine) -> None:
    bot = UciBot(engine=scripted_engine(f"{UCI}if line.startswith('go'): time.sleep(600)"))
    pid = bot.running(bot.kind).process.pid
    turn = first_turn("chess", seconds=0.3)
    with pytest.raises(EngineError, match=r"scripted did not answer in its 0\.\d+ s and was kill"):
        bot.choose(turn)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_late_news_of_the_flag_is_waited_for(scripted_engine: ScriptedEngine) -> None:
    """Over a bad network it comes seconds late: the bot has not crashed."""
    bot = UciBot(engine=scripted_engine(f"{UCI}if line.startswith('go'): time.sleep(600)"))
    turn = first_turn("chess", seconds=0.3)
    late = threading.Timer(2.0, turn.end)
    late.start()
    with pytest.raises(TurnOver):
        bot.choose(turn)
    late.join()


def test_hung_engine_plays_the_best_it_has_reported(
    scripted_engine: ScriptedEngine, clock: AheadClock
) -> None:
    code = f"""{UCI}
if line.startswith("go"):
    print("info depth 1 score cp 20 nodes 9 pv d2d4 d7d5", flush=True)
    time.sleep(600)
"""
    bot = UciBot(engine=scripted_engine(code))
    turn = first_turn("chess", clock=clock)
    turn._on_report = lambda _: clock.advance(PATIENCE)
    assert turn.text_of(bot.choose(turn)) == ("d2d4", "")
    assert turn.said is not None
    assert turn.said["pv"] == ["d2d4", "d7d5"]


def test_slow_engine_is_told_to_stop(
    scripted_engine: ScriptedEngine, clock: AheadClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_bot, "SILENT_RESERVE", 100_000)  # a quarter of the time at most
    code = f"""{UCI}
if line.startswith("go"): print("info string I think")
if line == "stop": print("bestmove g1f3")
"""
    bot = UciBot(engine=scripted_engine(code))
    process = bot.running(bot.kind).process
    receive = process.receive

    def receive_and_wait(wait: Wait) -> str | None:
        line = receive(wait)
        if line == "info string I think":
            clock.advance(0.8 * PATIENCE)
        return line

    monkeypatch.setattr(process, "receive", receive_and_wait)
    turn = first_turn("chess", clock=clock)
    assert turn.text_of(bot.choose(turn)) == ("g1f3", "")


def test_turn_that_is_over_ends_the_wait(scripted_engine: ScriptedEngine) -> None:
    bot = UciBot(engine=scripted_engine(UCI))
    turn = first_turn("chess", seconds=600)
    turn.end()
    with pytest.raises(TurnOver):
        bot.choose(turn)


def test_game_that_an_engine_lacks_is_named(scripted_engine: ScriptedEngine) -> None:
    bot = UciBot(engine=scripted_engine(UCI))
    assert list(bot.claims()) == ["chess"]
    with pytest.raises(EngineError, match=r"Scripted does not play breakthrough.*fairy-stockfish"):
        bot.choose(first_turn("breakthrough"))
    with pytest.raises(EngineError, match=r"Scripted cannot play breakthrough\(size=5\)"):
        UciBot(engine=bot.program.command[0]).choose(first_turn("breakthrough(size=5)"))
    with pytest.raises(EngineError, match="Scripted does not play Chess960"):
        UciBot(engine=bot.program.command[0]).choose(first_turn("chess(start=1)"))
    with pytest.raises(EngineError, match=r"usual names only, and not those of chess\(renamed=7\)"):
        UciBot(engine=bot.program.command[0]).choose(first_turn("chess(renamed=7)"))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("={number}\\n", "without a move"),
        ("?{number} cannot move\\n", "refuses to move: cannot move"),
        ("=99 D4\\n", "answered command 99"),
    ],
)
def test_gtp_engine_that_answers_nonsense_is_reported(
    scripted_engine: ScriptedEngine, answer: str, message: str
) -> None:
    bot = GtpBot(engine=scripted_engine(f"{GTP}else: print(f'{answer}')"))
    with pytest.raises(EngineError, match=message):
        bot.choose(first_turn("go"))


def test_gtp_engine_may_resign(scripted_engine: ScriptedEngine) -> None:
    bot = GtpBot(engine=scripted_engine(f"{GTP}else: print(f'={{number}} resign\\n')"))
    with pytest.raises(Resignation):
        bot.choose(first_turn("go"))


def test_gtp_command_that_the_engine_lacks_is_refused(scripted_engine: ScriptedEngine) -> None:
    with pytest.raises(EngineError, match="no GTP command 'level', which your option needs"):
        GtpBot(engine=scripted_engine(GTP), options="level 3")


def test_xboard_engine_that_claims_a_result_is_reported(scripted_engine: ScriptedEngine) -> None:
    code = """
if line == "protover 2": print('feature myname="Old" ping=1 usermove=1 done=1')
if line.startswith("ping"): print("pong", line.split()[1])
if line == "go": print("1/2-1/2 {Draw by agreement}")
if line == "quit": break
"""
    bot = XboardBot(engine=scripted_engine(code))
    with pytest.raises(EngineError, match=r"Old wrote '1/2-1/2 \{Draw .*' when a move"):
        bot.choose(first_turn("chess"))


@pytest.mark.parametrize("ping", [0, 1])
def test_xboard_engine_that_does_not_know_the_time_plays(
    scripted_engine: ScriptedEngine, ping: int
) -> None:
    code = f"""
if line == "protover 2": print('feature ping={ping} usermove=1 done=1')
if line.startswith("ping"): print("pong", line.split()[1])
if line.split()[0] in ("st", "time", "otim", "easy"): print("Error (unknown command):", line)
if line == "go": print("move e2e4")
if line == "quit": break
"""
    assert XboardBot(engine=scripted_engine(code)).choose(first_turn("chess")) is not None


def test_engine_is_kept_for_the_next_match(scripted_engine: ScriptedEngine) -> None:
    path = scripted_engine(UCI)
    first, second = UciBot(engine=path), UciBot(engine=path)
    assert first.running(UciBot.kind) is second.running(UciBot.kind)
    pid = first.running(UciBot.kind).process.pid
    EngineBot.unload()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_message_to_a_closed_engine_is_an_error_of_the_engine() -> None:
    process = EngineProcess(engine_process.find_program("cat", "lines"))
    process.close()
    with pytest.raises(EngineError, match="cat ended with exit code 0"):
        process.send("isready")
