"""Sides: bots of one player that play as partners and count as one entry.

A competition with ``teams = true`` pairs sides.  The bots of a student make sides in the order in
which they were made, and baselines of an account in the order of their names.  The first bot of a
side is its *captain*.  Formats, standings and grades see captains only, as if the game had one seat
for each team.  Rows of the database have every bot.

A final stores its sides when it begins (`plyhouse.storage.tournament_settings`).  A rerun changes
them only where a bot was replaced (`plyhouse.storage.tournament_settings.renewed_sides`).

Without ``teams`` every bot is a side of its own, and nothing here changes anything.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Protocol, TypeVar

from plyhouse.games.base import Game
from plyhouse.games.registry import get_game
from plyhouse.server.competition_rules.file import CompetitionFile
from plyhouse.server.results.scoring import teams_of
from plyhouse.storage.competition_results import FinalSeat
from plyhouse.storage.competition_rows import CompetitionEntry
from plyhouse.storage.rows import EntryRow, PlayedSeat
from plyhouse.storage.tournament_settings import Side, grouped


class Entry(Protocol):
    """A bot in a competition."""

    @property
    def bot_id(self) -> int:
        """The id of the bot."""


EntryT = TypeVar("EntryT", bound=Entry)

Versions = Mapping[int, int | None]
"""The versions that are entered now, by bot; None for an entry that plays with any."""


def is_present(seat: PlayedSeat, versions: Versions) -> bool:
    """Return whether a version that is entered now held a seat.

    ``plyhouse.storage.tournaments.of_present_versions`` says the same of stored matches.
    """
    return seat.bot_id in versions and versions[seat.bot_id] in (None, seat.version_id)


@dataclass(frozen=True)
class Sides:
    """The sides of a competition; by default every bot plays alone.

    >>> from plyhouse.games.registry import get_game
    >>> from types import SimpleNamespace as Row
    >>> bots = [Row(bot_id=3 + at, player=player, bot="x", baseline=False)
    ...         for at, player in enumerate("abba")]
    >>> sides = Sides.of(get_game("bridge"), bots)
    >>> sides.members(3), sides.captain(6), sides.seat_order((4, 3))
    ((3, 6), 3, (4, 3, 5, 6))
    >>> staff = [Row(bot_id=3 + at, player="a", bot=bot, baseline=True)
    ...          for at, bot in enumerate("yx")]
    >>> Sides.of(get_game("bridge"), staff).members(4)
    (4, 3)
    >>> Sides.of(get_game("bridge"), [*bots[:1], *staff[1:]]).stored
    ()
    >>> Sides().members(3), Sides().seat_order((4, 3))
    ((3,), (4, 3))
    """

    teams: tuple[int, ...] = ()
    """The team of each seat; empty if every bot plays alone."""
    _members: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """The bots of each side by its captain."""
    _captains: Mapping[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, game: Game, entries: Iterable[CompetitionEntry]) -> Sides:
        """Return the sides of a game that begins; bots without a partner are in none.

        The names of baselines decide, as the order in which programs first connect says nothing;
        the name of a student's bot may be erased.
        """
        known = sorted(entries, key=lambda each: each.bot_id)
        known.sort(key=lambda each: each.bot.lower() if each.baseline else "")
        owners = {each.bot_id: (each.player.lower(), each.baseline) for each in known}
        return cls.kept(game, grouped(owners, owners, teams_of(game).count(0)))

    @classmethod
    def kept(cls, game: Game, stored: Iterable[Side]) -> Sides:
        """Return the sides that were stored when a final began."""
        members = {bots[0]: bots for bots in stored}
        captains = {bot: captain for captain, bots in members.items() for bot in bots}
        return cls(teams_of(game), members, captains)

    @property
    def stored(self) -> tuple[Side, ...]:
        """The sides as they are stored."""
        return tuple(self._members.values())

    def members(self, captain: int) -> tuple[int, ...]:
        """Return the bots of a side."""
        return self._members[captain] if self.teams else (captain,)

    def captain(self, bot: int) -> int:
        """Return the captain of a bot's side; the bot itself if it is in none."""
        return self._captains.get(bot, bot)

    def without(self, entries: Iterable[EntryT]) -> list[EntryT]:
        """Return the bots that are in no side, for want of a partner."""
        return [each for each in entries if self.teams and each.bot_id not in self._captains]

    def captains(self, entries: Iterable[EntryT]) -> list[EntryT]:
        """Return the entries of captains."""
        return [each for each in entries if not self.teams or each.bot_id in self._members]

    def seat_order(self, captains: Sequence[int]) -> tuple[int, ...]:
        """Return the bots by seat, for captains in the order of the teams."""
        if not self.teams:
            return tuple(captains)
        left = [iter(self.members(captain)) for captain in captains]
        return tuple([next(left[team]) for team in self.teams])

    def captain_order(self, bots: Sequence[int]) -> tuple[int, ...]:
        """Return the captains in the order of the teams, for bots by seat."""
        return tuple(dict.fromkeys(map(self.captain, bots)))

    def together(self, bots: Sequence[int]) -> bool:
        """Return whether bots, by seat, sit as these sides do."""
        captains = self.captain_order(bots)
        return self._members.keys() >= set(captains) and self.seat_order(captains) == tuple(bots)

    # ------------------------------------------------------------------------------- rows

    def entries(self, entries: Sequence[EntryRow]) -> list[EntryRow]:
        """Return the entries of captains, withdrawn if a bot of the side is."""
        gone = {self.captain(each.bot_id) for each in entries if each.status == "withdrawn"}
        return [
            replace(each, status="withdrawn") if each.bot_id in gone else each
            for each in self.captains(entries)
        ]

    def seats(self, seats: Sequence[PlayedSeat], versions: Versions) -> Sequence[PlayedSeat]:
        """Return the seats of captains, each with what ended the match for its side.

        ``seats`` are those of whole matches, match by match.  If bots of a match are not partners
        any more, or played with other versions than ``versions``, its seats have version 0: the
        result is not one of present sides.
        """
        if not self.teams:
            return seats
        found = []
        for _, rows in groupby(seats, key=lambda each: each.match_id):
            match = list(rows)
            present = self.together([each.bot_id for each in match]) and all(
                is_present(each, versions) for each in match
            )
            for team in range(len(set(self.teams))):
                side = [each for each, own in zip(match, self.teams, strict=True) if own == team]
                ended = next((each.ended for each in side if each.ended), "")
                version = side[0].version_id if present else 0
                found.append(replace(side[0], ended=ended, version_id=version))
        return found

    def final_seats(self, seats: Sequence[FinalSeat]) -> Sequence[FinalSeat]:
        """Return the seats of captains in the matches of present sides.

        A captain is the culprit for its partners, too.
        """
        if not self.teams:
            return seats
        matches: dict[str, list[FinalSeat]] = defaultdict(list)
        for each in seats:
            matches[each.match].append(each)
        present = {
            match for match, rows in matches.items() if self.together([r.bot_id for r in rows])
        }
        guilty = {
            (each.match, self.captain(each.bot_id)) for each in seats if each.culprit == each.seat
        }
        return [
            each._replace(culprit=each.seat if (each.match, each.bot_id) in guilty else None)
            for each in seats
            if each.match in present and each.bot_id in self._members
        ]

    def all_members(self, captains: Collection[int]) -> list[int]:
        """Return the bots of some sides."""
        return [bot for captain in captains for bot in self.members(captain)]


def sides_in(file: CompetitionFile, entries: Sequence[CompetitionEntry]) -> Sides:
    """Return the sides of a competition; without teams, each bot plays alone.

    Once the final has begun, they are the sides of its entries
    (`plyhouse.storage.competition_reruns.played_entries`).
    """
    if not file.teams:
        return Sides()
    game = get_game(file.games[0])
    stored = dict.fromkeys(each.side for each in entries if each.side)
    return Sides.kept(game, stored) if stored else Sides.of(game, entries)
