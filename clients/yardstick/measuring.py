"""Play, ask and compute what a scale needs."""

from __future__ import annotations

import asyncio
import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from plyhouse.bots.client.timing import SECOND
from plyhouse.bots.engines.engine_process import find_program
from plyhouse.bots.engines.errors import EngineError
from plyhouse.bots.hosting.hosted_session import launched
from plyhouse.bots.reference.policy_bot import MAX_NODES, SHARE
from plyhouse.bots.serving.requests import Ask
from plyhouse.bots.serving.shell import ServedBot
from plyhouse.clients.arena.series import PlayedPairing, Series, play_series
from plyhouse.clients.arena.tally import (
    SCORES,
    Interval,
    MatchResult,
    Tally,
    beaten,
    mean_interval,
    tally,
)
from plyhouse.clients.review.judges import Judge, judge_for
from plyhouse.clients.shared.errors import CommandError
from plyhouse.clients.yardstick.scales import Engines, Exact, Opponent
from plyhouse.games.base import TERMINAL, Game
from plyhouse.protocol.messages import VOID
from plyhouse.search import Limit, cfr_plus
from plyhouse.server.match.terminations import FORFEITS

HALF_DROP: Final = 1.920729410347062
"""Half of the 95 % point of chi-square with one degree of freedom."""
SEARCH_MARGIN: Final = 2000.0
"""Largest distance of a rating from those of the opponents."""
STEPS: Final = 60
"""Bisections: the result is exact to far less than a point."""


def _expected(difference: float) -> float:
    return 1.0 / (1.0 + math.pow(10.0, -difference / 400.0))


def rating(results: Sequence[tuple[float, float]]) -> Interval:
    """Return the rating with its 95 % interval; each result is an opponent's rating and a score.

    Scores are from 0 to 1.  If all were won, rating and upper bound are infinite; if all were lost,
    rating and lower bound are.  Raises `ValueError` without results.

    The rating is the most likely one under the logistic model of Elo.  Its interval has all ratings
    that a likelihood-ratio test at 5 % does not reject.  A draw counts as half a win and half a
    loss; this makes the interval wider than it has to be.  The ratings of the opponents count as
    exact. The two matches of a mirrored pair count as independent.  Their common opening favours
    each bot once, so the interval tends to be too wide.

    >>> found = rating([(1600, 1.0), (1600, 0.0), (1700, 0.5)])
    >>> f"{found.value:.0f} from {found.low:.0f} to {found.high:.0f}"
    '1633 from 1194 to 2072'
    >>> rating([(1600, 1.0)]).high
    inf
    """
    if not results:
        raise ValueError("a rating needs at least one result")
    low = min(opponent for opponent, _ in results) - SEARCH_MARGIN
    high = max(opponent for opponent, _ in results) + SEARCH_MARGIN

    def slope(value: float) -> float:
        return math.fsum(score - _expected(value - opponent) for opponent, score in results)

    def likelihood(value: float) -> float:
        parts = [(score, _expected(value - opponent)) for opponent, score in results]
        return math.fsum(
            (score * math.log(chance) if score else 0.0)
            + ((1.0 - score) * math.log1p(-chance) if score < 1.0 else 0.0)
            for score, chance in parts
        )

    if all(score == 1.0 for _, score in results):
        return Interval(math.inf, _root(lambda at: likelihood(at) + HALF_DROP, low, high), math.inf)
    if all(score == 0.0 for _, score in results):
        bound = _root(lambda at: -likelihood(at) - HALF_DROP, low, high)
        return Interval(-math.inf, -math.inf, bound)
    best = _root(lambda at: -slope(at), low, high)
    least = likelihood(best) - HALF_DROP
    return Interval(
        best,
        _root(lambda at: likelihood(at) - least, low, best),
        _root(lambda at: least - likelihood(at), best, high),
    )


def _root(rising: Callable[[float], float], low: float, high: float) -> float:
    """Return where a rising function passes zero."""
    for _ in range(STEPS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if rising(middle) > 0.0 else (middle, high)
    return (low + high) / 2.0


def nearest(ratings: Iterable[float], results: Sequence[tuple[float, float]]) -> float:
    """Return the opponent's rating that is nearest to what the results so far suggest.

    The first opponent is the one in the middle.  After that a draw against it is added, so that a
    first win does not lead to the strongest opponent.

    >>> nearest([1400, 1600, 1800], []), nearest([1400, 1600, 1800], [(1600, 1.0)])
    (1600, 1800)
    """
    known = sorted(ratings)
    middle = known[len(known) // 2]
    if not results:
        return middle
    found = rating([*results, (middle, 0.5)]).value
    return min(known, key=lambda each: abs(each - found))


JUDGE_SECONDS: Final = 2.0
"""Time to solve a position; those that need more are left out."""
TABLE_SECONDS: Final = 20.0
"""Time to prepare a table of all positions."""
BATCHES: Final = 10
"""Smallest number of times that a rated opponent is chosen, if there are so many pairs."""
TRIES: Final = 20
"""Random positions tried for each one wanted, because in many no action is a mistake."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One place on a scale."""

    game: str
    measure: str
    """The measure, with its unit."""
    against: str
    value: Interval
    """The result with its 95 % interval; both bounds are the result where it is computed."""
    number: int
    """The matches or positions."""
    detail: str = ""


async def against_engines(
    game: Game,
    bot: str,
    scale: Engines,
    *,
    seconds: float,
    pairs: int,
    jobs: int,
    seed: int,
    sandbox: bool = False,
    on_played: Callable[[list[MatchResult]], None],
    on_line: Callable[[str], None],
) -> list[Measured]:
    """Play mirrored pairs against the engines of a scale, and return the results.

    The bot has ``seconds`` for each move, and so has an engine unless its scale gives it more.

    Against rated engines, ``pairs`` is the number of all pairs, and each batch goes to the engine
    whose rating is nearest to the bot's so far.  Otherwise each engine plays ``pairs`` pairs.
    Matches that an engine forfeits do not count.  Raises `CommandError` if no match counts, and a
    group with one if an engine or the bot cannot play.
    """
    played: dict[Opponent, list[MatchResult]] = {each: [] for each in scale.opponents}
    failed = Counter[Opponent]()

    async def play(opponent: Opponent, first: int, count: int) -> None:
        series = Series(
            bots=(bot, opponent.spec),
            names=("bot", "engine"),
            game=game.spec,
            time_control=f"move:{max(seconds, scale.patience):g}",
            illegal_rule="forfeit",
            mirrored=True,
            seed=seed,
            records=False,
            opening_plies=scale.opening_plies,
            turn_seconds=(seconds, None),
            boxed=(bot, "") if sandbox else (),
        )

        def keep(_: int, pairing: PlayedPairing) -> None:
            fair = [result for result in pairing.results if not _engine_failed(result)]
            played[opponent].extend(fair)
            failed.update([opponent] * (len(pairing.results) - len(fair)))
            on_played(fair)

        await play_series(series, range(first, first + count), min(jobs, count), keep, on_line)

    if scale.ratings:
        rated = {each.rating: each for each in _there(scale) if each.rating is not None}
        batch = min(jobs, max(1, pairs // BATCHES))
        for first in range(0, pairs, batch):
            at = nearest(rated, _rated(played))
            await play(rated[at], first, min(batch, pairs - first))
        return [_elo(game, scale, played, failed.total())]
    found = []
    for opponent in scale.opponents:
        await play(opponent, 0, pairs)
        measured = _against(game, opponent, played[opponent], failed[opponent])
        if measured is None:
            on_line(f"{opponent.name}: no match counts; give both more time with --time.")
        else:
            found.append(measured)
    if not found:
        raise CommandError(
            f"{game.spec}: no match counts, as the engine forfeited; use a larger --time."
        )
    return found


def _there(scale: Engines) -> Sequence[Opponent]:
    """Return the opponents whose engines are installed; all if none is, so that one is named."""
    there = [each for each in scale.opponents if not each.engine or _installed(each.engine)]
    return there or scale.opponents


def _installed(engine: str) -> bool:
    try:
        find_program(engine, "GTP")
    except EngineError:
        return False
    return True


def _engine_failed(result: MatchResult) -> bool:
    """Return whether the engine lost a match other than by the rules: by time, or by a failure."""
    seat = result.culprit
    return result.termination in FORFEITS and seat is not None and result.bots[seat] == 1


def _left_out(number: int) -> list[str]:
    return [f"{number} left out that the engine forfeited"] if number else []


def _counts(account: Tally) -> str:
    return f"{account.wins}-{account.draws}-{account.losses}"


def _rated(played: dict[Opponent, list[MatchResult]]) -> list[tuple[float, float]]:
    """Return opponents' ratings and the bot's scores, match by match."""
    found = []
    for opponent, results in played.items():
        for result in results:
            if opponent.rating is None or result.termination in VOID or not result.returns:
                continue
            found.append((opponent.rating, beaten(result.returns, result.bots.index(0))))
    return found


def _elo(
    game: Game, scale: Engines, played: dict[Opponent, list[MatchResult]], failed: int
) -> Measured:
    results = _rated(played)
    if not results:
        raise CommandError(
            f"{game.spec}: no match was played to its end: give both more time with --time."
        )
    met = [
        f"{opponent.name}: {_counts(tally(matches, 2)[0])}"
        for opponent, matches in played.items()
        if matches
    ]
    return Measured(
        game.spec,
        "Elo",
        scale.ratings,
        rating(results),
        len(results),
        "; ".join(met + _left_out(failed)),
    )


def _against(
    game: Game, opponent: Opponent, matches: Sequence[MatchResult], failed: int
) -> Measured | None:
    """Return the result against one engine; None if no match counts."""
    one = tally(matches, 2, game.return_bounds)[0]
    if one.mean is None:
        return None
    detail = "; ".join([_counts(one), *_left_out(failed)])
    return Measured(game.spec, "points a match", opponent.name, one.mean, one.games, detail)


async def compare_with_exact_values(
    game: Game,
    bot: str,
    scale: Exact,
    *,
    seconds: float,
    count: int,
    seed: int,
    sandbox: bool = False,
    on_asked: Callable[[bool], None],
    on_line: Callable[[str], None],
) -> list[Measured]:
    """Ask a bot in random positions, and compare its choices with values that are exact.

    Only positions count in which some action is a mistake.  Raises `CommandError` if the bot
    does not answer.
    """
    judge = await asyncio.to_thread(judge_for, game, TABLE_SECONDS)
    rng = random.Random(seed)
    drops: list[float] = []
    best = 0
    async with launched(bot, sandbox=sandbox, games=[game.spec]) as (spec, launcher):
        asked = ServedBot(spec, on_line, launcher=launcher)
        await asked.start()
        try:
            for _ in range(count * TRIES):
                if len(drops) == count:
                    break
                position = _random_position(game, scale, rng)
                if position is None:
                    continue
                actions, state = position
                if not await asyncio.to_thread(_mistake_is_possible, judge, state):
                    continue
                limit = round(seconds * SECOND)
                question = Ask(game.spec, tuple(actions), limit, limit)
                await asked.prepare(question)
                answer = await asked.ask(question)
                if not answer.action:
                    where = f"after {' '.join(actions)}" if actions else "in the first position"
                    raise CommandError(
                        f"{game.spec}: {answer.problem or 'the bot resigned'} {where}"
                    )
                action = game.parse(state, answer.action)
                found = await asyncio.to_thread(judge.judge, state, action, 2 * JUDGE_SECONDS)
                if found.exact:
                    is_best = found.drop <= found.error
                    drops.append(found.drop)
                    best += is_best
                    on_asked(is_best)
        finally:
            await asked.close()
    if not drops:
        raise CommandError(
            f"{game.spec}: no random position has a mistake that is proved in {JUDGE_SECONDS:g} s."
        )
    good = mean_interval([1.0] * best + [0.0] * (len(drops) - best), SCORES)
    detail = f"mean loss {fmean(drops):.3g}"
    return [Measured(game.spec, "best choices", "exact values", good, len(drops), detail)]


def _random_position(game: Game, scale: Exact, rng: random.Random) -> tuple[list[str], Any] | None:
    """Return a position with a choice and the actions up to it; None if a random match has none."""
    state: Any = game.initial_state()
    states, actions = [state], list[str]()
    while state.to_move != TERMINAL:
        action = rng.choice(state.actions())
        actions.append(game.format(state, action))
        state = state.after(action)
        states.append(state)
    first = 0 if scale.last_plies is None else max(0, len(actions) - scale.last_plies)
    fit = [ply for ply in range(first, len(actions)) if len(states[ply].actions()) > 1]
    if not fit:
        return None
    ply = rng.choice(fit)
    return actions[:ply], states[ply]


def _mistake_is_possible(judge: Judge, state: Any) -> bool:
    """Return whether some action is known to be worse than the best."""
    for action in state.actions():
        found = judge.judge(state, action, JUDGE_SECONDS)
        if not found.exact:
            return False
        if found.drop > found.error:
            return True
    return False


def exploitability(game: Game, seconds: float) -> list[Measured]:
    """Return the exploitability of the policy that the bot `policy` computes in its first turn.

    `best` plays games of this kind by the same policy.
    """
    solution = cfr_plus(game, Limit(time=seconds * SHARE), iterations=1000, max_nodes=MAX_NODES)
    gap = solution.nash_conv()
    mean = gap / game.seats
    value = Interval(mean, mean, mean)
    detail = f"{solution.iterations:,} iterations of CFR+, NashConv {gap:.2g}"
    return [Measured(game.spec, "exploitability", "best responses", value, 0, detail)]
