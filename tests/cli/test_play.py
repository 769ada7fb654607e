"""``plyhouse play``: a person (here: a pipe) against a bot."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from tests.cli.conftest import Plyhouse, clean_environment, command

from plyhouse.clients.terminal.line_reader import matching_action, nearest

QUICK = ("--against", "random", "--bot-time", "0.2")


def test_a_whole_match(plyhouse: Plyhouse) -> None:
    everything = "\n".join(f"{column}{row}" for column in "abc" for row in "123") + "\n"
    done = plyhouse("play", "tic_tac_toe", *QUICK, stdin=everything)
    assert done.code == 0, done.err
    assert "you are X" in done.out
    assert any(end in done.out for end in ("You won (+1)", "You lost (−1)", "A draw (0)"))


def test_mistakes_are_explained_and_asked_again(plyhouse: Plyhouse) -> None:
    done = plyhouse("play", "tic_tac_toe", *QUICK, stdin="z9\nhelp\nmoves\n\nB2\nb2\nquit\n")
    assert done.code == 0, done.err
    assert "'z9' is not possible here" in done.out
    assert "resign   give up" in done.out
    assert "b2, empty" in done.out
    assert "'b2' is not possible here" in done.out, "B2 was taken for b2, so b2 is taken now"
    assert "You lost (−1), by resignation." in done.out


def test_the_other_seat_and_hidden_cards(plyhouse: Plyhouse) -> None:
    done = plyhouse("play", "kuhn_poker", *QUICK, "--seat", "2", stdin="call\nfold\ncheck\n")
    assert done.code == 0, done.err
    assert "you are seat 2" in done.out
    assert "Chance: (hidden)" in done.out


def test_the_end_of_the_input_gives_up(plyhouse: Plyhouse) -> None:
    done = plyhouse("play", "connect_four", *QUICK, stdin="4\n")
    assert done.code == 0
    assert "by resignation" in done.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("checkers8", "--against", "random"), "checkers8"),
        (("pig", "--against", "nobody"), "nobody"),
        (("pig", "--against", "random", "--seat", "3"), "seats 1 to 2"),
        (("pig",), "--against"),
    ],
)
def test_bad_input(plyhouse: Plyhouse, arguments: tuple[str, ...], message: str) -> None:
    done = plyhouse("play", *arguments)
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1


def test_what_was_typed_is_read_kindly() -> None:
    legal = ("a1", "B1", "b1", "pass")
    assert matching_action(" PASS ", legal) == "pass"
    assert matching_action("b1", legal) == "b1"
    assert matching_action("A1", legal) == "a1"
    assert matching_action("c1", legal) is None
    assert nearest("pas", legal) == ["pass"]


def test_illegal_action_is_answered_with_the_rule(plyhouse: Plyhouse) -> None:
    done = plyhouse("play", "monopoly", *QUICK, stdin="build boardwalk\nquit\n")
    assert done.code == 0, done.err
    told = "'build boardwalk' is not possible here, because the property is not the seat's own:"
    assert told in done.out


def test_a_spot_lists_the_moves_from_there(plyhouse: Plyhouse) -> None:
    done = plyhouse("play", "chess", *QUICK, stdin="moves b1\ng1\nmoves e5\nquit\n")
    assert done.code == 0, done.err
    assert "b1a3  Na3" in done.out
    assert "g1h3  Nh3" in done.out
    assert "e2e4" not in done.out
    assert "'moves e5' is not possible here" in done.out


def test_a_game_with_one_seat_needs_no_opponent(plyhouse: Plyhouse) -> None:
    alone = "pacman(ghosts=random,steps=10)"
    done = plyhouse("play", alone, stdin="stop\nquit\n")
    assert done.code == 0, done.err
    assert "you are Pacman." in done.out
    assert "The match is over (−" in done.out
    refused = plyhouse("play", alone, *QUICK)
    assert (refused.code, "leave out --against" in refused.err) == (2, True)
    refused = plyhouse("play", "tic_tac_toe")
    assert (refused.code, "name an opponent, such as --against medium" in refused.err) == (2, True)


def test_chess_reads_and_shows_san(plyhouse: Plyhouse) -> None:
    done = plyhouse("play", "chess", *QUICK, stdin="nf3\nNf3\nmoves\nquit\n")
    assert done.code == 0, done.err
    assert "You: Nf3 (g1f3)" in done.out
    assert re.search(r"black: \S+ \([a-h]\d[a-h]\d\)", done.out)


def test_texts_that_the_game_reads_are_taken_where_cards_are_hidden(plyhouse: Plyhouse) -> None:
    done = plyhouse("play", "kuhn_poker", *QUICK, stdin="CHECK\nfold\nfold\nquit\n")
    assert "You: check" in done.out


def test_legal_actions_are_offered(plyhouse: Plyhouse) -> None:
    few = plyhouse("play", "tic_tac_toe", *QUICK, stdin="quit\n")
    assert "Your action (a1 b1 c1 a2 b2 c2 a3 b3 c3): " in few.out
    many = plyhouse("play", "chess", *QUICK, stdin="quit\n")
    assert "Your action (20 possible, such as " in many.out
    assert "`moves`" in many.out


def test_a_transcript_of_a_pipe_shows_what_was_typed(plyhouse: Plyhouse) -> None:
    done = plyhouse("play", "tic_tac_toe", *QUICK, stdin="z9\nb2\n")
    assert "c3): z9\n" in done.out
    assert "c3): b2\n" in done.out
    assert "The input has ended" in done.out


@pytest.mark.parametrize("kind", ["/dev/null", "file", "closed"])
def test_any_standard_input_will_do(tmp_path: Path, kind: str) -> None:
    typed = tmp_path / "typed"
    typed.write_text("b2\nquit\n", encoding="utf-8")
    shell = {"/dev/null": '"$@" </dev/null', "file": '"$@" <typed', "closed": '"$@" <&-'}[kind]
    done = subprocess.run(
        ["/bin/sh", "-c", shell, "sh", *command(), "play", "tic_tac_toe", *QUICK],
        cwd=tmp_path, env=clean_environment(), capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "error" not in done.stderr
    assert "by resignation" in done.stdout
    assert ("You: b2" in done.stdout) == (kind == "file")
