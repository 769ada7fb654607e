"""The pages on fairness are exact: a stranger who has read them recomputes our records."""

from __future__ import annotations

import ast
import json
import random
from pathlib import Path
from typing import Any

import pytest
from tests.docs.stranger import forfeited, recompute, table_of_outcomes
from tests.server_core.harness import Table

from plyhouse.clients.docgen.fairness_tables import (
    PAGES,
    SPECS,
    fairness_tables,
    outcomes_in_order,
    write_fairness_tables,
)
from plyhouse.games.base import ChanceKind
from plyhouse.games.registry import BUILT_IN, get_game, parse_spec
from plyhouse.server.match.time_control import MS, SECOND
from plyhouse.server.results.record import make_record, write_record

ROOT = Path(__file__).resolve().parents[2]
if not (ROOT / "docs").is_dir():
    pytest.skip("the documentation is not here", allow_module_level=True)
TEXTS = {name: (ROOT / "docs" / name).read_text(encoding="utf-8") for name in PAGES}
PAGE = TEXTS["chance.md"]
BY_TABLE = [spec for spec in SPECS if not spec.startswith(("monopoly", "pacman", "scrabble"))]
"""The directions of a ghost of pacman depend on the maze, tiles of Scrabble on the bag, and what is
drawn in Monopoly on the space."""
CONTROLS = ["move:2", "total:60+0.5", "byoyomi:0.3+50x0.2", "bank:0.1+60"]


def record_of(table: Table) -> Any:
    return json.loads(write_record(make_record(table.config, table.rows, reveal=True)))


def played(spec: str, stream: str, control: str, seed: int = 1) -> Table:
    """A match with every kind of nonce: none, one in capitals, one sent again."""
    table = Table(get_game(spec), control, ready=False, stream=stream, seed=bytes(range(5, 37)))
    table.do(table.match.ready(0, "", 0))
    for seat in range(1, table.match.seats):
        for nonce in ("ee", "00FF"):
            if table.match.status == "waiting":
                table.do(table.match.ready(seat, nonce, 0))
    rng = random.Random(seed)
    match = table.match
    for _ in range(150):
        if match.status != "running":
            break
        text = match.game.format(match.state, rng.choice(match.state.actions()))
        lag, stall = rng.randrange(50) * MS, rng.randrange(20) * MS
        table.act(text, think=rng.randrange(SECOND // 4), lag_ns=lag, stall_ns=stall)
    if match.status == "running":
        table.do(match.resign(0, table.now + SECOND // 10))
    return table


@pytest.mark.parametrize("page", PAGES)
def test_the_page_is_up_to_date(page: str) -> None:
    assert fairness_tables(page, TEXTS[page]) == TEXTS[page], (
        "python -m plyhouse.clients.docgen.fairness_tables --write docs"
    )
    with pytest.raises(ValueError, match=f"'{PAGES[page]}', not 0"):
        fairness_tables(page, TEXTS[page].replace("generated: ", "made: "))


def test_outdated_pages_are_written_again(tmp_path: Path) -> None:
    for name, cell in {"chance.md": "pig", "endings.md": "normal", "record.md": "match"}.items():
        text = TEXTS[name].replace(f"| `{cell}` |", "| `old` |")
        assert text != TEXTS[name]
        (tmp_path / name).write_text(text, encoding="utf-8")
    write_fairness_tables(tmp_path)
    for name, text in TEXTS.items():
        assert (tmp_path / name).read_text(encoding="utf-8") == text


def test_every_game_with_chance_is_in_the_table() -> None:
    with_chance = {name for name in BUILT_IN if get_game(name).info.chance is ChanceKind.STOCHASTIC}
    assert {parse_spec(spec)[0] for spec in SPECS} >= with_chance
    assert set(table_of_outcomes(PAGE)) == set(SPECS)


def test_the_probabilities_shown_are_exactly_those_that_are_added_up() -> None:
    table = table_of_outcomes(PAGE)
    for spec in SPECS:
        for node, shown in zip(outcomes_in_order(get_game(spec)), table[spec], strict=True):
            assert [text for text, _ in node] == [text for text, _ in shown]
            if shown[0][1]:
                assert [share for _, share in node] == [share for _, share in shown]


@pytest.mark.parametrize("stream", ["", "pairing"], ids=["own", "shared"])
@pytest.mark.parametrize("spec", BY_TABLE)
def test_a_stranger_recomputes_a_record(spec: str, stream: str) -> None:
    for number, control in enumerate(CONTROLS):
        record = record_of(played(spec, stream, control, number))
        assert record["chance"]["stream"] == (stream or "match:m1")
        assert recompute(record, PAGE)


def test_a_stranger_finds_what_was_changed() -> None:
    def changed(**fields: Any) -> Any:
        record = record_of(played("pig", "", "total:60+0.5"))
        roll = next(event for event in record["events"] if event["kind"] == "chance")
        action = next(event for event in record["events"] if event["kind"] == "action")
        for name, value in fields.items():
            place = {"text": roll, "charged_ns": action}.get(name, record["chance"])
            place[name] = value(place[name])
        return record

    assert recompute(changed(), PAGE)
    for fields in (
        {"text": lambda face: str(int(face) % 6 + 1)},
        {"charged_ns": lambda charged: charged - 1},
        {"nonces": lambda nonces: nonces[::-1]},
        {"seed": lambda seed: seed[::-1]},
        {"stream": lambda _: "pairing"},
    ):
        with pytest.raises(AssertionError):
            recompute(changed(**fields), PAGE)


def test_a_flag_and_the_last_retry_are_as_the_page_says() -> None:
    table = Table(get_game("pig"), "total:1+0")
    table.act("roll", think=2 * SECOND)
    assert table.outcome.termination == "flag_fall"
    recompute(record_of(table), PAGE)
    table = Table(get_game("pig"), illegal_rule="retry")
    for tried in range(11):
        assert table.match.status == "running", tried
        table.act("x", think=MS)
    assert table.outcome.termination == "illegal_action"
    recompute(record_of(table), PAGE)


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_forfeits_give_what_the_page_says(name: str) -> None:
    game = get_game(name)
    for guilty in range(game.seats):
        table = Table(game)
        table.do(table.match.resign(guilty, 0))
        least, most = game.return_bounds
        teams = [game.team(seat) for seat in range(game.seats)]
        expected = forfeited(game.info.utility.value, least, most, teams, guilty)
        assert table.outcome.returns == expected


def test_the_cards_of_a_showdown_are_shown_as_the_page_says() -> None:
    table = Table(get_game("kuhn_poker"))
    table.match.audience.subscribe(1)
    for action in ("check", "check"):
        table.act(action)
    update, finished = table.inbox[1][-2:]
    assert None not in update.observation["shown"]
    assert type(finished).__name__ == "Finished"
    assert None not in table.ask("sync", 0).snapshot.observation["shown"]
    table = Table(get_game("kuhn_poker"))
    table.do(table.match.resign(0, 0))
    for viewer in (0, 1, None):
        snapshot = table.match.snapshot(viewer, 0)
        assert snapshot.observation["shown"] == (None, None)


def test_the_stranger_knows_nothing_of_ours() -> None:
    tree = ast.parse((Path(__file__).parent / "stranger.py").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] + [getattr(node, "module", "") or ""]
            assert not any(name.startswith("plyhouse") for name in names)
