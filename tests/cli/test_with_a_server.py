"""Commands that need a server: serve, bot run, leaderboard, record, verify, doctor, demo."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.cli.conftest import Plyhouse, clean_environment, command, forked_command
from tests.harness.command_line_server import Server, start, stop, token
from tests.harness.patience import PATIENCE
from tests.harness.processes import processes_with

from plyhouse.clients.cli.demo import free_title
from plyhouse.clients.cli.serve import _log_origins
from plyhouse.server.config import ServerConfig


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    started = start(tmp_path, "--database", "sqlite:///club.db")
    try:
        yield started
    finally:
        if started.process.poll() is None:
            stop(started)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all tests that leave in it nothing that another one would see."""
    started = start(tmp_path_factory.mktemp("shared"), "--database", "sqlite:///club.db")
    try:
        yield started
    finally:
        stop(started)


# ------------------------------------------------------------------------------- serve


def test_a_server_says_where_it_is_has_its_database_alone_and_stops_on_ctrl_c(
    tmp_path: Path, plyhouse: Plyhouse
) -> None:
    server = start(tmp_path, "--database", "sqlite:///club.db", program=command())
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+", server.url)
    second = plyhouse("serve", "--port", "0", "--database", "sqlite:///club.db")
    assert second.code == 3
    assert second.err == (
        f"plyhouse: another Plyhouse server (process {server.process.pid}) uses the database "
        "club.db; stop it or choose another database\n"
    )
    assert token(plyhouse, server, "anna").startswith("ply_"), "commands may use it beside"
    assert stop(server) == 0


def test_a_bot_that_is_connected_already_is_told_the_options_that_help(
    shared: Server, plyhouse: Plyhouse
) -> None:
    anna = token(plyhouse, shared, "anna")
    run = ("bot", "run", "random", "--server", shared.url, "--token", anna)
    with subprocess.Popen(
        [*forked_command(), *run], env=clean_environment(None), stderr=subprocess.PIPE, text=True
    ) as first:
        assert first.stderr is not None
        assert "connected to" in first.stderr.readline()
        again = plyhouse(*run)
        first.send_signal(signal.SIGINT)
        first.communicate(timeout=100)
    assert again.code == 4
    assert "is connected already, since" in again.err
    assert "--name" in again.err
    assert "--takeover" in again.err
    assert "hello" not in again.err


def test_serve_help_says_the_defaults(plyhouse: Plyhouse) -> None:
    done = plyhouse("serve", "--help")
    assert done.code == 0
    for default in ("[default: 127.0.0.1]", "[default: 8765]", "[default: sqlite:///plyhouse.db]"):
        assert default in re.sub(r"\s+", " ", done.out)


def test_option_wins_over_environment_over_file(tmp_path: Path, plyhouse: Plyhouse) -> None:
    (tmp_path / "club.toml").write_text(
        'database = "sqlite:///from_file.db"\nregistration = "open"\nmax_connections = 0\n'
    )
    # max_connections = 0 is refused, so the error shows that the file is read ...
    done = plyhouse("serve", "--config", "club.toml")
    assert done.code == 2
    assert "max_connections" in done.err
    # The environment corrects that setting, and an option names the database.
    env = {"PLYHOUSE_MAX_CONNECTIONS": "5", "PLYHOUSE_DATABASE": "sqlite:///from_env.db"}
    options = ("--config", "club.toml", "--database", "sqlite:///from_option.db")
    started = start(tmp_path, *options, env=env)
    try:
        assert (tmp_path / "from_option.db").exists()
        assert not (tmp_path / "from_env.db").exists()
        assert not (tmp_path / "from_file.db").exists()
    finally:
        started.process.send_signal(signal.SIGINT)
        said = started.process.communicate(timeout=100)[1]
    # The log says where each came from, and what was replaced.
    assert f"the database {tmp_path / 'from_option.db'} is used (--database)" in said
    assert "--database replaces database = 'sqlite:///from_file.db' of the file" in said
    assert "PLYHOUSE_MAX_CONNECTIONS replaces max_connections = 0 of the file by 5" in said
    assert "registration='open (club.toml)'" in said
    assert "registration replaces" not in said


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("portt = 1\n", "port"),
        ("port = 'many'\n", "whole number"),
        ("port = \n", "TOML"),
        (None, "club.toml"),
    ],
)
def test_a_file_of_settings_that_cannot_be(
    plyhouse: Plyhouse, tmp_path: Path, content: str | None, message: str
) -> None:
    if content is not None:
        (tmp_path / "club.toml").write_text(content)
    done = plyhouse("serve", "--config", "club.toml")
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1


def test_a_port_in_use(plyhouse: Plyhouse) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = plyhouse("serve", "--port", port)
    assert done.code == 3
    assert f"Port {port}" in done.err
    assert "--port" in done.err
    assert done.err.count("\n") == 1


def test_a_database_that_cannot_be_used(plyhouse: Plyhouse, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("milk, eggs\n" * 100)
    for url in ("sqlite:///notes.txt", "sqlite:///no/such/folder/x.db"):
        done = plyhouse("serve", "--port", "0", "--database", url)
        assert done.code == 3
        assert done.err.count("\n") == 1


# ------------------------------------------------------------- bots, tables and records


def test_two_bots_find_each_other_and_become_a_leaderboard(
    plyhouse: Plyhouse, shared: Server, tmp_path: Path
) -> None:
    seek = ("--server", shared.url, "--game", "pig(target=20)", "--seek", "--rated")
    env = {"PLYHOUSE_TOKEN": token(plyhouse, shared, "alice")}
    waiting = subprocess.Popen(
        [*forked_command(), "bot", "run", "random", *seek, "--matches", "2"],
        cwd=tmp_path,
        env=clean_environment(env),
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        bob = token(plyhouse, shared, "bob")
        done = plyhouse("bot", "run", "random", *seek, "--matches", "2", "--token", bob)
        err = waiting.communicate(timeout=PATIENCE)[1]
    finally:
        waiting.kill()
    assert (done.code, waiting.returncode) == (0, 0), done.err + err
    assert "2 matches:" in done.err
    assert "seeking pig(target=20), move:1, rated: 2 matches" in done.err
    matches = re.findall(
        rf"^match (\w+): pig.* against alice/random: {shared.url}/matches/\1$", done.err, re.M
    )
    assert len(set(matches)) == 2, done.err
    for each in matches:
        assert re.search(rf"^match {each}: (won|lost) [+−]1 after \d+ pl(y|ies): ", done.err, re.M)

    shown = plyhouse("leaderboard", "pig(target=20)", "--server", shared.url)
    assert shown.code == 0, shown.err
    assert {"alice", "bob"} <= set(shown.out.split())
    board = json.loads(
        plyhouse("leaderboard", "pig(target=20)", "--server", shared.url, "--json").out
    )
    assert [line["games"] for line in board["standings"]] == [2, 2]

    match = re.search(r"match (\w+):", done.err)
    assert match is not None
    assert plyhouse("record", match[1], "-o", "one.json", "--server", shared.url).code == 0
    verified = plyhouse("verify", "one.json", "--verbose")
    assert verified.code == 0, verified.out
    assert "chance" in verified.out
    text = (tmp_path / "one.json").read_text()
    (tmp_path / "false.json").write_text(text.replace('"text": "roll"', '"text": "hold"', 1))
    falsified = plyhouse("verify", "false.json")
    assert falsified.code == 1
    assert "1 of 1 records do not hold" in falsified.out


@pytest.fixture
def export(shared: Server, plyhouse: Plyhouse, tmp_path: Path) -> tuple[str, ...]:
    """The beginning of a command that exports the match of two new players."""
    seek = ("--server", shared.url, "--game", "nim", "--seek", "--matches", "1")
    names = [f"{each}-{tmp_path.name[-12:].strip('_')}" for each in ("gina", "hugo")]
    gina, hugo = [token(plyhouse, shared, each) for each in names]
    with subprocess.Popen(
        [*forked_command(), "bot", "run", "random", *seek],
        env=clean_environment({"PLYHOUSE_TOKEN": gina}),
        stderr=subprocess.DEVNULL,
    ) as waiting:
        assert plyhouse("bot", "run", "random", *seek, "--token", hugo).code == 0
        waiting.communicate(timeout=PATIENCE)
    return "export", "--server", shared.url, "--game", "nim", "--bot", f"{names[1]}/random"


def test_matches_are_exported_as_json_lines(
    export: tuple[str, ...], plyhouse: Plyhouse, tmp_path: Path
) -> None:
    done = plyhouse(*export, "--since", "2020-01-01", "--to", "data")
    assert done.code == 0, done.err
    (match,) = _lines(tmp_path / "data" / "matches.jsonl")
    plies = _lines(tmp_path / "data" / "plies.jsonl")
    assert match["ply"] == len(plies) > 0
    assert {each["match"] for each in plies} == {match["match"]}
    wrote = f"Wrote data/matches.jsonl (1 row) and data/plies.jsonl ({len(plies)} rows).\n"
    assert done.err == wrote
    assert plyhouse(*export, "--until", "2020-01-02", "--to", "none").code == 0
    assert (tmp_path / "none" / "plies.jsonl").read_bytes() == b""
    assert plyhouse(*export, "--competition", "nope", "--to", "nope").code == 2
    assert list((tmp_path / "nope").iterdir()) == []


def test_matches_are_exported_as_parquet(
    export: tuple[str, ...], plyhouse: Plyhouse, tmp_path: Path
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    assert plyhouse(*export).code == 0
    plies = _lines(tmp_path / "plies.jsonl")
    done = plyhouse(*export, "--format", "parquet")
    assert done.code == 0, done.err
    assert parquet.read_table(tmp_path / "plies.parquet").to_pylist() == plies
    assert parquet.read_table(tmp_path / "matches.parquet").num_rows == 1


def _lines(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_the_author_of_a_crashed_bot_and_nobody_else_is_told_its_traceback(
    plyhouse: Plyhouse, shared: Server, tmp_path: Path
) -> None:
    (tmp_path / "broken.py").write_text(
        "from plyhouse.bots import Bot\n\n\nclass Broken(Bot):\n"
        "    def choose(self, turn):\n        return 1 / 0\n"
    )
    seek = ("--server", shared.url, "--game", "pig(target=100)", "--seek", "--matches", "1")
    dora, emil = token(plyhouse, shared, "dora"), token(plyhouse, shared, "emil")
    with subprocess.Popen(
        [*forked_command(), "bot", "run", "random", *seek],
        cwd=tmp_path,
        env=clean_environment({"PLYHOUSE_TOKEN": emil}),
        stderr=subprocess.PIPE,
        text=True,
    ) as waiting:
        done = plyhouse("bot", "run", "broken.py", *seek, "--token", dora, traceback=True)
        assert done.code == 1, done.err
        waiting.communicate(timeout=PATIENCE)
    match = re.search(r"match (\w+): pig", done.err)
    assert match is not None
    why = ("record", match[1], "--why", "--server", shared.url)
    told = plyhouse(*why, "--token", dora)
    assert told.code == 0, told.err
    assert re.match(
        rf"Match {match[1]} ended after \d+ pl(y|ies): bot crash by dora/broken\.", told.out
    )
    assert "return 1 / 0" in told.out
    assert "ZeroDivisionError" in told.out
    for more in (("--token", emil), ()):
        told = plyhouse(*why, *more)
        assert told.code == 0, told.err
        assert "bot crash" in told.out
        assert "ZeroDivisionError" not in told.out + told.err
    assert "give its token" in told.err
    voided = plyhouse(
        "admin", "void", match[1], "--why", "wrong rules", "--database", shared.database
    )
    assert voided.code == 0, voided.err
    assert match[1] in plyhouse("admin", "audit", "--database", shared.database).out
    record = ("record", match[1], "--server", shared.url)
    assert '"void_reason": "wrong rules"' in plyhouse(*record).out
    assert "wrong rules" in plyhouse(*record, "--why").out


def test_a_wrong_token_is_refused(plyhouse: Plyhouse, shared: Server) -> None:
    run = ("bot", "run", "random", "--server", shared.url, "--game", "pig")
    done = plyhouse(*run, "--token", "ply_wrong")
    assert done.code == 4
    assert f"The server at {shared.url} does not know this token." in done.err
    done = plyhouse(*run)
    assert done.code == 4
    assert "plyhouse admin player add" in done.err
    database = ("--database", shared.database)
    revoked = plyhouse("admin", "player", "add", "carol", *database).out.strip()
    assert plyhouse("token", "revoke", revoked[:12], *database).code == 0
    assert plyhouse(*run, "--token", revoked).code == 4


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("missing.py",), 2, "no file missing.py"),
        (("random", "--game", "pgi", "--seek"), 2, "did you mean pig?"),
        (("random", "--seek"), 2, "--game"),
        (("random", "--server", "::::"), 2, "http://127.0.0.1:8765"),
        (("random", "--game", "pig", "--seek", "--time-control", "blitz"), 2, "move:1"),
    ],
)
def test_bots_that_cannot_run(
    plyhouse: Plyhouse, arguments: tuple[str, ...], code: int, message: str
) -> None:
    done = plyhouse("bot", "run", *arguments, "--token", "ply_x")
    assert done.code == code, done.err
    assert message in done.err.splitlines()[-1]


@pytest.mark.parametrize(
    "arguments",
    [
        ("leaderboard", "pig", "--server"),
        ("record", "0abc", "--server"),
        ("doctor", "--server"),
    ],
)
def test_nobody_answers_there(plyhouse: Plyhouse, arguments: tuple[str, ...]) -> None:
    done = plyhouse(*arguments, "http://127.0.0.1:9")
    assert done.code == 3
    assert "http://127.0.0.1:9" in done.err + done.out


def test_matches_and_records_that_are_not_there(
    plyhouse: Plyhouse, shared: Server, tmp_path: Path
) -> None:
    assert plyhouse("record", "nope", "--server", shared.url).code == 2
    done = plyhouse("verify", "nope")
    assert done.code == 2
    assert "There is no file nope." in done.err
    for way in ("plyhouse record MATCH -o FILE", "its id of 14", "plyhouse match --save FILE"):
        assert way in done.err
    done = plyhouse("verify", "1m84x2ezvvvrrc")
    assert done.code == 2
    assert "plyhouse record 1m84x2ezvvvrrc -o 1m84x2ezvvvrrc.json" in done.err
    (tmp_path / "no.json").write_text("{}")
    done = plyhouse("verify", "no.json")
    assert done.code == 1
    assert "not a record" in done.err
    assert done.err.count("\n") == 1


def test_an_empty_leaderboard_says_so(plyhouse: Plyhouse, shared: Server) -> None:
    done = plyhouse("leaderboard", "pig", "--server", shared.url)
    assert (done.code, done.out) == (0, "")
    assert "No rated matches" in done.err


# ------------------------------------------------------------------------ doctor, demo


def test_doctor_says_what_works(plyhouse: Plyhouse, shared: Server) -> None:
    done = plyhouse("doctor", "--server", shared.url, "--database", shared.database)
    assert done.code == 0, done.out
    for title in ("Plyhouse", "Python", "Searches", "Packages", "Database", "Server"):
        assert re.search(rf"^{title} ", done.out, re.M), title
    assert done.out.count(": works") == 2


def test_doctor_makes_no_database(plyhouse: Plyhouse, tmp_path: Path) -> None:
    done = plyhouse("doctor")
    assert done.code == 0
    assert "not there yet" in done.out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc to see processes")
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_demo_leaves_no_process(tmp_path: Path, sign: signal.Signals) -> None:
    place = tmp_path / "temporary"
    place.mkdir()
    demo = subprocess.Popen(
        [*forked_command(), "demo"],
        cwd=tmp_path,
        env=clean_environment({"TMPDIR": str(place)}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert demo.stdout is not None
    while not demo.stdout.readline().startswith("Bots"):
        assert demo.poll() is None
    assert len(processes_with("TMPDIR", place)) >= 11, "itself, a server and the bots"
    os.kill(demo.pid, sign)
    _, err = demo.communicate(timeout=100)
    assert demo.returncode == 130
    assert "Traceback" not in err
    deadline = time.monotonic() + 60
    while processes_with("TMPDIR", place) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert processes_with("TMPDIR", place) == []


def test_the_demo_prints_five_leaderboards(plyhouse: Plyhouse, tmp_path: Path) -> None:
    done = plyhouse("demo")
    assert done.code == 0, done.err
    for game in ("tic_tac_toe", "connect_four", "pig", "coin_guess", "kuhn_poker"):
        assert re.search(rf"^{game}$", done.out, re.M), done.out
    assert str(tmp_path / "plyhouse-demo.db") in done.out
    assert "verified" in done.out
    with contextlib.closing(sqlite3.connect(tmp_path / "plyhouse-demo.db")) as database:
        names = [name for (name,) in database.execute("SELECT name FROM competitions")]
    assert free_title(names) == "Demo 2", "a second demo on this database needs other names"
    # What it says to do next works.
    serve, *others = re.findall(r"^  plyhouse (.*)$", done.out, re.M)
    assert "open http://127.0.0.1:8765/ in a browser" in done.out
    server = start(tmp_path, *serve.split()[1:])
    try:
        boards = httpx.get(f"{server.url}/api/v1/leaderboards/pig").json()
        assert boards["standings"]
    finally:
        stop(server)
    assert others[0] == "play connect_four --against medium"
    for each in others[1:]:
        assert plyhouse(*each.split()).code == 0, each


def test_a_demo_that_is_kept_names_an_address_that_answers(tmp_path: Path) -> None:
    demo = subprocess.Popen(
        [*forked_command(), "demo", "--keep"],
        cwd=tmp_path,
        env=clean_environment(None),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert demo.stdout is not None
    line = ""
    while not line.startswith("Open http"):
        line = demo.stdout.readline()
        assert demo.poll() is None
    try:
        found = re.match(r"Open (\S+) in a browser: .* Play at (\S+)\.$", line)
        assert found is not None, line
        for address in found.groups():
            assert httpx.get(address).status_code == 200
        while "bot run mybot.py --server" not in line:
            line = demo.stdout.readline()
            assert demo.poll() is None
    finally:
        demo.send_signal(signal.SIGINT)
        _, err = demo.communicate(timeout=100)
    assert demo.returncode == 0, err


def test_a_demo_that_cannot_store_anything(plyhouse: Plyhouse) -> None:
    done = plyhouse("demo", "--database", "sqlite:///no/such/folder/x.db")
    assert done.code == 3
    assert done.err.count("\n") == 1


def test_workers_on_sqlite_are_refused_before_they_start(plyhouse: Plyhouse) -> None:
    done = plyhouse("serve", "--workers", "2", "--port", "0")
    assert done.code == 3
    assert done.err.startswith("plyhouse: --workers 2 needs PostgreSQL")
    assert "worker 1" not in done.err


def test_passwords_of_settings_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    config = ServerConfig.from_mapping(
        {"database": "postgresql://ann:s3cret@db/x", "cluster": "nats://ann:s3cret@a,nats://b:t@c"}
    )
    with caplog.at_level("INFO", "plyhouse.server"):
        _log_origins(
            config,
            dict.fromkeys(("database", "cluster"), "x.toml"),
            {"cluster": "nats://ann:s3cret@b"},
        )
    said = [[record.getMessage(), str(vars(record))] for record in caplog.records]
    assert len(said) == 3
    assert "s3cret" not in str(said)
    assert ":t@" not in str(said)
    assert "nats://***@a,nats://***@c" in str(said)
