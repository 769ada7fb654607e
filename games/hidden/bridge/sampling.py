"""Deals of bridge that fit what a seat knows: its cards, dummy, and who did not follow suit."""

from __future__ import annotations

import random

from plyhouse.games.hidden.bridge.state import BridgeState
from plyhouse.games.hidden.bridge.views import CALLS, BridgeObservation
from plyhouse.games.playing_cards import PACK, card_number, deal_at_random

__all__ = ["sampled_state"]

_CALLS = {text: call for call, text in CALLS.items()}
_SEATS = 4


def sampled_state(seen: BridgeObservation, boards: int, rng: random.Random) -> BridgeState:
    """Return a state that fits the observation, with the unknown cards at random."""
    played: list[int] = []
    counts = [(seen.dealt - seat + _SEATS - 1) // _SEATS for seat in range(_SEATS)]
    barred: list[set[int]] = [set() for _ in range(_SEATS)]
    for lead, cards in seen.tricks:
        trick = [card_number(card) for card in cards]
        for place, card in enumerate(trick):
            seat = (lead + place) % _SEATS
            if card % 4 != trick[0] % 4:
                barred[seat].update([one for one in range(PACK) if one % 4 == trick[0] % 4])
            played.append(64 * seat + card)
            counts[seat] -= 1
    hands: list[set[int]] = [set() for _ in range(_SEATS)]
    if seen.seat is not None:
        hands[seen.seat].update([card_number(card) for card in seen.hand])
    if seen.declarer is not None and seen.tricks:
        hands[(seen.declarer + 2) % _SEATS].update([card_number(card) for card in seen.dummy])
    known = {code & 63 for code in played}.union(*hands)
    unknown = [card for card in range(PACK) if card not in known]
    deal_at_random(unknown, counts, barred, hands, rng)
    side = 0 if seen.declarer is None else seen.declarer % 2
    return BridgeState(
        seen.to_move,
        boards,
        seen.board,
        tuple([sum([1 << card for card in hand]) for hand in hands]),
        seen.dealt,
        tuple([_CALLS[call] for call in seen.calls]),
        tuple(played),
        seen.taken[side],
        seen.points,
        seen.imps,
        _last(seen),
    )


def _last(seen: BridgeObservation) -> tuple[int, ...]:
    """Return the result of the last board, as states keep it."""
    if seen.last_taken is None:
        return ()
    if seen.last_declarer is None:
        return (-1, -1, 0, 0, 0)
    bid = seen.last_contract.rstrip("X")
    doubled = len(seen.last_contract) - len(bid)
    number = _CALLS[bid] - _CALLS["1C"]
    return (number, seen.last_declarer, doubled, seen.last_taken, seen.last_points)
