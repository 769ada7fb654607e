"""A competition file that is hard to read never shows more than one that is read."""

from __future__ import annotations

import unicodedata
from collections.abc import AsyncIterator

import pytest
from tests.harness.server import BotClient

from plyhouse.protocol.codec import MSGPACK
from plyhouse.protocol.messages import Welcome
from plyhouse.server.accounts.privacy import Privacy
from plyhouse.server.competition_rules.file_reader import (
    InvalidCompetition,
    only_submitted,
    read_competition,
)
from plyhouse.server.competition_rules.file_table import CannotEdit, set_value
from plyhouse.server.competition_rules.file_visibility import read_visibility
from plyhouse.server.competitions.competition_changes import change, propose
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.hub import Hub
from plyhouse.storage import competition_sql, people_changes
from plyhouse.storage.models import competitions
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
    here = competitions
    await hub.store.write(lambda link: link.execute(here.update().values(file=broken)))
    assert await told(hub) == (True, True)


async def test_game_or_built_in_bot_that_is_gone_changes_nothing(hub: Hub) -> None:
    text = FILE.replace("connect_four", "gone").replace("hidden = true", 'reference = "gone"')
    with pytest.raises(InvalidCompetition):
        read_competition(text)
    found = read_visibility(text.replace('reference = "gone"', 'reference = "gone"\nhidden = true'))
    assert (found.board, found.shown) == ("public", frozenset({KNOWN}))
    assert only_submitted(text), "the strict answer"


def test_name_is_compared_in_the_form_in_which_names_are_stored() -> None:
    name = "st\u00e4ff/known"
    text = FILE.replace(KNOWN, unicodedata.normalize("NFD", name))
    assert read_visibility(text).shown == {name}


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
