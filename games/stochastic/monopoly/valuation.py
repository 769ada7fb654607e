"""Worth of money and deeds to a seat: an estimate of the ranking at the end.

Each property earns its rent with the chance that a seat lands there in a turn.  The estimate adds
that income over the rounds to come, at most `HORIZON` of them, to what a seat has.  A seat with a
whole colour group and money is taken to build on it.
"""

from __future__ import annotations

from typing import Final

from plyhouse.games.stochastic.monopoly.board import (
    COST,
    GROUP,
    GROUPS,
    MORTGAGE,
    PRICE,
    PROPERTIES,
    RAILROADS,
    RENT,
    UTILITIES,
)
from plyhouse.games.stochastic.monopoly.position import MORTGAGED, Position

__all__ = [
    "HORIZON",
    "VISITS",
    "estimate",
    "estimate_of",
    "income_lost",
    "street_rent",
    "threat",
    "values_of",
]

HORIZON: Final = 20
"""Rounds of income that count at most."""
_AVERAGE_ROLL: Final = 7
_BUILT: Final = 3
"""Houses of a street that a seat with money is taken to build."""
_TRUST: Final = 0.6
"""Share of such an income that counts."""

VISITS: Final[tuple[float, ...]] = (
    0.026, 0.028, 0.031, 0.036, 0.035, 0.032, 0.031, 0.028, 0.034, 0.032,
)  # fmt: skip
"""By group how often a seat lands on one of its properties in a turn, rounded."""


def values_of(
    position: Position,
    owners: tuple[int, ...],
    levels: tuple[int, ...],
    cash: tuple[int, ...],
) -> list[float]:
    """Return by seat the dollars that it is likely to have at the end; 0 for bankrupt ones."""
    seats: int = position.rules.seats
    horizon: float = float(min(HORIZON, position.rules.rounds - position.round))
    worth: list[float] = [float(each) for each in cash]
    income: list[float] = [0.0] * seats
    group: int = -1
    for members in GROUPS:
        group += 1
        first: int = owners[members[0]]
        whole: bool = first >= 0
        for each in members:
            if owners[each] != first:
                whole = False
        for each in members:
            owner: int = owners[each]
            if owner < 0:
                continue
            level: int = levels[each]
            if level == MORTGAGED:
                worth[owner] += float(PRICE[each] - MORTGAGE[each])
                continue
            worth[owner] += float(PRICE[each] + level * COST[each])
            rent: float
            if group >= RAILROADS:
                count: int = 0
                for other in members:
                    if owners[other] == owner:
                        count += 1
                rent = float(RENT[each][count - 1])
                if group == UTILITIES:
                    rent *= float(_AVERAGE_ROLL)
            else:
                rent = float(RENT[each][level])
                if whole:
                    if level == 0:
                        rent *= 2.0
                    if level < _BUILT:
                        price: float = float(COST[each] * _BUILT * len(members))
                        reach: float = min(1.0, (float(cash[owner]) + price * 0.2) / price)
                        rent += _TRUST * reach * (float(RENT[each][_BUILT]) - rent)
            income[owner] += VISITS[group] * rent
    alive: int = position.alive()
    together: float = 0.0
    for each_income in income:
        together += each_income
    values: list[float] = []
    for seat in range(seats):
        if position.fallen[seat] != 0:
            values.append(0.0)
            continue
        flow: float = income[seat] * float(alive - 1) - (together - income[seat])
        values.append(max(1.0, worth[seat] + horizon * flow))
    return values


def estimate_of(
    position: Position,
    owners: tuple[int, ...],
    levels: tuple[int, ...],
    cash: tuple[int, ...],
) -> tuple[float, ...]:
    """Estimate the returns if the seats had these deeds and this money.

    The chance to end ahead of another seat is by the ratio of their values, to a power that grows
    towards the end of the match.
    """
    seats: int = position.rules.seats
    values = values_of(position, owners, levels, cash)
    left: float = float(position.rules.rounds - position.round) / float(HORIZON)
    power: float = 2.0 + 8.0 * (1.0 - min(1.0, left))
    leads: list[float] = [0.0] * seats
    fallen = position.fallen
    for seat in range(seats):
        for other in range(seat):
            lead: float
            if fallen[seat] != 0 and fallen[other] != 0:
                lead = 1.0 if fallen[seat] > fallen[other] else -1.0
            elif fallen[seat] != 0:
                lead = -1.0
            elif fallen[other] != 0:
                lead = 1.0
            else:
                ratio: float = (values[seat] / values[other]) ** power
                lead = 1.0 if ratio > 1e9 else (ratio - 1.0) / (ratio + 1.0)
            leads[seat] += lead
            leads[other] -= lead
    return tuple([lead / float(seats - 1) for lead in leads])


def estimate(position: Position) -> tuple[float, ...]:
    """Estimate the returns of a position."""
    return estimate_of(position, position.owners, position.levels, position.cash)


def street_rent(item: int, level: int) -> float:
    """Return the rent of a street with so many houses, in a whole group."""
    return float(RENT[item][level]) * (2.0 if level == 0 else 1.0)


def income_lost(position: Position, item: int) -> float:
    """Return the income a turn that a seat loses by a building less, or by the mortgage."""
    level: int = position.levels[item]
    visits: float = VISITS[GROUP[item]]
    if level > 0:
        return visits * (street_rent(item, level) - street_rent(item, level - 1))
    return visits * float(position.rent(item, _AVERAGE_ROLL))


def threat(position: Position, seat: int) -> int:
    """Return the highest rent that a seat can have to pay to another one."""
    most: int = 0
    for each in range(PROPERTIES):
        owner: int = position.owners[each]
        if owner >= 0 and owner != seat:
            most = max(most, position.rent(each, _AVERAGE_ROLL))
    return most
