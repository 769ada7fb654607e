"""A machine that is at work for somebody else costs no bot its match: server, runner, real bots."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.harness.patience import PATIENCE
from tests.sandbox.conftest import REQUIRED, have
from tests.tournaments import begin_round_robin, results

from plyhouse.bots.local_packages import read_package
from plyhouse.bots.sandbox.box import Tier
from plyhouse.bots.sandbox.client import ForkServerClient
from plyhouse.clients.runner.machine import Machine, Setup
from plyhouse.clients.runner.submission_checks import Busy, check_submission
from plyhouse.games.registry import get_game
from plyhouse.protocol.hosting.package import Package, Rules, digest_of, from_upload, pack
from plyhouse.protocol.hosting.runner_messages import CheckDone, CheckTerms, CheckWanted, Trouble
from plyhouse.server.config import ServerConfig
from plyhouse.server.hosting import placement
from plyhouse.server.match.terms import Terms
from plyhouse.server.match.time_control import TimeControl
from plyhouse.server.serve import running_server
from plyhouse.storage import match_lists, submission_sql
from plyhouse.storage.rows import By, wall_ms

THINKERS = {
    "python": b"""
from plyhouse.bots import Bot

class Thinker(Bot):
    games = ("tic_tac_toe",)

    def choose(self, turn):
        while True:  # as long as it may
            pass
""",
    "javascript": b"function choose(legal) { for (;;); }",
}
EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "hosted"
BURN = """
import os, sys
from plyhouse.bots.sandbox.kernel import stand_back
os.sched_setaffinity(0, {int(sys.argv[1])})
stand_back()  # as other bots do, before whom ours would wait for long
print("at work", flush=True)
while True: pass
"""


@contextlib.contextmanager
def at_work_for_others(core: int, programs: int) -> Iterator[None]:
    """Let so many programs keep a processor busy."""
    burning = [
        subprocess.Popen(
            [sys.executable, "-c", BURN, str(core)],
            start_new_session=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(programs)
    ]
    try:
        for each in burning:  # the first flag may fall before they have started
            assert each.stdout is not None
            assert each.stdout.readline() == "at work\n"
        yield
    finally:
        for each in burning:
            each.kill()
        for each in burning:
            each.communicate()


def thinker(language: str) -> Package:
    """A bot that thinks for as long as it may: by our API, or the example that never chooses."""
    if language == "python":
        return from_upload("mybot.py", THINKERS[language], Rules())
    package = read_package(EXAMPLES / language)
    text = package.files["bot.mjs"]
    head, found, tail = text.partition(b"/** Columns in the middle")
    assert found
    _, found, tail = tail.partition(b"function enter(")
    assert found
    text = head + THINKERS[language] + b"\n" + found + tail
    return dataclasses.replace(package, files={**package.files, "bot.mjs": text})


@pytest.mark.parametrize("language", ["python", "javascript"])
async def test_hanging_bot_on_a_busy_machine_is_excused_once_and_then_loses(
    language: str, fork_server: ForkServerClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if language == "javascript" and shutil.which("node") is None:
        if REQUIRED:
            pytest.fail("node is required here")
        pytest.skip("no node")
    await have(fork_server, Tier.LANDLOCK)
    # On a machine that is busy with other tests as well a bot may have to be started twice.
    monkeypatch.setattr(placement, "REST_NS", 500_000_000)
    config = ServerConfig(database=f"sqlite:///{tmp_path}/house.db", port=0, hosted=True)
    async with running_server(config) as server:
        hub, store = server.hub, server.hub.store
        package = thinker(language)
        for name in ("ada", "bob"):
            player = await store.add_player(name)
            bot = await store.ensure_bot(player.id, "mine", "bot")
            row = await store.submissions.add(
                bot.id, "", digest_of(package), pack(package), wall_ms()
            )
            await store.write(submission_sql.check, row.id, True, "", ["tic_tac_toe"], wall_ms())
        # The server gives back the time for which it stood still: 0.7 s beside many other tests.
        # Of two seconds, a bot that shares its processor with two programs still lacks enough.
        terms = Terms(get_game("tic_tac_toe"), TimeControl.parse("move:2"), rated=False)
        cup = (
            await begin_round_robin(
                hub.competitions,
                "cup",
                terms,
                By("olga", "a test"),
                entries=["ada/mine", "bob/mine"],
            )
        ).id
        staff = await store.add_player("staff")
        token = await store.add_token(staff.id, ["runner"])
        machine = Machine(
            Setup(
                server=server.url,
                token=token,
                name="lab1",
                cores=1,
                bots=4,
                folder=tmp_path / "runner",
                tier=Tier.LANDLOCK,
                say=lambda _: None,
            )
        )
        stop = asyncio.Event()
        hosting = asyncio.create_task(machine.run(stop))
        try:
            with at_work_for_others(max(os.sched_getaffinity(0)), 2):
                async with asyncio.timeout(PATIENCE):
                    while (await hub.tournaments.view(cup)).row.status != "finished":
                        assert not hosting.done(), hosting.result()
                        await asyncio.sleep(0.02)
        finally:
            stop.set()
            await hosting
        table = await results(store, cup)
        assert sorted((row.games, row.wins, row.losses) for row in table) == [
            (1, 0, 1),
            (1, 1, 0),
        ]
        rows = await store.read(
            match_lists.list_matches, match_lists.MatchFilter(tournament_ids=(cup,))
        )
        assert [each.termination for each in rows] == ["flag_fall"] * 2
        (void,) = [each.void_reason for each in rows if each.void_reason]
        assert "its machine lab1 was not the bot's for" in void


async def test_check_on_a_busy_machine_gives_no_verdict(
    fork_server: ForkServerClient, tmp_path: Path
) -> None:
    await have(fork_server, Tier.LANDLOCK)
    bot = tmp_path / "thinker.py"
    bot.write_bytes(THINKERS["python"])
    core = max(os.sched_getaffinity(0))
    wanted = CheckWanted(7, "", [CheckTerms("tic_tac_toe", "move:0.5")])

    async def checked() -> CheckDone | Trouble:
        return await check_submission(wanted, bot, Tier.LANDLOCK, Rules(), core=core)

    with at_work_for_others(core, 2):
        found = await checked()
    assert isinstance(found, Busy), found
    assert "the bot's flag fell while this machine was at work for others" in found.why


async def test_check_on_a_busy_machine_counts_flags_if_it_is_told_to(
    fork_server: ForkServerClient, tmp_path: Path
) -> None:
    await have(fork_server, Tier.LANDLOCK)
    bot = tmp_path / "thinker.py"
    bot.write_bytes(THINKERS["python"])
    core = max(os.sched_getaffinity(0))
    terms = [CheckTerms("tic_tac_toe", "move:0.5")]
    wanted = CheckWanted(7, "", terms, flags_count=True)

    with at_work_for_others(core, 2):
        found = await check_submission(wanted, bot, Tier.LANDLOCK, Rules(), core=core)
    assert isinstance(found, CheckDone), found
    assert not found.ok
    assert "ran out of time" in found.report
