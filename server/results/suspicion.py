"""Results and choices worth a look: unlikely pair scores and similar play.

Both parts test many pairs at once, so p-values are adjusted.  At most the share ``level`` of all
named pairs is expected to be named by accident.  This is the false discovery rate of
Benjamini and Hochberg, "Controlling the false discovery rate: a practical and powerful approach to
multiple testing", J. Royal Statistical Society B 57, 1995.  It holds for independent tests and for
positively dependent ones (Benjamini and Yekutieli, Annals of Statistics 29, 2001).  Residuals of
one fit depend a little on each other, so the rate is approximate.

**Nothing here proves anything.**  A bot may simply be designed against another; two students may
have read the same book, or call the same search of the same library.  The report only shows where
to look first.

*Pairs* (`unlikely_pairs`): the score of two owners against each other, compared with the
Bradley-Terry fit of all results (`plyhouse.server.results.strengths`).  The probability of a score
at least as far off is exact under the fit: the law of a sum of independent matches, convolved.  The
pair's own matches are part of the fit, which draws it towards them, so the test is conservative.
Games with more than two seats are left out.

*Likeness* (`alike`): how often two bots chose the same on positions that both faced.  A position is
what a seat observed; of each bot its first choice there counts.  The rate is compared with that of
pairs of other bots that faced the same positions, at least `OTHERS` of them at each.  So where
everybody agrees, agreement says nothing.  The number of agreements is treated as binomial with the
mean rate, to which one agreement is added.  Agreements at different rates spread less (Hoeffding,
"On the distribution of the number of successes in independent trials", Annals of Mathematical
Statistics 27, 1956), so this test is conservative, too.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from plyhouse.games.base import CHANCE, Game
from plyhouse.games.position import Position
from plyhouse.protocol.api.reports import Likeness, UnlikelyPair
from plyhouse.server.results.record import Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from plyhouse.server.results.fitted import Fitted

OTHERS: Final = 2
"""The smallest number of other owners' bots that must have faced a position for it to count."""
LEAST_POSITIONS: Final = 20
"""The smallest number of positions that two bots must share."""
LEAST_ALIKE: Final = 0.95
"""The share of equal choices from which two bots are near identical."""

Floats: TypeAlias = "NDArray[np.float64]"


class Match(NamedTuple):
    """The score of a match of two seats that is not void."""

    first: str
    """The entry in the first seat, as ``player/bot``."""
    second: str
    score: float
    """The first seat's score: 1, 1/2 or 0."""
    game: str


class Choice(NamedTuple):
    """The choice of a bot in a position."""

    who: str
    """The bot, as ``player/bot``, with the version if there are several."""
    owner: str
    position: Hashable
    action: str


def adjusted(values: Sequence[float]) -> list[float]:
    """Return p-values adjusted by Benjamini and Hochberg, in the same order.

    >>> [round(value, 3) for value in adjusted([0.01, 0.04, 0.03, 0.5])]
    [0.04, 0.053, 0.053, 0.5]
    """
    found = [0.0] * len(values)
    least = 1.0
    for rank, index in sorted(
        enumerate(sorted(range(len(values)), key=values.__getitem__), start=1), reverse=True
    ):
        least = min(least, values[index] * len(values) / rank)
        found[index] = least
    return found


# ------------------------------------------------------------------- results against the fit


def unlikely_pairs(
    matches: Sequence[Match], owners: Mapping[str, str], *, staff: Collection[str] = ()
) -> list[UnlikelyPair]:
    """Return all pairs of owners that met, the unlikeliest first.

    ``owners`` has the owner of every entry.  Matches of ``staff`` are part of the fit, but pairs
    with staff are not tested.
    """
    rows = [each for each in matches if each.first != each.second]
    if not rows:
        return []
    # The fit needs numpy, so import it only here; the result types are loaded at the start for the
    # API's description.
    from plyhouse.server.results.pair_results import Played, collect
    from plyhouse.server.results.strengths import fit_strengths

    played = [Played(each.first, each.second, each.score, each.game) for each in rows]
    fit = fit_strengths(collect(played), errors="hessian")
    met: defaultdict[tuple[str, str], list[Match]] = defaultdict(list)
    for each in rows:
        one, other = sorted((owners[each.first], owners[each.second]))
        if one != other and not {one, other} & set(staff):
            met[one, other].append(each)
    found = [_compared(one, other, each, owners, fit) for (one, other), each in sorted(met.items())]
    for number, value in enumerate(adjusted([each.p for each in found])):
        found[number] = replace(found[number], adjusted=value)
    return sorted(found, key=lambda each: (each.p, -abs(each.residual)))


def _compared(
    one: str,
    other: str,
    matches: Sequence[Match],
    owners: Mapping[str, str],
    fit: Fitted[str],
) -> UnlikelyPair:
    import numpy as np

    law = np.ones(1)  # `law` is the distribution of the score of `one`, in half points.
    score = expected = variance = 0.0
    for each in matches:
        lose, draw, win = _law(each, fit)
        mine = each.score
        if owners[each.first] != one:
            lose, win, mine = win, lose, 1.0 - mine
        law = np.convolve(law, (lose, draw, win))
        mean = win + draw / 2.0
        score += mine
        expected += mean
        variance += win + draw / 4.0 - mean * mean
    reached = round(2.0 * score)
    tail = min(float(law[: reached + 1].sum()), float(law[reached:].sum()))
    residual = (score - expected) / math.sqrt(max(variance, 1e-12))
    p = min(1.0, 2.0 * tail)
    return UnlikelyPair(one, other, len(matches), score, expected, residual, p, p)


def _law(match: Match, fit: Fitted[str]) -> tuple[float, float, float]:
    """Return the first seat's probabilities of loss, draw and win.

    They follow Davidson's model.
    """
    from plyhouse.server.results.ratings import SCALE

    gap = float(fit.elo[fit.index(match.first)] - fit.elo[fit.index(match.second)])
    seats = fit.seats.get(match.game)
    t = (gap + (seats[0].elo if seats else 0.0)) / SCALE
    share = fit.draws.get(match.game, 0.0)
    # The probability of a win at even strength is (1 - share) / 2: see `fit_strengths`.
    tie = 2.0 * share / (1.0 - share) if share else 0.0
    far = abs(t)
    total = 1.0 + math.exp(-far) + tie * math.exp(-far / 2.0)
    more, less, draw = 1.0 / total, math.exp(-far) / total, tie * math.exp(-far / 2.0) / total
    return (less, draw, more) if t > 0 else (more, draw, less)


# --------------------------------------------------------------------- choices beside choices


def choices_of(record: Record, game: Game, seats: Sequence[tuple[str, str]]) -> Iterator[Choice]:
    """Yield the choices in a record; ``seats`` has each seat's bot and owner.

    Raises `GameError` if the record does not fit the game.
    """
    position = Position(game)
    for event in record.events:
        if event.kind not in ("action", "chance"):
            continue
        seat, state = position.mover, position.state
        if event.kind == "action" and seat != CHANCE and len(state.actions()) > 1:
            yield Choice(*seats[seat], (game.spec, game.observe(state, seat)), event.text)
        position.apply(event.seat, event.text)


def alike(choices: Iterable[Choice], *, staff: Collection[str] = ()) -> list[Likeness]:
    """Return near-identical pairs of owners' bots, unlikeliest first.

    Bots of ``staff`` are among the others, and in no pair.  P-values are adjusted for all pairs
    that share enough positions, including those that are not near identical.
    """
    faced: defaultdict[Hashable, dict[str, Choice]] = defaultdict(dict)
    for choice in choices:
        faced[choice.position].setdefault(choice.who, choice)
    shared: defaultdict[tuple[str, str], list[tuple[bool, float]]] = defaultdict(list)
    for here in faced.values():
        if len(here) < 2 + OTHERS:
            continue
        tested = [each for each in here.values() if each.owner not in staff]
        for one, other in combinations(sorted(tested, key=lambda each: each.who), 2):
            if one.owner != other.owner:
                chance = _agreement(one, other, here)
                if chance is not None:
                    same = one.action == other.action
                    shared[one.who, other.who].append((same, chance))
    enough = {pair: rows for pair, rows in shared.items() if len(rows) >= LEAST_POSITIONS}
    found = []
    for (name, twin), rows in sorted(enough.items()):
        agreed = sum(same for same, _ in rows)
        rate = (math.fsum(chance for _, chance in rows) + 1.0) / (len(rows) + 1.0)
        near = agreed >= LEAST_ALIKE * len(rows)
        p = _at_least(agreed, len(rows), rate) if near else 1.0
        expected = rate * len(rows)
        found.append(Likeness(name, twin, len(rows), agreed, expected, p, p))
    for number, value in enumerate(adjusted([each.p for each in found])):
        found[number] = replace(found[number], adjusted=value)
    named = [each for each in found if each.same >= LEAST_ALIKE * each.positions]
    return sorted(named, key=lambda each: (each.p, -each.positions))


def _agreement(one: Choice, other: Choice, here: Mapping[str, Choice]) -> float | None:
    """Return the share of agreeing pairs among other bots; None if too few."""
    mine = {one.owner, other.owner}
    rest = Counter(each.action for each in here.values() if each.owner not in mine)
    count = rest.total()
    if count < OTHERS:
        return None
    return sum(seen * (seen - 1) for seen in rest.values()) / (count * (count - 1))


def _at_least(reached: int, trials: int, chance: float) -> float:
    """Return the probability of at least this number of successes."""
    import numpy as np

    law: Floats = np.ones(1)
    for _ in range(trials):
        law = np.convolve(law, (1.0 - chance, chance))
    return min(1.0, float(law[reached:].sum()))


class PlayedLine(NamedTuple):
    """The properties of a match that a repeat shares."""

    game: str
    seats: tuple[Hashable, ...]
    """The version in each seat."""
    actions: tuple[tuple[int, str], ...]
    end: tuple[object, ...]
    chance: bool
    """True if chance had a part."""


def repeat_weights(lines: Sequence[PlayedLine]) -> list[float]:
    """Return the weight of each match: 1, or 0 if it repeats an earlier one.

    A hundred copies of one game are one observation.  A match repeats an earlier one if game,
    versions by seat, actions and outcome are the same and chance had no part.  In a small game this
    may also happen to bots that randomise, and then each match counts.  So a version counts as
    repeating itself only while no record shows it acting in two ways after the same actions.
    """
    varied = _varied(lines)
    seen: set[PlayedLine] = set()
    weights = []
    for line in lines:
        able = not line.chance and not any((line.game, seat) in varied for seat in line.seats)
        weights.append(0.0 if able and line in seen else 1.0)
        seen.add(line)
    return weights


def _varied(lines: Sequence[PlayedLine]) -> set[tuple[str, Hashable]]:
    """Return versions that acted in two ways after the same actions, by game."""
    acted: dict[tuple[object, ...], str] = {}
    # Histories are numbered so that comparing them takes constant time.
    following: dict[tuple[object, ...], int] = {}
    varied = set()
    for line in lines:
        if line.chance:
            continue
        history = -1
        for seat, text in line.actions:
            if 0 <= seat < len(line.seats):
                who = line.seats[seat]
                if acted.setdefault((line.game, who, seat, history), text) != text:
                    varied.add((line.game, who))
            history = following.setdefault((history, seat, text), len(following))
    return varied
