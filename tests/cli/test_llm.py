"""``plyhouse match`` with chat models: their plies, their ledger, and models that name nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.cli.conftest import Plyhouse
from tests.harness.language_models import Reply, says, stand_in

LEGAL = re.compile(r"Your legal actions:\n(.+)")


def first_legal(body: dict[str, Any]) -> Reply:
    """Answer with the first action that the prompt lists."""
    listed = LEGAL.search(body["messages"][-1]["content"])
    assert listed is not None
    return says(f'I choose the first one.\n{{"action": "{listed[1]}"}}')


def test_a_model_plays_a_series_and_its_record_has_the_ledger(
    plyhouse: Plyhouse, tmp_path: Path
) -> None:
    with stand_in(first_legal) as endpoint:
        bot = f'llm(model="small", endpoint="{endpoint.url}", help="actions")'
        series = ("match", bot, "random", "--game", "tic_tac_toe", "--games", "2")
        done = plyhouse(*series, "--time-control", "move:30", "--save", "games.jsonl")
    assert done.code == 0, done.err
    records = [json.loads(line) for line in (tmp_path / "games.jsonl").read_text().splitlines()]
    assert {each["outcome"]["termination"] for each in records} == {"normal"}
    labels = {seat.get("version", "") for each in records for seat in each["seats"]}
    assert labels == {"small, help: actions", ""}, "ratings of a version are kept apart"
    assert "1 try, 100 + 10 tokens" in (tmp_path / "games.jsonl").read_text()


def test_a_model_that_rambles_forfeits_by_no_answer(plyhouse: Plyhouse) -> None:
    with stand_in(lambda _: says("Chess is a fine game.")) as endpoint:
        bot = f'llm(model="small", endpoint="{endpoint.url}")'
        series = ("match", bot, "random", "--game", "tic_tac_toe", "--games", "2")
        done = plyhouse(*series, "--time-control", "move:30")
    assert done.code == 1
    assert "2 no_answer" in done.out
    assert "small named no legal action: 3 tries" in done.err
