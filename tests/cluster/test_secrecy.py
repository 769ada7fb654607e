"""What passes between servers: secrets only to the server whose seat or bot they belong to."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import httpx
import msgspec
import pytest
from tests.harness.patience import PATIENCE
from tests.harness.server import BotClient, Server
from tests.harness.small_cluster import SmallCluster, cluster_of

from plyhouse.games.hidden.leduc_poker import CARDS
from plyhouse.protocol.messages import (
    Accepted,
    Act,
    MatchMessage,
    MatchSnapshot,
    Ok,
    Turn,
    Update,
    Watch,
    Welcome,
)
from plyhouse.storage import match_reads

pytestmark = [pytest.mark.postgresql]

CARD = re.compile(rf"\b({'|'.join(CARDS)})\b")
KEY = re.compile(r"[\w-]{32}")
"""A session key: one of 20,000 has a card between its hyphens."""


class Sent(NamedTuple):
    """A payload that one server has given to its link for another one."""

    source: int
    target: int
    payload: bytes


@pytest.fixture
def sent(cluster: SmallCluster, monkeypatch: pytest.MonkeyPatch) -> list[Sent]:
    """Everything that the servers send each other from now on."""
    found: list[Sent] = []
    for server in cluster.servers:
        link = cluster_of(server.hub)._link

        def send(to: int, payload: bytes, link: Any = link, pass_on: Any = link.send) -> None:
            found.append(Sent(link.own, to, payload))
            pass_on(to, payload)

        monkeypatch.setattr(link, "send", send)
    return found


def cards_in(value: Any) -> Iterator[str]:
    """The cards that a decoded message names: in words, keys, or drawn with rank and suit."""
    if isinstance(value, dict):
        if value.get("rank") and value.get("suit"):
            yield value["rank"] + value["suit"][0]
        for key, part in value.items():
            yield from cards_in(key)
            yield from cards_in(part)
    elif isinstance(value, list):
        for part in value:
            yield from cards_in(part)
    elif isinstance(value, str) and not KEY.fullmatch(value):
        yield from CARD.findall(value)


def epoch_of(server: Server) -> int:
    return server.hub.store.epoch


async def test_private_card_leaves_its_server_only_for_its_seat(
    cluster: SmallCluster, sent: list[Sent]
) -> None:
    first, second, third = cluster.servers
    homes = {"alice": second, "bob": third}
    bots: dict[str, BotClient] = {}
    for name, server in homes.items():
        bots[name] = await server.bot(name, "bot", scenes=True)
        assert isinstance(await bots[name].seek("leduc_poker", count=1), Ok)
    starts: list[MatchSnapshot] = [await bot.start() for bot in bots.values()]
    match, players = starts[0].match, [each.player for each in starts[0].players]
    owner = homes[players[0]]
    assert match in owner.hub.directory.own
    viewer = await first.client()
    assert isinstance(await viewer.hello("", "", scenes=True), Welcome)
    assert isinstance(await viewer.ask(Watch, match), MatchMessage)
    for ply in range(2):
        bot = bots[players[ply]]
        await bot.next(Turn, match=match, ply=ply)
        assert isinstance(await bot.ask(Act, match, ply, "check"), Accepted)
    await bots[players[0]].next(Turn, match=match, ply=2)  # the card on the table is dealt
    async with asyncio.timeout(PATIENCE):
        while not any(isinstance(each, Update) and each.ply == 2 for each in viewer.inbox):
            viewer.inbox.append(await viewer.receive())
    async with httpx.AsyncClient() as web:  # the leader asks the owner for it
        shown = await web.get(f"{third.server.url}/api/v1/matches/{match}")
    assert shown.json()["snapshot"]["ply"] == 2
    back = await homes[players[1]].client()  # the owner sends all that the seat knows
    token = await first.hub.store.add_token(players[1], ("play",))
    welcome = await back.hello(token, "bot", session=bots[players[1]].session, takeover=True)
    assert isinstance(welcome, Welcome)
    assert [each.ply for each in welcome.matches] == [2]

    stored = await first.hub.store.read(match_reads.stored_match, match)
    dealt = [event.text for event in stored.events if event.kind == "chance"]
    assert len(dealt) == len(set(dealt)) == 3
    *private, table = dealt
    allowed = {
        epoch_of(first): {table},
        epoch_of(homes[players[0]]): {private[0], table},
        epoch_of(homes[players[1]]): {private[1], table},
    }
    named: dict[int, set[str]] = {epoch: set() for epoch in allowed}
    for each in sent:
        if each.source == epoch_of(owner):
            named[each.target].update(cards_in(msgspec.msgpack.decode(each.payload)))
        else:
            assert not set(cards_in(msgspec.msgpack.decode(each.payload))) - allowed[each.source]
    del named[epoch_of(owner)]
    assert named == {epoch: allowed[epoch] for epoch in named}

    seed = stored.pairing.seed
    assert len(seed) >= 16
    assert not any(seed in each.payload or seed.hex().encode() in each.payload for each in sent)


async def test_session_key_passes_only_between_its_server_and_the_leader(
    cluster: SmallCluster, sent: list[Sent]
) -> None:
    first, second, third = cluster.servers
    bots = [await second.bot("alice", "bot"), await third.bot("bob", "bot")]
    for bot in bots:
        assert isinstance(await bot.seek("pig", count=1), Ok)
    starts = [await bot.start() for bot in bots]
    assert starts[0].match == starts[1].match
    for bot, server in zip(bots, (second, third), strict=True):
        key = bot.session.encode()
        ways = {(each.source, each.target) for each in sent if key in each.payload}
        here, leader = epoch_of(server), epoch_of(first)
        assert ways == {(leader, here)}
