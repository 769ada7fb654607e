"""Pages and calls that any server of a cluster answers itself, with a leader and without one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from tests.cluster.test_operations import keep_from_looking
from tests.harness.server import BotClient, Server
from tests.harness.small_cluster import SmallCluster
from tests.server.test_privacy import HERE, Final

from plyhouse.protocol.messages import Finished, MatchSnapshot, Ok, Resign
from plyhouse.server.cluster.nats_server import LocalNats
from plyhouse.server.web import forwarding
from plyhouse.server.web.forwarding import Forwarder
from plyhouse.server.wire.websocket import Scope
from plyhouse.storage import audit

pytestmark = [pytest.mark.postgresql]

ELECTING = "The servers elect a leader"
GAME = "tic_tac_toe"
ITSELF = (
    "/games",
    f"/games/{GAME}",
    f"/games/{GAME}/example",
    "/leaderboards",
    f"/leaderboards/{GAME}",
    "/matches/{match}",
    "/projector?match={match}",
    "/wall",
    "/embed/{match}",
    "/competitions",
    "/account",
    "/join",
    "/api/v1/games",
    "/api/v1/leaderboards",
    f"/api/v1/leaderboards/{GAME}",
    "/api/v1/competitions",
    "/api/v1/matches?status=finished",
    "/api/v1/matches?sort=ended",
    "/api/v1/matches/{match}",
    "/api/v1/matches/{match}/record",
    "/api/v1/matches/{match}/notation",
    "/api/v1/matches/{match}/chances",
    "/api/v1/matches/{match}/replay",
    "/api/v1/bots/alice/bot/matches",
)
"""What every server answers itself about a finished match."""
SUBSTITUTES = ("/", "/matches", "/players/alice", "/bots/alice/bot")
"""Pages that lack what only a leader knows while there is none."""


@asynccontextmanager
async def browser(server: Server, token: str = "") -> AsyncIterator[httpx.AsyncClient]:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    async with httpx.AsyncClient(base_url=server.server.url, headers=headers) as web:
        yield web


async def begin(
    one: Server, other: Server, game: str = GAME
) -> tuple[list[tuple[BotClient, MatchSnapshot]], MatchSnapshot]:
    bots = [await one.bot("alice", "bot"), await other.bot("bob", "bot")]
    for bot in bots:
        assert isinstance(await bot.seek(game, count=1), Ok)
    starts = [await bot.start() for bot in bots]
    return list(zip(bots, starts, strict=True)), starts[0]


async def finish(one: Server, other: Server) -> str:
    """Play a match between sockets of two servers; return its id."""
    seated, match = await begin(one, other)
    await asyncio.gather(*(bot.play(start) for bot, start in seated))
    return match.match


async def lose_leader(cluster: SmallCluster, monkeypatch: pytest.MonkeyPatch) -> Server:
    """Stop the leader so that no other one comes; return a server."""
    first, second, third = cluster.servers
    for each in (second, third):
        keep_from_looking(each, monkeypatch)
    await cluster.stop(first)
    return second


@pytest.fixture
def passed_on(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of the requests that servers pass on to the leader."""
    paths: list[str] = []
    pass_on = Forwarder.__call__

    async def noting(self: Forwarder, scope: Scope, *args: object, **how: bool) -> bool:
        paths.append(scope["path"])
        return await pass_on(self, scope, *args, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(Forwarder, "__call__", noting)
    return paths


async def test_server_answers_itself_what_it_reads_from_the_database(
    cluster: SmallCluster, passed_on: list[str]
) -> None:
    first, second, third = cluster.servers
    match = await finish(second, third)
    async with browser(first) as leader, browser(second) as web:
        for path in ITSELF:
            address = path.format(match=match)
            answer = await web.get(address)
            assert answer.status_code == 200, answer.text
            assert answer.text == (await leader.get(address)).text, path
        assert passed_on == []
        for path in (*SUBSTITUTES, "/play", "/api/v1/seeks", "/api/v1/matches", "/no/such"):
            before = len(passed_on)
            answer = await web.get(path)
            assert answer.status_code == (404 if path == "/no/such" else 200), path
            assert ELECTING not in answer.text
            assert passed_on[before:] == [path]


async def test_pages_are_answered_while_nobody_leads(
    cluster: SmallCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forwarding, "WAIT_SECONDS", 0.0)
    _, second, third = cluster.servers
    match = await finish(second, third)
    async with browser(await lose_leader(cluster, monkeypatch)) as web:
        for path in ITSELF:
            assert (await web.get(path.format(match=match))).status_code == 200, path
        for path in SUBSTITUTES:
            shown = await web.get(path)
            assert (shown.status_code, ELECTING in shown.text) == (200, True), path
        assert (await web.get("/api/v1/session")).json()["player"] == ""
        assert (await web.get("/play")).status_code == 503
        assert (await web.post("/api/v1/players", json={"player": "eve"})).status_code == 503


async def test_person_stays_signed_in_while_nobody_leads(
    cluster: SmallCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, second, _ = cluster.servers
    token = await second.token("ada")
    async with browser(second) as web:
        own_page = {"origin": str(web.base_url).rstrip("/")}
        signed = await web.post("/api/v1/session", json={"token": token}, headers=own_page)
        assert signed.status_code == 200, signed.text
        await lose_leader(cluster, monkeypatch)
        shown = await web.get("/api/v1/session")
        assert (shown.status_code, shown.json()["player"]) == (200, "ada")
        assert shown.headers["cache-control"] == "no-store"


async def test_running_match_is_left_to_the_leader(
    cluster: SmallCluster, passed_on: list[str]
) -> None:
    _, second, third = cluster.servers
    _, match = await begin(second, third, "leduc_poker")
    here = f"/api/v1/matches/{match.match}"
    async with browser(second) as web:
        shown = await web.get(here)
        assert shown.json()["snapshot"]["status"] == "running"
        assert (await web.get(f"{here}/replay")).json()["frames"]
        assert (await web.get(f"{here}/replay?seat=0")).json()["code"] == "match/not_over"
        assert passed_on == [here, f"{here}/replay", f"{here}/replay"]
        for part in ("record", "notation", "chances"):
            assert (await web.get(f"{here}/{part}")).json()["code"] == "match/not_over"
        assert len(passed_on) == 3


async def test_match_that_was_just_hidden_is_hidden_at_every_server(
    cluster: SmallCluster, passed_on: list[str]
) -> None:
    first, second, _ = cluster.servers
    final = Final(first, "public")
    await final.begin()
    over = final.of[frozenset(("ada", "bob"))]
    pages = [f"/matches/{over}", f"/embed/{over}", f"/projector?match={over}"]
    calls = [f"/api/v1/matches/{over}{part}" for part in ("", "/record", "/replay", "/notation")]
    ended = "/api/v1/matches?sort=ended"
    await second.hub.audit_follower.close()  # it would learn the new rule some time later
    async with browser(second) as web, browser(second, final.tokens["ada"]) as ada:
        for path in pages + calls:
            assert (await web.get(path)).status_code == 200, path
        assert [each["match"] for each in (await web.get(ended)).json()] == [over]
        assert passed_on == []
        await show_to(final, "anonymous")
        for path in pages + calls:
            assert (await web.get(path)).status_code == 404, path
        assert (await web.get(ended)).json() == []
        assert [each["match"] for each in (await ada.get(ended)).json()] == [over]
        assert passed_on == []


async def test_finished_final_is_answered_by_every_server(
    cluster: SmallCluster, passed_on: list[str]
) -> None:
    first, second, _ = cluster.servers
    final = Final(first, "public")
    await final.begin()
    page, table = "/competitions/cup", f"{HERE}/cup/table"
    async with browser(second) as web, browser(first) as leader:
        assert [(await web.get(path)).status_code for path in (page, table)] == [200, 200]
        assert passed_on == [page, table]
        async with final.web("olga") as api:
            assert (await api.post(f"{HERE}/cup/finish", json={})).status_code == 200
        assert "Running" in (await web.get(page)).text  # what runs is played on
        assert passed_on == [page, table, page]
        for pair, match in final.of.items():
            if pair != {"ada", "bob"}:
                await final.bots[min(pair)].ask(Resign, match)
                await final.bots[max(pair)].next(Finished, match=match)
        passed_on.clear()
        assert (await web.get(table)).text == (await leader.get(table)).text
        assert (await web.get(f"{page}?plot=ratings")).status_code == 200
        shown = (await web.get(page)).text
        assert "ada/bot" in shown
        assert "Running" not in shown
        assert passed_on == []
        root = {"authorization": f"Bearer {final.tokens['root']}"}
        assert (await web.get(page, headers=root)).status_code == 200
        assert passed_on == [page]
        erased = await leader.post("/api/v1/players/ada/erase", json={"why": "asked"}, headers=root)
        assert erased.status_code == 200, erased.text
        for path in (page, table):
            assert "ada/bot" not in (await web.get(path)).text, path
        await show_to(final, "anonymous")
        assert (await web.get(table)).status_code == 401
        assert passed_on == [page]


async def show_to(final: Final, board: str) -> None:
    """Change who sees the matches of a final, at the leader."""
    async with final.web("olga") as api:
        file = (await api.get(f"{HERE}/cup/file")).json()["file"]
        text = file.replace(f'board = "{final.board}"', f'board = "{board}"')
        made = await api.post(f"{HERE}/cup/change", json={"file": text, "apply": True})
        assert made.json()["applied"], made.text


async def test_server_that_cannot_read_new_rules_leaves_the_answer_to_the_leader(
    cluster: SmallCluster, passed_on: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise TimeoutError

    _, second, _ = cluster.servers
    monkeypatch.setattr(audit, "since", fails)
    async with browser(second) as web:
        assert (await web.get("/leaderboards")).status_code == 200
    assert passed_on == ["/leaderboards"]


async def test_limit_of_requests_holds_at_each_server(
    database: str, nats: LocalNats, passed_on: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plyhouse.server.web.request_limits.DELAY", 0.0)
    cluster = SmallCluster(database, nats.url, http_burst=100, http_per_second=0.001)
    try:
        _, second = await cluster.add(), await cluster.add()
        async with browser(second) as web:
            got = [(await web.get("/leaderboards")).status_code for _ in range(26)]
        assert got == [200] * 25 + [429]  # each costs 4
        assert passed_on == []
    finally:
        await cluster.close()


async def test_wrong_tokens_are_limited_at_each_server(cluster: SmallCluster) -> None:
    _, second, _ = cluster.servers
    async with browser(second, "wrong") as web:
        while (answer := await web.get("/api/v1/matches?sort=ended")).status_code == 401:
            pass
    assert (answer.status_code, answer.json()["code"]) == (429, "auth/rate")


async def test_server_shows_at_once_what_was_written_through_it(cluster: SmallCluster) -> None:
    _, second, third = cluster.servers
    async with browser(second) as web, browser(second, await second.token("olga", "admin")) as olga:
        match = await finish(second, third)
        assert (await web.get(f"/api/v1/matches/{match}")).json()["status"] == "finished"
        page = (await web.get(f"/matches/{match}")).text
        assert "alice" in page
        erased = await olga.post("/api/v1/players/alice/erase", json={"why": "asked"})
        assert erased.status_code == 200, erased.text
        for path in (f"/matches/{match}", f"/leaderboards/{GAME}", "/api/v1/matches?sort=ended"):
            assert "alice" not in (await web.get(path)).text, path
        made = await olga.post(
            HERE, json={"file": f'name = "Cup"\ngames = ["{GAME}"]\ntime_control = "move:1"\n'}
        )
        assert made.status_code == 201, made.text
        assert "Cup" in (await web.get("/competitions")).text
