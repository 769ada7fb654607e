"""``resolving``: its subgames are safer than its blueprint, which it plays without time."""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from tests.harness.bot_turns import turn_at

from plyhouse.bots import Turn
from plyhouse.bots.reference import resolving_bot
from plyhouse.bots.reference.resolving_bot import ResolvingBot
from plyhouse.games.errors import GameMismatch
from plyhouse.games.registry import get_game
from plyhouse.protocol.messages import Event
from plyhouse.search import TabularPolicy, cfr, nash_conv
from plyhouse.search.equilibria.resolving import public_record

LEDUC = get_game("leduc_poker")
BETTING = (
    ("check", "check"),
    ("check", "raise", "call"),
    ("check", "raise", "raise", "call"),
    ("raise", "call"),
    ("raise", "raise", "call"),
)


@pytest.fixture(autouse=True)
def _forgetful() -> Iterator[None]:
    yield
    ResolvingBot.policies.clear()
    ResolvingBot.solutions.clear()


def turn_after(game: Any, texts: tuple[str, ...], seconds: float | None = None) -> Turn:
    """Return the turn that follows these actions and chance outcomes."""
    state = game.initial_state()
    passed = []
    for text in texts:
        chance = state.to_move == -1
        action = game.parse_chance(state, text) if chance else game.parse(state, text)
        passed.append((state, action))
        state = state.after(action)
    seat = state.to_move
    return turn_at(
        game,
        state,
        history=[
            Event(ply, before.to_move, game.visible(before, action, seat))
            for ply, (before, action) in enumerate(passed)
        ],
        rng=random.Random(1),
        soft=None if seconds is None else round(seconds * 1e9),
        hard=None if seconds is None else round(seconds * 1e9),
        clock_ns=lambda: 0,
    )


@pytest.fixture
def coarse(tmp_path: Path) -> str:
    path = tmp_path / "coarse.policy"
    cfr(LEDUC, iterations=20).policy.save(path)
    return str(path)


def test_resolving_every_second_round_lowers_nash_conv(
    coarse: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resolving_bot, "MOST_ITERATIONS", 100)
    blueprint = cfr(LEDUC, iterations=20).policy
    table = dict(blueprint.table)
    for betting in BETTING:
        for board in ("Js", "Jh", "Qs", "Qh", "Ks", "Kh"):
            own, other = [card for card in ("Js", "Qh", "Ks") if card != board][:2]
            for more in ((), ("check",), ("raise",)):
                bot = ResolvingBot(coarse)
                turn = turn_after(LEDUC, (own, other, *betting, board, *more))
                assert bot.choose(turn) in turn.legal
                assert bot.played is not None
                table |= {
                    key: shares
                    for key, shares in bot.played.table.items()
                    if shares != blueprint.table[key]
                }
    before = nash_conv(LEDUC, blueprint)
    assert nash_conv(LEDUC, TabularPolicy(LEDUC, table)) < 0.8 * before


def test_next_turn_continues_from_the_resolved_policy(coarse: str) -> None:
    bot = ResolvingBot(coarse)
    bot.choose(turn_after(LEDUC, ("Js", "Ks", "check", "check", "Qs")))
    first = bot.played
    assert first is not None
    blueprint = bot.policies[coarse, "leduc_poker"]
    changed = [key for key, shares in first.table.items() if shares != blueprint.table[key]]
    assert changed
    assert all(key.startswith("[0,") for key in changed), "only the own seat is resolved"
    bot.choose(turn_after(LEDUC, ("Js", "Ks", "check", "check", "Qs", "check", "raise")))
    assert bot.played is not first


def test_pair_raises_after_resolving() -> None:
    bot = ResolvingBot()
    actions = [
        bot.choose(turn_after(LEDUC, ("Ks", "Qs", "raise", "call", "Kh", "check", "raise")))
        for _ in range(3)
    ]
    assert actions == [2, 2, 2]


def test_without_time_the_blueprint_is_played(coarse: str) -> None:
    bot = ResolvingBot(coarse)
    bot.choose(turn_after(LEDUC, ("Js", "Ks", "check", "check", "Qs"), seconds=0.0))
    assert bot.played is bot.policies[coarse, "leduc_poker"]


def test_subgame_too_large_for_the_time_is_not_resolved() -> None:
    game = get_game("liars_dice(faces=4)")
    bot = ResolvingBot(iterations=1)
    early = turn_after(game, ("2", "3"), seconds=0.001)
    assert bot.resolved(early, TabularPolicy(game, {})) is None
    late = turn_after(game, ("2", "3", "1x3", "2x2"), seconds=10.0)
    assert bot.resolved(late, TabularPolicy(game, {})) is not None


def test_liars_dice_with_three_seats_is_played_by_the_blueprint() -> None:
    game = get_game("liars_dice(seats=3,faces=2)")
    bot = ResolvingBot(iterations=1)
    turn = turn_after(game, ("1", "2", "1", "1x1"))
    assert bot.choose(turn) in turn.legal
    assert bot.played is bot.policies["", game.spec]


def test_bot_that_takes_over_plays_on_after_actions_its_blueprint_never_takes() -> None:
    bot = ResolvingBot()
    folds = {
        key: {action: float(action == max(shares)) for action in shares}
        for key, shares in cfr(LEDUC, iterations=1).policy.table.items()
    }
    blueprint = TabularPolicy(LEDUC, folds)
    turn = turn_after(LEDUC, ("Js", "Ks", "check", "check", "Qs"))
    assert bot.resolved(turn, blueprint) is None


def test_public_record_hides_own_cards_too() -> None:
    turn = turn_after(LEDUC, ("Js", "Ks", "check", "raise", "call", "Qs"))
    events = [(event.seat, event.action) for event in turn.history]
    assert events[:2] == [(-1, "Js"), (-1, None)]
    assert public_record(LEDUC, events, 0) == (
        *((-1, None), (-1, None)),
        *((0, "check"), (1, "raise"), (0, "call")),
        (-1, "Qs"),
    )
    with pytest.raises(ValueError, match="goes on with 'fold' of seat 0"):
        public_record(LEDUC, [*events, (0, "fold")], 0)


def test_bot_with_too_many_hidden_states_plays_its_blueprint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(resolving_bot, "resolve_subgame")
    game = get_game("liars_dice(dice=3,faces=6)")
    turn = turn_after(game, ("1", "2", "3", "4", "5", "6"), seconds=0.01)
    assert ResolvingBot().resolved(turn, TabularPolicy(game, {})) is None


def test_public_record_with_too_many_states_is_refused() -> None:
    game = get_game("liars_dice(dice=3,faces=6)")
    turn = turn_after(game, ("1", "2", "3", "4", "5", "6"))
    events = [(event.seat, event.action) for event in turn.history]
    assert len(public_record(game, events, 0, max_nodes=216)) == 6
    with pytest.raises(GameMismatch, match="more than 215 states are possible"):
        public_record(game, events, 0, max_nodes=215)


def test_bot_without_time_for_a_blueprint_names_itself(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = ResolvingBot()
    monkeypatch.setitem(bot.solutions, LEDUC.spec, Future())  # still being worked out
    bot.choose(turn_after(LEDUC, ("Js", "Ks"), seconds=0.0))
    assert 'play resolving(file="FILE")' in capfd.readouterr().err
