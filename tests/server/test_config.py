"""Settings: what is accepted, and what the refusals say."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from tests.harness.log_lines import log_text

from plyhouse.server.config import ConfigError, ServerConfig, config_fields, read_settings


def test_every_setting_explains_itself_and_accepts_its_default() -> None:
    for field in config_fields():
        assert field.metadata["help"].endswith(".")
    assert ServerConfig() == ServerConfig(**dataclasses.asdict(ServerConfig()))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"port": 70000}, "port must be at most 65535, not 70000."),
        ({"port": "80"}, "port must be a whole number, not '80'."),
        ({"port": True}, "port must be a whole number, not True."),
        ({"registration": "maybe"}, "registration must be 'closed' or 'open', not 'maybe'."),
        ({"heartbeat": 0.0}, "heartbeat must be at least 0.05, not 0."),
        ({"heartbeat": float("nan")}, "heartbeat must be at least 0.05, not nan."),
        ({"allow_own_bots": 1}, "allow_own_bots must be true or false, not 1."),
        ({"heartbeat": 10}, "peer_timeout (9 s) must be longer than heartbeat (10 s)."),
    ],
)
def test_impossible_settings_say_what_is_possible(
    settings: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        ServerConfig(**settings)  # type: ignore[arg-type]
    assert str(caught.value) == message


def test_file_gives_settings_that_overrides_win_over(tmp_path: Path) -> None:
    path = tmp_path / "house.toml"
    path.write_text('host = "0.0.0.0"\n[server]\nport = 9000\nready_timeout = 5\n')
    config = ServerConfig.from_mapping({**read_settings(path), "port": 9001})
    assert (config.host, config.port, config.ready_timeout) == ("0.0.0.0", 9001, 5.0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("prot = 1", "no setting called 'prot'. Did you mean 'port'?"),
        ("xyzzy = 1", "no setting called 'xyzzy'."),
        ("port = ", "not valid TOML"),
        ("server = 1", "must be a table"),
        ('port = "x"', "port must be a whole number"),
    ],
)
def test_bad_files_are_refused_with_the_reason(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "house.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        ServerConfig.from_mapping(read_settings(path), str(path))
    assert words in str(caught.value)


def test_former_name_of_a_setting_is_read_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "house.toml"
    path.write_text("max_logins_per_address = 7\n")
    assert read_settings(path) == {"max_pending_logins_per_address": 7}
    assert "'max_logins_per_address' setting='max_pending_logins_per_address'" in log_text(caplog)


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"Cannot read .*absent\.toml"):
        read_settings(tmp_path / "absent.toml")
