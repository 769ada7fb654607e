"""The server's log: every line has its ids, and none has a token."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import functools
import io
import json
import logging
import re
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.harness.patience import PATIENCE
from tests.harness.server import Server
from tests.storage.conftest import postgres_reason, postgres_url  # noqa: F401  (fixtures)
from tests.tournaments import begin_round_robin

from plyhouse.games.registry import get_game
from plyhouse.protocol.messages import (
    Act,
    Error,
    Finished,
    Hello,
    Register,
    Resign,
    Turn,
    Unseek,
    Watch,
)
from plyhouse.server import serve
from plyhouse.server.accounts.tickets import TICKET_PREFIX
from plyhouse.server.config import LOG_FORMATS, ServerConfig
from plyhouse.server.logs import formatter, set_up
from plyhouse.server.match.terms import Terms
from plyhouse.server.match.time_control import TimeControl
from plyhouse.server.serve import running_server
from plyhouse.server.wire.direct import websocket_protocol
from plyhouse.storage.rows import By


class Log:
    """The log as it is written to a stream."""

    def __init__(self, form: str) -> None:
        self.stream = io.StringIO()
        self.handler = logging.StreamHandler(self.stream)
        self.handler.setFormatter(formatter(form))

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    def lines(self, event: str = "") -> list[dict[str, Any]]:
        found = [json.loads(line) for line in self.text.splitlines()]
        return [line for line in found if not event or line["event"] == event]


@pytest.fixture
def root() -> Iterator[logging.Logger]:
    """The root logger, which is restored."""
    logger = logging.getLogger()
    handlers, level = logger.handlers[:], logger.level
    yield logger
    logger.handlers[:] = handlers
    logger.setLevel(level)


def test_requests_that_a_server_passes_on_are_not_logged(root: logging.Logger) -> None:
    """Their addresses may have secrets of clients."""
    stream = io.StringIO()
    set_up("info", "console", stream)
    address = "http://server/api/v1/session?code=secret"
    logging.getLogger("httpx").info('HTTP Request: GET %s "HTTP/1.1 200 OK"', address)
    assert not stream.getvalue()


def test_requests_of_language_models_are_not_logged(root: logging.Logger) -> None:
    """The package has a line for each of them, also for those of strangers."""
    stream = io.StringIO()
    set_up("info", "console", stream)
    logging.getLogger("mcp.server.streamable_http").info("Terminating session: None")
    assert not stream.getvalue()


def test_requests_that_are_no_http_are_not_logged(root: logging.Logger) -> None:
    """Strangers could fill the disk."""
    stream = io.StringIO()
    set_up("info", "console", stream)
    logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
    assert not stream.getvalue()


@pytest.fixture(params=LOG_FORMATS)
def log(request: pytest.FixtureRequest) -> Iterator[Log]:
    made = Log(request.param)
    root = logging.getLogger()
    level = root.level
    root.addHandler(made.handler)
    root.setLevel(logging.DEBUG)
    yield made
    root.removeHandler(made.handler)
    root.setLevel(level)


@pytest.fixture
def json_log(request: pytest.FixtureRequest) -> Iterator[Log]:
    made = Log("json")
    logger = logging.getLogger("plyhouse")
    logger.addHandler(made.handler)
    level = logger.level
    logger.setLevel(logging.DEBUG)
    yield made
    logger.removeHandler(made.handler)
    logger.setLevel(level)


@pytest.mark.parametrize("direct", [True, False])
async def test_end_of_a_connection_tells_an_orderly_close_from_a_loss(
    json_log: Log, monkeypatch: pytest.MonkeyPatch, *, direct: bool
) -> None:
    monkeypatch.setattr(
        serve, "websocket_protocol", functools.partial(websocket_protocol, direct=direct)
    )
    config = ServerConfig(port=0, database="sqlite:///:memory:")
    stack, clients = contextlib.AsyncExitStack(), contextlib.AsyncExitStack()
    house = Server(await stack.enter_async_context(running_server(config)), clients)
    closed, left, lost, _ = [await house.bot(name) for name in ("a", "b", "c", "d")]
    wires: Any = [each.wire for each in (closed, left, lost)]
    await wires[0].close(1000)
    await wires[1].close(1001)
    wires[2].transport.abort()
    async with asyncio.timeout(PATIENCE):
        while len(house.hub.sessions) > 1:  # noqa: ASYNC110  (nobody tells)
            await asyncio.sleep(0.01)
    await stack.aclose()
    await clients.aclose()
    ends = {each["bot"][0]: each for each in json_log.lines("disconnected")}
    codes = {name: each["close_code"] for name, each in ends.items()}
    assert codes == {"a": 1000, "b": 1001, "c": 1006, "d": 1001}
    assert ends["a"]["why"] == ends["b"]["why"] == "the other side closed the connection"
    assert ends["c"]["why"] == "the connection was lost"
    assert "server is" in ends["d"]["why"], "it said goodbye"


async def test_connections_and_matches_are_told(house: Server, json_log: Log) -> None:
    clients, matches = await house.pair("tic_tac_toe", rated=True)
    await asyncio.gather(*(c.play(m) for c, m in zip(clients, matches, strict=True)))
    for client in clients:
        await client.close()
    async with asyncio.timeout(PATIENCE):
        while house.hub.sessions:  # noqa: ASYNC110  (nobody tells)
            await asyncio.sleep(0.01)
    logins = json_log.lines("logged in")
    assert [line["bot"] for line in logins] == ["alice/one", "bob/two"]
    for line in (*logins, *json_log.lines("disconnected")):
        assert re.fullmatch(r"127\.0\.0\.1:\d+", line["address"])
        assert line["bot_id"]
    assert {line["bot"] for line in json_log.lines("disconnected")} == {"alice/one", "bob/two"}
    seeks = json_log.lines("seek")
    assert [(line["bot"], line["game"], line["rated"]) for line in seeks] == [
        ("alice/one", "tic_tac_toe", True),
        ("bob/two", "tic_tac_toe", True),
    ]
    (begun,) = json_log.lines("match begun")
    (ended,) = json_log.lines("match ended")
    assert begun["match"] == ended["match"] == matches[0].match
    assert begun["pairing"] == ended["pairing"]
    assert set(begun["bots"]) == {"alice/one", "bob/two"}
    assert ended["termination"] == "normal"
    assert ended["plies"] >= 5
    assert len(ended["returns"]) == 2
    levels = {line["event"]: line["level"] for line in json_log.lines()}
    assert levels["connected"] == "debug"
    assert {levels[event] for event in ("logged in", "match begun", "match ended")} == {"info"}
    assert len(json_log.lines()) < 30, "no line for a ply"


async def test_forfeits_and_crashes_name_the_bot(house: Server, json_log: Log) -> None:
    clients, matches = await house.pair("tic_tac_toe")
    await clients[0].ask(Resign, matches[0].match, "bot_crash", "KeyError: ply_abcd1234")
    await clients[1].next(Finished)
    (line,) = json_log.lines("bot crashed")
    assert line["level"] == "warning"
    assert line["match"] == matches[0].match
    assert line["bot"] in ("alice/one", "bob/two")
    for client in clients:
        await client.seek("tic_tac_toe")
    again = [await client.start() for client in clients]
    await clients[0].ask(Resign, again[0].match)
    await clients[1].next(Finished, match=again[0].match)
    (line,) = json_log.lines("match ended")
    assert (line["level"], line["termination"]) == ("info", "resignation"), "which is no forfeit"
    for client in clients:
        await client.seek("tic_tac_toe")
    last = [await client.start() for client in clients]
    first = next(client for client, match in zip(clients, last, strict=True) if match.seat == 0)
    turn = await first.next(Turn, match=last[0].match)
    await first.ask(Act, last[0].match, turn.ply, "zz")
    await first.next(Finished, match=last[0].match)
    (line,) = json_log.lines("match forfeited")
    assert (line["level"], line["termination"]) == ("info", "illegal_action")
    assert line["bot"] in ("alice/one", "bob/two")
    assert "ply_abcd" not in json_log.text


ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "monitoring.md"


def test_the_guide_names_events_that_are_logged() -> None:
    rows = re.findall(r"^\| `(\w+)` \|.*\|(.*)\|$", GUIDE.read_text(encoding="utf-8"), re.M)
    assert {level for level, _ in rows} == {"error", "warning", "info", "debug"}
    server = "".join(each.read_text(encoding="utf-8") for each in (ROOT / "server").rglob("*.py"))
    events = [event for _, told in rows for event in re.findall("`([^`]+)`", told)]
    assert [event for event in events if f'"{event}"' not in server] == []


async def test_the_guide_shows_lines_as_they_are(house: Server, json_log: Log) -> None:
    clients, matches = await house.pair("tic_tac_toe")
    await clients[0].ask(Resign, matches[0].match, "bot_crash", "KeyError")
    await clients[1].next(Finished)
    examples = re.findall(r"^(?:20.*\[info|\{).*", GUIDE.read_text(encoding="utf-8"), re.M)
    assert len(examples) == 3
    for example in examples:
        if example.startswith("{"):
            shown = json.loads(example)
            happened, fields = shown["event"], list(shown)
        else:
            happened = example.split("] ")[1].split("[")[0].strip()
            fields = ["time", "level", "logger", "event", *re.findall(r"(\w+)=", example)]
        assert fields == list(json_log.lines(happened)[-1]), happened


async def test_refused_logins_are_told_without_the_token(house: Server, log: Log) -> None:
    good = await house.token("alice")
    client = await house.client()
    assert isinstance(await client.hello("ply_not_a_token_at_all", "ev\nil"), Error)
    other = await house.client()
    await other.hello(good, "bot")
    assert "login refused" in log.text
    assert "auth/bad_token" in log.text
    assert good not in log.text
    assert good[:8] not in log.text
    assert "ply_not" not in log.text
    assert "ev\nil" not in log.text


@pytest.mark.parametrize("token", ["ply_not_a_token_at_all", f"{TICKET_PREFIX}of_no_bot"])
async def test_logins_refused_by_a_rate_are_details(
    house: Server, json_log: Log, token: str
) -> None:
    """Somebody who tries a thousand tokens a second would fill the disk."""
    clients = [await house.client() for _ in range(30)]
    codes = [(await client.hello(token)).code for client in clients]
    refused = [(line["code"], line["level"]) for line in json_log.lines("login refused")]
    assert len(refused) == 30
    assert set(refused) == {("auth/bad_token", "warning"), ("auth/rate", "debug")}
    assert codes[-1] == "auth/rate"


@pytest.mark.parametrize("refused", [Register(1, "x"), Hello(1, "", signed_in=True)])
async def test_refusals_of_a_stranger_do_not_fill_the_log(
    house: Server, json_log: Log, refused: Register | Hello
) -> None:
    """Nothing else limits those that cost the stranger no wrong token."""
    for _ in range(40):
        client = await house.client()
        await client.send(refused)
        await client.receive()
        await client.close()
    lines = [line for line in json_log.lines() if line["event"].endswith(" refused")]
    assert len(lines) == 40
    assert 20 <= sum(line["level"] == "warning" for line in lines) < 35


async def test_seeks_of_a_bot_do_not_fill_the_log(house: Server, json_log: Log) -> None:
    client = await house.bot("alice")
    for _ in range(400):
        seek = await client.seek("pig")
        await client.ask(Unseek, seek.seek)
    levels = [line["level"] for line in json_log.lines("seek")]
    assert len(levels) == 400
    assert 150 < levels.count("info") < 300


@pytest.mark.postgresql
async def test_text_that_no_database_stores_is_no_error_of_the_server(
    open_house: Callable[..., Awaitable[Server]],
    postgres_url: str,  # noqa: F811  (the fixture)
    json_log: Log,
) -> None:
    """A stranger could fill the log with errors, which somebody has to look at."""
    server = await open_house(database=postgres_url)
    stranger = await server.client()
    await stranger.hello("")
    answer = await stranger.ask(Watch, "\0")
    assert answer.code == "match/unknown"
    async with httpx.AsyncClient(base_url=server.server.url) as web:
        for path in ("/matches/%00", "/api/v1/matches/%00", "/api/v1/players/%00"):
            refused = await web.get(path)
            assert refused.status_code in (400, 404), path
    assert not [line for line in json_log.lines() if line["level"] == "error"]


async def test_competitions_are_told(house: Server, json_log: Log) -> None:
    bots = [await house.bot(name, games=["tic_tac_toe"]) for name in ("alice", "bob")]
    terms = Terms(get_game("tic_tac_toe"), TimeControl.parse("total:60"), True)
    made = (await begin_round_robin(house.hub.competitions, "Cup", terms, By("olga", "a test"))).id

    async def play(client: Any) -> None:
        await client.play(await client.start(), 1)

    await asyncio.gather(*map(play, bots))
    async with asyncio.timeout(PATIENCE):
        while not json_log.lines("tournament finished"):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    (line,) = json_log.lines("competition opened")
    assert (line["competition"], line["title"]) == (made, "Cup")
    assert json_log.lines("match begun")[0]["tournament"] == made
    await house.hub.audit_follower.look()
    told = [(line["who"], line["what"], line["why"]) for line in json_log.lines("audit")]
    assert ("olga", "competition.open", "a test") in told


def test_nobody_forges_a_line(log: Log) -> None:
    logger = logging.getLogger("plyhouse.server")
    evil = "x\n2026-01-01 [info] logged in bot=root\r\x1b[2J\u2028\u202e ply_0123456789abcdef"
    logger.info("old style: %s", evil)
    logger.info("new style", extra={"bot": evil, "list": [evil], "thing": ValueError(evil)})
    try:
        raise RuntimeError(evil)
    except RuntimeError:
        logger.exception("it failed")
    assert "ply_0" not in log.text
    assert not re.search("[\r\x1b\u2028\u202e]", log.text)
    heads = [line for line in log.text.splitlines() if not line.startswith("    ")]
    assert len(heads) == 3
    assert all(re.match(r'(\{"time": ")?20\d\d-\d\d-\d\dT', line) for line in heads)


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("ply_0123456789abcdef\n2026")


@pytest.mark.parametrize(
    "value", [Unprintable(), [Unprintable()], 10**5000], ids=["object", "list", "number"]
)
def test_values_that_cannot_be_written_leave_a_line_without_them(
    log: Log, capfd: pytest.CaptureFixture[str], value: Any
) -> None:
    """`logging` would write the record as it is to standard error, over several lines."""
    token = "ply_0123456789abcdef"
    for fields in (
        {"msg": "new style", "what": value, "why": token},
        {"msg": f"{token}: %s", "args": (value,)},
        {"msg": "too few: %s %s", "args": (token,)},
    ):
        more = {"levelname": "WARNING", "module": "places", "lineno": 7}
        log.handler.emit(logging.makeLogRecord({**more, **fields}))
    lines = log.text.splitlines()
    assert len(lines) == 3
    assert all("a line of places:7 cannot be written" in line for line in lines)
    assert "ply_0" not in log.text + capfd.readouterr().err


def test_values_cannot_be_taken_for_fields() -> None:
    log = Log("console")
    record = logging.makeLogRecord({"name": "x", "levelno": 20, "levelname": "INFO", "msg": "e"})
    record.__dict__["why"] = "gave up bot='root'"
    log.handler.emit(record)
    assert "why=\"gave up bot='root'\"" in log.text


def test_a_terminal_shows_levels_and_events_in_colour() -> None:
    fields = {"name": "x", "levelno": 30, "levelname": "WARNING", "msg": "match void", "plies": 3}
    record = logging.makeLogRecord(fields)
    plain = formatter("console").format(record)
    assert plain.endswith("Z [warning  ] match void           [x] plies=3")
    coloured = formatter("console", colours=True).format(record)
    assert "\x1b[33mwarning  \x1b[0m" in coloured
    assert re.sub(r"\x1b\[\d+m", "", coloured) == plain


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(ValueError, match="there are console, json"):
        formatter("xml")


def test_log_messages_are_events_without_numbers_or_names() -> None:
    """An operator counts events and filters by fields, so both must stand apart."""
    levels = {"debug", "info", "warning", "error", "exception", "critical"}
    folder = Path(__file__).parents[2]
    mixed = [
        f"{path.relative_to(folder)}:{call.lineno}"
        for top in ("server", "storage")
        for path in (folder / top).rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr in levels
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id in {"log", "connections", "matches", "lobby"}
        and (
            len(call.args) != 1 or not isinstance(call.args[0], ast.Constant | ast.Name | ast.IfExp)
        )
    ]
    assert mixed == []
