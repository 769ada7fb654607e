"""The memory of a running tournament.

`plyhouse.server.competitions.tournament_restore` rebuilds it from rows.

The id of a pairing carries all that a restart needs.  ``TOURNAMENT-KEY`` is the pairing that its
format calls ``KEY``.  ``TOURNAMENT-KEY@2`` is the same in the second run of a final (see
`plyhouse.storage.competition_reruns`).  ``TOURNAMENT-KEY~1`` repeats its void matches.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from plyhouse.server.competition_rules.formats import Pairing, PairingOutcome
from plyhouse.server.competition_rules.pairing_queue import PairingQueue
from plyhouse.server.competition_rules.sides import Sides
from plyhouse.server.match.terms import Terms
from plyhouse.storage.rows import TournamentRow
from plyhouse.storage.tournament_settings import TournamentSettings

MAX_AGAIN: Final = 3
"""The largest number of repetitions of a void match."""


@dataclass(frozen=True, slots=True)
class PairingId:
    """The parts of the id of a pairing."""

    tournament: str
    key: str
    run: int = 1
    attempt: int = 0
    """0 for the first attempt, 1 for the first repetition of void matches."""

    def __str__(self) -> str:
        run = f"@{self.run}" if self.run > 1 else ""
        again = f"~{self.attempt}" if self.attempt else ""
        return f"{self.tournament}-{self.key}{run}{again}"

    @classmethod
    def parse(cls, text: str, tournament: str) -> PairingId:
        """Parse the id of a pairing of this tournament."""
        rest, _, attempt = text[len(tournament) + 1 :].partition("~")
        key, _, run = rest.partition("@")
        return cls(
            tournament,
            key,
            int(run) if run.isdecimal() else 1,
            int(attempt) if attempt.isdecimal() else 0,
        )


@dataclass(frozen=True, slots=True)
class Repetition:
    """Void matches of a pairing that must be repeated."""

    id: PairingId
    """The id of the pairing that repeats them."""
    orders: tuple[tuple[int, ...], ...]
    """The bots in seat order, once per match."""

    @classmethod
    def after(cls, pairing: PairingId, orders: Iterable[tuple[int, ...]]) -> Repetition | None:
        """Return the next repetition of void matches; None after the last one."""
        attempt = pairing.attempt + 1
        again = cls(PairingId(pairing.tournament, pairing.key, pairing.run, attempt), (*orders,))
        return again if again.orders and attempt <= MAX_AGAIN else None


@dataclass(slots=True)
class PairingTally:
    """The results of a pairing's matches so far, repetitions included."""

    entries: tuple[int, ...]
    scores: dict[int, float] = field(default_factory=dict)
    matches: int = 0
    orders: list[tuple[int, ...]] = field(default_factory=list)
    """The seat orders of the matches that count."""
    forfeited: set[int] = field(default_factory=set)
    missed: int = 0
    """The number of matches that never began because bots were not ready."""
    voids: int = 0
    """The number of matches that do not count, including those in `missed`."""

    def void(self, *, missed: bool) -> None:
        """Record a match that does not count."""
        self.voids += 1
        self.missed += missed

    def count(self, order: tuple[int, ...], scores: Sequence[float], forfeited: int | None) -> None:
        """Add a match that counts; ``forfeited`` is the bot that forfeited it."""
        self.matches += 1
        self.orders.append(order)
        for bot, score in zip(order, scores, strict=True):
            self.scores[bot] = self.scores.get(bot, 0.0) + score
        if forfeited is not None:
            self.forfeited.add(forfeited)

    def outcome(self, key: str) -> PairingOutcome[int]:
        """Return the outcome of the pairing, void if none of its matches counts.

        If no match began in any attempt, all bots were absent, and all of them forfeit the pairing.
        """
        nobody = not self.matches and 0 < self.missed == self.voids
        return PairingOutcome(
            key,
            self.entries,
            tuple([self.scores.get(bot, 0.0) for bot in self.entries]),
            self.matches,
            void=not self.matches,
            forfeited=frozenset(self.entries if nobody else self.forfeited),
        )


@dataclass(eq=False, slots=True)
class RunningTournament:
    """A tournament that is not over."""

    row: TournamentRow
    terms: Terms
    names: dict[int, str]
    """The entries: ``player/bot`` by bot id."""
    queue: PairingQueue[int]
    settings: TournamentSettings
    sides: Sides = field(default_factory=Sides)
    """The sides; bot ids in the queue, in tallies and orders are those of captains."""
    playing: dict[str, set[str]] = field(default_factory=dict)
    """Matches that have begun and are not over, by the id of their pairing."""
    tallies: dict[str, PairingTally] = field(default_factory=dict)
    """The results so far of pairings that are not finished, by key."""
    voids: dict[str, list[tuple[int, ...]]] = field(default_factory=dict)
    """Void matches of running pairings, by pairing id."""
    again: list[Repetition] = field(default_factory=list)
    """Void matches that still have to be repeated."""
    repeated: int = 0
    """The number of repetitions of void matches, past and future."""
    before: int = 0
    """The number of matches of earlier runs."""
    paused: bool = False
    gone: set[int] = field(default_factory=set)
    """Bots that were withdrawn."""
    versions: dict[int, int] = field(default_factory=dict)
    """The versions that play, by bot id.  A bot that is missing here may play any version."""
    unnamed: frozenset[int] = frozenset()
    """The bots among them whose names are hidden from players and viewers."""
    rests: dict[int, int] = field(default_factory=dict)
    """The time until which each bot rests from practice, in nanoseconds."""
    cut: bool = False
    """True if the last look stopped at a limit, so that the bots it skipped may have room."""
    asking: bool = False
    """True while the format is being asked."""

    @property
    def planned(self) -> int:
        """The number of matches: played, to come, and repetitions of void ones."""
        return self.before + self.queue.planned - self.queue.reused_matches + self.repeated

    @property
    def over(self) -> bool:
        """True if nothing is being played or left to play."""
        return self.queue.over and not self.playing and not self.again

    def is_for_runners(self, bot: int) -> bool:
        """Return whether only runner machines may run a bot.

        Staff may run baselines anywhere.
        """
        return self.settings.only_hosted and bot not in self.settings.needed_baselines

    def waiting(self) -> list[int]:
        """Return the bots that have matches left, including void ones to repeat."""
        again = [bot for each in self.again for bot in each.orders[0]]
        return self.sides.all_members(dict.fromkeys([*self.queue.entries(), *again]))

    @property
    def left(self) -> int:
        """The number of known pairings not yet begun, including repetitions."""
        return len(self.queue) + len(self.again)

    def upcoming(self, limit: int, of: Collection[int] | None = None) -> list[Pairing[int]]:
        """Return the next pairings; repetitions of void matches come first."""
        again = [
            Pairing(each.id.key, 0, each.orders)
            for each in self.again
            if of is None or not set(of).isdisjoint(each.orders[0])
        ]
        return (again + self.queue.upcoming(limit, of))[:limit]

    def withdraw(self, bot: int) -> None:
        """Drop the remaining pairings of a bot and its side, including repetitions."""
        bot = self.sides.captain(bot)
        if bot in self.gone:
            return
        self.gone.add(bot)
        self.queue.withdraw(bot)
        for again in tuple(self.again):
            if bot in again.orders[0]:
                self.again.remove(again)
                self.repeated -= len(again.orders)
                self.finish(again.id)

    def match_over(
        self,
        pairing: PairingId,
        match: str,
        order: tuple[int, ...],
        scores: Sequence[float] | None,
        forfeited: int | None,
        *,
        missed: bool = False,
    ) -> None:
        """Record a match that is over.

        ``scores`` is None if the match is void; ``missed`` means that it never began.
        """
        open_ = self.playing.get(str(pairing), set())
        if match not in open_:
            return  # The match was already read as finished.
        open_.discard(match)
        tally = self.tallies.setdefault(pairing.key, PairingTally(order))
        if scores is None:
            self.voids.setdefault(str(pairing), []).append(order)
            tally.void(missed=missed)
        else:
            tally.count(order, scores, forfeited)
        if open_:
            return
        del self.playing[str(pairing)]
        again = Repetition.after(pairing, self.voids.pop(str(pairing), ()))
        if again is None or self.gone.intersection(again.orders[0]):
            self.finish(pairing)
        else:
            self.again.append(again)
            self.repeated += len(again.orders)

    def finish(self, pairing: PairingId) -> None:
        """Close a pairing that has no matches left."""
        self.queue.ended(self.tallies.pop(pairing.key).outcome(pairing.key))
