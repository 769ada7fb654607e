"""Organisers at work on a running server: by its API, and on its database beside it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.harness.patience import PATIENCE

from plyhouse.protocol.messages import Error, Finished, Welcome
from plyhouse.server.results.voiding import void_match
from plyhouse.storage import leaderboards, match_reads, people, people_changes
from plyhouse.storage.rows import By
from plyhouse.storage.store import Store

OpenHouse = Callable[..., Awaitable[Any]]
OLGA = By("olga", "cheated")


async def post(house: Any, bearer: str, path: str, **body: Any) -> httpx.Response:
    headers = {"Authorization": f"Bearer {bearer}"}
    async with httpx.AsyncClient(base_url=house.server.url, headers=headers) as api:
        return await api.post(f"/api/v1/{path}", json=body)


async def until(there: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not there():  # noqa: ASYNC110 (what is waited for is another program's doing)
            await asyncio.sleep(0.01)


async def last_error(client: Any) -> Error:
    error = (await client.until_closed())[-1]
    assert isinstance(error, Error), error
    return error


@pytest.mark.parametrize("keep", [False, True])
async def test_disabling_a_player_closes_its_connections_and_ends_its_matches(
    house: Any, keep: bool
) -> None:
    (one, two), (start, _) = await house.pair("pig")
    admin = await house.token("olga", "admin")
    answer = await post(house, admin, "players/alice/disable", why="cheated", keep_matches=keep)
    assert answer.status_code == 200, answer.text
    alice, bob = (one, two) if start.players[start.seat].player == "alice" else (two, one)
    error = await last_error(alice)
    assert (error.code, alice.close_code) == ("auth/disabled", 4401)
    if keep:
        assert start.match in house.hub.directory.own
    else:
        end = await bob.next(Finished)
        assert end.outcome.termination == "disconnect"
        assert end.outcome.reason.endswith("(alice/one) was excluded by the organiser.")
    again = await house.client()
    assert (await again.hello(await house.token("alice"), "one")).code == "auth/disabled"
    answer = await post(house, admin, "players/alice/enable", why="a mistake")
    assert answer.status_code == 200, answer.text
    again = await house.client()
    assert isinstance(await again.hello(await house.token("alice"), "one"), Welcome)


async def test_a_match_that_has_not_begun_is_void_when_a_bot_is_disabled(house: Any) -> None:
    clients = [await house.bot("alice", "one"), await house.bot("bob", "two")]
    for client in clients:
        await client.seek("pig")
    await until(lambda: bool(house.hub.directory.own))
    admin = await house.token("olga", "admin")
    answer = await post(house, admin, "players/alice/bots/one/disable", why="broken")
    assert answer.status_code == 200, answer.text
    end = await clients[1].next(Finished)
    assert end.outcome.termination == "aborted"
    other = await house.client()
    assert (await other.hello(await house.token("alice"), "one")).code == "auth/disabled"
    spare = await house.client()
    assert isinstance(await spare.hello(await house.token("alice"), "spare"), Welcome)


async def test_only_the_connections_of_a_revoked_token_are_closed(house: Any) -> None:
    leaked = await house.token("alice")
    first, second = await house.client(), await house.bot("alice", "two")
    await first.hello(leaked, "one")
    admin = await house.token("olga", "admin")
    answer = await post(house, admin, "tokens/revoke", token=leaked, why="leaked")
    assert answer.status_code == 200, answer.text
    assert (await last_error(first)).code == "auth/revoked"
    assert isinstance(await second.seek("pig"), object)
    assert house.hub.directory.online() == ["alice/two"]


async def test_the_command_line_beside_the_server_is_heard_of(
    open_house: OpenHouse, tmp_path: Path
) -> None:
    """Another process has only the database in common with the server."""
    url = f"sqlite:///{tmp_path / 'a.db'}"
    house = await open_house(database=url)
    await house.pair("pig")
    async with await Store.open(url) as beside:
        alice = await beside.read(people.player, "alice")
        (row,) = await beside.read(people.list_tokens, alice.id)
        await beside.write(
            people_changes.revoke_token, row.id, OLGA, beside.now(), keep_matches=False
        )
    await until(lambda: not house.hub.directory.own)
    assert house.hub.directory.online() == ["bob/two"]


async def test_a_running_match_is_made_void_and_ends(house: Any) -> None:
    (one, two), (start, _) = await house.pair("pig", rated=True)
    organiser = await house.token("olga", "organise")
    answer = await post(house, organiser, f"matches/{start.match}/void", why="wrong rules")
    assert answer.status_code == 200, answer.text
    assert answer.json()["void_reason"] == "wrong rules"
    for client in (one, two):
        assert (await client.next(Finished)).outcome.termination == "aborted"
    assert await house.hub.store.read(leaderboards.leaderboard, "pig") == []


async def test_a_finished_match_made_void_beside_the_server_leaves_its_leaderboard(
    open_house: OpenHouse, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    house = await open_house(database=url)
    clients, starts = await house.pair("kuhn_poker", rated=True)
    await asyncio.gather(*(c.play(s, 1) for c, s in zip(clients, starts, strict=True)))
    await house.hub.ratings.settle()
    assert len(await house.hub.store.read(leaderboards.leaderboard, "kuhn_poker")) == 2
    async with await Store.open(url) as beside:
        await void_match(beside, starts[0].match, OLGA)
    await house.hub.audit_follower.look()
    await house.hub.ratings.settle()
    assert await house.hub.store.read(leaderboards.leaderboard, "kuhn_poker") == []
    async with httpx.AsyncClient(base_url=house.server.url) as api:
        shown = (await api.get(f"/api/v1/matches/{starts[0].match}")).json()
        record = await api.get(f"/api/v1/matches/{starts[0].match}/record")
    assert (shown["void_reason"], shown["termination"]) == ("cheated", "normal")
    assert record.status_code == 200, "it stays in the record"


async def test_what_was_made_void_while_no_server_ran_ends_at_the_start(
    open_house: OpenHouse, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    house = await open_house(database=url)
    _, (start, _) = await house.pair("pig")
    await house.server.hub.close()
    async with await Store.open(url) as beside:
        await void_match(beside, start.match, OLGA)
    later = await open_house(database=url)
    await until(lambda: not later.hub.directory.own)
    assert (
        await later.hub.store.read(match_reads.stored_match, start.match)
    ).header.termination == "aborted"


async def test_a_renamed_player_comes_back_by_its_new_name_and_plays_on(house: Any) -> None:
    clients, starts = await house.pair("kuhn_poker")
    admin = await house.token("olga", "admin")
    token = await house.token("alice")
    answer = await post(house, admin, "players/alice/rename", name="Countess", why="wishes it")
    assert answer.status_code == 200, answer.text
    closed = [
        c for c, s in zip(clients, starts, strict=True) if s.players[s.seat].player == "alice"
    ]
    assert (await last_error(closed[0])).code == "server/shutting_down"
    again = await house.client()
    welcome = await again.hello(token, "one")
    assert (welcome.player, [each.match for each in welcome.matches]) == (
        "Countess",
        [starts[0].match],
    )
    assert "Countess/one" in house.hub.directory.online()


@pytest.mark.parametrize(
    ("scope", "path", "body"),
    [
        ("organise", "players/alice/disable", {"why": "x"}),
        ("organise", "players/alice/enable", {"why": "x"}),
        ("organise", "players/alice/rename", {"why": "x", "name": "bo"}),
        ("organise", "players/alice/bots/one/disable", {"why": "x"}),
        ("organise", "players/alice/bots/one/enable", {"why": "x"}),
        ("organise", "tokens/revoke", {"why": "x", "token": "ply_abcdef"}),
        ("play", "matches/none/void", {"why": "x"}),
        ("play", "tournaments/none/pause", {"why": "x"}),
        ("play", "tournaments/none/resume", {"why": "x"}),
    ],
)
async def test_scopes_are_held_to(house: Any, scope: str, path: str, body: Any) -> None:
    token = await house.token("eve", scope)
    answer = await post(house, token, path, **body)
    assert (answer.status_code, answer.json()["code"]) == (403, "auth/scope")
    answer = await post(house, "ply_none", path, **body)
    assert answer.status_code == 401


async def test_the_audit_log_is_for_admins(house: Any) -> None:
    await house.token("alice")
    admin = await house.token("olga", "admin")
    await post(house, admin, "players/alice/disable", why="cheated")
    for scope, status in (("organise", 403), ("admin", 200)):
        token = await house.token(f"p{scope}", scope)
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(base_url=house.server.url, headers=headers) as api:
            answer = await api.get("/api/v1/audit")
        assert answer.status_code == status
    (entry,) = answer.json()
    assert (entry["who"], entry["what"], entry["why"]) == ("olga", "player.disable", "cheated")


@pytest.mark.parametrize("body", [{}, {"why": ""}, {"why": "x", "keep": True}, {"why": 3}])
async def test_a_reason_has_to_be_given_and_unknown_fields_are_errors(
    house: Any, body: dict[str, Any]
) -> None:
    await house.token("alice")
    admin = await house.token("olga", "admin")
    answer = await post(house, admin, "players/alice/disable", **body)
    assert answer.status_code == 400, answer.text
    assert (await house.hub.store.read(people.player, "alice")).disabled_ms is None
