"""The ladder: near ratings, new bots, and nobody who starves."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from random import Random
from statistics import fmean, median

import pytest

from plyhouse.server.competition_rules.formats import FormatError, PairingOutcome
from plyhouse.server.competition_rules.ladder import Ladder, Rung
from plyhouse.server.competitions.ladders import LadderQueue
from plyhouse.server.match.presence import Presence

SECOND = 10**9


def rung(entry: int, rating: float = 1500.0, error: float = 50.0, **more: object) -> Rung[int]:
    facts: dict[str, object] = {"played": 0, "came_ns": 0, "free_ns": 0, **more}
    return Rung(entry, rating, error, **facts)  # type: ignore[arg-type]


def test_near_ratings_meet() -> None:
    bots = [rung(n, 1500.0 + 400 * (n // 2), played=5) for n in range(10)]
    pairs = Ladder().pairs(bots, 60 * SECOND, begun=7, seed=1)
    assert {frozenset(pair.entries) for pair in pairs} == {
        frozenset((n, n + 1)) for n in range(0, 10, 2)
    }
    assert [pair.key for pair in pairs] == ["l8", "l9", "l10", "l11", "l12"]
    assert all(pair.matches == (pair.entries, pair.entries[::-1]) for pair in pairs)


def test_little_known_bots_are_asked_for_before_well_known_ones() -> None:
    bots = [rung(0, error=30), rung(1, error=30), rung(2, error=300, played=1)]
    [pair] = Ladder().pairs(bots, 60 * SECOND, begun=0, seed=1, limit=1)
    assert 2 in pair.entries


def test_those_who_met_least_meet() -> None:
    bots = [rung(n, played=2) for n in range(4)]
    met = {frozenset((0, 1)): 3, frozenset((2, 3)): 3, frozenset((0, 2)): 3, frozenset((1, 3)): 3}
    pairs = Ladder().pairs(bots, 60 * SECOND, begun=0, seed=1, met=met)
    assert {frozenset(p.entries) for p in pairs} == {frozenset((0, 3)), frozenset((1, 2))}


def test_the_last_opponent_is_met_again_only_after_waiting_for_another() -> None:
    free = {"played": 1, "free_ns": 50 * SECOND}
    bots = [rung(0, last=1, **free), rung(1, last=0, **free), rung(2, room=False, played=1)]
    ladder = Ladder(patience=10)
    assert ladder.pairs(bots, 59 * SECOND, begun=1, seed=1) == []
    assert len(ladder.pairs(bots, 60 * SECOND, begun=1, seed=1)) == 1
    assert len(ladder.pairs(bots[:2], 51 * SECOND, begun=1, seed=1)) == 1, "nobody else is here"


def test_nobody_or_one_is_no_pair() -> None:
    assert Ladder().pairs([], 0, begun=0, seed=1) == []
    assert Ladder().pairs([rung(1)], 0, begun=0, seed=1) == []
    assert Ladder().pairs([rung(1), rung(2)], 0, begun=0, seed=1, limit=0) == []


def test_the_same_facts_and_seed_give_the_same_pairs() -> None:
    random = Random(3)
    bots = [rung(n, random.gauss(1500, 200), random.uniform(30, 300)) for n in range(101)]
    one = Ladder(mirrored=False).pairs(bots, SECOND, begun=5, seed=8)
    assert one == Ladder(mirrored=False).pairs(bots[::-1], SECOND, begun=5, seed=8)
    assert one != Ladder(mirrored=False).pairs(bots, SECOND, begun=5, seed=9)
    busy = [entry for pair in one for entry in pair.entries]
    assert len(busy) == len(set(busy)) == 100


def test_a_ladder_that_is_not_rated_pairs_by_its_own_results_also_after_a_restart() -> None:
    """Bots 0 and 2 beat 1 and 3 all the time; the leaderboard knows of nothing."""
    here = {bot: Presence(bot, 1, f"p{bot}", "b", version_id=bot, connection=1) for bot in range(4)}
    circle = [(0, 1), (0, 2), (2, 3), (0, 3), (1, 3), (2, 1)]  # all have met as often
    begun = {f"l{n + 1}": circle[n % 6] for n in range(60)}
    finished = {
        key: PairingOutcome(key, pair, (1.0, 1.0) if sum(pair) % 2 == 0 else (2.0, 0.0), matches=2)
        for key, pair in [*begun.items()][::-1]  # as a database may list them
    }
    finished["l61"] = PairingOutcome("l61", (1, 0), (0.0, 0.0), matches=0, void=True)
    facts = (Ladder(), here, begun, here, lambda _: None, lambda: SECOND)
    unequal = 0
    for name in "abcdefgh":
        for pairing in LadderQueue(*facts, name).take(lambda bot: 2, limit=2):
            unequal += sum(pairing.entries) % 2
    assert unequal, "otherwise nothing is shown"
    old = LadderQueue(*facts, "x", rated=False)
    for key in sorted(finished, key=lambda key: int(key[1:])):
        old.ended(finished[key])
    new = LadderQueue(*facts, "x", rated=False, finished=finished)
    for work in (old, new):
        pairs = work.take(lambda bot: 2, limit=2)
        assert {frozenset(each.entries) for each in pairs} == {
            frozenset((0, 2)),
            frozenset((1, 3)),
        }


def test_a_ladder_has_no_end_to_count_to() -> None:
    with pytest.raises(FormatError, match="as long as bots are connected"):
        Ladder().count(10)


@dataclass
class Bot:
    strength: float
    came: int
    leaves: int
    rating: float = 1500.0
    error: float = 300.0
    played: int = 0
    free: int = 0
    busy: bool = False
    last: int | None = None


@dataclass
class House:
    """Bots come, play, learn their ratings, and go, in seconds of a clock moved by hand."""

    random: Random
    limit: int
    visits: int
    stay: int

    def run(self, seconds: int) -> tuple[list[float], list[float]]:
        """The least share of the usual pace, and the mean gap in strength, each minute."""
        random = self.random
        bots: dict[int, Bot] = {}
        ends: list[tuple[int, int, int]] = []
        begun = number = 0
        worst, gaps, gap = [], [], []
        met: dict[frozenset[int], int] = {}
        for now in range(seconds):
            while len(bots) < self.visits and random.random() < 0.3:
                leaves = now + max(60, int(random.expovariate(1 / self.stay)))
                bots[number] = Bot(random.gauss(1500, 300), now, leaves, free=now)
                number += 1
            while ends and ends[0][0] <= now:
                _, *pair = heapq.heappop(ends)
                for each in pair:
                    if each in bots:
                        bots[each].busy, bots[each].free = False, now
                if all(each in bots for each in pair):
                    self.learn(*(bots[each] for each in pair))
            for each in [each for each, bot in bots.items() if bot.leaves <= now]:
                del bots[each]
            rungs = [
                Rung(n, b.rating, b.error, b.played, b.came * SECOND, b.free * SECOND,
                     not b.busy, b.last)
                for n, b in bots.items()
            ]  # fmt: skip
            room = self.limit - len(ends)
            ladder = Ladder()
            for pairing in ladder.pairs(
                rungs, now * SECOND, begun=begun, seed=4, met=met, limit=room
            ):
                begun += 1
                one, other = pairing.entries
                met[frozenset((one, other))] = met.get(frozenset((one, other)), 0) + 1
                gap.append(abs(bots[one].strength - bots[other].strength))
                for each, against in ((one, other), (other, one)):
                    bots[each].busy, bots[each].last = True, against
                    bots[each].played += 1
                heapq.heappush(ends, (now + random.randint(3, 9), one, other))
            if now % 60 == 0:
                pace = {n: b.played / (now - b.came) for n, b in bots.items() if now > b.came}
                usual = median(pace.values()) if pace else 0.0
                # The entries that have been connected for ten pairings at the usual pace.
                settled = [p for n, p in pace.items() if (now - bots[n].came) * usual >= 10]
                if settled:
                    worst.append(min(settled) / usual)
                gaps.append(fmean(gap) if gap else math.nan)
                gap = []
        return worst, gaps

    def learn(self, one: Bot, other: Bot) -> None:
        """A rough rating: steps that shrink with what is known."""
        chance = 1 / (1 + 10 ** ((other.strength - one.strength) / 400))
        score = float(self.random.random() < chance)
        expected = 1 / (1 + 10 ** ((other.rating - one.rating) / 400))
        for bot, sign in ((one, 1), (other, -1)):
            bot.rating += sign * bot.error * 0.5 * (score - expected)
            bot.error = max(40.0, bot.error * 0.95)


@pytest.mark.parametrize("limit", [40, 1000])
def test_the_least_played_bot_never_falls_below_half_the_median(limit: int) -> None:
    worst, gaps = House(Random(limit), limit, visits=300, stay=400).run(1320)
    assert len(worst) > 10
    assert min(worst) >= 0.5
    # Two at random are 300 * 2 / sqrt(pi) apart.
    assert fmean(gaps[-10:]) < 0.75 * 300 * 2 / math.sqrt(math.pi)


def test_those_who_are_here_together_play_alike() -> None:
    worst, _ = House(Random(2), 40, visits=100, stay=10**6).run(900)
    assert worst
    assert min(worst) >= 0.5
