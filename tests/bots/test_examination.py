"""What ``plyhouse check`` finds."""

from __future__ import annotations

import pytest
from tests.bots.conftest import BotFile

from plyhouse.clients.cli.checking.examination import Finding, check_bot


def failed(checks: list[Finding]) -> dict[str, str]:
    return {
        check.name: f"{check.explanation}\n{check.said}" for check in checks if not check.passed
    }


@pytest.mark.parametrize("game", ["coin_guess", "pig(target=30)"])
async def test_a_sound_bot_passes_everything(game: str) -> None:
    told: list[Finding] = []
    checks = await check_bot("random", [game], on_finding=told.append)
    assert told == checks
    assert not failed(checks)
    names = [check.name for check in checks]
    assert len(names) == 8
    for part in ("loads", "lost connection", "new process", "resigning", "two matches", "clock"):
        assert any(part in name for name in names), part


async def test_a_bot_without_games_is_checked_in_all_of_them(bot_file: BotFile) -> None:
    spec = bot_file(
        """
        class MyBot(Bot):
            async def choose(self, turn): return turn.rng.choice(turn.legal)
        """
    )
    checks = await check_bot(spec)
    assert not failed(checks)
    assert sum(check.name.startswith("plays pig as") for check in checks) == 2


@pytest.mark.parametrize(
    ("choice", "explanation"),
    [
        ("return '9'", "choose one of turn.legal"),
        ("return None", "None is not an action of tic_tac_toe"),
        ("return 1 / 0", "ZeroDivisionError"),
        ("os._exit(1)", "the bot's process ended (exit code 1)"),
        ("return 'b2' if turn.ply == 0 else turn.legal[0] if turn.seat == 0 else {}", "is not an"),
    ],
)
async def test_what_is_wrong_is_explained(bot_file: BotFile, choice: str, explanation: str) -> None:
    spec = bot_file(
        f"""
        class MyBot(Bot):
            games = ("tic_tac_toe",)
            def choose(self, turn): {choice}
        """
    )
    found = failed(await check_bot(spec))
    assert found
    assert explanation in "\n".join(found.values())


async def test_a_bot_that_forgets_the_past_fails_in_a_new_process(bot_file: BotFile) -> None:
    spec = bot_file(
        """
        class MyBot(Bot):
            games = ("tic_tac_toe",)
            asked = 0
            def choose(self, turn):
                assert self.asked == turn.ply // 2, "I have missed something"
                self.asked += 1
                return turn.legal[0]
        """
    )
    found = failed(await check_bot(spec))
    assert list(found) == ["goes on in a new process"]
    assert "I have missed something" in found["goes on in a new process"]


async def test_a_bot_that_needs_more_time_than_it_has(bot_file: BotFile) -> None:
    spec = bot_file(
        """
        class MyBot(Bot):
            games = ("tic_tac_toe",)
            async def choose(self, turn):
                if turn.clock.time_control.startswith("move"):
                    await asyncio.sleep(0.4)
                return turn.legal[0]
        """
    )
    found = failed(await check_bot(spec))
    assert list(found) == ["keeps to the clock when it is short (move:0.25)"]
    assert "turn.report the best action so far" in next(iter(found.values()))


async def test_a_bot_that_does_not_load_fails_one_check(bot_file: BotFile) -> None:
    checks = await check_bot(bot_file("import nothing_there\n"))
    assert [(check.name, check.passed) for check in checks] == [("loads", False)]
    assert "No module named 'nothing_there'" in checks[0].explanation


async def test_a_bot_that_claims_an_unknown_game(bot_file: BotFile) -> None:
    spec = bot_file(
        """
        class MyBot(Bot):
            games = ("conect_four",)
            def choose(self, turn): return turn.legal[0]
        """
    )
    checks = await check_bot(spec)
    assert not checks[0].passed
    assert "connect_four" in checks[0].explanation
