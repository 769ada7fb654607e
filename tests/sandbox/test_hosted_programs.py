"""Programs in other languages run like bots of our API: a process for each match, stopped while
others are to move.

The programs are those of `examples/hosted`, each changed in one place.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.harness.cancelled_start import cancelled_start_leaves_nothing
from tests.harness.clocks import AheadClock
from tests.harness.patience import PATIENCE
from tests.harness.processor_time import pass_time, processor_time_of, stands_still
from tests.sandbox.conftest import REQUIRED, all_ended, have

from plyhouse.bots.client.channel import Channel, Connector
from plyhouse.bots.client.client import Client, ClientError
from plyhouse.bots.client.timing import REAL_CLOCK
from plyhouse.bots.hosting.build import Built, build
from plyhouse.bots.hosting.hosted_session import hosted_session
from plyhouse.bots.hosting.program_process import Program
from plyhouse.bots.hosting.program_session import ProgramSession
from plyhouse.bots.loading import BotLoadError
from plyhouse.bots.local_packages import read_package
from plyhouse.bots.process.author_log import AuthorLine, AuthorLog
from plyhouse.bots.process.ply_cost import CostOfPly
from plyhouse.bots.running.run_options import RunOptions, SeatResult
from plyhouse.bots.sandbox.box import Box, Cores, Tier
from plyhouse.bots.sandbox.client import ForkServerClient
from plyhouse.clients.arena.memory_server import PLAYER, connector_of, local_hub, online
from plyhouse.clients.bot_check.matches import Faults, FaultyChannel
from plyhouse.games.registry import get_game
from plyhouse.protocol.codec import MSGPACK, Frame
from plyhouse.protocol.messages import Hello, MatchMessage, Ready, Turn
from plyhouse.server.gateway.local_hub import LocalHub
from plyhouse.server.match.terms import Terms
from plyhouse.server.match.time_control import TimeControl

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "hosted"

SET_UP = {
    "c": 'if (!status || is(status, "waiting")) {',
    "javascript": 'if ((snapshot.status ?? "waiting") === "waiting") {',
}
"""Where a program sets up a match."""
BEGIN = {"c": "    setvbuf(", "javascript": "let lastId = 0;"}
"""Where it begins."""
COUNTING = {
    "c": 'static int seen; fprintf(stderr, "seen %d\\n", ++seen);',
    "javascript": "globalThis.seen = (globalThis.seen ?? 0) + 1; console.error(`seen ${seen}`);",
}
SPINNING = {
    "c": "pthread_t other; pthread_create(&other, NULL, spin, NULL);"
    ' fprintf(stderr, "pid %d\\n", getpid());',
    "javascript": 'const { Worker } = await import("node:worker_threads");'
    ' new Worker("for (;;);", { eval: true }); console.error(`pid ${process.pid}`);',
}
PLAY = "function play(match, ply, observation) {"
READY_AND_SYNC = (
    "if (globalThis.asked) return; globalThis.asked = true;"
    " const about = (type) => ({ type, id: ++lastId, match: snapshot.match });"
    ' const asks = [about("ready"), about("sync")];'
    ' process.stdout.write(asks.map((each) => JSON.stringify(each) + "\\n").join("")); return;'
)
THREADS = """
#include <pthread.h>
#include <unistd.h>
static void *spin(void *nothing) { for (;;) if (nothing) return nothing; }
"""


def program(folder: Path, language: str, *edits: tuple[str, str], top: str = "") -> Built:
    """An example with texts put in before others."""
    needed = "cc" if language == "c" else "node"
    tool = shutil.which(needed)
    if tool is None:
        if REQUIRED:
            pytest.fail(f"{needed} is required here")
        pytest.skip(f"no {needed}")
    folder.mkdir()
    shutil.copy(EXAMPLES / language / "plyhouse.toml", folder)
    name = "bot.c" if language == "c" else "bot.mjs"
    text = (EXAMPLES / language / name).read_text("utf-8")
    for place, added in edits:
        assert place in text, place
        text = text.replace(place, added + place if added.endswith("\n") else place + added, 1)
    (folder / name).write_text(top + text, "utf-8")
    if language == "c":
        subprocess.run(
            [tool, "-pthread", "-o", folder / "bot", folder / name], check=True, timeout=60
        )
        (folder / name).unlink()
    return build(read_package(folder), folder.parent / "store")


@dataclass
class House:
    """A server in memory with hosted programs and, if wanted, somebody who plays by hand."""

    hub: LocalHub
    token: str
    fork_server: ForkServerClient
    said: list[str] = field(default_factory=list)
    costs: list[CostOfPly] = field(default_factory=list)
    results: list[SeatResult] = field(default_factory=list)
    runs: list[asyncio.Task[object]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    ups: list[bool] = field(default_factory=list)
    lines: list[AuthorLine] = field(default_factory=list)

    def host(
        self, name: str, built: Built, matches: int, connector: Connector | None = None
    ) -> ProgramSession:
        options = RunOptions(
            bot=name,
            matches=matches,
            workers=matches,
            say=self.said.append,
            on_cost=self.costs.append,
            on_result=self.results.append,
            on_up=self.ups.append,
            on_line=self.lines.append,
        )
        bot_session = hosted_session(
            *(built, connector or connector_of(self.hub), self.token, options),
            fork_server=self.fork_server,
            tier=Tier.LANDLOCK,
            cores=Cores.of_this_machine(),
        )
        assert isinstance(bot_session, ProgramSession)
        self.runs.append(asyncio.create_task(bot_session.run()))
        self.names.append(name)
        return bot_session

    def by_hand(
        self,
        on_turn: Callable[[Turn], Awaitable[str]],
        before: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Somebody who sits at ``hand`` and plays what ``on_turn`` says; ready after ``before``."""

        async def play() -> None:
            client = Client(connector_of(self.hub), Hello(0, self.token, "hand", ["pig"]))
            working: set[asyncio.Task[object]] = set()
            async for message, _ in client.messages():
                if isinstance(message, MatchMessage):
                    if before is not None:
                        await before()
                    ready = message.snapshot.match
                    asking = client.request(lambda number, ready=ready: Ready(number, ready))  # type: ignore[misc]
                    working.add(asyncio.create_task(asking))
                elif isinstance(message, Turn):
                    working.add(asyncio.create_task(act(client, message)))

        async def act(client: Client, turn: Turn) -> None:
            action = await on_turn(turn)
            with suppress(ClientError):
                await client.act(turn.match, turn.ply, action)

        self.runs.append(asyncio.create_task(play()))
        self.names.append("hand")

    def check(self) -> None:
        for run in self.runs:
            if run.done():
                run.result()

    async def play(self, *, mirrored: bool = False, time_control: str = "total:60") -> None:
        """Let the first two play until the programs have played as much as they were to."""
        first, second = [
            await online(self.hub, f"{PLAYER}/{name}", self.check) for name in self.names
        ]
        terms = Terms(get_game("tic_tac_toe"), TimeControl.parse(time_control), rated=False)
        orders = [[first, second], [second, first]] if mirrored else [[first, second]]
        self.hub.live_matches.begin(terms, orders)
        hosted = [run for run, name in zip(self.runs, self.names, strict=True) if name != "hand"]
        await asyncio.wait_for(asyncio.gather(*hosted), PATIENCE)

    def told(self, start: str) -> list[str]:
        """Return the programs' output that begins with this, without their names."""
        lines = [re.sub(r"^\[\w+\] ", "", line) for line in self.said]
        return [line for line in lines if line.startswith(start)]

    async def told_number(self, start: str) -> int:
        """The number behind the first such line."""
        while not (found := self.told(start)):
            self.check()
            await asyncio.sleep(0.002)
        return int(found[0].removeprefix(start))


@asynccontextmanager
async def house(
    fork_server: ForkServerClient, illegal_rule: str = "forfeit"
) -> AsyncIterator[House]:
    async with local_hub(illegal_rule) as hub:
        made = House(hub, hub.add_player(PLAYER), fork_server)
        try:
            yield made
        finally:
            for run in made.runs:
                run.cancel()
            await asyncio.gather(*made.runs, return_exceptions=True)


async def test_both_matches_of_a_pairing_have_a_process_of_their_own(
    fork_server: ForkServerClient, tmp_path: Path
) -> None:
    await have(fork_server, Tier.LANDLOCK)
    async with house(fork_server) as made:
        for language in ("c", "javascript"):
            edit = SET_UP[language], COUNTING[language]
            made.host(language, program(tmp_path / language, language, edit), 2)
        await made.play(mirrored=True)
        assert [each.outcome.termination for each in made.results] == ["normal"] * 4
        assert made.told("seen") == ["seen 1"] * 4
        plies = sum(each.plies for each in made.results) // 2
        assert len(made.costs) == plies  # every ply of every process is accounted for
    await all_ended(fork_server)  # one may have been starting for the next match


@pytest.mark.parametrize("language", ["c", "javascript"])
async def test_a_thread_that_spins_gets_no_time_while_the_opponent_is_to_move(
    language: str, fork_server: ForkServerClient, tmp_path: Path
) -> None:
    await have(fork_server, Tier.LANDLOCK)
    edit = BEGIN[language], SPINNING[language] + "\n"
    top = THREADS if language == "c" else ""
    looks: list[tuple[int, int]] = []
    async with house(fork_server) as made:

        async def on_turn(turn: Turn) -> str:
            pid = await made.told_number("pid ")
            assert len(os.listdir(f"/proc/{pid}/task")) > 1, "its other thread is not there"
            while not stands_still(pid):  # noqa: ASYNC110 - nobody tells us
                await asyncio.sleep(0.001)
            before, end = processor_time_of(pid), time.process_time() + 0.02
            while time.process_time() < end:
                pass
            looks.append((before, processor_time_of(pid)))
            assert len(os.sched_getaffinity(pid)) == 1
            return str(turn.observation["legal"][0])

        made.by_hand(on_turn)
        made.host(language, program(tmp_path / language, language, edit, top=top), 1)
        await made.play()
        assert len(looks) >= 3
        assert all(before == after for before, after in looks)
        # It did spin when it could: the kernel's account of its plies shows it.
        assert all(cost.cpu > 0 for cost in made.costs)


async def test_a_program_that_ends_when_it_is_to_move_loses_that_match_alone(
    fork_server: ForkServerClient, tmp_path: Path
) -> None:
    await have(fork_server, Tier.LANDLOCK)
    crashing = program(
        tmp_path / "crashing",
        "javascript",
        ("function play(match, ply, observation) {", "if (ply === 2) process.exit(3);"),
    )
    async with house(fork_server) as made:
        made.host("crashing", crashing, 2)
        made.host("steady", program(tmp_path / "steady", "javascript"), 2)
        await made.play(mirrored=True)
        ended = sorted(
            (each.seat, each.outcome.termination, each.outcome.seat)
            for each in made.results
            if each.opponents == (f"{PLAYER}/steady",)
        )
        assert ended == [(0, "bot_crash", 0), (1, "normal", None)]
        assert any("exit code 3" in line for line in made.said)
        # The machine is informed at once, and the author learns the match and the ply.
        assert False in made.ups
        (told,) = {(line.match, line.ply) for line in made.lines if "exit code 3" in line.text}
        assert told[0] in {each.match for each in made.results}
        assert told[1] == 2


class Cut:
    """A connection that breaks just before the second turn of a match would be read."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._turns = 0
        self.close_code: int | None = None
        self.close_reason = ""

    def send(self, frame: Frame) -> None:
        self._channel.send(frame)

    async def recv(self) -> Frame | None:
        frame = await self._channel.recv()
        if frame is not None and isinstance(MSGPACK.decode_server(frame), Turn):
            self._turns += 1
            if self._turns == 2:
                self._channel.close()
                return None
        return frame

    def close(self, code: int = 1000, reason: str = "") -> None:
        self._channel.close(code, reason)


async def test_a_program_notices_nothing_of_a_connection_that_breaks(
    fork_server: ForkServerClient, tmp_path: Path
) -> None:
    await have(fork_server, Tier.LANDLOCK)
    # It follows the match by the events alone, and complains if one is missing or comes twice.
    following = program(
        tmp_path / "following",
        "javascript",
        (BEGIN["javascript"], "globalThis.known = 0;"),
        (
            "  const message = JSON.parse(line);",
            "for (const event of message.events ?? []) {"
            " if (event.ply !== known) console.error(`gap ${event.ply}`); globalThis.known++; }"
            " console.error(`type ${message.type}`);",
        ),
    )
    async with house(fork_server) as made:
        cuts: list[Cut] = []

        async def connect() -> Channel:
            channel = made.hub.connect()
            cuts.append(Cut(channel))
            return cuts[0] if len(cuts) == 1 else channel

        made.host("following", following, 1, connect)
        made.host("steady", program(tmp_path / "steady", "javascript"), 1)
        await made.play()
        assert len(cuts) == 2
        assert made.told("gap") == []
        assert made.told("type welcome") == ["type welcome"]
        assert made.told("type match") == ["type match"]
        assert len(made.told("type turn")) == len(made.told("type accepted")) >= 3
        assert {each.outcome.termination for each in made.results} == {"normal"}


async def test_another_process_takes_over_in_the_middle(
    fork_server: ForkServerClient, tmp_path: Path
) -> None:
    await have(fork_server, Tier.LANDLOCK)
    telling = program(
        tmp_path / "telling",
        "javascript",
        ("  const message = JSON.parse(line);", "console.error(`type ${message.type}`);"),
    )
    async with house(fork_server) as made:
        bot_sessions: list[ProgramSession] = []

        async def on_turn(turn: Turn) -> str:
            if turn.ply == 2:
                bot_sessions[0].restart_processes()
            return str(turn.observation["legal"][0])

        made.by_hand(on_turn)
        bot_sessions.append(made.host("telling", telling, 1))
        await made.play()
        assert made.told("type welcome") == ["type welcome"] * 2, "\n".join(made.said)
        assert made.told("type match") == ["type match"]  # the second found it in its welcome
        assert [each.outcome.termination for each in made.results] == ["normal"]


async def test_program_that_ends_in_its_opponents_turn_is_started_again_in_its_own(
    fork_server: ForkServerClient, tmp_path: Path
) -> None:
    await have(fork_server, Tier.LANDLOCK)
    leaving = program(tmp_path / "leaving", "javascript")
    async with house(fork_server) as made:
        bot_sessions: list[ProgramSession] = []
        starts: list[tuple[int, int]] = []

        async def on_turn(turn: Turn) -> str:
            for each in bot_sessions[0]._programs:
                os.kill(each.pid, signal.SIGKILL)
            while bot_sessions[0]._programs:  # noqa: ASYNC110 - it ends in another process
                await asyncio.sleep(0.005)
            await pass_time()
            starts.append((turn.ply, bot_sessions[0]._starts))
            return str(turn.observation["legal"][0])

        bot_sessions.append(made.host("leaving", leaving, 1))
        made.by_hand(on_turn)
        await made.play()
        assert starts == [(ply, (ply + 1) // 2) for ply, _ in starts]
        assert len(starts) >= 2
        assert [each.outcome.termination for each in made.results] == ["normal"]


async def test_turn_that_arrives_twice_leaves_the_program_running(
    fork_server: ForkServerClient, tmp_path: Path
) -> None:
    await have(fork_server, Tier.LANDLOCK)
    edit = SET_UP["javascript"], COUNTING["javascript"]
    async with house(fork_server) as made:

        async def connect() -> Channel:
            inner = await connector_of(made.hub)()
            return FaultyChannel(inner, lambda: Faults(noise=True), lambda: None)

        made.host("first", program(tmp_path / "first", "javascript", edit), 1, connect)
        made.host("second", program(tmp_path / "second", "javascript", edit), 1, connect)
        await made.play()
        assert [each.outcome.termination for each in made.results] == ["normal"] * 2
        assert made.ups == [True, True]  # a replacement would start on the clock
        assert made.told("seen") == ["seen 1"] * 2


async def test_a_refused_action_leaves_the_turn_with_the_program(
    fork_server: ForkServerClient, tmp_path: Path
) -> None:
    await have(fork_server, Tier.LANDLOCK)
    clumsy = program(
        tmp_path / "clumsy",
        "javascript",
        (BEGIN["javascript"], "let tried = 0;"),
        ("function choose(legal) {", 'if (tried++ === 0) return "nonsense";'),
    )
    async with house(fork_server, "retry") as made:
        made.host("clumsy", clumsy, 1)
        made.host("steady", program(tmp_path / "steady", "javascript"), 1)
        await made.play()
        assert {each.outcome.termination for each in made.results} == {"normal"}


@pytest.mark.parametrize(
    ("edit", "problem", "within"),
    [
        ("process.exit(4);", "ended before it said hello: exit code 4", 60.0),
        (
            "await new Promise(() => setInterval(() => {}, 1000));",
            "said no hello within 1 s; it has written nothing: end each message with a line end",
            1.0,
        ),
    ],
)
async def test_a_program_without_hello_cannot_be_loaded(
    edit: str, problem: str, within: float, fork_server: ForkServerClient, tmp_path: Path
) -> None:
    await have(fork_server, Tier.LANDLOCK)
    mute = program(tmp_path / "mute", "javascript", (BEGIN["javascript"], edit))
    options = RunOptions(bot="mute", say=lambda _: None)

    async def nowhere() -> Channel:
        raise AssertionError("it must not even connect")

    bot_session = ProgramSession(
        *(mute, nowhere, "", options),
        fork_server=fork_server,
        box=Box(tier=Tier.LANDLOCK, folder=str(mute.folder), command=mute.manifest.run),
        cores=Cores.of_this_machine(),
        hello_within=within,
    )
    with pytest.raises(BotLoadError, match=problem):
        await bot_session.run()
    assert fork_server.boxes == 0


async def test_hello_without_a_line_end_is_shown_as_the_mistake(
    fork_server: ForkServerClient, tmp_path: Path
) -> None:
    await have(fork_server, Tier.LANDLOCK)
    clock, written = AheadClock(), asyncio.Event()

    async def let_time_pass() -> None:
        await written.wait()  # its hello has been written before
        while True:  # whoever counts the time may only begin to
            clock.advance(600)
            await asyncio.sleep(0.05)

    script = """printf '{"type": "hello"}'; echo written >&2; read answer"""
    mistake = r"no hello within 600 s; it has written 17 bytes without a line end: \{.type"
    passing = asyncio.create_task(let_time_pass())
    with pytest.raises(BotLoadError, match=mistake):
        await Program.start(
            Box(tier=Tier.LANDLOCK, folder=str(tmp_path), command=("sh", "-c", script)),
            fork_server=fork_server,
            cores=Cores.of_this_machine(),
            clock=clock,
            log=AuthorLog("mute", terminal=lambda _: written.set()),
            hello_within=600,
        )
    passing.cancel()


@pytest.mark.parametrize(
    ("edit", "advice"),
    [
        ("return;", "keep to the deadline_ms of the turn"),
        (
            'process.stdout.write(JSON.stringify({ type: "act", id: 9, match })); return;',
            'bytes without a line end: {"type":"act"',
        ),
    ],
)
async def test_flag_fall_of_a_program_is_explained_in_terms_of_lines(
    edit: str, advice: str, fork_server: ForkServerClient, tmp_path: Path
) -> None:
    await have(fork_server, Tier.LANDLOCK)
    late = program(tmp_path / "late", "javascript", (PLAY, edit))
    async with house(fork_server) as made:
        made.host("late", late, 1)
        made.host("steady", program(tmp_path / "steady", "javascript"), 1)
        await made.play(time_control="total:5")
        (lost,) = [each for each in made.results if each.outcome.seat == each.seat]
        assert lost.outcome.termination == "flag_fall"
        assert advice in lost.advice
        assert bool(made.told("it has written")) == ("line end" in advice)


@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize("steps", range(4))
async def test_program_whose_start_is_cancelled_leaves_nothing(
    fork_server: ForkServerClient, tmp_path: Path, steps: int, started: bool
) -> None:
    await have(fork_server, Tier.LANDLOCK)
    await cancelled_start_leaves_nothing(
        fork_server,
        lambda cores: Program.start(
            Box(tier=Tier.LANDLOCK, folder=str(tmp_path), command=("sleep", "60")),
            fork_server=fork_server,
            cores=cores,
            clock=REAL_CLOCK,
            log=AuthorLog("sleeper"),
        ),
        steps=steps,
        started=started,
    )


async def test_a_program_cannot_have_the_time_to_set_up_while_the_opponent_is_to_move(
    fork_server: ForkServerClient, tmp_path: Path
) -> None:
    """It says that it is ready and, in the same breath, asks how the match stands: it waits."""
    await have(fork_server, Tier.LANDLOCK)
    edits = (
        (BEGIN["javascript"], SPINNING["javascript"] + "\n"),
        (SET_UP["javascript"], READY_AND_SYNC),
    )
    looks: list[tuple[int, int]] = []
    async with house(fork_server) as made:

        async def on_turn(turn: Turn) -> str:
            pid = await made.told_number("pid ")
            while not stands_still(pid):  # noqa: ASYNC110 - nobody tells us
                await asyncio.sleep(0.001)
            before, end = processor_time_of(pid), time.process_time() + 0.02
            while time.process_time() < end:
                pass
            looks.append((before, processor_time_of(pid)))
            return str(turn.observation["legal"][0])

        hosted: list[ProgramSession] = []

        async def answered() -> None:
            """The program's request is answered while the match still waits for us."""
            while not hosted[0]._asked:  # noqa: ASYNC110 - nobody tells us
                await asyncio.sleep(0)
            while hosted[0]._asked:  # noqa: ASYNC110
                await asyncio.sleep(0)

        made.by_hand(on_turn, answered)
        hosted.append(made.host("eager", program(tmp_path / "eager", "javascript", *edits), 1))
        await made.play()
        assert len(looks) >= 3
        assert all(before == after for before, after in looks)


async def test_a_program_whose_requests_are_refused_again_and_again_ends_by_itself(
    fork_server: ForkServerClient, tmp_path: Path
) -> None:
    """Its other match goes on: the server has not closed the connection that they share."""
    await have(fork_server, Tier.LANDLOCK)
    asking = (
        "function play(match, ply, observation) {",
        "if (ply === 2) { let many = ''; for (let n = 0; n < 2; n++)"
        " many += JSON.stringify({ type: 'act', id: ++lastId, match, ply: 999, action: 'x' })"
        " + '\\n';"
        " globalThis.more = () => process.stdout.write(many); more(); return; }",
    )
    again = ('    case "error":', "\n      globalThis.more?.();")
    rude = program(tmp_path / "rude", "javascript", asking, again)
    async with house(fork_server) as made:
        made.host("rude", rude, 2)
        made.host("steady", program(tmp_path / "steady", "javascript"), 2)
        await made.play(mirrored=True)
        ended = sorted(
            (each.seat, each.outcome.termination)
            for each in made.results
            if each.opponents == (f"{PLAYER}/steady",)
        )
        assert ended == [(0, "bot_crash"), (1, "normal")]
        assert any("the server refused 100 of its requests" in line for line in made.said)
