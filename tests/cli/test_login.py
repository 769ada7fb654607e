"""``plyhouse login`` and ``logout``, and the defaults that they give to commands."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import Plyhouse
from tests.harness.command_line_server import Server, start, stop, token

from plyhouse.clients.shared.errors import CommandError
from plyhouse.clients.shared.token_files import (
    StoredLogin,
    login_path,
    remove_login,
    store_login,
    stored_login,
)


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for configuration, which commands of the test use, too."""
    folder = tmp_path / "config"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    return folder / "plyhouse" / "login.json"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    (tmp_path / "server").mkdir()
    opened = start(tmp_path / "server", "--database", "sqlite:///club.db")
    yield opened
    assert stop(opened) == 0


def test_stored_login_round_trips_and_is_private(config: Path) -> None:
    old_mask = os.umask(0)
    try:
        place = store_login(StoredLogin("http://x:80", "ply_secret"))
    finally:
        os.umask(old_mask)
    assert place == login_path() == config
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert stored_login() == ("http://x:80", "ply_secret")
    store_login(StoredLogin("http://y:80", "other"))
    assert stored_login() == ("http://y:80", "other")
    assert os.listdir(config.parent) == ["login.json"]
    assert remove_login()
    assert not remove_login()
    assert stored_login() is None


@pytest.mark.parametrize("value", ["", "relative/folder"])
def test_login_path_without_absolute_config_home_is_in_the_home_folder(
    value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", value)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert login_path() == tmp_path / ".config" / "plyhouse" / "login.json"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"server": "x"}'])
def test_damaged_login_names_the_remedy(config: Path, text: str) -> None:
    config.parent.mkdir(parents=True)
    config.write_text(text)
    config.chmod(0o600)
    with pytest.raises(CommandError, match="damaged: run `plyhouse login` again"):
        stored_login()


def test_login_that_others_can_read_is_refused(config: Path) -> None:
    store_login(StoredLogin("http://x:80", "ply_secret")).chmod(0o644)
    with pytest.raises(CommandError, match="Others can read your token"):
        stored_login()


def test_commands_use_the_stored_login_until_logout(
    plyhouse: Plyhouse, server: Server, config: Path
) -> None:
    secret = token(plyhouse, server, "ada")
    done = plyhouse("login", "--server", server.url, stdin=f"{secret}\n")
    assert done.code == 0, done.err
    assert f"Logged in to {server.url} as ada (play)." in done.err
    assert str(config) in done.err
    assert stat.S_IMODE(config.stat().st_mode) == 0o600
    assert secret not in done.out + done.err
    assert plyhouse("submission", "list").err.startswith("No submissions yet")
    assert plyhouse("bot", "status").code == 0
    assert server.url in plyhouse("leaderboard").err
    assert "Games: " in plyhouse("play", "--server", "--plain").out
    done = plyhouse("logout")
    assert f"Logged out from {server.url}" in done.err
    assert not config.exists()
    assert "There is no token" in plyhouse("bot", "status").err
    assert plyhouse("logout").err == "No login is stored.\n"


def test_wrong_token_is_not_stored(plyhouse: Plyhouse, server: Server, config: Path) -> None:
    done = plyhouse("login", "--server", server.url, "--token", "ply_wrong")
    assert done.code == 4, done.err
    assert f"The server at {server.url} does not know this token." in done.err
    assert not config.exists()


def test_login_replaces_the_stored_token_by_that_of_a_pipe(
    plyhouse: Plyhouse, server: Server, config: Path
) -> None:
    ada, bob = (token(plyhouse, server, name) for name in ("ada", "bob"))
    assert plyhouse("login", "--server", server.url, stdin=f"{ada}\n").code == 0
    done = plyhouse("login", stdin=f"{bob}\n")
    assert f"Logged in to {server.url} as bob (play)." in done.err
    assert stored_login() == (server.url, bob)


def test_login_without_a_token_does_not_use_the_stored_one(
    plyhouse: Plyhouse, config: Path
) -> None:
    store_login(StoredLogin("http://127.0.0.1:9", "ply_old"))
    for arguments in ((), ("--token", "")):
        done = plyhouse("login", *arguments)
        assert done.code == 2
        assert "There is no token" in done.err


def test_login_replaces_a_damaged_file(plyhouse: Plyhouse, server: Server, config: Path) -> None:
    config.parent.mkdir(parents=True)
    config.write_text("rubbish")
    config.chmod(0o600)
    secret = token(plyhouse, server, "ada")
    assert "is damaged: run `plyhouse login` again" in plyhouse("bot", "status").err
    done = plyhouse("login", "--server", server.url, stdin=f"{secret}\n")
    assert done.code == 0, done.err
    assert stored_login() == (server.url, secret)


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ("pły_ü", r"the character '\u0142'"),
        ("ply_a b", "the character ' '"),
        ("ply_" + "x" * 300, "304 characters"),
    ],
)
def test_impossible_token_is_refused_without_a_request(
    plyhouse: Plyhouse, config: Path, given: str, fault: str
) -> None:
    done = plyhouse("login", "--server", "http://127.0.0.1:9", "--token", given)
    assert done.code == 2
    assert f"plyhouse: The token has {fault}, so" in done.err
    assert given not in done.err


@pytest.mark.parametrize(
    "address",
    ["", "ftp://x", "http://x y", "http://[::1", "http://x:99999", "http://" + "a" * 70 + ".org"],
)
def test_impossible_address_is_refused(plyhouse: Plyhouse, config: Path, address: str) -> None:
    done = plyhouse("login", "--server", address, "--token", "ply_x")
    assert done.code == 2
    assert f"plyhouse: '{address}' is not the address of a server: write one like http" in done.err


def test_https_to_a_plain_server_names_the_plain_address(
    plyhouse: Plyhouse, server: Server, config: Path
) -> None:
    address = server.url.replace("http", "https", 1)
    done = plyhouse("login", "--server", address, "--token", "ply_x")
    assert done.code == 3
    assert f"{address} answers without TLS: write {server.url} " in done.err


def test_no_token_at_all_names_where_to_get_one(plyhouse: Plyhouse, config: Path) -> None:
    done = plyhouse("login")
    assert done.code == 2
    assert "plyhouse join CODE" in done.err
    assert not config.exists()


def test_options_and_variables_win_over_the_stored_login(
    plyhouse: Plyhouse, server: Server, config: Path
) -> None:
    secret = token(plyhouse, server, "ada")
    store_login(StoredLogin("http://127.0.0.1:9", "ply_old"))
    here = {"PLYHOUSE_SERVER": server.url, "PLYHOUSE_TOKEN": secret}
    assert plyhouse("bot", "status", env=here).code == 0
    assert plyhouse("bot", "status", "--server", server.url, "--token", secret).code == 0
    done = plyhouse("bot", "status")
    assert "http://127.0.0.1:9" in done.err


def test_stored_token_is_not_sent_to_another_server(
    plyhouse: Plyhouse, server: Server, config: Path
) -> None:
    secret = token(plyhouse, server, "ada")
    store_login(StoredLogin("http://127.0.0.1:9", secret))
    for command in (("bot", "status"), ("submission", "list"), ("submission", "logs")):
        done = plyhouse(*command, "--server", server.url)
        assert f"no token for {server.url}: the stored login is for http://127.0.0.1:9" in done.err
        assert f"plyhouse login --server {server.url}" in done.err
    store_login(StoredLogin(server.url, secret))
    spelt = server.url.removeprefix("http://")
    assert plyhouse("bot", "status", "--server", spelt).code == 0


def test_commands_that_need_no_server_ignore_the_stored_login(
    plyhouse: Plyhouse, config: Path
) -> None:
    store_login(StoredLogin("http://127.0.0.1:9", "ply_old"))
    assert json.loads(plyhouse("games", "--json").out)
    assert plyhouse("doctor").code == 0
