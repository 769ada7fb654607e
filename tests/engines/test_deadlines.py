"""Deadlines hold whatever an engine writes, and preparation is no thinking time."""

from __future__ import annotations

import select
import time
from pathlib import Path
from select import poll

import pytest
from tests.bots.conftest import ManualClock
from tests.engines.conftest import ScriptedEngine, first_turn
from tests.engines.test_bad_engines import GTP, UCI, XBOARD
from tests.harness.clocks import SECOND, AheadClock
from tests.harness.patience import PATIENCE
from tests.harness.supervised_bot import supervised

from plyhouse.bots.api import Turn, TurnOver
from plyhouse.bots.engines import engine_bot
from plyhouse.bots.engines.engine_bot import EngineBot
from plyhouse.bots.engines.engine_process import EngineProcess, Wait, find_program
from plyhouse.bots.engines.errors import EngineError
from plyhouse.bots.engines.gnubg_bot import GnubgBot
from plyhouse.bots.engines.gtp_bot import GtpBot
from plyhouse.bots.engines.uci_bot import UciBot
from plyhouse.bots.engines.xboard_bot import XboardBot
from plyhouse.bots.process.messages import Chosen, Failed

GNUBG = """
if line == "show version": print("GNU Backgammon 1.07.001 20230103")
if line == "exit": break
"""

pytestmark = pytest.mark.usefixtures("unwatched")


def flood(line: str) -> str:
    """Code that writes a line for ever."""
    return f"\n    while True: sys.stdout.write({line + chr(10)!r} * 500)\n"


def best_of(bot: EngineBot, turn: Turn) -> str:
    """The move of a bot, or why it has none."""
    try:
        return turn.text_of(bot.choose(turn))[0]
    except EngineError as error:
        return str(error)


@pytest.mark.parametrize(
    ("kind", "code", "begin", "game", "lines"),
    [
        (UciBot, UCI, "line.startswith('go')", "chess", "info pv e2e4 e7e5|info depth 9|y"),
        (UciBot, UCI, "line.startswith('position')", "chess", "bestmove a2a4|"),
        (XboardBot, XBOARD, "line == 'go'", "chess", "9 31 1 42 e2e4 e7e5|"),
        (XboardBot, XBOARD, "line == 'force'", "chess", "move a2a4|pong 0"),
        (GtpBot, GTP, "'genmove' in line", "go(size=5)", "= 3|=1|y|"),
        (GtpBot, GTP, "'boardsize' in line", "go(size=5)", "=1 x|"),
        (GnubgBot, GNUBG, "line == 'hint 1'", "backgammon", "    2. Cubeful 0-ply  24/20  Eq.: 0"),
        (GnubgBot, GNUBG, "line == 'new match 1'", "backgammon", "y"),
    ],
)
def test_flood_of_lines_ends_with_the_turn(
    scripted_engine: ScriptedEngine,
    kind: type[EngineBot],
    code: str,
    begin: str,
    game: str,
    lines: str,
) -> None:
    for line in lines.split("|"):
        bot = kind(engine=scripted_engine(f"if {begin}:{flood(line)}{code}"))
        process = bot.running(bot.kind).process
        answer = best_of(bot, first_turn(game, seconds=0.15))
        words = ("did not answer", "refuses", "answered with more than")
        assert answer == "e2e4" or any(each in answer for each in words), answer
        assert not process.running
        EngineBot.unload()


@pytest.mark.parametrize("kind", [UciBot, XboardBot, GtpBot, GnubgBot])
def test_flood_of_lines_ends_with_the_time_to_start(
    kind: type[EngineBot], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, read = [], EngineProcess._read

    def noted(self: EngineProcess) -> None:
        read(self)
        begun.append(time.monotonic_ns())

    def since_the_first_line() -> int:
        return time.monotonic_ns() - begun[0] if begun else 0

    monkeypatch.setattr(EngineProcess, "_read", noted)
    program = find_program("yes yyyyyyyy", kind.kind.protocol)
    with pytest.raises(EngineError, match=r"did not answer '.*' within 0.1 s. It wrote 'yyy"):
        kind.kind(program, [], 0.1, since_the_first_line)


def test_engine_that_floods_until_it_is_told_to_stop_moves(
    scripted_engine: ScriptedEngine, clock: AheadClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it has found last counts, though nobody can read all of it in time."""
    for reserve in ("RESERVE", "SILENT_RESERVE"):  # a quarter of the time at most
        monkeypatch.setattr(engine_bot, reserve, 100_000)
    code = f"""{UCI}
if line.startswith("go"):
    import threading
    told = threading.Event()
    def think():
        while not told.is_set(): sys.stdout.write("info depth 1 score cp 1 pv e2e4 e7e5\\n" * 90)
        print("info depth 7 score cp 9 pv g1f3 e7e5\\nbestmove g1f3", flush=True)
    thinking = threading.Thread(target=think)
    thinking.start()
if line == "stop":
    told.set()
    thinking.join()
"""
    bot = UciBot(engine=scripted_engine(code))
    turn = first_turn("chess", clock=clock)
    turn._on_report = lambda text: clock.advance(0.8 * PATIENCE) if text == "e2e4" else None
    assert best_of(bot, turn) == "g1f3"
    assert turn.said is not None
    assert turn.said["depth"] == 7
    assert bot.running(bot.kind).process.running


def test_lines_written_before_the_deadline_are_read_after_it(
    scripted_engine: ScriptedEngine,
) -> None:
    now = 0
    process = EngineProcess(find_program(scripted_engine("print(line)"), "uci"), lambda: now)
    process.send("one", "two")
    for wanted in ("one", "two"):
        while not process.has_more():
            pass
        assert process.receive(Wait(0)) == wanted
    now = 10**9
    assert process.receive(Wait(0)) is None
    process.kill()


def test_turn_that_ends_during_a_flood_is_over(scripted_engine: ScriptedEngine) -> None:
    bot = UciBot(engine=scripted_engine(f"if line[:2] == 'go':{flood('info pv e2e4')}{UCI}"))
    turn = first_turn("chess", seconds=600)
    turn._on_report = lambda _: turn.end()
    with pytest.raises(TurnOver):
        bot.choose(turn)


# Preparation


def test_start_timeout_is_an_option(scripted_engine: ScriptedEngine) -> None:
    path = scripted_engine(f"if line == 'isready': time.sleep(60)\n{UCI}")
    with pytest.raises(EngineError, match=r"within 0\.1 s.*give it more time with start_timeout"):
        UciBot(engine=path, start_timeout=0.1)
    for wrong in (0.0, -1.0, 601.0):
        with pytest.raises(EngineError, match=r"at most 600 seconds"):
            UciBot(engine=path, start_timeout=wrong)


@pytest.mark.parametrize(
    ("bot", "code", "slow", "game", "move"),
    [
        ("uci", f"{UCI}if line[:2] == 'go': print('bestmove e2e4')", "ucinewgame", "chess", "e2e4"),
        ("xboard", f"{XBOARD}if line == 'go': print('move e2e4')", "new", "chess", "e2e4"),
        ("gtp", f"{GTP}else: print(f'={{number}} C3\\n')", "boardsize", "go(size=5)", "C3"),
    ],
)
async def test_engine_prepares_before_its_clock_runs(
    scripted_engine: ScriptedEngine, tmp_path: Path, bot: str, code: str, slow: str, game: str,
    move: str,
) -> None:  # fmt: skip
    """The file tells how many matches it has been prepared for."""
    note = f"open({str(tmp_path / 'n')!r}, 'a').write('x')"
    path = scripted_engine(f"if {slow!r} in line.split()[:2]: {note}\n{code}")
    async with supervised(f'{bot}(engine="{path}")', ManualClock()) as rig:
        for number in (1, 2):
            rig.begin(f"m{number}", game=game)
            await rig.supervisor.settled(f"m{number}")
            assert (tmp_path / "n").read_text("utf-8") == "x" * number
            answer = await rig.ask(f"m{number}")
            assert isinstance(answer, Chosen)
            assert answer.action == move
            rig.supervisor.end(f"m{number}", None)
        assert (tmp_path / "n").read_text("utf-8") == "xx"


async def test_failure_to_prepare_is_reported_in_the_first_turn(
    scripted_engine: ScriptedEngine,
) -> None:
    async with supervised(f'uci(engine="{scripted_engine(UCI)}")', ManualClock()) as rig:
        rig.begin(game="breakthrough")
        await rig.supervisor.settled("m1")
        failed = await rig.ask()
    assert isinstance(failed, Failed)
    assert failed.error.startswith("Scripted does not play breakthrough")


# Leftovers


GO = "if line.startswith('go'): sys.stdout.write"


@pytest.mark.parametrize(
    ("kind", "code", "game", "move"),
    [
        (UciBot, f"{UCI}{GO}('bestmove e2e4\\nbestmove a2a4\\n')", "chess", "e2e4"),
        (XboardBot, f"{XBOARD}{GO}('move e2e4\\nmove a2a4\\n')", "chess", "e2e4"),
        (
            XboardBot,
            f"{XBOARD.replace('ping=1', 'ping=0')}{GO}('move e2e4\\nmove a2a4\\n')",
            "chess",
            "e2e4",
        ),
        (GtpBot, f"{GTP}else: print(f'={{number}} C3\\n\\n={{number}} A1\\n')", "go", "C3"),
        (GtpBot, f"{GTP}else: sys.stdout.write('= C3\\n\\n= A1\\n\\n')", "go", "C3"),
    ],
)
def test_second_answer_is_dropped(
    scripted_engine: ScriptedEngine, kind: type[EngineBot], code: str, game: str, move: str
) -> None:
    bot = kind(engine=scripted_engine(code))
    for _ in range(3):
        assert best_of(bot, first_turn(game)) == move


UNREAD = "while line[:1] == '~': time.sleep(1)\n"
"""Code that reads no further line after one that begins with ~."""


def filled(bot: EngineBot) -> EngineProcess:
    """Fill the pipe to a bot's engine, and more, so that nothing else can be written at once."""
    process = bot.running(bot.kind).process
    process.send("~" * 1_000_000)
    return process


@pytest.mark.parametrize(
    ("kind", "code", "game"),
    [
        (UciBot, UCI, "chess"),
        (XboardBot, XBOARD, "chess"),
        (GtpBot, GTP, "go(size=5)"),
        (GnubgBot, GNUBG, "backgammon"),
    ],
)
def test_engine_that_never_reads_ends_with_the_turn(
    scripted_engine: ScriptedEngine, kind: type[EngineBot], code: str, game: str
) -> None:
    bot = kind(engine=scripted_engine(f"{UNREAD}{code}"))
    process = filled(bot)
    with pytest.raises(EngineError, match="did not answer"):
        bot.choose(first_turn(game, seconds=0.15))
    assert not process.running


def test_engine_that_reads_late_gets_every_line(scripted_engine: ScriptedEngine) -> None:
    code = "if line == 'first': time.sleep(0.1)\nprint(len(line))"
    process = EngineProcess(find_program(scripted_engine(code), "uci"))
    process.send("first", *["x" * 50_000] * 20, "last")
    wait = Wait(time.monotonic_ns() + 20 * SECOND)
    assert [process.receive(wait) for _ in range(22)] == ["5", *["50000"] * 20, "4"]
    process.close()


def test_engine_that_leaves_too_much_unread_is_ended(scripted_engine: ScriptedEngine) -> None:
    process = EngineProcess(find_program(scripted_engine(UNREAD), "uci"))
    with pytest.raises(EngineError, match=r"does not read its input: \d+ bytes wait"):
        process.send(*["~" * 100_000] * 1_000)
    assert not process.running


def test_engine_that_never_reads_is_closed(scripted_engine: ScriptedEngine) -> None:
    process = EngineProcess(find_program(scripted_engine(UNREAD), "uci"))
    process.send("~" * 1_000_000)
    process.close("quit")
    assert not process.running


class LateOutput:
    """A poll that misses output once: the engine wrote and ended while the kernel looked."""

    missed = False

    def __init__(self) -> None:
        self._poll = poll()
        self.register = self._poll.register

    def poll(self, timeout: int) -> list[tuple[int, int]]:
        found = self._poll.poll(timeout)
        if len(found) > 1 and not LateOutput.missed:
            LateOutput.missed = True
            return [each for each in found if not each[1] & select.POLLIN]
        return found


LAST_WORDS = """
print('answer', flush=True)
while not os.path.exists('{sent}'): time.sleep(0.001)
os.close(0)
os._exit(0)
"""
"""It answers the first line, and ends once it has been sent all that it can be sent."""


def test_last_words_are_read_of_an_engine_that_ends_while_it_is_looked_at(
    scripted_engine: ScriptedEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(select, "poll", LateOutput)
    sent = tmp_path / "sent"
    process = EngineProcess(find_program(scripted_engine(LAST_WORDS.format(sent=sent)), "uci"))
    process.send("go", *["x" * 50_000] * 20)
    sent.touch()
    while process.running:
        time.sleep(0.001)
    assert process.receive(Wait(time.monotonic_ns() + 20 * SECOND)) == "answer"
    assert LateOutput.missed
    with pytest.raises(EngineError, match="ended with exit code 0 after it wrote 'answer'"):
        process.receive(Wait(time.monotonic_ns() + 20 * SECOND))


def test_last_words_of_an_engine_that_ended_are_read(
    scripted_engine: ScriptedEngine, tmp_path: Path
) -> None:
    """A program that answers and ends leaves its answer, though it did not read everything."""
    sent = tmp_path / "sent"
    process = EngineProcess(find_program(scripted_engine(LAST_WORDS.format(sent=sent)), "uci"))
    process.send("go", *["x" * 50_000] * 20)
    sent.touch()
    assert process.receive(Wait(time.monotonic_ns() + 20 * SECOND)) == "answer"
    with pytest.raises(EngineError, match="ended with exit code 0 after it wrote 'answer'"):
        process.receive(Wait(time.monotonic_ns() + 20 * SECOND))
