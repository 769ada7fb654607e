"""Hidden information is not sent: matches that differ only in secrets look alike."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from plyhouse.games import CHANCE, get_game
from plyhouse.games.errors import IllegalAction
from plyhouse.games.hidden.bridge.cards import BITS
from plyhouse.games.hidden.bridge.rules import Bridge
from plyhouse.games.hidden.coin_guess import CoinGuess
from plyhouse.games.hidden.hearts.state import QUEEN
from plyhouse.games.hidden.kuhn_poker import KuhnPoker
from plyhouse.games.hidden.scrabble.tiles import COUNTS, tile_names
from plyhouse.games.hidden.texas_holdem.rules import TexasHoldem
from plyhouse.games.playing_cards import cards_by_suit
from plyhouse.server.match.chance import Chance
from plyhouse.server.match.events import end_data
from plyhouse.server.match.time_control import SECOND

from .harness import Table


class Dealt(Chance):
    """Chance that deals given outcomes."""

    def __init__(self, outcomes: list[str], game: Any) -> None:
        super().__init__(bytes(32), "pairing")
        self.outcomes = outcomes
        self.game = game

    def draw(self, counter: int, outcomes: Any) -> Any:
        return outcomes[int(self.outcomes[counter])][0]


def deal(table: Table, choices: list[str]) -> None:
    table.match.course.chance = Dealt(choices, table.match.game)
    table.match.audience.subscribe(None, scenes=True)
    for seat in range(table.match.seats):
        table.match.audience.subscribe(seat, scenes=True)
        table.do(table.match.ready(seat, "00", 0, re=1))


def script(table: Table, texts: list[str]) -> None:
    """Play texts, and with them what leads to errors and snapshots."""
    for number, text in enumerate(texts):
        if table.match.status != "running":
            break
        mover = table.match.seat_to_move
        table.act("no such action", think=SECOND)
        table.act(text, think=(number + 1) * SECOND)
        if table.match.status == "running":
            table.act(text, seat=mover, ply=table.match.ply + 1)
        for seat in range(table.match.seats):
            table.ask("sync", seat)
        table.broadcasts.append(table.match.snapshot(None, table.now))


@pytest.mark.parametrize("seats", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_opponents_cards_change_nothing_that_a_seat_is_sent(seats: int, seed: int) -> None:
    game = KuhnPoker(seats=seats)
    rng = random.Random(seed)
    cards: dict[tuple[int, ...], list[str]] = {}
    state: Any = None
    for choices in itertools.product(range(seats + 1), repeat=seats):
        dealt = game.initial_state()
        try:
            for choice in choices:
                dealt = dealt.after(dealt.chance_outcomes()[choice][0])
        except IndexError:
            continue
        cards[choices] = [str(game.information_state(dealt, seat)) for seat in range(seats)]
        state = dealt
    texts = []
    while state.to_move >= 0:
        action = rng.choice(state.actions())
        texts.append(game.format(state, action))
        state = state.after(action)
    assert len(texts) >= 2
    # All plies but the last: a showdown shows cards, as it should.
    seen: list[dict[str, set[str]]] = [{} for _ in range(seats + 1)]
    for choices, known in cards.items():
        table = Table(game, "total:600+0", ready=False, illegal_rule="retry")
        deal(table, [str(choice) for choice in choices])
        script(table, texts[:-1])
        assert table.match.status == "running"
        for seat in range(seats):
            seen[seat].setdefault(known[seat], set()).add(str(table.inbox[seat]))
        seen[seats].setdefault("", set()).add(str(table.broadcasts))
    for by_card in seen[:seats]:
        assert len(by_card) == seats + 1
    for by_card in seen:
        assert {len(views) for views in by_card.values()} == {1}


def exchanged(rng: random.Random) -> tuple[list[list[int]], list[str], tuple[int, int]]:
    """Return two deals of hearts, texts of actions for both, and the seats that differ.

    The seats have exchanged a card of the same suit, which nobody passes or plays in the texts.
    """
    game: Any = get_game("hearts(deals=1)")
    while True:
        pack = rng.sample(range(52), 52)
        state = game.initial_state()
        for card in pack:
            state = state.after(card)
        first, texts, used = state, [], set()
        for _ in range(22):
            action = rng.choice(state.actions())
            used.add(action)
            texts.append(game.format(state, action))
            state = state.after(action)
        one, other = rng.sample(range(4), 2)
        fits = [
            (a, b)
            for a in cards_by_suit(first.hands[one])
            for b in cards_by_suit(first.hands[other])
            if a % 4 == b % 4 and not used & {a, b} and QUEEN not in (a, b) and 0 not in (a, b)
        ]
        if fits:
            a, b = rng.choice(fits)
            swapped = [{a: b, b: a}.get(card, card) for card in pack]
            return [pack, swapped], texts, (one, other)


@pytest.mark.parametrize("seed", range(6))
def test_other_hands_change_nothing_that_a_seat_of_hearts_is_sent(seed: int) -> None:
    game = get_game("hearts(deals=1)")
    deals, texts, differ = exchanged(random.Random(seed))
    seen = []
    for pack in deals:
        left = sorted(pack)
        choices = []
        for card in pack:
            choices.append(str(left.index(card)))
            left.remove(card)
        table = Table(game, "total:600+0", ready=False, illegal_rule="retry")
        deal(table, choices)
        script(table, texts)
        assert table.match.status == "running"
        seen.append([str(table.inbox[seat]) for seat in range(4)] + [str(table.broadcasts)])
    for viewer in range(5):
        assert (seen[0][viewer] == seen[1][viewer]) == (viewer not in differ)


def scrabble_match(game: Any, own: list[int], others: list[int]) -> tuple[list[str], list[str]]:
    """Return draws and actions of a match: seat 0 draws ``own`` tiles, seat 1 ``others``.

    Seat 0 exchanges two tiles, and then makes the play of most points.  Seat 1 exchanges three
    tiles, passes, and exchanges one.  Where it may, it accepts plays and challenges them by turns.
    """
    state = game.initial_state()
    draws: list[str] = []
    texts: list[str] = []
    piles = iter(own), iter(others)
    turns = 0
    answers = itertools.cycle(("accept", "challenge"))
    while turns < 8 or state.to_move < 0:
        if state.laid:
            texts.append(next(answers))
            state = state.after(texts[-1])
            continue
        if state.to_move < 0:
            tile = next(piles[state.turn])
            names = [outcome for outcome, _ in state.chance_outcomes()]
            draws.append(str(names.index(tile)))
            state = state.after(tile)
            continue
        rack = tile_names(state.racks[state.turn])
        best = state.plays(True).texts if state.to_move == 0 else []
        count = {0: 2, 1: 3, 3: 0, 5: 1}.get(turns)
        turns += 1
        text = best[-1] if count is None and best else f"-{rack[: count or 0]}"
        texts.append(text)
        state = state.after(text)
    return draws, texts


@pytest.mark.parametrize(
    ("seed", "challenges"), [(0, "none"), (1, "single"), (2, "double"), (3, "five"), (4, "none")]
)
def test_tiles_of_others_change_nothing_that_a_seat_is_sent(seed: int, challenges: str) -> None:
    game = get_game(f"scrabble(challenges={challenges})")
    rng = random.Random(seed)
    tiles = [tile for tile, count in enumerate(COUNTS) for _ in range(count)]
    rng.shuffle(tiles)
    own, others = tiles[:40], tiles[40:]
    seen = []
    actions = []
    for _ in range(2):
        rng.shuffle(others)
        draws, texts = scrabble_match(game, own, others)
        table = Table(game, "total:600+0", ready=False, illegal_rule="retry")
        deal(table, draws)
        script(table, texts)
        assert table.match.status == "running"
        actions.append(texts)
        seen.append([str(table.inbox[seat]) for seat in range(2)] + [str(table.broadcasts)])
    assert actions[0] != actions[1]
    assert seen[0][0] == seen[1][0]
    assert seen[0][1] != seen[1][1]
    assert seen[0][2] == seen[1][2]


def test_the_hidden_coin_changes_nothing_that_the_guesser_is_sent() -> None:
    views = set()
    for coin in ("penny", "nickel"):
        table = Table(CoinGuess(), "total:600+0", ready=False, illegal_rule="retry")
        deal(table, [])
        script(table, [coin])
        assert table.match.status == "running"
        views.add((str(table.inbox[1]), str(table.broadcasts)))
        hidden = [event for event in table.match.views.events(1) if event.seat == 0]
        # Thinking times are public: the clocks show them as well.
        assert [(event.action, event.ms) for event in hidden] == [(None, 2000)]
        assert table.match.views.events(0)[0].action == coin
    assert len(views) == 1


def test_the_coin_from_the_bag_is_hidden_until_the_guess() -> None:
    game = CoinGuess(variant="bag")
    views = set()
    for choice in ("0", "1"):
        table = Table(game, "total:600+0", ready=False, illegal_rule="retry")
        deal(table, [choice])
        script(table, [])
        table.ask("sync", 0)
        views.add((str(table.inbox), str(table.broadcasts)))
    assert len(views) == 1


def bridge_matches(seed: int) -> tuple[list[list[str]], list[str], Any]:
    """Deals that differ only in cards that nobody has shown, and calls and plays that fit all."""
    game = Bridge(boards=1)
    rng = random.Random(seed)
    state = game.initial_state()
    while state.to_move == CHANCE:
        state = state.after(rng.choice(state.chance_outcomes())[0])
    texts = []
    while state.declarer < 0:
        calls = state.actions()
        call = calls[0] if state.bid >= 0 else rng.choice(calls[1:8])
        texts.append(game.format(state, call))
        state = state.after(call)
    for _ in range(rng.randrange(1, 30)):
        card = rng.choice(state.actions())
        texts.append(game.format(state, card))
        state = state.after(card)
    viewer = rng.choice([state.declarer, (state.declarer + 1) % 4, (state.declarer + 3) % 4])
    watching = state if state.to_move == viewer else None
    while watching is None:
        card = rng.choice(state.actions())
        texts.append(game.format(state, card))
        state = state.after(card)
        if state.to_move < 0:
            return bridge_matches(seed + 1000)
        watching = state if state.to_move == viewer else None
    seen = game.observe(state, viewer)
    deals = [state.hands] + [game.sample_state(seen, rng).hands for _ in range(4)]
    outcomes = []
    for hands in deals:
        dealt = game.initial_state()
        choices = []
        left = [[card for card in range(52) if hand & BITS[card]] for hand in hands]
        while dealt.to_move == CHANCE:
            card = left[(dealt.count + 1) % 4].pop()
            possible = [outcome for outcome, _ in dealt.chance_outcomes()]
            choices.append(str(possible.index(card)))
            dealt = dealt.after(card)
        outcomes.append(choices)
    return outcomes, texts, viewer


@pytest.mark.parametrize("seed", range(6))
def test_hidden_cards_of_bridge_change_nothing_that_others_are_sent(seed: int) -> None:
    outcomes, texts, viewer = bridge_matches(seed)
    assert len({tuple(choices) for choices in outcomes}) > 1
    views = set()
    frames = 0
    for choices in outcomes:
        table = Table(Bridge(boards=1), "total:600+0", ready=False, illegal_rule="retry")
        deal(table, choices)
        script(table, texts)
        assert table.match.status == "running"
        frames += len(table.inbox[viewer]) + len(table.broadcasts)
        views.add((str(table.inbox[viewer]), str(table.broadcasts)))
    assert len(views) == 1
    assert frames > 5 * len(texts)


def test_refusals_in_hidden_games_do_not_quote_the_position() -> None:
    table = Table(KuhnPoker(), illegal_rule="retry")
    cards = [row.text for row in table.rows if row.kind == "chance"]
    answer = table.act("no such action")
    assert answer.code in ("action/invalid", "action/illegal")
    assert answer.legal
    assert not any(f" {card}" in answer.message for card in cards), answer.message


def test_an_illegal_bet_is_answered_with_its_rule_and_changes_nothing() -> None:
    table = Table(TexasHoldem(), illegal_rule="retry")
    cards = [row.text for row in table.rows if row.kind == "chance"]
    match = table.match
    before = match.position.state, match.position.ply, match.clock.running
    answer = table.act("raise 3")
    assert answer.code == "action/illegal"
    assert "because the least raise is to 4" in answer.message
    assert not any(card in answer.message for card in cards), answer.message
    assert (match.position.state, match.position.ply, match.clock.running) == before


class Telltale(KuhnPoker):
    """Its errors quote the position, cards and all."""

    def parse(self, state: Any, text: str) -> Any:
        raise IllegalAction(text, "", [self.describe(state)])


def test_what_is_kept_of_an_illegal_action_does_not_quote_a_hidden_position() -> None:
    table = Table(Telltale())
    cards = [row.text for row in table.rows if row.kind == "chance"]
    table.act("all in")
    kept = end_data(table.rows[-1]).detail
    assert "'all in' is not legal here" in kept
    assert not any(card in kept for card in cards), kept
