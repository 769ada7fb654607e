"""The terminal client as a process in a real pseudo-terminal."""

from __future__ import annotations

import subprocess
import sys

from tests.cli.terminal import in_terminal

PLAY = ("play", "tic_tac_toe", "--against", "random", "--bot-time", "0.2")


def test_a_match_is_drawn_in_place_and_the_terminal_is_given_back() -> None:
    steps = [
        ("X to move", "?"),
        ("give up what was chosen", "q"),
        ("b2, empty", "/b2\r"),  # which was below the help
        ("you: b2", "R"),
        ("Really resign?", "R"),
        ("by resignation", "q"),
    ]
    shown = in_terminal(*PLAY, columns=80, rows=24, steps=steps)
    assert shown.code == 0, shown.text[-2000:]
    assert "\x1b[?1049h" in shown.raw, "a screen of its own"
    after = shown.raw.rpartition("\x1b[?1049l")[2]
    assert "You lost (−1), by resignation." in after, "what remains is the result"


def test_bot_of_a_level_is_played_and_the_way_out_is_named_while_typing() -> None:
    steps = [
        ("You to move", "/"),
        ("Esc goes back to the board, where q leaves", "4\r"),
        ("local/medium: ", "/"),
        ("Esc goes back to the board, where q leaves", "\x1b"),
        ("Leave", "q"),  # the footer names it again
        ("Press q once more", "q"),
    ]
    play = ("play", "connect_four", "--against", "medium", "--bot-time", "0.2")
    shown = in_terminal(*play, columns=80, rows=24, steps=steps)
    assert shown.code == 0, shown.text[-2000:]
    assert "Connect four against medium" in shown.text


def test_plain_lines_where_they_are_asked_for() -> None:
    shown = in_terminal(*PLAY, "--plain", stdin="b2\nquit\n")
    assert shown.code == 0
    assert "\x1b[?1049h" not in shown.raw
    assert "Your action (" in shown.text
    dumb = in_terminal(*PLAY, stdin="quit\n", env={"TERM": "dumb"})
    assert "\x1b" not in dumb.raw
    assert "Your action (" in dumb.text


def test_nobody_loads_textual_who_shows_no_screen() -> None:
    script = (
        "import sys, plyhouse.clients.cli.main, plyhouse.clients.cli.play, "
        "plyhouse.clients.cli.replay, plyhouse.clients.cli.lobby, plyhouse.clients.cli.watch, "
        "plyhouse.clients.cli.leaderboard, plyhouse.server.serve; "
        "print([name for name in sys.modules if name.split('.')[0] == 'textual'])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr
