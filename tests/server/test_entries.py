"""Who enters a competition: programs only, where they play a game, on every path."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.harness.server import BotClient
from tests.harness.statements import statements
from tests.tournaments import begin_round_robin

from plyhouse.games.registry import get_game
from plyhouse.protocol.codec import MSGPACK
from plyhouse.protocol.errors import ProtocolError
from plyhouse.protocol.messages import Notice, Welcome
from plyhouse.server.competition_rules.file_reader import InvalidCompetition
from plyhouse.server.competitions import file_changes
from plyhouse.server.competitions.lifecycle import columns_of
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.hub import Hub
from plyhouse.server.match.terms import Terms
from plyhouse.server.match.time_control import TimeControl
from plyhouse.storage import (
    competition_entries,
    competition_sql,
    competition_students,
    people,
    tournaments,
)
from plyhouse.storage.competition_changes import Carry
from plyhouse.storage.competition_rows import CompetitionRow, NewMember
from plyhouse.storage.errors import CompetitionRefusal
from plyhouse.storage.models import competition_entries as entry_table
from plyhouse.storage.models import competitions
from plyhouse.storage.rows import By, new_id
from plyhouse.storage.submission_rows import OUTCOMES

OLGA = By("olga")
FILE = 'name = "Cup"\ngames = ["connect_four"]\ntime_control = "total:60"\n'


class Classroom:
    """A hub without a network, with a competition."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.tokens: dict[str, str] = {}
        self.clients: list[BotClient] = []

    async def account(self, name: str) -> None:
        await self.hub.store.add_player(name)
        self.tokens[name] = await self.hub.store.add_token(name)

    async def join(self, *names: str, to: str = "Cup") -> None:
        """Take in accounts that exist."""
        members = [NewMember(name, name) for name in names]
        now = self.hub.store.now()
        await self.hub.store.write(
            competition_students.take_in, to, members, OLGA, now, None, adopt=names
        )

    async def connect(
        self, player: str, bot: str, games: list[str], version: str = "", **hello: Any
    ) -> BotClient:
        client = BotClient(self.hub.connect(), MSGPACK)
        self.clients.append(client)
        hello |= {"games": games, "version": version}
        welcome = await client.hello(self.tokens[player], bot, **hello)
        assert isinstance(welcome, Welcome), welcome
        return client

    async def entered(self, competition: str = "Cup") -> list[tuple[str, str]]:
        row = await self.hub.store.read(competition_sql.find, competition)
        found = await self.hub.store.read(competition_sql.entries_of, row.id)
        return [(each.name, each.version) for each in found if not each.baseline]

    async def enter(self, player: str, bot: str, replaces: str = "") -> Any:
        store = self.hub.store
        account = (await store.read(people.player, player)).id
        games = {each.bot_id: each.games for each in self.hub.directory.presences.values()}
        return await store.write(
            competition_entries.enter, "Cup", account, bot, "", replaces, store.now(), games
        )


@pytest.fixture
async def room() -> AsyncIterator[Classroom]:
    hub = await Hub.open(ServerConfig(database="sqlite:///:memory:"))
    room = Classroom(hub)
    try:
        for name in ("ada", "ben", "staff"):
            await room.account(name)
        yield room
    finally:
        for client in room.clients:
            await client.close()
        await hub.close()


@pytest.mark.parametrize("games", [[], ["pig", "connect_four"]])
async def test_person_takes_no_place_when_playing_in_person(
    room: Classroom, games: list[str]
) -> None:
    await room.hub.competitions.open(FILE, OLGA)
    await room.join("ada")
    await room.connect("ada", "", games)
    assert await room.entered() == []
    await room.connect("ada", "mybot", ["connect_four"])
    assert await room.entered() == [("ada/mybot", "")]


async def test_person_and_bot_of_other_games_are_not_entered_when_they_join_later(
    room: Classroom,
) -> None:
    await room.hub.competitions.open(FILE, OLGA)
    await room.connect("ada", "", ["connect_four"])
    await room.connect("ben", "pigbot", ["pig"])
    await room.join("ada", "ben")
    await room.hub.audit_follower.look()
    assert await room.entered() == []
    await room.connect("ben", "four", ["connect_four(width=7)", "connect_four"])
    assert await room.entered() == [("ben/four", "")]


async def test_new_version_for_other_games_does_not_replace_the_entered_one(
    room: Classroom,
) -> None:
    await room.hub.competitions.open(FILE, OLGA)
    await room.join("ada")
    store = room.hub.store
    bot = await store.ensure_bot((await store.read(people.player, "ada")).id, "mybot")
    await store.log_in(bot, "1", games=["connect_four"])
    await store.log_in(bot, "2", games=["pig"])
    assert await room.entered() == [("ada/mybot", "1")]


async def test_choice_of_a_person_or_a_bot_of_other_games_is_refused(room: Classroom) -> None:
    await room.hub.competitions.open(FILE, OLGA)
    await room.join("ada")
    await room.connect("ada", "", ["connect_four"])
    await room.connect("ada", "pigbot", ["pig"])
    with pytest.raises(CompetitionRefusal, match="ada plays in person; enter a bot") as caught:
        await room.enter("ada", "ada")
    assert caught.value.code == "competition/not_a_bot"
    with pytest.raises(CompetitionRefusal, match="pigbot plays pig, and 'Cup' is of connect_four"):
        await room.enter("ada", "pigbot")
    assert await room.entered() == []


async def test_person_is_no_baseline_and_no_entry_without_students(room: Classroom) -> None:
    await room.connect("staff", "", ["connect_four"])
    await room.connect("ada", "mybot", ["connect_four"])
    await room.connect("ben", "mybot", ["connect_four"])
    with pytest.raises(InvalidCompetition, match="staff/staff is an account that plays in person"):
        await room.hub.competitions.open(FILE + '[[baselines]]\nbot = "staff/staff"\n', OLGA)
    league = FILE.replace("Cup", "League") + "[limits]\nstudents = 0\n"
    file = await room.hub.competitions.check(league)
    row = CompetitionRow(
        id=new_id(), name=file.name, status="frozen", created_ms=1, **columns_of(file, league)
    )
    person = (await room.hub.store.read(people.bot_named, "staff", "")).id
    with pytest.raises(CompetitionRefusal, match="staff plays in person"):
        await room.hub.store.write(competition_sql.create, row, (), OLGA, (), [person])


async def test_entries_carried_over_leave_persons_behind(room: Classroom) -> None:
    await room.hub.competitions.open(FILE, OLGA)
    await room.join("ada", "ben")
    await room.connect("ada", "", ["connect_four"])
    await room.connect("ben", "mybot", ["connect_four"])
    row = await room.hub.store.read(competition_sql.find, "Cup")
    person = await room.hub.store.read(people.bot_named, "ada", "")
    version = await room.hub.store.ensure_version(person.id, "1")
    old = {
        "competition_id": row.id, "bot_id": person.id, "player_id": person.player_id,
        "version_id": version, "chosen": False, "baseline": False, "status": "active",
        "created_ms": 1,
    }  # fmt: skip
    # An entry as an older release made it.
    await room.hub.store.write(lambda link: link.execute(entry_table.insert().values(**old)))
    await room.hub.competitions.open(
        FILE.replace("Cup", "Second"), OLGA, source=Carry(row.id, submissions=True)
    )
    assert await room.entered("Second") == [("ben/mybot", "")]


HELPED = f'{FILE}[limits]\nhelp = "position"\n'


@pytest.mark.parametrize(
    ("label", "fits"),
    [
        ("help: position", True),
        ("v7, qwen3, help: position", True),
        ("help: rules", False),
        ("", False),
    ],
)
async def test_demanded_level_of_help_decides_who_is_entered(
    room: Classroom, label: str, fits: bool
) -> None:
    await room.hub.competitions.open(HELPED, OLGA)
    await room.join("ada")
    client = await room.connect("ada", "gpt", ["connect_four"], label)
    assert await room.entered() == ([("ada/gpt", label)] if fits else [])
    if fits:
        return
    notice = await client.next(Notice)
    assert notice.code == "help/required"
    assert "'Cup'" in notice.message
    assert "plyhouse mcp --help-level position" in notice.message
    with pytest.raises(CompetitionRefusal, match="help: position is demanded; connect") as caught:
        await room.enter("ada", "gpt")
    assert caught.value.code == "help/required"


async def test_version_with_more_help_does_not_replace_the_entered_one(room: Classroom) -> None:
    await room.hub.competitions.open(HELPED, OLGA)
    await room.join("ada")
    store = room.hub.store
    bot = await store.ensure_bot((await store.read(people.player, "ada")).id, "gpt")
    await store.log_in(bot, "help: position", games=["connect_four"])
    await store.log_in(bot, "help: rules", games=["connect_four"])
    assert await room.entered() == [("ada/gpt", "help: position")]


async def test_submission_without_the_demanded_level_of_help_is_not_entered(
    room: Classroom,
) -> None:
    row = await room.hub.competitions.open(HELPED, OLGA)
    await room.join("ada")
    store = room.hub.store
    bot = await store.ensure_bot((await store.read(people.player, "ada")).id, "gpt")
    for label, outcome in (("help: rules", "help"), ("help: position", "entered")):
        version = await store.ensure_version(bot.id, label)
        found = await store.write(
            competition_entries.enter_checked,
            row.id, bot.player_id, bot.id, version, True, store.now(), store.now(),
        )  # fmt: skip
        assert found == outcome
        assert outcome in OUTCOMES


@pytest.mark.parametrize("parsed", [None, "{", '{"limits": {"help": 5}}'])
async def test_nobody_is_entered_while_the_demanded_help_cannot_be_read(
    room: Classroom, parsed: str | None
) -> None:
    row = await room.hub.competitions.open(HELPED, OLGA)
    await room.join("ada")
    store = room.hub.store
    values = competitions.update().values(file="", parsed=parsed)
    await store.write(lambda link: link.execute(values))
    client = await room.connect("ada", "gpt", ["connect_four"], "help: position")
    assert await room.entered() == []
    notice = await client.next(Notice)
    assert "'Cup' cannot be read on this server" in notice.message
    with pytest.raises(CompetitionRefusal, match="staff finds the reason by") as caught:
        await room.enter("ada", "gpt")
    assert caught.value.code == "competition/unreadable"
    bot = await store.ensure_bot((await store.read(people.player, "ada")).id, "gpt")
    version = await store.ensure_version(bot.id, "help: position")
    outcome = await store.write(
        competition_entries.enter_checked,
        row.id, bot.player_id, bot.id, version, True, store.now(), store.now(),
    )  # fmt: skip
    assert outcome == "unreadable"
    assert outcome in OUTCOMES
    await file_changes.read_files(store)
    note = (await store.read(competition_sql.find, "Cup")).note or ""
    assert "takes no bots" in note
    assert "Install what is missing, and start the server again" in note


async def test_login_asks_once_for_the_demands_of_all_competitions(room: Classroom) -> None:
    for number in range(3):
        await room.hub.competitions.open(HELPED.replace("Cup", f"Cup {number}"), OLGA)
        await room.join("ada", to=f"Cup {number}")
    store = room.hub.store
    bot = await store.ensure_bot((await store.read(people.player, "ada")).id, "gpt")
    with statements(store) as sent:
        found = await store.read(competition_entries.unhelped, bot, "", store.now())
    assert len(found) == 3
    assert len([each for each in sent if each.startswith("SELECT")]) == 1


async def test_baseline_needs_no_level_of_help(room: Classroom) -> None:
    await room.connect("staff", "easy", ["connect_four"])
    row = await room.hub.competitions.open(f'{HELPED}[[baselines]]\nbot = "staff/easy"\n', OLGA)
    await room.connect("staff", "easy", ["connect_four"], "2", takeover=True)
    found = await room.hub.store.read(competition_sql.entries_of, row.id)
    assert [(each.name, each.version) for each in found] == [("staff/easy", "2")]


async def test_final_begins_without_entries_of_another_level_if_the_organiser_says_so(
    room: Classroom,
) -> None:
    """They entered before the file demanded a level."""
    competitions, store = room.hub.competitions, room.hub.store
    cup = await competitions.open(FILE, OLGA)
    await room.join("ada", "ben", "staff")
    for player, label in (("ada", "rules"), ("ben", "position"), ("staff", "position")):
        await room.connect(player, "gpt", ["connect_four"], f"help: {label}")
    proposal = await file_changes.propose(store, competitions, cup, HELPED)
    await file_changes.change(store, competitions, proposal, OLGA)
    await store.write(competition_sql.move, "Cup", "freeze", OLGA, store.now())
    with pytest.raises(CompetitionRefusal, match="ada/gpt has the label 'help: rules'") as caught:
        await competitions.run("Cup", OLGA)
    assert caught.value.code == "help/required"
    row = await competitions.run("Cup", OLGA, anyway=True)
    (game,) = row.games
    entered = await store.read(tournaments.list_entries, game.tournament_id or "")
    assert sorted(each.player for each in entered) == ["ben", "staff"]


async def test_full_places_are_reported_at_the_submission(room: Classroom) -> None:
    await room.hub.competitions.open(FILE, OLGA)
    await room.join("ada")
    await room.connect("ada", "first", ["connect_four"])
    store = room.hub.store
    second = await store.ensure_bot((await store.read(people.player, "ada")).id, "second")
    row = await store.submissions.add(second.id, "", "a" * 64, b"1", store.now())
    assert [(each.competition, each.outcome) for each in row.competitions] == [("Cup", "full")]


async def test_round_robin_of_connected_bots_leaves_persons_out(room: Classroom) -> None:
    await room.connect("staff", "", ["connect_four"])
    await room.connect("ada", "mybot", ["connect_four"])
    game = Terms(get_game("connect_four"), TimeControl.parse("total:60"), rated=False)
    with pytest.raises(ProtocolError, match="Only 1 connected bots accept connect_four"):
        await begin_round_robin(room.hub.competitions, "League", game, OLGA)
    await room.connect("ben", "mybot", ["connect_four"])
    row = await begin_round_robin(room.hub.competitions, "League", game, OLGA)
    found = await room.hub.store.read(competition_sql.entries_of, row.id)
    assert [each.name for each in found] == ["ada/mybot", "ben/mybot"]
