"""What an operation leaves in the database, by which it is recognised."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from plyhouse.server.results.scoring import match_scores
from plyhouse.storage.rows import (
    EventRow,
    FinishMatch,
    FinishPairing,
    NewMatch,
    NewPairing,
    Op,
    StartMatch,
)
from plyhouse.storage.writer import all_stored


async def test_operation_is_stored_if_the_database_has_all_that_it_leaves(world_at: Any) -> None:
    async with world_at("sqlite:///:memory:") as world:
        match, (pairing_op, match_op) = await world.new("ada", "bob")
        other, others = await world.new("ada", "bob")
        await world.store.apply(others)
        pairing, elsewhere = world.pairings[match], world.pairings[other]
        start = StartMatch(match, ("", ""), 11)
        event = EventRow(match, 0, "act", 3, 1, "x")
        scores = match_scores((1.0, -1.0), 0.0)
        finish = FinishMatch(match, "normal", (1.0, -1.0), 3, 99, culprit=1, scores=scores)
        end = FinishPairing(pairing.id, 99)
        steps: list[Op] = [pairing_op, match_op, start, event, finish, end]
        for step in steps:
            assert not await world.store.read(all_stored, [step]), step
            await world.store.apply([step])
            assert await world.store.read(all_stored, [step]), step
        assert await world.store.read(all_stored, steps)
        unlike: list[Op] = [
            NewPairing(replace(pairing, seed=elsewhere.seed)),
            NewMatch(replace(match_op.match, pairing_id=elsewhere.id)),
            replace(start, started_ms=12),
            replace(start, match_id=other),
            *(
                replace(event, **{name: value})
                for name, value in {
                    "match_id": other, "index": 1, "kind": "roll", "ply": 4, "seat": 0, "text": "y",
                }.items()
            ),
            *(
                replace(finish, **{name: value})
                for name, value in {
                    "match_id": other, "termination": "aborted", "ply": 4, "finished_ms": 98,
                    "culprit": None,
                }.items()
            ),
            replace(end, finished_ms=98),
            replace(end, pairing_id=elsewhere.id),
        ]  # fmt: skip
        for operation in unlike:
            assert not await world.store.read(all_stored, [*steps, operation]), operation
