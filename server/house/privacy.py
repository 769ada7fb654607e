"""Who may see the matches of which competitions.

A competition with a class says in its file who sees its board: everybody (``public``), its class
(``class``), or each only themselves (``anonymous``).  The same holds for what is played in its
final, in lists, live, in replays and in records: organisers see all of it, students of a ``class``
competition, too, and everybody always the matches in which a bot of theirs had a seat.  Free play
and competitions without a class are public.

Whatever shows matches asks here first: `Privacy.sight` says what somebody may see, `Sight.sees`
whether that holds for one match.  What may not be seen is answered as what is not there.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from plyhouse.storage.errors import Unknown
from plyhouse.storage.rows import Identity, StoredMatch
from plyhouse.storage.store import Store

__all__ = ["Privacy", "Sight", "not_there"]

ALL: Final = frozenset(("organise", "admin"))
"""Scopes of a token that shows everything."""
DEFAULT: Final = "class"
"""What a competition file means that does not say (`plyhouse.server.competition.file`)."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What one viewer may see."""

    player_id: int | None = None
    """None for somebody without an account."""
    closed: frozenset[str] = frozenset()
    """Competitions with a class of which it sees only its own matches, by their ids."""

    def sees(self, class_id: str | None, owners: Iterable[int]) -> bool:
        """Whether it sees a match of a final (None: of none) between bots of these players."""
        if class_id is None or class_id not in self.closed:
            return True
        return self.player_id is not None and self.player_id in owners


class Privacy:
    """What of a server's matches is for whom."""

    def __init__(self, store: Store) -> None:
        self._book = store.classes
        self._boards: dict[str, str] = {}
        """The board of each final, by the id of its competition; it does not change any more."""
        self._class_of: dict[str, str | None] = {}
        """The competition with a class that a competition is a game of; that does not change."""

    async def sight(self, identity: Identity | None) -> Sight:
        """What the holder of a token may see; None for somebody without one."""
        if identity is None:
            return await self.sight_of(None, frozenset())
        return await self.sight_of(identity.player_id, identity.scopes)

    async def sight_of(self, player_id: int | None, scopes: frozenset[str]) -> Sight:
        """`sight`, for who has logged in otherwise."""
        if not scopes.isdisjoint(ALL):
            return Sight(player_id)
        finals = await self._book.finals(player_id, self._boards)
        for class_id, text in finals.files.items():
            self._boards[class_id] = _board(text)
        closed = {
            class_id
            for class_id in finals.begun
            if (board := self._boards.get(class_id, "anonymous")) != "public"
            and not (board == "class" and class_id in finals.member_of)
        }
        return Sight(player_id, frozenset(closed))

    async def class_of(self, competition_id: str | None) -> str | None:
        """The competition with a class that this one is a game of, if it is one."""
        if competition_id is None:
            return None
        if competition_id not in self._class_of:
            self._class_of[competition_id] = await self._book.game_of(competition_id)
        return self._class_of[competition_id]

    def known_free(self, competition_id: str | None) -> bool:
        """Whether it is known without asking the database that matches of it are for all."""
        if competition_id is None:
            return True
        if competition_id not in self._class_of:
            return False
        class_id = self._class_of[competition_id]
        return class_id is None or self._boards.get(class_id) == "public"

    async def sees(self, sight: Sight, stored: StoredMatch) -> bool:
        """Whether a stored match may be seen."""
        class_id = await self.class_of(stored.pairing.competition_id)
        return sight.sees(class_id, {seat.player_id for seat in stored.header.seats})


def not_there(match: str) -> Unknown:
    """What is answered for a match that is not there, or not for whoever asks: the same."""
    return Unknown(
        f"there is no match {match!r} for everybody to see: take an id from the list of matches, "
        "or send the token of somebody who may see it, if it is of a competition that is not public"
    )


def _board(text: str) -> str:
    """The board of a competition file; of one that cannot be read, the most private one.

    Not `read_competition`: a game whose file is missing today must not change who sees what.
    """
    try:
        board = tomllib.loads(text).get("board", DEFAULT)
    except tomllib.TOMLDecodeError:
        return "anonymous"
    return board if board in ("public", "class") else "anonymous"
