"""Swiss: a few rounds in which opponents have similar scores.

A round is drawn when the one before it is settled, by the aims of FIDE's Dutch system (FIDE
Handbook, C.04.3), in this order:

* no two entries meet twice, and no entry gets a bye twice;
* if a pairing is one match, no entry plays a seat three times in a row, or three times more often
  than the other seat (A.6);
* the bye goes to an entry with the fewest points among those that have had none;
* as few leaders as possible meet an entry with fewer points;
* opponents are as near in points as possible;
* seats balance, and alternate;
* within a group of equal points the upper half of the seeding meets the lower half.

An aim is given up only if every possible round breaks it.  The aim for leaders replaces that
system's order, which completes the highest group of points first.  Two entries without a loss meet,
so the default number of rounds leaves one unless byes prevent it.  That system's procedure needs
groups of whole and half points, but mirrored pairings and games of points score anything between 0
and 1.  So all pairs of a round are found at once, as the matching of least cost.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as default
from functools import lru_cache
from typing import Final, Generic, Literal

from plyhouse.server.competition_rules.formats import (
    EntryT,
    Facts,
    Field,
    FieldEntry,
    Format,
    FormatError,
    LineState,
    Plan,
    Round,
    RoundLine,
    TableLine,
    checked,
    points_then,
)
from plyhouse.server.competition_rules.tie_breaks import placed

CANDIDATES: Final = 12
"""The number of candidates that each node adds at first: its cheapest ones."""
NEIGHBOURS: Final = 6
"""The number of further candidates: the next ones in the order of the nodes."""


def cheapest_pairs(
    nodes: int, cost: Callable[[int, int], int], *, dear: int | None = None
) -> list[tuple[int, int]]:
    """Pair all of an even number of nodes, with the least sum of costs.

    ``cost`` takes ``(i, j)`` with ``i < j``.  With many nodes, only some pairs are considered, and
    the sum is the least over those.  These are pairs in which one node is among the cheapest for
    the other, or near to it in the order of the nodes, which seldom leaves a node alone.  Their
    number doubles until no node is left alone.  Pairs that cost ``dear`` or more are considered
    only if no perfect matching exists without them.

    Raises ValueError for an odd number of nodes.

    >>> cheapest_pairs(4, lambda i, j: (i - j) ** 2)
    [(0, 1), (2, 3)]

    The number of candidates grows until a perfect matching exists.  The blossom algorithm is that
    of networkx (`max_weight_matching`) on whole numbers, so its answer is exact and the same on
    every machine.  Its time grows with the candidates, so each node adds only its cheapest ones:
    for 200 nodes this takes a second instead of ten.
    """
    if nodes % 2:
        raise ValueError(f"{nodes} cannot be paired without leaving one alone")
    costs = [[0] * nodes for _ in range(nodes)]
    for i in range(nodes):
        for j in range(i + 1, nodes):
            costs[i][j] = costs[j][i] = cost(i, j)
    by_cost = [
        [j for _, j in sorted(zip(row, range(nodes), strict=True)) if j != i]
        for i, row in enumerate(costs)
    ]
    most = CANDIDATES
    while most < nodes:
        near = NEIGHBOURS * most // CANDIDATES
        edges = {(min(i, j), max(i, j)) for i in range(nodes) for j in by_cost[i][:most]}
        edges |= {(i, j) for i in range(nodes) for j in range(i + 1, min(nodes, i + 1 + near))}
        few = [(i, j, -costs[i][j]) for i, j in sorted(edges) if _less(costs[i][j], dear)]
        pairs = _matching(few)
        if len(pairs) == nodes // 2:
            return pairs
        most *= 2
    return _matching([(i, j, -costs[i][j]) for i in range(nodes) for j in range(i + 1, nodes)])


def _less(cost: int, dear: int | None) -> bool:
    return dear is None or cost < dear


def _matching(edges: list[tuple[int, int, int]]) -> list[tuple[int, int]]:
    # Importing networkx takes half a second, which only drawing a Swiss round needs.
    from networkx import Graph, max_weight_matching

    graph: Graph[int] = Graph()
    graph.add_weighted_edges_from(edges)
    found = max_weight_matching(graph, maxcardinality=True)
    return sorted([(min(pair), max(pair)) for pair in found])


SLACK: Final = 1e-9
"""Shares of a pairing that differ by less count as equal."""
UNIT: Final = 100
"""Units per point when a round is drawn: points are compared in hundredths."""
_TIE_BREAKS: Final[tuple[tuple[str, Callable[[Sequence[float], float], float]], ...]] = (
    ("median-Buchholz", lambda opponents, berger: sum(opponents[1:-1])),
    ("Buchholz", lambda opponents, berger: sum(opponents)),
    ("Sonneborn-Berger", lambda opponents, berger: berger),
)
"""Each tie-break in order: its name, and its value by the opponents' points in ascending order and
the Sonneborn-Berger sum."""


@dataclass(frozen=True, kw_only=True)
class Swiss(Format):
    """``number`` rounds, or enough to leave at most one entry without a loss."""

    name = "swiss"
    adaptive = True
    round_by_round = True
    tie_breaks = tuple([name for name, _ in _TIE_BREAKS])
    rule_of_places = points_then(tie_breaks)

    number: int | None = None
    """The number of rounds; None: the logarithm to base 2 of the entries at the beginning, rounded
    up."""
    points: Literal["share", "result"] = "share"
    """The points of a pairing: the mean score of its matches, or 1, 1/2 or 0 by the larger sum."""
    bye: float = 1.0
    """The points of a round without an opponent, by a bye or because the opponent left."""
    late: float = 0.0
    """The points of a late entry for each round before it came: 0 to 1/2."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.number is not None:
            checked("number", self.number, 1)
        if self.points not in ("share", "result"):
            raise FormatError(f"points must be 'share' or 'result', not {self.points!r}")
        for name, value, most in (("bye", self.bye, 1.0), ("late", self.late, 0.5)):
            if not 0.0 <= value <= most:
                raise FormatError(f"{name} must be between 0 and {most:g}, not {value}")

    def rounds_for(self, entries: int) -> int:
        """Return the number of rounds for this number of entries at the beginning."""
        return self.number or max(1, math.ceil(math.log2(max(2, entries))))

    def plan(self, facts: Facts[EntryT]) -> Plan[EntryT]:
        """Return the rounds drawn; the next one follows when they are settled."""
        rounds, _ = self._play(facts)
        number = self._number(facts.field)
        unsettled = any(not line.state.settled for each in rounds for line in each.lines)
        over = len(rounds) == number or (not unsettled and not _several(facts.field, len(rounds)))
        return Plan(rounds, more=not over)

    def table(self, facts: Facts[EntryT]) -> list[TableLine[EntryT]]:
        """Return the table by points, then by the opponents' points.

        Buchholz is the sum of the opponents' points; median-Buchholz leaves out the best and the
        worst of them.  A round without an opponent counts as one against a virtual opponent with
        the entry's own points.
        """
        rounds, cards = self._play(facts)
        rows = []
        for entrant in facts.field.entrants:
            card = cards[entrant.entry]
            met = [cards[other].points for other, _ in card.met]
            imagined = [card.points] * (len(rounds) - len(met))
            opponents = sorted([*met, *imagined])
            berger = sum([cards[other].points * share for other, share in card.met])
            berger += card.points * card.given
            tie_breaks = tuple([value(opponents, berger) for _, value in _TIE_BREAKS])
            rows.append(entrant.table_line(card.points, len(card.met), tie_breaks))
        return placed(rows, facts.field)

    def count(self, entries: int, baselines: int = 0) -> int:
        """Return the number of matches; with an odd number each round has a bye.

        See `Format.count`.
        """
        self._at_least(entries, 2)
        return self.rounds_for(entries) * (entries // 2) * self.at_once

    # ------------------------------------------------------------------------------ drawing

    def _number(self, field: Field[EntryT]) -> int:
        return self.rounds_for(sum([each.since == 0 for each in field.entrants]))

    def _play(
        self, facts: Facts[EntryT]
    ) -> tuple[list[Round[EntryT]], dict[EntryT, _Card[EntryT]]]:
        """Return the rounds that can be drawn, and every entry's card after them."""
        field = facts.field
        cards = {each.entry: _Card(each) for each in field.entrants}
        rounds: list[Round[EntryT]] = []
        for number in range(self._number(field)):
            known = {k: pair for k, pair in facts.who.items() if k.startswith(f"r{number + 1}-")}
            if not known and not _several(field, number):
                break
            drawn, bye = self._draw(field, number, known, cards)
            lines: list[RoundLine[EntryT]] = []
            for key in sorted(drawn, key=_board):
                pair = drawn[key]
                line = facts.played_line(key, number, pair)
                lines.append(line or _unplayed(key, number, pair, field))
            if bye is not None:
                key = f"r{number + 1}-bye"
                lines.append(RoundLine(key, number, (bye, None), LineState.BYE, winner=bye))
            rounds.append(Round(number, f"Round {number + 1}", tuple(lines)))
            for each in field.entrants:
                if each.since > number:
                    cards[each.entry].give(self.late)
            for line in lines:
                self._mark(line, cards)
            if not all(line.state.settled for line in lines):
                break
        return rounds, cards

    def _draw(
        self,
        field: Field[EntryT],
        number: int,
        facts: Mapping[str, tuple[EntryT, ...]],
        cards: Mapping[EntryT, _Card[EntryT]],
    ) -> tuple[dict[str, tuple[EntryT, ...]], EntryT | None]:
        """Return the pairs of a round by key, and the entry with the bye."""
        there = [each for each in field.ranked if field.by_entry[each].plays_in(number)]
        paired = {entry for pair in facts.values() for entry in pair}
        alone = [entry for entry in there if entry not in paired]
        if facts and len(alone) < 2:
            return dict(facts), alone[0] if alone else None
        drawn, bye = self._pairs(number, there, cards)
        if any(set(drawn.get(key, ())) != set(pair) for key, pair in facts.items()):
            # A result was corrected since: begun pairings stay, and the others are drawn again.
            again, bye = self._pairs(number, alone, cards)
            keys = [_key(number, board) for board in range(len(there) + len(facts))]
            unused = iter([key for key in keys if key not in facts])
            drawn = {next(unused): pair for pair in again.values()}
        return {**drawn, **facts}, bye

    def _pairs(
        self, number: int, there: Sequence[EntryT], cards: Mapping[EntryT, _Card[EntryT]]
    ) -> tuple[dict[str, tuple[EntryT, ...]], EntryT | None]:
        """Draw a round among the entries ``there``, the strongest first."""
        index = {entry: place for place, entry in enumerate(there)}
        players = tuple(
            [
                _Player(
                    round(cards[entry].points * UNIT),
                    cards[entry].free,
                    frozenset([index[other] for other, _ in cards[entry].met if other in index]),
                    () if self.mirrored else tuple(cards[entry].seats),
                )
                for entry in there
            ]
        )
        pairs, bye = _drawn(players)
        drawn: dict[str, tuple[EntryT, ...]] = {}
        for board, (i, j) in enumerate(pairs):
            turned = _turned(cards[there[i]].seats, cards[there[j]].seats)
            if turned is None:
                turned = bool((board + number) % 2)
            drawn[_key(number, board)] = (there[j], there[i]) if turned else (there[i], there[j])
        return drawn, None if bye is None else there[bye]

    def _mark(self, line: RoundLine[EntryT], cards: Mapping[EntryT, _Card[EntryT]]) -> None:
        """Add the result of a line to the cards."""
        if line.winner is not None:  # A bye, or an opponent that left.
            cards[line.winner].give(self.bye, free=True)
        outcome = line.outcome
        if outcome is None:
            return
        for entry, opponent, seat in zip(line.players, line.players[::-1], (1, -1), strict=True):
            card = cards.get(entry)
            if card is None:
                continue
            if not self.mirrored:
                card.seats.append(seat)
            if outcome.void:
                # A void pairing that the entry did not forfeit gives half a point.
                share = 0.0 if entry in outcome.forfeited else 0.5
            else:
                share = outcome.share(entry)
                if self.points == "result":
                    share = 0.5 + 0.5 * ((share > 0.5 + SLACK) - (share < 0.5 - SLACK))
            if opponent in cards:
                card.points += share
                card.met.append((opponent, share))
            else:
                card.give(share)


@dataclass(slots=True)
class _Card(Generic[EntryT]):
    """The record of an entry after some rounds."""

    entrant: FieldEntry[EntryT]
    points: float = 0.0
    given: float = 0.0
    """The points among them for rounds without an opponent."""
    met: list[tuple[EntryT, float]] = default(default_factory=list)
    """Its opponents, and its score against each."""
    free: bool = False
    """True if it had a bye, or an opponent that left."""
    seats: list[int] = default(default_factory=list)
    """Its seats in the order of its matches: 1 for first, -1 for second."""

    def give(self, points: float, *, free: bool = False) -> None:
        self.points += points
        self.given += points
        self.free = self.free or free


@dataclass(frozen=True, slots=True)
class _Player:
    """The properties of an entry that matter in a drawing."""

    points: int
    free: bool
    met: frozenset[int]
    seats: tuple[int, ...]
    """Its seats so far; empty where pairings are mirrored."""


@lru_cache(maxsize=32)
def _drawn(players: tuple[_Player, ...]) -> tuple[list[tuple[int, int]], int | None]:
    """Return pairs of players, leading boards first, and who has the bye.

    ``players`` has the strongest first.  The answer is cached, because a round is drawn once and
    asked for often.
    """
    count = len(players)
    # Neighbours in this order are near in points; `order_of` reverses it at the end.
    order = sorted(range(count), key=lambda each: (-players[each].points, each))
    groups: dict[int, list[int]] = {}
    for each, player in enumerate(players):
        groups.setdefault(player.points, []).append(each)
    places = {each: place for group in groups.values() for place, each in enumerate(group)}
    top = max(groups)
    span = top - min(groups) + 1
    fewest = min((each.points for each in players if not each.free), default=0)
    longest = 1 + max(len(each.seats) for each in players)
    # Each aim weighs more than all pairs of a round together can cost in the aims below it.
    base = (count + 1) * (count + span + 2 * longest) ** 2 + 1
    weights: list[int] = [base**aim for aim in range(1, 7)]
    seat, near, lead, rest, lopsided, again = weights

    def cost(here: int, there: int) -> int:
        i, j = (order[here], count) if there == count else sorted((order[here], order[there]))
        one = players[i]
        if j == count:  # This is the cost of the bye.
            last = count - 1 - i
            return again * one.free + rest * max(0, one.points - fewest) + last**2
        other = players[j]
        apart = abs(one.points - other.points)
        if apart:
            upper, lower = (i, j) if one.points > other.points else (j, i)
            fold = len(groups[players[upper].points]) - 1 - places[upper] + places[lower]
        else:
            half = len(groups[one.points]) // 2
            fold = abs(places[i] - places[j]) - half
            if (places[i] < half) == (places[j] < half):
                fold = count  # Two of the same half should not meet unless seats require it.
        turned = _turned(one.seats, other.seats)
        wrong, uneasy = _seats_after(*((other, one) if turned else (one, other)))
        down = max(one.points, other.points) == top and apart > 0
        aims = again * (j in one.met) + lopsided * wrong + lead * down
        return aims + near * apart**2 + seat * uneasy + fold**2

    order_of = [*order, count]
    matched = [
        (min(order_of[i], order_of[j]), max(order_of[i], order_of[j]))
        for i, j in cheapest_pairs(count + count % 2, cost, dear=rest)
    ]
    pairs = [pair for pair in matched if pair[1] < count]
    pairs.sort(key=lambda p: (-max(players[p[0]].points, players[p[1]].points), p))
    bye = next((i for i, j in matched if j == count), None)
    return pairs, bye


def _seats_after(first: _Player, second: _Player) -> tuple[int, int]:
    """Return the violations of absolute seat aims, and the imbalance of seats.

    Both are for this pair in this seat order.
    """
    wrong = repeated = most = 0
    for player, seat in ((first, 1), (second, -1)):
        balance, streak = _after(player.seats, seat)
        wrong += max(abs(balance) - 2, 0) + max(streak - 2, 0)
        repeated += streak > 1
        most = max(most, abs(balance))
    return wrong, 3 * most**2 + repeated


def _after(seats: Sequence[int], seat: int) -> tuple[int, int]:
    """Return the surplus of first seats, and the length of the current run."""
    streak = 1
    for each in reversed(seats):
        if each != seat:
            break
        streak += 1
    return sum(seats) + seat, streak


def _turned(one: Sequence[int], other: Sequence[int]) -> bool | None:
    """Return whether the second of two should sit first; None if undecided.

    The arguments are the seats that each has had.  The order follows FIDE's rules for colours
    (C.04.3, E): no seat three times in a row or three times too often, then balance, then
    alternation.  Last, the two exchange the seats of the latest match in which their seats
    differed.
    """

    def cost(first: Sequence[int], second: Sequence[int]) -> tuple[int, int, int]:
        after = _after(first, 1), _after(second, -1)
        return (
            sum(max(abs(balance) - 2, 0) + max(streak - 2, 0) for balance, streak in after),
            sum(balance**2 for balance, _ in after),
            sum(streak for _, streak in after),
        )

    straight, turned = cost(one, other), cost(other, one)
    if straight != turned:
        return turned < straight
    for mine, its in zip(reversed(one), reversed(other), strict=False):
        if mine != its:
            return mine == 1
    return None


def _several(field: Field[EntryT], number: int) -> bool:
    """Return whether a round has at least two entries."""
    return sum([each.plays_in(number) for each in field.entrants]) > 1


def _unplayed(
    key: str, number: int, pair: tuple[EntryT, ...], field: Field[EntryT]
) -> RoundLine[EntryT]:
    """Return the line of a pairing that has not begun.

    An entry that has left loses it to the other.
    """
    stay = [entry for entry in pair if not field.by_entry[entry].left_in(number)]
    if len(stay) == 2:
        return RoundLine(key, number, pair, LineState.READY)
    if stay:
        return RoundLine(key, number, pair, LineState.WALKOVER, winner=stay[0])
    return RoundLine(key, number, pair, LineState.DROPPED)


def _key(number: int, board: int) -> str:
    return f"r{number + 1}-{board + 1:02}"


def _board(key: str) -> int:
    return int(key.rpartition("-")[2])
