"""Language models over MCP: the official client against a real server, and what it may not see."""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any
from xml.etree import ElementTree

import httpx2
import msgspec
import pytest
from mcp.shared.exceptions import MCPError
from tests.harness.mcp import MODERN, Model, Table, play
from tests.harness.patience import PATIENCE
from tests.harness.server import Server

from plyhouse.games import CHANCE, get_game
from plyhouse.games.position import Position
from plyhouse.server.mcp import agents, endpoint
from plyhouse.server.mcp.arguments import LONGEST_WAIT
from plyhouse.server.serve import CannotServe
from plyhouse.storage import people_changes
from plyhouse.storage.rows import By

OpenHouse = Callable[..., Awaitable[Server]]


@pytest.fixture
async def table(open_house: OpenHouse) -> Table:
    return Table(await open_house(mcp=True))


@pytest.mark.parametrize("mode", [MODERN, "auto", "legacy"])
async def test_two_models_play_a_match_to_its_end(table: Table, mode: str) -> None:
    models = [await table.model(name, mode=mode) for name in ("ada", "bob")]
    found = await asyncio.gather(*(model.call("seek", game="tic_tac_toe") for model in models))
    assert [each["status"] for each in found] == ["playing", "playing"]
    match = found[0]["match"]
    end = await play(models, match)
    assert end["termination"] == "normal"
    assert sorted(end["players"]) == ["ada/gpt", "bob/gpt"]
    result = await models[0].call("result", match=match)
    assert result["over"]
    assert result["returns"] == end["returns"]
    assert match in await models[0].resource(f"plyhouse://records/{match}")


async def test_a_match_is_played_by_requests_to_each_server_in_turn(table: Table) -> None:
    places = itertools.cycle(table.server.urls)
    ada, bob = await table.model("ada"), await table.model("bob")
    waiting = await ada.at(next(places)).call("seek", game="tic_tac_toe", seconds=0)
    assert waiting["status"] == "waiting"
    begun = await bob.at(next(places)).call("seek", game="tic_tac_toe")
    found = await ada.at(next(places)).call("seek", game="tic_tac_toe")
    match = begun["match"]
    assert found["match"] == match
    plies = 0
    while True:
        for model in (ada, bob):
            view = await model.at(next(places)).call("wait", match=match, seconds=30)
            if view["status"] == "finished":
                break
            assert view["ply"] == plies
            if view["your_turn"]:
                act = {"match": match, "ply": view["ply"], "action": view["legal"][0]}
                played = await model.at(next(places)).call("act", **act)
                again = await model.at(next(places)).call("act", **act)
                assert (played.get("repeated", False), again["repeated"]) == (False, True)
                plies += 1
        else:
            continue
        break
    assert view["termination"] == "normal"
    for url in table.server.urls:
        assert match in await ada.at(url).resource(f"plyhouse://records/{match}")


async def test_an_action_counts_once_and_another_one_for_its_ply_is_refused(table: Table) -> None:
    models, match = await table.seated("tic_tac_toe")
    played = await models[0].call("act", match=match, ply=0, action="b2")
    again = await models[0].call("act", match=match, ply=0, action="b2")
    assert (played.get("repeated", False), again["repeated"]) == (False, True)
    assert (await models[0].refused("act", match=match, ply=0, action="a1"))["code"] == (
        "action/conflict"
    )
    assert (await models[1].refused("act", match=match, ply=0, action="a1"))["code"] == (
        "match/stale_ply"
    )


async def test_illegal_action_names_the_legal_ones_and_is_never_replaced(
    open_house: OpenHouse,
) -> None:
    table = Table(await open_house(mcp=True, illegal_rule="retry"))
    models, match = await table.seated("tic_tac_toe")
    error = await models[0].refused("act", match=match, ply=0, action="I play b2.")
    assert error["code"] == "action/invalid"
    assert "b2" in error["legal"]
    view = await models[0].call("position", match=match)
    assert view["your_turn"]
    assert view.get("events", []) == []


async def test_levels_of_help_leave_out_rules_and_legal_actions_and_mark_the_results(
    table: Table,
) -> None:
    models = [
        await table.model(name, level=level)
        for name, level in (("ada", ""), ("bob", "actions"))  # by default the position only
    ]
    found = await asyncio.gather(
        *(each.call("seek", game="tic_tac_toe", time_control="move:60") for each in models)
    )
    match, turn = (
        found[0]["match"],
        next(each["view"] for each in found if each["view"]["your_turn"]),
    )
    mover = models[0] if turn == found[0]["view"] else models[1]
    assert ("legal" in turn) == (mover is models[1])
    if mover is models[1]:  # then the position is the other one's to judge
        await mover.call("act", match=match, ply=0, action="b2")
    bare, helped = models
    view = await bare.call("wait", match=match, seconds=30)
    assert view["your_turn"]
    assert ("legal" in view, view["legal_left_out"]) == (False, True)
    assert (await bare.refused("legal_actions", match=match))["code"] == "help/level"
    notation = get_game("tic_tac_toe").action_notation
    unruled = {"game": "tic_tac_toe", "rules": "", "notation": notation}
    assert await bare.call("rules", game="tic_tac_toe") == unruled
    assert await bare.resource("plyhouse://rules/tic_tac_toe") == f"Actions: {notation}"
    await bare.call("act", match=match, ply=view["ply"], action="a1")
    assert (await helped.call("wait", match=match, seconds=30))["legal"]
    assert await helped.call("rules", game="tic_tac_toe") == unruled
    await bare.call("resign", match=match)
    record = json.loads(await helped.resource(f"plyhouse://records/{match}"))
    labels = {each["player"]: each["version"] for each in record["seats"]}
    assert labels == {"ada": "help: position", "bob": "help: actions"}
    wrong = await table.model("eve", level="everything")
    assert "position, actions, rules" in (await wrong.refused("my_matches"))["message"]


async def test_without_a_level_in_the_address_an_agent_sees_the_position_only(
    table: Table,
) -> None:
    models = [await table.model(name, level="") for name in ("ada", "bob")]
    found = await asyncio.gather(
        *(each.call("seek", game="tic_tac_toe", help="position") for each in models)
    )
    assert ["legal" in each["view"] for each in found] == [False, False]
    assert not (await models[0].call("rules", game="tic_tac_toe"))["rules"]
    record = await _record_of(models[0], found[0]["match"])
    assert {each["version"] for each in record["seats"]} == {"help: position"}


async def _record_of(model: Model, match: str) -> dict[str, Any]:
    await model.call("resign", match=match)
    record: dict[str, Any] = json.loads(await model.resource(f"plyhouse://records/{match}"))
    return record


async def test_an_agent_demands_a_level_of_help_and_is_refused_with_another_one(
    table: Table,
) -> None:
    ada, bob = await table.model("ada", level="actions"), await table.model("bob")
    await bob.call("my_matches")
    for tool, more in (("seek", {}), ("challenge", {"opponent": "bob/gpt"})):
        error = await ada.refused(tool, game="pig", help="position", **more)
        assert error["code"] == "help/required"
        assert "--help-level position" in error["message"]
    assert (await ada.call("seek", game="pig", seconds=0))["status"] == "waiting"
    assert (await ada.call("seek", game="pig", help="actions", seconds=0))["status"] == "waiting"
    assert len(table.server.hub.lobby) == 2, "each goes on waiting"


async def test_a_seek_that_demands_help_is_not_answered_with_the_match_of_one_that_does_not(
    table: Table,
) -> None:
    ada, bob = await table.model("ada", level="actions"), await table.model("bob")
    for demand in ("", "actions"):
        await ada.call("seek", game="pig", help=demand, seconds=0)
    begun = await bob.call("seek", game="pig")
    demanding = await ada.call("seek", game="pig", help="actions", seconds=0)
    assert demanding["status"] == "waiting"
    assert (await ada.call("seek", game="pig", seconds=0))["match"] == begun["match"]
    assert len(table.server.hub.lobby) == 1, "the demanding seek goes on"
    eve = await table.model("eve", level="actions")
    other = await eve.call("seek", game="pig", help="actions")
    assert (await ada.call("seek", game="pig", help="actions"))["match"] == other["match"]
    assert len(table.server.hub.lobby) == 0


async def test_a_match_that_one_seek_found_is_no_news_to_another(table: Table) -> None:
    ada, bob = await table.model("ada", level="actions"), await table.model("bob", level="actions")
    for demand in ("", "actions"):
        await ada.call("seek", game="pig", help=demand, seconds=0)
    begun = await bob.call("seek", game="pig")
    assert (await ada.call("seek", game="pig", help="actions"))["match"] == begun["match"]
    await bob.call("resign", match=begun["match"])
    assert (await ada.call("seek", game="pig", seconds=0))["status"] == "waiting"


async def test_a_seek_ends_with_its_answer_although_another_way_led_to_the_match(
    table: Table,
) -> None:
    ada, bob = await table.model("ada"), await table.model("bob")
    await bob.call("my_matches")
    await ada.call("seek", game="pig", seconds=0)
    asked = asyncio.create_task(bob.call("challenge", opponent="ada/gpt", game="pig"))
    challenges = await ada.challenges()
    await ada.call("answer_challenge", challenge=challenges[0]["challenge"], accept=True)
    match = (await asked)["match"]
    assert (await ada.call("seek", game="pig", seconds=0))["match"] == match
    assert len(table.server.hub.lobby) == 0


async def test_a_match_keeps_the_level_of_help_in_its_record_after_a_new_login(
    open_house: OpenHouse,
) -> None:
    """Else a bot could play with more help than the label that its rating belongs to."""
    table = Table(await open_house(mcp=True, illegal_rule="retry"))
    tokens = {name: await table.server.token(name) for name in ("ada", "bob")}
    bare = [await table.model(token=token, level="position") for token in tokens.values()]
    found = await asyncio.gather(
        *(each.call("seek", game="tic_tac_toe", time_control="move:60") for each in bare)
    )
    match, mover = found[0]["match"], [each["view"]["your_turn"] for each in found].index(True)
    helped = await table.model(token=list(tokens.values())[mover], level="rules")
    (view,) = (await helped.call("my_matches"))["matches"]
    assert view["your_turn"]
    assert ("legal" in view, view.get("legal_left_out")) == (False, True)
    assert (await helped.refused("legal_actions", match=match))["code"] == "help/level"
    error = await helped.refused("act", match=match, ply=0, action="d4")
    assert "legal" not in error
    assert "b2" not in json.dumps(error)
    await helped.call("act", match=match, ply=0, action="a1")
    await helped.call("resign", match=match)
    record = json.loads(await helped.resource(f"plyhouse://records/{match}"))
    assert {each["version"] for each in record["seats"]} == {"help: position"}


async def test_rated_matches_at_two_levels_of_help_give_one_bot_two_ratings(table: Table) -> None:
    tokens = {name: await table.server.token(name) for name in ("ada", "bob")}
    for level in ("position", "actions"):
        models = [
            await table.model(token=tokens["ada"], level=level),
            await table.model(token=tokens["bob"]),
        ]
        terms = {"game": "tic_tac_toe", "time_control": "move:60", "rated": True}
        found = await asyncio.gather(*(each.call("seek", **terms) for each in models))
        await models[1].call("resign", match=found[0]["match"])
    url = table.server.server.url
    async with httpx2.AsyncClient(base_url=url) as web:
        answer = await web.get("/api/v1/leaderboards/tic_tac_toe", params={"versions": "all"})
        every = (await web.get("/leaderboards/tic_tac_toe", params={"versions": "all"})).text
        last = (await web.get("/leaderboards/tic_tac_toe")).text
    lines = {(each["player"], each["version"]): each["wins"] for each in answer.json()["standings"]}
    assert lines == {
        ("ada", "help: position"): 1,
        ("ada", "help: actions"): 1,
        ("bob", "help: rules"): 0,
    }
    assert ("help: position" in every, "help: actions" in every) == (True, True)
    assert ("help: position" in last, "help: actions" in last) == (False, True)


async def test_without_help_an_illegal_action_does_not_list_the_legal_ones(
    open_house: OpenHouse,
) -> None:
    table = Table(await open_house(mcp=True, illegal_rule="retry"))
    models = [await table.model(name, level="position") for name in ("ada", "bob")]
    found = await asyncio.gather(
        *(each.call("seek", game="tic_tac_toe", time_control="move:60") for each in models)
    )
    mover = models[[each["view"]["your_turn"] for each in found].index(True)]
    for action, why in (("d4", "not legal here"), ("the centre", "see `rules`")):
        error = await mover.refused("act", match=found[0]["match"], ply=0, action=action)
        assert error["code"].startswith("action/")
        assert why in error["message"]
        assert "legal" not in error
        assert "b2" not in json.dumps(error)


async def test_models_see_what_their_seats_see(table: Table) -> None:
    models, match = await table.seated("kuhn_poker")
    shown = [await model.call("position", match=match) for model in models]
    await play(models, match)
    record = json.loads(await models[0].resource(f"plyhouse://records/{match}"))
    game = get_game("kuhn_poker")
    position = Position(game)
    for each in record["events"]:
        if each["kind"] == "chance":  # both are dealt before anybody acts
            position.apply(CHANCE, each["text"])
    for seat, view in enumerate(shown):
        fields = game.observe(position.state, seat).fields()
        legal = fields.pop("legal")
        assert view["observation"] == msgspec.json.decode(msgspec.json.encode(fields))
        assert tuple(view.get("legal", ())) == legal
        assert sum(each["action"] is None for each in view["events"]) == 1, "the other's card"
    spectator = await (await table.model("eve")).call("position", match=match)
    assert spectator["status"] == "finished"


async def test_a_spectator_of_hidden_information_sees_no_card(table: Table) -> None:
    _, match = await table.seated("kuhn_poker")
    eve = await table.model("eve")
    view = await eve.call("position", match=match)
    assert view.get("seat") is None
    assert [each["action"] for each in view["events"]] == [None, None]
    assert "legal" not in view


async def test_model_sees_the_end_of_its_match_from_its_seat(table: Table) -> None:
    """A model that folds must know its card and which of the returns is its own."""
    models, match = await table.seated("kuhn_poker")
    cards = [(await each.call("position", match=match))["observation"]["card"] for each in models]
    await models[0].call("act", match=match, ply=0, action="check")
    await models[1].call("act", match=match, ply=1, action="bet")
    views = [(await models[0].call("act", match=match, ply=2, action="fold"))["view"]]
    views += [await each.call("position", match=match) for each in models]
    assert [each["termination"] for each in views] == ["normal"] * 3
    assert [each["seat"] for each in views] == [0, 0, 1]
    assert [each["observation"]["card"] for each in views] == [cards[0], *cards]


async def test_wait_returns_when_the_opponent_has_acted(table: Table) -> None:
    models, match = await table.seated("tic_tac_toe")
    cursor = (await models[1].call("position", match=match))["cursor"]
    waiting = [
        asyncio.create_task(models[1].call("wait", match=match, seconds=LONGEST_WAIT)),
        asyncio.create_task(
            models[1].call("wait", match=match, cursor=cursor, seconds=LONGEST_WAIT)
        ),
    ]
    await models[0].call("act", match=match, ply=0, action="b2")
    for view in await asyncio.gather(*waiting):
        assert view["your_turn"]
        assert view["cursor"] == cursor + 1
        assert view["events"][-1]["action"] == "b2"


async def test_a_challenge_is_listed_and_accepted(table: Table) -> None:
    ada, bob = await table.model("ada"), await table.model("bob")
    await bob.call("my_matches")
    asked = asyncio.create_task(ada.call("challenge", opponent="bob/gpt", game="chess", seat=1))
    open_ones = await bob.challenges()
    assert open_ones[0]["opponent"] == "ada/gpt"
    await bob.call("answer_challenge", challenge=open_ones[0]["challenge"], accept=True)
    begun = await asked
    assert begun["view"]["seat"] == 1
    match = begun["match"]
    offered = await bob.call("draw", match=match, what="offer")
    assert offered["view"]["draw_offered_by"] == [0]
    end = await ada.call("draw", match=match, what="accept")
    assert end["view"]["termination"] == "draw_agreed"


async def test_a_declined_challenge_says_so(table: Table) -> None:
    ada, bob = await table.model("ada"), await table.model("bob")
    await bob.call("my_matches")
    asked = asyncio.create_task(ada.call("challenge", opponent="bob/gpt", game="pig"))
    open_ones = await bob.challenges()
    await bob.call("answer_challenge", challenge=open_ones[0]["challenge"], accept=False)
    assert (await asked)["status"] == "declined"


async def test_resignation_ends_the_match(table: Table) -> None:
    models, match = await table.seated("connect_four")
    end = await models[1].call("resign", match=match)
    assert end["view"]["termination"] == "resignation"
    assert (await models[0].call("result", match=match))["returns"] == [1.0, -1.0]


async def test_a_seek_goes_on_between_calls_and_can_be_withdrawn(table: Table) -> None:
    ada = await table.model("ada")
    assert (await ada.call("seek", game="pig", seconds=0))["status"] == "waiting"
    assert len(table.server.hub.lobby) == 1
    assert (await ada.call("seek", game="pig", seconds=0))["status"] == "waiting"
    assert len(table.server.hub.lobby) == 1
    await ada.call("cancel_seek")
    assert len(table.server.hub.lobby) == 0


@pytest.mark.parametrize("over", [False, True])
async def test_a_match_that_began_between_two_calls_of_seek_is_found(
    table: Table, over: bool
) -> None:
    ada, bob = await table.model("ada"), await table.model("bob")
    assert (await ada.call("seek", game="pig", seconds=0))["status"] == "waiting"
    begun = await bob.call("seek", game="pig()")
    if over:
        await bob.call("resign", match=begun["match"])
    assert (await ada.call("seek", game="pig"))["match"] == begun["match"]
    assert (await ada.call("seek", game="pig", seconds=0))["status"] == "waiting"
    assert len(table.server.hub.lobby) == 1


async def test_a_seek_is_not_answered_with_the_match_of_another_one(table: Table) -> None:
    ada, bob = await table.model("ada"), await table.model("bob")
    for game in ("pig", "chess"):
        await ada.call("seek", game=game, seconds=0)
    begun = await bob.call("seek", game="pig")
    assert (await ada.call("seek", game="chess", seconds=0))["status"] == "waiting"
    assert (await ada.call("seek", game="pig", seconds=0))["match"] == begun["match"]
    await ada.call("cancel_seek")
    assert len(table.server.hub.lobby) == 0


async def test_position_has_a_picture_on_demand(table: Table) -> None:
    models, match = await table.seated("connect_four")
    answer = await models[0].answer("position", match=match, picture=True)
    text, picture = answer.content
    assert "It is" in text.text or "to move" in text.text  # type: ignore[union-attr]
    drawn = base64.b64decode(picture.data)  # type: ignore[union-attr]
    assert ElementTree.fromstring(drawn).tag.endswith("svg")


async def test_games_and_rules_need_no_token(table: Table) -> None:
    anyone = await table.model()
    games = (await anyone.call("list_games"))["games"]
    assert {"chess", "pig", "kuhn_poker"} <= {each["name"] for each in games}
    rules = await anyone.call("rules", game="pig")
    assert "hold" in rules["notation"]
    assert '"standings"' in await anyone.resource("plyhouse://leaderboards/pig")
    assert (await anyone.refused("rules", game="ludo"))["code"] == "game/unknown"


async def test_every_tool_describes_itself_and_its_fields(table: Table) -> None:
    async with (await table.model()).client() as client:
        tools = (await client.list_tools()).tools
    assert {each.name for each in tools if each.annotations.read_only_hint} == {  # type: ignore[union-attr]
        *("list_games", "rules", "my_matches", "position", "legal_actions"),
        *("wait", "result", "review"),
    }
    for tool in tools:
        assert tool.description, tool.name
        assert tool.output_schema is not None, tool.name
        for schema in (tool.input_schema, tool.output_schema):
            assert schema["type"] == "object"
            for name, field in schema["properties"].items():
                assert field.get("description"), f"{tool.name}: {name}"


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("position", {"match": "nothing"}, "match/unknown"),
        ("act", {"match": "nothing", "ply": 0, "action": "b2"}, "match/unknown"),
        ("act", {"match": "x", "ply": "0", "action": "b2"}, "protocol/bad_field"),
        ("act", {"match": "x", "action": "b2"}, "protocol/bad_field"),
        ("act", {"match": "x", "ply": 0, "action": "b2", "force": True}, "protocol/bad_field"),
        ("wait", {"match": "x", "seconds": 1e9}, "protocol/bad_field"),
        ("draw", {"match": "x", "what": "demand"}, "protocol/bad_field"),
        ("seek", {"game": "ludo"}, "game/unknown"),
        ("seek", {"game": "pig", "time_control": "soon"}, "time_control/invalid"),
        ("challenge", {"opponent": "nobody", "game": "pig"}, "challenge/offline"),
        ("answer_challenge", {"challenge": "x", "accept": True}, "challenge/unknown"),
        ("review", {"match": "nothing"}, "storage/unknown"),
    ],
)
async def test_bad_calls_have_the_codes_of_the_protocol(
    table: Table, tool: str, arguments: dict[str, Any], code: str
) -> None:
    ada = await table.model("ada")
    assert (await ada.refused(tool, **arguments))["code"] == code


async def test_too_many_games_in_the_address_are_refused_at_once(table: Table) -> None:
    """The server cannot say to which request its refusal belongs."""
    ada = await table.model("ada")
    many = Model(ada.address.replace("games=", "games=" + "pig," * 300), ada.token, MODERN)
    assert (await many.refused("my_matches"))["code"] == "protocol/bad_field"


async def test_tokens_are_needed_and_checked(table: Table) -> None:
    assert (await (await table.model()).refused("my_matches"))["code"] == "auth/required"
    wrong = await table.model(token="plyhouse-wrong")
    assert (await wrong.refused("my_matches"))["code"] == "auth/bad_token"
    ada = await table.model("ada", bot="no:name")
    assert (await ada.refused("my_matches"))["code"] == "auth/bad_name"


async def test_a_revoked_token_ends_the_agent(table: Table) -> None:
    token = await table.server.token("ada")
    ada = await table.model(token=token)
    await ada.call("my_matches")
    await table.server.hub.store.write(people_changes.revoke_token, token, By("root"), 1)
    async with asyncio.timeout(PATIENCE):
        while not (answer := await ada.answer("my_matches")).is_error:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    assert answer.structured_content["error"]["code"] == "auth/revoked"


async def test_unknown_tools_and_resources_are_errors(table: Table) -> None:
    anyone = await table.model()
    async with anyone.client() as client:
        with pytest.raises(MCPError, match="There is no tool 'win'"):
            await client.call_tool("win", {})
        for uri in ("plyhouse://secrets/pig", "file:///etc/passwd", "plyhouse://records/a/../b"):
            with pytest.raises(MCPError, match="There is no resource"):
                await client.read_resource(uri)
        with pytest.raises(MCPError, match="ludo"):
            await client.read_resource("plyhouse://rules/ludo")


async def test_a_call_of_a_tool_does_not_list_all_tools(table: Table) -> None:
    anyone = await table.model()
    async with anyone.client() as client:
        assert not (await client.call_tool("rules", {"game": "pig"})).is_error
        # The client has listed the tools once, to check answers; see whether the server does again.
        endpoint._listed_tools.cache_clear()
        assert not (await client.call_tool("rules", {"game": "go"})).is_error
        assert endpoint._listed_tools.cache_info().currsize == 0


async def test_long_bodies_and_garbage_are_refused(table: Table) -> None:
    async with httpx2.AsyncClient(base_url=table.server.server.url) as web:
        headers = {"content-type": "application/json", "accept": "application/json"}
        for body, status in ((b"x" * 1_000_000, 413), (b"[[[[", 400), (b"\xff\x00", 400)):
            answer = await web.post("/mcp", content=body, headers=headers)
            assert answer.status_code == status, answer.text
        assert (await web.get("/healthz")).status_code == 200


async def test_one_agent_has_a_bounded_number_of_requests_at_once(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agents, "MOST_WAITING", 2)
    models, match = await table.seated("tic_tac_toe")
    waiting = [
        asyncio.create_task(models[1].call("wait", match=match, seconds=LONGEST_WAIT))
        for _ in range(2)
    ]
    async with asyncio.timeout(PATIENCE):
        while not (answer := await models[1].answer("my_matches")).is_error:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert answer.structured_content["error"]["code"] == "protocol/rate"
    await models[0].call("act", match=match, ply=0, action="b2")
    await asyncio.gather(*waiting)


async def test_beyond_the_limit_on_snapshots_an_answer_comes_later(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plyhouse.server.wire.session.VIEW_BURST", 1)
    models, match = await table.seated("tic_tac_toe")
    for _ in range(3):
        await models[0].call("position", match=match)
    played = await models[0].call("act", match=match, ply=0, action="b2")
    assert played["view"]["ply"] == 1


async def test_without_the_option_the_address_says_how_to_turn_it_on(
    open_house: OpenHouse,
) -> None:
    server = await open_house()
    async with httpx2.AsyncClient() as web:
        answer = await web.post(f"{server.server.url}/mcp", json={})
    assert answer.status_code == 404
    assert answer.json()["code"] == "mcp/off"
    assert "--mcp" in answer.json()["detail"]


async def test_without_the_package_the_server_says_what_to_install(
    open_house: OpenHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "plyhouse.server.mcp.endpoint", raising=False)
    monkeypatch.setitem(sys.modules, "mcp.server.lowlevel", None)
    with pytest.raises(CannotServe, match=r"pip install 'plyhouse\[mcp\]'"):
        await open_house(mcp=True)
