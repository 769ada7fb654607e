"""A whole run against a scripted server: real bot processes, time moved by hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.bots.conftest import BotFile, FakeServer, ManualClock, played, settle, snapshot
from tests.harness.patience import PATIENCE

from plyhouse.bots.client.client import Replaced, RequestRefused
from plyhouse.bots.loading import BotLoadError
from plyhouse.bots.running.python_session import (
    STOP_GRACE,
    PythonSession,
    RunOptions,
    RunSummary,
    SeekRequest,
)
from plyhouse.bots.running.run_options import SeatResult
from plyhouse.games.errors import UnknownGame
from plyhouse.protocol.messages import (
    Accepted,
    Act,
    Answer,
    Bye,
    Challenged,
    ClockState,
    DeclineDraw,
    DrawOffered,
    Error,
    Event,
    Finished,
    LedgerEntry,
    MatchMessage,
    Notice,
    Ok,
    Outcome,
    Ready,
    Resign,
    Seek,
    Sync,
    Turn,
    Unseek,
)

FOUR = "class MyBot(Bot):\n    games = ('connect_four',)\n    def choose(self, turn): return '4'\n"
WON = Outcome("normal", [1.0, -1.0])
CLOCKS = [ClockState(0, 1000, True), ClockState(1, 1000)]


class Run:
    """A runner in the background, and the server's side of the talk."""

    def __init__(self, bot_session: PythonSession, server: FakeServer, lines: list[str]) -> None:
        self.bot_session, self.server, self.lines = bot_session, server, lines
        self.task: asyncio.Task[RunSummary] = asyncio.create_task(bot_session.run())

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    async def until(self, text: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while text not in self.text:  # noqa: ASYNC110 - it happens in another process
                await asyncio.sleep(0.005)

    async def start_match(self, match: str = "m1", **more: Any) -> None:
        self.server.say(MatchMessage(snapshot(match=match, status="waiting", **more)))
        ready = await self.server.heard(Ready)
        assert ready.match == match
        self.server.say(Ok(ready.id))

    def turn(
        self, ply: int = 0, *events: Event, match: str = "m1", ms: int = 1000, retry: bool = False
    ) -> None:
        self.server.say(Turn(match, ply, list(events), {}, CLOCKS, ms, retry=retry))

    def accept(self, act: Act, seat: int = 0, **ledger: int) -> None:
        times = {
            "thought_ms": 5, "lag_refunded_ms": 0, "stall_ms": 0, "charged_ms": 5,
            "remaining_ms": 995, **ledger,
        }  # fmt: skip
        self.server.say(
            Accepted(
                act.id,
                act.match,
                act.ply,
                [Event(act.ply, seat, act.action, times["charged_ms"])],
                CLOCKS,
                LedgerEntry(act.ply, seat, **times),
            )
        )

    async def bye(self) -> RunSummary:
        bye = await self.server.heard(Bye)
        self.server.say(Ok(bye.id))
        return await asyncio.wait_for(self.task, PATIENCE)


def let_go(spec: str) -> None:
    """Tell a bot that waits for it to answer."""
    Path(f"{spec}.go").touch()


@asynccontextmanager
async def running(
    spec: str, server: FakeServer, clock: ManualClock, **more: Any
) -> AsyncIterator[Run]:
    lines: list[str] = []
    run = Run(
        PythonSession(
            spec,
            server.connect,
            "ply_secret",
            RunOptions(say=lines.append, clock=clock, **more),
        ),
        server,
        lines,
    )
    try:
        yield run
    finally:
        run.task.cancel()
        await asyncio.gather(run.task, return_exceptions=True)


@pytest.mark.parametrize(
    ("own", "sent"),
    [("", "qwen3, help: position"), ("v7", "v7, qwen3, help: position"), ("v" * 60, None)],
)
async def test_a_label_of_the_author_does_not_hide_that_of_the_bot(
    bot_file: BotFile, server: FakeServer, clock: ManualClock, own: str, sent: str | None
) -> None:
    spec = bot_file(
        FOUR + "    @classmethod\n"
        "    def version_label(cls, **options): return 'qwen3, help: position'\n"
    )
    async with running(spec, server, clock, version=own):
        hello = await server.welcome()
    assert hello.version == (sent or f"{'v' * 41}, qwen3, help: position")
    assert len(hello.version) <= 64


async def test_a_match_from_seek_to_result(
    bot_file: BotFile, server: FakeServer, clock: ManualClock
) -> None:
    results: list[SeatResult] = []
    seek = SeekRequest("connect_four", "total:60+0.5", rated=True, count=1, mirrored=True)
    async with running(
        bot_file(FOUR), server, clock, seeks=[seek], matches=1, version="v7",
        on_result=results.append,
    ) as run:  # fmt: skip
        hello = await server.welcome()
        assert (hello.bot, hello.games, hello.version) == ("my_bot", ["connect_four"], "v7")
        assert hello.max_matches == 2  # a mirrored pairing is two matches at once
        asked = await server.heard(Seek)
        assert (asked.game, asked.time_control) == ("connect_four", "total:60+0.5")
        assert (asked.rated, asked.count, asked.mirrored) == (True, 1, True)
        server.say(Ok(asked.id, seek="s1"))
        await settle()
        server.say(MatchMessage(snapshot(status="waiting")))
        unseek = await server.heard(Unseek)
        ready = await server.heard(Ready)
        assert len(ready.nonce) == 32
        server.say(Error("seek/unknown", "It is used up.", re=unseek.id))
        server.say(Ok(ready.id))
        run.turn(0)
        act = await server.heard(Act)
        assert (act.match, act.ply, act.action) == ("m1", 0, "4")
        run.accept(act)
        run.turn(2, Event(1, 1, "5", 7))
        act = await server.heard(Act)
        assert act.ply == 2
        run.accept(act)
        server.say(Finished("m1", WON))
        summary = await run.bye()
    assert (summary.bot, summary.won, summary.lost, summary.interrupted) == ("my_bot", 1, 0, False)
    assert results == summary.results
    assert (results[0].points, results[0].plies, results[0].charged_ms) == (1.0, 3, 10)
    assert results[0].opponents == ("bert/rival",)
    assert "match m1: connect_four, move:1, as first (turn.seat 0) against bert/rival" in run.text
    assert "match m1: won +1 after 3 plies: normal" in run.text


async def test_the_best_so_far_is_played_when_time_is_nearly_out(
    bot_file: BotFile, server: FakeServer, clock: ManualClock
) -> None:
    spec = bot_file(
        """
        class MyBot(Bot):
            def choose(self, turn):
                if turn.ply == 0:
                    turn.report("2")
                    print("hanging")
                    while True: pass
                return turn.legal_text[len(turn.history)]
        """
    )
    async with running(spec, server, clock) as run:
        await server.welcome()
        await run.start_match()
        run.turn(0, ms=1000)
        await run.until("hanging")
        await clock.advance(0.97)
        assert server.said.empty()
        await clock.advance(0.006)  # 25 ms before the flag
        act = await server.heard(Act)
        assert act.action == "2"
        assert "playing the best action reported so far: 2" in run.text
        run.accept(act)
        await clock.advance(0.3)
        await run.until("a new one takes over")
        run.turn(2, Event(1, 1, "5"))
        act = await server.heard(Act)
        assert act.action == "3"  # the new process knows the whole match


async def test_nothing_is_played_that_the_bot_did_not_choose(
    bot_file: BotFile, server: FakeServer, clock: ManualClock
) -> None:
    spec = bot_file(
        """
        class MyBot(Bot):
            def choose(self, turn):
                print("hanging")
                while True: pass
        """
    )
    async with running(spec, server, clock) as run:
        await server.welcome()
        await run.start_match()
        run.turn(0)
        await run.until("hanging")
        await clock.advance(1.5)
        assert server.said.empty()
        assert "nothing to play: the bot has reported no action so far" in run.text
        server.say(Finished("m1", Outcome("flag_fall", [-1.0, 1.0], 0, "out of time")))
        await run.until("lost on time at ply 1 (move:1, round trip 0 ms; 1000 ms were left when")
        await run.until("lost −1 after 0 plies: flag fall by us")


async def test_an_author_may_turn_the_rescue_off(
    bot_file: BotFile, server: FakeServer, clock: ManualClock
) -> None:
    spec = bot_file(
        """
        class MyBot(Bot):
            play_best_at_deadline = False
            async def choose(self, turn):
                turn.report("2")
                print("waiting")
                while not os.path.exists(__file__ + ".go"): await asyncio.sleep(0.005)
                return "6"
        """
    )
    async with running(spec, server, clock) as run:
        await server.welcome()
        await run.start_match()
        run.turn(0)
        await run.until("waiting")
        await clock.advance(0.99)
        assert server.said.empty()
        assert "play_best_at_deadline is off" in run.text
        let_go(spec)
        assert (await server.heard(Act)).action == "6"


async def test_a_crash_resigns_that_match_and_no_other(
    bot_file: BotFile, server: FakeServer, clock: ManualClock, tmp_path: Path
) -> None:
    spec = bot_file(
        """
        class MyBot(Bot):
            def choose(self, turn):
                if turn.match.id == "bad": raise RuntimeError("what now?")
                return "4"
        """
    )
    async with running(spec, server, clock, workers=2, log_folder=tmp_path / "logs") as run:
        await server.welcome()
        await run.start_match("bad")
        await run.start_match("good")
        run.turn(2, *played("1", "2"), match="bad")
        resign = await server.heard(Resign)
        assert (resign.match, resign.reason) == ("bad", "bot_crash")
        assert "RuntimeError: what now?" in resign.detail
        server.say(Ok(resign.id))
        server.say(Finished("bad", Outcome("bot_crash", [-1.0, 1.0], 0)))
        run.turn(0, match="good")
        assert (await server.heard(Act)).match == "good"
        assert "the position was:" in run.text
    log = (tmp_path / "logs" / "my_bot.log").read_text(encoding="utf-8")
    assert "RuntimeError: what now?" in log
    assert "xo....." in log
    assert "actions so far: 1 2" in log


async def test_a_bot_that_resigns(
    bot_file: BotFile, server: FakeServer, clock: ManualClock
) -> None:
    spec = bot_file("class MyBot(Bot):\n    def choose(self, turn): raise Resignation\n")
    async with running(spec, server, clock) as run:
        await server.welcome()
        await run.start_match()
        run.turn(0)
        resign = await server.heard(Resign)
        assert (resign.reason, resign.detail) == ("resignation", "")


async def test_after_a_reconnect_the_snapshot_tells_where_the_match_stands(
    bot_file: BotFile, server: FakeServer, clock: ManualClock
) -> None:
    spec = bot_file(
        """
        class MyBot(Bot):
            def choose(self, turn):
                return str(len(turn.history) + 1)
        """
    )
    async with running(spec, server, clock) as run:
        await server.welcome()
        await run.start_match()
        run.turn(0)
        act = await server.heard(Act)
        assert server.channel is not None
        server.channel.cut()
        await clock.advance(1)
        # The action had arrived, and the opponent has answered it meanwhile.
        await server.welcome(snapshot(events=played("1", "7"), deadline_ms=700))
        again = await server.heard(Act)
        assert (again.ply, again.action) == (act.ply, act.action)
        server.say(Accepted(again.id, "m1", 0, duplicate=True))
        act = await server.heard(Act)
        assert (act.ply, act.action) == (2, "3")


async def test_a_bot_goes_on_thinking_while_the_connection_is_lost(
    bot_file: BotFile, server: FakeServer, clock: ManualClock
) -> None:
    spec = bot_file(
        """
        class MyBot(Bot):
            def choose(self, turn):
                print("asked")
                while not os.path.exists(__file__ + ".go"): time.sleep(0.005)
                return "4"
        """
    )
    async with running(spec, server, clock) as run:
        await server.welcome()
        await run.start_match()
        run.turn(0)
        await run.until("asked")
        assert server.channel is not None
        server.channel.cut()
        await clock.advance(0.4)
        await server.welcome(snapshot(deadline_ms=600))
        await settle()
        let_go(spec)
        assert (await server.heard(Act)).action == "4"
        assert run.text.count("asked") == 1


@pytest.mark.parametrize("known", [True, False])
async def test_a_match_that_ended_meanwhile_is_asked_about_and_let_go(
    bot_file: BotFile, server: FakeServer, clock: ManualClock, known: bool
) -> None:
    async with running(bot_file(FOUR), server, clock) as run:
        await server.welcome()
        await run.start_match()
        assert server.channel is not None
        server.channel.cut()
        await clock.advance(1)
        await server.welcome()
        sync = await server.heard(Sync)
        if known:
            ended = snapshot(status="finished", events=played("1"), outcome=WON)
            server.say(MatchMessage(ended, re=sync.id))
            await run.until("match m1: won +1 after 1 ply: normal")
        else:
            server.say(Error("match/unknown", "No such match.", re=sync.id))
            await run.until("match m1: ended while the connection was lost")
        await run.start_match("m2")


async def test_duplicate_and_stale_turns_are_answered_once(
    bot_file: BotFile, server: FakeServer, clock: ManualClock
) -> None:
    async with running(bot_file(FOUR), server, clock) as run:
        await server.welcome()
        await run.start_match()
        run.turn(0)
        run.turn(0)
        act = await server.heard(Act)
        run.turn(0)
        run.accept(act)
        run.turn(0)
        run.turn(2, Event(1, 1, "1"))
        assert (await server.heard(Act)).ply == 2
        assert server.said.empty()


async def test_a_gap_in_what_happened_is_asked_about(
    bot_file: BotFile, server: FakeServer, clock: ManualClock
) -> None:
    async with running(bot_file(FOUR), server, clock) as run:
        await server.welcome()
        await run.start_match()
        run.turn(2, Event(1, 1, "5"))  # what happened at ply 0 is missing
        sync = await server.heard(Sync)
        server.say(MatchMessage(snapshot(events=played("4", "5"), deadline_ms=900), re=sync.id))
        assert (await server.heard(Act)).ply == 2


async def test_under_the_retry_rule_a_bot_is_asked_again(
    bot_file: BotFile, server: FakeServer, clock: ManualClock
) -> None:
    spec = bot_file(
        """
        class MyBot(Bot):
            def choose(self, turn):
                return "3" if turn.retry else "9"
        """
    )
    async with running(spec, server, clock) as run:
        await server.welcome()
        await run.start_match(illegal_rule="retry")
        run.turn(0)
        act = await server.heard(Act)
        assert act.action == "9"
        server.say(Error("action/illegal", "No.", re=act.id, match="m1", legal=["1", "2"]))
        run.turn(0, retry=True)
        assert (await server.heard(Act)).action == "3"
        await run.until("the server refused '9': No. Legal are 1, 2.")


async def test_the_same_mistake_three_times_is_a_crash(
    bot_file: BotFile, server: FakeServer, clock: ManualClock
) -> None:
    spec = bot_file("class MyBot(Bot):\n    def choose(self, turn): return '9'\n")
    async with running(spec, server, clock) as run:
        await server.welcome()
        await run.start_match(illegal_rule="retry")
        run.turn(0)
        for _ in range(3):
            act = await server.heard(Act)
            server.say(Error("action/illegal", "No.", re=act.id, match="m1"))
            run.turn(0, retry=True)
        assert (await server.heard(Resign)).reason == "bot_crash"


async def test_time_that_went_elsewhere_is_shown(
    bot_file: BotFile, server: FakeServer, clock: ManualClock
) -> None:
    async with running(bot_file(FOUR), server, clock) as run:
        await server.welcome()
        await run.start_match()
        run.turn(0)
        run.accept(await server.heard(Act), thought_ms=900, lag_refunded_ms=200, charged_ms=700)
        await run.until("ply 0: charged 700 ms, though the bot took 0 ms: thought 900 ms, lag")


async def test_a_game_that_is_not_known_here_is_resigned(
    bot_file: BotFile, server: FakeServer, clock: ManualClock
) -> None:
    async with running(bot_file(FOUR), server, clock):
        await server.welcome()
        server.say(MatchMessage(snapshot("calvinball", status="waiting")))
        resign = await server.heard(Resign)
        assert resign.reason == "resignation"


@pytest.mark.parametrize(("game", "accept"), [("connect_four(rows=5)", True), ("pig", False)])
async def test_challenges_are_taken_in_own_games(
    bot_file: BotFile, server: FakeServer, clock: ManualClock, game: str, accept: bool
) -> None:
    async with running(bot_file(FOUR), server, clock):
        await server.welcome()
        server.say(Challenged("c1", "bert/rival", game, "move:1"))
        answer = await server.heard(Answer)
        assert (answer.challenge, answer.accept) == ("c1", accept)


async def test_draws_are_declined(
    bot_file: BotFile, server: FakeServer, clock: ManualClock
) -> None:
    async with running(bot_file(FOUR), server, clock) as run:
        await server.welcome()
        await run.start_match()
        server.say(DrawOffered("m1", 1))
        assert (await server.heard(DeclineDraw)).match == "m1"


async def test_a_draw_offer_that_a_snapshot_tells_of_is_declined(
    bot_file: BotFile, server: FakeServer, clock: ManualClock
) -> None:
    async with running(bot_file(FOUR), server, clock):
        await server.welcome(snapshot(events=played("1"), draw_offers=[1]))
        assert (await server.heard(DeclineDraw)).match == "m1"


async def test_it_says_what_it_seeks_why_nobody_is_found_and_where_the_match_is_shown(
    bot_file: BotFile, server: FakeServer, clock: ManualClock
) -> None:
    seeks = [
        SeekRequest("connect_four", "total:60", rated=True, count=0),
        SeekRequest("connect_four", "move:5", count=1),
    ]
    pages = "http://127.0.0.1:8765/matches/"
    async with running(bot_file(FOUR), server, clock, seeks=seeks, pages=pages) as run:
        await server.welcome()
        server.say(Ok((await server.heard(Seek)).id, seek="s1"))
        server.say(Ok((await server.heard(Seek)).id, seek="s2"))
        server.say(Notice("notice/seek_waits", "Nobody is found yet for it: nobody is there."))
        await run.until("Nobody is found")
        await run.start_match()
        server.say(Finished("m1", WON))
        await run.until("won +1")
        assert "seeking connect_four, total:60, rated: as many matches as come" in run.text
        assert "seeking connect_four, move:5, casual: 1 match" in run.text
        assert "still seeking. Nobody is found yet for it: nobody is there." in run.text
        assert f"against bert/rival: {pages}m1" in run.text
        assert "match m1: won +1" in run.text


async def test_the_first_interrupt_waits_for_matches_and_the_second_leaves(
    bot_file: BotFile, server: FakeServer, clock: ManualClock
) -> None:
    async with running(
        bot_file(FOUR), server, clock, seeks=[SeekRequest("connect_four", count=0)]
    ) as run:
        await server.welcome()
        seek = await server.heard(Seek)
        server.say(Ok(seek.id, seek="s1"))
        await run.start_match()
        run.bot_session.interrupt()
        assert (await server.heard(Unseek)).seek == "s1"
        assert "1 match is running: finishing, then leaving" in run.text
        run.bot_session.interrupt()
        summary = await run.bye()
        assert (summary.interrupted, summary.left_running) == (True, 1)
        assert "leaving 1 running match; nothing is resigned" in run.text


async def test_an_interrupted_bot_leaves_after_its_last_match(
    bot_file: BotFile, server: FakeServer, clock: ManualClock
) -> None:
    async with running(bot_file(FOUR), server, clock) as run:
        await server.welcome()
        await run.start_match()
        run.bot_session.interrupt()
        server.say(Finished("m1", WON))
        summary = await run.bye()
        assert (summary.interrupted, summary.left_running, summary.won) == (True, 0, 1)


async def test_a_bot_told_to_stop_while_the_server_is_away_waits_only_a_little(
    bot_file: BotFile, server: FakeServer, clock: ManualClock
) -> None:
    async with running(bot_file(FOUR), server, clock) as run:
        await server.welcome()
        await run.start_match()
        server.unreachable = 1_000_000
        assert server.channel is not None
        server.channel.cut()
        await clock.advance(60)
        assert not run.task.done()
        run.bot_session.interrupt()
        await clock.advance(STOP_GRACE - 1)
        assert not run.task.done()
        await clock.advance(1)
        summary = await asyncio.wait_for(run.task, PATIENCE)
        assert (summary.interrupted, summary.left_running) == (True, 1)
        assert "the server has been away for 10 s: leaving 1 running match" in run.text


async def test_a_server_that_goes_away_from_a_stopping_bot_has_a_little_time_to_come_back(
    bot_file: BotFile, server: FakeServer, clock: ManualClock
) -> None:
    async with running(bot_file(FOUR), server, clock) as run:
        await server.welcome()
        await run.start_match()
        run.bot_session.interrupt()
        assert server.channel is not None
        for _ in range(2):  # Each absence counts separately.
            server.unreachable = 1
            server.channel.cut()
            await clock.advance(STOP_GRACE - 1)
            await server.welcome(snapshot())
            await clock.advance(1)
        assert not run.task.done()
        server.unreachable = 1_000_000
        server.channel.cut()
        await clock.advance(STOP_GRACE)
        summary = await asyncio.wait_for(run.task, PATIENCE)
        assert (summary.interrupted, summary.left_running) == (True, 1)


async def test_an_idle_bot_leaves(
    bot_file: BotFile, server: FakeServer, clock: ManualClock
) -> None:
    async with running(bot_file(FOUR), server, clock, idle_exit=30) as run:
        await server.welcome()
        await clock.advance(29)
        await run.start_match()
        await clock.advance(60)
        server.say(Finished("m1", WON))
        await clock.advance(29)
        assert server.said.empty()
        await clock.advance(1.1)
        summary = await run.bye()
        assert len(summary.results) == 1
        assert "no match for 30 s: leaving" in run.text


async def test_seeks_are_opened_again_after_a_reconnect_for_what_is_left(
    bot_file: BotFile, server: FakeServer, clock: ManualClock
) -> None:
    async with running(
        bot_file(FOUR), server, clock, seeks=[SeekRequest("connect_four", count=3)]
    ) as run:
        await server.welcome()
        server.say(Ok((await server.heard(Seek)).id, seek="s1"))
        await run.start_match()
        server.say(Finished("m1", WON))
        await settle()
        assert server.channel is not None
        server.channel.cut()
        await clock.advance(1)
        await server.welcome()
        assert (await server.heard(Seek)).count == 2


async def test_a_refused_seek_ends_the_run(
    bot_file: BotFile, server: FakeServer, clock: ManualClock
) -> None:
    async with running(
        bot_file(FOUR), server, clock, seeks=[SeekRequest("connect_four", "move:zero")]
    ) as run:
        await server.welcome()
        seek = await server.heard(Seek)
        server.say(Error("time_control/invalid", "Not a time control.", re=seek.id))
        bye = await server.heard(Bye)
        server.say(Ok(bye.id))
        with pytest.raises(RequestRefused, match="Not a time control"):
            await asyncio.wait_for(run.task, PATIENCE)


async def test_a_replaced_bot_stops(
    bot_file: BotFile, server: FakeServer, clock: ManualClock
) -> None:
    async with running(bot_file(FOUR), server, clock) as run:
        await server.welcome()
        server.say(Error("auth/replaced", "A newer one took over.", fatal=True))
        with pytest.raises(Replaced):
            await asyncio.wait_for(run.task, PATIENCE)


async def test_user_errors_come_before_connecting(
    bot_file: BotFile, server: FakeServer, clock: ManualClock
) -> None:
    for spec, games, kind in (
        (bot_file("x = 1\n", name="empty.py"), None, BotLoadError),
        (bot_file(FOUR), ["conect_four"], UnknownGame),
    ):
        async with running(spec, server, clock, games=games) as run:
            with pytest.raises(kind):
                await asyncio.wait_for(run.task, PATIENCE)
    assert server.attempts == 0


async def test_a_match_waits_until_the_bot_has_come_back_from_the_last(
    bot_file: BotFile, server: FakeServer, clock: ManualClock
) -> None:
    spec = bot_file(
        """
        class MyBot(Bot):
            def choose(self, turn):
                if turn.match.id == "m1":
                    print("hanging")
                    while True: pass
                return "4"
        """
    )
    async with running(spec, server, clock) as run:
        await server.welcome()
        await run.start_match()
        run.turn(0)
        await run.until("hanging")
        server.say(Finished("m1", Outcome("flag_fall", [-1.0, 1.0], 0)))
        server.say(MatchMessage(snapshot(match="m2", status="waiting")))
        await settle()
        assert server.said.empty()
        await clock.advance(0.3)
        assert (await server.heard(Ready)).match == "m2"


async def test_runs_with_a_seed_repeat_their_nonces(
    bot_file: BotFile, server: FakeServer, clock: ManualClock
) -> None:
    nonces = []
    for seed in (1, 1, 2, None, None):
        async with running(bot_file(FOUR), server, clock, seed=seed):
            await server.welcome()
            server.say(MatchMessage(snapshot(status="waiting")))
            nonces.append((await server.heard(Ready)).nonce)
    assert nonces[0] == nonces[1]
    assert len(set(nonces)) == 4


async def test_a_flag_is_explained_by_its_own_ply(
    bot_file: BotFile, server: FakeServer, clock: ManualClock
) -> None:
    """The known ledger is that of the ply before, and says which ply it is."""
    spec = bot_file(
        """
        class MyBot(Bot):
            def choose(self, turn):
                if turn.ply == 0: return "4"
                try: time.sleep(1000)
                finally: pass
        """
    )
    async with running(spec, server, clock, hang_grace=0.0) as run:
        await server.welcome()
        await run.start_match()
        run.turn(0)
        run.accept(await server.heard(Act), charged_ms=5)
        run.turn(2, Event(1, 1, "4"), ms=900)
        await settle()
        await clock.advance(0.95)
        outcome = Outcome("flag_fall", [-1.0, 1.0], 0)
        server.say(Finished("m1", outcome, []))
        await run.until("900 ms were left when the turn came here, 950 ms ago")
        await run.until("our ply before that was ply 1: thought 5 ms")
        assert "last ply" not in run.text
