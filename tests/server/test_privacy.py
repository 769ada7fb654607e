"""Matches of a final are for those whom its competition file names, wherever one asks."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from plyhouse.protocol.codec import JSON
from plyhouse.protocol.messages import (
    Error,
    Finished,
    Hello,
    MatchMessage,
    Ping,
    Ready,
    Resign,
    Watch,
    Welcome,
)
from plyhouse.server.competition_rules.file_template import round_robin_text
from plyhouse.storage import competition_sql, competition_students, match_reads
from plyhouse.storage.match_lists import MatchFilter
from plyhouse.storage.rows import By

HERE = "/api/v1/competitions"
NAMES = ("ada", "bob", "cy")
OLGA = By("olga")


class Final:
    """A competition of three whose final has begun: one match is over, two are being played."""

    def __init__(self, house: Any, board: str) -> None:
        self.house = house
        self.board = board
        self.tokens: dict[str, str] = {}
        self.bots: dict[str, Any] = {}
        self.of: dict[frozenset[str], str] = {}
        """Matches by who plays them."""

    async def begin(self) -> None:
        organiser = await self.house.token("olga", "organise")
        self.tokens["olga"] = organiser
        text = (
            f'name = "Cup"\ngames = ["connect_four"]\ntime_control = "total:60"\n'
            f'board = "{self.board}"\nmirrored = false\n'
        )
        async with self.web("olga") as api:
            assert (await api.post(HERE, json={"file": text})).status_code == 201
            csv = "\n".join(["name", *NAMES])
            joined = await api.post(f"{HERE}/cup/students", json={"csv": csv})
            self.tokens |= {each["name"]: each["token"] for each in joined.json()}
            for name in NAMES:
                self.bots[name] = client = await self.house.client()
                options: dict[str, Any] = {"games": ["connect_four"], "max_matches": 4}
                assert not isinstance(
                    await client.hello(self.tokens[name], "bot", **options), Error
                )
            await api.post(f"{HERE}/cup/freeze", json={})
            assert (await api.post(f"{HERE}/cup/run", json={})).status_code == 200
        for name in NAMES:
            for _ in range(2):
                snapshot = (await self.bots[name].next(MatchMessage)).snapshot
                await self.bots[name].ask(Ready, snapshot.match)
                pair = frozenset(each.player for each in snapshot.players)
                self.of[pair] = snapshot.match
        await self.bots["ada"].ask(Resign, self.of[frozenset(("ada", "bob"))])
        await self.bots["bob"].next(Finished)
        self.tokens["eve"] = await self.house.token("eve")
        self.tokens["root"] = await self.house.token("root", "admin")
        self.tokens[""] = ""

    def web(self, who: str) -> httpx.AsyncClient:
        headers = {"Authorization": f"Bearer {self.tokens[who]}"} if self.tokens.get(who) else {}
        return httpx.AsyncClient(base_url=self.house.server.url, headers=headers)

    def seen(self, who: str) -> set[str]:
        """The matches that somebody may see, by the rules."""
        every = set(self.of.values())
        if self.board == "public" or who in ("olga", "root"):
            return every
        if self.board == "class" and who in NAMES:
            return every
        return {match for pair, match in self.of.items() if who in pair}


@pytest.fixture(params=["public", "class", "anonymous"])
async def final(open_house: Any, request: pytest.FixtureRequest) -> Final:
    made = Final(await open_house(embedding="https://a.example"), request.param)
    await made.begin()
    return made


async def ids(web: httpx.AsyncClient, path: str) -> set[str]:
    answer = await web.get(path)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    return {each["match"] for each in (found if isinstance(found, list) else found["matches"])}


async def test_every_route_shows_each_viewer_what_the_board_allows(final: Final) -> None:
    every = set(final.of.values())
    row = await final.house.hub.store.read(competition_sql.find, "cup")
    part = row.games[0].tournament_id
    for who in ("", "eve", "ada", "cy", "olga", "root"):
        seen = final.seen(who)
        async with final.web(who) as web:
            assert await ids(web, "/api/v1/matches") == seen, who
            assert await ids(web, f"/api/v1/matches?competition={part}") == seen, who
            assert await ids(web, "/api/v1/matches?limit=1") <= seen, who
            mine = {match for pair, match in final.of.items() if "bob" in pair}
            assert await ids(web, "/api/v1/players/bob") == seen & mine, who
            assert await ids(web, "/api/v1/matches?player=bob") == seen & mine, who
            for match in every:
                for path in ("", "/record", "/replay"):
                    answer = await web.get(f"/api/v1/matches/{match}{path}")
                    allowed = {200} if match in seen else {404}
                    assert answer.status_code in allowed, (who, path, answer.text)
                    if match not in seen:
                        other = await web.get(f"/api/v1/matches/none{path}")
                        assert other.json() == {
                            **answer.json(),
                            "detail": answer.json()["detail"].replace(match, "none"),
                        }, "what is hidden looks like what is not there"
                # Not over, or no reviews here: who may not see the match is not told that either.
                answer = await web.get(f"/api/v1/matches/{match}/review")
                assert answer.status_code in ({409, 501} if match in seen else {404})
                answer = await web.get(f"/api/v1/matches/{match}/detail")
                assert (answer.status_code == 404) == (bool(who) and match not in seen)
            assert (await web.get("/api/v1/leaderboards")).json() == []


async def test_memory_and_queries_agree_on_who_sees_a_match(final: Final) -> None:
    store, privacy = final.house.hub.store, final.house.hub.privacy
    stored = [await store.read(match_reads.stored_match, each) for each in final.of.values()]
    holders = {seat.player_id for each in stored for seat in each.header.seats}
    for viewer in (None, max(holders) + 1000, *holders):
        sight = await privacy.sight_of(viewer, frozenset())
        listed = {each.match for each in await privacy.matches(sight, MatchFilter())}
        assert listed == {each.header.id for each in stored if await privacy.sees(sight, each)}
    public = {privacy.known_free(each.pairing.tournament_id) for each in stored}
    assert public == {final.board == "public"}


async def test_a_match_that_must_not_be_seen_is_no_place_to_list_from(final: Final) -> None:
    """Its existence, and the matches between which it ended, are not public either."""
    for who in ("", "eve", "cy", "olga"):
        async with final.web(who) as web:
            for match in final.of.values():
                for path in ("/api/v1/matches?before=", "/api/v1/matches?sort=ended&before="):
                    answer = await web.get(path + match)
                    none = await web.get(path + "none")
                    if match in final.seen(who):
                        over = match == final.of[frozenset(("ada", "bob"))]
                        assert answer.status_code == (200 if over or "ended" not in path else 404)
                        continue
                    assert answer.status_code == none.status_code
                    assert answer.text.replace(match, "none") == none.text


async def test_pages_show_what_is_public(final: Final) -> None:
    async with final.web("") as web:
        texts = {path: (await web.get(path)).text for path in ("/", "/matches")}
        pages = {match: await web.get(f"/matches/{match}") for match in final.of.values()}
        none = await web.get("/matches/none")
    over = final.of[frozenset(("ada", "bob"))]
    assert none.status_code == 404
    for match, page in pages.items():
        public = final.board == "public"
        assert (match in texts["/matches"]) == public
        if match == over or not public:  # the front page also shows one running match
            assert (match in texts["/"]) == public
        assert page.status_code == (200 if public else 404)
        if not public:
            assert page.text.replace(match, "none") == none.text


async def test_who_is_signed_in_at_a_browser_sees_what_the_token_shows(final: Final) -> None:
    own_page = {"origin": final.house.server.url}
    paths = ("board", "table", "rounds", "report", "export/csv", "export/jsonl")
    for who in ("eve", "ada", "olga"):
        async with httpx.AsyncClient(base_url=final.house.server.url, headers=own_page) as browser:
            signed = await browser.post("/api/v1/session", json={"token": final.tokens[who]})
            assert signed.status_code == 200, signed.text
            async with final.web(who) as web:
                for path in paths:
                    by_token = await web.get(f"{HERE}/cup/{path}")
                    by_session = await browser.get(f"{HERE}/cup/{path}")
                    assert by_session.status_code == by_token.status_code, (who, path)
                    assert by_session.text == by_token.text, (who, path)


async def test_projector_wall_and_frames_show_what_the_viewer_may_see(final: Final) -> None:
    public = final.board == "public"
    for who in ("", "eve", "ada", "cy", "olga"):
        seen = final.seen(who)
        async with final.web(who) as web:
            for match in final.of.values():
                shown = await web.get("/projector", params={"match": match})
                assert shown.status_code == (200 if match in seen else 404), who
                frame = await web.get(f"/embed/{match}")
                assert frame.status_code == (200 if public else 404), "frames are for everybody"
                assert ("bob" in frame.text) == (public and "bob" in _who(final, match))
                page = await web.get(f"/matches/{match}")
                assert page.status_code == (200 if match in seen else 404)
                assert ("data-embed" in page.text) == public, "no way to a frame that is not there"
            # The wall and the projector ask for what runs.
            assert await ids(web, "/api/v1/matches?status=running") <= seen
            none = await web.get("/embed/none")
            for match in () if public else final.of.values():
                frame = await web.get(f"/embed/{match}")
                assert frame.text.replace(match, "none") == none.text


def _who(final: Final, match: str) -> frozenset[str]:
    return next(pair for pair, each in final.of.items() if each == match)


async def test_who_is_signed_in_at_a_browser_watches_what_it_may_see(final: Final) -> None:
    bc = final.of[frozenset(("bob", "cy"))]
    host = final.house.server.url.partition("//")[2]
    for who, origin in (("cy", ""), ("ada", ""), ("eve", ""), ("olga", ""), ("cy", "evil.example")):
        async with final.web("") as web:
            own = {"Origin": final.house.server.url}
            signed = {"token": final.tokens[who]}
            entered = await web.post("/api/v1/session", json=signed, headers=own)
            assert entered.status_code == 200, entered.text
            cookie = "; ".join(f"{name}={value}" for name, value in web.cookies.items())
        headers = {"Cookie": cookie, "Origin": f"http://{origin or host}"}
        async with connect(
            f"ws://{host}/ws", subprotocols=[Subprotocol("plyhouse.v1+json")],
            additional_headers=headers, origin=None,
        ) as socket:  # fmt: skip
            await socket.send(JSON.encode(Hello(1, "")))
            assert isinstance(JSON.decode_server(await socket.recv()), Welcome)
            await socket.send(JSON.encode(Watch(2, bc)))
            answer = JSON.decode_server(await socket.recv())
            while isinstance(answer, Ping):
                answer = JSON.decode_server(await socket.recv())
        # A request from another site has no identity, with any cookie.
        allowed = bc in final.seen("" if origin else who)
        assert isinstance(answer, MatchMessage) == allowed, (who, origin, answer)


@pytest.mark.parametrize("logged_in", [False, True])
async def test_spectators_on_the_wire_follow_what_they_may_see(
    final: Final, logged_in: bool
) -> None:
    bc = final.of[frozenset(("bob", "cy"))]
    for who in ("eve", "ada", "cy", "olga") if logged_in else ("",):
        client = await final.house.client()
        if who == "olga":  # an organiser's token alone does not log in: it is no bot's
            token = await final.house.token("olga", "play", "organise")
        else:
            token = final.tokens[who]
        welcome = await client.hello(token, "watcher" if who else "")
        assert not isinstance(welcome, Error), welcome
        answer = await client.ask(Watch, bc)
        if bc in final.seen(who):
            assert isinstance(answer, MatchMessage), (who, answer)
        else:
            none = await client.ask(Watch, "none")
            assert isinstance(answer, Error), who
            assert (answer.code, answer.message) == (none.code, none.message)
        await client.close()


async def test_a_match_stays_private_when_its_competition_is_deleted_or_a_student_leaves(
    house: Any,
) -> None:
    final = Final(house, "class")
    await final.begin()
    ac = final.of[frozenset(("ada", "cy"))]
    bc = final.of[frozenset(("bob", "cy"))]
    async with final.web("ada") as web:
        assert (await web.get(f"/api/v1/matches/{bc}")).status_code == 200
        await house.hub.store.write(
            competition_students.withdraw, "cup", "ada", OLGA, house.hub.store.now()
        )
        assert (await web.get(f"/api/v1/matches/{bc}")).status_code == 404
        assert (await web.get(f"/api/v1/matches/{ac}")).status_code == 200, "its own"
    await house.hub.store.write(competition_sql.move, "cup", "delete", OLGA, house.hub.store.now())
    async with final.web("") as web:
        assert await ids(web, "/api/v1/matches") == set()
    async with final.web("bob") as web:
        assert bc in await ids(web, "/api/v1/matches")


async def test_free_play_and_other_competitions_are_public(house: Any) -> None:
    final = Final(house, "anonymous")
    await final.begin()
    one = await house.bot("dora", "one", games=["pig"], max_matches=2)
    two = await house.bot("dora", "two", games=["pig"], max_matches=2)
    async with final.web("olga") as web:
        text = round_robin_text("open", "pig", "total:60", rounds=1, mirrored=True, rated=False)
        body = {"file": text, "entries": ["dora/one", "dora/two"]}
        assert (await web.post("/api/v1/competitions", json=body)).status_code == 201
    started = await asyncio.gather(one.start(), two.start())
    async with final.web("") as web:
        assert await ids(web, "/api/v1/matches?game=pig") >= {each.match for each in started}
        page = (await web.get("/matches")).text
        assert started[0].match in page
    spectator = await house.client(JSON)
    await spectator.hello("")
    assert isinstance(await spectator.ask(Watch, started[0].match), MatchMessage)
    again = await spectator.ask(Watch, started[0].match)
    assert isinstance(again, MatchMessage), "also when it is known to be public"


async def test_a_wrong_token_is_told_and_not_taken_for_none(house: Any) -> None:
    async with httpx.AsyncClient(
        base_url=house.server.url, headers={"Authorization": "Bearer nonsense"}
    ) as web:
        for path in ("/api/v1/matches", "/api/v1/players/x", "/api/v1/matches/none"):
            answer = await web.get(path)
            assert (answer.status_code, answer.json()["code"]) == (401, "auth/bad_token"), path
