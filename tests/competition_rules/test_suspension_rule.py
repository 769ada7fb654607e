"""When a version is suspended, and the table of endings that this goes by."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from plyhouse.clients.terminal.sentences import LOST, WON
from plyhouse.protocol.messages import VOID, Termination
from plyhouse.server.lobby.suspension import ABSENCE_MS, Ended, why
from plyhouse.server.match.terminations import FORFEITS, TERMINATIONS, Fault, fault_of

ROOT = Path(__file__).resolve().parents[2]
HOUR = 3_600_000


def ended(*forfeits: str, every: int = HOUR) -> list[Ended]:
    return [Ended(number * every, forfeit) for number, forfeit in enumerate(forfeits)]


def test_every_termination_of_the_protocol_is_in_the_table() -> None:
    assert set(TERMINATIONS) == set(get_args(Termination))
    assert {name for name, each in TERMINATIONS.items() if not each.counts} == VOID
    program = {"flag_fall", "illegal_action", "bot_crash", "no_answer"}
    assert program | {"disconnect", "no_show"} == FORFEITS
    assert {name for name in FORFEITS if fault_of(name) is Fault.CONNECTION} == {
        "disconnect",
        "no_show",
    }
    assert fault_of("of_a_newer_server") is Fault.NOBODY


def test_the_web_page_has_words_for_every_ending_that_one_seat_brings_about() -> None:
    script = (ROOT / "clients/web/words.js").read_text("utf-8")
    words = set(re.findall(r"\b([a-z_]+): \"(?:by|on|as) ", script))
    assert words >= {*FORFEITS, "resignation"}


@pytest.mark.parametrize(("table", "words"), [("WON", WON), ("LOST", LOST)])
def test_web_page_and_terminal_have_the_same_words_for_endings(
    table: str, words: dict[str, str]
) -> None:
    script = (ROOT / "clients/web/words.js").read_text("utf-8")
    [body] = re.findall(rf"const {table} = {{(.*?)}};", script, re.DOTALL)
    assert dict(re.findall(r"(\w+): \"(.*?)\"", body)) == words


@pytest.mark.parametrize(
    ("matches", "after", "window", "reason"),
    [
        ((), 1, 1, ""),
        (("flag_fall",), 0, 5, ""),
        (("flag_fall",) * 2, 3, 3, ""),
        (("flag_fall",) * 3, 3, 3, "it forfeited its last 3 matches: 3 times it ran out of time"),
        (("bot_crash", "bot_crash", "", "bot_crash"), 3, 3, ""),
        (("bot_crash", "bot_crash", "", "bot_crash"), 3, 4, "it forfeited 3 of its last 4 matches: "
         "3 times it failed"),
        (("bot_crash",) * 3 + ("",) * 4, 3, 4, ""),
        (("flag_fall", "flag_fall", "illegal_action"), 3, 3, "it forfeited its last 3 matches: "
         "2 times it ran out of time, once it played an illegal action"),
    ],
)  # fmt: skip
def test_forfeits_among_the_last_matches_suspend(
    matches: tuple[str, ...], after: int, window: int, reason: str
) -> None:
    assert why(ended(*matches), after, window) == reason
    assert why(reversed(ended(*matches)), after, window) == reason, "whatever their order"


def test_one_absence_counts_once_however_many_matches_it_cost() -> None:
    away = ended(*["disconnect", "no_show"] * 8, every=ABSENCE_MS // 2)
    assert why(away, 2, 2) == ""
    again = [*away, Ended(away[-1].ended_ms + ABSENCE_MS + 1, "disconnect")]
    told = "it forfeited its last 2 matches: once it did not come, once it was away"
    assert why(again, 2, 2) == told
    crashes = ended(*["bot_crash"] * 3, every=1)
    assert why(crashes, 3, 3) != "", "a program that fails three times at once fails three times"
