"""Bots' reports of their thoughts: bounded, shown late, and never at the cost of an action."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.harness.bot_turns import turn_at

from plyhouse.bots.api import BotError
from plyhouse.games.deterministic.tic_tac_toe import TicTacToe
from plyhouse.games.hidden.kuhn_poker import KuhnPoker
from plyhouse.protocol.messages import Accepted
from plyhouse.protocol.parts import LONGEST_LINE, Info
from plyhouse.search.limit import Limit
from plyhouse.search.trees.alpha_beta import alpha_beta
from plyhouse.server.match.events import MAX_INFO, kept_info, read_info
from plyhouse.server.results.record import make_record, read_record, write_record
from plyhouse.server.results.verify import verify

from .harness import Table

SAID = {"value": 0.5, "depth": 3, "nodes": 99, "pv": ["b2", "a1"], "text": "\0 <b>fine</b>"}


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ([], "info: Expected `object`, got `list`"),
        ({"value": "0"}, "info.value: Expected `float | null`"),
        ({"value": float("nan")}, "info.value: Expected a finite number"),
        ({"depth": -1}, "info.depth: Expected `int` >= 0"),
        ({"depth": 1.5}, "info.depth"),
        ({"pv": ["a"] * (LONGEST_LINE + 1)}, "info.pv: Expected `array` of length <="),
        ({"pv": [1]}, "info.pv[0]: Expected `str`"),
        ({"text": "x" * 2001}, "info.text: Expected `str` of length <= 2000"),
        ({"text": "\N{SNOWMAN}" * 2000}, f"bytes as JSON; {MAX_INFO} are kept"),
        ({"text": "\ud800"}, "info"),
    ],
    ids=lambda value: repr(value)[:24],
)
def test_what_cannot_be_kept_is_told_with_its_place(given: Any, why: str) -> None:
    kept, said = read_info(given)
    assert kept == ""
    assert why in said


def test_what_is_kept_can_be_read_and_what_is_unknown_is_left_out() -> None:
    kept, said = read_info({**SAID, "mood": ["unknown"]})
    assert (said, kept_info(kept)) == ("", Info(0.5, 3, 99, ["b2", "a1"], "\0 <b>fine</b>"))
    assert "\0" not in kept
    assert kept_info(None) is kept_info("{") is kept_info('{"value": "x"}') is None


def played(*infos: Any) -> tuple[Table, list[Accepted]]:
    """A match whose first plies come with these infos."""
    table = Table(TicTacToe(), "total:60")
    answers = []
    for info, action in zip(infos, ("b2", "a1", "c3"), strict=True):
        answer = table.act(action, info=info)
        assert isinstance(answer, Accepted)
        answers.append(answer)
    return table, answers


def test_an_action_counts_whatever_comes_with_it() -> None:
    table, answers = played(SAID, {"value": "great"}, msgspec.Raw(b"x" * 20_000))
    assert table.match.ply == 3
    assert [each.info_refused for each in answers] == [
        "", "info.value: Expected `float | null`, got `str`",
        f"info: 20000 bytes; {MAX_INFO} are kept at most",
    ]  # fmt: skip
    data = [row.data for row in table.rows if row.kind == "action"]
    assert kept_info(data[0]) == Info(0.5, 3, 99, ["b2", "a1"], "\0 <b>fine</b>")
    assert data[1:] == [None, None]


def test_nobody_is_sent_it_while_the_match_runs_and_the_record_has_it_afterwards() -> None:
    table, answers = played(SAID, None, None)
    assert "fine" not in repr(table.inbox) + repr(table.broadcasts)
    for viewer in (None, 0, 1):
        assert "fine" not in repr(table.match.snapshot(viewer, table.now))
    assert "fine" not in repr(answers)
    early = make_record(table.config, table.rows, reveal=False)
    assert all(event.info is None for event in early.events)
    whole = make_record(table.config, table.rows, reveal=True)
    again = read_record(write_record(whole))
    (told,) = [event.info for event in again.events if event.info is not None]
    assert told.pv == ["b2", "a1"]
    broken = [str(check) for check in verify(again).checks if not check.ok]
    table.rows[:] = [msgspec.structs.replace(row, data=None) for row in table.rows]
    bare = verify(make_record(table.config, table.rows, reveal=True))
    assert broken == [str(check) for check in bare.checks if not check.ok]


def test_a_bot_says_what_its_search_found_in_the_notation_of_the_game() -> None:
    game = TicTacToe()
    state = game.initial_state()
    asked = turn_at(game, state)
    found = alpha_beta(game, state, Limit(depth=3))
    asked.info(found)
    said = asked.said
    assert said is not None
    assert (said["value"], said["depth"], said["nodes"]) == (found.value, 3, found.nodes)
    for text in said["pv"]:
        state = state.after(game.parse(state, text))
    assert len(said["pv"]) == len(found.pv)
    assert "live" not in said, "nobody sees it before the end unless the bot says so"
    assert read_info(said)[1] == ""
    asked.info(found, live=True)
    assert asked.said == {**said, "live": True}


def test_what_a_bot_cannot_say_is_told_where_it_was_said() -> None:
    asked = turn_at(TicTacToe(), TicTacToe().initial_state())
    for wrong, why in (
        ({"value": "high"}, "value 'high' is not a number"),
        ({"depth": 2.5}, "depth 2.5 is not a whole number"),
        ({"nodes": -1}, "nodes is -1"),
        ({"text": 5}, "text has to be a str"),
    ):
        with pytest.raises(BotError, match=why):
            asked.info(**wrong)
    asked.info(value=float("inf"), text="y" * 3000)
    assert asked.said is not None
    assert set(asked.said) == {"text"}
    assert read_info(asked.said)[1] == ""


def test_info_without_a_state_to_follow_leaves_the_line_out() -> None:
    game = KuhnPoker()
    state: Any = game.initial_state()
    while state.to_move < 0:
        state = state.after(state.chance_outcomes()[0][0])
    asked = turn_at(game, state)
    asked.info(value=-0.1, pv=[state.actions()[0]])
    assert asked.said is not None
    assert asked.said == {"value": -0.1}
