"""How often accounts, tokens, bots and versions may be tried and made."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from plyhouse.protocol.messages import Welcome
from plyhouse.server.accounts import registration
from plyhouse.storage.errors import Unreachable

OpenHouse = Callable[..., Awaitable[Any]]


async def test_wrong_tokens_from_one_address_are_slowed_down_and_good_ones_are_not(
    open_house: OpenHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registration, "WRONG_TOKENS", (20, 0.001))  # none comes back in the test
    house = await open_house()
    good = await house.token("alice")
    client = await house.client()
    assert isinstance(await client.hello(good, "one"), Welcome)
    await client.close()
    codes = []
    async with httpx.AsyncClient(base_url=house.server.url) as api:
        for number in range(registration.WRONG_TOKENS[0] + 2):
            headers = {"Authorization": f"Bearer ply_wrong{number}"}
            answer = await api.get("/api/v1/audit", headers=headers)
            codes.append((answer.status_code, answer.json()["code"]))
    assert codes[0] == (401, "auth/bad_token")
    assert codes[-1] == (429, "auth/rate")
    assert (await (await house.client()).hello("ply_other", "one")).code == "auth/rate"
    again = await house.client()
    assert isinstance(await again.hello(good, "one"), Welcome), "it was good before"
    fresh = await house.token("bob")
    first = await house.client()
    assert isinstance(await first.hello(fresh, "one"), Welcome), "a class shares the address"


async def test_false_tickets_of_hosted_bots_count_like_false_tokens(
    open_house: OpenHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registration, "WRONG_TOKENS", (20, 0.001))  # none comes back in the test
    house = await open_house()
    codes = [
        (await (await house.client()).hello(f"ticket_{number % 2}", "one")).code
        for number in range(registration.WRONG_TOKENS[0] + 1)
    ]
    assert codes == ["auth/bad_token"] * registration.WRONG_TOKENS[0] + ["auth/rate"]
    assert (await (await house.client()).hello("ply_other", "one")).code == "auth/rate"


async def test_new_accounts_from_one_address_are_slowed_down(open_house: OpenHouse) -> None:
    house = await open_house(registration="open")
    answers = []
    async with httpx.AsyncClient(base_url=house.server.url) as api:
        for number in range(registration.REGISTRATIONS[0] + 1):
            answer = await api.post("/api/v1/players", json={"player": f"p{number}"})
            answers.append(answer.status_code)
    assert answers == [201] * registration.REGISTRATIONS[0] + [429]


async def test_bots_and_versions_have_limits(open_house: OpenHouse) -> None:
    house = await open_house(max_bots_per_player=1, max_versions_per_bot=1)
    token = await house.token("alice")
    client = await house.client()
    assert isinstance(await client.hello(token, "one", version="1"), Welcome)
    await client.close()
    for bot, version in (("two", "1"), ("one", "2")):
        other = await house.client()
        assert (await other.hello(token, bot, version=version)).code == "auth/limit"
    again = await house.client()
    assert isinstance(await again.hello(token, "ONE", version="1"), Welcome)


async def test_a_client_is_not_told_where_the_database_is(house: Any, monkeypatch: Any) -> None:
    async def broken(_: str) -> None:
        raise Unreachable("no database server answers at postgresql://ann@db.example.org/house")

    monkeypatch.setattr(house.hub.store, "authenticate", broken)
    answer = await (await house.client()).hello("ply_x", "one")
    assert answer.code == "server/storage"
    assert "example" not in answer.message


@pytest.mark.parametrize(
    ("path", "more"), [("players", {}), ("session/account", {"password": "long enough 7"})]
)
async def test_name_that_is_too_long_is_answered_by_what_names_may_be(
    open_house: OpenHouse, path: str, more: dict[str, str]
) -> None:
    url = (await open_house(registration="open")).server.url
    async with httpx.AsyncClient(base_url=url, headers={"Origin": url}) as web:
        bad = await web.post(f"/api/v1/{path}", json={"player": "a" * 33, **more})
    assert (bad.status_code, bad.json()["code"]) == (400, "auth/bad_name")
    assert "use 1 to 32 letters" in bad.json()["detail"]


async def test_an_account_may_be_made_with_a_display_name(open_house: OpenHouse) -> None:
    house = await open_house(registration="open")
    async with httpx.AsyncClient(base_url=house.server.url) as api:
        made = await api.post("/api/v1/players", json={"player": "zoe", "display": "Zoe\u0308"})
        headers = {"Authorization": f"Bearer {made.json()['token']}"}
        assert (await api.get("/api/v1/players/zoe")).json()["display"] == "Zoë"
        changed = await api.patch("/api/v1/players/zoe", json={"display": "佐藤"}, headers=headers)
        assert changed.json()["display"] == "佐藤"
        for text, why in (("\u202ex", "cannot contain"), ("x" * 65, "has 64 characters at most")):
            bad = await api.patch("/api/v1/players/zoe", json={"display": text}, headers=headers)
            assert (bad.status_code, bad.json()["code"]) == (400, "storage/bad_name")
            assert why in bad.json()["detail"]
        await house.hub.store.add_player("eve")
        other = await api.patch("/api/v1/players/eve", json={"display": "x"}, headers=headers)
        assert (other.status_code, other.json()["code"]) == (403, "auth/scope")
