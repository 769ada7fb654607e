"""Students whose names are usual words: what is stored about them, and what erasure rewrites."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from tests.harness.finals import Course
from tests.harness.patience import PATIENCE
from tests.harness.server import Server

from plyhouse.storage import audit, competition_sql, competition_students, tournaments
from plyhouse.storage.competition_rows import NewMember
from plyhouse.storage.rows import By
from plyhouse.storage.tournament_settings import settings

FILE = (
    'name = "cup"\ngames = ["tic_tac_toe"]\ntime_control = "total:60"\nboard = "public"\n'
    "mirrored = false\n"
)


async def send(house: Server, token: str, method: str, path: str, body: Any = None) -> Any:
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(
        base_url=house.server.url, headers=headers, timeout=PATIENCE
    ) as web:
        answer = await web.request(method, f"/api/v1/{path}", json=body)
    assert answer.status_code < 300, answer.text
    return answer.json() if answer.content else None


@pytest.mark.parametrize("account", ["for", "cup", "in"])
async def test_account_that_is_a_word_of_the_audit_log_reads_no_entries_of_others(
    house: Server, account: str
) -> None:
    olga, own = await house.token("olga", "organise"), await house.token(account)
    await send(house, olga, "POST", "competitions", {"file": FILE})
    here = "competitions/cup"
    code = (await send(house, olga, "POST", f"{here}/codes", {"uses": 5}))["code"]
    await send(house, olga, "POST", f"{here}/students", {"csv": "name\nada"})
    late = {"student": "ada", "until": "2999-01-01T00:00:00Z", "why": "ill"}
    await send(house, olga, "POST", f"{here}/extend", late)
    found = await send(house, own, "GET", f"players/{account}/data")
    assert found["audit"] == []
    assert code not in repr(found)


async def test_member_who_is_called_like_a_word_reads_no_entries_of_others(house: Server) -> None:
    olga = await house.token("olga", "organise")
    await send(house, olga, "POST", "competitions", {"file": FILE})
    people = [NewMember("for", "ada", "for"), NewMember("Ben", "ben")]
    joined = await house.hub.store.write(
        competition_students.take_in, "cup", people, By("olga"), house.hub.store.now()
    )
    here = "competitions/cup"
    await send(house, olga, "POST", f"{here}/codes", {"uses": 5})
    for who in ("ada", "ben"):
        again = await send(house, olga, "POST", f"{here}/reissue-token", {"student": who})
        token = again["token"] if who == "ada" else joined[1].token
    token = (await send(house, olga, "POST", f"{here}/reissue-token", {"student": "ada"}))["token"]
    found = await send(house, token, "GET", "players/ada/data")
    said = {(each["what"], each["subject"].split(" ")[0]) for each in found["audit"]}
    assert {what for what, _ in said} == {"student.reissue-token", "token.revoke"}
    assert ("student.reissue-token", "for") in said
    assert ("student.reissue-token", "Ben") not in said


@pytest.mark.parametrize("account", ["wins", "swiss", "cup", "clock", "tic_tac_toe"])
async def test_erasing_an_account_that_is_a_word_of_the_server_changes_no_settings(
    house: Server, account: str
) -> None:
    cup = Course(house, FILE)
    await cup.freeze("tic_tac_toe", "ada", "ben", account)
    for bot in cup.bots.values():
        await bot.close()
    store = house.hub.store
    async with cup.web("olga") as api:
        begun = await api.post(f"{cup.here}/run", json={"anyway": True})
        assert begun.status_code == 200, begun.text
        finished = await api.post(f"{cup.here}/finish", json={})
        assert finished.status_code == 200, finished.text
    (game,) = (await store.read(competition_sql.find, "cup")).games
    before = settings(await store.read(tournaments.find_tournament, game.tournament_id or ""))
    log = [
        (each.what, each.subject, each.who)
        for each in await store.read(audit.latest)
        if each.what in ("competition.open", "competition.freeze", "competition.run")
    ]
    await send(house, cup.tokens["olga"], "POST", f"players/{account}/erase", {})
    assert (
        settings(await store.read(tournaments.find_tournament, game.tournament_id or "")) == before
    )
    assert before.scoring is not None
    after = [(each.what, each.subject, each.who) for each in await store.read(audit.latest)]
    assert [each for each in after if each in log] == log
