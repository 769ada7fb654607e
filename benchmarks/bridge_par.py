"""IMPs a board that the bridge bot loses against double-dummy par, bidding and play apart.

The deals are random and seeded; board numbers give dealers and vulnerability.  All four seats hold
the same bot.  *Bidding* is the distance in IMPs between the par score and the points of the final
contract if all cards are played with open hands.  *Play* is the distance between those points and
the points that the bot made.  Tricks and par are those of DDS, called through endplay.

Par knows all four hands, so that no bidder reaches it.  ``--partners`` shows how near one comes who
knows its partner's hand as well as its own, and weighs each contract by deals of the other cards.

    pip install 'plyhouse[bridge]'
    python benchmarks/bridge_par.py --boards 2000 --seed 1
    python benchmarks/bridge_par.py --boards 2000 --seed 1 --play 100 --samples 30
    python benchmarks/bridge_par.py --boards 2000 --seed 1 --partners 200 --samples 12
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from bridge_accidents import accidents_of
from endplay.dds import calc_all_tables, par
from endplay.types import Deal, Denom, Player, Vul

from plyhouse.bots.reference.bridge_bot import DoubleDummyBot
from plyhouse.games.hidden.bridge.bidding import best_call
from plyhouse.games.hidden.bridge.cards import CALL_NAMES, PACK, PASS, bid_name, names
from plyhouse.games.hidden.bridge.rules import Bridge
from plyhouse.games.hidden.bridge.scoring import contract_points, dealer_of, is_vulnerable
from plyhouse.games.hidden.bridge.state import BridgeState

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.harness.bot_turns import turn_at

IMPS: Final = (
    20, 50, 90, 130, 170, 220, 270, 320, 370, 430, 500, 600, 750, 900, 1100, 1300, 1500, 1750,
    2000, 2250, 2500, 3000, 3500, 4000,
)  # fmt: skip
"""Differences of points from which one more IMP counts: Law 78B of the "Laws of Duplicate Bridge
2017"."""
DENOMINATIONS: Final = (Denom.clubs, Denom.diamonds, Denom.hearts, Denom.spades, Denom.nt)
SEATS: Final = (Player.north, Player.east, Player.south, Player.west)
BATCH: Final = 20
GAMES: Final = {14: "3NT", 17: "4H, 4S", 18: "4H, 4S", 20: "5C, 5D", 21: "5C, 5D"}


class Dealt(NamedTuple):
    """A board with its tricks by strain and declarer, and the points of North and South at par."""

    number: int
    hands: tuple[int, ...]
    tricks: list[list[int]]
    par: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boards", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tables", type=Path, help="file that keeps tricks for the next run")
    parser.add_argument("--play", type=int, default=0, help="boards to play as well")
    parser.add_argument(
        "--partners", type=int, default=0, help="boards to bid with both hands open"
    )
    parser.add_argument("--samples", type=int, default=30, help="deals that a bidder or bot draws")
    parser.add_argument("--worst", type=int, default=0, help="boards to print, the worst first")
    options = parser.parse_args()
    boards = dealt_boards(options.boards, options.seed, options.tables)
    ended = [auctioned(board) for board in boards]
    bidding_report(boards, ended, options.worst)
    if options.partners:
        partners_report(boards, ended, options.partners, options.samples)
    if options.play:
        play_report(boards, ended, options.play, options.samples)


def imps(points: int) -> int:
    """Return the IMPs for a difference of points, without a sign."""
    return sum(abs(points) >= bound for bound in IMPS)


def mean_text(values: Sequence[float]) -> str:
    """Return a mean with its 95 % interval."""
    mean = statistics.fmean(values)
    half = 1.96 * statistics.stdev(values) / math.sqrt(len(values))
    return f"{mean:.2f} [{mean - half:.2f}, {mean + half:.2f}]"


# Deals


def dealt_boards(count: int, seed: int, file: Path | None) -> list[Dealt]:
    """Return seeded deals with tricks and par; ``file`` keeps these, which take 0.4 s a deal."""
    rng = random.Random(seed)
    deals = []
    for _ in range(count):
        pack = rng.sample(range(PACK), PACK)
        deals.append(tuple([sum(1 << card for card in pack[at::4]) for at in range(4)]))
    known: dict[str, Any] = {}
    if file is not None and file.exists():
        known = json.loads(file.read_text())
    keys = [f"{at % 16 + 1} {deal_text(deal)}" for at, deal in enumerate(deals)]
    missing = [key for key in keys if key not in known]
    for at in range(0, len(missing), BATCH):
        batch = missing[at : at + BATCH]
        tables = calc_all_tables([Deal(key.partition(" ")[2]) for key in batch])
        for key, table in zip(batch, tables, strict=True):
            known[key] = solved(int(key.partition(" ")[0]), table)
        if file is not None:
            file.write_text(json.dumps(known))
    return [
        Dealt(at % 16 + 1, deal, known[key]["tricks"], known[key]["par"])
        for at, (key, deal) in enumerate(zip(keys, deals, strict=True))
    ]


def deal_text(hands: tuple[int, ...]) -> str:
    """Return a deal as PBN writes it."""
    words = []
    for hand in hands:
        cards = names(hand)
        words.append(".".join(["".join([c[1] for c in cards if c[0] == s]) for s in "SHDC"]))
    return "N:" + " ".join(words)


def solved(number: int, table: Any) -> dict[str, Any]:
    """Return the tricks of each strain and declarer, and the par of a board with this number."""
    vulnerable = {
        (False, False): Vul.none,
        (True, False): Vul.ns,
        (False, True): Vul.ew,
        (True, True): Vul.both,
    }[is_vulnerable(number, 0), is_vulnerable(number, 1)]
    return {
        "tricks": tricks_of(table),
        "par": par(table, vulnerable, SEATS[dealer_of(number)]).score,
    }


# Bidding


def auctioned(board: Dealt) -> BridgeState:
    """Return the state after the auction, or after the board if all passed."""
    state: Any = BridgeState(dealer_of(board.number), board.number, count=PACK, hands=board.hands)
    while state.to_move >= 0 and state.declarer < 0:
        state = state.called(best_call(state.hands[state.to_move], state.calls))
    final: BridgeState = state
    return final


def points_of(board: Dealt, state: BridgeState) -> int:
    """Return the points of North and South if all play on with open hands."""
    if state.declarer < 0:
        return 0
    contract = Contract(state.bid, state.declarer)
    return north_points(board.number, contract, state.risk, board.tricks)


def kind_of(state: BridgeState) -> str:
    """Return the kind of a final contract."""
    if state.declarer < 0:
        return "passed out"
    if state.bid >= 25:
        return "slam"
    return GAMES.get(state.bid, "5NT" if state.bid == 24 else "part score or between")


def bidding_report(boards: list[Dealt], ended: list[BridgeState], worst: int) -> None:
    """Print IMPs lost in bidding, the kinds of contracts with theirs, and accidents."""
    lost = [
        imps(board.par - points_of(board, state))
        for board, state in zip(boards, ended, strict=True)
    ]
    print(f"{len(boards):,} boards, bidding: {mean_text(lost)} IMPs a board against par")
    groups: dict[str, list[int]] = {}
    made: Counter[str] = Counter()
    for board, state, each in zip(boards, ended, lost, strict=True):
        kind = kind_of(state)
        groups.setdefault(kind, []).append(each)
        if state.declarer >= 0:
            tricks = board.tricks[state.bid % 5][state.declarer]
            made[kind] += tricks >= state.bid // 5 + 7
    for kind, values in sorted(groups.items(), key=lambda each: -len(each[1])):
        print(
            f"  {kind}: {len(values) / len(boards):.1%}, "
            f"made {made[kind] / len(values):.0%}, {statistics.fmean(values):.2f} IMPs"
        )
    doubled = [state for state in ended if state.declarer >= 0 and state.risk > 1]
    print(f"  doubled: {len(doubled)}")
    accidents: Counter[str] = Counter()
    for state in ended:
        accidents.update(accidents_of(state))
    for name, count in sorted(accidents.items()):
        print(f"  accident, {name}: {count}")
    order = sorted(range(len(boards)), key=lambda at: -lost[at])
    for at in order[:worst]:
        print_board(boards[at], ended[at], lost[at])


def print_board(board: Dealt, state: BridgeState, lost: int) -> None:
    """Print a board with its auction."""
    print(f"\nboard {board.number}: {lost} IMPs, par {board.par}, {points_of(board, state)}")
    for seat, hand in zip("NESW", deal_text(board.hands)[2:].split(), strict=True):
        print(f"  {seat} {hand}")
    start = "NESW"[dealer_of(board.number)]
    print(f"  {start}: " + " ".join([CALL_NAMES[call - PASS] for call in state.calls]))
    if state.declarer >= 0:
        tricks = board.tricks[state.bid % 5][state.declarer]
        print(f"  {bid_name(state.bid)} by {'NESW'[state.declarer]}, {tricks} tricks")


# Bidding by pairs who know both of their hands


class Contract(NamedTuple):
    """A bid from 0 for 1C to 34 for 7NT, and the seat that declares it."""

    bid: int
    declarer: int


def partners_report(
    boards: list[Dealt], ended: list[BridgeState], count: int, samples: int
) -> None:
    """Print IMPs between par and the contracts of pairs who know both of their hands."""
    rng = random.Random(1)
    lost, ours = [], []
    for board, state in zip(boards[:count], ended[:count], strict=True):
        drawn = [tables_of(others_dealt(board.hands, side, samples, rng)) for side in range(2)]
        contract, risk = agreed(board, drawn)
        points = 0 if contract is None else north_points(board.number, contract, risk, board.tricks)
        lost.append(imps(board.par - points))
        ours.append(imps(board.par - points_of(board, state)))
    print(f"{len(lost)} boards, both hands known, {samples} deals: {mean_text(lost)} IMPs a board")
    print(f"  the bot on the same boards: {mean_text(ours)}")


def others_dealt(
    hands: tuple[int, ...], side: int, count: int, rng: random.Random
) -> list[tuple[int, ...]]:
    """Return deals in which the other pair's cards are dealt anew; side 0 is North and South."""
    cards = [card for card in range(PACK) if (hands[1 - side] | hands[3 - side]) >> card & 1]
    deals = []
    for _ in range(count):
        rng.shuffle(cards)
        new = list(hands)
        for place, seat in enumerate((1 - side, 3 - side)):
            new[seat] = sum(1 << card for card in cards[13 * place : 13 * place + 13])
        deals.append(tuple(new))
    return deals


def tables_of(deals: list[tuple[int, ...]]) -> list[list[list[int]]]:
    """Return the tricks of each deal by strain and declarer."""
    found: list[list[list[int]]] = []
    for at in range(0, len(deals), BATCH):
        batch = calc_all_tables([Deal(deal_text(deal)) for deal in deals[at : at + BATCH]])
        found += map(tricks_of, batch)
    return found


def tricks_of(table: Any) -> list[list[int]]:
    """Return the tricks of a solved deal by strain and declarer."""
    return [[table[strain, seat] for seat in SEATS] for strain in DENOMINATIONS]


def north_points(number: int, contract: Contract, risk: int, tricks: list[list[int]]) -> int:
    """Return the points of North and South for a contract played with open hands.

    ``risk`` is that of `contract_points`.
    """
    bid, declarer = contract
    vulnerable = is_vulnerable(number, declarer)
    made = tricks[bid % 5][declarer]
    points = contract_points(bid, risk, vulnerable, made)
    return -points if declarer % 2 else points


def agreed(board: Dealt, drawn: list[list[list[list[int]]]]) -> tuple[Contract | None, int]:
    """Return the contract of an auction and its risk: 2 if it is doubled, otherwise 1.

    A pair bids what it expects to bring it most, as long as that is more than the contract that
    stands.  It expects a double where that costs it points.
    """

    def expected(side: int, contract: Contract, risk: int) -> float:
        points = [north_points(board.number, contract, risk, each) for each in drawn[side]]
        return statistics.fmean(points) * (-1 if side else 1)

    def worth(side: int, contract: Contract) -> float:
        found = [expected(side, contract, risk) for risk in (1, 2)]
        return min(found) if contract.declarer % 2 == side else max(found)

    standing: Contract | None = None
    side, passes = dealer_of(board.number) % 2, 0
    while passes < 2:
        least = 0 if standing is None else standing.bid + 1
        choices = [Contract(bid, seat) for bid in range(least, 35) for seat in (side, side + 2)]
        best = max(choices, key=lambda each: worth(side, each), default=None)
        now = 0.0 if standing is None else worth(side, standing)
        if best is None or worth(side, best) <= now:
            passes += 1
        else:
            standing, passes = best, 1
        side = 1 - side
    if standing is None:
        return None, 1
    other = 1 - standing.declarer % 2
    return standing, 1 + (expected(other, standing, 2) > expected(other, standing, 1))


# Play


def played(state: BridgeState, samples: int, rng: random.Random) -> int:
    """Return the points of North and South after four equal bots have played the cards."""
    game = Bridge(boards=1)
    bot = DoubleDummyBot(samples=samples)
    while state.to_move >= 0:
        turn = turn_at(game, state, rng=rng)
        text: Any = bot.choose(turn)
        state = state.after(game.parse(state, text))
    return state.points


def play_report(boards: list[Dealt], ended: list[BridgeState], count: int, samples: int) -> None:
    """Print IMPs between the points with open hands and those played, for the first boards."""
    lost, signed = [], []
    for at in range(count):
        board, state = boards[at], ended[at]
        if state.declarer < 0:
            continue
        gained = played(state, samples, random.Random(at)) - points_of(board, state)
        if state.declarer % 2:
            gained = -gained
        lost.append(imps(gained))
        signed.append(imps(gained) if gained > 0 else -imps(gained))
    print(f"{len(lost)} boards, play with {samples} samples: {mean_text(lost)} IMPs a board")
    print(f"  of these to declarers: {mean_text(signed)}")


if __name__ == "__main__":
    main()
