"""Begin the pairings of tournaments whose bots are connected and have room."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from plyhouse.server.competition_rules.formats import Pairing
from plyhouse.server.competitions.ladders import LadderQueue
from plyhouse.server.competitions.tournament_state import (
    PairingId,
    PairingTally,
    RunningTournament,
)
from plyhouse.server.match.presence import Presence
from plyhouse.server.table.directory import Directory
from plyhouse.server.table.live_matches import BEGUN_AT_ONCE, LiveMatches


class PairingStarter:
    """Begins pairings of the tournaments of one server.

    ``running`` is the tournaments by id, which their owner adds and removes.  ``look_later`` is
    called if bots may begin something later although nothing else happens.
    """

    def __init__(
        self,
        *,
        running: Mapping[str, RunningTournament],
        live_matches: LiveMatches,
        directory: Directory,
        look_later: Callable[[], None],
    ) -> None:
        self._running = running
        self._live_matches = live_matches
        self._directory = directory
        self._presences = directory.presences
        self.rooms_of_hosted: Callable[[RunningTournament], Callable[[Presence], int]] | None = None
        """Returns a function for one tournament: how many matches a hosted bot may begin.

        Its answers hold until a match begins.  None without hosting.
        """
        self._look_later = look_later

    def could_begin(self, running: RunningTournament) -> bool:
        """Return whether a pairing could begin under the limit of its final."""
        return len(running.queue) + len(running.again) > 0 and self._limit(running) > 0

    def begin(self, running: RunningTournament, freed: Iterable[int] | None) -> bool:
        """Begin pairings whose bots have room, in the order of the schedule.

        Returns False if more pairings may follow than one step begins.
        """
        limit = self._limit(running)
        if limit:
            self._begin_again(running, limit)
            limit = self._limit(running)
        if not limit:
            running.cut = True
            return True
        if self._has_hosted(running):
            return self._begin_one_by_one(running, limit)
        if freed is not None:
            freed = [running.sides.captain(bot) for bot in freed]
        taken = running.queue.take(self._room(running), None if running.cut else freed, limit=limit)
        running.cut = len(taken) == limit < BEGUN_AT_ONCE
        for pairing in taken:
            self._begin_pairing(running, pairing)
        if self._may_begin_later(running):
            self._look_later()
        return len(taken) < limit or running.cut

    def _begin_one_by_one(self, running: RunningTournament, limit: int) -> bool:
        """Begin pairings one by one where hosted bots share processors.

        Each pairing leaves fewer processors to all hosted bots, so room is computed after each one.
        """
        for _ in range(limit):
            taken = running.queue.take(self._room(running), None, limit=1)
            if not taken:
                break
            self._begin_pairing(running, taken[0])
        else:
            running.cut = limit < BEGUN_AT_ONCE
            return running.cut
        # Other matches may have freed processors, so the next look includes all bots.
        running.cut = True
        if self._may_begin_later(running):
            self._look_later()
        return True

    def _begin_again(self, running: RunningTournament, limit: int) -> None:
        """Repeat void matches whose bots have room."""
        for again in tuple(running.again):
            if not limit:
                break
            room = self._room(running)
            if any(room(bot) < len(again.orders) for bot in again.orders[0]):
                continue
            running.again.remove(again)
            self._play(running, again.id, again.orders)
            limit -= 1

    def _begin_pairing(self, running: RunningTournament, pairing: Pairing[int]) -> None:
        running.tallies[pairing.key] = PairingTally(pairing.entries)
        here = PairingId(running.row.id, pairing.key, running.settings.run)
        self._play(running, here, pairing.matches, pairing.round)

    def _play(
        self,
        running: RunningTournament,
        name: PairingId,
        orders: Sequence[Sequence[int]],
        number: int = 0,
    ) -> None:
        """Begin a pairing; ``orders`` has the entries of each match in seat order."""
        begun = self._live_matches.begin(
            running.terms,
            [running.sides.seat_order(order) for order in orders],
            tournament=running.row.id,
            round_number=number,
            pairing_id=str(name),
            unnamed=running.unnamed,
        )
        running.playing[begun.id] = set(begun.open)

    def _limit(self, running: RunningTournament) -> int:
        """Return how many pairings may begin now.

        At least one may begin if the group plays none.
        """
        if not running.settings.at_a_time:
            return BEGUN_AT_ONCE
        played = sum(len(each.playing) * each.queue.at_once for each in self._group(running))
        free = (running.settings.at_a_time - played) // running.queue.at_once
        return min(BEGUN_AT_ONCE, max(free, 0 if played else 1))

    def _room(self, running: RunningTournament) -> Callable[[int], int]:
        """Return a function that counts the matches an entry may begin.

        Its answers hold until a match begins.
        """
        name, spec = running.terms.game.info.name, running.terms.game.spec
        hosted = None if self.rooms_of_hosted is None else self.rooms_of_hosted(running)

        def room(bot: int) -> int:
            presence = self._presences.get(bot)
            if presence is None or not presence.accepts(name, spec):
                return 0
            if running.versions.get(bot, presence.version_id) != presence.version_id:
                return 0
            if running.is_for_runners(bot) and not presence.hosted:
                return 0  # A hosted instance is about to replace this one.
            if running.settings.practice and not self._may_practise(presence, running):
                return 0
            if presence.hosted and hosted is not None and presence.free:
                return min(presence.free, hosted(presence))
            return presence.free

        return lambda entry: min(map(room, running.sides.members(entry)))

    def _may_practise(self, presence: Presence, running: RunningTournament) -> bool:
        """Return whether a bot may begin a practice pairing now.

        A bot plays one practice pairing at a time.  It rests after one that used all its room, so
        that others can play it too.
        """
        played = map(self._directory.summary, presence.matches)
        group = {each.row.id for each in self._group(running)}
        if any(each is not None and each.tournament in group for each in played):
            return False
        if presence.free > running.queue.at_once:
            return True
        return self._live_matches.now() >= running.rests.get(presence.bot_id, 0)

    def _has_hosted(self, running: RunningTournament) -> bool:
        here = map(self._presences.get, running.names)
        return any(each is not None and each.hosted for each in here)

    def _may_begin_later(self, running: RunningTournament) -> bool:
        """Return whether bots may begin something soon although nothing else happens."""
        now = self._live_matches.now()
        rests = any(until > now for until in running.rests.values())
        return rests or (isinstance(running.queue, LadderQueue) and running.queue.idle)

    def _group(self, running: RunningTournament) -> list[RunningTournament]:
        """Return the running tournaments of the same final."""
        group = running.settings.competition
        return [each for each in self._running.values() if each.settings.competition == group]
