"""A display name must not pass for somebody else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import httpx
import pytest
from tests.harness.server import Server

from plyhouse.server.accounts.registration import OWN_CHANGES
from plyhouse.storage import people, people_changes
from plyhouse.storage.rows import By

CYRILLIC_ADA = "\u0410da Lovelace"  # with a Cyrillic first letter
CYRILLIC_BOB = "\u0412\u041e\u0412"  # looks like BOB


@pytest.fixture
async def named(open_house: Callable[..., Awaitable[Server]]) -> Server:
    """Ada with a display name, and Bob, Zoe and Eve without one."""
    house = await open_house(registration="open")
    for name in ("ada-l", "bob", "zoe", "eve"):
        await house.token(name)
    await house.hub.store.write(
        people_changes.set_display, "ada-l", "Ada Lovelace", By("olga"), house.hub.store.now()
    )
    return house


async def change(house: Server, who: str, display: str, by: str = "") -> httpx.Response:
    scopes = ("admin",) if by == "root" else ("play",)
    headers = {"Authorization": f"Bearer {await house.token(by or who, *scopes)}"}
    async with httpx.AsyncClient(base_url=house.server.url, headers=headers) as web:
        return await web.patch(f"/api/v1/players/{who}", json={"display": display})


async def test_display_names_that_change_for_ever_are_refused(named: Server) -> None:
    """Each is an entry of the audit log and a line of the server's log, which are kept."""
    for number in range(100):
        answer = await change(named, "eve", f"Eve {number % 2}")
        if answer.status_code != 200:
            break
    assert (answer.status_code, answer.json()["code"]) == (429, "auth/rate")
    assert number == OWN_CHANGES[0]
    assert (await change(named, "bob", "Bob")).status_code == 200
    for number in range(OWN_CHANGES[0] + 1):  # a whole class is renamed
        assert (await change(named, "eve", f"Eve {number}", by="root")).status_code == 200


COPIES = pytest.mark.parametrize(
    "display",
    ["Ada Lovelace", "ada  lovelace.", CYRILLIC_ADA, "ADA-L", "Ada L", "bob", CYRILLIC_BOB,
     "\uff42\uff4f\uff42", "B.O.B."],
)  # fmt: skip


@COPIES
async def test_a_player_cannot_look_like_another_one(named: Server, display: str) -> None:
    answer = await change(named, "eve", display)
    assert (answer.status_code, answer.json()["code"]) == (409, "storage/display_taken")
    assert repr(display) in answer.json()["detail"]
    assert (await named.hub.store.read(people.player, "eve")).display == ""


@COPIES
async def test_a_new_account_cannot_look_like_another_one(named: Server, display: str) -> None:
    url = named.server.url
    async with httpx.AsyncClient(base_url=url, headers={"Origin": url}) as web:
        for path, more in (("players", {}), ("session/account", {"password": "long enough 7"})):
            body = {"player": "mallory", "display": display, **more}
            answer = await web.post(f"/api/v1/{path}", json=body)
            assert (answer.status_code, answer.json()["code"]) == (409, "storage/display_taken")
        assert (await web.get("/api/v1/players/mallory")).status_code == 404


async def test_own_and_different_names_are_free(named: Server) -> None:
    for who, display in (
        ("ada-l", "Ada Lovelace"),
        ("ada-l", "ADA L."),
        ("bob", "BOB"),
        ("zoe", "Ada Lovelace (group 2)"),
        ("eve", "\u265e"),
        ("zoe", "\u265e"),
        ("eve", ""),
    ):
        answer = await change(named, who, display)
        assert answer.status_code == 200, answer.text


async def test_an_organiser_can_give_people_their_real_names(named: Server) -> None:
    answer = await change(named, "zoe", "Ada Lovelace", by="root")
    assert answer.status_code == 200, answer.text
    answer = await change(named, "zoe", "Ada Lovelace")
    assert answer.status_code == 200, "nothing changes"
    answer = await change(named, "zoe", "ada lovelace")
    assert answer.status_code == 409
    assert (await named.hub.store.read(people.player, "zoe")).display == "Ada Lovelace"
