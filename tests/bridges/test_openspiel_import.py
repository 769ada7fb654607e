"""Games of OpenSpiel keep our laws, and are known where an operator names them."""

from __future__ import annotations

import asyncio
import pickle
import random
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from tests.bridges.libraries import library
from tests.harness.patience import PATIENCE

from plyhouse.bots.running.python_session import RunOptions, RunSummary, SeekRequest, run_bot
from plyhouse.games import Information, UnknownGame, add_game_file, get_game, registry
from plyhouse.games.errors import InvalidGameSource, InvalidObservation, InvalidParameter
from plyhouse.games.rules import rules_text
from plyhouse.games.scene_text import render_text
from plyhouse.games.testing import check_game
from plyhouse.server.config import ServerConfig
from plyhouse.server.results.record import stored_record
from plyhouse.server.results.verify import verify
from plyhouse.server.serve import running_server
from plyhouse.storage import match_reads

if not TYPE_CHECKING:
    library("pyspiel", "openspiel")

from plyhouse.games.bridges import openspiel_import
from plyhouse.games.bridges.numbering import numbering_of
from plyhouse.games.bridges.openspiel_import import openspiel_names

LAWFUL = (
    "connect_four(rows=5)",
    "dark_hex(board_size=3)",
    "hex(board_size=4)",
    "kuhn_poker(players=3)",
    "leduc_poker",
    "lewis_signaling",
    "liars_dice",
    "mancala",
    "pig",
    "tic_tac_toe",
    "tiny_hanabi",
)


def game_of(name: str) -> Any:
    return get_game(f"openspiel:{name}", files=True)


@pytest.fixture
def nothing_added(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Games that a test makes known by name are forgotten after it."""
    monkeypatch.setattr(registry, "_added", {})
    yield
    registry._named_game.cache_clear()
    registry.game_class.cache_clear()


@pytest.mark.parametrize("name", LAWFUL)
def test_game_keeps_every_law(name: str) -> None:
    check_game(game_of(name), max_states=24)


def test_sequential_games_of_several_seats_are_offered() -> None:
    names = openspiel_names()
    assert len(names) > 50
    assert {"chess", "go", "hex", "kuhn_poker", "shogi"} <= set(names)
    assert not {"2048", "goofspiel", "phantom_go", "plyhouse_nim"} & set(names)


@pytest.mark.usefixtures("nothing_added")
async def test_server_hosts_a_game_with_clock_rating_record_and_pages() -> None:
    name = "openspiel:kuhn_poker"
    config = ServerConfig(port=0, database="sqlite:///:memory:", game_files=name, log_level="error")
    async with running_server(config) as server:

        async def play(player: str) -> RunSummary:
            row = await server.hub.store.add_player(player)
            token = await server.hub.store.add_token(row.id, ["play"])
            options = RunOptions(
                seeks=[SeekRequest(name, "total:10+0.1")], matches=1, say=lambda _: None
            )
            return await asyncio.wait_for(run_bot("random", server.url, token, options), PATIENCE)

        one, other = await asyncio.gather(play("anna"), play("bert"))
        result = one.results[0]
        assert result.outcome.termination == "normal"
        assert result.outcome == other.results[0].outcome
        stored = await server.hub.store.read(match_reads.stored_match, result.match)
        report = verify(stored_record(stored, get_game(name)))
        assert report.ok, str(report)
        async with httpx.AsyncClient(base_url=server.url) as client:
            for path in (f"/games/{name}", f"/leaderboards/{name}", f"/matches/{result.match}"):
                page = await client.get(path, follow_redirects=True)
                assert page.status_code == 200, path
                assert "Kuhn Poker" in page.text or name in page.text


def test_rules_are_left_to_openspiel() -> None:
    assert "documentation has the rules of hex" in rules_text(game_of("hex"))


def test_seats_see_nothing_that_is_hidden() -> None:
    game = game_of("kuhn_poker")
    start = game.initial_state()
    one, other = (start.after(0).after(card) for card in (1, 2))
    assert game.observe(one, 0) == game.observe(other, 0)
    assert game.observe(one, None) == game.observe(other, None)
    assert game.observe(one, 1) != game.observe(other, 1)
    assert game.visible(start.after(0), 1, 0) is None
    bet = one.actions()[1]
    assert game.visible(one, bet, 1) is None
    assert game.visible(one, bet, 0) == game.format(one, bet)


def test_sampled_states_differ_in_what_is_hidden() -> None:
    game = game_of("leduc_poker")
    state = game.initial_state().after(0).after(3)
    seen = game.observe(state, 0)
    found = {game.sample_state(seen, random.Random(seed)).inner.history()[1] for seed in range(40)}
    assert len(found) > 3


def test_game_too_large_to_sample_says_so() -> None:
    game = game_of("oh_hell")
    state = game.initial_state()
    while state.to_move < 0:
        state = state.after(state.chance_outcomes()[-1][0])
    with pytest.raises(InvalidObservation, match="no history found"):
        game.sample_state(game.observe(state, 0), random.Random(1))


def test_position_is_shown_as_text_with_buttons() -> None:
    game = game_of("tic_tac_toe")
    state = game.initial_state()
    state = state.after(game.parse(state, "x(1,1)"))
    drawn = render_text(game.scene(game.observe(state, 1)))
    assert ".x." in drawn
    assert "o(0,0)" in drawn
    assert "seat 2 to move" in drawn


def test_game_and_states_are_pickled() -> None:
    game = game_of("hex(board_size=3)")
    state = game.initial_state().after(4)
    held, copied = pickle.loads(pickle.dumps((game, state)))
    assert held == game
    assert held.spec == game.spec == "openspiel:hex(board_size=3)"
    assert game.describe(copied) == game.describe(state)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("no_such_game", "no game of this name"),
        ("goofspiel", "do not act in turn"),
        ("phantom_go", "one seat|samples chance|information_state_string"),
        ("2048", "one seat"),
    ],
)
def test_unfit_game_is_refused_with_the_reason(name: str, reason: str) -> None:
    with pytest.raises(InvalidGameSource, match=reason):
        game_of(name)


@pytest.mark.parametrize("values", ["board_size=16", "board_size=1", "string_rep=explicit"])
def test_parameters_beyond_the_bounds_are_refused(values: str) -> None:
    with pytest.raises(InvalidParameter):
        game_of(f"hex({values})")


@pytest.mark.usefixtures("nothing_added")
def test_clients_name_only_games_that_an_operator_added() -> None:
    with pytest.raises(UnknownGame):
        get_game("openspiel:hex")
    assert add_game_file("openspiel:hex") == "openspiel:hex"
    game = get_game("openspiel:hex(board_size=5)")
    assert game.spec == "openspiel:hex(board_size=5)"
    assert "openspiel:hex" in registry.game_names()
    with pytest.raises(UnknownGame):
        get_game("openspiel:y")


def plays(game: Any, rng: random.Random, plies: int) -> Any:
    """Return the state after some random plies, chosen by their texts."""
    state = game.initial_state()
    for _ in range(plies):
        if state.to_move < 0:
            outcomes = state.chance_outcomes()
            if not outcomes:
                break
            state = state.after(rng.choice(outcomes)[0])
            continue
        seen = game.observe(state, state.to_move)
        state = state.after(game.parse(state, rng.choice(seen.legal)))
    return state


@pytest.mark.parametrize("name", openspiel_import._CHOICES)
def test_all_values_of_parameters_can_be_played(name: str) -> None:
    rng = random.Random(1)
    for parameter in game_of(name).info.parameters:
        for value in range(parameter.minimum, parameter.maximum + 1):
            plays(game_of(f"{name}({parameter.name}={value})"), rng, 12)


def test_actions_have_the_numbers_of_openspiel() -> None:
    game = game_of("hex(board_size=3)")
    numbering = numbering_of(game)
    assert numbering.size == 9
    assert numbering.legal(game.initial_state().after(4)) == [0, 1, 2, 3, 5, 6, 7, 8]


def test_every_game_offered_can_be_played() -> None:
    rng = random.Random(2)
    for name in openspiel_names():
        game = game_of(name)
        state = plays(game, rng, 6)
        hidden = game.info.information is Information.IMPERFECT
        assert not (hidden and game.observe(state, None).text), name
