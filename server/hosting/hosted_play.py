"""Matches between people and hosted bots, outside of competitions.

People can play against a bot that its author has opened.  A person first asks for it
(`HostedPlay.ready`).  For this *request* a runner starts the bot's last submission.  A request
lasts while the person renews it or plays, and `IDLE_NS` longer.  Then the person challenges the bot
like any other, and the match begins at once (`HostedPlay.admit`).

Requests do not delay competitions.  The server serves them in the order in which they came, with
processors for which no competition match waits (`Hosting.room_to_play`).  These bots run at a lower
priority than all others on their machine.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from plyhouse.games.registry import get_game
from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.config import ServerConfig
from plyhouse.server.hosting.needed_bots import PLAY_MATCHES, Wanted
from plyhouse.server.hosting.placement import Priority
from plyhouse.server.hosting.runners import RUNNER_HINT, SECOND, Hosting
from plyhouse.server.match.presence import MatchSummary, Presence
from plyhouse.server.match.terms import Terms
from plyhouse.server.table.directory import Directory
from plyhouse.storage import people, submission_sql
from plyhouse.storage.rows import Identity
from plyhouse.storage.store import Store
from plyhouse.storage.submission_rows import SubmissionRow

IDLE_NS: Final = 60 * SECOND
"""How long a request lasts, and how long a bot stays after its last match, in nanoseconds."""
ASKING_NS: Final = 5 * SECOND
"""How long after a request a processor is kept free for the person, in nanoseconds."""
PATIENCE_NS: Final = 20 * SECOND
"""How long `HostedPlay.ready` waits before it tells the person to ask again, in nanoseconds."""
LOOK_SECONDS: Final = 0.1
PLAYING: Final = "people who play"


@dataclass(slots=True)
class _Request:
    """A person's request to play against a bot."""

    row: SubmissionRow
    number: int
    """The server serves requests in this order."""
    used: int
    """When the person last asked or played, in nanoseconds; the request lasts `IDLE_NS` longer."""


class HostedPlay:
    """The requests of people to play against hosted bots."""

    def __init__(
        self,
        config: ServerConfig,
        store: Store,
        directory: Directory,
        hosting: Hosting,
        now: Callable[[], int],
    ) -> None:
        self._config = config
        self._store = store
        self._directory = directory
        self._hosting = hosting
        self._now = now
        self._requests: dict[tuple[int, int], _Request] = {}
        """By the ids of the player and the bot."""
        self._number = 0

    # ------------------------------------------------------------------- what is hosted

    async def wanted(self) -> list[Wanted]:
        """Return the bots to host for people."""
        now = self._now()
        for (player, bot), request in tuple(self._requests.items()):
            if self._plays(player, bot):
                request.used = now
            elif request.used + IDLE_NS <= now:
                del self._requests[player, bot]
        await self._renew()
        rows: dict[int, SubmissionRow] = {}
        for request in self._requests.values():
            rows.setdefault(request.row.bot_id, request.row)
        for each in tuple(self._directory.presences.values()):
            # After a restart the server knows no requests, only the matches.
            away = each.kind == "bot" and (each.hosted or not each.online)
            if away and each.bot_id not in rows and any(self._free_play(each)):
                row = await self._store.read(
                    submission_sql.ready_version, each.bot_id, each.version_id
                )
                if row is not None and (row.open or each.hosted):
                    rows[each.bot_id] = row
        return [
            Wanted(row, Priority.INTERACTIVE, PLAY_MATCHES, row.games, PLAYING)
            for row in rows.values()
        ]

    async def _renew(self) -> None:
        """Forget requests for closed bots, and update the others' submissions.

        A match in progress goes on with the version with which it began.
        """
        wanted = {bot for _, bot in self._requests}
        if not wanted:
            return
        found = await self._store.read(submission_sql.open_to_people, len(wanted), wanted)
        rows = {row.bot_id: row for row in found}
        for (player, bot), request in tuple(self._requests.items()):
            if bot not in rows:
                self._requests.pop((player, bot), None)
            elif (here := self._directory.presences.get(bot)) is None or not here.matches:
                request.row = rows[bot]

    def waiting_on(self, machine: str) -> int:
        """Count the people who wait for a processor of a machine."""
        now = self._now()
        return sum(
            request.used + ASKING_NS > now
            and self._hosting.machine_of(bot) == machine
            and not self._plays(player, bot)
            for (player, bot), request in self._requests.items()
        )

    def closed(self, bot: int) -> None:
        """Forget all requests for a closed bot, so that it begins no more matches."""
        for key in [key for key in self._requests if key[1] == bot]:
            del self._requests[key]

    def _free_play(self, bot: Presence) -> Iterator[MatchSummary]:
        """Yield the matches of a bot that belong to no competition."""
        for match in map(self._directory.summary, bot.matches):
            if match is not None and match.tournament is None:
                yield match

    def _plays(self, player: int, bot: int) -> bool:
        """Return whether a player plays a match against a bot, outside of competitions."""
        here = self._directory.presences.get(bot)
        return here is not None and any(
            player in {each.player_id for each in match.seats} for match in self._free_play(here)
        )

    # --------------------------------------------------------------------------- asking

    async def listed(self) -> list[SubmissionRow]:
        """Return the bots that people can play against; none if the server forbids it."""
        config = self._config
        if not config.hosted or config.hosted_play == "nobody":
            return []
        return await self._store.read(submission_sql.open_to_people)

    async def ready(self, identity: Identity, player: str, bot: str, spec: str) -> str:
        """Wait until a player can challenge a bot, and return the bot's name.

        A bot that its author has connected is ready at once.  Raises `ProtocolError`, and `Unknown`
        if there is no such bot.
        """
        row = await self._store.read(people.bot_named, player, bot)
        name = f"{row.player}/{row.name}"
        here = self._directory.presences.get(row.id)
        if here is not None and here.online and not here.hosted:
            return name
        found = await self._store.read(submission_sql.open_to_people, 1, [row.id])
        if not found:
            raise ProtocolError(
                "hosted/closed",
                f"{name} is not connected, and its author has not opened it to challenges.",
            )
        self._may_ask(identity, found[0], spec)
        request = self._request_for(identity.player_id, found[0])
        until = self._now() + PATIENCE_NS
        while why := self._obstacle(request):
            if (identity.player_id, row.id) not in self._requests:
                raise ProtocolError("hosted/closed", f"{name} was closed by its author just now.")
            if self._now() >= until:
                raise ProtocolError("hosted/busy", f"{why} Ask again in a moment.")
            await asyncio.sleep(LOOK_SECONDS)
            request.used = self._now()
        return name

    def _may_ask(self, identity: Identity, row: SubmissionRow, spec: str) -> None:
        name, allowed = f"{row.player}/{row.bot}", self._config.hosted_play
        if allowed == "nobody" or (identity.guest and allowed != "guests"):
            who = "Guests play" if allowed == "players" else "Here nobody plays"
            than = " against bots that are connected only" if allowed == "players" else (
                " against bots that the server would have to run"
            )  # fmt: skip
            raise ProtocolError("hosted/closed", f"{who}{than}.")
        game = get_game(spec)
        if game.spec not in row.games and game.info.name not in row.games:
            listed = ", ".join(row.games) or "nothing"
            raise ProtocolError(
                "challenge/not_accepting", f"{name} does not play {game.spec}; it plays: {listed}."
            )
        mine = [bot for player, bot in self._requests if player == identity.player_id]
        most = self._config.hosted_play_per_player
        if row.bot_id not in mine and len(mine) >= most:
            raise ProtocolError(
                "hosted/limit",
                f"{most} of these bots run for you, which is as many as the server allows: end a "
                f"match, or wait {IDLE_NS // SECOND} s after the last one.",
            )
        if not self._hosting.machines:
            raise ProtocolError(
                "hosted/no_runner",
                f"{name} cannot be started: no runner machine is connected. {RUNNER_HINT}",
            )

    def _request_for(self, player_id: int, row: SubmissionRow) -> _Request:
        """Create or renew a player's request; a renewed request keeps its number."""
        now = self._now()
        request = self._requests.get((player_id, row.bot_id))
        if request is None:
            self._number += 1
            request = self._requests[player_id, row.bot_id] = _Request(row, self._number, now)
        request.row, request.used = row, now
        return request

    def _obstacle(self, request: _Request) -> str:
        """Return why the player cannot play yet, as a sentence; or empty."""
        row = request.row
        name = f"{row.player}/{row.bot}"
        if self._hosting.needed.is_for_competition(row.bot_id):
            return f"{name} plays in a competition now."
        machine = self._hosting.machine_of(row.bot_id)
        here = self._directory.presences.get(row.bot_id)
        if machine is None:
            return f"{name} waits for a runner machine with room for it."
        if self._hosting.needed.priority(row.bot_id) is Priority.LADDER:
            return f"{name} ends its matches in a ladder first."
        if here is None or not self._hosting.runs_for(here, Priority.INTERACTIVE):
            return f"{name} is being started."
        if not here.free:
            return f"{name} plays as many matches as it can."
        before = sum(
            not self._plays(*key)
            for key, other in self._requests.items()
            if other.number < request.number and self._hosting.machine_of(key[1]) == machine
        )
        if before >= self._hosting.room_to_play(machine):
            others = f" {before} asked before you." if before else ""
            return f"{name} waits for a processor: competitions go first.{others}"
        return ""

    # ---------------------------------------------------------------------- challenging

    def admit(self, challenger: Presence, opponent: Presence, terms: Terms) -> None:
        """Let a player challenge a hosted bot, or raise `ProtocolError`."""
        name = opponent.name
        request = self._requests.get((challenger.player_id, opponent.bot_id))
        if request is None or self._hosting.needed.is_for_competition(opponent.bot_id):
            # The bot would accept, and a rival could take its places and its machine.
            raise ProtocolError(
                "challenge/not_accepting",
                f"{name} is hosted for a competition, and plays nothing else meanwhile."
                if self._hosting.needed.is_for_competition(opponent.bot_id)
                else f"{name} is run by the server: ask for it first, on the page Play.",
            )
        if challenger.kind not in ("human", "guest") or terms.rated or terms.mirrored:
            raise ProtocolError(
                "challenge/not_accepting",
                f"{name} is run by the server, and plays casual single matches with people.",
            )
        why = self._obstacle(request)
        if why:
            raise ProtocolError("hosted/busy", f"{why} Ask again in a moment.")
