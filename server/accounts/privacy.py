"""Visibility of matches and bots in competitions.

The file of a competition says who sees its board: everybody (``public``), its class
(``class``), or each student only their own rows (``anonymous``).  The same rule holds for the
matches of its final, in lists, live, in replays and in records.  Its staff sees all of them.
Students of a ``class`` competition see all of them, too.  Everybody always sees the matches in
which a bot of theirs has a seat.  Free play is public.

A file that cannot be read has the strictest rules: an ``anonymous`` board, and all baselines are
hidden (`plyhouse.server.competition_rules.file.STRICTEST`).  A baseline that the file does not name
is hidden, too.

The file may hide baselines.  A hidden baseline has no name in any match of the final: live
messages, lists, records and pages show `PRIVATE`, as the board does.  Only the staff and the
baseline's owner read the name in stored matches, and only they find a match by it.  Even before the
final, a list of bots contains a hidden baseline only if it was seen elsewhere (`Sight.secret`).

All code that shows matches must ask this module first.  `Privacy.sight` returns what a viewer may
see, and `Sight.sees` tests one match.  `Privacy.match` returns a stored match and `Privacy.matches`
those of the API; their sentences name the holders of the seats as the viewer may know them.
A match that the viewer may not see is answered like one that does not exist.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from msgspec.structs import replace

from plyhouse.protocol.api.bots import Bot, Holder
from plyhouse.protocol.api.matches import Match
from plyhouse.server.competition_rules.file import decoded
from plyhouse.server.match.presence import PRIVATE
from plyhouse.server.match.terminations import FORFEITS
from plyhouse.storage import (
    bot_profiles,
    competition_privacy,
    competition_sql,
    competition_staff,
    match_lists,
    match_reads,
    people,
)
from plyhouse.storage.bot_profiles import CareerMatch
from plyhouse.storage.errors import Unknown
from plyhouse.storage.match_lists import MatchFilter
from plyhouse.storage.rows import Identity, MatchRow, SeatRow, StoredMatch
from plyhouse.storage.store import Store


@dataclass(frozen=True, slots=True)
class Sight:
    """The matches and names that one viewer may see."""

    player_id: int | None = None
    """None for a viewer without an account."""
    closed: frozenset[str] = frozenset()
    """The ids of competitions in which the viewer sees only its own matches."""
    unnamed: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The baselines hidden from the viewer: ``player/bot`` in small letters, by competition id."""

    def sees(self, competition_id: str | None, owners: Iterable[int]) -> bool:
        """Return whether the viewer sees a match between bots of these players.

        ``competition_id`` is the competition whose final the match belongs to, or None.  Queries
        use the same rule (`plyhouse.storage.competition_privacy.visible`).
        """
        if competition_id is None or competition_id not in self.closed:
            return True
        return self.player_id is not None and self.player_id in owners

    def named(self, competition_id: str | None, player_id: int, name: str) -> bool:
        """Return whether the viewer may know ``player/bot`` in a final."""
        hidden = self.unnamed.get(competition_id or "", frozenset())
        return name.lower() not in hidden or player_id == self.player_id

    def secret(self, player_id: int, name: str) -> bool:
        """Return whether lists must not show ``player/bot`` of a player to the viewer."""
        return not all(self.named(each, player_id, name) for each in self.unnamed)


class _Rules(NamedTuple):
    """The rules of a competition about who sees what."""

    board: str
    hidden: frozenset[str]
    """Hidden baselines, ``player/bot`` in small letters."""

    def opens(self, *, member: bool) -> bool:
        """Return whether a viewer sees all matches; ``member`` is true for its students."""
        return self.board == "public" or (self.board == "class" and member)


_UNKNOWN: Final = _Rules("anonymous", frozenset())


class Privacy:
    """The rules about who sees which matches of a server."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rules: dict[str, _Rules] = {}
        """The rules of each final by the id of its competition, valid until `refresh`."""
        self._competition_of: dict[str, str | None] = {}
        """For each tournament, the competition to which it belongs; never changes."""
        self._changes = 0
        """Calls of `refresh`; what was read before the last one may be out of date."""

    async def sight(self, identity: Identity | None) -> Sight:
        """Return what the holder of a token may see.

        None stands for a viewer without a token.
        """
        if identity is None:
            return await self.sight_of(None, frozenset())
        return await self.sight_of(identity.player_id, identity.scopes)

    async def sight_of(self, player_id: int | None, scopes: frozenset[str]) -> Sight:
        """Return what a player may see, as `sight` does, for logins without a token."""
        if "admin" in scopes:
            return Sight(player_id)
        finals = await self._finals(player_id)
        concerned = finals.begun | finals.to_come
        if "organise" in scopes and player_id is not None:  # own ones hide nothing
            concerned = concerned & await self._store.read(competition_staff.closed_to, player_id)
        closed = set()
        unnamed = {}
        for competition_id in concerned:
            rules = self._rules.get(competition_id, _UNKNOWN)
            if competition_id in finals.to_come:
                pass
            elif not rules.opens(member=competition_id in finals.member_of):
                closed.add(competition_id)
            if rules.hidden:
                unnamed[competition_id] = rules.hidden
        return Sight(player_id, frozenset(closed), unnamed)

    async def _finals(
        self, player_id: int | None, again: frozenset[str] = frozenset()
    ) -> competition_privacy.Finals:
        """Return the finals for a viewer, and learn the rules of those that are not known yet.

        The rules of the competitions in ``again`` are read although they are known.
        """
        while True:
            changes = self._changes
            known = self._rules.keys() - again
            found = await self._store.read(competition_privacy.finals, player_id, known)
            if changes == self._changes:
                break
        for competition_id in again:
            self._rules.pop(competition_id, None)
        for competition_id, parsed in found.parsed.items():
            file = decoded(parsed)
            named = found.baselines.get(competition_id, frozenset())
            named |= {each.bot.lower() for each in file.baselines}
            self._rules[competition_id] = _Rules(file.board, named - file.shown)
        return found

    async def refresh(self, competition_id: str) -> None:
        """Read the file of a competition again, because it may have changed."""
        self._changes += 1
        await self._finals(None, frozenset({competition_id}))

    def may_be_secret(self, name: str) -> bool:
        """Return whether ``player/bot`` is a hidden baseline of any final.

        For lists that all viewers share.
        """
        return any(name.lower() in each.hidden for each in self._rules.values())

    async def hidden(self, tournament_id: str | None) -> frozenset[str]:
        """Return the nameless baselines in matches of a competition.

        They are ``player/bot`` in small letters; empty if the competition is no game of a final.
        """
        competition_id = await self.competition_of(tournament_id)
        if competition_id is None:
            return frozenset()
        if competition_id not in self._rules:
            await self._finals(None)
        return self._rules.get(competition_id, _UNKNOWN).hidden

    # ------------------------------------------------------------------ what is stored

    async def match(self, sight: Sight, identifier: str, *, events: bool = True) -> StoredMatch:
        """Return a stored match as the viewer may see it, perhaps without events.

        Raises `Unknown`.
        """
        try:
            stored = await self._store.read(match_reads.stored_match, identifier, events=events)
        except Unknown:
            raise not_there(identifier) from None
        if not await self.sees(sight, stored):
            raise not_there(identifier)
        return await self.veiled(sight, stored)

    async def matches(
        self, sight: Sight, wanted: MatchFilter, *, limit: int = 50, before: str | None = None
    ) -> list[Match]:
        """Return the matches that the viewer may see, newest first.

        ``sight`` replaces the fields ``closed`` and ``viewer`` of ``wanted``.
        """
        wanted = replace(wanted, closed=sight.closed, viewer=sight.player_id)
        rows = await self._store.read(match_lists.list_matches, wanted, limit=limit, before=before)
        return [match_reads.shown(_veiled(row, await self._secret(sight, row))) for row in rows]

    async def count(self, sight: Sight, wanted: MatchFilter) -> int:
        """Return how many matches `matches` returns without a limit."""
        wanted = replace(wanted, closed=sight.closed, viewer=sight.player_id)
        return await self._store.read(match_lists.count_matches, wanted)

    async def bots(self, sight: Sight, bots: Iterable[Bot]) -> list[Bot]:
        """Return the bots that a list may show.

        A hidden baseline is included only if everybody may see something of it.  If it were on a
        leaderboard but missing from the list, that would reveal it.
        """
        shown = []
        for each in bots:
            if sight.secret(each.player_id, f"{each.player}/{each.name}"):
                seen = await self._store.read(bot_profiles.standings_of, [each.id], 1)
                if not seen and not await self.matches_of(sight, each, limit=1):
                    continue
            shown.append(each)
        return shown

    async def bot(self, sight: Sight, player: str, name: str) -> Bot:
        """Return a bot by its name; raises `Unknown` also for a bot that no list may show."""
        try:
            found = await self.bots(sight, [await self._store.read(people.bot_named, player, name)])
        except Unknown:
            found = []  # the error message would list the player's bots
        if not found:
            raise Unknown(f"there is no bot {player}/{name}; look for it on the page of {player}")
        return found[0]

    async def matches_of(
        self, sight: Sight, bot: Bot, *, limit: int, before: str | None = None
    ) -> list[CareerMatch]:
        """Return the finished matches of a bot that the viewer may see, newest first."""
        rows = await self._store.read(
            bot_profiles.matches_of,
            bot.id,
            limit=limit,
            before=before,
            closed=sight.closed,
            viewer=sight.player_id,
            unnamed_in=self.unnamed(sight, [bot]).get(bot.id, ()),
            forfeits=FORFEITS,
        )
        return await self.careers(sight, rows)

    async def careers(self, sight: Sight, rows: Sequence[CareerMatch]) -> list[CareerMatch]:
        """Return matches of a bot, with hidden opponents renamed."""
        if not sight.unnamed:
            return list(rows)
        found = []
        for row in rows:
            competition_id = await self.competition_of(row.tournament_id)
            hidden = sight.unnamed.get(competition_id or "", frozenset())
            found.append(
                row.named(
                    [
                        Holder(PRIVATE, "")
                        if f"{each.player}/{each.bot}".lower() in hidden
                        else each
                        for each in row.holders
                    ]
                )
            )
        return found

    async def veiled(self, sight: Sight, stored: StoredMatch) -> StoredMatch:
        """Return a stored match with hidden names replaced."""
        secret = await self._secret(sight, stored.header)
        if not secret:
            return stored
        return replace(stored, header=_veiled(stored.header, secret))

    async def _secret(self, sight: Sight, row: MatchRow) -> list[SeatRow]:
        """Return the seats whose holders are hidden from the viewer."""
        if not sight.unnamed:
            return []
        competition_id = await self.competition_of(row.tournament_id)
        return [
            seat
            for seat in row.seats
            if not sight.named(competition_id, seat.player_id, f"{seat.player}/{seat.bot}")
        ]

    def unnamed(self, sight: Sight, bots: Iterable[Bot]) -> dict[int, Collection[str]]:
        """Return where bots must not be found by name: ids of competitions."""
        found: dict[int, Collection[str]] = {}
        for bot in bots:
            name = f"{bot.player}/{bot.name}"
            where = [each for each in sight.unnamed if not sight.named(each, bot.player_id, name)]
            if where:
                found[bot.id] = where
        return found

    async def competition_of(self, tournament_id: str | None) -> str | None:
        """Return the competition to which a tournament belongs, or None."""
        if tournament_id is None:
            return None
        if tournament_id not in self._competition_of:
            self._competition_of[tournament_id] = await self._store.read(
                competition_sql.competition_of, tournament_id
            )
        return self._competition_of[tournament_id]

    def known_free(self, tournament_id: str | None) -> bool:
        """Return whether a competition's matches are public; False if that needs a query."""
        if tournament_id is None:
            return True
        if tournament_id not in self._competition_of:
            return False
        competition_id = self._competition_of[tournament_id]
        return competition_id is None or self._rules.get(competition_id, _UNKNOWN).opens(
            member=False
        )

    async def sees(self, sight: Sight, stored: StoredMatch) -> bool:
        """Return whether the viewer may see a stored match."""
        competition_id = await self.competition_of(stored.pairing.tournament_id)
        return sight.sees(competition_id, {seat.player_id for seat in stored.header.seats})


def _veiled(row: MatchRow, secret: Sequence[SeatRow]) -> MatchRow:
    if not secret:
        return row
    seats = tuple(
        [
            replace(seat, player=PRIVATE, bot="", version="") if seat in secret else seat
            for seat in row.seats
        ]
    )
    return replace(row, seats=seats)


def not_there(match: str) -> Unknown:
    """Return the error for a match that does not exist or that the reader may not see."""
    return Unknown(
        f"there is no match {match!r} for everybody to see: take an id from the list of matches, "
        "or send the token of somebody who may see it, if it is of a competition that is not public"
    )
