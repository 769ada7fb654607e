"""Competitions at the command line: files written and checked, students, and what is refused."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.cli.conftest import Done, Plyhouse
from tests.harness.command_line_server import Server, start, stop, token

from plyhouse.clients.cli import competition_status

CUP = 'name = "Cup"\ngames = ["tic_tac_toe"]\ntime_control = "move:1"\n'


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    started = start(tmp_path, "--database", "sqlite:///club.db")
    try:
        yield started
    finally:
        stop(started)


def test_a_new_file_is_valid_and_never_overwrites(plyhouse: Plyhouse, tmp_path: Path) -> None:
    done = plyhouse("competition", "new", "Größe 2", "--game", "pig(target=50)")
    assert done.code == 0, done.err
    assert "Wrote grosse-2.toml" in done.err
    done = plyhouse("competition", "check", "grosse-2.toml", "--entries", "10", "--cores", "2")
    assert done.code == 0, done.err
    assert "Together 1,080 matches" in done.out
    assert "meets each graded baseline until the grade is certain" in done.err
    assert "pig(target=50) is scored by wins" in done.err
    assert "at random" in done.out
    text = (tmp_path / "grosse-2.toml").read_text()
    assert text.count("# ") > 20
    for key in ("[hosting]", "required", "reference", "twin_of"):
        assert f"\n# {key}" in text, "every table and key is named"
    assert "With 2 matches at a time, on 2 cores" in done.out
    assert re.search(r"at most [\d.]+ core-hours of thinking", done.out)
    assert re.search(r"thinking takes at most .* (min|h)\.", done.out)
    assert "typically" not in done.out, "nobody has measured a final"
    assert "check with --server" in done.err
    before = (tmp_path / "grosse-2.toml").read_text()
    done = plyhouse("competition", "new", "Größe 2")
    assert done.code == 2
    assert "there already" in done.err
    assert (tmp_path / "grosse-2.toml").read_text() == before


def test_check_counts_bots_and_sides_of_teams(plyhouse: Plyhouse, tmp_path: Path) -> None:
    text = CUP.replace("tic_tac_toe", "bridge(boards=1)") + "teams = true\n"
    (tmp_path / "cup.toml").write_text(text, encoding="utf-8")
    done = plyhouse("competition", "check", "cup.toml", "--entries", "9")
    assert done.code == 0, done.err
    assert "Cost with 9 bots (4 sides), baselines included" in done.out
    assert "Together 12 matches" in done.out
    done = plyhouse("competition", "check", "cup.toml", "--entries", "3")
    assert done.code == 2
    assert "With 3 bots (1 side): at least 2 sides must play, so take 4 bots or more." in done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("a/b/",), "cannot name a competition"),
        (("Cup", "--game", "pgi"), "did you mean pig?"),
        (("Cup", "--time-control", "blitz"), "move:SECONDS"),
    ],
)
def test_no_file_is_written_that_would_not_be_valid(
    plyhouse: Plyhouse, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    done = plyhouse("competition", "new", *arguments)
    assert done.code == 2
    assert said in done.err
    assert list(tmp_path.iterdir()) == []


def test_waiting_for_a_final_notes_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(competition_status, "POLL", 0.0)
    monkeypatch.setattr(competition_status, "NEWS", 0.0)

    def games(*waits: tuple[str, str]) -> list[SimpleNamespace]:
        waiting = [each for each, _ in waits]
        absent = [each for _, each in waits]
        return [
            SimpleNamespace(
                game="pig", finished=3, planned=1000, waiting_for=waiting, absent=absent
            ),
            SimpleNamespace(game="go", finished=1, planned=200, waiting_for=[], absent=[]),
        ]

    away = "a/b is not connected."
    queue = "s{} waits for its check. {} checks are before it."
    answers: list[Any] = [
        SimpleNamespace(status="running", progress=games((away, "a/b: 1 minute")), checks=[]),
        SimpleNamespace(
            status="running",
            progress=games((away, "a/b: 2 minute")),
            checks=[queue.format(1, 2), queue.format(2, 3)],
        ),
        SimpleNamespace(
            status="running", progress=games((away, "a/b: 2 minute")), checks=[queue.format(2, 2)]
        ),
        SimpleNamespace(status="finished", progress=games(), final_ms=None),
    ]
    assert competition_status.until_over(lambda: answers.pop(0)).status == "finished"
    assert capsys.readouterr().err.splitlines() == [
        f"pig: {away}",
        "pig: a/b: 1 minute",
        "4 of 1200 matches played.",
        queue.format(1, 2),
        queue.format(2, 3),
        "4 of 1200 matches played.",
        "4 of 1200 matches played.",
    ]


def test_status_leaves_the_reasons_to_the_notes_of_the_board() -> None:
    gone = "a/b was withdrawn from pig: away for 30 minutes."
    game = SimpleNamespace(game="pig", waiting_for=["c/d is not connected."], absent=[gone])
    view: Any = SimpleNamespace(progress=[game])
    assert competition_status.game_notes(view) == ["pig: c/d is not connected.", f"pig: {gone}"]
    assert competition_status.game_notes(view, [gone]) == ["pig: c/d is not connected."]


def test_waiting_for_a_dated_final_says_why_it_does_not_begin(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(competition_status, "POLL", 0.0)

    def view(status: str, **more: Any) -> SimpleNamespace:
        facts: dict[str, Any] = {"name": "Cup", "final_ms": 0, "progress": [], "checks": []}
        facts["zone"] = "Asia/Tokyo"
        facts |= {"note": "", "warnings": ["It waits for an extension."]}
        return SimpleNamespace(status=status, **(facts | more))

    check = "a/b waits for its check. Runner lab1 is checking it, for {} min so far."
    answers: list[Any] = [
        view("frozen"),
        view("frozen", checks=[check.format(0)]),
        view("frozen", checks=[check.format(1)], note="a/b is not checked yet"),
        view("running"),
        view("finished"),
    ]
    assert competition_status.until_over(lambda: answers.pop(0)).status == "finished"
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "Cup is frozen: its final is to begin 1970-01-01 09:00 Asia/Tokyo."
    assert said[1:] == [
        "It waits for an extension.",
        check.format(0),
        "Not yet: a/b is not checked yet.",
    ]


@pytest.mark.parametrize("name", ["", "../../etc", "/a"])
@pytest.mark.parametrize("words", [("code", "list", "--competition"), ("competition", "file")])
def test_impossible_name_of_a_competition_is_refused_without_a_request(
    plyhouse: Plyhouse, words: tuple[str, ...], name: str
) -> None:
    done = plyhouse(*words, name, "--server", "http://127.0.0.1:9", "--token", "ply_x")
    assert done.code == 2
    missing = "Missing argument 'NAME'" if words[0] == "competition" and not name else ""
    assert (missing or f"'{name}' names no competition: see plyhouse competition list") in done.err


def test_check_tells_every_mistake_with_its_code(plyhouse: Plyhouse, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text('name = "Cup"\ngame = ["pig"]\ntime_control = "x"\n')
    done = plyhouse("competition", "check", "bad.toml")
    assert done.code == 2
    for each in ("missing_key", "unknown_key", "bad_value"):
        assert f"[competition/{each}]" in done.err
    (tmp_path / "latin.toml").write_bytes('name = "Größe"'.encode("latin-1"))
    done = plyhouse("competition", "check", "latin.toml")
    assert done.code == 2
    assert "not in UTF-8 (line 1): save it as UTF-8" in done.err
    (tmp_path / "swiss.toml").write_text(CUP + '[format]\nname = "swiss"\n')
    done = plyhouse("competition", "check", "swiss.toml")
    assert done.code == 0
    assert "1,600" in done.out, "eight rounds of a hundred pairings, mirrored"


def test_check_with_a_stored_login_and_no_server_checks_the_file_alone(
    plyhouse: Plyhouse, tmp_path: Path
) -> None:
    login = tmp_path / "config" / "plyhouse" / "login.json"
    login.parent.mkdir(parents=True)
    login.write_text('{"server": "http://127.0.0.1:9", "token": "ply_x"}')
    login.chmod(0o600)
    env = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    (tmp_path / "cup.toml").write_text(CUP)
    done = plyhouse("competition", "check", "cup.toml", "--entries", "10", env=env)
    assert done.code == 0, done.err
    assert "http://127.0.0.1:9" in done.err
    assert "could not be asked, so the file is checked here alone" in done.err
    assert "cup.toml is valid" in done.err
    assert "Cost with 10 entries" in done.out
    (tmp_path / "bad.toml").write_text('name = "Cup"\n')
    assert plyhouse("competition", "check", "bad.toml", env=env).code == 2
    asked = ("--server", "http://127.0.0.1:9")
    done = plyhouse("competition", "check", "cup.toml", *asked, env=env)
    assert done.code == 3, "a server named on the command line must answer"


def test_without_a_token_or_a_server_it_says_what_to_do(plyhouse: Plyhouse) -> None:
    done = plyhouse("competition", "freeze", "Cup")
    assert done.code == 4
    assert "PLYHOUSE_TOKEN" in done.err
    done = plyhouse("competition", "freeze", "Cup", "--server", "127.0.0.1:9", "--token", "ply_x")
    assert done.code == 3
    assert plyhouse("competition", "open", "none.toml", "--token", "x").code == 2


def test_a_class_at_the_command_line(server: Server, plyhouse: Plyhouse, tmp_path: Path) -> None:
    env = {
        "PLYHOUSE_SERVER": server.url,
        "PLYHOUSE_TOKEN": token(plyhouse, server, "olga", "--scope", "play", "--scope", "organise"),
        "PLYHOUSE_COMPETITION": "Cup",
    }

    def do(*arguments: str, code: int = 0) -> Done:
        done = plyhouse(*arguments, env=env)
        assert done.code == code, done.err
        return done

    (tmp_path / "cup.toml").write_text(CUP)
    do("competition", "open", "cup.toml")
    listed = do("competition", "list").out
    assert re.search(
        r"^id +name +games +status\n[0-9a-z]{8,} +Cup +tic_tac_toe +open$", listed, re.M
    )
    (tmp_path / "bad.csv").write_text("name,email\nada,\n,\nbob,nowhere\nada,\n")
    said = do("student", "import", "bad.csv", "-o", "tokens.csv", code=2).err
    assert "line 4" in said
    assert "line 5" in said
    assert not (tmp_path / "tokens.csv").exists(), "nothing half-done"
    assert "No students" in do("student", "list").err
    (tmp_path / "list.csv").write_text("name,group\nada,\nbob,crew\ncy,crew\n")
    do("student", "import", "list.csv", "-o", "tokens.csv")
    sheet = tmp_path / "tokens.csv"
    assert stat.S_IMODE(sheet.stat().st_mode) == 0o600
    assert len(sheet.read_text().splitlines()) == 4
    said = do("student", "import", "list.csv", "-o", "tokens.csv", code=2).err
    assert "exists already" in said
    assert "3 there already" in do("student", "import", "list.csv").err
    (tmp_path / "canvas.csv").write_text('Student,ID\nada,901\n"Student, Test",904\n')
    said = do("student", "import", "canvas.csv").err
    assert "1 there already" in said
    assert "Left out, as the export does not have them as students: Test Student." in said
    (tmp_path / "odd.csv").write_text("name\n=cmd()|'/C calc'!A0\n")
    made = do("student", "import", "odd.csv").out.splitlines()
    assert made[1].startswith("'=cmd()|'/C calc'!A0,cmd-C-calc-A0,ply_"), "no formula for anybody"
    do("student", "withdraw", "cmd-C-calc-A0", "--why", "a test")
    (tmp_path / "more.csv").write_text("name,group\ndan,crew\neva,\n")
    do("student", "import", "more.csv", "--folder", "sheets")
    files = sorted(each.name for each in (tmp_path / "sheets").iterdir())
    assert files == ["crew.dan.txt", "eva.txt"]
    assert "PLYHOUSE_TOKEN=ply_" in (tmp_path / "sheets" / "eva.txt").read_text()

    code = do("code", "create", "--uses", "1").out.strip()
    assert "used" in do("code", "list").out
    assert do("join", code, "--player", "fay").out.startswith("ply_")
    assert "for 1, and all have come" in do("join", code, "--player", "gus", code=4).err
    two = do("code", "create", "--uses", "2").out.strip()
    joined = do("join", two, "--player", "ivy", "-o", "ivy.token").err
    assert "is in ivy.token" in joined
    assert f"plyhouse login --server {server.url} < ivy.token" in joined
    lost = (tmp_path / "ivy.token").read_text()
    assert lost.startswith("ply_")
    assert stat.S_IMODE((tmp_path / "ivy.token").stat().st_mode) == 0o600
    assert "exists already" in do("join", two, "--player", "jon", "-o", "ivy.token", code=2).err
    assert (tmp_path / "ivy.token").read_text() == lost, "the first token stays"
    assert "an account 'ivy' already" in do("join", two, "--player", "ivy", "-o", "j", code=2).err
    assert not list(tmp_path.glob("*j")), "neither a file nor a part of one"
    assert "--member: bob, cy, dan" in do("student", "reissue-token", "crew", code=2).err
    again = do("student", "reissue-token", "ivy").out
    assert again.startswith("ply_")
    assert again != lost
    keep = {**env, "PLYHOUSE_TOKEN": lost.strip()}
    assert plyhouse("bot", "versions", env=keep).code == 4, "the old token is revoked"
    keep["PLYHOUSE_TOKEN"] = again.strip()
    assert plyhouse("bot", "versions", env=keep).code == 0
    do("student", "withdraw", "ivy", "--why", "a test")
    other = do("code", "create", "--uses", "9").out.strip()
    do("code", "revoke", other)
    assert "was revoked" in do("join", other, "--player", "gus", code=4).err
    assert "no code" in do("join", "XXXX-XXXX", "--player", "gus", code=2).err
    assert "no time" in do("code", "create", "--uses", "9", "--expires", "soon", code=2).err

    do("student", "withdraw", "eva", "--why", "left")
    do("student", "restore", "eva")
    assert "has 4 students already" in do("student", "limit", "3", code=4).err
    assert "takes up to 4 students" in do("student", "limit", "4").err
    assert "'Cup' is full" in do("student", "add", "hal", code=4).err
    assert "no student 'zoe'" in do("competition", "extend", "Cup", "zoe",
                                    "--until", "2999-01-01T00:00:00Z", code=2).err  # fmt: skip
    ada = (tmp_path / "tokens.csv").read_text().splitlines()[1].split(",")[2]
    do("competition", "regrade", "ask", "Cup", "Why?\nReally.", "--token", ada)
    said = do("competition", "regrade", "list", "Cup").out
    assert "open, ada about the grade" in said
    assert "    Really." in said
    do("competition", "regrade", "ask", "Cup", "\x1b]52;c;cm0gLXJm\x07me", "--token", ada)
    said = do("competition", "regrade", "list", "Cup").out
    assert "\x1b" not in said, "a terminal obeys nothing that a student wrote"
    assert "\\x1b]52" in said
    assert "give --text" in do("competition", "regrade", "answer", "Cup", "1", code=2).err
    do("competition", "regrade", "answer", "Cup", "1", "--text", "So.", "--close")
    assert "        So." in do("competition", "regrade", "list", "Cup", "--token", ada).out
    do("competition", "announce", "Cup", "Room 3.\nBring your machine.")
    assert "    Bring your machine." in do("competition", "announcements", "Cup").out
    refused = plyhouse("competition", "announcements", "Cup", "--server", server.url)
    assert (refused.code, refused.out) == (4, ""), "without a token: for the class only"
    do("competition", "announcements", "Cup", "--remove", "1")
    assert "no announcements" in do("competition", "announcements", "Cup").err
    preview = do("competition", "change", "--set", "rounds=2", "--set", "board=class", "--yes")
    assert "rounds: 1 -> 2" in preview.out
    assert "Students read:" in preview.out
    assert "Cup is changed, and open" in preview.err
    assert "nothing changes" in do("competition", "change", "Cup", "--set", "rounds=2").err
    (tmp_path / "edited.toml").write_text(
        do("competition", "file").out
        + '[limits]\nstudents = 90\n[dates]\nzone = "Asia/Tokyo"\nfreeze = 2998-07-01T18:00:00\n'
    )
    asked = do("competition", "change", "edited.toml", code=2)
    assert "limits.students: 200 -> 90" in asked.out
    assert "Change Cup?" in asked.err
    do("competition", "change", "Cup", "edited.toml", "--yes")
    refused = do("competition", "change", "--set", "name=Bowl", "--yes", code=4)
    assert "not possible: it never changes" in refused.out
    do("competition", "freeze")
    do("competition", "unfreeze")
    token(plyhouse, server, "tutor")
    assert (
        "no token with the scope organise"
        in do("competition", "staff", "add", "tutor", "--role", "assistant").err
    )
    assert "tutor" in do("competition", "staff", "list").out
    assert "the only owner" in do("competition", "staff", "remove", "olga", code=2).err
    do("competition", "staff", "remove", "tutor")
    assert "tutor" not in do("competition", "staff", "list").out
    shown = do("competition", "status", "Cup").out
    assert "Cup is open (freeze 2998-07-01 18:00 Asia/Tokyo)" in shown
    assert "4 students, 4 without an entry" in shown
    lasting = do("code", "create", "--uses", "9", "--expires", "2998-01-01T00:00:00Z").out.strip()
    assert "2998-01-01 09:00 Asia/Tokyo" in do("code", "list").out
    do("code", "revoke", lasting)
    assert "it would have to be running" in do("competition", "pause", "Cup", code=4).err
    # The environment names the competition where a command does not.
    until = ("--until", "2999-01-01T00:00:00Z")
    assert "Cup is open" in do("competition", "status").out
    assert "Cup is frozen" in do("competition", "freeze").err
    extended = do("competition", "extend", "ada", *until).err
    assert "ada may submit until 2999-01-01 09:00 Asia/Tokyo." in extended
    assert "ada may submit until" in do("competition", "extend", "Cup", "ada", *until).err
    assert "2999-01-01 09:00 Asia/Tokyo" in do("student", "list").out
    assert "ada may still submit" in do("competition", "run", code=4).err
    assert "no student 'olga'" in do("bot", "enter", "none", code=2).err
    assert "Withdrew eva" in do("competition", "withdraw", "eva").err
    assert "Disqualified eva" in do("competition", "disqualify", "eva", "--why", "a test").err
    for command in ("standings", "pairings", "report"):
        assert "PLYHOUSE_COMPETITION" not in plyhouse("competition", command, env=env).err
    assert "There is no file" in do("competition", "open", "missing.toml", code=2).err
    nameless = {key: value for key, value in env.items() if key != "PLYHOUSE_COMPETITION"}
    for arguments in (("status",), ("disqualify", "eva", "--why", "a test")):
        done = plyhouse("competition", *arguments, env=nameless)
        assert (done.code, "set PLYHOUSE_COMPETITION" in done.err) == (2, True)
    do("competition", "new", "Next cup", "--from", "Cup", "-o", "next.toml")
    assert "rounds = 2" in (tmp_path / "next.toml").read_text()
    copied = do("competition", "copy", "Cup", "next.toml", "--codes", "--submissions").err
    assert "Next cup is open, with 3 students, 1 code, 0 entries of Cup." in copied
    assert "ada" in do("student", "list", "--competition", "Next cup").out
    lost = do("competition", "delete", "Cup", code=2).err
    assert "for 4 students with 0 entries" in lost
    assert "give --yes" in lost
    assert "Cup is frozen" in do("competition", "status", "Cup").out
    do("competition", "delete", "Next cup", "--yes")
    do("competition", "delete", "Cup", "--why", "a test", "--yes")
    assert "No competitions" in do("competition", "list").err
    log = plyhouse("admin", "audit", "--database", "sqlite:///club.db").out
    for what in ("competition.open", "student.import", "student.code", "competition.delete"):
        assert what in log
