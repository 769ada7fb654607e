"""Suspicions: planted collusion and copies are found, and honest fields are left alone."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import combinations

import pytest

from plyhouse.games.deterministic.tic_tac_toe import TicTacToe
from plyhouse.server.competitions.suspicions import same_files
from plyhouse.server.results.record import make_record
from plyhouse.server.results.suspicion import (
    LEAST_POSITIONS,
    Choice,
    Match,
    adjusted,
    alike,
    choices_of,
    unlikely_pairs,
)
from plyhouse.storage.competition_rows import CompetitionEntry

from .harness import Table

OWNERS = {f"s{number}/bot": f"s{number}" for number in range(10)}


def field(
    seed: int, matches: int = 10, colluding: tuple[str, str] | None = None, draws: float = 0.2
) -> list[Match]:
    """A round robin of bots 60 Elo points apart; the second of a colluding pair always loses."""
    rng = random.Random(seed)
    rows = []
    for one, other in combinations(OWNERS, 2):
        for number in range(matches):
            first, second = (one, other) if number % 2 else (other, one)
            gap = (list(OWNERS).index(second) - list(OWNERS).index(first)) * 60
            win = (1 - draws) / (1 + 10 ** (-gap / 400))
            score = 0.5 if rng.random() < draws else float(rng.random() < win / (1 - draws))
            if colluding and {first, second} == set(colluding):
                score = float(first == colluding[0])
            rows.append(Match(first, second, score, "pig"))
    return rows


def test_p_values_are_adjusted_for_their_number() -> None:
    assert adjusted([]) == []
    assert adjusted([0.2]) == [0.2]
    # The example of Benjamini and Hochberg 1995, section 3.1: four of fifteen at level 0.05.
    values = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240,
              0.4262, 0.5719, 0.6528, 0.7590, 1.0000]  # fmt: skip
    shuffled = random.Random(1).sample(values, len(values))
    found = dict(zip(shuffled, adjusted(shuffled), strict=True))
    assert [value for value in values if found[value] <= 0.05] == values[:4]


def test_who_lets_another_win_is_named_first_and_alone() -> None:
    pairs = unlikely_pairs(field(3, colluding=("s8/bot", "s1/bot")), OWNERS)
    assert len(pairs) == 45
    named = [each for each in pairs if each.adjusted <= 0.05]
    assert [(each.one, each.other, each.matches) for each in named] == [("s1", "s8", 10)]
    assert named[0].score == 0
    assert named[0].expected > 6
    assert named[0].residual < -3
    staff = unlikely_pairs(field(3, colluding=("s8/bot", "s1/bot")), OWNERS, staff={"s1"})
    assert len(staff) == 36
    assert not [each for each in staff if each.adjusted <= 0.05]


@pytest.mark.parametrize("draws", [0.0, 0.4])
def test_in_honest_fields_hardly_anybody_is_named(draws: float) -> None:
    fields = 60
    alarms = sum(
        any(each.adjusted <= 0.05 for each in unlikely_pairs(field(seed, 6, draws=draws), OWNERS))
        for seed in range(fields)
    )
    assert alarms <= 0.05 * fields + 3, "the rate is 5%, and the test is on the quiet side"


def test_a_field_without_results_names_nobody() -> None:
    assert unlikely_pairs([], {}) == []
    own = {"a/x": "a", "a/y": "a"}
    assert unlikely_pairs([Match("a/x", "a/y", 1.0, "pig")] * 9, own) == []


# ------------------------------------------------------------------------------- choices


Chooser = Callable[[int, int], int]
"""The action in a position (by its number), of a bot (by its number)."""


def population(choose: Chooser, bots: int = 8, positions: int = 60) -> list[Choice]:
    return [
        Choice(f"s{bot}/bot", f"s{bot}", position, str(choose(position, bot)))
        for bot in range(bots)
        for position in range(positions)
    ]


def by_chance(position: int, bot: int) -> int:
    return random.Random(f"{position}/{bot}").randrange(6)


def test_a_copy_is_found() -> None:
    copied = population(lambda position, bot: by_chance(position, 2 if bot == 5 else bot))
    (found,) = alike(copied)
    assert (found.one, found.other) == ("s2/bot", "s5/bot")
    assert (found.positions, found.same) == (60, 60)
    assert 5 < found.expected < 25
    assert found.adjusted < 1e-6
    assert alike(copied, staff={"s5"}) == []
    nearly = [
        each._replace(action="9") if each.who == "s5/bot" and each.position in (7, 8) else each
        for each in copied
    ]
    assert [each.same for each in alike(nearly)] == [58]


def test_those_who_choose_by_themselves_are_not_named() -> None:
    assert alike(population(by_chance)) == []


def test_where_everybody_agrees_agreement_says_nothing() -> None:
    equal = alike(population(lambda position, bot: position % 6, bots=30))
    assert min(each.p for each in equal) == 1

    def nearly(position: int, bot: int) -> int:
        return position % 6 if random.Random(f"{bot}/{position}").random() < 0.99 else 7

    strong = alike(population(nearly, bots=30, positions=200))
    assert strong, "they are near identical"
    assert min(each.adjusted for each in strong) > 0.05, "and so is everybody"


def test_few_positions_and_bots_of_one_owner_say_nothing() -> None:
    def same(position: int, bot: int) -> int:
        return by_chance(position, 2 if bot == 5 else bot)

    assert alike(population(same, positions=LEAST_POSITIONS - 1)) == []
    alone = [each for each in population(same) if each.owner in ("s2", "s5")]
    assert alike(alone) == [], "nobody else shows what one would choose there"
    team = [each._replace(owner="team") if each.owner in ("s2", "s5") else each
            for each in population(same)]  # fmt: skip
    assert alike(team) == []


def test_positions_are_what_was_observed_however_the_match_came_there() -> None:
    found = []
    for actions in (("a1", "b2", "c3", "a2"), ("c3", "b2", "a1", "c2")):
        table = Table(TicTacToe())
        for action in actions:
            table.act(action)
        record = make_record(table.config, table.rows, reveal=False)
        found.append(list(choices_of(record, TicTacToe(), [("ada/x", "ada"), ("bob/y", "bob")])))
    assert [each.who for each in found[0]] == ["ada/x", "bob/y"] * 2
    same = [one.position == other.position for one, other in zip(*found, strict=True)]
    assert same == [True, False, False, True], "two ways led to the last position"
    assert (found[0][3].action, found[1][3].action) == ("a2", "c2")


def test_the_same_files_of_different_owners_are_named() -> None:
    def entry(bot: int, player: str, digest: str, *, baseline: bool = False) -> CompetitionEntry:
        owner = sum(map(ord, player))
        return CompetitionEntry(
            *(bot, owner, player, f"b{bot}", bot, "", digest, False, baseline, "active")
        )

    one, two, three = "1" * 64, "2" * 64, "3" * 64
    found = same_files(
        [
            *(entry(1, "ada", one), entry(2, "bob", one), entry(3, "cy", two)),
            *(entry(4, "cy", two), entry(5, "dan", ""), entry(6, "eve", "")),  # her own; unknown
            *(entry(7, "fay", three), entry(8, "staff", three, baseline=True)),
            *(entry(9, "staff", two[:-1] + "4", baseline=True),),
            *(entry(10, "lab", two[:-1] + "4", baseline=True),),
        ]
    )
    assert [(each.digest, each.entries) for each in found] == [
        (one, ("ada/b1", "bob/b2")),
        (three, ("fay/b7", "staff/b8")),
    ]
