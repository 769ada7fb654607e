"""``plyhouse replay``: saved matches, and those of a database."""

from __future__ import annotations

import io
import json
import re
import shutil
from pathlib import Path

import chess.pgn
import pytest
from pokerkit import HandHistory
from tests.cli.conftest import CHOMP, Plyhouse, Zygote, clean_environment
from tests.cli.terminal import in_terminal

from plyhouse.clients.cli.replay import FORMS
from plyhouse.server.results.notations import NOTATIONS, TEXT


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory, zygote: Zygote) -> Path:
    """Two matches, which no test changes."""
    folder = tmp_path_factory.mktemp("played")
    series = ("match", "random", "random", "--game", "kuhn_poker", "--games", "2")
    done = zygote.run((*series, "--save", "k.jsonl"), folder, clean_environment())
    assert done.code == 0, done.err
    return folder / "k.jsonl"


@pytest.fixture
def saved(played: Path, tmp_path: Path) -> Path:
    """A copy of them where commands are run."""
    return Path(shutil.copy(played, tmp_path))


def test_all_positions_in_a_pipe(plyhouse: Plyhouse, saved: Path) -> None:
    done = plyhouse("replay", "k.jsonl", "--match", "2")
    assert done.code == 0, done.err
    assert "Ply 0 of " in done.out
    assert "chance: (hidden)" in done.out, "spectators are shown no cards"
    assert "Result: seat 1 " in done.out
    seen = plyhouse("replay", "k.jsonl", "--match", "2", "--seat", "1")
    assert re.search(r"chance: [JQK], chance: \(hidden\)", seen.out)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_records_are_read_as_shells_redirect_them(
    plyhouse: Plyhouse, saved: Path, tmp_path: Path, encoding: str
) -> None:
    text = saved.read_text("utf-8").replace("\n", "\r\n")
    (tmp_path / "odd.jsonl").write_bytes(text.encode(encoding))
    assert plyhouse("replay", "odd.jsonl").out == plyhouse("replay", str(saved)).out
    (tmp_path / "odd.jsonl").write_bytes(bytes(100))
    done = plyhouse("replay", "odd.jsonl")
    assert (done.code, "odd.jsonl has no records: it has zero bytes" in done.err) == (1, True)


def test_keys_step_in_a_terminal(saved: Path) -> None:
    shown = in_terminal("replay", "k.jsonl", "--plain", keys=["n", "b", "G", "q"], cwd=saved.parent)
    assert shown.code == 0
    plies = [int(ply) for ply in re.findall(r"Ply (\d+) of \d+", shown.text)]
    assert plies[:3] == [0, 1, 0]
    assert plies[3] == max(plies)


def test_a_page_holds_all_it_needs(plyhouse: Plyhouse, saved: Path) -> None:
    done = plyhouse("replay", "k.jsonl", "--html", "k.html")
    assert done.code == 0, done.err
    page = (saved.parent / "k.html").read_text(encoding="utf-8")
    assert not re.search(r'(?:src|href)="', page), "it fetches something"
    assert 'from "./' not in page
    found = re.search(r'id="positions">(.*?)</script>', page)
    assert found is not None
    positions = json.loads(found[1])
    assert positions[0]["ply"] == 0
    assert positions[-1]["end"].startswith("Result")


def test_own_games_are_named_by_file(
    plyhouse: Plyhouse, chomp_matches: Path, tmp_path: Path
) -> None:
    shutil.copy(CHOMP, tmp_path / "chomp.py")
    shutil.copy(chomp_matches, tmp_path / "c.jsonl")
    refused = plyhouse("replay", "c.jsonl")
    assert refused.code == 2
    assert "unknown game" in refused.err
    assert "--game-files" in refused.err
    done = plyhouse("replay", "c.jsonl", "--game-files", "chomp.py")
    assert done.code == 0, done.err
    assert "Result: seat 1" in done.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nothing.jsonl",), "no file nothing.jsonl"),
        (("k.jsonl", "--match", "9"), "holds 1 to 2"),
        (("k.jsonl", "--seat", "3"), "seats 1 to 2"),
    ],
)
def test_what_is_not_there_is_said(
    plyhouse: Plyhouse, saved: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = plyhouse("replay", *arguments)
    assert done.code == 2
    assert message in done.err


@pytest.fixture(scope="module")
def given_up(tmp_path_factory: pytest.TempPathFactory, zygote: Zygote) -> Path:
    """Two matches in which somebody resigns at their second turn, which no test changes."""
    folder = tmp_path_factory.mktemp("given_up")
    (folder / "quitter.py").write_text(
        "from plyhouse.bots import Bot\n\n\nclass Quitter(Bot):\n"
        "    def choose(self, turn):\n"
        "        return turn.legal[0] if turn.ply < 2 else turn.resign()\n",
        encoding="utf-8",
    )
    series = ("match", "quitter.py", "random", "--game", "tic_tac_toe", "--games", "2")
    done = zygote.run((*series, "--save", "q.jsonl"), folder, clean_environment())
    assert done.code == 0, done.err
    return folder / "q.jsonl"


def test_after_a_resignation_nobody_is_to_move(
    plyhouse: Plyhouse, given_up: Path, tmp_path: Path
) -> None:
    shutil.copy(given_up, tmp_path)
    shown = plyhouse("replay", "q.jsonl")
    assert shown.code == 0, shown.err
    first, last = shown.out.split("Ply 0 of 2")[1].split("Ply 2 of 2")
    assert "to move" in first
    assert "to move" not in last
    assert "The match is over" in last
    assert "(resignation)" in last
    text = (tmp_path / "q.jsonl").read_text(encoding="utf-8").splitlines()[0]
    record = {**json.loads(text), "void_reason": "wrong rules"}
    (tmp_path / "v.json").write_text(json.dumps(record), encoding="utf-8")
    assert "Void, it counts nowhere: wrong rules" in plyhouse("replay", "v.json").out


def test_a_replay_says_who_played_before_the_first_position(
    plyhouse: Plyhouse, given_up: Path, tmp_path: Path
) -> None:
    shutil.copy(given_up, tmp_path)
    for arguments in ((), ("--ply", "2"), ("--play", "0")):
        lines = plyhouse("replay", "q.jsonl", *arguments).out.splitlines()
        assert re.fullmatch(r"tic_tac_toe, move:60: .*quitter.* \(X\), .*random \(O\)", lines[0])
    shown = in_terminal("replay", "q.jsonl", "--plain", keys=["G", "q"], cwd=tmp_path)
    titles = re.findall(r"quitter.* \(X\), .*random \(O\)", shown.text)
    assert len(titles) == 2, "on every screen"


def test_a_replay_says_which_version_played(plyhouse: Plyhouse, saved: Path) -> None:
    record = json.loads(saved.read_text().splitlines()[0])
    record["seats"][0]["version"] = "<b>qwen3, help: position"
    (saved.parent / "v.json").write_text(json.dumps(record))
    title = plyhouse("replay", "v.json").out.splitlines()[0]
    assert title.count("random (<b>qwen3, help: position)") == 1
    plyhouse("replay", "v.json", "--html", "v.html")
    page = (saved.parent / "v.html").read_text(encoding="utf-8")
    assert "(&lt;b&gt;qwen3, help: position)" in page


@pytest.fixture(scope="module")
def chess_games(tmp_path_factory: pytest.TempPathFactory, zygote: Zygote) -> Path:
    """Two matches of chess, with clocks."""
    folder = tmp_path_factory.mktemp("chess")
    fen = 'chess(fen="4k3/8/8/8/8/8/3R4/4K3 w - - 90 120")'
    series = ("match", "random", "random", "--game", fen, "--games", "2", "--seed", "1")
    control = ("--time-control", "total:60+0.1", "--save", "c.jsonl")
    done = zygote.run((*series, *control), folder, clean_environment())
    assert done.code == 0, done.err
    return folder / "c.jsonl"


def test_moves_are_written_in_the_format_of_the_game(plyhouse: Plyhouse, chess_games: Path) -> None:
    done = plyhouse("replay", str(chess_games), "--pgn")
    assert done.code == 0, done.err
    games = io.StringIO(done.out)
    read = [chess.pgn.read_game(games) for _ in range(3)]
    assert read[2] is None
    for game in read[:2]:
        assert game is not None
        assert game.headers["TimeControl"] == "60+0.1"
        first = game.next()
        assert first is not None
        assert first.clock() is not None
    one = plyhouse("replay", str(chess_games), "--match", "2", "--pgn")
    assert one.out in done.out
    assert plyhouse("replay", str(chess_games), "--txt").out.count("Result: ") == 2


def test_moves_of_another_game_are_refused(
    plyhouse: Plyhouse, chess_games: Path, saved: Path
) -> None:
    done = plyhouse("replay", str(chess_games), "--sgf")
    assert done.code == 2
    assert "holds chess(fen=" in done.err
    assert "--sgf writes go or othello as SGF" in done.err
    assert "holds kuhn_poker" in plyhouse("replay", "k.jsonl", "--pgn").err


def test_formats_of_one_match_need_a_choice(plyhouse: Plyhouse, tmp_path: Path) -> None:
    series = ("match", "random", "random", "--game", "texas_holdem(hands=1)", "--games", "2")
    assert plyhouse(*series, "--save", "h.jsonl").code == 0
    refused = plyhouse("replay", "h.jsonl", "--phh")
    assert refused.code == 2
    assert "a file of phh holds one: name it with --match" in refused.err
    (hand,) = HandHistory.load_all(
        io.BytesIO(plyhouse("replay", "h.jsonl", "--phh", "--match", "2").out.encode())
    )
    assert hand.variant == "NT"


def test_every_format_has_an_option() -> None:
    assert set(FORMS) == {*NOTATIONS, TEXT}
