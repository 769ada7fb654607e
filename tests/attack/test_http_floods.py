"""Floods of HTTP requests and of connections from one address, and what they cost the others."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import os
import socket
from collections.abc import Awaitable, Callable, Generator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.attack.conftest import FakeClock
from tests.harness.patience import PATIENCE
from websockets.exceptions import InvalidMessage, InvalidStatus

from plyhouse.games import registry
from plyhouse.protocol.api.routes import CHEAP, DEAR, USUAL
from plyhouse.protocol.messages import Ok, Turn
from plyhouse.server.accounts import guesses
from plyhouse.server.config import ConfigError, ServerConfig
from plyhouse.server.jobs.fair_queue import VISITOR
from plyhouse.server.jobs.helper_jobs import NotWorkedOut
from plyhouse.server.jobs.helper_processes import Helpers
from plyhouse.server.web import compression, request_limits
from plyhouse.server.web.compression import KeptAnswers
from plyhouse.server.web.request_limits import SLICE_NS, Allowance, Pacer, cost_of
from plyhouse.server.wire.limits import Door, Rate, client_of
from plyhouse.server.wire.listener import ACCEPTED, Listener

CHOMP = Path(__file__).parents[2] / "examples" / "chomp.py"

OpenHouse = Callable[..., Awaitable[Any]]
DEAR_PATH = "/api/v1/matches/none/record"


@pytest.fixture(autouse=True)
def prompt_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_limits, "DELAY", 0.0)


def browser(house: Any, address: str = "127.0.0.1", **headers: str) -> httpx.AsyncClient:
    """A client at one of the many addresses of this machine."""
    wire = httpx.AsyncHTTPTransport(local_address=address)
    return httpx.AsyncClient(transport=wire, base_url=house.server.url, headers=headers)


# ----------------------------------------------------------------------------- the buckets


def test_rate_with_costs_refuses_until_enough_time_has_passed(clock: FakeClock) -> None:
    rate = Rate(10, 2, clock)
    assert rate.take("a", 8)
    assert not rate.take("a", 4)
    assert rate.left("a") == 2
    assert rate.wait("a", 4) == pytest.approx(1.0)
    clock.advance(1.01)
    assert rate.wait("a", 4) == 0.0
    assert rate.take("a", 4)
    assert rate.take("b", 500), "what costs more than the burst takes all of it"
    assert not rate.take("b", 1)
    clock.advance(5.0)
    assert rate.take("b", 500)


def test_rate_that_is_overspent_has_to_be_made_up_for(clock: FakeClock) -> None:
    rate = Rate(10, 2, clock)
    rate.spend("a", 14)
    assert rate.left("a") == -4
    assert rate.wait("a") == pytest.approx(2.5)
    clock.advance(2.51)
    assert rate.take("a")


def test_rate_with_many_addresses_keeps_a_bounded_number(clock: FakeClock) -> None:
    bucket = Allowance(100, 1, clock)
    assert bucket._rate is not None
    for number in range(30_000):
        address = f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"
        assert bucket.wait({"method": "GET", "path": "/", "client": (address, 1)}) == 0
    assert len(bucket._rate) == 10_000


@pytest.mark.parametrize(
    ("address", "client"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2001:db8:1:2::ffff", "2001:db8:1:2::"),
        ("2001:db8:1:3::1", "2001:db8:1:3::"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("fe80::1%eth0", "fe80::"),
        ("not:an:address", "not:an:address"),
        ("", ""),
    ],
)
def test_client_of_an_ipv6_address_is_its_network(address: str, client: str) -> None:
    assert client_of(address) == client


@pytest.mark.parametrize(
    ("method", "path", "cost"),
    [
        ("GET", "/web/match.js", CHEAP),
        ("GET", "/api/openapi.json", CHEAP),
        ("GET", "/api/v1/session", CHEAP),
        ("POST", "/api/v1/session", DEAR),
        ("GET", "/metrics", DEAR),
        ("GET", "/", USUAL),
        ("GET", "/api/v1/matches", USUAL),
        ("GET", "/api/v1/matches/x", USUAL),
        ("GET", "/api/v1/matches/x/record", DEAR),
        ("GET", "/api/v1/matches/x/replay", DEAR),
        ("GET", "/api/v1/matches/x/chances", DEAR),
        ("GET", "/api/v1/matches/x/tree.svg", DEAR),
        ("HEAD", "/api/v1/matches/x/notation", DEAR),
        ("GET", "/api/v1/matches/x/tree/scene", DEAR),
        ("GET", "/api/v1/bots/a/b/review", DEAR),
        ("GET", "/api/v1/competitions/x/export/pgn", DEAR),
        ("DELETE", "/api/v1/session", USUAL),
        ("POST", "//api/v1/session/", DEAR),
        ("GET", "/nothing/here", USUAL),
    ],
)
def test_cost_of_a_request_follows_its_work(method: str, path: str, cost: float) -> None:
    assert cost_of(method, path) == cost


def test_class_of_200_behind_one_address_opens_a_match_page(clock: FakeClock) -> None:
    """Within a minute, everything new: a page, sixty files, six calls and a replay for each."""
    usual = ServerConfig()
    bucket = Allowance(usual.http_burst, usual.http_per_second, clock)
    paths = ["/matches/x", *(f"/web/{number}.js" for number in range(60))]
    paths += [*(f"/api/v1/calls/{number}" for number in range(5)), "/api/v1/session"]
    for _ in range(200):
        clock.advance(60 / 200)
        for path in paths:
            scope = {"method": "GET", "path": path, "client": ("192.0.2.7", 1)}
            assert bucket.wait(scope) == 0


async def test_flood_of_requests_is_refused_and_other_addresses_are_not(
    open_house: OpenHouse,
) -> None:
    house = await open_house(http_burst=100, http_per_second=0.01)
    async with browser(house) as flood, browser(house, "127.0.0.2") as other:
        for _ in range(5):
            assert (await flood.get(DEAR_PATH)).status_code == 404
        refused = await flood.get(DEAR_PATH)
        assert refused.status_code == 429
        assert refused.headers["content-type"] == "application/problem+json"
        problem = refused.json()
        assert problem["code"] == "http/rate"
        assert problem["status"] == 429
        assert "http_burst" in problem["detail"]
        assert 1 <= problem["retry_after"] <= 2000
        assert refused.headers["retry-after"] == str(problem["retry_after"])
        assert "content-security-policy" in refused.headers
        assert (await other.get(DEAR_PATH)).status_code == 404
        # Bots of the address that is refused come in and play all the same.
        (mover, _), _ = await house.pair("tic_tac_toe")
        await mover.next(Turn)
        assert isinstance(await mover.seek("pig"), Ok)


async def test_refusal_of_a_request_waits_before_it_is_sent(
    open_house: OpenHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = await open_house(http_burst=100, http_per_second=0.01)
    slept = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(request_limits, "DELAY", 1.0)
    monkeypatch.setattr(request_limits, "sleep", sleep)
    async with browser(house) as flood:
        codes = [(await flood.get(DEAR_PATH)).status_code for _ in range(6)]
    assert codes == [404] * 5 + [429]
    assert slept == [1.0]


async def test_allowance_behind_a_proxy_is_that_of_the_forwarded_address(
    open_house: OpenHouse,
) -> None:
    house = await open_house(http_burst=100, http_per_second=0.01, proxies="127.0.0.1")
    async with browser(house) as proxy:
        codes = {}
        for client in ("2001:db8::1", "2001:db8::2", "203.0.113.7"):
            headers = {"x-forwarded-for": client}
            codes[client] = [
                (await proxy.get(DEAR_PATH, headers=headers)).status_code for _ in range(5)
            ]
    assert codes["2001:db8::1"] == [404] * 5
    assert codes["2001:db8::2"] == [429] * 5, "it is of the same network"
    assert codes["203.0.113.7"] == [404] * 5


@pytest.mark.parametrize(
    "path", [f"{DEAR_PATH}/", f"/{DEAR_PATH}", DEAR_PATH.replace("/api/", "/api//"), "/metrics//"]
)
async def test_cost_of_a_request_does_not_depend_on_slashes(
    open_house: OpenHouse, path: str
) -> None:
    house = await open_house(http_burst=100, http_per_second=0.01)
    async with browser(house) as web:
        url = f"{house.server.url}{path}"
        codes = [(await web.get(url)).status_code for _ in range(6)]
    assert codes[5] == 429
    assert 429 not in codes[:5]


async def test_pacer_lets_visitors_take_turns() -> None:
    """Requests of one visitor, however many, do not keep those of another waiting."""
    now, done = 0, list[str]()
    pacer = Pacer(lambda: True, lambda: now)

    async def request(name: str) -> None:
        nonlocal now
        for _ in range(2):
            now += SLICE_NS
            await asyncio.sleep(0)
        done.append(name)

    async def visit(visitor: str) -> None:
        VISITOR.set(visitor)
        await pacer.run(request(visitor))

    many = [asyncio.create_task(visit("many")) for _ in range(20)]
    await asyncio.sleep(0)
    await asyncio.gather(visit("one"), *many)
    assert done.index("one") <= 2


async def test_account_is_not_refused_for_what_others_at_its_address_have_sent(
    open_house: OpenHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One program of a class would otherwise lock out the whole class behind one address."""
    monkeypatch.setattr("plyhouse.server.web.request_limits.DELAY", 0.0)
    house = await open_house(http_burst=100, http_per_second=0.001)
    tokens = {name: await house.token(name) for name in ("ann", "eve")}
    async with browser(house) as web:

        async def ask(who: str) -> int:
            headers = {"authorization": f"Bearer {tokens[who]}"} if who else {}
            return (await web.get("/api/v1/session", headers=headers)).status_code

        assert await ask("ann") == 200
        codes = [await ask("eve") for _ in range(110)]
        assert codes[:100] == [200] * 100
        assert codes[-5:] == [429] * 5
        assert await ask("ann") == 200
        assert await ask("") == 200, "nor is the address for what an account has sent"
        codes = [await ask("") for _ in range(110)]
        assert codes[-1] == 429
        assert await ask("ann") == 200


async def test_limits_of_an_address_are_those_of_its_network(
    open_house: OpenHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a busy machine ten hashes take the 30 s after which another guess is allowed.
    monkeypatch.setattr(guesses, "WRONG_PASSWORDS", (10, 1e-6))
    house = await open_house(proxies="127.0.0.1")
    origin = {"origin": house.server.url}
    async with browser(house) as proxy:

        async def guess(address: str) -> str:
            body = {"player": f"nobody{address[-1]}", "password": "a guess"}
            headers = {**origin, "x-forwarded-for": address}
            return str(
                (await proxy.post("/api/v1/session", json=body, headers=headers)).json()["code"]
            )

        codes = [await guess(f"2001:db8::{number}") for number in range(1, 12)]
        assert codes == ["auth/bad_password"] * 10 + ["auth/rate"]
        assert await guess("2001:db8:0:1::1") == "auth/bad_password"


async def test_no_rate_of_requests_without_the_setting(open_house: OpenHouse) -> None:
    house = await open_house(http_burst=100, http_per_second=0)
    async with browser(house) as web:
        assert {(await web.get(DEAR_PATH)).status_code for _ in range(20)} == {404}


# ------------------------------------------------------------------------- new connections


async def test_flood_of_connections_is_refused_and_other_addresses_are_not(
    open_house: OpenHouse,
) -> None:
    house = await open_house(connections_burst=3, connections_per_second=0.001)
    for _ in range(3):
        async with browser(house) as web:
            assert (await web.get("/healthz")).status_code == 200
    async with browser(house) as web:
        refused = await web.get("/healthz")
    assert refused.status_code == 429
    assert refused.headers["retry-after"] == str(refused.json()["retry_after"])
    assert refused.json()["code"] == "http/connections"
    assert refused.headers["connection"] == "close"
    with pytest.raises((InvalidMessage, InvalidStatus)):
        await house.client()
    async with browser(house, "127.0.0.2") as web:
        assert (await web.get("/healthz")).status_code == 200


async def test_connections_of_a_named_proxy_have_no_rate(open_house: OpenHouse) -> None:
    house = await open_house(connections_burst=1, connections_per_second=0.001, proxies="127.0.0.1")
    for _ in range(5):
        async with browser(house) as proxy:
            assert (await proxy.get("/healthz")).status_code == 200


async def test_listener_goes_on_after_a_socket_that_fails(caplog: pytest.LogCaptureFixture) -> None:
    knocks = 0

    def knock(_: str) -> float:
        nonlocal knocks
        knocks += 1
        if knocks == 1:
            raise ValueError("a bug")
        return 7.0

    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        listener = Listener(listening, Door(pause=knock), asyncio.Protocol)
        try:
            async with asyncio.timeout(PATIENCE):
                for expected in (b"", b"HTTP/1.1 429"):
                    reader, writer = await asyncio.open_connection(*listening.getsockname())
                    assert (await reader.read()).startswith(expected)
                    writer.close()
        finally:
            await listener.close()
    assert knocks == 2
    assert "a socket could not be let in" in caplog.text


async def test_socket_behind_a_flood_of_another_address_is_let_in_at_its_turn() -> None:
    opened: asyncio.Queue[str] = asyncio.Queue()

    class Opened(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            opened.put_nowait(transport.get_extra_info("peername")[0])
            transport.close()

    with contextlib.ExitStack() as stack:
        listening = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=400))
        listening.setblocking(False)
        for flooder in (*300 * ["127.0.0.5"], "127.0.0.9"):
            dialled = socket.create_connection(
                listening.getsockname(), PATIENCE, source_address=(flooder, 0)
            )
            stack.enter_context(dialled)
        listener = Listener(listening, Door(per_address=200), Opened)
        try:
            async with asyncio.timeout(PATIENCE):
                before = 0
                while await opened.get() == "127.0.0.5":
                    before += 1
        finally:
            await listener.close()
    assert before <= 300 // ACCEPTED + 2


async def test_sockets_beyond_the_share_of_an_address_are_not_opened() -> None:
    opened = 0

    class Opened(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            nonlocal opened
            opened += 1

    with contextlib.ExitStack() as stack:
        listening = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        listening.setblocking(False)
        dialled = [
            stack.enter_context(socket.create_connection(listening.getsockname(), PATIENCE))
            for _ in range(ACCEPTED)
        ]
        listener = Listener(listening, Door(per_address=5), Opened)
        try:
            loop = asyncio.get_running_loop()
            for each in dialled[5:]:
                each.setblocking(False)
                async with asyncio.timeout(PATIENCE):
                    assert await loop.sock_recv(each, 1) == b"", "it was closed"
        finally:
            await listener.close()
    assert opened == 5


@pytest.mark.parametrize("turns", range(6))
async def test_no_socket_is_lost_when_a_listener_closes(turns: int) -> None:
    opened: list[asyncio.BaseTransport] = []

    class Opened(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            opened.append(transport)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        listener = Listener(listening, Door(), Opened)
        await asyncio.sleep(0)
        with socket.create_connection(listening.getsockname()):
            for _ in range(turns):
                await asyncio.sleep(0)
            await listener.close()
            waiting = 0
            with contextlib.suppress(BlockingIOError):
                listening.accept()[0].close()
                waiting = 1
            assert len(opened) + waiting == 1
    for each in opened:
        each.close()


def test_door_with_many_refusals_writes_few_lines(caplog: pytest.LogCaptureFixture) -> None:
    door = Door(trusted=["10.0.0.9"], pause=lambda _: 2.5)
    assert {door.knock("10.0.0.1") for _ in range(100)} == {2.5}
    assert door.knock("10.0.0.9") == 0
    assert len(caplog.records) == 7


# -------------------------------------------------------------------------------- metrics


async def test_metrics_are_refused_to_other_machines(open_house: OpenHouse) -> None:
    house = await open_house(proxies="127.0.0.1")
    async with browser(house) as web:
        stranger = {"x-forwarded-for": "203.0.113.7"}
        refused = await web.get("/metrics", headers=stranger)
        assert (refused.status_code, refused.json()["code"]) == (403, "http/metrics")
        assert "--metrics-addresses 203.0.113.7" in refused.json()["detail"]
        for here in ("127.0.0.1", "::1", "::ffff:127.0.0.1"):
            answer = await web.get("/metrics", headers={"x-forwarded-for": here})
            assert answer.status_code == 200
        assert (await web.get("/metrics")).status_code == 200


async def test_metrics_are_read_from_named_networks(open_house: OpenHouse) -> None:
    house = await open_house(proxies="127.0.0.1", metrics_addresses="203.0.113.0/24, 2001:db8:1::5")
    async with browser(house) as web:
        codes = {}
        for client in ("203.0.113.7", "203.0.114.7", "2001:db8:1::5", "2001:db8:1::6"):
            answer = await web.get("/metrics", headers={"x-forwarded-for": client})
            codes[client] = answer.status_code
    assert list(codes.values()) == [200, 403, 200, 403]


def test_metrics_address_that_is_none_is_named() -> None:
    with pytest.raises(ConfigError, match="metrics_addresses: 'monitor'"):
        ServerConfig(metrics_addresses="127.0.0.1, monitor")


# --------------------------------------------------------------------------------- pacing


class Steps:
    """A request that takes so many nanoseconds in each of its steps."""

    def __init__(self, clock: FakeClock, spent: int) -> None:
        self.clock = clock
        self.spent = spent
        self.done = 0

    async def __call__(self, steps: int) -> None:
        for _ in range(steps):
            self.clock.now += self.spent
            self.done += 1
            await asyncio.sleep(0)


async def settle() -> None:
    """Let everything run that is ready."""
    for _ in range(50):
        await asyncio.sleep(0)


@pytest.fixture
def long_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rests that end only when the test ends them."""
    monkeypatch.setattr(request_limits, "REST", 1e9)
    monkeypatch.setattr(request_limits, "LONGEST_REST", 3600.0)


async def test_pacer_without_a_match_lets_everything_run(
    clock: FakeClock, long_rests: None
) -> None:
    pacer, work = Pacer(lambda: False, clock), Steps(clock, 10 * request_limits.SLICE_NS)
    await _paced(pacer, work(20))
    assert work.done == 20


async def _paced(pacer: Pacer, work: Any) -> None:
    await pacer.run(work)


async def test_pacer_with_a_match_stops_after_a_slice(clock: FakeClock, long_rests: None) -> None:
    pacer, work = Pacer(lambda: True, clock), Steps(clock, request_limits.SLICE_NS // 2)
    tasks = [asyncio.create_task(_paced(pacer, work(4))) for _ in range(3)]
    await settle()
    done = [work.done]
    while not all(task.done() for task in tasks):
        assert pacer._resting is not None
        pacer._resting.cancel()
        pacer._go_on()
        await settle()
        done.append(work.done)
    grown = [after - before for before, after in zip([0, *done], done, strict=False)]
    assert max(grown) <= 3, "two fill a slice, and one more was ready at the same time"
    assert work.done == 12


async def test_pacer_with_a_cancelled_request_lets_the_next_one_go(
    clock: FakeClock, long_rests: None
) -> None:
    pacer, work = Pacer(lambda: True, clock), Steps(clock, request_limits.SLICE_NS)
    tasks = [asyncio.create_task(_paced(pacer, work(1))) for _ in range(4)]
    await settle()
    waiting = [task for task in tasks if not task.done()]
    assert pacer._resting is not None
    waiting[0].cancel()
    pacer._resting.cancel()
    pacer._go_on()
    waiting[1].cancel()  # it may just have been given its turn
    for _ in range(10):
        await settle()
        if pacer._resting is not None:
            pacer._resting.cancel()
            pacer._go_on()
    assert all(task.done() for task in tasks)


async def test_pacer_passes_results_of_awaits_and_errors(clock: FakeClock) -> None:
    pacer, seen = Pacer(lambda: True, clock), []

    async def work() -> None:
        future = asyncio.get_running_loop().create_future()
        future.set_result(7)
        seen.append(await future)
        seen.append(await asyncio.to_thread(lambda: 8))
        async with asyncio.timeout(PATIENCE):
            await asyncio.sleep(0)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await pacer.run(work())
    assert seen == [7, 8]


class Stuck:
    """Something awaited that never comes."""

    def __await__(self) -> Generator[Any, Any, None]:
        yield from asyncio.get_running_loop().create_future()


async def test_pacer_with_a_cancelled_await_cancels_the_request(clock: FakeClock) -> None:
    pacer, seen = Pacer(lambda: True, clock), []

    async def work() -> None:
        try:
            await Stuck()
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    task = asyncio.create_task(_paced(pacer, work()))
    await settle()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["cancelled"]


# ----------------------------------------------------------------- kept answers, helpers


async def test_kept_answers_are_bounded_and_compressed_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = []
    compress = gzip.compress

    def counting(body: bytes, *args: Any, **named: Any) -> bytes:
        made.append(len(body))
        return compress(body, *args, **named)

    monkeypatch.setattr(gzip, "compress", counting)
    kept = KeptAnswers()
    same = {await kept.compressed(b"x" * 5000) for _ in range(5)}
    assert (len(same), len(made)) == (1, 1)
    for number in range(2000):
        await kept.compressed(f"{number} ".encode() * 2000)
    assert kept.size <= compression.KEPT_BYTES
    assert kept.size == sum(map(len, kept._kept.values()))
    size = kept.size
    await kept.compressed(bytes(compression.LONGEST_KEPT + 1))
    assert kept.size == size, "one answer alone must not push out the others"


class Unhashed(bytes):
    """A body that must not be looked up."""

    __hash__ = None  # type: ignore[assignment]


async def test_answer_too_long_to_keep_is_not_hashed_on_the_event_loop() -> None:
    body = Unhashed(compression.LONGEST_KEPT + 1)
    assert gzip.decompress(await KeptAnswers().compressed(body)) == body


async def test_helper_works_in_a_process_of_lower_priority() -> None:
    helpers = Helpers(1)
    try:
        first = await helpers.run(os.getpid)
        assert first != os.getpid()
        assert await helpers.run(os.getpid) == first, "it stays"
        if hasattr(os, "getpriority"):
            lower = await helpers.run(os.getpriority, os.PRIO_PROCESS, 0)
            assert lower > os.getpriority(os.PRIO_PROCESS, 0)
        with pytest.raises(ValueError, match="invalid literal"):
            await helpers.run(int, "x")
        assert await helpers.run(os.getpid) == first
    finally:
        await helpers.close()
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)


async def test_helper_knows_a_game_that_is_added_after_it_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(registry, "_added", dict(registry._added))
    helpers = Helpers(1)
    try:
        first = await helpers.run(os.getpid)
        name = registry.add_game_file(str(CHOMP))
        assert name in await helpers.run(registry.game_names)
        assert await helpers.run(os.getpid) == first
    finally:
        await helpers.close()


async def test_helper_that_dies_is_replaced() -> None:
    helpers = Helpers(1)
    try:
        first = await helpers.run(os.getpid)
        with pytest.raises(NotWorkedOut) as refused:
            await helpers.run(os._exit, 3)
        assert refused.value.code == "server/overloaded"
        assert await helpers.run(os.getpid) != first
        assert len(helpers._game_files) == 1
    finally:
        await helpers.close()
