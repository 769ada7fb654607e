"""`plyhouse.clients.api` against a real server, and against one that has no time."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import os
from pathlib import Path
from typing import Any, get_type_hints

import msgspec
import pytest
from litestar.handlers import HTTPRouteHandler
from litestar.routes import HTTPRoute
from tests.harness.played_matches import played as over_and_played
from tests.harness.search_trees import OpenHouse, ask, ended, explain_command
from tests.harness.server import Server

from plyhouse.clients.api import Api, ApiError, AsyncApi, Patience, Rows, Unreachable, picture
from plyhouse.games.registry import get_game
from plyhouse.protocol.api import administration_calls, competition_calls
from plyhouse.protocol.api import calls as made_calls
from plyhouse.protocol.api import routes as api_routes
from plyhouse.protocol.api.matches import Match, Seat
from plyhouse.protocol.api.positions import Judged, Tree, TreeNode
from plyhouse.protocol.api.routes import Call, Route
from plyhouse.protocol.messages import Finished
from plyhouse.server.competition_rules.file_template import round_robin_text
from plyhouse.server.web.application import create_api
from plyhouse.storage import match_reads

FILE = 'name = "Cup"\ngames = ["tic_tac_toe"]\ntime_control = "total:60"\n'


def routes() -> list[Route[Any, Any]]:
    """All routes that clients know."""
    modules = (made_calls, competition_calls, administration_calls)
    return [each for part in modules for each in vars(part).values() if isinstance(each, Route)]


@pytest.mark.parametrize("route", routes(), ids=lambda route: route.__name__)
def test_route_begins_with_the_places_of_its_path(route: Route[Any, Any]) -> None:
    arguments = inspect.signature(route).parameters
    assert len(arguments) >= len(route.places)
    assert all(each.default is each.empty for each in list(arguments.values())[: len(route.places)])
    assert route.__doc__
    assert route.answer is not Call, "a route is annotated with its answer"


def handlers(route: Route[Any, Any]) -> list[HTTPRouteHandler]:
    """The handlers of the server that are registered for a route."""
    return [
        handler
        for each in create_api().routes
        if isinstance(each, HTTPRoute)
        for handler in each.route_handlers
        if handler.opt.get("route") is route
    ]


@pytest.mark.parametrize("route", routes(), ids=lambda route: route.__name__)
def test_handler_takes_what_its_route_sends(route: Route[Any, Any]) -> None:
    found = handlers(route)
    assert found, "no handler is registered for the route"
    sent = {*list(inspect.signature(route).parameters)[len(route.places) :]}
    for handler in found:
        taken = handler.parsed_fn_signature.parameters
        body = taken["data"].annotation if "data" in taken else None
        if isinstance(route.body, str):
            kind = get_type_hints(route.function)[route.body]
            assert body is (None if kind is bytes else kind)
            assert sent - {route.body} <= set(taken)
        elif route.body is not None:
            assert body is route.body
            assert isinstance(body, type)
            fields = {each.name: each.required for each in msgspec.structs.fields(body)}
            assert sent <= set(fields), "the body has no such field"
            assert {name for name, needed in fields.items() if needed} <= sent
        else:
            assert sent <= set(taken), "the handler knows no such parameter of the query"


@pytest.mark.parametrize("client", [Api, AsyncApi])
@pytest.mark.parametrize("token", ["ply_" + "x" * 300, "ply_\u00fc", "a b"])
def test_token_that_no_header_takes_is_refused_without_repeating_it(
    client: type[Api | AsyncApi], token: str
) -> None:
    with pytest.raises(ValueError, match="no server has made it") as caught:
        client("http://127.0.0.1:1", token)
    assert token not in str(caught.value)


async def test_file_is_saved_whole_by_the_name_that_the_server_gives(tmp_path: Path) -> None:
    named = {"content-disposition": 'attachment; filename="../../grades.csv"'}
    moody = Moody((200, named, b"a,b"), (404, {}, b'{"code": "storage/unknown"}'), (200, {}, b"c"))
    call = competition_calls.export_file("cup", "grades")
    async with await asyncio.start_server(moody, "127.0.0.1", 0) as server:
        with Api(f"127.0.0.1:{server.sockets[0].getsockname()[1]}") as api:
            place = await asyncio.to_thread(api.download, call, tmp_path)
            with pytest.raises(ApiError):
                await asyncio.to_thread(api.download, call, tmp_path)
            assert await asyncio.to_thread(api.do, call) == b"c"
    assert place == tmp_path / "grades.csv"
    assert [each.name for each in os.scandir(tmp_path)] == ["grades.csv"], "no part is left"
    assert await asyncio.to_thread(place.read_bytes) == b"a,b"


def test_method_has_the_arguments_and_documentation_of_its_call() -> None:
    with Api("http://127.0.0.1:1") as api:
        assert inspect.signature(api.tree) == inspect.signature(made_calls.tree)
        assert api.tree.__doc__ == made_calls.tree.__doc__
    assert Api.match("m1") == made_calls.match("m1")


def test_rows_are_taken_as_dataclasses_by_pandas() -> None:
    """`pandas.DataFrame` asks `is_dataclass` of the first row, and `asdict` of every one."""
    seats = [Seat(0, "alice", "one", "1", 1.0), Seat(1, "bob", "", "", 0.0)]
    assert all(dataclasses.is_dataclass(each) for each in seats)
    assert [field.name for field in dataclasses.fields(Seat)] == list(Seat.__struct_fields__)
    assert dataclasses.asdict(seats[1]) == msgspec.structs.asdict(seats[1])
    assert dataclasses.replace(seats[0], seat=2).seat == 2


def test_answers_of_other_versions_are_read() -> None:
    answer = {
        "match": "m1",
        "pairing": "p1",
        "game": "pig",
        "time_control": "move:1",
        "ply": 4,
        "rated": True,
        "status": "finished",
        "termination": "normal",
        "reason": "",
        "created_ms": 1,
        "started_ms": 2,
        "finished_ms": 3,
        "record": "/api/v1/matches/m1/record",
        "seats": [{"seat": 0, "player": "a", "bot": "b", "version": "", "returned": 1, "new": 1}],
        "of a newer server": {"unknown": True},
    }
    read = made_calls.match("m1").read(answer)
    assert isinstance(read, Match)
    assert (read.seats[0].name, read.kind, read.void_reason) == ("a/b", "", None)


async def play(house: Server, times: int = 1) -> list[str]:
    clients = [await house.bot("alice", "one"), await house.bot("bob", "two")]
    played = []
    for number in range(times):
        for client in clients:
            await client.seek("tic_tac_toe", "total:60", rated=True)
        matches = await asyncio.gather(*(client.start() for client in clients))
        ends = await asyncio.gather(
            *(
                client.play(match, seed=number)
                for client, match in zip(clients, matches, strict=True)
            )
        )
        assert all(isinstance(end, Finished) for end in ends)
        played.append(matches[0].match)
    return played


async def test_what_a_script_asks_for(house: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_routes, "PAGE", 2)
    played = await play(house, 3)
    stored = [await house.hub.store.read(match_reads.stored_match, match) for match in played]

    def script() -> None:
        with Api(house.server.url) as api:
            matches = Rows(api.matches(game="tic_tac_toe", status="finished"))
            assert [each.match for each in matches] == played[::-1], "all pages, newest first"
            assert len(list(api.matches(limit=1))) == 1
            assert list(api.matches(limit=0)) == []
            match = api.match(played[0])
            returns = stored[0].header.returns
            winner = "" if returns[0] == returns[1] else match.seats[returns.index(1.0)].name
            assert match.winner == winner
            assert "<td>tic_tac_toe</td>" in matches._repr_html_()
            record = api.record(played[0])
            assert [e["text"] for e in record.events if e["kind"] == "action"] == [
                row.text for row in stored[0].events if row.kind == "action"
            ]
            positions = list(api.positions(played[0]))
            assert [each.ply for each in positions] == list(range(match.ply + 1))
            assert positions[1].events[0].action is not None
            drawn = api.position(played[0], 1)._repr_svg_()
            assert drawn.startswith("<svg")
            assert ">\N{MULTIPLICATION SIGN}</text>" in drawn
            with pytest.raises(LookupError, match="no position before ply 99"):
                api.position(played[0], 99)
            assert api.leaderboards() == ["tic_tac_toe"]
            assert {each.bot for each in api.standings("tic_tac_toe")} == {"one", "two"}
            assert len(api.leaderboard("tic_tac_toe", limit=1).standings) == 1
            assert [bot.name for bot in api.bots("alice")] == ["one"]
            assert api.player("bob").online == ["bob/two"]
            page = api.bot("Alice", "one")
            assert (page.career.matches, page.online) == (3, True)
            met = [(each.player, each.bot, each.matches) for each in page.career.against]
            assert met == [("bob", "two", 3)]
            assert sum(each.matches for each in page.career.seats) == 3
            assert page.paces[0].plies == sum(
                row.kind == "action" and row.seat == own
                for match in stored
                for own in (next(s.seat for s in match.header.seats if s.player == "alice"),)
                for row in match.events
            )
            assert [each.match for each in api.bot_matches("alice", "one")] == played[::-1]
            assert "chess" in [game.name for game in api.games()]
            assert api.health().status == "ok"
            with pytest.raises(ApiError, match="no match") as refused:
                api.match("nothing")
            assert (refused.value.code, refused.value.status) == ("storage/unknown", 404)
            with pytest.raises(ApiError) as off:
                api.review(played[0])
            assert off.value.code == "review/off"
            with pytest.raises(ApiError) as mine:
                api.detail(played[0])
            assert mine.value.code == "auth/required"

    await asyncio.to_thread(script)


async def test_a_script_asks_what_could_have_been_played(open_house: OpenHouse) -> None:
    house = await open_house(tree_command=explain_command())
    match = await ended(house, "b2 b1 a1 c3 a3 c1")
    async with AsyncApi(house.server.url) as api:
        tree = await api.tree(match, 4, search="minimax")
        below = await api.tree(match, 4, search="minimax", depth=1, then=["a3", "c1"])
        with pytest.raises(ApiError) as impossible:
            await api.tree(match, 99)
        raw = (await ask(house, match, "?ply=4&search=minimax")).json()
    assert impossible.value.code == "tree/impossible"
    assert (tree.search, tree.seats[tree.seat]) == ("minimax", "X")
    assert (tree.played, tree.judged) == ("a3", Judged("a3", 1.0, 1.0, "exact"))
    assert tree.line()[1].action == tree.best
    assert sum(1 for _ in tree.root.all()) == tree.nodes
    assert f"<strong>{tree.best}: 1</strong>" in tree._repr_html_()
    assert {each.action: each.worth for each in below.root.children}["a2"] == "1"
    # The client keeps every field of a tree and its nodes.
    nodes, names = [raw["root"]], set()
    while nodes:
        names |= set(nodes[-1])
        nodes += nodes.pop().get("children", ())
    assert names <= set(TreeNode.__struct_fields__)
    assert set(raw) == set(Tree.__struct_fields__)


async def test_a_script_asks_what_chance_could_have_done(house: Server) -> None:
    match = await over_and_played(house, "pig(target=30)")
    async with AsyncApi(house.server.url) as api:
        found = await api.chances(match)
        record = await api.record(match)
        with pytest.raises(ApiError) as off:
            await api.tree(match)
    rolled = [each["text"] for each in record.events if each["kind"] == "chance"]
    assert len(rolled) == len(found.nodes) > 0
    for counter, text in enumerate(rolled):
        possible = found.outcomes(counter)
        assert text in [each.text for each in possible]
        assert sum(each.probability for each in possible) == pytest.approx(1)
    with pytest.raises(IndexError):
        found.outcomes(len(rolled))
    assert off.value.code == "tree/off"


async def test_a_day_of_an_organiser(house: Server) -> None:
    await house.bot("staff", "calm", games=["tic_tac_toe"])
    token = await house.token("olga", "organise", "play")
    async with AsyncApi(house.server.url, token) as api:
        with pytest.raises(ApiError) as mistakes:
            await api.check_competition(FILE + "rond = 2\n")
        assert mistakes.value.code == "competition/invalid"
        assert mistakes.value.fields["mistakes"][0]["key"] == "rond"
        assert [each.game for each in await api.check_competition(FILE)] == ["tic_tac_toe"]
        opened = await api.open_competition(FILE, why="term begins")
        assert opened.status == "open"
        assert [each.name for each in await api.competitions()] == ["Cup"]
        ada, *_ = await api.take_in("cup", "name\nAda\nGrace\n")
        assert ada.token.startswith("ply_")
        code = await api.new_code("cup", 3)
        async with AsyncApi(house.server.url, "") as stranger:
            joined = await stranger.join(code.code, player="kurt")
        assert joined.outcome == "new"
        assert [each.used for each in await api.codes("cup")] == [1]
        await api.revoke_code(code.code)
        assert len(await api.students("cup")) == 3
        async with AsyncApi(house.server.url, ada.token) as student:
            assert await student.versions() == []
            with pytest.raises(ApiError) as scope:
                await student.competition("cup")
            assert scope.value.code == "auth/scope"
        await api.extend("cup", ada.account, "2099-01-01T00:00:00+00:00")
        assert await api.disqualify("cup", joined.account, "copied") == []
        assert await api.withdraw("cup", ada.account) == []
        await api.restore("cup", ada.account)
        assert (await api.reissue_token("cup", ada.account)).outcome == "reissued"
        assert (await api.add_staff("cup", "staff", "reader")).able is False
        assert [each.role for each in await api.staff("cup")] == ["owner", "reader"]
        await api.remove_staff("cup", "staff", why="left")
        assert (await api.step_competition("cup", "freeze", why="the day")).status == "frozen"
        assert (await api.unfreeze_competition("cup")).status == "open"
        there = await api.competition_file("cup")
        changed = await api.change_competition(
            "cup", there.file + "rounds = 3\n", apply=True, digest=there.digest
        )
        assert [each.key for each in changed.changes] == ["rounds"]
        assert (await api.step_competition("cup", "freeze")).status == "frozen"
        assert isinstance(await api.board("cup"), Rows)
        assert (await api.table("cup")).twins == []
        assert await api.next_pairings("cup", limit=3) == []
        assert (await api.export("cup")).grades_csv
        detail = await api.competition("cup")
        assert {each.status for each in detail.students} >= {"disqualified"}
        await api.delete_competition("cup", "over")
        await house.bot("zoe", "keen", games=["tic_tac_toe"])
        bots = ["staff/calm", "zoe/keen"]
        text = round_robin_text(
            "week 3", "tic_tac_toe", "total:60", rounds=1, mirrored=True, rated=True
        )
        made = await api.open_competition(text, entries=bots)
        assert [each.entry for each in await api.board(made.name)] == bots
        await api.step_competition("week 3", "pause", why="lunch")
        await api.step_competition("week 3", "resume", why="coffee")
        gone = await api.withdraw(made.name, "zoe/keen", why="ill")
        assert [(each.entry, each.status) for each in gone] == [("zoe/keen", "withdrawn")]
        await api.delete_competition("week 3", "a test")
        assert await api.competitions() == []


class Moody:
    """A server of which each connection gets the next answer."""

    def __init__(self, *answers: tuple[int, dict[str, str], bytes]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.asked.append(head.partition("\r\n")[0])
        status, headers, body = self.answers.pop(0)
        lines = [f"HTTP/1.1 {status} Said", f"content-length: {len(body)}", "connection: close"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        await writer.drain()
        writer.close()


Answer = tuple[int, dict[str, str], bytes]
LATER: Answer = (503, {"retry-after": "7"}, b'{"code": "review/busy", "detail": "Later."}')
OFTEN: Answer = (429, {}, b'{"code": "auth/rate", "detail": "Too often."}')
NOT_NOW: Answer = (503, {}, b'{"code": "server/storage", "detail": "Not now."}')
NONE: Answer = (200, {"content-type": "application/json"}, b"[]")


@pytest.mark.parametrize(
    ("answers", "waits", "code"),
    [
        ([LATER, NONE], [7.0], ""),
        ([OFTEN, OFTEN, NONE], [0.5, 1.0], ""),
        ([OFTEN] * 4, [0.5, 1.0, 2.0], "auth/rate"),
        ([(503, {"retry-after": "3600"}, b"{}")], [], "http/503"),
        ([(404, {}, b'{"code": "storage/unknown"}')], [], "storage/unknown"),
    ],
    ids=["as told", "twice as long", "no more than four times", "too long", "no use"],
)
async def test_what_fails_for_the_moment_is_asked_again(
    answers: list[Any], waits: list[float], code: str
) -> None:
    moody = Moody(*answers)
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    async with await asyncio.start_server(moody, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with AsyncApi(f"127.0.0.1:{port}", sleep=sleep) as api:
            if code:
                with pytest.raises(ApiError) as refused:
                    await api.competitions()
                assert refused.value.code == code
            else:
                assert await api.competitions() == []
    assert waited == waits
    assert len(moody.asked) == len(answers)


async def test_what_may_have_been_done_is_not_done_twice() -> None:
    moody = Moody(NOT_NOW, OFTEN, NONE)
    async with await asyncio.start_server(moody, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        patience = Patience(base=0.0)
        async with AsyncApi(f"127.0.0.1:{port}", patience=patience) as api:
            with pytest.raises(ApiError, match="Not now"):
                await api.take_in("cup", "name\nAda\n")
            assert await api.take_in("cup", "name\nAda\n") == []
    assert [line.split()[0] for line in moody.asked] == ["POST"] * 3


async def test_nobody_answers_or_somebody_else() -> None:
    moody = Moody((200, {}, b"<html>"), (302, {"location": "/"}, b""), (502, {}, b"<html>"))
    async with await asyncio.start_server(moody, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with AsyncApi(f"127.0.0.1:{port}") as api:
            with pytest.raises(Unreachable, match="no Plyhouse server"):
                await api.competitions()
            with pytest.raises(Unreachable, match="elsewhere"):
                await api.competitions()
            with pytest.raises(ApiError, match="502"):
                await api.competitions()
    gone = Api(f"127.0.0.1:{port}", patience=Patience(attempts=2, base=0.0))
    with gone, pytest.raises(Unreachable, match="Nothing listens"):
        gone.health()


def test_the_environment_says_where_and_who(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLYHOUSE_SERVER", "wss://example.org/ws")
    with Api() as api:
        assert api.server == "https://example.org"
    with pytest.raises(ValueError, match="not the address"):
        Api("ftp://example.org")


@pytest.mark.parametrize("name", ["chess", "go", "backgammon", "kuhn_poker", "pig", "othello"])
def test_states_draw_themselves_as_one_may_see_them(name: str) -> None:
    from xml.etree import ElementTree

    game = get_game(name)
    state: Any = game.initial_state()
    while state.to_move < 0:
        state = state.after(state.chance_outcomes()[0][0])
    for seat in (None, 0, 1):
        drawn = picture(game, state, seat)
        assert ElementTree.fromstring(drawn._repr_svg_()).tag.endswith("svg")
    if name == "kuhn_poker":
        card = game.format_chance(
            game.initial_state(), game.initial_state().chance_outcomes()[0][0]
        )
        assert f">{card}</text>" in picture(game, state, 0).svg
        assert f">{card}</text>" not in picture(game, state, 1).svg
