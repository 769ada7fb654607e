"""Databases of earlier versions, with data in them, brought up to date."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Connection, delete, select, text

from plyhouse.server.competition_rules.file_reader import read_competition
from plyhouse.storage import (
    bot_profiles,
    competition_entries,
    competition_sql,
    competition_staff,
    competition_students,
    leaderboards,
    match_reads,
    schema,
    tournaments,
)
from plyhouse.storage import people as stored_people
from plyhouse.storage.database import Database
from plyhouse.storage.errors import AlreadyExists, StorageError
from plyhouse.storage.models import audit, class_competitions, metadata, pairings, players
from plyhouse.storage.store import Store
from plyhouse.storage.urls import parse_url

MATCHES = (
    # id, ended, then for each seat: bot, version, returned, score, result
    ("m1", 10, (1, 1, 1.0, 1.0, "W"), (2, 3, -1.0, 0.0, "L")),
    ("m2", 20, (2, 3, 0.0, 0.5, "D"), (1, 1, 0.0, 0.5, "D")),
    ("m3", 30, (1, 2, -2.0, 0.0, "L"), (2, 3, 2.0, 1.0, "W")),
    ("m4", 40, (3, 4, 3.0, 0.75, "W"), (2, 3, -3.0, 0.25, "L")),
)
PLAYED = ("rated", "casual")


def _first_schema(connection: Connection) -> None:
    """Make the tables of schema 0001 and what a server of that time would have stored."""
    schema.migrate(connection, "0001")

    def run(statement: str, **values: Any) -> None:
        connection.execute(text(statement), values)

    run("INSERT INTO meta (name, value) VALUES ('plyhouse_version', '0')")
    for number, name in enumerate(("ada", "bob", "cy"), start=1):
        run(
            "INSERT INTO players (id, name, name_key, created_ms) VALUES (:id, :name, :name, 5)",
            id=number,
            name=name,
        )
        run(
            "INSERT INTO bots (id, player_id, name, name_key, kind, created_ms)"
            " VALUES (:id, :id, :name, :name, 'bot', 5)",
            id=number,
            name=name,
        )
    for version, (bot, label) in enumerate(((1, "a1"), (1, "a2"), (2, "b1"), (3, "c1")), start=1):
        run(
            "INSERT INTO versions (id, bot_id, label, created_ms) VALUES (:id, :bot, :label, 5)",
            id=version,
            bot=bot,
            label=label,
        )
    for played in PLAYED:
        for match, ended, *seats in MATCHES:
            identifier = f"{played}-{match}"
            run(
                "INSERT INTO pairings (id, round, game, time_control, rated, seed, commitment,"
                " matches, created_ms, finished_ms)"
                " VALUES (:id, 0, 'pig', 'move:1', :rated, :seed, '', 1, 1, :ended)",
                id=identifier,
                rated=played == "rated",
                seed=b"s",
                ended=ended,
            )
            run(
                "INSERT INTO matches (id, pairing_id, game, time_control, rated, illegal_rule,"
                " stream, nonces, status, ply, created_ms, started_ms, finished_ms, termination,"
                " reason) VALUES (:id, :id, 'pig', 'move:1', :rated, 'forfeit', '0', '[]',"
                " 'finished', 7, 1, 2, :ended, 'normal', '')",
                id=identifier,
                rated=played == "rated",
                ended=ended,
            )
            for seat, (bot, version, returned, score, result) in enumerate(seats):
                run(
                    "INSERT INTO match_seats (match_id, seat, bot_id, version_id, returned, score,"
                    " result) VALUES (:id, :seat, :bot, :version, :returned, :score, :result)",
                    id=identifier,
                    seat=seat,
                    bot=bot,
                    version=version,
                    returned=returned,
                    score=score,
                    result=result,
                )
    for bot, score, games, rating in ((1, 1.5, 3, 10.0), (2, 1.75, 4, -20.0), (3, 0.75, 1, 30.0)):
        run(
            "INSERT INTO standings (game, bot_id, score, games, wins, draws, losses, returned,"
            " returned_squares, rating, low, high, rated_ms)"
            " VALUES ('pig', :bot, :score, :games, 1, 1, 1, 0, 0, :rating, 0, 90, 77)",
            bot=bot,
            score=score,
            games=games,
            rating=rating,
        )
        run(
            "INSERT INTO rating_snapshots (game, bot_id, taken_ms, rating, low, high, games)"
            " VALUES ('pig', :bot, 77, :rating, 0, 90, :games)",
            bot=bot,
            rating=rating,
            games=games,
        )
    for a, b, wins_a, draws, wins_b, score in ((1, 2, 1, 1, 1, 1.5), (2, 3, 0, 0, 1, 0.25)):
        run(
            "INSERT INTO pair_results (game, bot_a, bot_b, wins_a, draws, wins_b, score_a,"
            " squares_a) VALUES ('pig', :a, :b, :wins_a, :draws, :wins_b, :score, :squares)",
            a=a,
            b=b,
            wins_a=wins_a,
            draws=draws,
            wins_b=wins_b,
            score=score,
            squares=score * score if b == 3 else 1.25,
        )


@pytest.fixture
async def first(lasting_url: str) -> str:
    """The URL of a database of schema 0001 with results in it."""
    database = Database(parse_url(lasting_url))
    try:
        await database.write(_first_schema)
    finally:
        await database.close()
    return lasting_url


async def test_the_first_schema_is_migrated_with_its_results_divided_by_version(
    first: str,
) -> None:
    async with await Store.open(first) as store:
        rows = await store.read(leaderboards.leaderboard, "pig", every_version=True)
        kept = {
            row.version: (row.score, row.games, row.wins, row.draws, row.losses, row.returns)
            for row in rows
        }
        assert kept == {
            "a1": (1.5, 2, 1, 1, 0, 1.0),
            "a2": (0.0, 1, 0, 0, 1, -2.0),
            "b1": (1.75, 4, 1, 1, 2, -2.0),
            "c1": (0.75, 1, 1, 0, 0, 3.0),
        }
        assert {row.version: row.return_squares for row in rows}["b1"] == 1 + 0 + 4 + 9
        assert {row.version: row.rating for row in rows} == {
            "a1": None,
            "a2": 10.0,
            "b1": -20.0,
            "c1": 30.0,
        }
        shown = await store.read(leaderboards.leaderboard, "pig")
        assert [(row.bot, row.version, row.low, row.high) for row in shown] == [
            ("cy", "c1", 0, 90),
            ("ada", "a2", 0, 90),
            ("bob", "b1", 0, 90),
        ]
        pairs = [
            (*(r.version_a, r.version_b, r.wins_a, r.draws, r.wins_b), r.score_a, r.squares_a)
            for r in await store.read(leaderboards.pair_results_of, "pig")
        ]
        assert pairs == [
            (1, 3, 1, 1, 0, 1.5, 1.25),
            (2, 3, 0, 0, 1, 0.0, 0.0),
            (3, 4, 0, 0, 1, 0.25, 0.0625),
        ]
        (snapshot,) = await store.read(bot_profiles.ratings_of, 1, ["pig"], 9)
        assert (snapshot.rating, snapshot.version) == (10.0, "a2")
        assert [row.display for row in await store.read(stored_people.list_players)] == ["", "", ""]
        assert (await store.read(match_reads.stored_match, "rated-m1")).header.void_reason is None


async def test_a_migrated_database_has_the_tables_of_a_new_one(first: str) -> None:
    from tests.harness.schema import differences

    await (await Store.open(first)).close()
    database = await Database.open(first)
    try:
        assert await database.read(differences) == []
        assert await database.read(schema.revision) == schema.HEAD
    finally:
        await database.close()


async def test_versions_of_before_are_found_again_without_a_digest(
    first: str,
) -> None:
    async with await Store.open(first) as store:
        before = {row.label: row for row in await store.read(competition_entries.versions_of, 1)}
        assert {label: row.digest for label, row in before.items()} == {"a1": "", "a2": ""}
        ada = await store.read(stored_people.bot, 1)
        assert await store.log_in(ada, "a1") == before["a1"].id
        assert await store.read(competition_sql.list_all) == []


async def test_competitions_of_before_go_on(lasting_url: str) -> None:
    def second(connection: Connection) -> None:
        schema.migrate(connection, "0002")
        for statement in (
            "INSERT INTO players (id, name, name_key, created_ms) VALUES (1, 'ada', 'ada', 5)",
            "INSERT INTO bots (id, player_id, name, name_key, kind, created_ms)"
            " VALUES (1, 1, 'ada', 'ada', 'bot', 5)",
            "INSERT INTO competitions (id, name, game, time_control, format, rounds, mirrored,"
            " rated, status, created_ms) VALUES ('cup', 'Cup', 'pig', 'move:1', 'round_robin', 1,"
            " true, true, 'running', 5)",
            "INSERT INTO entries (competition_id, bot_id, status, created_ms)"
            " VALUES ('cup', 1, 'active', 5)",
            "INSERT INTO competitions (id, name, game, time_control, format, rounds, mirrored,"
            " rated, status, created_ms) SELECT 'second', 'CUP', game, time_control, format,"
            " rounds, mirrored, rated, 'finished', 6 FROM competitions",
            "INSERT INTO competitions (id, name, game, time_control, format, rounds, mirrored,"
            " rated, status, created_ms) SELECT 'third', 'wk/1 \"x\"', game, time_control,"
            " format, rounds, mirrored, rated, 'paused', 7 FROM competitions WHERE id = 'cup'",
        ):
            connection.execute(text(statement))

    database = Database(parse_url(lasting_url))
    try:
        await database.write(second)
    finally:
        await database.close()
    async with await Store.open(lasting_url) as store:
        cup = await store.read(tournaments.competition, "cup")
        assert (cup.id, cup.status) == ("cup", "running")
        assert [
            entry.version_id for entry in await store.read(tournaments.list_entries, "cup")
        ] == [None]
        found = await store.read(competition_sql.find, "Cup")
        assert (found.id, found.status, found.most_students) == ("cup", "running", 0)
        assert [each.competition_id for each in found.games] == ["cup"]
        file = read_competition(found.file)
        assert (file.name, file.games, file.rated) == ("Cup", ("pig",), True)
        assert [e.name for e in await store.read(competition_sql.entries_of, "cup")] == ["ada/ada"]
        odd = await store.read(competition_sql.find, "Cup 2")
        assert (odd.id, read_competition(odd.file).name) == ("second", "CUP 2")
        odd = await store.read(competition_sql.find, "wk-1 -x")
        assert read_competition(odd.file).name == odd.name


async def test_opener_of_an_older_competition_becomes_its_owner(lasting_url: str) -> None:
    def tenth(connection: Connection) -> None:
        schema.migrate(connection, "0011")
        people = ((1, "ada", 5), (2, "bob", 5), (3, "zed", 5), (4, "cy", 99))
        for number, name, made in people:
            connection.execute(
                text(
                    "INSERT INTO players (id, name, name_key, created_ms)"
                    f" VALUES ({number}, '{name}', '{name}', {made})"
                )
            )
        # zed was called eve when it opened "renamed"; cy is younger than "taken"; "told" was
        # opened from the command line, and nothing is known of "unknown".
        log = (
            ("Ada", "competition.open", "Known", "known"),
            ("bob", "competition.open", "Known", "known"),
            ("eve", "competition.open", "Renamed", "renamed"),
            ("root", "player.rename", "eve to zed", "3"),
            ("cy", "competition.open", "Taken", "taken"),
            ("ada (command line)", "competition.open", "Told", "told"),
        )
        for who, what, subject, which in log:
            connection.execute(
                text(
                    "INSERT INTO audit (at_ms, who, what, subject, subject_id, why, keep_matches)"
                    f" VALUES (7, '{who}', '{what}', '{subject}', '{which}', '', true)"
                )
            )
        for which in ("known", "renamed", "taken", "told", "unknown"):
            connection.execute(
                text(
                    "INSERT INTO class_competitions (id, name, name_key, file, format, status,"
                    " entries_each, most_students, created_ms)"
                    f" VALUES ('{which}', '{which}', '{which}', '', 'x', 'open', 1, 9, 7)"
                )
            )

    database = Database(parse_url(lasting_url))
    try:
        await database.write(tenth)
    finally:
        await database.close()
    async with await Store.open(lasting_url) as store:
        owners = {
            row.id: [
                (each.player, each.role)
                for each in await store.read(competition_staff.staff_of, row.id)
            ]
            for row in await store.read(competition_sql.list_all)
        }
        assert owners == {
            "known": [("ada", "owner")],
            "renamed": [("zed", "owner")],
            "taken": [],
            "told": [],
            "unknown": [],
        }
        assert await store.read(competition_staff.role, "known", 2) is None
        old_names = select(audit.c.what, audit.c.old_name).distinct()
        kept = await store.read(lambda c: {tuple(row) for row in c.execute(old_names)})
        assert kept == {("competition.open", None), ("player.rename", "eve")}
        assert await store.read(competition_staff.role, "unknown", 2) == "owner"


async def test_member_of_an_older_competition_has_no_institution_id(lasting_url: str) -> None:
    def twelfth(connection: Connection) -> None:
        schema.migrate(connection, "0012")
        statements = (
            "INSERT INTO players (id, name, name_key, created_ms) VALUES (1, 'ada', 'ada', 5)",
            "INSERT INTO class_competitions (id, name, name_key, file, format, status,"
            " entries_each, most_students, created_ms)"
            " VALUES ('cup', 'Cup', 'cup', '', 'swiss', 'open', 1, 9, 5)",
            "INSERT INTO class_students (class_id, player_id, status, joined_ms)"
            " VALUES ('cup', 1, 'active', 5)",
            "INSERT INTO class_members (class_id, player_id, name_key, name, email, token)"
            " VALUES ('cup', 1, 'ada', 'Ada', 'ada@example.org', 'ply_1')",
        )
        for statement in statements:
            connection.execute(text(statement))

    database = Database(parse_url(lasting_url))
    try:
        await database.write(twelfth)
    finally:
        await database.close()
    async with await Store.open(lasting_url) as store:
        (student,) = await store.read(competition_students.students_of, "cup")
        (member,) = student.members
        assert (member.name, member.email, member.institution_id) == ("Ada", "ada@example.org", "")


async def test_leaderboard_of_leduc_poker_goes_by_chips_after_the_update(lasting_url: str) -> None:
    def thirteenth(connection: Connection) -> None:
        schema.migrate(connection, "0013")
        connection.execute(
            text("INSERT INTO players (id, name, name_key, created_ms) VALUES (1, 'ada', 'ada', 5)")
        )
        for number in (1, 2):
            connection.execute(
                text(
                    "INSERT INTO bots (id, player_id, name, name_key, kind, created_ms)"
                    f" VALUES ({number}, 1, 'b{number}', 'b{number}', 'bot', 5)"
                )
            )
            connection.execute(
                text(
                    "INSERT INTO versions (id, bot_id, label, digest, created_ms)"
                    f" VALUES ({number}, {number}, '', '', 5)"
                )
            )
        connection.execute(
            text(
                "INSERT INTO pairings (id, game, time_control, rated, seed, commitment, matches,"
                " created_ms, round)"
                " VALUES ('p', 'leduc_poker', 'move:1', :yes, :seed, '', 3, 5, 0)"
            ),
            {"yes": True, "seed": b"s"},
        )
        # Version 1 wins 1 chip twice and loses 13; the match of the friends is not rated.
        for name, won, rated in (("a", 1, True), ("b", 1, True), ("c", -13, True), ("d", 9, False)):
            connection.execute(
                text(
                    "INSERT INTO matches (id, pairing_id, game, time_control, rated, illegal_rule,"
                    " stream, nonces, status, termination, ply, reason, created_ms, finished_ms)"
                    f" VALUES ('{name}', 'p', 'leduc_poker', 'move:1', :rated, '', '', '[]',"
                    " 'finished', 'normal', 1, '', 5, 6)"
                ),
                {"rated": rated},
            )
            for seat, returned in ((0, won), (1, -won)):
                connection.execute(
                    text(
                        "INSERT INTO match_seats (match_id, seat, bot_id, version_id, score,"
                        f" result, returned) VALUES ('{name}', {seat}, {seat + 1}, {seat + 1},"
                        f" {1.0 if returned > 0 else 0.0}, '{'W' if returned > 0 else 'L'}',"
                        f" {returned})"
                    )
                )
        for number, score, wins, returned in ((1, 2, 2, -11), (2, 1, 1, 11)):
            connection.execute(
                text(
                    "INSERT INTO standings (game, version_id, score, games, wins, draws, losses,"
                    " returned, returned_squares, bot_id, latest, rating) VALUES ('leduc_poker',"
                    f" {number}, {score}, 3, {wins}, 0, {3 - wins}, {returned}, 171, {number},"
                    " :yes, 1500)"
                ),
                {"yes": True},
            )
        connection.execute(
            text("INSERT INTO pair_results VALUES ('leduc_poker', 1, 2, 2, 0, 1, 2.0, 2.0)")
        )

    database = Database(parse_url(lasting_url))
    try:
        await database.write(thirteenth)
    finally:
        await database.close()
    shares = [0.5 + won / 26 for won in (1, 1, -13)]
    async with await Store.open(lasting_url) as store:
        (pair,) = await store.read(leaderboards.pair_results_of, "leduc_poker")
        assert pair.score_a == pytest.approx(sum(shares))
        assert pair.squares_a == pytest.approx(sum(each * each for each in shares))
        board = await store.read(leaderboards.leaderboard, "leduc_poker")
        assert {line.bot: line.score for line in board} == {
            "b1": pytest.approx(sum(shares)), "b2": pytest.approx(3 - sum(shares))
        }  # fmt: skip


START = 'name = "Cup"  # shared_chance = true\nrules = """\nshared_chance = true\n"""\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[hosting]\nrequired = true\nshared_chance = true # dice\n[late]\ndays = 1\n",
         "[hosting]\nrequired = true\n[late]\ndays = 1\n"),
        ("[hosting]\nshared_chance = false\n", "[hosting]\n"),
        ("hosting.shared_chance = true\n", ""),
        (
            "hosting = { shared_chance = true, required = true }\n",
            "hosting = { required = true }\n",
        ),
        ("hosting = {required = true, shared_chance = true}\n", "hosting = {required = true}\n"),
        ("[hosting]\nrequired = true\n", "[hosting]\nrequired = true\n"),
    ],
)  # fmt: skip
async def test_stored_competition_file_loses_shared_chance(
    lasting_url: str, before: str, after: str
) -> None:
    def fourteenth(connection: Connection) -> None:
        schema.migrate(connection, "0014")
        connection.execute(
            class_competitions.insert().values(
                id="cup", name="Cup", name_key="cup", file=START + before, format="round_robin",
                status="open", entries_each=1, most_students=9, created_ms=5,
            )
        )  # fmt: skip

    database = Database(parse_url(lasting_url))
    try:
        await database.write(fourteenth)
    finally:
        await database.close()
    async with await Store.open(lasting_url) as store:
        assert (await store.read(competition_sql.find, "cup")).file == START + after


async def test_rebuilt_tables_keep_their_rows_and_give_no_id_twice(lasting_url: str) -> None:
    def sixteenth(connection: Connection) -> None:
        schema.migrate(connection, "0016")
        for statement in (
            "INSERT INTO players (name, name_key, created_ms) VALUES ('ada', 'ada', 5)",
            "INSERT INTO players (name, name_key, created_ms) VALUES ('Bob', 'bob', 6)",
            "INSERT INTO tokens (player_id, prefix, digest, scopes, label, created_ms)"
            " VALUES (2, 'x', 'y', 'play', '', 5)",
            "INSERT INTO sessions (digest, player_id, token_id, created_ms, expires_ms)"
            " VALUES ('z', 2, 1, 5, 6)",
            "INSERT INTO bots (player_id, name, name_key, kind, created_ms)"
            " VALUES (2, 'bob', 'bob', 'bot', 5)",
            "INSERT INTO versions (bot_id, label, created_ms, digest) VALUES (1, 'v', 5, 'd')",
            "INSERT INTO suspensions VALUES (1, 5, 'slow', NULL)",
            "INSERT INTO audit (at_ms, who, what, subject, subject_id, why, keep_matches)"
            " VALUES (5, 'ada', 'player.rename', 'bob', '2', '', true)",
        ):
            connection.execute(text(statement))

    later = {audit.c.old_name, pairings.c.owner, class_competitions.c.late_ms}

    def rows(connection: Connection) -> dict[str, list[tuple[Any, ...]]]:
        found = {}
        for table in metadata.sorted_tables:
            columns = [each for each in table.c if each not in later]
            if table.name not in ("cluster_batches", "leaders", "leases", "meta"):
                found[table.name] = [tuple(row) for row in connection.execute(select(*columns))]
        return found

    database = Database(parse_url(lasting_url))
    try:
        await database.write(sixteenth)
        before = await database.read(rows)
    finally:
        await database.close()
    async with await Store.open(lasting_url) as store:
        assert await store.read(rows) == before
        with pytest.raises(AlreadyExists):
            await store.add_player("BOB")
        with pytest.raises(StorageError):
            await store.ensure_bot(99, "lost")
        last = (await store.add_player("cy")).id
        await store.write(lambda c: c.execute(delete(players).where(players.c.id == last)))
        assert (await store.add_player("di")).id > last
