"""The examples in deploy/: their options exist, and nginx passes everything on."""

from __future__ import annotations

import asyncio
import configparser
import contextlib
import re
import secrets
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from tests.harness.caddy import CADDY, caddy
from tests.harness.nginx import NGINX, nginx
from tests.harness.patience import PATIENCE
from tests.harness.ports import kept_port
from tests.harness.server import BotClient, Server
from websockets.asyncio.client import connect

from plyhouse.protocol.api.calls import LONGEST_ANSWER
from plyhouse.protocol.codec import MSGPACK
from plyhouse.protocol.hosting.runner_messages import CheckDone, RunnerReport
from plyhouse.protocol.messages import Welcome
from plyhouse.server.config import ServerConfig, config_fields, read_settings
from plyhouse.server.web.application import create_api
from plyhouse.server.web.request_limits import MAX_BODY

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
OPENSSL = shutil.which("openssl")

pytestmark = pytest.mark.skipif(not DEPLOY.is_dir(), reason="tested without the sources")
needs_nginx = pytest.mark.skipif(
    NGINX is None or OPENSSL is None, reason="nginx and openssl are not installed"
)


async def answers(url: str, certificate: ssl.SSLContext | bool = True) -> None:
    """Wait until a proxy answers."""
    async with asyncio.timeout(PATIENCE), httpx.AsyncClient(verify=certificate) as client:
        while True:
            with contextlib.suppress(httpx.TransportError):
                await client.get(url)
                break
            await asyncio.sleep(0.05)


@pytest.fixture
def certificate(tmp_path: Path) -> ssl.SSLContext:
    """Make a certificate for 127.0.0.1, and a client that trusts it."""
    assert OPENSSL is not None
    subprocess.run(
        [
            *(OPENSSL, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", tmp_path / "key.pem", "-out", tmp_path / "cert.pem"),
        ],
        check=True,
        capture_output=True,
    )
    return ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))


@pytest.fixture
async def behind(
    house: Server, certificate: ssl.SSLContext, tmp_path: Path
) -> AsyncIterator[tuple[str, str]]:
    """The addresses of a server behind nginx: with TLS and without."""
    port, plain_port = kept_port(), kept_port()
    replaced = {
        "127.0.0.1:8765": f"127.0.0.1:{house.server.port}",
        "listen 80;": f"listen 127.0.0.1:{plain_port};",
        "listen 443 ssl http2;": f"listen 127.0.0.1:{port} ssl http2;",
        "/etc/letsencrypt/live/games.example.org/fullchain.pem": str(tmp_path / "cert.pem"),
        "/etc/letsencrypt/live/games.example.org/privkey.pem": str(tmp_path / "key.pem"),
    }
    with nginx(DEPLOY / "nginx.conf", tmp_path, replaced):
        await answers(f"https://127.0.0.1:{port}/healthz", certificate)
        yield f"https://127.0.0.1:{port}", f"http://127.0.0.1:{plain_port}"


@needs_nginx
async def test_nginx_passes_bots_pages_and_refusals(
    house: Server, behind: tuple[str, str], certificate: ssl.SSLContext
) -> None:
    safe, plain = behind
    async with httpx.AsyncClient(verify=certificate, base_url=safe) as api:
        assert (await api.get("/api/v1/health")).json()["status"] == "ok"
        assert (await api.get("/")).status_code == 200
        assert "plyhouse_plies_total" in (await api.get("/metrics")).text, "asked from here"
        assert (await api.post("/api/v1/players", content=b"x" * (MAX_BODY + 1))).status_code == 413
        moved = await api.get(f"{plain}/api/v1/health")
        assert moved.status_code == 301
        assert moved.headers["location"].startswith("https://")
    async with contextlib.AsyncExitStack() as stack:
        clients = []
        for player in ("alice", "bob"):
            wire = await stack.enter_async_context(
                connect(
                    safe.replace("https", "wss") + "/ws",
                    ssl=certificate,
                    subprotocols=[MSGPACK.subprotocol],  # type: ignore[list-item]
                    compression=None,
                )
            )
            client = BotClient(wire, MSGPACK)
            assert isinstance(await client.hello(await house.token(player), "bot"), Welcome)
            await client.seek("connect_four")
            clients.append(client)
        matches = [await client.start() for client in clients]
        ends = await asyncio.gather(
            *(client.play(match) for client, match in zip(clients, matches, strict=True))
        )
        assert ends[0].outcome.termination == "normal"


@needs_nginx
async def test_people_sign_in_behind_nginx_at_a_port_of_its_own(
    house: Server, behind: tuple[str, str], certificate: ssl.SSLContext
) -> None:
    """Pages name the port in Origin, which has to be that of Host."""
    safe, _ = behind
    token = await house.token("alice")
    async with httpx.AsyncClient(verify=certificate, base_url=safe) as api:
        answer = await api.post("/api/v1/session", json={"token": token}, headers={"origin": safe})
        assert answer.status_code == 200, answer.text
        assert (await api.get("/api/v1/session")).json()["player"] == "alice"


def longest_body() -> int:
    """The longest body that a server with the usual settings reads, in bytes."""
    taken = [
        each.resolve_request_max_body_size()
        for route in create_api().routes
        for each in getattr(route, "route_handlers", ())
    ]
    assert any(most is None for most in taken), "packages have their own limit, a setting"
    numbers = [most for most in taken if isinstance(most, int)]
    return max(ServerConfig().max_submission_bytes, *numbers)


SIZES = {"k": 1 << 10, "KiB": 1 << 10, "KB": 10**3, "m": 1 << 20, "MiB": 1 << 20, "MB": 10**6}


@pytest.mark.parametrize("site", ["nginx.conf", "cluster/nginx.conf", "Caddyfile"])
def test_proxies_refuse_no_body_that_the_server_reads(site: str) -> None:
    found = re.findall(
        r"^\s*(?:client_max_body_size|max_size) (\d+)(\w+)", (DEPLOY / site).read_text(), re.M
    )
    assert [int(number) * SIZES[unit] for number, unit in found] == [longest_body()]


@pytest.mark.parametrize("site", ["nginx.conf", "cluster/nginx.conf"])
def test_nginx_waits_as_long_as_a_client_for_an_answer(site: str) -> None:
    (pages,) = re.findall(r"location / \{(.*?)\}", (DEPLOY / site).read_text(), re.S)
    (seconds,) = re.findall(r"proxy_read_timeout (\d+)s;", pages)
    assert int(seconds) >= LONGEST_ANSWER


async def send_long_bodies(house: Server, url: str) -> None:
    """Send a package, a class list and a report that are as long as they may be."""
    tokens = {
        scope: {"Authorization": f"Bearer {await house.token(f'of-{scope}', scope)}"}
        for scope in ("play", "organise", "runner")
    }
    async with httpx.AsyncClient(base_url=url, timeout=PATIENCE) as api:
        package = b"TABLE = '" + secrets.token_hex(5 << 19).encode() + b"'\n"
        answer = await api.post(
            "/api/v1/submissions",
            content=package,
            params={"file": "bot.py", "bot": "bot"},
            headers=tokens["play"],
        )
        assert answer.status_code == 201, answer.text
        file = (
            'name = "Cup"\ngames = ["pig"]\ntime_control = "total:60"\n[limits]\nstudents = 900\n'
        )
        opened = {"file": file, "why": "term"}
        answer = await api.post("/api/v1/competitions", json=opened, headers=tokens["organise"])
        assert answer.status_code < 300, answer.text
        rows = "".join(f"s{each},{'s' * 60}{each}@example.org\n" for each in range(900))
        answer = await api.post(
            "/api/v1/competitions/Cup/students",
            json={"csv": f"name,email\n{rows}", "why": "term"},
            headers=tokens["organise"],
        )
        assert answer.status_code == 200, answer.text[:500]
        report = RunnerReport(
            name="m1",
            instance="0123456789",
            cores=1,
            checked=[
                CheckDone(10**6 + each, True, "\u00e9" * 16_000, ["pig"]) for each in range(8)
            ],
        )
        answer = await api.post(
            "/api/v1/runner/sync",
            content=msgspec.json.encode(report),
            headers={**tokens["runner"], "Content-Type": "application/json"},
        )
        assert answer.status_code == 200, answer.text
        answer = await api.post("/api/v1/players", content=b"x" * (5 << 20))
        assert answer.status_code == 413
        assert answer.json()["code"] == "http/413", "the server's answer, and not the proxy's"


@needs_nginx
async def test_nginx_passes_long_bodies(
    open_house: Callable[..., Awaitable[Server]], tmp_path: Path
) -> None:
    house, port = await open_house(hosted=True), kept_port()
    replaced = {
        "listen 80;": f"listen 127.0.0.1:{port};",
        "server server2:8765 max_fails=1 fail_timeout=2s;": "",
        "server server3:8765 max_fails=1 fail_timeout=2s;": "",
        "server1:8765": f"127.0.0.1:{house.server.port}",
    }
    with nginx(DEPLOY / "cluster" / "nginx.conf", tmp_path, replaced):
        await answers(f"http://127.0.0.1:{port}/")
        await send_long_bodies(house, f"http://127.0.0.1:{port}")


@pytest.mark.skipif(CADDY is None, reason="Caddy is not installed")
async def test_caddy_passes_long_bodies(
    open_house: Callable[..., Awaitable[Server]], tmp_path: Path
) -> None:
    house, port = await open_house(hosted=True), kept_port()
    with caddy(DEPLOY / "Caddyfile", tmp_path, port, house.server.port):
        await answers(f"http://127.0.0.1:{port}/")
        await send_long_bodies(house, f"http://127.0.0.1:{port}")


@needs_nginx
async def test_metrics_are_for_this_machine_only() -> None:
    site = (DEPLOY / "nginx.conf").read_text()
    (metrics,) = re.findall(r"location = /metrics \{(.*?)\}", site, re.S)
    rules = re.findall(r"^ *(allow|deny) (.*);$", metrics, re.M)
    assert rules == [("allow", "127.0.0.1"), ("allow", "::1"), ("deny", "all")]


def settings(text: str) -> set[str]:
    """The names of settings that a file gives in the environment."""
    return {name.lower() for name in re.findall(r"PLYHOUSE_([A-Z_]+)=", text)}


def test_what_is_set_are_settings() -> None:
    known = {field.name for field in config_fields()} | {"compile"}
    found = settings((DEPLOY / "Containerfile").read_text())
    assert found
    assert found <= known


def test_units_take_all_settings_from_the_file_that_the_docs_copy() -> None:
    config = ServerConfig.from_mapping(read_settings(DEPLOY / "plyhouse.toml"))
    assert config.database == "sqlite:////var/lib/plyhouse/plyhouse.db"
    assert config.proxies == "127.0.0.1"
    for unit in ("plyhouse.service", "cluster/plyhouse@.service"):
        assert not settings((DEPLOY / unit).read_text()), "a variable would beat the file"
    hosting = (DEPLOY.parent / "docs" / "hosting.md").read_text()
    steps = re.findall(r"^\$ cp (deploy/\S+) ", hosting, re.M)
    assert {"deploy/plyhouse.toml", "deploy/plyhouse.service"} <= set(steps)


def test_the_unit_is_one() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(DEPLOY / "plyhouse.service")
    service: Any = unit["Service"]
    assert service["ExecStart"].split()[1:] == ["serve", "--config", "/etc/plyhouse.toml"]
    assert service["Restart"] == "on-failure"
    analyze = shutil.which("systemd-analyze")
    if analyze is not None and Path("/run/systemd/system").is_dir():
        done = subprocess.run(
            [analyze, "verify", "--man=no", str(DEPLOY / "plyhouse.service")],
            capture_output=True,
            text=True,
        )
        said = [line for line in done.stderr.splitlines() if "/opt/plyhouse" not in line]
        assert not said


def test_the_image_asks_for_the_health_that_there_is() -> None:
    text = (DEPLOY / "Containerfile").read_text()
    assert "/healthz" in text
    assert 'ENTRYPOINT ["plyhouse"]' in text
    assert "8765" in text
