"""Names of commands in version 0.1, which work for one more version."""

from __future__ import annotations

import click
import pytest
from tests.cli.conftest import Plyhouse

from plyhouse.clients.cli.main import RENAMED, cli, renamed


@pytest.mark.parametrize("words", RENAMED.values(), ids=" ".join)
def test_renamed_command_exists(words: tuple[str, ...]) -> None:
    command: click.Command = cli
    context = click.Context(cli)
    for word in words:
        assert isinstance(command, click.Group)
        found = command.get_command(context, word)
        assert found is not None, words
        command = found


@pytest.mark.parametrize("words", RENAMED, ids=" ".join)
def test_renamed_command_is_gone_from_the_tree(words: tuple[str, ...]) -> None:
    command: click.Command | None = cli
    for word in words:
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(cli), word)
        if command is None:
            return
    pytest.fail(f"{words} is still a command")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("new-bot x.py --game pig", "bot new x.py --game pig"),
        ("--debug player add alice", "--debug admin player add alice"),
        ("player token alice", "token create alice"),
        ("student codes", "code list"),
        ("competition dress-rehearsal Cup", "competition rehearse Cup"),
        ("db", "admin db"),
        ("submissions", "submission list"),
        ("submissions --bot mine", "submission list --bot mine"),
        ("submissions 3 --json", "submission show 3 --json"),
        ("submissions 3 --remove", "submission remove 3"),
        ("submissions --play 3 --server http://x", "submission open 3 --server http://x"),
        ("submissions 3 --no-play", "submission close 3"),
        ("output m1", "submission logs m1"),
        ("lobby --plain", "play --server --plain"),
        ("lobby --server http://x", "play --server http://x"),
    ],
)
def test_old_words_become_the_new_ones(old: str, new: str) -> None:
    words, notice = renamed(old.split())
    assert words == new.split()
    assert notice


@pytest.mark.parametrize("words", ["match random random", "games", "", "bot run x.py", "--help"])
def test_current_words_stay(words: str) -> None:
    assert renamed(words.split()) == (words.split(), "")


def test_an_old_name_prints_one_notice_on_stderr(plyhouse: Plyhouse) -> None:
    new = plyhouse("admin", "player", "list")
    old = plyhouse("player", "list")
    assert (old.code, old.out) == (new.code, new.out)
    notice, rest = old.err.split("\n", 1)
    assert notice == (
        "plyhouse: `plyhouse player list` is now `plyhouse admin player list`; "
        "the old name stops working in the next version."
    )
    assert rest == new.err
