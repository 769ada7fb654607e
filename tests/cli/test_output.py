"""Tables that fit, and terminals that want no colours."""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.terminal import in_terminal
from tests.harness.zygote import clean_environment

from plyhouse.clients.shared.output import folded, minute

COLUMNS = ["#", "bot", "player", "rating", "95 % interval", "score", "games", "W-D-L", "returns"]
ROWS = [
    ["1", "alpha_beta", "ada", "1843", "[1790, 1896]", "190.5", "200", "190-1-9", "+181.0"],
    ["12", "my-long-bot-name", "somebody", "983", "[900, 1066]", "19", "200", "19-0-181", "-162.0"],
]


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_a_folded_table_fits_and_loses_nothing(width: int) -> None:
    blocks = folded(COLUMNS, ROWS, "rllrrrrrr", 2, width)
    assert all(block.table[0][:2] == ["#", "bot"] for block in blocks)
    shown = [[cell for block in blocks for cell in block.table[line][2:]] for line in range(3)]
    assert shown == [row[2:] for row in [COLUMNS, *ROWS]]
    for block in blocks:
        assert sum(block.widths) + 2 * (len(block.widths) - 1) <= width
    assert len(blocks) == 1 or width < 90


def test_characters_that_standard_output_lacks_are_replaced() -> None:
    """The encoding of a file on Windows has no minus sign; the results were lost."""
    command = [sys.executable, "-m", "plyhouse", "solve", "kuhn_poker", "--iterations", "20"]
    environment = clean_environment() | {"PYTHONUTF8": "0", "PYTHONIOENCODING": "cp1252"}
    done = subprocess.run(command, env=environment, capture_output=True, check=True)
    assert "-0." in done.stdout.decode("cp1252")


def test_an_interval_stays_beside_what_it_belongs_to() -> None:
    columns = ["bot", "mean", "95 %", "games"]
    blocks = folded(columns, [["random", "+0.5", "[-1.0, +1.0]", "200"]], "lrRr", 1, 24)
    assert [block.table[0][1:] for block in blocks] == [["mean", "95 %"], ["games"]]


def test_sentences_are_wrapped_before_columns_are_moved() -> None:
    text = "Players bet on one of three cards, and may bluff about what they hold."
    (block,) = folded(["game", "seats", "summary"], [["kuhn_poker", "2", text]], "lrw", 1, 60)
    assert block.widths == [10, 5, 41]
    assert sum(block.widths) + 4 == 60


def test_a_table_in_a_narrow_terminal_shows_every_column() -> None:
    shown = in_terminal("games", columns=80)
    assert all(len(line) <= 80 for line in shown.lines)
    assert "…" not in shown.text
    for word in ("coin_guess", "stochastic", "imperfect"):
        assert word in shown.text


def test_a_dumb_terminal_gets_plain_text() -> None:
    shown = in_terminal("games", columns=80, env={"TERM": "dumb"})
    assert "\x1b" not in shown.raw
    assert "│" not in shown.raw
    assert all(len(line) <= 80 for line in shown.lines)


def test_no_colour_where_none_is_wanted() -> None:
    typed = "show\nquit\n"
    plain = in_terminal(
        *("play", "tic_tac_toe", "--against", "random", "--plain"),
        stdin=typed,
        env={"NO_COLOR": "1"},
    )
    assert "\x1b[3" not in plain.raw
    coloured = in_terminal("play", "tic_tac_toe", "--against", "random", "--plain", stdin=typed)
    assert "\x1b[" in coloured.raw


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_command_with_closed_streams_does_its_work(closed: str, tmp_path: Path) -> None:
    whole = f"exec {shlex.quote(sys.executable)} -m plyhouse bot new mine.py --game nim {closed}"
    done = subprocess.run(["sh", "-c", whole], cwd=tmp_path, env=clean_environment(), check=False)
    assert done.returncode == 0
    assert list(tmp_path.iterdir())


def test_time_of_a_competition_is_in_its_zone_on_every_machine() -> None:
    assert minute(1_793_000_000_000, "Europe/Berlin") == "2026-10-26 08:33 Europe/Berlin"
    assert minute(1_793_000_000_000, "UTC") == "2026-10-26 07:33 UTC"


def test_times_are_those_of_the_machine_with_their_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    summer = 1_793_000_000_000 - 120 * 86_400_000
    try:
        monkeypatch.setenv("TZ", "Europe/Berlin")
        time.tzset()
        assert minute(1_793_000_000_000) == "2026-10-26 08:33 CET"
        assert minute(summer) == "2026-06-28 09:33 CEST"
    finally:
        monkeypatch.undo()
        time.tzset()
