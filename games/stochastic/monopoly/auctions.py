"""Auctions of properties of the bank: seats bid in turn until all but one have passed."""

from __future__ import annotations

from plyhouse.games.stochastic.monopoly.legal import BIDS, bids
from plyhouse.games.stochastic.monopoly.position import (
    AUCTION,
    BANK,
    Position,
    pay,
    replaced,
    wait_for,
)

__all__ = ["next_bidder", "opened"]


def opened(position: Position) -> bool:
    """Open the auction of the first lot; return whether a seat has to bid."""
    position.bid = -1
    position.bidder = BANK
    bidders: int = 0
    for seat in range(position.rules.seats):
        if position.fallen[seat] == 0:
            bidders += 1 << seat
    position.bidders = bidders
    return next_bidder(position, position.turn)


def next_bidder(position: Position, before: int) -> bool:
    """Ask the next seat that can bid; close the auction and return False if there is none."""
    seats: int = position.rules.seats
    for step in range(1, seats + 1):
        seat: int = (before + step) % seats
        bit: int = 1 << seat
        if seat == position.bidder or position.bidders & bit == 0:
            continue
        if bids(position, seat):
            wait_for(position, seat, AUCTION)
            return True
        position.bidders &= ~bit
    item: int = position.lots[0]
    position.lots = position.lots[1:]
    if position.bidder != BANK:
        pay(position, position.bidder, BANK, BIDS[position.bid])
        position.owners = replaced(position.owners, item, position.bidder)
    position.bid = -1
    position.bidder = BANK
    position.bidders = 0
    return False
