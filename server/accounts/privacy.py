"""Who may see the matches of which competitions.

A competition with a class says in its file who sees its board: everybody (``public``), its class
(``class``), or each only themselves (``anonymous``).  The same holds for what is played in its
final, in lists, live, in replays and in records: its staff sees all of it, students of a ``class``
competition, too, and everybody always the matches in which a bot of theirs had a seat.  Free play
and competitions without a class are public.

Baselines that the file hides have no name in any match of the final, whoever plays or watches it:
what is sent while it is played, lists, records and pages say `PRIVATE`, as the board does.  Only
its staff, and the account that they belong to, read their names in what is stored, and nobody else
finds a match by them.  Also before the final, lists of bots have only those of them that were seen
elsewhere (`Sight.secret`).

Whatever shows matches asks here first: `Privacy.sight` says what somebody may see, `Sight.sees`
whether that holds for one match, `Privacy.match` and `Privacy.matches` show what is stored.  What
may not be seen is answered as what is not there.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from plyhouse.server.competition.evidence import PRIVATE
from plyhouse.storage.careers import CareerMatch, Holder
from plyhouse.storage.errors import Unknown
from plyhouse.storage.match_lists import MatchFilter
from plyhouse.storage.rows import BotRow, EventRow, Identity, MatchRow, SeatRow, StoredMatch
from plyhouse.storage.store import Store

__all__ = ["Privacy", "Sight", "not_there"]

DEFAULT: Final = "class"
"""What a competition file means that does not say (`plyhouse.server.competition.file`)."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What one viewer may see."""

    player_id: int | None = None
    """None for somebody without an account."""
    closed: frozenset[str] = frozenset()
    """Competitions with a class of which it sees only its own matches, by their ids."""
    unnamed: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The baselines that have no name for it, ``player/bot`` in small letters, by the ids of the
    competitions that hide them."""

    def sees(self, class_id: str | None, owners: Iterable[int]) -> bool:
        """Whether it sees a match of a final (None: of none) between bots of these players."""
        if class_id is None or class_id not in self.closed:
            return True
        return self.player_id is not None and self.player_id in owners

    def named(self, class_id: str | None, player_id: int, name: str) -> bool:
        """Whether it may know in a match of a final that this is ``player/bot`` of a player."""
        hidden = self.unnamed.get(class_id or "", frozenset())
        return name.lower() not in hidden or player_id == self.player_id

    def secret(self, player_id: int, name: str) -> bool:
        """Whether it must not learn from a list that ``player/bot`` of a player is there."""
        return not all(self.named(each, player_id, name) for each in self.unnamed)


class _Rules(NamedTuple):
    """What a competition file says of who sees what."""

    board: str
    hidden: frozenset[str]
    """Hidden baselines, ``player/bot`` in small letters."""


_STRICTEST: Final = _Rules("anonymous", frozenset())


class Privacy:
    """What of a server's matches is for whom."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._book = store.classes
        self._rules: dict[str, _Rules] = {}
        """Those of each final, by the id of its competition, until `refresh`."""
        self._class_of: dict[str, str | None] = {}
        """The competition with a class that a competition is a game of; that does not change."""

    async def sight(self, identity: Identity | None) -> Sight:
        """What the holder of a token may see; None for somebody without one."""
        if identity is None:
            return await self.sight_of(None, frozenset())
        return await self.sight_of(identity.player_id, identity.scopes)

    async def sight_of(self, player_id: int | None, scopes: frozenset[str]) -> Sight:
        """`sight`, for who has logged in otherwise."""
        if "admin" in scopes:
            return Sight(player_id)
        finals = await self._book.finals(player_id, self._rules)
        self._learn(finals.files)
        concerned = finals.begun | finals.to_come
        if "organise" in scopes and player_id is not None:  # its own ones hide nothing
            concerned = concerned & await self._book.closed_to(player_id)
        closed = set()
        unnamed = {}
        for class_id in concerned:
            rules = self._rules.get(class_id, _STRICTEST)
            if class_id in finals.to_come:
                pass
            elif rules.board != "public" and not (
                rules.board == "class" and class_id in finals.member_of
            ):
                closed.add(class_id)
            if rules.hidden:
                unnamed[class_id] = rules.hidden
        return Sight(player_id, frozenset(closed), unnamed)

    def _learn(self, files: Mapping[str, str]) -> None:
        self._rules |= {class_id: _rules(text) for class_id, text in files.items()}

    async def refresh(self, class_id: str) -> None:
        """Read the file of a competition again, as it may have changed."""
        found = await self._book.finals(None, self._rules.keys() - {class_id})
        self._rules.pop(class_id, None)
        self._learn(found.files)

    def may_be_secret(self, name: str) -> bool:
        """Whether ``player/bot`` is a hidden baseline, for lists that everybody sees alike."""
        return any(name.lower() in each.hidden for each in self._rules.values())

    async def hidden(self, competition_id: str | None) -> frozenset[str]:
        """The baselines without a name in matches of a competition, if it is a game of a final:
        ``player/bot`` in small letters.
        """
        class_id = await self.class_of(competition_id)
        if class_id is None:
            return frozenset()
        if class_id not in self._rules:
            self._learn((await self._book.finals(None, self._rules)).files)
        return self._rules.get(class_id, _STRICTEST).hidden

    # ------------------------------------------------------------------ what is stored

    async def match(self, sight: Sight, identifier: str) -> StoredMatch:
        """A stored match as it may be seen; raises `Unknown`."""
        try:
            stored = await self._store.match(identifier)
        except Unknown:
            raise not_there(identifier) from None
        if not await self.sees(sight, stored):
            raise not_there(identifier)
        return await self.veiled(sight, stored)

    async def matches(
        self, sight: Sight, wanted: MatchFilter, *, limit: int = 50, before: str | None = None
    ) -> list[MatchRow]:
        """Those stored matches that may be seen, as they may be seen, newest first.

        Of ``wanted`` what is for whoever looks (``closed``, ``viewer``) is said by ``sight``.
        """
        wanted = replace(wanted, closed=sight.closed, viewer=sight.player_id)
        rows = await self._store.matches_like(wanted, limit=limit, before=before)
        return [_veiled(row, await self._secret(sight, row)) for row in rows]

    async def bots(self, sight: Sight, bots: Iterable[BotRow]) -> list[BotRow]:
        """Those bots that a list may have: hidden baselines only with something that all may see.

        One that is missing although it is on a leaderboard would give itself away.
        """
        shown = []
        for each in bots:
            if sight.secret(each.player_id, f"{each.player}/{each.name}"):
                seen = await self._store.careers.standings([each.id], 1)
                if not seen and not await self.matches_of(sight, each, limit=1):
                    continue
            shown.append(each)
        return shown

    async def bot(self, sight: Sight, player: str, name: str) -> BotRow:
        """Return a bot by its name; raises `Unknown` also for one that no list may have."""
        try:
            found = await self.bots(sight, [await self._store.bot_named(player, name)])
        except Unknown:
            found = []  # the reason lists the bots of the player
        if not found:
            raise Unknown(f"there is no bot {player}/{name}; look for it on the page of {player}")
        return found[0]

    async def matches_of(
        self, sight: Sight, bot: BotRow, *, limit: int, before: str | None = None
    ) -> list[CareerMatch]:
        """Finished matches of a bot that may be seen, as they may be seen, newest first."""
        rows = await self._store.careers.matches(
            bot.id,
            limit=limit,
            before=before,
            closed=sight.closed,
            viewer=sight.player_id,
            unnamed_in=self.unnamed(sight, [bot]).get(bot.id, ()),
        )
        return await self.careers(sight, rows)

    async def careers(self, sight: Sight, rows: Sequence[CareerMatch]) -> list[CareerMatch]:
        """Matches of a bot without the names of opponents that are not to be known."""
        if not sight.unnamed:
            return list(rows)
        found = []
        for row in rows:
            class_id = await self.class_of(row.competition_id)
            hidden = sight.unnamed.get(class_id or "", frozenset())
            secret = [each for each in row.others if f"{each.player}/{each.bot}".lower() in hidden]
            if secret:
                others = [Holder(PRIVATE, "") if each in secret else each for each in row.others]
                told, void = _words(row.reason, secret), _why_void(row.void_reason, secret)
                row = row._replace(others=tuple(others), reason=told, void_reason=void)
            found.append(row)
        return found

    async def veiled(self, sight: Sight, stored: StoredMatch) -> StoredMatch:
        """A stored match without the names that are not to be known."""
        secret = await self._secret(sight, stored.header)
        if not secret:
            return stored
        return replace(
            stored,
            header=_veiled(stored.header, secret),
            events=tuple([_without_names(event, secret) for event in stored.events]),
        )

    async def _secret(self, sight: Sight, row: MatchRow) -> list[SeatRow]:
        """The seats whose holders are not to be known."""
        if not sight.unnamed:
            return []
        class_id = await self.class_of(row.competition_id)
        return [
            seat
            for seat in row.seats
            if not sight.named(class_id, seat.player_id, f"{seat.player}/{seat.bot}")
        ]

    def unnamed(self, sight: Sight, bots: Iterable[BotRow]) -> dict[int, Collection[str]]:
        """Where bots must not be found by their names: ids of competitions with a class."""
        found: dict[int, Collection[str]] = {}
        for bot in bots:
            name = f"{bot.player}/{bot.name}"
            where = [each for each in sight.unnamed if not sight.named(each, bot.player_id, name)]
            if where:
                found[bot.id] = where
        return found

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
        return class_id is None or self._rules.get(class_id, _STRICTEST).board == "public"

    async def sees(self, sight: Sight, stored: StoredMatch) -> bool:
        """Whether a stored match may be seen."""
        class_id = await self.class_of(stored.pairing.competition_id)
        return sight.sees(class_id, {seat.player_id for seat in stored.header.seats})


def _veiled(row: MatchRow, secret: Sequence[SeatRow]) -> MatchRow:
    if not secret:
        return row
    seats = tuple(
        [
            replace(seat, player=PRIVATE, bot="", version="") if seat in secret else seat
            for seat in row.seats
        ]
    )
    return replace(
        row,
        seats=seats,
        reason=_words(row.reason, secret),
        void_reason=_why_void(row.void_reason, secret),
    )


def _without_names(event: EventRow, secret: Sequence[SeatRow]) -> EventRow:
    """An end told in words may name who caused it."""
    if event.kind != "end" or event.data is None:
        return event
    return replace(event, data=_words(event.data, secret))


def _words(text: str, secret: Sequence[SeatRow] | Sequence[Holder]) -> str:
    for seat in secret:  # an organiser may write a name in other letters
        name = re.escape(f"{seat.player}/{seat.bot}")
        text = re.sub(name, PRIVATE, text, flags=re.IGNORECASE)
    return text


def _why_void(text: str | None, secret: Sequence[SeatRow] | Sequence[Holder]) -> str | None:
    """The machine of a bot whose flag fell says so by the bot's name."""
    return None if text is None else _words(text, secret)


def not_there(match: str) -> Unknown:
    """What is answered for a match that is not there, or not for whoever asks: the same."""
    return Unknown(
        f"there is no match {match!r} for everybody to see: take an id from the list of matches, "
        "or send the token of somebody who may see it, if it is of a competition that is not public"
    )


def _rules(text: str) -> _Rules:
    """The rules of a competition file; of one that cannot be read, the most private board.

    Not `read_competition`: a game whose file is missing today must not change who sees what.
    """
    try:
        file = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return _STRICTEST
    board = file.get("board", DEFAULT)
    rows = [row for row in file.get("baselines", ()) if isinstance(row, dict)]
    hidden = {_key(row.get("bot")) for row in rows if row.get("hidden") is True}
    twins = {_key(row.get("bot")) for row in rows if _key(row.get("twin_of")) in hidden}
    return _Rules(
        board if board in ("public", "class") else "anonymous", frozenset((hidden | twins) - {""})
    )


def _key(name: Any) -> str:
    return str(name or "").lower()
