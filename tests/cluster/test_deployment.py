"""The examples in deploy/cluster/: they fit together, and nginx spreads bots over three servers."""

from __future__ import annotations

import asyncio
import configparser
import contextlib
import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import httpx
import pytest
import yaml  # type: ignore[import-untyped]
from tests.harness.nginx import NGINX, nginx
from tests.harness.patience import PATIENCE
from tests.harness.ports import kept_port
from tests.harness.server import BotClient
from tests.harness.small_cluster import SmallCluster, member_of
from websockets.asyncio.client import connect

from plyhouse.clients.cli.main import cli
from plyhouse.protocol.codec import MSGPACK
from plyhouse.protocol.messages import Welcome
from plyhouse.server.cluster.nats_server import find_program
from plyhouse.server.config import ServerConfig, config_fields
from plyhouse.server.gateway.membership import ClusterError

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
UNIT = DEPLOY / "cluster" / "plyhouse@.service"

pytestmark = pytest.mark.skipif(not DEPLOY.is_dir(), reason="tested without the sources")


def parsed(words: Sequence[str]) -> dict[str, Any]:
    """Parse a command line of `plyhouse`, without its first word; return the options.

    Raises `click.UsageError` for commands and options that do not exist.
    """
    command: click.Command = cli
    context = click.Context(cli, info_name="plyhouse", auto_envvar_prefix="PLYHOUSE")
    rest = list(words)
    while isinstance(command, click.Group):
        name, *rest = rest
        found = command.get_command(context, name)
        if found is None:
            raise click.UsageError(f"there is no command {name!r}")
        command = found
        if isinstance(command, click.Group):
            context = click.Context(command, info_name=name, parent=context)
        else:
            context = command.make_context(name, rest, parent=context)
    return context.params


@pytest.fixture
def compose() -> dict[str, Any]:
    """The compose file, with the variables that it takes from its environment."""
    text = (DEPLOY / "cluster" / "compose.yaml").read_text()
    text = re.sub(r"\$\{(?:POSTGRES|NATS)_PASSWORD:\?[^}]*\}", "secret", text)
    text = re.sub(r"\$\{PLYHOUSE_TOKEN:-\}", "ply_x", text)
    assert "${" not in text
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def servers(compose: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: each for name, each in compose["services"].items() if "server" in name}


def test_wrong_command_lines_are_found() -> None:
    assert parsed(["serve", "--port", "9"])["port"] == 9
    for line in ("serve --prot 9", "serv", "admin player ad x", "runner"):
        with pytest.raises(click.UsageError):
            parsed(line.split())


def test_compose_file_starts_three_servers_of_one_cluster(
    compose: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = servers(compose)
    assert len(found) == 3
    known = {f"PLYHOUSE_{field.name.upper()}" for field in config_fields()}
    for name, each in found.items():
        assert each["hostname"] == name, "others reach it by the name of its host"
        assert each["environment"].keys() <= known
        with monkeypatch.context() as patch:
            for variable, value in each["environment"].items():
                patch.setenv(variable, value)
            options = parsed(each["command"])
        names = {field.name for field in config_fields()}
        config = ServerConfig.from_mapping(
            {key: value for key, value in options.items() if key in names and value is not None}
        )
        assert config.cluster == "nats://plyhouse:secret@broker:4222"
        assert config.database == "postgresql://plyhouse:secret@database/plyhouse"
        assert config.hosted
        assert not config.has_local_runner
        proxy = compose["services"]["proxy"]["networks"]["web"]["ipv4_address"]
        assert config.proxies == proxy


def test_compose_file_runs_a_runner(
    compose: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = compose["services"]["runner"]
    for variable, value in runner["environment"].items():
        monkeypatch.setenv(variable, value)
    options = parsed(runner["command"])
    assert options["server"] == "http://proxy"
    assert options["token"] == "ply_x"


def test_compose_file_names_only_what_it_has(compose: dict[str, Any]) -> None:
    services = compose["services"]
    for each in services.values():
        assert services.keys() >= set(each.get("depends_on", ()))
        assert compose["networks"].keys() >= set(each["networks"])
        for volume in each.get("volumes", ()):
            source = volume.partition(":")[0]
            assert source in compose["volumes"] or (DEPLOY / "cluster" / source).is_file()
    build = services["server1"]["build"]
    assert (DEPLOY / "cluster" / build["context"] / build["dockerfile"]).is_file()
    assert [name for name, each in compose["networks"].items() if not each] == ["outside"]
    assert [name for name, each in services.items() if "outside" in each["networks"]] == ["proxy"]
    assert [name for name, each in services.items() if "ports" in each] == ["proxy"]


def test_only_servers_reach_nats_and_the_database(compose: dict[str, Any]) -> None:
    """Who reaches NATS reads session keys, and a runner executes programs of strangers."""
    services = compose["services"]
    for name, program in (("messages", "broker"), ("data", "database")):
        inside = {each for each, service in services.items() if name in service["networks"]}
        assert inside == {program, *servers(compose)}
        assert services[program]["networks"] == [name]
    assert services["runner"]["networks"] == ["runners"]
    assert compose["networks"]["messages"]["internal"]


async def asks_for_password(place: str) -> bool:
    """Return whether NATS, which is being started, says that it needs credentials."""
    host, _, port = place.partition(":")
    for _ in range(200):
        with contextlib.suppress(OSError):
            reader, writer = await asyncio.open_connection(host, int(port))
            words = (await reader.readline()).removeprefix(b"INFO ")
            writer.close()
            await writer.wait_closed()
            return bool(json.loads(words).get("auth_required"))
        await asyncio.sleep(0.05)
    raise AssertionError("NATS does not start")


async def test_nats_of_the_compose_file_asks_for_the_password_of_the_servers(
    compose: dict[str, Any],
) -> None:
    import nats

    broker, server = compose["services"]["broker"], compose["services"]["server1"]
    place = f"127.0.0.1:{kept_port()}"
    try:
        program = find_program()
    except ClusterError as error:
        pytest.skip(str(error))
    words = [*broker["command"], "--addr", "127.0.0.1", "--port", place.rpartition(":")[2]]
    process = await asyncio.create_subprocess_exec(
        program, *words, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        asks = await asks_for_password(place)
        assert asks, "else everybody who reaches it is let in"
        own = server["environment"]["PLYHOUSE_CLUSTER"].replace("broker:4222", place)
        client = await nats.connect(own, allow_reconnect=False, connect_timeout=5)
        await client.close()
    finally:
        process.kill()
        await process.wait()


def test_commands_in_comments_exist(compose: dict[str, Any]) -> None:
    text = (DEPLOY / "cluster" / "compose.yaml").read_text()
    lines = re.findall(r"^#     docker compose exec (\w+) plyhouse ([^#\n]+)", text, re.M)
    assert len(lines) == 2
    for service, line in lines:
        assert service in servers(compose)
        parsed(shlex.split(line))


def test_unit_starts_one_server_for_each_port() -> None:
    unit, single = (configparser.ConfigParser(strict=False, interpolation=None) for _ in range(2))
    for each, path in ((unit, UNIT), (single, DEPLOY / "plyhouse.service")):
        each.optionxform = str  # type: ignore[assignment,method-assign]
        each.read(path)
    service = unit["Service"]
    program, *words = service["ExecStart"].replace("%i", "8766").split()
    assert program == single["Service"]["ExecStart"].split()[0]
    assert parsed(words)["port"] == 8766
    assert service["Restart"] == "on-failure"
    # It has every protection of the unit of a single server.
    own = {"ExecStart", "Environment", "RestartSec", "StateDirectory", "StateDirectoryMode"}
    own.add("WorkingDirectory")
    for name in single["Service"].keys() - own:
        assert service[name] == single["Service"][name], name
    (settings,) = re.findall(r"at least `(\w+)` \(PostgreSQL\) and\n# `(\w+)`", UNIT.read_text())
    assert set(settings) <= {field.name for field in config_fields()}


@pytest.mark.postgresql
@pytest.mark.skipif(NGINX is None, reason="nginx is not installed")
async def test_nginx_spreads_bots_over_servers_that_live(
    cluster: SmallCluster, tmp_path: Path
) -> None:
    port = kept_port()
    replaced = {"listen 80;": f"listen 127.0.0.1:{port};"}
    for number, server in enumerate(cluster.servers, 1):
        replaced[f"server{number}:8765"] = f"127.0.0.1:{server.server.port}"
    first, *others = cluster.servers
    tokens = [await first.token(f"player{number}") for number in range(6)]
    async with contextlib.AsyncExitStack() as stack:
        stack.enter_context(nginx(DEPLOY / "cluster" / "nginx.conf", tmp_path, replaced))
        web = await stack.enter_async_context(
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}")
        )
        async with asyncio.timeout(PATIENCE):
            while True:
                with contextlib.suppress(httpx.TransportError):
                    await web.get("/")
                    break
                await asyncio.sleep(0.05)

        async def bots() -> list[BotClient]:
            made = []
            for token in tokens:
                wire = await stack.enter_async_context(
                    connect(
                        f"ws://127.0.0.1:{port}/ws",
                        subprotocols=[MSGPACK.subprotocol],  # type: ignore[list-item]
                        compression=None,
                    )
                )
                made.append(BotClient(wire, MSGPACK))
                assert isinstance(await made[-1].hello(token, "bot", takeover=True), Welcome)
            return made

        clients = await bots()
        assert all(each.hub.sessions for each in cluster.servers)
        for client in clients:
            await client.seek("tic_tac_toe", count=1)
        starts = [await client.start() for client in clients]
        ends = await asyncio.gather(
            *(client.play(match) for client, match in zip(clients, starts, strict=True))
        )
        assert {end.outcome.termination for end in ends} == {"normal"}
        for path in ("/metrics", "/readyz", "/healthz"):
            assert (await web.get(path)).status_code == 403, path
        await cluster.stop(first)
        boards = [member_of(each.hub).board for each in others]
        async with asyncio.timeout(PATIENCE):
            while not any(each.ready for each in boards):  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.05)
        assert len(await bots()) == len(tokens)
        for _ in range(6):
            assert (await web.get("/api/v1/health")).status_code == 200
