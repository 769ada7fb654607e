"""``plyhouse book`` and ``plyhouse tune``, from records to bots that play by the result."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from tests.cli.conftest import Plyhouse

GAME = "connect_four(columns=5,rows=4)"


def test_played_matches_become_a_book_and_weights(plyhouse: Plyhouse, tmp_path: Path) -> None:
    options = ("--games", "12", "--seed", "5", "--save", "played.jsonl", "--jobs", "1")
    done = plyhouse("match", "alpha_beta(depth=2)", "random", "--game", GAME, *options)
    assert done.code == 0, done.err

    done = plyhouse("book", GAME, "played.jsonl", "--plies", "6")
    assert done.code == 0, done.err
    assert done.out.startswith("move        matches   score  95 % interval\n")
    assert f"12 matches of {GAME}." in done.err
    content = json.loads((tmp_path / "book.json").read_text())
    assert (content["matches"], content["plies"]) == (12, 6)

    done = plyhouse("tune", GAME, "played.jsonl", "--skip", "2", "-o", "w.toml")
    assert done.code == 0, done.err
    assert "Logistic regression converged after" in done.err
    assert done.out.splitlines()[0].startswith("ones ")
    weights = tomllib.loads((tmp_path / "w.toml").read_text())
    assert weights["game"] == GAME
    assert "logistic regression on 12 matches" in weights["tuned"]

    book = f'book(file="{tmp_path}/book.json",depth=1)'
    linear = f'linear(file="{tmp_path}/w.toml",depth=2)'
    done = plyhouse("match", book, linear, "--game", GAME, "--games", "2", "--jobs", "1")
    assert done.code == 0, done.err

    done = plyhouse("book", "othello", "played.jsonl")
    assert done.code == 1
    assert done.err == "plyhouse: There is no finished match of othello in played.jsonl.\n"


def test_self_play_is_repeatable(plyhouse: Plyhouse, tmp_path: Path) -> None:
    for name in ("a.toml", "b.toml"):
        done = plyhouse("tune", "tic_tac_toe", "--self-play", "30", "--seed", "4", "-o", name)
        assert done.code == 0, done.err
    assert (tmp_path / "a.toml").read_text() == (tmp_path / "b.toml").read_text()


def test_what_is_missing_is_told(plyhouse: Plyhouse, tmp_path: Path) -> None:
    done = plyhouse("tune", "othello")
    assert done.code == 2
    assert "Name files of records (plyhouse match --save), or a --database." in done.err
    (tmp_path / "any.jsonl").touch()
    done = plyhouse("tune", "othello", "any.jsonl", "--self-play", "3")
    assert done.code == 2
    assert "Take either --self-play or played matches, not both." in done.err
    done = plyhouse("tune", "pig", "--self-play", "3")
    assert done.code != 0
    assert "there are no features for it" in done.err
