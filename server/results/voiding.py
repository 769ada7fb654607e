"""Voiding of matches: the server computes and removes their scores."""

from __future__ import annotations

from plyhouse.games.registry import get_game
from plyhouse.server.results.scoring import game_scores
from plyhouse.storage import match_reads, voiding
from plyhouse.storage.causes import Cause, written
from plyhouse.storage.rows import By
from plyhouse.storage.store import Store


async def void_match(store: Store, match_id: str, by: By, cause: Cause | None = None) -> None:
    """Make a match void, so that it counts nowhere; the record keeps it.

    Without ``cause``, the reason of ``by`` is what the match shows.

    A match that is still played counts nowhere when it ends; a running server ends it when it reads
    this in the audit log.  Raises `plyhouse.storage.errors.Unknown`, `AlreadyExists` for a void
    match, and `plyhouse.games.errors.GameError` if its game is not known here.
    """
    header = (await store.read(match_reads.stored_match, match_id)).header
    scores = None
    if header.returns:
        scores = game_scores(get_game(header.game), header.returns)
    cause = cause or written(by.why, header.seats)
    await store.write(voiding.void_match, match_id, by, scores, store.now(), cause)
