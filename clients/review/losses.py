"""The value that a bot loses per ply, over many matches."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from plyhouse.clients.review.judges import Judge, judge_for
from plyhouse.clients.review.review import FAULTS, holder, review
from plyhouse.games.base import Game
from plyhouse.games.renaming import Renamed
from plyhouse.games.values import unit_of
from plyhouse.protocol.api.positions import ValueLost
from plyhouse.server.results.intervals import interval_of_difference, mean_interval
from plyhouse.server.results.record import Record


@dataclass
class _Seen:
    """The sums over the matches of one game."""

    game: Game
    judge: Judge
    losses: list[tuple[float, int]] = field(default_factory=list)
    """For each match, the sum of what was lost and the number of plies that were judged."""
    exact: int = 0
    unjudged: int = 0
    faults: dict[str, int] = field(default_factory=dict)
    """Matches that the bot ended by a fault of its own, by termination."""

    def terms(self) -> list[float]:
        """Return a score for each match, whose mean is the loss per ply; empty without plies.

        Plies of a match are not independent, so that these are the linear terms of a ratio.
        """
        plies = sum(count for _, count in self.losses)
        if not plies:
            return []
        ratio = math.fsum(lost for lost, _ in self.losses) / plies
        share = plies / len(self.losses)
        return [ratio + (lost - ratio * count) / share for lost, count in self.losses]


class Losses:
    """Sums up reviews of the matches of one bot, game by game."""

    def __init__(
        self,
        bot: str,
        game_of: Callable[[Record], Game],
        *,
        seconds: float,
        preparing: float = 1.0,
    ) -> None:
        """``bot`` is ``PLAYER/BOT``; each match gets ``seconds``, and each game ``preparing``."""
        player, _, own = bot.lower().partition("/")
        # A person's page is that of a bot with the player's name, which records leave out.
        self._bot = player if own == player else bot.lower()
        self._game_of = game_of
        self._seconds, self._preparing = seconds, preparing
        self._seen: dict[str, _Seen] = {}

    def add(self, records: Iterable[Record]) -> None:
        """Review all seats that the bot had; void matches and those of others are left out.

        Raises `CommandError` if a record does not fit its game.
        """
        for record in records:
            if record.outcome is None or not record.outcome.returns:
                continue
            for seat in range(len(record.seats)):
                if holder(record, seat).lower() == self._bot:
                    self._add(record, seat)

    def _add(self, record: Record, seat: int) -> None:
        seen = self._seen.get(record.game)
        if seen is None:
            game = self._game_of(record)
            seen = _Seen(game, judge_for(game, self._preparing))
            self._seen[record.game] = seen
        found = review(record, seen.game, seat, seconds=self._seconds, judge=seen.judge)
        judged = [row for row in found.plies if row.action and row.played is not None]
        seen.unjudged += sum(1 for row in found.plies if row.action and row.played is None)
        seen.exact += sum(row.exact for row in judged)
        seen.losses.append((math.fsum(row.drop for row in judged), len(judged)))
        if found.at_fault and found.termination in FAULTS:
            seen.faults[found.termination] = seen.faults.get(found.termination, 0) + 1

    def found(self) -> list[ValueLost]:
        """The mean loss in each game, in the order of the first matches."""
        return [self._value_lost(spec, seen) for spec, seen in self._seen.items()]

    def _value_lost(self, spec: str, seen: _Seen) -> ValueLost:
        low, high = seen.game.return_bounds
        terms = seen.terms()
        mean = interval = more = more_interval = None
        if terms:
            found = mean_interval(terms, bounds=(0.0, high - low))
            mean, interval = found.mean, (found.low, found.high)
        game = seen.game  # a spec leaves out usual parameters
        plain = game.original.spec if isinstance(game, Renamed) else game.info.name
        usual = self._seen.get(plain, seen)
        if usual is not seen and terms and (others := usual.terms()):
            beyond = interval_of_difference(terms, others)
            more = beyond.mean
            if math.isfinite(beyond.high):
                more_interval = (beyond.low, beyond.high)
        return ValueLost(
            game=spec,
            method=seen.judge.method,
            matches=len(seen.losses),
            plies=sum(count for _, count in seen.losses),
            unjudged=seen.unjudged,
            exact=seen.exact,
            mean=mean,
            interval=interval,
            more=more,
            more_interval=more_interval,
            range=high - low,
            faults=seen.faults,
            unit=unit_of(seen.game),
        )
