"""Competitions on a server: what is refused, what dates do, who sees what."""

from __future__ import annotations

import asyncio
import csv
import io
import threading
from collections import Counter
from collections.abc import AsyncIterator, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.harness.clocks import WallClock
from tests.harness.finals import resign
from tests.harness.patience import PATIENCE

from plyhouse.protocol.messages import Error, MatchMessage, Ready
from plyhouse.server.competition_rules.class_list import read_students
from plyhouse.server.competition_rules.file_reader import read_competition
from plyhouse.server.competitions.file_changes import read_files
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.hub import Hub
from plyhouse.server.wire.limits import Rate
from plyhouse.storage import competition_sql, competition_students, join_codes, people, sessions
from plyhouse.storage.competition_rows import NewMember
from plyhouse.storage.errors import CompetitionRefusal, TokenRevoked
from plyhouse.storage.rows import By
from plyhouse.storage.store import Store

FILE = 'name = "Cup"\ngames = ["pig"]\ntime_control = "total:60"\n'
HERE = "/api/v1/competitions"
OLGA = By("olga")


@pytest.fixture
async def api(house: Any) -> AsyncIterator[httpx.AsyncClient]:
    token = await house.token("olga", "organise")
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=house.server.url, headers=headers) as client:
        yield client


async def code(answer: Any, status: int) -> str:
    made = await answer
    assert made.status_code == status, made.text
    return str(made.json()["code"])


async def opened(api: httpx.AsyncClient, text: str = FILE) -> None:
    answer = await api.post(HERE, json={"file": text})
    assert answer.status_code == 201, answer.text


async def students(api: httpx.AsyncClient, *names: str) -> dict[str, str]:
    answer = await api.post(f"{HERE}/cup/students", json={"csv": "\n".join(["name", *names])})
    assert answer.status_code == 200, answer.text
    return {each["name"]: each["token"] for each in answer.json()}


async def connected(house: Any, token: str, name: str = "bot", **hello: Any) -> Any:
    client = await house.client()
    options = {"games": ["pig"], "max_matches": 4, **hello}
    answer = await client.hello(token, name, **options)
    assert not isinstance(answer, Error), answer
    return client


async def finished(api: httpx.AsyncClient) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE):
        while True:
            view: dict[str, Any] = (await api.get(f"{HERE}/cup")).json()
            if view["status"] == "finished":
                return view


# -------------------------------------------------------------------------- bad input


async def test_all_mistakes_of_a_file_are_told_with_their_keys(api: httpx.AsyncClient) -> None:
    answer = await api.post(
        HERE,
        json={"file": FILE + 'rond = 2\n[[baselines]]\nbot = "staff/none"\n'},
    )
    body = answer.json()
    assert (answer.status_code, body["code"]) == (400, "competition/invalid")
    assert [(each["code"], each["key"]) for each in body["mistakes"]] == [
        ("competition/unknown_key", "rond")
    ]
    answer = await api.post(
        "/api/v1/competition-files/check",
        json={"file": FILE.replace("60", "90000") + '[[baselines]]\nbot = "staff/none"\n'},
    )
    assert [(each["code"], each["key"]) for each in answer.json()["mistakes"]] == [
        ("competition/bad_value", "time_control"),
        ("competition/missing_baseline", "baselines[0].bot"),
    ]
    assert (await api.get(HERE)).json() == []


async def test_two_competitions_of_one_name_and_one_that_is_not_there(
    api: httpx.AsyncClient,
) -> None:
    await opened(api)
    answer = await api.post(HERE, json={"file": FILE.replace("Cup", "CUP")})
    assert answer.json()["mistakes"][0]["code"] == "competition/name_taken"
    assert await code(api.get(f"{HERE}/kup"), 404) == "storage/unknown"
    assert await code(api.post(f"{HERE}/kup/freeze", json={}), 404) == "storage/unknown"
    assert await code(api.post(f"{HERE}/cup/frieze", json={}), 404) == "http/404"


async def test_every_step_needs_an_organiser(house: Any, api: httpx.AsyncClient) -> None:
    await opened(api)
    tokens = await students(api, "ada")
    steps = [
        ("POST", f"{HERE}/cup/{step}") for step in ("open", "freeze", "run", "pause", "resume")
    ]
    rest = [
        *(("POST", HERE), ("GET", f"{HERE}/cup"), ("DELETE", f"{HERE}/cup?why=x")),
        *(("GET", f"{HERE}/cup/{what}") for what in ("export", "students", "codes")),
    ]
    bodies = {HERE: {"file": FILE}}
    for headers, status in (({}, 401), ({"Authorization": f"Bearer {tokens['ada']}"}, 403)):
        async with httpx.AsyncClient(base_url=house.server.url, headers=headers) as other:
            for method, path in [*steps, *rest]:
                body = None if method != "POST" else bodies.get(path, {})
                answer = await other.request(method, path, json=body)
                assert answer.status_code == status, (method, path, answer.text)


async def test_bad_lists_times_and_codes(house: Any, api: httpx.AsyncClient) -> None:
    await opened(api)
    answer = await api.post(f"{HERE}/cup/students", json={"csv": "name,email\nada,x\n,y@z\nbob,"})
    body = answer.json()
    assert (answer.status_code, body["code"]) == (400, "competition/bad_list")
    assert [each["line"] for each in body["rows"]] == [2, 3]
    assert (await api.get(f"{HERE}/cup/students")).json() == [], "nobody was taken in"
    await students(api, "ada")
    late = {"student": "ada", "until": "tomorrow"}
    assert await code(api.post(f"{HERE}/cup/extend", json=late), 400) == "competition/bad_time"
    late["until"] = "2001-01-01T00:00:00Z"
    assert await code(api.post(f"{HERE}/cup/extend", json=late), 409) == "competition/date_past"
    none = {"who": "bob", "why": "x"}
    assert await code(api.post(f"{HERE}/cup/disqualify", json=none), 404) == "storage/unknown"
    assert await code(api.post(f"{HERE}/cup/codes", json={"uses": 0}), 400) == "http/400"
    async with httpx.AsyncClient(base_url=house.server.url) as anybody:
        join = anybody.post("/api/v1/join", json={"code": "AAAA-AAAA", "player": "x"})
        assert await code(join, 404) == "competition/code_unknown"


async def test_long_files_and_lists_are_read_beside_the_event_loop(
    api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = asyncio.get_running_loop()

    async def answers_during(reader: str, read: Any, work: Coroutine[Any, Any, Any]) -> Any:
        """Do work that has to read something, and ask for something else meanwhile."""
        reading, served = asyncio.Event(), threading.Event()

        def slowly(*given: Any) -> Any:
            loop.call_soon_threadsafe(reading.set)
            assert served.wait(30)
            return read(*given)

        monkeypatch.setattr(f"plyhouse.server.{reader}", slowly)
        doing = asyncio.create_task(work)
        await reading.wait()
        assert (await api.get("/api/v1/health")).status_code == 200
        served.set()
        return await doing

    lists, files = "web.api.competition_people.read_students", "competitions.lifecycle"
    await answers_during(f"{files}.read_competition", read_competition, opened(api))
    assert set(await answers_during(lists, read_students, students(api, "ada"))) == {"ada"}


async def test_institution_ids_are_imported_updated_and_exported(api: httpx.AsyncClient) -> None:
    await opened(api)
    first = "name,email,group,institution_id\nAda L,ada@example.org,,17\nbob,,crew,18\ncy,,crew,\n"
    joined = (await api.post(f"{HERE}/cup/students", json={"csv": first})).json()
    assert {each["outcome"] for each in joined} == {"new"}
    again = "name,email,group,id\nAda L,,,\nbob,bob@example.org,crew,\ncy,,crew,0019\n"
    joined = (await api.post(f"{HERE}/cup/students", json={"csv": again})).json()
    assert {(each["outcome"], each["token"]) for each in joined} == {("present", "")}
    view = (await api.get(f"{HERE}/cup/export")).json()
    rows = list(csv.DictReader(io.StringIO(view["grades_csv"])))
    assert [
        (row["student"], row["name"], row["email"], row["group"], row["institution_id"])
        for row in rows
    ] == [
        ("Ada-L", "Ada L", "ada@example.org", "", "17"),
        ("crew", "bob", "bob@example.org", "crew", "18"),
        ("crew", "cy", "", "crew", "0019"),
    ]
    assert [(each["student"], each["group"], each["points"]) for each in view["grades"]] == [
        ("Ada-L", "", 0.0), ("crew", "crew", 0.0)
    ]  # fmt: skip
    assert [each["institution_id"] for each in view["grades"][1]["members"]] == ["18", "0019"]
    listed = (await api.get(f"{HERE}/cup/students")).json()
    assert [[one["institution_id"] for one in each["members"]] for each in listed] == [
        ["17"], ["18", "0019"]
    ]  # fmt: skip


async def test_canvas_gets_the_logins_of_the_class_list_back(api: httpx.AsyncClient) -> None:
    await opened(api)
    plain = "name,email,id\nAda L,ada@example.org,42\nBo,bo@example.org,\n"
    await api.post(f"{HERE}/cup/students", json={"csv": plain})

    async def logins() -> list[tuple[str, ...]]:
        text = (await api.get(f"{HERE}/cup/export/canvas")).text.removeprefix("\ufeff")
        rows = list(csv.DictReader(io.StringIO(text)))[1:]
        ids = ("Student", "ID", "SIS User ID", "SIS Login ID")
        return [tuple(row[each] for each in ids) for row in rows]

    assert await logins() == [("Ada L", "", "42", ""), ("Bo", "", "", "")]
    canvas = 'Student,ID,SIS User ID,SIS Login ID,Section\n"L, Ada",901,42,al7,S\nBo,902,,bo3,S\n'
    await api.post(f"{HERE}/cup/students", json={"csv": canvas})
    assert await logins() == [("Ada L", "", "42", "al7"), ("Bo", "902", "", "bo3")]


async def test_reissued_token_closes_connections_of_the_lost_one(
    house: Any, api: httpx.AsyncClient
) -> None:
    await opened(api)
    answer = await api.post(f"{HERE}/cup/students", json={"csv": "name,group\nada,\nbob,r\ncy,r"})
    tokens = {each["name"]: each["token"] for each in answer.json()}
    lost = await connected(house, tokens["bob"], "first")
    kept = await connected(house, tokens["cy"], "second")
    ask = f"{HERE}/cup/reissue-token"
    for student, problem in (("r", "which_member"), ("zoe", "")):
        answer = await api.post(ask, json={"student": student})
        assert answer.json()["code"] == (f"competition/{problem}" if problem else "storage/unknown")
    answer = await api.post(ask, json={"student": "r", "member": "BOB"})
    assert answer.status_code == 200, answer.text
    made = answer.json()
    assert (made["name"], made["account"], made["outcome"]) == ("bob", "r", "reissued")
    assert (await lost.next(Error)).code == "auth/revoked"
    client = await house.client()
    refused = await client.hello(tokens["bob"], "first", games=["pig"])
    assert refused.code == "auth/revoked"
    await connected(house, made["token"], "third")
    assert not isinstance(await kept.seek("pig"), Error), "the other member stays"
    listed = (await api.get(f"{HERE}/cup/students")).json()
    assert [each["student"] for each in listed] == ["ada", "r"]


async def test_reissued_token_takes_along_what_was_made_with_the_lost_one(
    house: Any, api: httpx.AsyncClient
) -> None:
    await opened(api)
    answer = await api.post(f"{HERE}/cup/students", json={"csv": "name,group\nbob,r\ncy,r"})
    tokens = {each["name"]: each["token"] for each in answer.json()}
    store = house.hub.store
    lost, kept = [await store.authenticate(tokens[each]) for each in ("bob", "cy")]
    made, other = [
        await store.write(sessions.make_token, each, "bot", store.now()) for each in (lost, kept)
    ]
    await store.write(sessions.set_password, lost.player_id, "h", 1, lost.token_id)
    secret = await store.write(sessions.begin, lost.player_id, 60_000, store.now())
    ask = {"student": "r", "member": "bob"}
    assert (await api.post(f"{HERE}/cup/reissue-token", json=ask)).status_code == 200
    with pytest.raises(TokenRevoked):
        await store.authenticate(made)
    assert await store.authenticate(other) is not None
    assert await store.read(sessions.find, secret, store.now()) is None
    assert (await store.read(sessions.password, "r"))[1] == ""


async def test_token_of_an_account_from_before_is_not_reissued(
    house: Any, api: httpx.AsyncClient
) -> None:
    await opened(api)
    await house.token("root", "admin")
    body = {"csv": "name\nroot", "adopt": ["root"]}
    assert (await api.post(f"{HERE}/cup/students", json=body)).status_code == 200
    ask = api.post(f"{HERE}/cup/reissue-token", json={"student": "root"})
    assert await code(ask, 409) == "competition/own_account"


async def test_empty_text_is_refused_in_words(house: Any, api: httpx.AsyncClient) -> None:
    await opened(api)
    for path, body, field in (
        ("/api/v1/join", {"code": "", "player": "x"}, "code"),
        (f"{HERE}/cup/announcements", {"text": ""}, "text"),
    ):
        answer = await api.post(path, json=body)
        assert answer.status_code == 400
        assert answer.json()["detail"] == f"{field} is empty: give a text."


def few_wrong_codes(house: Any) -> None:
    """Allow 20 wrong codes, of which none comes back in the test."""
    registration = house.hub.registration
    registration._wrong_codes = Rate(20, 0.001, house.hub.now)


async def test_codes_that_a_class_mistypes_keep_nobody_out(
    house: Any, api: httpx.AsyncClient
) -> None:
    await opened(api)
    made = (await api.post(f"{HERE}/cup/codes", json={"uses": 1})).json()
    async with httpx.AsyncClient(base_url=house.server.url) as anybody:
        for number in range(40):  # every fifth of 200
            body = {"code": "AAAA-AAAA", "player": f"s{number}"}
            wrong = await anybody.post("/api/v1/join", json=body)
            assert wrong.json()["code"] == "competition/code_unknown"
        answer = await anybody.post("/api/v1/join", json={"code": made["code"], "player": "zoe"})
        assert answer.status_code == 200, answer.text


async def test_wrong_codes_of_an_account_count_for_it_alone(
    house: Any, api: httpx.AsyncClient
) -> None:
    few_wrong_codes(house)
    await opened(api)
    made = (await api.post(f"{HERE}/cup/codes", json={"uses": 1})).json()
    eve = {"authorization": f"Bearer {await house.token('eve')}"}
    async with httpx.AsyncClient(base_url=f"{house.server.url}/api/v1") as web:
        for number in range(21):
            wrong = await web.post("/join", json={"code": f"AAAA-{number:04}"}, headers=eve)
        assert wrong.json()["code"] == "auth/rate"
        answer = await web.post("/join", json={"code": made["code"], "player": "zoe"})
        assert answer.status_code == 200, answer.text


async def test_guessing_codes_is_slowed_down_and_a_class_is_not(
    house: Any, api: httpx.AsyncClient
) -> None:
    few_wrong_codes(house)
    await opened(api)
    made = (await api.post(f"{HERE}/cup/codes", json={"uses": 40})).json()
    async with httpx.AsyncClient(base_url=house.server.url) as anybody:
        for number in range(30):
            body = {"code": made["code"], "player": f"s{number}"}
            answer = await anybody.post("/api/v1/join", json=body)
            assert answer.status_code == 200, answer.text
        said = []
        for _ in range(25):
            body = {"code": "AAAA-AAAA", "player": "eve"}
            said.append((await anybody.post("/api/v1/join", json=body)).json()["code"])
    assert said[0] == "competition/code_unknown"
    assert said[-1] == "auth/rate"


async def test_class_that_joins_together_from_one_address_is_let_in(
    house: Any, api: httpx.AsyncClient
) -> None:
    few_wrong_codes(house)
    await opened(api)
    made = (await api.post(f"{HERE}/cup/codes", json={"uses": 60})).json()
    async with httpx.AsyncClient(base_url=house.server.url, timeout=PATIENCE) as anybody:

        async def join(code: str, player: str) -> httpx.Response:
            return await anybody.post("/api/v1/join", json={"code": code, "player": player})

        answers = await asyncio.gather(*(join(made["code"], f"s{number}") for number in range(60)))
        assert Counter(answer.status_code for answer in answers) == {200: 60}
        # The code is used up, and names are taken: mistakes, but no guesses.
        answers = await asyncio.gather(*(join(made["code"], "s1") for _ in range(30)))
        assert {answer.json()["code"] for answer in answers} == {"competition/code_used_up"}
        answers = await asyncio.gather(*(join("AAAA-AAAA", "eve") for _ in range(30)))
    refused = [answer for answer in answers if answer.status_code == 429]
    assert len(refused) == 10
    assert refused[0].headers["retry-after"] == str(refused[0].json()["retry_after"])


async def test_a_digest_has_to_look_like_one(house: Any) -> None:
    client = await house.client()
    answer = await client.hello(await house.token("ada"), "bot", digest="x")
    assert isinstance(answer, Error)
    assert answer.code == "protocol/bad_field"


# ------------------------------------------------------------------------- the final


async def test_a_final_without_anybody_to_compare_does_not_begin(
    house: Any, api: httpx.AsyncClient
) -> None:
    await opened(api)
    tokens = await students(api, "ada", "bob")
    await connected(house, tokens["ada"])
    assert await code(api.post(f"{HERE}/cup/run", json={}), 409) == "competition/not_now"
    await api.post(f"{HERE}/cup/freeze", json={})
    assert await code(api.post(f"{HERE}/cup/run", json={}), 409) == "competition/too_few"
    assert (await api.get(f"{HERE}/cup")).json()["status"] == "frozen"


async def test_a_final_of_baselines_alone_does_not_begin(
    house: Any, api: httpx.AsyncClient
) -> None:
    """It would be over before the first student is there."""
    token = await house.token("staff")
    await connected(house, token, "easy")
    await connected(house, token, "hard")
    baselines = '[[baselines]]\nbot = "staff/easy"\n[[baselines]]\nbot = "staff/hard"\n'
    await opened(api, FILE + baselines)
    await students(api, "ada")
    await api.post(f"{HERE}/cup/freeze", json={})
    answer = await api.post(f"{HERE}/cup/run", json={})
    assert (answer.status_code, answer.json()["code"]) == (409, "competition/too_few")
    assert "of a student" in answer.json()["detail"]


async def test_only_so_many_matches_run_at_a_time_and_all_are_played(
    house: Any, api: httpx.AsyncClient
) -> None:
    await opened(api, FILE + "mirrored = false\n[limits]\nmatches_at_a_time = 2\n")
    names = [f"s{number}" for number in range(6)]
    tokens = await students(api, *names)
    bots = [await connected(house, tokens[name]) for name in names]
    await api.post(f"{HERE}/cup/freeze", json={})
    most = 0

    async def play(client: Any) -> None:
        nonlocal most
        while True:
            message = await client.next(MatchMessage)
            most = max(most, len(house.hub.directory.own))
            await client.ask(Ready, message.snapshot.match)
            if message.snapshot.seat == 0:
                await resign(client, message.snapshot)

    tasks = [asyncio.create_task(play(bot)) for bot in bots]
    await api.post(f"{HERE}/cup/run", json={})
    view = await finished(api)
    for task in tasks:
        task.cancel()
    assert view["progress"][0]["finished"] == 15
    assert most == 2
    board = (await api.get(f"{HERE}/cup/board")).json()
    assert sum(line["wins"] for line in board) == 15
    assert not any(line["forfeits"] for line in board), "to resign is no forfeit"


async def test_an_anonymous_board_shows_ones_own_line_and_those_just_ahead(
    house: Any, api: httpx.AsyncClient
) -> None:
    await opened(api, FILE + 'board = "anonymous"\nmirrored = false\n')
    names = [f"s{number}" for number in range(7)]
    tokens = await students(api, *names)
    bots = [await connected(house, tokens[name], max_matches=10) for name in names]
    await api.post(f"{HERE}/cup/freeze", json={})

    async def lose_to_the_earlier(client: Any, number: int) -> None:
        for _ in range(6):
            message = await client.next(MatchMessage)
            await client.ask(Ready, message.snapshot.match)
            others = [each.player for each in message.snapshot.players]
            if number > min(names.index(each) for each in others):
                await resign(client, message.snapshot)

    await api.post(f"{HERE}/cup/run", json={})
    await asyncio.gather(*(lose_to_the_earlier(bot, n) for n, bot in enumerate(bots)))
    await finished(api)
    seen = {}
    for name in ("s0", "s5"):
        headers = {"Authorization": f"Bearer {tokens[name]}"}
        lines = (await api.get(f"{HERE}/cup/board", headers=headers)).json()
        seen[name] = [(line["rank"], line["student"]) for line in lines]
    other = "(another entry)"
    assert seen["s0"] == [(1, "s0")]
    assert seen["s5"] == [(3, other), (4, other), (5, other), (6, "s5")]
    stranger = {"Authorization": f"Bearer {await house.token('eve')}"}
    answer = await api.get(f"{HERE}/cup/board", headers=stranger)
    assert answer.status_code == 403


# ------------------------------------------------------------------------------ dates


DATES = """
[dates]
opening = 2026-10-01T00:00:00Z
freeze = 2026-10-10T00:00:00Z
final = 2026-10-10T01:00:00Z
"""


async def test_refusal_before_the_opening_names_it_in_the_zone_of_the_competition(
    tmp_path: Path,
) -> None:
    clock = WallClock("2026-09-01")
    url = f"sqlite:///{tmp_path / 'a.db'}"
    dates = '[dates]\nzone = "Europe/Berlin"\nopening = 2026-10-01T09:30:00\n'
    async with await Store.open(url, clock=clock) as store:
        hub = await Hub.open(ServerConfig(database=url), store=store)
        try:
            await hub.competitions.open(FILE + dates, OLGA)
            made = await store.write(join_codes.add_code, "Cup", OLGA, store.now(), uses=2)
            opens = "it opens on 2026-10-01 at 09:30 Europe/Berlin"
            with pytest.raises(CompetitionRefusal, match=opens):
                await store.write(join_codes.join, made.code, "cy", None, store.now())
        finally:
            await hub.close()


async def test_dates_come_by_themselves_also_while_no_server_runs(tmp_path: Path) -> None:
    clock = WallClock("2026-09-01")
    url = f"sqlite:///{tmp_path / 'a.db'}"

    async def hub() -> Hub:
        store = await Store.open(url, clock=clock)
        return await Hub.open(ServerConfig(database=url), store=store)

    first = await hub()
    store = first.store
    try:
        assert (await first.competitions.open(FILE + DATES, OLGA)).status == "draft"
        await store.write(
            competition_students.take_in,
            "Cup",
            [NewMember(name, name) for name in ("ada", "bob")],
            OLGA,
            store.now(),
        )
        made = await store.write(join_codes.add_code, "Cup", OLGA, store.now(), uses=2)
        with pytest.raises(CompetitionRefusal, match="opens on 2026-10-01 at 00:00 UTC") as caught:
            await store.write(join_codes.join, made.code, "cy", None, store.now())
        assert caught.value.code == "competition/not_open"
        clock.set("2026-10-01")
        await first.competitions.look()
        assert (await store.read(competition_sql.find, "Cup")).status == "open"
    finally:
        await first.close()
    clock.set("2026-10-11")
    second = await hub()
    store = second.store
    try:
        row = await store.read(competition_sql.find, "Cup")
        assert row.status == "frozen", "there is nobody to play"
        assert row.note is not None
        assert "has 0 entries" in row.note
        await store.write(
            competition_students.extend, "Cup", "ada", clock.now + 1000, OLGA, store.now()
        )
        await store.write(
            competition_students.extend, "Cup", "bob", clock.now + 1000, OLGA, store.now()
        )
        for name in ("ada", "bob"):
            bot = await second.store.ensure_bot(
                (await second.store.read(people.player, name)).id, "bot"
            )
            await second.store.log_in(bot, "1")
        await second.competitions.look()
        note = (await store.read(competition_sql.find, "Cup")).note
        assert note is not None
        assert note.startswith("ada, bob may still submit")
        clock.now += 1000
        await second.competitions.look()
        row = await store.read(competition_sql.find, "Cup")
        assert (row.status, row.note) == ("running", None)
        assert (await second.competitions.view("Cup")).games[0].planned == 2
    finally:
        await second.close()
    third = await hub()
    try:
        view = await third.competitions.view("Cup")
        assert view.row.status == "running"
        assert view.games[0].waiting_for == [
            "ada/bot is not connected.",
            "bob/bot is not connected.",
        ]
        await third.store.write(competition_sql.move, "Cup", "delete", OLGA, third.store.now())
        await third.audit_follower.look()
        assert len(third.tournaments) == 0
    finally:
        await third.close()


async def test_a_bot_that_is_connected_already_is_entered_when_its_student_joins(
    house: Any, api: httpx.AsyncClient
) -> None:
    token = await house.token("ada")
    await connected(house, token, version="7")
    await opened(api)
    made = (await api.post(f"{HERE}/cup/codes", json={"uses": 2})).json()
    headers = {"Authorization": f"Bearer {token}"}
    answer = await api.post("/api/v1/join", json={"code": made["code"]}, headers=headers)
    assert answer.json()["outcome"] == "known"
    await house.hub.audit_follower.look()
    (entry,) = (await api.get(f"{HERE}/cup")).json()["entries"]
    assert (entry["entry"], entry["version"], entry["connected"]) == ("ada/bot", "7", True)


async def test_a_competition_whose_game_is_missing_spoils_no_list(
    house: Any, api: httpx.AsyncClient
) -> None:
    await opened(api)
    row = await house.hub.store.read(competition_sql.find, "Cup")
    lost = replace(row, id="lost", name="Lost", file=FILE.replace("pig", "gone"), parsed=None)
    await house.hub.store.write(competition_sql.create, lost, (), OLGA)
    await read_files(house.hub.store)
    listed = (await api.get(HERE)).json()
    assert sorted(each["name"] for each in listed) == ["Cup", "Lost"]
    answer = await api.get(f"{HERE}/lost")
    assert "There is no game named 'gone'" in answer.json()["detail"]
