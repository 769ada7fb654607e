"""The duration of a past final, without its pauses."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, update
from tests.harness.statements import statements
from tests.tournaments import add_competition

from plyhouse.server.competition_rules.file import CompetitionFile, encoded
from plyhouse.server.match.time_control import TimeControl
from plyhouse.storage.measures import PAUSE_MS, elapsed_ms, measure
from plyhouse.storage.models import competitions, tournaments
from plyhouse.storage.rows import TournamentRow
from plyhouse.storage.store import Store


def test_elapsed_counts_waits_between_matches_and_no_pauses() -> None:
    assert elapsed_ms([(0, 0), (300, 1300), (400, 900), (1500, 2500)]) == 2500
    night = 10 * PAUSE_MS
    assert elapsed_ms([(0, 1000), (night, night + 500)]) == 1500
    assert elapsed_ms([(night, night + 500), (0, 1000)]) == 1500


async def test_latest_final_of_a_kind_is_found_in_one_statement_among_many(
    store: Store, world: Any
) -> None:
    def finish(connection: Connection, name: str, number: int, hosted: bool) -> None:
        rules = '\\"hosting_required":true"hosting_required":true'
        file = CompetitionFile(
            name, ("pig",), TimeControl.parse("move:1"), hosting_required=hosted, rules=rules
        )
        changed = update(competitions).where(competitions.c.id == name)
        connection.execute(changed.values(parsed=encoded(file)))
        ended = update(tournaments).where(tournaments.c.id == name)
        connection.execute(ended.values(finished_ms=10_000 + number))

    for number in range(8):  # the latest two of each kind have no match
        name = f"cup{number}"
        row = TournamentRow(name, name, "pig", "move:1", "round_robin", 1, False, False, 1)
        await add_competition(store, row, [])
        await store.write(finish, name, number, number % 2 == 0)
        if number < 4:
            await world.play("ada", "bob", returns=(1, -1), game="pig", tournament_id=name)
    for hosted, latest in ((True, "cup2"), (False, "cup3")):
        with statements(store) as seen:
            found = await store.read(measure, "pig", "move:1", hosted=hosted)
        assert found.final is not None
        assert found.final.competition == latest
        assert len([each for each in seen if each.startswith("SELECT")]) == 3
    assert (await store.read(measure, "pig", "move:2", hosted=True)).final is None
