"""The examples in deploy/: their options exist, and nginx passes everything on."""

from __future__ import annotations

import asyncio
import configparser
import contextlib
import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.harness.nginx import NGINX, nginx
from tests.harness.server import BotClient, Server
from websockets.asyncio.client import connect

from plyhouse.protocol.codec import MSGPACK
from plyhouse.protocol.messages import Welcome
from plyhouse.server.config import config_fields
from plyhouse.server.web.error_responses import MAX_BODY

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
OPENSSL = shutil.which("openssl")

pytestmark = pytest.mark.skipif(not DEPLOY.is_dir(), reason="tested without the sources")
needs_nginx = pytest.mark.skipif(
    NGINX is None or OPENSSL is None, reason="nginx and openssl are not installed"
)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


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
    port, plain_port = free_port(), free_port()
    replaced = {
        "127.0.0.1:8765": f"127.0.0.1:{house.server.port}",
        "listen 80;": f"listen 127.0.0.1:{plain_port};",
        "listen 443 ssl http2;": f"listen 127.0.0.1:{port} ssl http2;",
        "/etc/letsencrypt/live/games.example.org/fullchain.pem": str(tmp_path / "cert.pem"),
        "/etc/letsencrypt/live/games.example.org/privkey.pem": str(tmp_path / "key.pem"),
    }
    with nginx(DEPLOY / "nginx.conf", tmp_path, replaced):
        async with asyncio.timeout(60), httpx.AsyncClient(verify=certificate) as client:
            while True:
                with contextlib.suppress(httpx.TransportError):
                    await client.get(f"https://127.0.0.1:{port}/healthz")
                    break
                await asyncio.sleep(0.05)
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
async def test_metrics_are_for_this_machine_only() -> None:
    site = (DEPLOY / "nginx.conf").read_text()
    (metrics,) = re.findall(r"location = /metrics \{(.*?)\}", site, re.S)
    rules = re.findall(r"^ *(allow|deny) (.*);$", metrics, re.M)
    assert rules == [("allow", "127.0.0.1"), ("allow", "::1"), ("deny", "all")]


def settings(text: str) -> set[str]:
    """The names of settings that a file gives in the environment."""
    return {name.lower() for name in re.findall(r"PLYHOUSE_([A-Z_]+)=", text)}


@pytest.mark.parametrize("name", ["plyhouse.service", "Containerfile"])
def test_what_is_set_are_settings(name: str) -> None:
    known = {field.name for field in config_fields()} | {"compile"}
    found = settings((DEPLOY / name).read_text())
    assert found
    assert found <= known


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
