"""A run of a bot challenges named bots, built-in ones as well."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest

from plyhouse.bots.client.client import Client, RequestRefused
from plyhouse.bots.running.python_session import RunOptions, RunSummary, run_bot
from plyhouse.bots.running.run_options import ChallengeFailed, Challenger, ChallengeRequest
from plyhouse.clients.builtin_bots.launcher import StartedBots
from plyhouse.protocol.messages import ChallengeClosed, Ok
from plyhouse.server.config import ServerConfig
from plyhouse.server.serve import RunningServer, running_server


@pytest.fixture
async def server() -> AsyncIterator[RunningServer]:
    config = ServerConfig(port=0, database="sqlite:///:memory:", log_level="error")
    async with running_server(config, builtin_bots=StartedBots) as server:
        await server.hub.store.add_player("ada")
        yield server


async def token(server: RunningServer, player: str) -> str:
    await server.hub.store.add_player(player)
    return await server.hub.store.add_token(player)


async def challenged(
    server: RunningServer,
    *opponents: str,
    bot: str = "random",
    matches: int = 1,
    rated: bool = False,
) -> tuple[RunSummary, list[str]]:
    secret = await server.hub.store.add_token("ada")
    said: list[str] = []
    asked = ChallengeRequest(opponents, "tic_tac_toe", "move:5", rated=rated)
    options = RunOptions(challenge=asked, matches=matches, say=said.append)
    return await run_bot(bot, server.url, secret, options), said


async def test_run_challenges_a_built_in_bot_that_was_not_connected(server: RunningServer) -> None:
    summary, said = await challenged(server, "house/easy", matches=2)
    assert [result.outcome.termination for result in summary.results] == ["normal"] * 2
    assert "challenging house/easy: tic_tac_toe, move:5, casual" in said
    assert any("against house/easy" in line for line in said)


async def test_built_in_bot_declines_rated_matches(server: RunningServer) -> None:
    with pytest.raises(RequestRefused, match="house/easy plays casual matches only"):
        await challenged(server, "house/easy", rated=True)


async def test_challenge_of_an_absent_bot_ends_the_run(server: RunningServer) -> None:
    for name in ("bob/deep", "house/nobody", "house/easy-99"):
        with pytest.raises(RequestRefused, match=f"{name} is not connected"):
            await challenged(server, name)


async def test_run_challenges_a_bot_of_another_player(server: RunningServer) -> None:
    secret = await token(server, "bob")
    online = asyncio.Event()
    options = RunOptions(bot="deep", matches=3, say=lambda line: online.set())
    waiting = asyncio.create_task(run_bot("random", server.url, secret, options))
    await online.wait()
    summary, _ = await challenged(server, "bob/deep", matches=3)
    assert len(summary.results) == 3
    assert len((await waiting).results) == 3


@pytest.mark.parametrize(
    ("terms", "why"),
    [
        (None, "the bot accepts no rated challenges"),
        ("move:60", "the bot accepts rated challenges with move:60 only"),
        ("move:5", ""),
    ],
)
async def test_bot_accepts_rated_challenges_by_its_own_time_control_only(
    server: RunningServer, terms: str | None, why: str
) -> None:
    """A challenger could otherwise take rating from it by a clock of a millisecond."""
    secret = await token(server, "bob")
    online = asyncio.Event()
    options = RunOptions(bot="deep", rated=terms, say=lambda line: online.set())
    waiting = asyncio.create_task(run_bot("random", server.url, secret, options))
    await online.wait()
    if why:
        with pytest.raises(ChallengeFailed, match=f"bob/deep declined: {why}."):
            await challenged(server, "bob/deep", rated=True)
        await challenged(server, "bob/deep")
    else:
        assert len((await challenged(server, "bob/deep", rated=True))[0].results) == 1
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)


async def test_challenge_that_is_declined_before_its_id_is_known_is_a_failure() -> None:
    """An opponent may be so quick that both arrive in one read: the run waited for ever."""
    failures: list[str] = []
    challenger = Challenger(
        ChallengeRequest(["bob/deep"], "chess"),
        lambda line: None,
        lambda error: failures.append(str(error)),
    )

    class Quick:
        async def request(self, build: Any) -> Ok:
            challenger.closed(ChallengeClosed("c1", "declined", "no time"))
            return Ok(build(1).id, challenge="c1")

    await challenger.challenge(cast(Client, Quick()))
    assert failures == ["bob/deep declined: no time."]


def test_challenge_that_is_not_accepted_is_a_failure() -> None:
    failures: list[str] = []
    asked = ChallengeRequest(["bob/deep"], "chess")
    challenger = Challenger(asked, print, lambda error: failures.append(str(error)))
    challenger.opened("c1")
    challenger.closed(ChallengeClosed("c0", "declined"))
    assert failures == []
    challenger.closed(ChallengeClosed("c1", "declined", "the bot is leaving"))
    challenger.opened("c2")
    challenger.closed(ChallengeClosed("c2", "expired"))
    challenger.opened("c3")
    challenger.closed(ChallengeClosed("c3", "accepted"))
    assert failures == [
        "bob/deep declined: the bot is leaving.",
        "bob/deep did not answer in time.",
    ]
