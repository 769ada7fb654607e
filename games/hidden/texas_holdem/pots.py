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
    order = [(button + step) % count for step in range(1, count + 1)]
    taken: list[int] = [0] * count
    for amount, seats in pots_of(paid, folded):
        able = [seat for seat in order if seats >> seat & 1]
        best = max([strengths[seat] for seat in able])
        winners = [seat for seat in able if strengths[seat] == best]
        share = amount // len(winners)
        for seat in winners:
            taken[seat] += share
        taken[winners[0]] += amount - share * len(winners)
    return tuple(taken)
