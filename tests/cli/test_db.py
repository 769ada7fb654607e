"""``plyhouse admin db``: databases looked after from the command line."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from tests.cli.conftest import Plyhouse


def test_a_database_is_copied_backed_up_and_checked(plyhouse: Plyhouse, tmp_path: Path) -> None:
    plyhouse("admin", "player", "add", "alice")
    done = plyhouse("admin", "db", "copy", "sqlite:///plyhouse.db", "sqlite:///new.db")
    assert done.code == 0, done.err
    assert "Copied 2 rows of 2 tables" in done.err
    assert "alice" in plyhouse("admin", "player", "list", "--database", "sqlite:///new.db").out
    again = plyhouse("admin", "db", "copy", "sqlite:///plyhouse.db", "sqlite:///new.db")
    assert again.code == 2
    assert "copy into a new database" in again.err
    done = plyhouse("admin", "db", "backup", "saved.db")
    assert done.code == 0, done.err
    assert "alice" in plyhouse("admin", "player", "list", "--database", "sqlite:///saved.db").out
    assert plyhouse("admin", "db", "backup", "saved.db").code == 2
    assert plyhouse("admin", "db", "check", "--database", "sqlite:///saved.db").code == 0
    with sqlite3.connect(tmp_path / "saved.db") as connection:
        connection.execute("DELETE FROM players")
    connection.close()
    done = plyhouse("admin", "db", "check", "--database", "sqlite:///saved.db")
    assert done.code == 1
    assert "refers to nothing in players" in done.out
    done = plyhouse("admin", "db", "upgrade")
    assert done.code == 0
    assert "nothing to do" in done.err


def test_nothing_is_made_for_a_misspelt_name(plyhouse: Plyhouse, tmp_path: Path) -> None:
    for command in (("check",), ("upgrade",), ("backup", "b.db")):
        done = plyhouse("admin", "db", *command, "--database", "sqlite:///clbu.db")
        assert done.code == 3, done.err
        assert "there is no database clbu.db yet" in done.err
    assert plyhouse("admin", "db", "copy", "sqlite:///clbu.db", "sqlite:///b.db").code == 3
    assert not list(tmp_path.iterdir())
