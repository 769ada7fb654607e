"""Organisers at the command line: who is shut out, what is void, and the log of it."""

from __future__ import annotations

import json

import pytest
from tests.cli.conftest import Plyhouse


def test_a_player_is_disabled_and_enabled_and_the_log_says_why(plyhouse: Plyhouse) -> None:
    plyhouse("admin", "player", "add", "alice")
    done = plyhouse("admin", "player", "disable", "ALICE", "--why", "cheated")
    assert done.code == 0, done.err
    assert "Disabled alice" in done.err
    assert "disabled" in plyhouse("admin", "player", "list").out
    assert plyhouse("admin", "player", "enable", "alice", "--why", "a mistake").code == 0
    assert "disabled" not in plyhouse("admin", "player", "list").out
    entries = json.loads(plyhouse("admin", "audit", "--json").out)
    assert [(each["what"], each["why"]) for each in entries] == [
        ("player.enable", "a mistake"),
        ("player.disable", "cheated"),
    ]
    assert entries[0]["who"].endswith("(command line)")
    shown = plyhouse("admin", "audit").out
    assert "cheated" in shown
    assert "player.disable" in shown


@pytest.mark.parametrize(
    "command",
    [
        ("player", "disable", "alice"),
        ("bot", "disable", "alice/x"),
        ("void", "m"),
    ],
)
def test_a_reason_has_to_be_given(plyhouse: Plyhouse, command: tuple[str, ...]) -> None:
    done = plyhouse("admin", *command)
    assert done.code == 2
    assert "--why" in done.err


def test_a_player_is_renamed_and_shown_by_another_name(plyhouse: Plyhouse) -> None:
    plyhouse("admin", "player", "add", "alice")
    assert plyhouse("admin", "player", "rename", "alice", "countess").code == 0
    assert plyhouse("admin", "player", "display", "countess", "Zoe\u0308 Müller").code == 0
    shown = plyhouse("admin", "player", "list").out
    assert "countess" in shown
    assert "Zoë Müller" in shown
    done = plyhouse("admin", "player", "display", "countess", "\u202enimda")
    assert done.code == 2
    assert "right-to-left override" in done.err
    assert done.err.count("\n") == 1


def test_a_revoked_token_is_in_the_log(plyhouse: Plyhouse) -> None:
    token = plyhouse("admin", "player", "add", "alice").out.strip()
    assert plyhouse("token", "revoke", token[:12], "--why", "leaked").code == 0
    (entry,) = json.loads(plyhouse("admin", "audit", "--json").out)
    assert (entry["what"], entry["why"]) == ("token.revoke", "leaked")
    assert token not in json.dumps(entry)


def test_an_unknown_bot_and_an_unknown_match(plyhouse: Plyhouse) -> None:
    plyhouse("admin", "player", "add", "alice")
    done = plyhouse("admin", "bot", "disable", "alice/deep", "--why", "x")
    assert done.code == 2
    assert "no bot alice/deep; bots of alice: none yet" in done.err
    done = plyhouse("admin", "void", "nothing", "--why", "x")
    assert done.code == 2
    assert "no match 'nothing'" in done.err
