"""Records of card games as PBN and PHH: see `plyhouse.server.results.notations`."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final

from plyhouse.games.base import CHANCE, Game
from plyhouse.games.hidden.bridge.cards import PACK, RANKS, SUIT_BITS, bid_name
from plyhouse.games.playing_cards import CARDS
from plyhouse.server.results.notation_parts import (
    date_of,
    names_of,
    plain,
    positions,
    remarks,
    tag_text,
)
from plyhouse.server.results.record import Record

SEATS: Final = "NESW"
IN_A_ROW: Final = 4
"""Calls, and cards of a trick, in a line of PBN."""


@dataclass
class _Board:
    """A board of bridge as it is played."""

    start: Any
    """The state after the deal; None before it is over."""
    calls: list[str] = field(default_factory=list)
    cards: list[tuple[int, str]] = field(default_factory=list)
    """Seat and card of each play."""
    auction: Any = None
    """The state after the auction; None before it is over."""
    result: tuple[int, ...] = ()
    """Number, bid, risk, declarer, tricks, and points of North and South, when it is over."""


def pbn(record: Record, game: Game, event: str) -> str:
    """Return a match of bridge as PBN, one part for each board that was dealt."""
    boards: list[_Board] = []
    for each, before, state in positions(record, game):
        if each.kind == "chance":
            if state.to_move != CHANCE:
                boards.append(_Board(state))
            continue
        board = boards[-1]
        if before.declarer < 0:
            board.calls.append(each.text)
        else:
            board.cards.append((before.hand_to_play(), each.text))
        if state.last != before.last:
            board.result = state.last
        elif state.declarer >= 0 and board.auction is None:
            board.auction = state
    return "\n".join([_pbn_board(record, each, event) for each in boards])


def _pbn_board(record: Record, board: _Board, event: str) -> str:
    start = board.start
    dealer = start.dealer()
    names = names_of(record)
    known = board.auction
    declarer = contract = tricks = score = ""
    if board.result:
        _, bid, risk, seat, won, points = board.result
        contract = bid_name(bid) + {1: "", 2: "X", 4: "XX"}[risk] if bid >= 0 else "Pass"
        if bid >= 0:
            declarer, tricks, score = SEATS[seat], str(won), f"NS {points}"
        else:
            score = "NS 0"
    elif known is not None:
        contract = bid_name(known.bid) + {1: "", 2: "X", 4: "XX"}[known.risk]
        declarer, tricks = SEATS[known.declarer], "?"
    else:
        declarer = contract = tricks = "?"
    vulnerable = {(False, False): "None", (True, False): "NS", (False, True): "EW"}
    tags = [
        *(("Event", event or "?"), ("Site", f"Plyhouse {record.match}")),
        *(("Date", date_of(record, ".")), ("Board", str(start.number()))),
        *(("West", names[3]), ("North", names[0]), ("East", names[1]), ("South", names[2])),
        ("Dealer", SEATS[dealer]),
        (
            "Vulnerable",
            vulnerable.get((start.is_vulnerable(0), start.is_vulnerable(1)), "All"),
        ),
        ("Deal", f"{SEATS[dealer]}:{' '.join(_hand(start, (dealer + i) % 4) for i in range(4))}"),
        *(("Scoring", "?"), ("Declarer", declarer), ("Contract", contract), ("Result", tricks)),
        *([("Score", score)] if score else []),
        *([] if board.result else [("Termination", each) for each in remarks(record)]),
    ]
    lines = [f'[{name} "{tag_text(value)}"]' for name, value in tags]
    if board.calls:
        open_end = [] if board.result or known is not None else ["*"]
        calls = [*board.calls, *open_end]
        lines.append(f'[Auction "{SEATS[dealer]}"]')
        lines += [" ".join(calls[at : at + IN_A_ROW]) for at in range(0, len(calls), IN_A_ROW)]
    if board.cards:
        leader = board.cards[0][0]
        lines.append(f'[Play "{SEATS[leader]}"]')
        for at in range(0, len(board.cards), IN_A_ROW):
            trick = dict(board.cards[at : at + IN_A_ROW])
            lines.append(" ".join(trick.get((leader + i) % 4, "-") for i in range(4)))
        if len(board.cards) < PACK:
            lines.append("*")
    return "\n".join(lines) + "\n"


def _hand(state: Any, seat: int) -> str:
    """Return a hand as ``AK.QJ3..T98``: spades, hearts, diamonds, clubs."""
    suits = []
    for suit in (3, 2, 1, 0):
        held = (state.hands[seat] & SUIT_BITS[suit]) >> (13 * suit)
        suits.append("".join(RANKS[rank] for rank in range(12, -1, -1) if held >> rank & 1))
    return ".".join(suits)


def phh(record: Record, game: Game, event: str) -> str:
    """Return a match of Texas hold'em as PHH, with a section for each hand that was begun.

    Players are in PHH's order: the one left of the button is the first.
    """
    hands: list[str] = []
    lines: list[str] = []
    begin: Any = game.initial_state()
    for each, before, state in positions(record, game):
        player = _player(before, before.to_move) if before.to_move >= 0 else 0
        if each.kind == "chance":
            lines += _dealt(before, state, (*before.cards, game.parse_chance(before, each.text)))
        elif each.text.startswith(("bet", "raise")):
            lines.append(f"p{player} cbr {each.text.split()[1]}")
        else:
            lines.append(f"p{player} {'f' if each.text == 'fold' else 'cc'}")
        if state.last != before.last:
            shown = state.last[2]
            lines += _shown(before, shown)
            hands.append(_section(record, event, begin, lines, len(hands) + 1))
            begin, lines = state, []
    if lines:
        lines += [f"# {each}" for each in remarks(record)]
        hands.append(_section(record, event, begin, lines, len(hands) + 1))
    return "\n".join(hands)


def _player(state: Any, seat: int) -> int:
    """Return PHH's number of a seat, from 1."""
    return int((seat - state.button() - 1) % state.rules.seats) + 1


def _seats(state: Any) -> list[int]:
    """Return the seats in PHH's order of players."""
    return [(state.button() + 1 + place) % state.rules.seats for place in range(state.rules.seats)]


def _dealt(before: Any, state: Any, cards: tuple[int, ...]) -> list[str]:
    """Return the deals that the last card completes: all hands at once, or cards on the table."""
    seats = before.rules.seats
    if len(cards) == 2 * seats:
        return [
            f"d dh p{place + 1} {_cards(state.hole(seat))}"
            for place, seat in enumerate(_seats(before))
        ]
    board = len(cards) - 2 * seats
    if board < 3:
        return []
    return [f"d db {_cards(cards[-3:] if board == 3 else cards[-1:])}"]


def _shown(before: Any, shown: tuple[tuple[int, ...], ...]) -> list[str]:
    """Return the hands that are shown at the end."""
    return [
        f"p{place + 1} sm {_cards(shown[seat])}"
        for place, seat in enumerate(_seats(before))
        if shown[seat]
    ]


def _cards(cards: tuple[int, ...]) -> str:
    return "".join(CARDS[card] for card in cards)


def _section(record: Record, event: str, begin: Any, lines: list[str], number: int) -> str:
    """Return one hand."""
    rules = begin.rules
    seats = _seats(begin)
    names = names_of(record)
    # In a duel, PHH takes the second player, who has the button, for that of the small blind.
    blinds = [rules.small_blind, rules.big_blind, *[0] * (rules.seats - 2)]
    variant = "FT" if rules.fixed else "NT"
    sizes = (
        f"small_bet = {rules.big_blind}\nbig_bet = {2 * rules.big_blind}"
        if rules.fixed
        else f"min_bet = {rules.big_blind}"
    )
    day = date_of(record, "-").split("-")
    date = [] if "??" in day else [f"day = {int(day[2])}", f"month = {int(day[1])}"]
    actions = [json.dumps(line) for line in lines if not line.startswith("#")]
    return "\n".join(
        [
            f"[{number}]",
            f"variant = '{variant}'",
            "ante_trimming_status = true",
            f"antes = {[rules.ante] * rules.seats}",
            f"blinds_or_straddles = {blinds}",
            sizes,
            f"starting_stacks = {[rules.stacks[seat] for seat in seats]}",
            "actions = [",
            *(f"  {each}," for each in actions),
            "]",
            f"players = {json.dumps([names[seat] for seat in seats], ensure_ascii=False)}",
            f"hand = {number}",
            f"event = {json.dumps(plain(event or record.match), ensure_ascii=False)}",
            *date,
            *([] if "????" in day[0] else [f"year = {int(day[0])}"]),
            *(line for line in lines if line.startswith("#")),
            "",
        ]
    )
