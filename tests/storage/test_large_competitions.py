"""Competitions with very many pairings: few statements, and nothing long on the event loop."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from tests.harness.statements import statements
from tests.tournaments import begin_round_robin

from plyhouse.games.registry import get_game
from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.competition_rules import schedule
from plyhouse.server.competition_rules.pairing_queue import RoundRobinQueue
from plyhouse.server.competitions import tournament_restore
from plyhouse.server.competitions.lifecycle import Competitions
from plyhouse.server.competitions.tournaments import Tournaments
from plyhouse.server.config import ServerConfig
from plyhouse.server.match.terms import Terms
from plyhouse.server.match.time_control import TimeControl
from plyhouse.server.table.directory import Directory
from plyhouse.storage import competition_sql, people
from plyhouse.storage import tournaments as stored_tournaments
from plyhouse.storage.errors import CompetitionRefusal
from plyhouse.storage.rows import By, MatchRow, NewMatch, NewPairing, Op, PairingRow, SeatRow
from plyhouse.storage.store import Store

ENTRIES = 142
PAIRINGS = 10_011
"""How many pairs 142 entries make."""
OLGA = By("olga")
TERMS = Terms(get_game("pig"), TimeControl.parse("total:60"), rated=True, mirrored=True)


class Idle:
    """Replaces the runner of matches: nothing is played."""

    live: dict[str, Any] = {}  # noqa: RUF012 (never changed)


def services(store: Store) -> tuple[Tournaments, Competitions]:
    """Return services of a server that plays nothing."""
    directory = Directory()
    tournaments = Tournaments(store, Idle(), directory)  # type: ignore[arg-type]
    return tournaments, Competitions(ServerConfig(), store, tournaments, directory)


async def bots(store: Store) -> list[str]:
    """Make bots; return their names."""
    player = await store.add_player("ada")
    names = [f"bot{number}" for number in range(ENTRIES)]
    for name in names:
        await store.ensure_bot(player.id, name)
    return [f"ada/{name}" for name in names]


def begun(competition: str, number: int, seats: tuple[SeatRow, ...]) -> list[Op]:
    """A pairing of a competition, with a match that is played."""
    name = f"{competition}-{number}"
    seed = bytes(32)
    pairing = PairingRow(name, "pig", "total:60", True, seed, "", 2, 0, competition)
    match = MatchRow(
        *(name, name, "pig", "total:60", True, "forfeit", "0", "", seed, seats, 0),
    )
    return [NewPairing(pairing), NewMatch(match)]


async def test_a_competition_takes_few_statements_however_many_pairings_it_has(
    lasting_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []
    make = schedule.round_robin

    def watched(*args: Any, **options: Any) -> Any:
        threads.append(threading.get_ident())
        return make(*args, **options)

    monkeypatch.setattr(tournament_restore, "round_robin", watched)
    async with await Store.open(lasting_url) as store:
        entries = await bots(store)
        house, competitions = services(store)
        with statements(store) as seen:
            made = (await begin_round_robin(competitions, "Cup", TERMS, OLGA, entries=entries)).id
        inserted = [each.split()[2] for each in seen if each.startswith("INSERT")]
        assert sorted(inserted) == [
            "audit", "audit", "competition_entries", "competition_games", "competitions",
            "tournament_entries", "tournaments",
        ]  # fmt: skip
        assert len(seen) < 50, seen
        view = await house.view(made)
        assert (view.planned, view.created) == (2 * PAIRINGS, 0)
        assert len(view.waiting_for) == ENTRIES
        seats = []
        for seat, bot in enumerate((await store.read(people.list_bots))[:2]):
            version = await store.ensure_version(bot.id, "1")
            seats.append(SeatRow(seat, "ada", bot.name, "1", bot.player_id, bot.id, version))
        ops = [begun(made, number, tuple(seats)) for number in range(0, PAIRINGS, 2)]
        await store.apply([op for each in ops for op in each])
        later = Tournaments(store, Idle(), Directory())  # type: ignore[arg-type]
        with statements(store) as seen:
            await later.restore()
        assert len(seen) < 9, seen
        with statements(store) as seen:
            assert (await later.view(made)).planned == 2 * PAIRINGS
        assert len(seen) < 8, seen
        (here,) = later._running.values()
        assert isinstance(here.queue, RoundRobinQueue)
        assert len(here.queue) == PAIRINGS // 2
        taken = here.queue.take(lambda bot: 2, limit=1000)
        assert taken
        assert all(int(pairing.key) % 2 for pairing in taken)
    assert threading.get_ident() not in threads


@pytest.mark.parametrize(
    ("game", "entries", "rounds", "planned"),
    [
        ("pig", 142, 1000, "20,022,000 matches"),
        ("pig(seats=10)", 60, 1, "753,940,275,660 matches"),
    ],
)
async def test_a_schedule_that_nobody_could_play_is_refused_before_it_is_made(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    game: str,
    entries: int,
    rounds: int,
    planned: str,
) -> None:
    monkeypatch.setattr(tournament_restore, "round_robin", None)
    async with await Store.open(f"sqlite:///{tmp_path / 'a.db'}") as store:
        names = (await bots(store))[:entries]
        _, competitions = services(store)
        terms = Terms(get_game(game), TimeControl.parse("move:1"), rated=True, mirrored=True)
        with pytest.raises(CompetitionRefusal, match="with fewer rounds") as caught:
            await begin_round_robin(competitions, "Cup", terms, OLGA, rounds=rounds, entries=names)
        assert planned in str(caught.value)
        with pytest.raises(ProtocolError, match="listed twice"):
            await begin_round_robin(
                competitions, "Cup", terms, OLGA, entries=[*names[:12], names[0]]
            )
        assert await store.read(competition_sql.list_all) == []
        assert await store.read(stored_tournaments.list_all) == []
