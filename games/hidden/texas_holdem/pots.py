"""Main pot and side pots: who may win which chips, and how they are divided.

>>> pots_of((5, 20, 20, 12), 0b1000)
((20, 7), (37, 6))
"""

from __future__ import annotations

__all__ = ["divided", "pots_of"]


def pots_of(paid: tuple[int, ...], folded: int) -> tuple[tuple[int, int], ...]:
    """Return chips of each pot and the seats that may win it, the main pot first.

    ``paid`` has the chips of each seat in the hand, and ``folded`` and the seats of a pot are sets
    of bits.  Chips that nobody has matched are a pot of their own, which returns to its seat.
    """
    levels: list[int] = []
    for seat, chips in enumerate(paid):
        if not folded >> seat & 1 and chips not in levels:
            levels.append(chips)
    levels.sort()
    pots: list[tuple[int, int]] = []
    reached: int = 0
    for level in levels:
        amount: int = 0
        seats: int = 0
        for seat, chips in enumerate(paid):
            amount += min(chips, level) - min(chips, reached)
            if chips >= level and not folded >> seat & 1:
                seats += 1 << seat
        if amount > 0:
            pots.append((amount, seats))
        reached = level
    return tuple(pots)


def divided(
    paid: tuple[int, ...], folded: int, strengths: tuple[int, ...], button: int
) -> tuple[int, ...]:
    """Return the chips that each seat takes from all pots.

    The best strength of those who may win a pot takes it.  Equal hands share each pot for itself,
    and odd chips of a pot go to the first of them left of the button.
    """
    count: int = len(paid)
    taken: list[int] = [0] * count
    for amount, seats in pots_of(paid, folded):
        best: int = -1
        winners: int = 0
        first: int = -1
        for step in range(1, count + 1):
            seat: int = (button + step) % count
            if not seats >> seat & 1:
                continue
            strength: int = strengths[seat]
            if strength > best:
                best = strength
                winners = 0
                first = seat
            if strength == best:
                winners += 1
        share: int = amount // winners
        for seat in range(count):
            if seats >> seat & 1 and strengths[seat] == best:
                taken[seat] += share
        taken[first] += amount - share * winners
    return tuple(taken)
