"""What stands between a client and a server: refusals, redirects, proxies and certificates."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.harness.patience import PATIENCE
from tests.harness.server import Server

from plyhouse.bots.client.channel import NotAServer
from plyhouse.bots.client.channel import Unreachable as NoConnection
from plyhouse.bots.client.websocket import websocket_connector
from plyhouse.clients.api import ApiError, AsyncApi, Patience, Unreachable
from plyhouse.clients.runner.machine import Machine, Setup
from plyhouse.clients.shared.http import ask, download
from plyhouse.protocol.address import Address, InvalidAddress, InvalidProxy, proxy_for
from plyhouse.protocol.api import calls
from plyhouse.protocol.api.routes import Call
from plyhouse.protocol.hosting.runner_messages import CheckDone, RunnerPlan

OPENSSL = shutil.which("openssl")
needs_openssl = pytest.mark.skipif(OPENSSL is None, reason="openssl is not installed")
HOST = "games.example.org"

Client = Callable[[str], Awaitable[Any]]
Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def by_command(url: str) -> Any:
    """Ask as the commands do."""
    return await asyncio.to_thread(ask, url, calls.health())


async def by_library(url: str) -> Any:
    """Ask by the library for scripts."""
    async with AsyncApi(url, patience=Patience(attempts=1)) as api:
        return await api.health()


async def by_websocket(url: str) -> Any:
    """Connect as a bot."""
    channel = await websocket_connector(url)()
    channel.close()


CLIENTS = [by_command, by_library, by_websocket]


@asynccontextmanager
async def listening(talk: Talk, **options: Any) -> AsyncIterator[int]:
    """Serve connections, and give the port."""

    async def polite(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await talk(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client has gone
        finally:
            writer.close()

    server = await asyncio.start_server(polite, "127.0.0.1", 0, **options)
    async with server:
        yield server.sockets[0].getsockname()[1]


def answering(status: int, body: bytes, *headers: str) -> Talk:
    """A server that gives every request the same answer."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = [f"HTTP/1.1 {status} Said", f"Content-Length: {len(body)}", "Connection: close"]
        writer.write("\r\n".join([*head, *headers, "", ""]).encode() + body)
        await writer.drain()

    return talk


async def refused(client: Client, url: str) -> str:
    """What a client says of a server that it cannot use."""
    with pytest.raises((ApiError, Unreachable, NotAServer, NoConnection)) as caught:
        await client(url)
    return str(caught.value)


def nginx_page(title: str) -> bytes:
    return f"<html><head><title>{title}</title></head><body>nginx</body></html>".encode()


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    ("status", "page", "cause"),
    [
        (401, "401 Authorization Required", "login of its own"),
        (403, "Blocked by policy", "page 'Blocked by policy'"),
        (404, "404 Not Found", "no Plyhouse server"),
        (407, "", "NAME:PASSWORD"),
        (413, "413 Request Entity Too Large", "client_max_body_size"),
        (418, "", "no Plyhouse server"),
        (426, "", "Upgrade"),
        (429, "", "later"),
        (502, "502 Bad Gateway", "no server behind it"),
        (503, "503 Service Temporarily Unavailable", "no server behind it"),
        (504, "504 Gateway Time-out", "too long"),
        (599, "", "no Plyhouse server"),
    ],
)
async def test_refusal_of_a_proxy_is_named_with_its_cause(
    client: Client, status: int, page: str, cause: str
) -> None:
    async with listening(answering(status, nginx_page(page))) as port:
        said = await refused(client, f"http://127.0.0.1:{port}")
    assert f"127.0.0.1:{port} answered {status}" in said
    assert cause in said


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_redirect_names_the_address_to_use(client: Client, status: int) -> None:
    path = "/ws" if client is by_websocket else "/api/v1/health"
    moved = answering(status, nginx_page("moved"), f"Location: https://{HOST}{path}?x=1")
    async with listening(moved) as port:
        said = await refused(client, f"http://127.0.0.1:{port}")
    assert f"({status}), to https://{HOST}: use this address" in said


@pytest.mark.parametrize("client", CLIENTS)
async def test_login_page_of_a_network_is_no_server(client: Client) -> None:
    async with listening(answering(200, nginx_page("Campus login"))) as port:
        assert "no Plyhouse server" in await refused(client, f"http://127.0.0.1:{port}")
    moved = answering(302, b"", "Location: http://portal.example.org/login?to=x")
    async with listening(moved) as port:
        said = await refused(client, f"http://127.0.0.1:{port}")
        assert "http://portal.example.org/login" in said
        assert "log in with a browser" in said


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    ("status", "body", "header", "said"),
    [
        (302, b"", "Location: javascript:alert(1)", ""),
        (302, b"", "Location: http://[::1", ""),
        (302, b"", "Location: //", ""),
        (200, b"no gzip", "Content-Encoding: gzip", ""),
        (200, b"[" * 100_000, "Content-Type: application/json", "no Plyhouse server"),
        (503, b"[" * 100_000, "Content-Type: application/json", "503"),
    ],
)
async def test_answer_that_makes_no_sense_is_refused_in_words(
    client: Client, status: int, body: bytes, header: str, said: str
) -> None:
    async with listening(answering(status, body, header)) as port:
        told = await refused(client, f"http://127.0.0.1:{port}")
    assert f"127.0.0.1:{port}" in told
    assert said in told


@pytest.mark.parametrize("client", CLIENTS)
async def test_redirect_to_the_same_address_is_a_circle(client: Client) -> None:
    path = "/ws" if client is by_websocket else "/api/v1/health"
    async with listening(answering(301, b"", f"Location: {path}")) as port:
        assert "in a circle (301)" in await refused(client, f"http://127.0.0.1:{port}")


@pytest.mark.parametrize("get", [ask, partial(download, folder=Path("/nowhere"))])
async def test_page_of_a_proxy_is_no_file(
    get: Callable[[str, Call[bytes], None], object],
) -> None:
    async with listening(answering(302, b"", "Location: /login")) as port:
        with pytest.raises(Unreachable, match="elsewhere"):
            await asyncio.to_thread(get, f"http://127.0.0.1:{port}", calls.package("x"), None)


async def test_websocket_request_without_upgrade_is_answered_with_426(house: Server) -> None:
    async with httpx.AsyncClient(base_url=house.server.url) as web:
        answer = await web.get("/ws")
    assert answer.status_code == 426
    assert answer.headers["upgrade"] == "websocket"
    assert answer.json()["code"] == "http/426"
    assert "proxy" in answer.json()["detail"]

    async def stripping(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        kept = [line for line in head if not line.lower().startswith(("upgrade:", "connection:"))]
        there, out = await asyncio.open_connection("127.0.0.1", house.server.port)
        out.write("\r\n".join(["GET /ws HTTP/1.1", "Connection: close", *kept[1:]]).encode())
        writer.write(await there.read())
        await writer.drain()
        out.close()

    async with listening(stripping) as port:
        said = await refused(by_websocket, f"http://127.0.0.1:{port}")
    assert "'Upgrade: websocket' did not arrive" in said


@pytest.mark.parametrize(
    "text",
    [
        "https://example.org/games",
        "https://example.org/games/ws",
        "http://example.org/matches/m1",
        "example.org:8765/x",
        "https://example.org/?class=cup",
        "https://ada:secret@example.org/",
    ],
)
def test_address_with_more_than_host_and_port_is_refused_with_the_one_to_write(text: str) -> None:
    with pytest.raises(InvalidAddress, match=r"write https?://example\.org") as caught:
        Address.read(text)
    assert caught.value.code == "config/bad_url"
    with pytest.raises(InvalidAddress):
        websocket_connector(text)
    with pytest.raises(InvalidAddress):
        AsyncApi(text)


def clear(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def test_proxies_are_those_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    clear(monkeypatch)
    plain, safe = Address.read(f"http://{HOST}"), Address.read(f"https://{HOST}")
    assert proxy_for(plain) is proxy_for(safe) is None
    monkeypatch.setenv("ALL_PROXY", "proxy.example.org:3128")
    monkeypatch.setenv("HTTPS_PROXY", "http://ada:s%40cret@[::1]:8080/")
    found = proxy_for(safe)
    assert found is not None
    assert (found.user, found.password, found.url) == ("ada", "s@cret", "http://[::1]:8080")
    assert found.full_url == "http://ada:s%40cret@[::1]:8080"
    through = proxy_for(plain)
    assert through is not None
    assert through.url == "http://proxy.example.org:3128"
    assert proxy_for(Address.read("http://127.0.0.1:8765")) is None, "this machine"
    assert proxy_for(Address.read("localhost:8765")) is None
    monkeypatch.setenv("NO_PROXY", ".example.org")
    assert proxy_for(plain) is proxy_for(safe) is None
    monkeypatch.delenv("NO_PROXY")
    for wrong in ("socks5://proxy.example.org:1080", "https://x", "http://x:port", "http://"):
        monkeypatch.setenv("HTTPS_PROXY", wrong)
        with pytest.raises(InvalidProxy, match="HTTPS_PROXY"):
            proxy_for(safe)


@pytest.fixture
def own_certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A self-signed certificate for `HOST` and 127.0.0.1, and its key."""
    assert OPENSSL is not None
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(
        [
            *(OPENSSL, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "2", "-subj", f"/CN={HOST}"),
            *("-addext", f"subjectAltName=DNS:{HOST},IP:127.0.0.1"),
            *("-keyout", key, "-out", certificate),
        ],
        check=True,
        capture_output=True,
    )
    return certificate, key


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()


def relay(port: int) -> Talk:
    """Pass a connection on to a port of this machine."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, out = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(pump(reader, out), pump(there, writer), return_exceptions=True)

    return talk


def forward_proxy(port: int, asked: list[str], login: str = "") -> Talk:
    """An HTTP proxy that knows one server, at a port of this machine."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        asked.append(head.decode().partition("\r\n")[0])
        if login and f"Proxy-Authorization: Basic {login}".encode() not in head:
            writer.write(b"HTTP/1.1 407 Who\r\nContent-Length: 0\r\n\r\n")
            return
        there, out = await asyncio.open_connection("127.0.0.1", port)
        if head.startswith(b"CONNECT "):
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        else:
            out.write(head.replace(f"http://{HOST}".encode(), b"", 1))
        await asyncio.gather(pump(reader, out), pump(there, writer), return_exceptions=True)

    return talk


@needs_openssl
@pytest.mark.parametrize("client", CLIENTS)
async def test_every_client_goes_through_the_proxy(
    client: Client,
    house: Server,
    own_certificate: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clear(monkeypatch)
    served = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    served.load_cert_chain(*own_certificate)
    monkeypatch.setenv("SSL_CERT_FILE", str(own_certificate[0]))
    asked: list[str] = []
    login = "YWRhOnNAY3JldA=="  # ada:s@cret
    async with (
        listening(relay(house.server.port), ssl=served) as safe,
        listening(forward_proxy(safe, asked, login)) as proxy,
        listening(forward_proxy(house.server.port, asked)) as plain,
    ):
        monkeypatch.setenv("HTTPS_PROXY", f"http://ada:s%40cret@127.0.0.1:{proxy}")
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{plain}")
        await client(f"https://{HOST}")
        await client(f"http://{HOST}")
        assert asked[0].startswith(f"CONNECT {HOST}:443 ")
        assert HOST in asked[1]
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy}")
        said = await refused(client, f"https://{HOST}")
        assert f"through the proxy http://127.0.0.1:{proxy}" in said
        assert "NAME:PASSWORD" in said


@needs_openssl
@pytest.mark.parametrize("client", CLIENTS)
async def test_certificate_that_is_not_trusted_is_named_with_the_fix(
    client: Client,
    house: Server,
    own_certificate: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clear(monkeypatch)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    served = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    served.load_cert_chain(*own_certificate)
    async with listening(relay(house.server.port), ssl=served) as port:
        url = f"https://127.0.0.1:{port}"
        said = await refused(client, url)
        assert f"The certificate of {url} cannot be trusted" in said
        assert "self-signed" in said
        assert "set SSL_CERT_FILE" in said
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
        assert "which is not there" in await refused(client, url)
        monkeypatch.setenv("SSL_CERT_FILE", str(own_certificate[0]))
        await client(url)
        said = await refused(client, f"https://localhost:{port}")
        assert "SSL_CERT_FILE" not in said, "the name is wrong, and the certificate is trusted"
        assert "localhost" in said


@pytest.mark.parametrize("client", CLIENTS)
async def test_server_without_tls_is_named(client: Client, house: Server) -> None:
    url = f"https://127.0.0.1:{house.server.port}"
    assert "without TLS" in await refused(client, url)


@pytest.mark.parametrize("page", [nginx_page("413 Request Entity Too Large"), b"", b"{}"])
async def test_runner_behind_a_proxy_splits_a_report_that_is_too_long(
    page: bytes, tmp_path: Path
) -> None:
    taken: list[int] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        size = int(head.partition("content-length: ")[2].partition("\r\n")[0])
        body = await reader.readexactly(size)
        status, said = (413, page) if size > 65_536 else (200, told)
        taken.extend([body.count(b'"report"')] if status == 200 else [])
        writer.write(b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n" % (status, len(said)) + said)
        await writer.drain()

    told = b'{"every_ms": 1500, "lease_ms": 8000, "checks": [], "bots": []}'
    async with listening(talk) as port:
        setup = Setup(
            server=f"http://127.0.0.1:{port}",
            token="ply_x",
            name="m1",
            cores=1,
            bots=1,
            folder=tmp_path,
            say=lambda _: None,
        )
        machine = Machine(setup)
        for number in range(8):
            machine._news.add(CheckDone(number + 1, True, "x" * 16_000, ["pig"]))
        async with asyncio.timeout(PATIENCE):
            while len(machine._news):
                found = await machine._sync()
                assert found is None or isinstance(found, RunnerPlan)
    assert sum(taken) == 8


@pytest.mark.parametrize("status", [401, 403, 404, 502])
async def test_runner_survives_what_a_proxy_answers_for_a_while(
    status: int, tmp_path: Path
) -> None:
    told = b'{"every_ms": 1500, "lease_ms": 8000, "checks": [], "bots": []}'
    async with (
        listening(answering(200, told)) as well,
        listening(answering(status, nginx_page("no"))) as ill,
    ):
        setup = Setup(
            server=f"http://127.0.0.1:{well}",
            token="ply_x",
            name="m1",
            cores=1,
            bots=1,
            folder=tmp_path,
            say=lambda _: None,
        )
        machine = Machine(setup)
        assert await machine._sync() is not None
        machine._setup = replace(setup, server=f"http://127.0.0.1:{ill}")
        assert await machine._sync() is None
        machine._setup = setup
        assert await machine._sync() is not None
