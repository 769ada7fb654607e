"""Match searches: the words of an address, turned into a filter.

The page and the API share this module, so both find the same matches.  Unknown words raise an error
that suggests known ones.  Matches that the viewer may not see are never found
(`plyhouse.server.accounts.privacy`).
"""

from __future__ import annotations

import difflib
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, get_args

from plyhouse.protocol.messages import Termination
from plyhouse.server.accounts.privacy import Privacy, Sight
from plyhouse.server.lobby.lobby import read_game
from plyhouse.server.match.presence import MatchSummary
from plyhouse.storage import competition_sql, people, tournaments
from plyhouse.storage.errors import Unknown
from plyhouse.storage.match_lists import STATES, MatchFilter
from plyhouse.storage.store import Store

TERMINATIONS: Final[tuple[str, ...]] = tuple(sorted(get_args(Termination)))
"""The terminations of matches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The words of a search, as they were written; an empty one fits everything."""

    game: str = ""
    """A game with its parameters, or a name alone, which fits all parameters."""
    player: str = ""
    bot: str = ""
    """``PLAYER/BOT``."""
    competition: str = ""
    """The name or the id of a competition, or the id of one game of it."""
    termination: str = ""
    status: str = ""
    """``waiting``, ``running`` or ``finished``."""


@dataclass(frozen=True, slots=True)
class Looked:
    """A search with its words looked up in the database."""

    wanted: MatchFilter
    player: str = ""
    """The player's name in its own spelling."""
    bot: str = ""
    """The bot's name in its own spelling."""
    competition: str = ""
    """The competition's name."""

    def fits(self, match: MatchSummary) -> bool:
        """Return whether the public data of a running match fit."""
        wanted = self.wanted
        return (
            wanted.termination is None
            and wanted.status in (None, match.status)
            and wanted.game in (None, match.game)
            and wanted.family in (None, match.family)
            and (wanted.tournament_ids is None or match.tournament in wanted.tournament_ids)
            and (not self.player or self.player in [each.player for each in match.players])
            and (
                not self.bot or self.bot in [f"{each.player}/{each.bot}" for each in match.players]
            )
        )


async def filter_of(store: Store, privacy: Privacy, sight: Sight, words: Words) -> Looked:
    """Look up the words of a search.

    Raises `ProtocolError` or `Unknown` for unknown ones.
    """
    status = _one_of("status", words.status, STATES)
    termination = _one_of("termination", words.termination, TERMINATIONS)
    game = family = None
    if words.game:
        read = read_game(words.game)
        game, family = (read.spec, None) if "(" in words.game else (None, read.info.name)
    groups = []
    unnamed: dict[int, Collection[str]] = {}
    player = bot = competition = ""
    if words.player:
        try:
            row = await store.read(people.player, words.player)
        except Unknown:
            raise Unknown(f"there is no player {words.player[:64]!r} on this server") from None
        player = row.name
        own = await store.read(people.list_bots, row.id)
        groups.append(tuple([each.id for each in own]))
        unnamed |= privacy.unnamed(sight, own)
    if words.bot:
        owner, _, name = words.bot.partition("/")
        if not owner or not name:
            raise Unknown(f"there is no bot {words.bot!r}; a bot is named PLAYER/BOT")
        found = await privacy.bot(sight, owner, name)
        bot = f"{found.player}/{found.name}"
        groups.append((found.id,))
        unnamed |= privacy.unnamed(sight, [found])
    competitions: tuple[str, ...] | None = None
    if words.competition:
        competition, competitions = await _competition(store, words.competition)
    wanted = MatchFilter(
        game=game,
        family=family,
        bots=tuple(groups),
        tournament_ids=competitions,
        status=status,
        termination=termination,
        unnamed=unnamed,
    )
    return Looked(wanted, player, bot, competition)


def _one_of(what: str, value: str, known: Collection[str]) -> str | None:
    if not value:
        return None
    if value not in known:
        near = difflib.get_close_matches(value[:64], sorted(known), n=1)
        hint = f"did you mean {near[0]}?" if near else f"use {', '.join(sorted(known))}"
        raise Unknown(f"there is no {what} {value[:64]!r}; {hint}")
    return value


async def _competition(store: Store, reference: str) -> tuple[str, tuple[str, ...]]:
    """Return the name of a competition and the ids of its games."""
    try:
        row = await store.read(competition_sql.find, reference)
    except Unknown as unknown:
        try:
            one = await store.read(tournaments.find_tournament, reference)
        except Unknown:
            raise unknown from None
        return one.name, (one.id,)
    return row.name, tuple([each.tournament_id for each in row.games if each.tournament_id])
