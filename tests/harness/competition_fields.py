"""Forms of competitions and fields of entries."""

from __future__ import annotations

from random import Random

from hypothesis import strategies as st

from plyhouse.server.competition_rules.double_elimination import DoubleElimination
from plyhouse.server.competition_rules.formats import (
    Field,
    FieldEntry,
    Format,
    FormatError,
)
from plyhouse.server.competition_rules.gauntlet import Gauntlet
from plyhouse.server.competition_rules.groups import GroupsKnockout
from plyhouse.server.competition_rules.knockout import Knockout
from plyhouse.server.competition_rules.round_robin import RoundRobin
from plyhouse.server.competition_rules.swiss import Swiss
from plyhouse.server.competition_rules.tables import Tables

mirrored = st.booleans()


SEEDS = st.builds(Random, st.integers(0, 2**32))


FORMS = st.one_of(
    st.builds(RoundRobin, laps=st.integers(1, 2), mirrored=mirrored),
    st.builds(
        Swiss,
        number=st.sampled_from([None, 1, 3, 5]),
        points=st.sampled_from(["share", "result"]),
        late=st.sampled_from([0.0, 0.5]),
        mirrored=mirrored,
    ),
    st.builds(
        Tables,
        seats=st.integers(2, 4),
        number=st.integers(1, 4),
        mirrored=mirrored,
    ),
    st.builds(
        Knockout,
        best_of=st.integers(1, 4),
        extra=st.integers(0, 2),
        third_place=st.booleans(),
        mirrored=mirrored,
    ),
    st.builds(
        DoubleElimination,
        best_of=st.integers(1, 3),
        extra=st.integers(0, 2),
        mirrored=mirrored,
    ),
    st.builds(
        GroupsKnockout,
        size=st.integers(2, 5),
        advance=st.integers(1, 2),
        third_place=st.booleans(),
        mirrored=mirrored,
    ),
    st.builds(Gauntlet, seats=st.integers(2, 4), times=st.integers(1, 2), mirrored=mirrored),
)


def field_of(form: Format, entries: int, random: Random) -> Field[int]:
    baselines = random.randint(1, entries - 1) if isinstance(form, Gauntlet) else 0
    ranks = random.sample(range(1, entries + 1), entries)
    return Field(
        tuple(
            [
                FieldEntry(entry, random.choice([ranks[entry], None]), baseline=entry < baselines)
                for entry in range(entries)
            ]
        )
    )


def fits(form: Format, field: Field[int]) -> bool:
    try:
        form.count(len(field), sum(each.baseline for each in field.entrants))
    except FormatError:
        return False
    return True
