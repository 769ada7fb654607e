"""A bot in a sandbox says what it plays, and nothing that it says is run outside of the sandbox."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.harness.patience import PATIENCE
from tests.sandbox.conftest import Submission, have

from plyhouse.bots.hosting.build import build
from plyhouse.bots.hosting.hosted_session import hosted_session
from plyhouse.bots.local_packages import read_package
from plyhouse.bots.running.run_options import RunOptions
from plyhouse.bots.sandbox.box import Tier
from plyhouse.bots.sandbox.client import ForkServerClient
from plyhouse.clients.arena.memory_server import PLAYER, connector_of, local_hub
from plyhouse.clients.bot_check.sandbox_check import check_bot_or_submission
from plyhouse.games.errors import InvalidGameSource

CLAIMS_A_FILE = """
    import pathlib
    from plyhouse.bots import Bot

    class Mine(Bot):
        games = (str(pathlib.Path(__file__).with_name("rules.py")),)

        def choose(self, turn):
            return turn.legal[0]
"""

SAYS_HELLO = """
console.log(JSON.stringify({ type: "hello", id: 1, max_matches: 4 }));
setInterval(() => {}, 1000);
"""


def spying(mark: Path) -> str:
    return f"open({str(mark)!r}, 'w').write('run outside of the sandbox')\n"


async def test_the_file_of_a_game_that_it_claims_is_not_run_by_whoever_hosts_it(
    fork_server: ForkServerClient, submission: Submission, tmp_path: Path
) -> None:
    tier = await have(fork_server, Tier.LANDLOCK)
    mark = tmp_path / "mark"
    folder = submission(bot=CLAIMS_A_FILE, rules=spying(mark))
    built = build(read_package(folder), tmp_path / "store")
    async with local_hub() as hub:
        token = hub.add_player(PLAYER)
        options = RunOptions(bot="mine", matches=1, say=lambda _: None)
        bot_session = hosted_session(
            built, connector_of(hub), token, options, fork_server=fork_server, tier=tier
        )
        with pytest.raises(InvalidGameSource):
            await asyncio.wait_for(bot_session.run(), PATIENCE)
    assert not mark.exists()


@pytest.mark.parametrize("language", ["python", "a program"])
async def test_nor_by_whoever_checks_it(
    submission: Submission, tmp_path: Path, language: str
) -> None:
    mark = tmp_path / "mark"
    rules = tmp_path / "rules.py"
    rules.write_text(spying(mark), "utf-8")
    if language == "python":
        folder = submission(bot=CLAIMS_A_FILE, rules=spying(mark))
    else:
        folder = submission(plyhouse=f'[bot]\nrun = ["node", "bot.mjs"]\ngames = ["{rules}"]\n')
        (folder / "bot.mjs").write_text(SAYS_HELLO, "utf-8")
    findings = await check_bot_or_submission(
        *(str(folder), None),
        sandbox=True,
        tier="landlock",
        on_finding=lambda _: None,
        on_output=lambda _: None,
    )
    assert not mark.exists()
    (found,) = findings
    assert not found.passed
    assert "files are not allowed here" in found.explanation
