"""Matches that are kept in memory come out as those of a database do."""

from __future__ import annotations

import asyncio

import pytest

from plyhouse.server.table import kept_matches
from plyhouse.server.table.kept_matches import KeptMatches
from plyhouse.storage.causes import written
from plyhouse.storage.errors import StorageError, StoreClosed, Unknown
from plyhouse.storage.match_reads import stored_match
from plyhouse.storage.rows import (
    EventRow,
    FinishMatch,
    FinishPairing,
    MatchRow,
    NewMatch,
    NewPairing,
    Op,
    PairingRow,
    SeatRow,
    StartMatch,
)
from plyhouse.storage.store import Store


def ops(name: str, seats: tuple[SeatRow, ...]) -> list[list[Op]]:
    """What is stored of a match, one submission after the other."""
    seed = bytes(32)
    pairing = PairingRow(name, "pig", "total:60", False, seed, "c0", 1, 5)
    match = MatchRow(name, name, "pig", "total:60", False, "forfeit", "0", "c0", seed, seats, 5)
    return [
        [NewPairing(pairing), NewMatch(match)],
        [EventRow(name, 0, "ready", 0, 0, "ab"), StartMatch(name, ("ab", "cd"), 6)],
        [EventRow(name, 1, "action", 0, 0, "roll", thought_ns=7)],
        [
            FinishMatch(name, "resignation", (-1.0, 1.0), 1, 8, culprit=0, cause=written("enough")),
            FinishPairing(name, 8),
        ],
    ]


def submit(kept: KeptMatches, rows: list[Op]) -> list[StorageError | None]:
    """Submit operations; return what was told at once."""
    told: list[StorageError | None] = []
    kept.submit_then(rows, told.append)
    return told


async def test_kept_match_equals_stored_match() -> None:
    kept = KeptMatches()
    async with await Store.open("sqlite:///:memory:") as store:
        seats = []
        for number, name in enumerate(("ada", "bob")):
            player = await store.add_player(name)
            bot = await store.ensure_bot(player.id, "bot")
            version = await store.ensure_version(bot.id, "1")
            seats.append(SeatRow(number, name, "bot", "1", player.id, bot.id, version))
        for rows in ops("m", tuple(seats)):
            await store.apply(rows)
            assert submit(kept, rows) == [None]
            assert kept.stored("m") == await store.read(stored_match, "m")


def test_kept_matches_forget_the_oldest_pairings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_matches, "MOST", 2)
    kept = KeptMatches()
    for name in ("a", "b", "c"):
        for rows in ops(name, ()):
            submit(kept, rows)
    assert [kept.stored(name).header.id for name in ("b", "c")] == ["b", "c"]
    with pytest.raises(Unknown, match="'a' is not kept"):
        kept.stored("a")


def test_closed_kept_matches_accept_nothing() -> None:
    kept = KeptMatches()
    asyncio.run(kept.close())
    (error,) = submit(kept, ops("m", ())[0])
    assert isinstance(error, StoreClosed)
