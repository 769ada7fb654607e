"""A competition file that is hard to read never shows more than one that is read."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection
from tests.harness.finals import Course
from tests.harness.server import BotClient

from plyhouse.protocol.codec import MSGPACK
from plyhouse.protocol.messages import Welcome
from plyhouse.server.accounts.privacy import Privacy
from plyhouse.server.competition_rules import derived_files, file_reader, file_sections, file_table
from plyhouse.server.competition_rules.file import decoded, file_of
from plyhouse.server.competition_rules.file_reader import read_competition
from plyhouse.server.competition_rules.file_table import CannotEdit, set_value
from plyhouse.server.competitions import file_changes
from plyhouse.server.competitions.file_changes import change, propose, read_files
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.hub import Hub
from plyhouse.storage import competition_privacy, competition_sql, people_changes
from plyhouse.storage.errors import CompetitionRefusal
from plyhouse.storage.models import competition_games, competitions
from plyhouse.storage.rows import By

OLGA = By("olga")
FILE = """name = "Cup"
games = ["connect_four"]
time_control = "total:60"
board = "public"
[dates]
freeze = 2099-01-31T18:00:00Z
[[baselines]]
bot = "staff/secret"
hidden = true
[[baselines]]
bot = "staff/known"
"""
SECRET, KNOWN = "staff/secret", "staff/known"


@pytest.fixture
async def hub() -> AsyncIterator[Hub]:
    hub = await Hub.open(ServerConfig(database="sqlite:///:memory:"))
    await hub.store.add_player("staff")
    token = await hub.store.add_token("staff")
    clients = []
    for bot in ("secret", "known"):
        client = BotClient(hub.connect(), MSGPACK)
        clients.append(client)
        assert isinstance(await client.hello(token, bot, games=["connect_four"]), Welcome)
    yield hub
    for client in clients:
        await client.close()
    await hub.close()


async def unread(hub: Hub, text: str, parsed: str | None = None) -> None:
    """Store another file with these values, as an older version could have left it."""
    values = competitions.update().values(file=text, parsed=parsed)
    await hub.store.write(lambda link: link.execute(values))


async def told(hub: Hub) -> tuple[bool, bool]:
    """Whether the two baselines may be secret, for a viewer without an account."""
    privacy = Privacy(hub.store)
    row = await hub.store.read(competition_sql.find, "Cup")
    sight = await privacy.sight(None)
    found = (privacy.may_be_secret(SECRET), privacy.may_be_secret(KNOWN))
    named = [each in sight.unnamed.get(row.id, ()) for each in (SECRET, KNOWN)]
    assert list(found) == named
    return found


@pytest.mark.parametrize("mark", ["", "\ufeff"])
async def test_byte_order_mark_unveils_no_hidden_baseline(hub: Hub, mark: str) -> None:
    await hub.competitions.open(mark + FILE, OLGA)
    assert await told(hub) == (True, False)
    row = await hub.store.read(competition_sql.find, "Cup")
    assert not (await propose(hub.store, hub.competitions, row, mark + FILE)).changes
    text = mark + FILE.replace("games", 'rules = "Be kind."\ngames', 1)
    proposal = await propose(hub.store, hub.competitions, row, text)
    await change(hub.store, hub.competitions, proposal, OLGA)
    assert await told(hub) == (True, False)


@pytest.mark.parametrize(
    "broken",
    [
        "\ufeff\ufeff" + FILE,
        FILE.encode("utf-16").decode("latin-1"),
        "[" * 5000,
        "",
        FILE.replace("hidden = true", 'hidden = "true"'),
        FILE.replace("hidden = true", "hidden = 1"),
        FILE.replace('bot = "staff/secret"', 'bot = "secret"'),
        FILE.replace("[[baselines]]", "[baselines.x]", 1),
        FILE.replace('"public"', '"pubilc"'),
    ],
)
async def test_file_that_cannot_be_read_hides_all_baselines(hub: Hub, broken: str) -> None:
    await hub.competitions.open(FILE, OLGA)
    await unread(hub, broken)
    assert await told(hub) == (True, True), "also before it is read"
    await read_files(hub.store)
    assert await told(hub) == (True, True)
    row = await hub.store.read(competition_sql.find, "Cup")
    assert row.parsed is None
    assert "cannot be read: " in (row.note or "")
    with pytest.raises(CompetitionRefusal, match="cannot be read on this server"):
        file_of(row)
    assert decoded(row.parsed).hosting_required, "the strict answer"


async def test_values_that_the_database_lacks_are_read_once_when_the_server_starts(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    await hub.competitions.open(FILE, OLGA)
    row = await hub.store.read(competition_sql.find, "Cup")
    for parsed in (None, "{", '{"name": 5}'):
        await unread(hub, FILE, parsed)
        await read_files(hub.store)
        assert await hub.store.read(competition_sql.find, "Cup") == row
    monkeypatch.setattr(file_changes, "read_competition", None)
    await read_files(hub.store)


async def test_rules_read_before_a_change_never_replace_those_after_it(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    await hub.competitions.open(FILE.replace("hidden = true", "hidden = false"), OLGA)
    row = await hub.store.read(competition_sql.find, "Cup")
    privacy, read = Privacy(hub.store), hub.store.read
    has_read, go_on = asyncio.Event(), asyncio.Event()

    async def slow(function: Any, *arguments: Any, **named: Any) -> Any:
        found = await read(function, *arguments, **named)
        if function is competition_privacy.finals:
            has_read.set()
            await go_on.wait()
        return found

    monkeypatch.setattr(hub.store, "read", slow)
    looking = asyncio.create_task(privacy.sight(None))
    await has_read.wait()
    monkeypatch.setattr(hub.store, "read", read)
    await unread(hub, "no file")
    await privacy.refresh(row.id)
    go_on.set()
    sight = await looking
    assert privacy.may_be_secret(SECRET)
    assert not sight.named(row.id, 0, SECRET)


async def test_competition_that_cannot_be_read_stands_still_and_tells_its_staff(hub: Hub) -> None:
    await hub.competitions.open(FILE.replace("2099", "2098"), OLGA)
    await unread(hub, FILE.replace("connect_four", "gone"))
    await read_files(hub.store)
    note = (await hub.store.read(competition_sql.find, "Cup")).note
    assert note is not None
    assert "games[0]: There is no game named 'gone'" in note
    hub.store.now = lambda: 5 * 10**12  # type: ignore[method-assign]
    await hub.competitions.look()
    row = await hub.store.read(competition_sql.find, "Cup")
    assert (row.status, row.note) == ("open", note)


async def test_note_of_an_unreadable_file_goes_when_the_file_is_read(hub: Hub) -> None:
    await hub.competitions.open(FILE, OLGA)
    row = await hub.store.read(competition_sql.find, "Cup")
    await unread(hub, "")
    await read_files(hub.store)
    await unread(hub, FILE)
    await read_files(hub.store)
    assert await hub.store.read(competition_sql.find, "Cup") == row
    await hub.store.write(competition_sql.note, row.id, "The final waits for 100 % of its bots.")
    await unread(hub, FILE)
    await read_files(hub.store)
    note = (await hub.store.read(competition_sql.find, "Cup")).note
    assert note == "The final waits for 100 % of its bots."


async def test_game_that_is_gone_changes_nothing_that_is_hidden(hub: Hub) -> None:
    await hub.competitions.open(FILE, OLGA)
    row = await hub.store.read(competition_sql.find, "Cup")
    gone = (row.parsed or "").replace("connect_four", "gone")
    await unread(hub, FILE.replace("connect_four", "gone"), gone)
    await read_files(hub.store)
    assert await told(hub) == (True, False)
    assert (await hub.store.read(competition_sql.find, "Cup")).parsed == gone


def test_name_is_compared_in_the_form_in_which_names_are_stored() -> None:
    name = "st\u00e4ff/known"
    text = FILE.replace(KNOWN, unicodedata.normalize("NFD", name))
    assert read_competition(text).shown == {name}


async def test_hidden_baseline_stays_hidden_when_its_account_is_renamed(hub: Hub) -> None:
    await hub.competitions.open(FILE, OLGA)
    await hub.store.write(people_changes.rename_player, "staff", "boss", OLGA, hub.store.now())
    privacy = Privacy(hub.store)
    await privacy.sight(None)
    assert privacy.may_be_secret("boss/secret")


def test_values_behind_a_byte_order_mark_are_edited() -> None:
    edited = set_value("\ufeff" + FILE, "name", '"Bowl"')
    assert edited == FILE.replace("Cup", "Bowl")
    with pytest.raises(CannotEdit, match="the file is no TOML"):
        set_value("]" + FILE, "name", '"Bowl"')
    with pytest.raises(CannotEdit, match="is no value of a competition file"):
        set_value(FILE, "name", '"Bowl')


async def test_a_request_that_changes_no_file_parses_none(
    house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = FILE.replace(SECRET, "sue/bot").rpartition("[[baselines]]")[0]
    course = Course(house, text.replace('"public"', '"class"'))
    await course.freeze("connect_four", "ada", "bob", staff=("sue",))

    def read_document(text: str) -> None:
        raise AssertionError("the file was parsed again")

    for module in (file_reader, file_table, file_sections, derived_files):
        if hasattr(module, "read_document"):
            monkeypatch.setattr(module, "read_document", read_document)
    await course.begin()
    for who in ("", "eve", "ada", "olga"):
        async with course.web(who) as web:
            for path in ("", "/board", "/table", "/rounds", "/students", "/report", "/staff"):
                query = {"student": "ada"} if path == "/report" else {}
                answer = await web.get(f"{course.here}{path}", params=query)
                assert answer.status_code in (200, 401, 403), answer.text
            for path in ("/competitions", "/competitions/cup", "/matches", "/api/v1/matches"):
                assert (await web.get(path)).status_code in (200, 401, 403)
    async with course.web("ada") as web:
        sent = await web.post("/api/v1/submissions?bot=other", content=b"import os\n")
        assert sent.status_code < 500, sent.text


async def test_server_reads_the_files_of_an_older_version_before_it_serves(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'old.db'}"
    hub = await Hub.open(ServerConfig(database=url))
    text = FILE.partition("[[baselines]]")[0]
    await hub.competitions.open(text, OLGA)
    row = await hub.store.read(competition_sql.find, "Cup")
    await unread(hub, text)
    await hub.close()
    hub = await Hub.open(ServerConfig(database=url))
    try:
        assert await hub.store.read(competition_sql.find, "Cup") == row
    finally:
        await hub.close()


@pytest.mark.parametrize("status", ["open", "frozen"])
async def test_competition_whose_game_is_gone_stops_no_other(house: Any, status: str) -> None:
    course = Course(house, FILE.replace(SECRET, "sue/bot").rpartition("[[baselines]]")[0])
    await course.freeze("connect_four", "ada", "bob", staff=("sue",))
    store = house.hub.store
    row = await store.read(competition_sql.find, "Cup")
    parsed = (row.parsed or "").replace("connect_four", "gone")
    values = {"parsed": parsed, "status": status, "final_ms": 1}

    def lose(link: Connection) -> None:
        link.execute(competitions.update().values(values))
        link.execute(competition_games.update().values(game="gone"))

    await store.write(lose)
    await house.hub.competitions.look()
    note = (await store.read(competition_sql.find, "Cup")).note
    assert status == "open" or "There is no game named 'gone'" in (note or "")
    for who in ("", "ada", "olga"):
        async with course.web(who) as web:
            page = await web.get("/competitions/cup", headers={"accept": "text/html"})
            assert page.status_code == 404, page.text
            assert "A game of Cup is not installed on this server any more." in page.text
            listed = (await web.get("/api/v1/competitions")).json()
            assert [each["name"] for each in listed] == ["Cup"]
            board = await web.get(f"{course.here}/table")
            assert board.status_code in (200, 401, 403, 404), board.text
            assert "sue" not in board.text
