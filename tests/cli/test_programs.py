"""Programs in any language as bots of this machine: ``cmd:`` and folders with plyhouse.toml."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Plyhouse

from plyhouse.bots.loading import BotLoadError, check_spec

# Says what it hears, and plays the last legal action.
PROGRAM = """
import json, sys
log = open(sys.argv[1], "a") if len(sys.argv) > 1 else None
number = 0
def say(kind, **fields):
    global number
    number += 1
    print(json.dumps({"type": kind, "id": number, **fields}), flush=True)
def act(match, ply, observation):
    say("act", match=match, ply=ply, action=observation["legal"][-1], info={"text": "the last"})
say("hello", client="test", games=["nim", "kuhn_poker", "pig"])
for line in sys.stdin:
    heard = json.loads(line)
    if log:
        print(line.strip(), file=log, flush=True)
    if heard["type"] == "match" and heard["snapshot"]["status"] == "waiting":
        say("ready", match=heard["snapshot"]["match"], nonce="00" * 16)
    if heard["type"] == "turn":
        act(heard["match"], heard.get("ply", 0), heard["observation"])
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """An executable program in a folder with blanks."""
    place = tmp_path / "my bots" / "last.py"
    place.parent.mkdir()
    place.write_text(f"#!{sys.executable}\n{PROGRAM}")
    place.chmod(0o755)
    return place


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package of a program."""
    folder = tmp_path / "pack"
    folder.mkdir()
    (folder / "go").write_text(f"#!{sys.executable}\n{PROGRAM}")
    (folder / "go").chmod(0o755)
    (folder / "plyhouse.toml").write_text('[bot]\nrun = ["./go"]\ngames = ["nim", "pig"]\n')
    return folder


@pytest.mark.parametrize("game", ["nim", "kuhn_poker", "pig"])
def test_program_hears_and_says_what_a_hosted_one_does(
    program: Path, plyhouse: Plyhouse, tmp_path: Path, game: str
) -> None:
    heard = tmp_path / "heard"
    bot = f"cmd:'{program}' '{heard}'"
    done = plyhouse(
        "match", bot, "random", "--game", game, "--games", "2", "--jobs", "1", "--json",
        "--save", str(tmp_path / "records"),
    )  # fmt: skip
    assert done.code == 0, done.err
    assert json.loads(done.out)["games"] == 2
    records = [json.loads(line) for line in (tmp_path / "records").read_text().splitlines()]
    assert {each["outcome"]["termination"] for each in records} == {"normal"}
    messages = [json.loads(line) for line in heard.read_text().splitlines()]
    for record in records:
        number = record["match"]
        mine = [each for each in messages if _match_of(each) == number]
        kinds = [each["type"] for each in mine]
        assert kinds[:1] == ["match"]
        assert kinds[-1] == "finished"
        assert kinds.count("turn") - kinds.count("accepted") in (0, 1)
        # The events of all messages are the history, once and in order, up to its last turn.
        events = [event for each in mine for event in each.get("events", [])]
        plies = [event.get("ply", 0) for event in events if event.get("seat", 0) >= 0]
        assert plies == sorted(set(plies))
        assert all("legal" in each["observation"] for each in mine if each["type"] == "turn")
    assert [each["type"] for each in messages].count("welcome") >= len(records)


def _match_of(message: dict[str, Any]) -> str:
    return str(message.get("match") or message.get("snapshot", {}).get("match"))


def test_games_of_a_program_are_those_of_its_hello_or_its_package(
    program: Path, package: Path, plyhouse: Plyhouse
) -> None:
    done = plyhouse("match", str(package), "random", "--games", "2")
    assert (done.code, "nim, pig" in done.err) == (2, True), "it plays two games: name one"
    done = plyhouse("match", f"cmd:'{program}'", "random", "--games", "2")
    assert "nim, kuhn_poker, pig" in done.err


def test_package_of_a_program_is_checked_tested_and_asked(
    package: Path, plyhouse: Plyhouse, tmp_path: Path
) -> None:
    done = plyhouse("bot", "check", str(package), "--game", "nim")
    assert done.code == 0, done.out + done.err
    records = tmp_path / "records"
    done = plyhouse(
        "match", str(package), "random", "--game", "nim", "--sprt", "0,400", "--max-pairs", "2",
        "--jobs", "1",
    )  # fmt: skip
    assert done.code in (0, 1), done.err
    done = plyhouse(
        "match", "random", "random", "--game", "nim", "--games", "2", "--save", str(records)
    )
    record = tmp_path / "record.json"
    record.write_text(records.read_text().splitlines()[0])
    done = plyhouse("bot", "ask", str(package), "--match", str(record), "--ply", "1")
    assert done.code == 0, done.out + done.err
    assert "pack" in done.out or "plays" in done.out or done.out


def test_version_of_a_package_covers_all_its_files(package: Path) -> None:
    first = check_spec(str(package))
    (package / "weights.txt").write_text("1")
    assert check_spec(str(package)) != first
    assert check_spec(f"{package}/") == check_spec(str(package))


def test_package_of_a_python_bot_is_its_file(tmp_path: Path) -> None:
    (tmp_path / "deep.py").write_text("")
    (tmp_path / "plyhouse.toml").write_text('[bot]\nbot = "deep.py:Deep(depth=2)"\n')
    assert check_spec(str(tmp_path)) == f"{tmp_path}/deep.py:Deep(depth=2)"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("cmd:", "names no program"),
        ("cmd:'", "Check its quotes"),
        ("cmd:./no-such-program", "no program"),
        ("cmd:no-such-program-here", "on the PATH"),
        ("cmd:./plain.txt", "not executable: run chmod"),
    ],
)
def test_impossible_command_is_refused_with_the_fix(
    text: str, fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plain.txt").touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BotLoadError, match=fault):
        check_spec(text)


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("import sys; sys.exit(3)", "ended with"),
        ("print('no json')", "ended with"),
    ],
)
def test_program_that_says_no_hello_is_named(
    body: str, fault: str, tmp_path: Path, plyhouse: Plyhouse
) -> None:
    (tmp_path / "odd.py").write_text(body)
    done = plyhouse("match", f"cmd:{sys.executable} odd.py", "random", "--game", "nim")
    assert done.code == 2
    assert fault in done.err


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_hosted_example_plays_locally(plyhouse: Plyhouse) -> None:
    example = Path(__file__).resolve().parents[2] / "examples" / "hosted" / "javascript"
    done = plyhouse(
        "match", str(example), "random", "--game", "connect_four", "--games", "2", "--jobs", "1"
    )
    assert done.code == 0, done.err
    assert "javascript" in done.out


WRITER = (
    "from plyhouse.bots import Bot\nclass Mine(Bot):\n    games = ('nim',)\n"
    "    def choose(self, turn):\n        open('trace', 'w').close()\n"
    "        return turn.legal[0]\n"
)


def test_package_plays_in_the_sandbox_and_is_confined(plyhouse: Plyhouse, tmp_path: Path) -> None:
    folder = tmp_path / "pack"
    folder.mkdir()
    (folder / "mybot.py").write_text(WRITER)
    series = ("match", "pack", "random", "--game", "nim", "--games", "2", "--jobs", "1")
    done = plyhouse(*series)
    assert done.code == 0, done.err
    (tmp_path / "trace").unlink()
    done = plyhouse(*series, "--sandbox", traceback=True)
    assert done.code == 1, "it may not write there"
    assert "Permission denied" in done.err or "Read-only" in done.err
    assert not (tmp_path / "trace").exists()


@pytest.mark.parametrize("options", [(), ("--sandbox",)])
def test_program_may_begin_with_a_byte_order_mark(
    program: Path, plyhouse: Plyhouse, options: tuple[str, ...]
) -> None:
    text = program.read_text().replace('say("hello"', 'print("\\ufeff", end="")\nsay("hello"')
    program.write_text(text)
    series = ("match", f"cmd:'{program}'", "random", "--game", "nim", "--games", "2")
    done = plyhouse(*series, *options)
    assert done.code == 0, done.err


@pytest.mark.parametrize("options", [(), ("--sandbox",)])
def test_program_that_closes_its_output_is_told_so(
    program: Path, plyhouse: Plyhouse, options: tuple[str, ...]
) -> None:
    text = program.read_text().replace(
        '    if heard["type"] == "turn":',
        '    if heard["type"] == "turn":\n        import os, time; os.close(1); time.sleep(60)',
    )
    program.write_text(text)
    series = ("match", f"cmd:'{program}'", "random", "--game", "nim", "--games", "2")
    done = plyhouse(*series, "--time-control", "move:20", *options)
    assert done.code == 1
    assert "closed its standard output" in done.err
    assert "memory" not in done.err


# Plays, and says what it may not do.
NOSY = (
    PROGRAM
    + """
    for each in heard.get("matches", []):
        if each.get("your_turn"):
            act(each["match"], each.get("ply", 0), each["observation"])
    if heard["type"] == "match":
        for attempt in (lambda: open("trace", "w"), lambda: open("/etc/hostname")):
            try:
                attempt()
            except OSError as error:
                print("denied", type(error).__name__, file=sys.stderr, flush=True)
"""
)


@pytest.fixture
def nosy(tmp_path: Path) -> str:
    """A command that notes what a sandbox denies."""
    place = tmp_path / "nosy"
    place.write_text(f"#!{sys.executable}\n{NOSY}")
    place.chmod(0o755)
    return "cmd:./nosy"


def test_command_plays_in_the_sandbox_and_is_confined(plyhouse: Plyhouse, nosy: str) -> None:
    series = ("match", nosy, "random", "--game", "nim", "--games", "2", "--jobs", "1")
    done = plyhouse(*series, "--sandbox")
    assert done.code == 0, done.err
    assert "[nosy] denied PermissionError" in done.err
    done = plyhouse(*series)
    assert "denied" not in done.err


def test_command_is_checked_in_the_sandbox(plyhouse: Plyhouse, nosy: str) -> None:
    done = plyhouse("bot", "check", nosy, "--sandbox", "--game", "nim")
    assert done.code == 0, done.out + done.err
    assert "denied" in done.err


@pytest.mark.parametrize("kind", ["command", "package", "file"])
def test_bot_is_asked_in_the_sandbox(
    plyhouse: Plyhouse, tmp_path: Path, nosy: str, kind: str
) -> None:
    match kind:
        case "command":
            bot = nosy
        case "package":
            bot = "pack"
            (tmp_path / "pack").mkdir()
            shutil.move(tmp_path / "nosy", tmp_path / "pack")
            (tmp_path / "pack" / "plyhouse.toml").write_text(
                '[bot]\nrun = ["./nosy"]\ngames = ["nim"]\n'
            )
        case _:
            bot = "mybot.py"
            (tmp_path / bot).write_text(
                WRITER.replace("open(", "print('denied') if turn.ply < 0 else open(")
            )
    played = ("random", "random", "--game", "nim", "--games", "2", "--save", "records")
    assert plyhouse("match", *played).code == 0
    asked = ("bot", "ask", bot, "--record", "records", "--match", "1", "--ply", "1", "--sandbox")
    done = plyhouse(*asked)
    if kind == "file":
        assert (done.code, "PermissionError" in done.out + done.err) == (1, True)
    else:
        assert done.code == 0, done.out + done.err
        assert "denied PermissionError" in done.err
        assert "It chooses" in done.out


def test_program_is_measured_in_the_sandbox(plyhouse: Plyhouse, nosy: str) -> None:
    few = ("--positions", "2", "--pairs", "1", "--jobs", "1", "--time", "60", "--sandbox")
    done = plyhouse("yardstick", "tic_tac_toe", "--bot", nosy, *few)
    assert done.code == 0, done.err
    assert "best choices" in done.out
    assert "denied" in done.err


def test_game_of_a_file_is_played_in_the_sandbox(plyhouse: Plyhouse, tmp_path: Path) -> None:
    chomp = Path(__file__).resolve().parents[2] / "examples" / "chomp.py"
    (tmp_path / "games").mkdir()
    shutil.copy(chomp, tmp_path / "games")
    (tmp_path / "mybot.py").write_text(
        WRITER.replace("        open('trace', 'w').close()\n", "").replace("'nim'", "'chomp'")
    )
    for bot in ("mybot.py", "random"):
        series = (bot, "random", "--game", "games/chomp.py", "--games", "2", "--jobs", "1")
        done = plyhouse("match", *series, "--sandbox")
        assert done.code == 0, done.err


def test_check_names_the_programs_that_a_server_offers(
    plyhouse: Plyhouse, tmp_path: Path, nosy: str
) -> None:
    (tmp_path / "pack").mkdir()
    shutil.move(tmp_path / "nosy", tmp_path / "pack" / "bot.py")
    (tmp_path / "pack" / "plyhouse.toml").write_text(
        '[bot]\nrun = ["env", "python3", "bot.py"]\ngames = ["nim"]\n'
    )
    check = ("bot", "check", "pack", "--sandbox", "--game", "nim")
    done = plyhouse(*check)
    assert (done.code, "offers these programs: node" in done.err) == (2, True), done.err
    done = plyhouse(*check, "--programs", "java,env")
    assert "offers these" not in done.err
    assert "--programs" in plyhouse("bot", "check", "--help").out


def test_author_hears_of_a_line_that_is_no_message(program: Path, plyhouse: Plyhouse) -> None:
    noisy = program.read_text().replace(
        '    say("act"', "    print('thinking ...')\n    say(\"act\""
    )
    program.write_text(noisy)
    done = plyhouse("match", f"cmd:'{program}'", "random", "--game", "nim", "--games", "2")
    assert done.code == 0, done.err
    assert "wrote a line that is no message, 'thinking ...'" in done.err
    assert "everything else to standard error" in done.err
