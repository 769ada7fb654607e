"""Stakes of a match of Texas hold'em: stacks, blinds, ante, limit, and the number of hands."""

from __future__ import annotations

import functools
from typing import Any, final

__all__ = ["Rules", "rules_of"]


@final
class Rules:
    """Tables shared by all positions of a match; made by `rules_of` only."""

    def __init__(
        self,
        stacks: tuple[int, ...],
        small_blind: int,
        big_blind: int,
        ante: int,
        fixed: bool,
        hands: int,
        few_sizes: bool,
    ) -> None:
        self.seats: int = len(stacks)
        self.stacks: tuple[int, ...] = stacks
        self.small_blind: int = small_blind
        self.big_blind: int = big_blind
        self.ante: int = ante
        self.fixed: bool = fixed
        self.hands: int = hands
        self.few_sizes: bool = few_sizes
        """Whether only some sizes of bets are offered, for searches."""
        self.unit: float = 100.0 / (float(big_blind) * float(hands))
        """Big blinds per hundred hands that one chip of a match is worth."""

    def __reduce__(self) -> tuple[Any, ...]:
        return rules_of, (
            self.stacks,
            self.small_blind,
            self.big_blind,
            self.ante,
            self.fixed,
            self.hands,
            self.few_sizes,
        )


@functools.cache
def rules_of(
    stacks: tuple[int, ...],
    small_blind: int,
    big_blind: int,
    ante: int,
    fixed: bool,
    hands: int,
    few_sizes: bool = False,
) -> Rules:
    """Return the one `Rules` of these parameters."""
    return Rules(stacks, small_blind, big_blind, ante, fixed, hands, few_sizes)
