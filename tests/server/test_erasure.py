"""A student erased: nothing names it any more, and what it played still counts and verifies."""

from __future__ import annotations

import asyncio
import io
import re
import zipfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import Connection, LargeBinary, String, inspect, select, text
from tests.harness.finals import Course
from tests.harness.patience import PATIENCE
from tests.harness.server import Server, legal_action
from tests.storage.conftest import (  # noqa: F401  (fixtures)
    lasting_url,
    postgres_reason,
    postgres_url,
)

from plyhouse.games.registry import get_game
from plyhouse.protocol.messages import (
    Accepted,
    Act,
    Error,
    Finished,
    MatchSnapshot,
    Register,
    Resign,
    Turn,
)
from plyhouse.server.results.record import read_record
from plyhouse.server.results.verify import verify
from plyhouse.storage import (
    audit,
    competition_entries,
    competition_sql,
    competition_students,
    erasure,
    outputs,
    people_changes,
    sessions,
    submission_sql,
    suspensions,
)
from plyhouse.storage import people as stored_people
from plyhouse.storage.competition_rows import NewMember
from plyhouse.storage.erasure import COLUMNS
from plyhouse.storage.errors import CompetitionRefusal
from plyhouse.storage.models import metadata
from plyhouse.storage.rows import By, wall_ms

OpenHouse = Callable[..., Awaitable[Server]]
MARK = "qzyxw"
"""Is in everything that names the student, or that the student wrote."""
FIRST, ACCOUNT, BOT = f"{MARK}Before", f"{MARK}Now", f"{MARK}Deep"
FILE = (
    'name = "cup"\ngames = ["tic_tac_toe"]\ntime_control = "total:60"\nboard = "public"\n'
    "mirrored = false\n"
    '[[baselines]]\nbot = "staff/bot"\ngrade = "pass"\nat_least = 0.4\n'
)
GAME = get_game("tic_tac_toe")
NAMING = frozenset(
    f"{table}.{column}"
    for table, columns in {
        "announcements": "text",
        "audit": "old_name why",
        "bots": "name name_key",
        "competition_members": "name name_key email institution_id login",
        "competitions": "note",
        "events": "data text",
        "matches": "void_reason",
        "package_parts": "part",
        "passwords": "hash",
        "players": "name name_key display",
        "regrades": "text answer",
        "submissions": "report",
        "suspensions": "reason",
        "tokens": "label",
        "versions": "label",
    }.items()
    for column in columns.split()
)
"""Columns with names, and with texts that people or their bots wrote."""
FILES = ("csv", "md", "html", "json", "grades", "gradescope", "jsonl")


async def send(house: Server, who: str, method: str, path: str, body: Any = None) -> Any:
    """Return the API's answer, which must be a success."""
    headers = {"Authorization": f"Bearer {who}"} if who else {}
    async with httpx.AsyncClient(
        base_url=house.server.url, headers=headers, timeout=PATIENCE
    ) as web:
        answer = await web.request(method, f"/api/v1/{path}", json=body)
    assert answer.status_code < 300, answer.text
    return answer.json() if answer.content else None


class Marked:
    """A class with a student that has the mark wherever something can stand."""

    def __init__(self, house: Server) -> None:
        self.house = house
        self.cup = Course(house, FILE)
        self.admin = ""
        self.token = ""
        self.crashed = ""
        """A match that the student's bot lost by a crash."""
        self.packed: list[bytes] = []
        """Pieces of what is stored compressed."""

    @property
    def store(self) -> Any:
        return self.house.hub.store

    async def set_up(self) -> None:
        """Take students in, and let the marked one write wherever it can."""
        house, cup, store = self.house, self.cup, self.store
        self.admin = await house.token("root", "admin", "organise")
        cup.tokens["ben"] = await house.token("ben")
        cup.tokens["olga"] = await house.token("olga", "organise")
        cup.tokens["staff"] = await house.token("staff")
        await self._connect("staff")
        await send(house, cup.tokens["olga"], "POST", "competitions", {"file": FILE})
        mine = NewMember(
            *(f"{MARK} Lovelace", FIRST, f"{MARK} Displayed", f"{MARK}@example.org"),
            institution_id=f"{MARK}-4711",
            login=f"{MARK}-login",
        )
        people = [mine, NewMember("ben", "ben"), NewMember("cy", "cy")]
        joined = await store.write(
            competition_students.take_in, "cup", people, By("olga"), store.now(), adopt=("*",)
        )
        self.token = joined[0].token
        cup.tokens["cy"] = joined[2].token
        renamed = {"name": ACCOUNT, "why": f"{FIRST} asked"}
        await send(house, self.admin, "POST", f"players/{FIRST}/rename", renamed)
        cup.tokens[ACCOUNT] = self.token
        row = await store.read(stored_people.player, ACCOUNT)
        await store.write(sessions.set_password, row.id, f"{MARK} hashed", store.now())
        await store.write(sessions.begin, row.id, 10**9, store.now())
        await store.add_token(row, ("play",), label=f"{MARK} laptop")
        await self._connect(ACCOUNT, BOT, version=f"{MARK} label")
        await self._hand_in(row.id)
        await self._connect("ben")
        await self._connect("cy")
        olga = cup.tokens["olga"]
        late = {"student": ACCOUNT, "until": "2999-01-01T00:00:00Z", "why": f"{MARK} Lovelace ill"}
        await send(house, olga, "POST", "competitions/cup/freeze", {})
        await send(house, olga, "POST", "competitions/cup/extend", late)
        said = {"text": f"{ACCOUNT} and {MARK} Displayed may submit until later."}
        await send(house, olga, "POST", "competitions/cup/announcements", said)

    async def _connect(self, player: str, bot: str = "bot", **fields: Any) -> None:
        client = await self.house.client()
        fields = {"games": ["tic_tac_toe"], "max_matches": 1, **fields}
        welcome = await client.hello(self.cup.tokens[player], bot, **fields)
        assert not isinstance(welcome, Error), welcome
        self.cup.bots[player] = client

    async def _hand_in(self, player: int) -> None:
        """A package that is refused, and one that is not, of a second bot."""
        store = self.store
        for number, ok in enumerate((False, True)):
            bot = await self.store.ensure_bot(player, f"{MARK}Other", "bot")
            source = f"# by {MARK} Lovelace\n" + "x = 1\n" * 200 + f"print({number!r})\n"
            out = io.BytesIO()
            with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr(f"{MARK}.py", source)
            data = out.getvalue()
            made = await store.submissions.add(
                *(bot.id, f"{MARK} {number}", f"{number:064x}", data, wall_ms())
            )
            report = f"{MARK}.py does not start"
            await store.write(submission_sql.check, made.id, ok, report, ["tic_tac_toe"], wall_ms())
            if ok:
                self.packed.append(data[40:72])

    async def play(self) -> None:
        """Play the final: the marked bot thinks aloud, fails, and breaks the rules."""
        tried = iter(("crash", "illegal"))

        def how(name: str) -> Any:
            async def marked(client: Any, snapshot: MatchSnapshot) -> None:
                end = next(tried, "")
                told: Any = snapshot
                while not isinstance(told, Finished):
                    turn = isinstance(told, Turn) or (
                        isinstance(told, MatchSnapshot) and told.your_turn
                    )
                    if turn and end == "crash":
                        self.crashed = snapshot.match
                        await client.ask(Resign, snapshot.match, "bot_crash", f"{MARK} failed")
                    elif turn and end == "illegal":
                        await client.ask(Act, snapshot.match, told.ply, f"{MARK} to a1")
                    elif turn:
                        info = {"text": f"{MARK} thinks", "pv": [f"{MARK} next"]}
                        await act(client, snapshot.match, told, info)
                    told = await client.next_of(snapshot.match)

            async def other(client: Any, snapshot: MatchSnapshot) -> None:
                told: Any = snapshot
                while not isinstance(told, Finished):
                    if isinstance(told, Turn) or (
                        isinstance(told, MatchSnapshot) and told.your_turn
                    ):
                        names = [f"{each.player}/{each.bot}" for each in snapshot.players]
                        await act(client, snapshot.match, told, {"text": f"against {names}"})
                    told = await client.next_of(snapshot.match)

            return marked if name == ACCOUNT else other

        async with self.cup.web("olga") as api:
            begun = await api.post(f"{self.cup.here}/run", json={"anyway": True})
            assert begun.status_code == 200, begun.text
        self.cup.begin = _nothing  # type: ignore[method-assign]
        await self.cup.play(how)

    async def afterwards(self) -> None:
        """Let the server keep more that names the student: output, a void match, a suspension."""
        house, store = self.house, self.store
        bots = {
            each.name: each.id
            for each in await store.read(
                stored_people.list_bots, (await store.read(stored_people.player, ACCOUNT)).id
            )
        }
        runner = await house.token("lab", "runner")
        printed = {"match": self.crashed, "bot": bots[BOT], "part": "lab-1",
                   "lines": [[0, "print", f"{MARK} printed"]]}  # fmt: skip
        await send(house, runner, "POST", "runner/output", printed)
        (kept,) = await store.read(outputs.of_match, self.crashed)
        self.packed.append(kept.data[:24])
        clients, snapshots = await _free_match(house, "one", self.cup.tokens["ben"], self.token)
        await clients[0].ask(Resign, snapshots[0].match)
        await clients[1].next(Finished)
        why = {"why": f"{ACCOUNT}/{BOT} was helped by {MARK} Lovelace"}
        void = await _free_match(house, "two", self.cup.tokens["ben"], self.token)
        await send(house, self.admin, "POST", f"matches/{void[1][0].match}/void", why)
        account = (await store.read(stored_people.player, ACCOUNT)).id
        versions = await store.read(competition_entries.versions_of, account)
        version = next(each for each in versions if each.bot == f"{MARK}Other")
        await store.write(
            suspensions.suspend, version.id, f"{ACCOUNT}/{MARK}Other forfeits", store.now()
        )
        row = await store.read(competition_sql.find, "cup")
        await store.write(competition_sql.note, row.id, f"{ACCOUNT} may still submit")

        where = "competitions/cup/regrades"
        tokens = {ACCOUNT: self.token, "ben": self.cup.tokens["ben"]}
        for who, words in ((ACCOUNT, f"{MARK} asks"), ("ben", f"and {ACCOUNT}?")):
            made = await send(house, tokens[who], "POST", where, {"text": words})
            answer = {"text": f"see {ACCOUNT}"}
            await send(house, self.admin, "POST", f"{where}/{made['id']}/answer", answer)


async def _nothing() -> None:
    """The final has begun already."""


async def act(client: Any, match: str, turn: Any, info: Any) -> None:
    import random

    action = legal_action(turn, GAME, random.Random(turn.ply))
    answer = await client.ask(Act, match, turn.ply, action, info)
    assert isinstance(answer, Accepted), answer


async def _free_match(
    house: Server, bot: str, *tokens: str
) -> tuple[list[Any], list[MatchSnapshot]]:
    """A rated match between connections of their own."""
    clients = []
    for token in tokens:
        client = await house.client()
        welcome = await client.hello(token, f"{MARK}{bot}" if token == tokens[1] else bot)
        assert not isinstance(welcome, Error), welcome
        await client.seek("pig", rated=True)
        clients.append(client)
    return clients, list(await asyncio.gather(*(client.start() for client in clients)))


@pytest.fixture
async def marked(lasting_url: str, open_house: OpenHouse) -> Marked:  # noqa: F811
    # In this order the server ends before its database goes.
    made = Marked(await open_house(database=lasting_url, hosted=True))
    await made.set_up()
    await made.play()
    await made.afterwards()
    return made


async def everything_shown(house: Server, token: str, *, follow: bool = True) -> dict[str, str]:
    """Every page and answer that somebody finds, by following links if asked to, by its path."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    seen: dict[str, str] = {}
    left = ["/", "/competitions", "/competitions/cup", "/matches", "/wall", "/metrics",
                   "/api/v1/audit", "/api/v1/matches",
                   "/api/v1/leaderboards", "/api/v1/leaderboards/pig", "/api/v1/suspensions",
                   "/api/v1/competitions"]  # fmt: skip
    cup = "/api/v1/competitions/cup"
    more = ("", "/students", "/table?crosstab=true", "/board", "/rounds", "/announcements",
            "/export", "/suspicious", *(f"/export/{form}" for form in FILES))  # fmt: skip
    left += [cup + each for each in more]
    async with httpx.AsyncClient(
        base_url=house.server.url, headers=headers, timeout=PATIENCE
    ) as web:
        while left:
            path = left.pop()
            if path in seen or path.startswith(("/static", "/client", "/docs", "/api?", "//")):
                continue
            answer = await web.get(path)
            body = answer.content
            if "zip" in answer.headers.get("content-type", ""):
                with zipfile.ZipFile(io.BytesIO(body)) as archive:
                    body = b"".join(
                        each.encode() + archive.read(each) for each in archive.namelist()
                    )
            seen[path] = body.decode("utf-8", "replace")
            if follow and "html" in answer.headers.get("content-type", ""):
                left += [
                    each.replace("&amp;", "&").partition("#")[0]
                    for each in re.findall(r'href="(/[^"]*)"', seen[path])
                ]
            if path.startswith("/matches/"):
                match = path.split("/")[2].partition("?")[0]
                kinds = ("", "/record", "/replay", "/output", "/detail", "/chances")
                left += [f"/api/v1/matches/{match}{kind}" for kind in kinds]
    return seen


def naming(connection: Connection) -> set[str]:
    """The columns with the mark."""
    found = set()
    for table in metadata.sorted_tables:
        for column in table.c:
            values = connection.execute(select(column)).scalars()
            if any(MARK in repr(each).lower() for each in values):
                found.add(f"{table.name}.{column.name}")
    return found


def stored(connection: Connection) -> dict[str, list[str]]:
    """Every row of every table, as text."""
    found = {}
    for table in inspect(connection).get_table_names():
        rows = connection.execute(text(f"SELECT * FROM {table}")).all()
        found[table] = [repr(tuple(row)) for row in rows]
    return found


async def test_every_column_that_can_hold_a_text_has_a_rule_for_erasure() -> None:
    for name, table in metadata.tables.items():
        said = set(re.findall(r"\w+", COLUMNS.get(name, "")))
        for column in table.c:
            if column.foreign_keys or (column.primary_key and name != "competition_members"):
                continue
            if isinstance(column.type, String | LargeBinary):
                assert column.name in said, f"COLUMNS says nothing about {name}.{column.name}"


async def test_nothing_names_an_erased_student(marked: Marked, lasting_url: str) -> None:  # noqa: F811
    house = marked.house
    headers = {"Authorization": f"Bearer {marked.admin}"}
    async with httpx.AsyncClient(base_url=house.server.url, headers=headers) as web:
        for path in ("/competitions/cup", "/api/v1/audit", "/matches"):
            assert MARK in (await web.get(path)).text, f"{path} named it"
    tables = await marked.store._database.read(stored)
    holding = {name for name, rows in tables.items() if MARK in "".join(rows).lower()}
    assert holding == {
        *("announcements", "audit", "bots", "competitions", "competition_members", "events"),
        *("matches", "package_parts", "passwords", "players", "regrades", "submissions"),
        *("suspensions", "tokens", "versions"),
    }, "outputs are compressed; the rest is about nobody"
    assert await marked.store._database.read(naming) == NAMING, "no text of the server names it"
    crashed = f"matches/{marked.crashed}"
    reason = (await send(house, "", "GET", crashed))["reason"]
    assert f"({ACCOUNT}/{BOT}) failed at ply " in reason
    why = {"why": f"{MARK} Lovelace asked for it"}
    told = await send(house, marked.admin, "POST", f"players/{ACCOUNT}/erase", why)
    assert re.fullmatch("erased-[0-9a-f]{8}", told["pseudonym"])
    erased = reason.replace(f"{ACCOUNT}/{BOT}", f"{told['pseudonym']}/bot-1")
    assert (await send(house, "", "GET", crashed))["reason"] == erased
    # Pages say what is in the tables or in caches, which are the same on PostgreSQL.
    follow = lasting_url.startswith("sqlite")
    for token in (marked.admin, ""):
        for path, body in (await everything_shown(house, token, follow=follow)).items():
            found = re.search(f".{{,60}}{MARK}.{{,60}}", body, re.IGNORECASE)
            assert found is None, f"{path}: {found[0]}"
    tables = await marked.store._database.read(stored)
    for name, rows in tables.items():
        assert MARK not in "".join(rows).lower(), name
    for name in ("packages", "package_parts", "outputs", "submissions", "passwords"):
        assert tables[name] == [], name
    if follow:
        file = Path(lasting_url.removeprefix("sqlite:///"))
        for each in file.parent.glob(file.name + "*"):
            data = each.read_bytes()
            assert MARK.encode() not in data.lower(), each
            assert not [piece for piece in marked.packed if piece in data], each


async def test_log_of_the_database_is_emptied_while_the_server_runs(
    open_house: OpenHouse, tmp_path: Path
) -> None:
    house = await open_house(database=f"sqlite:///{tmp_path / 'a.db'}")
    admin = await house.token("root", "admin")
    for number in range(40):
        await house.token(f"{MARK}{number}")
        await send(house, admin, "POST", f"players/{MARK}{number}/erase", {})
    for file in list(tmp_path.iterdir()):  # noqa: ASYNC240  (a test)
        assert MARK.encode() not in file.read_bytes(), file


async def test_results_of_an_erased_student_stay_and_its_records_verify(marked: Marked) -> None:
    house, admin = marked.house, marked.admin

    async def results() -> Any:
        board = await marked.cup.get("/board", "olga")
        export = await marked.cup.get("/export", "olga")
        ladder = await send(house, "", "GET", "leaderboards/pig")
        return board, export["grades"], ladder

    def plain(rows: list[dict[str, Any]], *names: str) -> list[dict[str, Any]]:
        """Rows without what names the erased student."""
        return [
            {key: value for key, value in row.items() if key not in names}
            if MARK in repr(row).lower() or "erased-" in repr(row)
            else row
            for row in rows
        ]

    before = await results()
    told = await send(house, admin, "POST", f"players/{ACCOUNT}/erase", {"why": "asked"})
    after = await results()
    hidden = (
        *("entry", "student", "version", "digest", "player", "bot", "display", "members", "group"),
    )
    for old, new in zip(before, after, strict=True):
        rows = [each.get("rows", each) if isinstance(each, dict) else each for each in (old, new)]
        old_rows, new_rows = (plain(each, *hidden) for each in rows)
        assert sorted(map(repr, old_rows)) == sorted(map(repr, new_rows))
    pseudonym = told["pseudonym"]
    assert pseudonym in {row["student"] for row in after[0]}
    assert pseudonym in {row["student"] for row in after[1]}
    async with marked.cup.web("olga") as web:
        lines = (await web.get(f"{marked.cup.here}/export/jsonl")).text.splitlines()
    assert len(lines) == 6, "of four entries"
    endings = set()
    for line in lines:
        record = read_record(line)
        assert verify(record).ok, str(verify(record))
        assert record.outcome is not None
        endings.add(record.outcome.termination)
    assert {"bot_crash", "illegal_action", "normal"} <= endings


async def test_connections_tokens_and_sessions_of_an_erased_student_end(
    house: Server,
) -> None:
    client = await house.bot("ada", "deep")
    token = await house.token("ada")
    row = await house.hub.store.read(stored_people.player, "ada")
    secret = await house.hub.store.write(sessions.begin, row.id, 10**9, house.hub.store.now())
    organiser = await house.token("root", "admin")
    told = await send(house, organiser, "POST", "players/ada/erase", {})
    error = (await client.until_closed())[-1]
    assert isinstance(error, Error)
    assert error.code == "auth/disabled"
    again = await house.client()
    assert (await again.hello(token, "deep")).code == "auth/bad_token"
    assert await house.hub.store.read(sessions.find, secret, house.hub.store.now()) is None
    assert house.hub.directory.presences == {}
    assert house.hub.directory.recent == {}
    other = await house.client()
    assert (await other.ask(Register, told["pseudonym"])).code in (
        "auth/name_taken",
        "auth/registration_closed",
    )


async def test_student_is_not_erased_while_it_plays(house: Server) -> None:
    clients, snapshots = await house.pair("pig")
    organiser = await house.token("root", "admin")
    headers = {"Authorization": f"Bearer {organiser}"}
    async with httpx.AsyncClient(base_url=house.server.url, headers=headers) as web:
        refused = await web.post("/api/v1/players/alice/erase", json={})
        assert (refused.status_code, refused.json()["code"]) == (409, "erasure/playing")
        assert "plays a match now" in refused.json()["detail"]
        assert house.hub.directory.online() == ["alice/one", "bob/two"]
        await clients[0].ask(Resign, snapshots[0].match)
        await clients[1].next(Finished)
        assert (await web.post("/api/v1/players/alice/erase", json={})).status_code == 200


async def test_student_erased_during_a_final_leaves_it(house: Server) -> None:
    cup = Course(house, FILE)
    name = "lovelace"  # Pseudonyms and digests are hexadecimal, so that they may contain "ada".
    await cup.freeze("tic_tac_toe", name, "ben", staff=("staff",))
    await cup.bots[name].close()
    await cup.begin()
    told = await send(house, cup.tokens["olga"], "POST", f"players/{name}/erase", {})
    assert told["competitions"] == ["cup"]
    view = await cup.get("", "olga")
    assert (view["status"], view["students"][1]["status"]) == ("running", "revoked")
    assert name not in repr(view)
    running = house.hub.tournaments.of_group(view["competition"])
    assert running


@pytest.mark.parametrize("who", ["staff", "olga", "root"])
async def test_staff_is_not_erased(house: Server, who: str) -> None:
    cup = Course(house, FILE)
    await cup.freeze("tic_tac_toe", "ada", "ben", staff=("staff",))
    await house.token("root", "admin")
    admin = await house.token("chief", "admin")
    headers = {"Authorization": f"Bearer {admin}"}
    async with httpx.AsyncClient(base_url=house.server.url, headers=headers) as web:
        refused = await web.post(f"/api/v1/players/{who}/erase", json={})
    assert (refused.status_code, refused.json()["code"]) == (409, "erasure/staff")
    assert (await house.hub.store.read(stored_people.player, who)).disabled_ms is None


async def test_owners_of_all_competitions_of_a_student_erase_it_and_nobody_else(
    house: Server,
) -> None:
    cup = Course(house, FILE)
    await cup.freeze("tic_tac_toe", "ada", "ben", staff=("staff",))
    for bot in cup.bots.values():
        await bot.close()
    tokens = {"": "", "ada": cup.tokens["ada"], "ole": await house.token("ole", "organise")}
    other = FILE.replace("cup", "other").replace("staff/bot", "staff/bot")
    await send(house, tokens["ole"], "POST", "competitions", {"file": other})
    for who, name, status in (("", "ada", 401), ("ada", "ada", 403), ("ole", "ada", 403)):
        headers = {"Authorization": f"Bearer {tokens[who]}"} if who else {}
        async with httpx.AsyncClient(base_url=house.server.url, headers=headers) as web:
            refused = await web.post(f"/api/v1/players/{name}/erase", json={})
            assert refused.status_code == status, refused.text
            data = await web.get("/api/v1/players/ben/data")
            assert data.status_code == (401 if not who else 403), data.text
    await house.hub.store.write(
        competition_students.take_in,
        "other",
        [NewMember("ben", "ben")],
        By("ole"),
        house.hub.store.now(),
        adopt="*",
    )
    olga = {"Authorization": f"Bearer {cup.tokens['olga']}"}
    async with httpx.AsyncClient(base_url=house.server.url, headers=olga) as web:
        assert (await web.post("/api/v1/players/ben/erase", json={})).status_code == 403
        assert (await web.post("/api/v1/players/eve/erase", json={})).status_code == 403
        told = (await web.post("/api/v1/players/ada/erase", json={})).json()
    with pytest.raises(CompetitionRefusal, match="erased already"):
        await house.hub.store.write(
            erasure.begin, told["pseudonym"], By("olga"), house.hub.store.now()
        )


async def test_account_from_before_a_competition_is_not_erased_by_its_owner(house: Server) -> None:
    olga = await house.token("olga", "organise")
    await house.token("ada")
    await send(house, olga, "POST", "competitions", {"file": FILE.partition("[[")[0]})
    taken = {"csv": "name\nada", "adopt": ["ada"]}
    await send(house, olga, "POST", "competitions/cup/students", taken)
    headers = {"Authorization": f"Bearer {olga}"}
    async with httpx.AsyncClient(base_url=house.server.url, headers=headers) as web:
        refused = await web.post("/api/v1/players/ada/erase", json={"why": "mine now"})
    assert (refused.status_code, refused.json()["code"]) == (403, "auth/scope")
    assert (await house.hub.store.read(stored_people.player, "ada")).disabled_ms is None


async def test_account_that_a_deleted_class_of_somebody_else_made_is_not_erased(
    house: Server,
) -> None:
    tokens = {who: await house.token(who, "organise") for who in ("olga", "ole")}
    alone = FILE.partition("[[")[0]
    await send(house, tokens["olga"], "POST", "competitions", {"file": alone})
    await send(house, tokens["olga"], "POST", "competitions/cup/students", {"csv": "name\nada"})
    await send(house, tokens["olga"], "DELETE", "competitions/cup")
    for who, status in (("ole", 403), ("olga", 200)):
        await send(
            *(house, tokens[who], "POST", "competitions"),
            {"file": alone.replace('"cup"', f'"of {who}"')},
        )
        taken = {"csv": "name\nada", "adopt": ["ada"]}
        await send(house, tokens[who], "POST", f"competitions/of {who}/students", taken)
        headers = {"Authorization": f"Bearer {tokens[who]}"}
        async with httpx.AsyncClient(base_url=house.server.url, headers=headers) as web:
            assert (await web.get("/api/v1/players/ada/data")).status_code == status
            assert (await web.post("/api/v1/players/ada/erase", json={})).status_code == status
        await send(house, tokens[who], "DELETE", f"competitions/of {who}")


async def test_names_of_others_are_not_taken_for_the_erased_one(house: Server) -> None:
    """Another student has the name that the erased one had before, and one that begins alike."""
    store = house.hub.store
    admin = await house.token("root", "admin", "organise")
    await house.token("ada")
    await send(house, admin, "POST", "players/ada/rename", {"name": "adele", "why": "asked"})
    await house.token("lin")
    house._players.discard("ada")
    for other in ("ada", "adele2"):
        await house.token(other)
        await store.write(
            people_changes.set_display, other, "x", By("root", f"{other} wished it"), store.now()
        )
    await send(house, admin, "POST", "players/adele/erase", {})
    log = await store.read(audit.latest)
    kept = {entry.subject: entry.why for entry in log if entry.what == "player.display"}
    assert kept == {"ada": "ada wished it", "adele2": "adele2 wished it"}
    assert not [entry for entry in log if re.search(r"\badele\b", entry.subject)]


async def test_student_reads_its_own_data_and_nobody_elses(marked: Marked) -> None:
    house = marked.house
    found = await send(house, marked.token, "GET", f"players/{ACCOUNT}/data")
    assert found["members"][0]["email"] == f"{MARK}@example.org"
    assert found["members"][0]["institution_id"] == f"{MARK}-4711"
    assert found["members"][0]["login"] == f"{MARK}-login"
    assert {each["label"] for each in found["tokens"]} >= {f"{MARK} laptop"}
    assert len(found["matches"]) == 5, "three of the final, and two others"
    assert [each["report"] for each in found["submissions"]] == [f"{MARK}.py does not start"] * 2
    assert {each["what"] for each in found["audit"]} >= {"player.rename", "competition.extend"}
    assert not [each for each in found["audit"] if "why" in each], "reasons may name others"
    assert "digest" not in found["tokens"][0]
    headers = {"Authorization": f"Bearer {marked.cup.tokens['ben']}"}
    async with httpx.AsyncClient(base_url=house.server.url, headers=headers) as web:
        refused = await web.get(f"/api/v1/players/{ACCOUNT}/data")
    assert refused.status_code == 403
