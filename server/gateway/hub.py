"""The hub: everything that a server does, except the transport of frames.

It owns the database, the matches, the bots and their connections.  It passes every request to the
package that handles it.  Transports attach connections with `MatchHub.attach`; everything else
happens in callbacks on one event loop.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Container
from typing import Final
from urllib.parse import urlsplit

from plyhouse.games.registry import add_game_file
from plyhouse.protocol.errors import ProtocolError
from plyhouse.protocol.messages import (
    Hello,
    Notice,
    Register,
)
from plyhouse.server.accounts.browser_sessions import BrowserSessions
from plyhouse.server.accounts.builtin_bots import BuiltinBots
from plyhouse.server.accounts.privacy import Privacy
from plyhouse.server.accounts.registration import Registration
from plyhouse.server.administration.audit_follower import AuditFollower, LoginKind
from plyhouse.server.administration.erasure import Eraser
from plyhouse.server.administration.health import HealthCheck
from plyhouse.server.competitions.bot_profiles import BotProfiles
from plyhouse.server.competitions.exports import Exports
from plyhouse.server.competitions.file_changes import read_files
from plyhouse.server.competitions.lifecycle import Competitions
from plyhouse.server.competitions.reports import Reports
from plyhouse.server.competitions.tournaments import Tournaments
from plyhouse.server.competitions.visible_boards import Boards
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.bot_connections import BotConnections
from plyhouse.server.gateway.logins import Logins
from plyhouse.server.gateway.match_hub import SWEEP_SECONDS, MatchHub
from plyhouse.server.gateway.membership import Membership, Sockets
from plyhouse.server.gateway.requests import Requests, Watching
from plyhouse.server.hosting.hosted_play import HostedPlay
from plyhouse.server.hosting.runner_reports import FlagReports, Outputs
from plyhouse.server.hosting.runners import Hosting
from plyhouse.server.hosting.uploads import Uploads
from plyhouse.server.jobs.helper_jobs import Reviews, Trees
from plyhouse.server.jobs.helper_processes import Helpers
from plyhouse.server.jobs.periodic import Periodic
from plyhouse.server.lobby.lobby import Lobby
from plyhouse.server.lobby.suspension import ForfeitWatch, suspended_text
from plyhouse.server.match.presence import MatchSummary, Presence
from plyhouse.server.match.terminations import VOID, forfeiting_seat
from plyhouse.server.match.terms import Terms
from plyhouse.server.results.leaderboards import RatingRefits
from plyhouse.server.table import journal
from plyhouse.server.table.participants import Participant
from plyhouse.server.table.refunds import LoginWait
from plyhouse.server.table.resumable_matches import ResumableMatches
from plyhouse.server.version import server_version
from plyhouse.server.wire.session import Session
from plyhouse.storage.store import Store

__all__ = ["Hub", "server_version"]

log = logging.getLogger("plyhouse.server")

HELPERS: Final = 1
"""Processes that replay whole matches for their viewers."""


class Hub(MatchHub):
    """A server without its transports; made by `Hub.open`."""

    def __init__(
        self,
        config: ServerConfig,
        store: Store,
        now: Callable[[], int] = time.monotonic_ns,
        builtin_bots: Callable[[Hub], BuiltinBots] | None = None,
        membership: Callable[[Hub], Membership] | None = None,
    ) -> None:
        super().__init__(config, now)
        self.store = store
        self.started = now()
        self.secret = ""
        """The secret that other servers show when they pass on a request."""
        self.ratings = RatingRefits(store)
        self.privacy = Privacy(store)
        self.live_matches: ResumableMatches = ResumableMatches(
            config,
            store,
            self.directory,
            now,
            hidden_in=self.privacy.hidden,
            on_over=self._match_over,
            rating_of=self.ratings.rating_of,
            settle_stalls=self._settle_stalls,
        )
        self._make_accounts()
        self._make_work()
        self._make_competitions()
        self._make_hosting()
        self.lobby = Lobby(
            config,
            self.live_matches,
            self.directory,
            admit=self._admit,
            may_be_secret=self.privacy.may_be_secret,
        )
        self.lobby.quota.payer = self.browser_sessions.payer
        self.builtin_bots = None if builtin_bots is None else builtin_bots(self)
        """Starts bots for people to play against; None if there are none."""
        self.bot_connections = BotConnections(self.directory, self.hosting)
        self.member = (
            Membership(Sockets(self.bot_connections)) if membership is None else membership(self)
        )
        self._make_administration()
        self._make_gate()

    def _make_accounts(self) -> None:
        self.registration = Registration(self.config, self.store, self.now)
        self.browser_sessions = BrowserSessions(
            config=self.config,
            store=self.store,
            registration=self.registration,
            now=self.now,
            playing=self._plays,
            present=self._players_here,
            leaving=self._forget,
        )

    def _make_work(self) -> None:
        """Make what runs in other processes."""
        self.trees = Trees(self.config, self.now)
        self.helpers = Helpers(HELPERS)

    def _make_competitions(self) -> None:
        """Make tournaments, competitions, and what people see of them."""
        self.tournaments = Tournaments(
            self.store, self.live_matches, self.directory, hidden_in=self.privacy.hidden
        )
        self.competitions = Competitions(self.config, self.store, self.tournaments, self.directory)
        self.boards = Boards(self.store)
        self.reviews = Reviews(self.config)
        self.reports = Reports(self.store, self.boards, self.reviews.plies_of)
        self.exports = Exports(self.store, self.boards, self.privacy, self.helpers)
        self.bot_profiles = BotProfiles(
            self.config, self.store, self.privacy, self.directory, self.reviews.plies_of
        )

    def _make_hosting(self) -> None:
        """Make the hosting of bots; tournaments wait for its machines."""
        self.hosting = Hosting(self.store, self.directory, self.tournaments, self.now)
        self.tournaments.hosted_absence = self.hosting.absence_of
        self.tournaments.starter.rooms_of_hosted = self.hosting.rooms
        self.hosted_play = HostedPlay(
            self.config, self.store, self.directory, self.hosting, self.now
        )
        self.hosting.needed.wanted_by_people = self.hosted_play.wanted
        self.hosting.people_waiting = self.hosted_play.waiting_on
        self.flag_reports = FlagReports(self.store, self.now, self._settled)
        self.hosting.on_flags = self.flag_reports.heard
        self.uploads = Uploads(self.config, self.store, self.now)
        self.outputs = Outputs(self.config, self.store)
        self._leader_timers = (
            Periodic(self._refund_hosted, SWEEP_SECONDS, "hosting refunds", log),
            Periodic(lambda: self.flag_reports.look(self.now()), SWEEP_SECONDS, "verdicts", log),
        )

    def _make_administration(self) -> None:
        self.audit_follower = AuditFollower(
            self.store,
            self,
            live_matches=self.live_matches,
            privacy=self.privacy,
            competitions=self.competitions,
            ratings=self.ratings,
            forget_names=self._forget_names,
        )
        self.erasure = Eraser(self.store, self.audit_follower, self.directory)
        self.forfeit_watch = ForfeitWatch(self.config, self.store, self.audit_follower.look)
        self.health = HealthCheck(self.store, self.live_matches.writer, self.now)

    def _make_gate(self) -> None:
        """Make what carries out logins and requests."""
        self._entrance = self._make_entrance(self._refund_hosted)
        self.logins = Logins(
            self.config,
            self._entrance,
            connections=self.connections,
            registration=self.registration,
            browser_sessions=self.browser_sessions,
            audit_follower=self.audit_follower,
            sockets=self.member.sockets,
            on_entered=self.entered,
        )
        watching = Watching(
            self.directory,
            self.connections,
            self.member,
            self.store,
            self.privacy,
            self.browser_sessions,
            self.helpers,
            self.spawn,
        )
        self.requests: Requests = Requests(
            self.directory,
            self.connections,
            self.member,
            self.lobby,
            watching,
            self.spawn,
            wakes=None if self.builtin_bots is None else self.builtin_bots.wake,
        )

    def _refund_hosted(self) -> None:
        self.hosting.refund(self.now())

    @classmethod
    async def open(
        cls,
        config: ServerConfig,
        *,
        store: Store | None = None,
        now: Callable[[], int] = time.monotonic_ns,
        builtin_bots: Callable[[Hub], BuiltinBots] | None = None,
        membership: Callable[[Hub], Membership] | None = None,
        address: str = "",
    ) -> Hub:
        """Open the database and resume the matches of the last run, or join a cluster.

        Raises `plyhouse.storage.errors.StorageError` when the database cannot be used, and
        `plyhouse.games.errors.GameError` for a file of ``config.game_files`` that is no game.
        ``store`` is an open store; the hub closes it, too.  ``builtin_bots`` makes the object that
        starts bots for people to play against; the hub closes that, too.  ``membership`` makes the
        hub a member of a cluster: it may raise `plyhouse.server.gateway.membership.ClusterError`.
        ``address`` is the base URL at which the other servers of a cluster reach this one.
        """
        for source in config.game_sources:
            add_game_file(source)
        if store is None:
            store = await Store.open(config.database)
        try:
            version = server_version()
            shared = membership is not None
            await store.claim(shared=shared, address=address, version=version)
            await store.apply(())  # fails now if the database is read-only
            hub = cls(config, store, now, builtin_bots, membership)
            hub.secret = urlsplit(address).password or ""
            await hub.audit_follower.mark()
            await read_files(store)
            await hub.privacy.sight(None)  # loads the bots that no list may show
            if not await hub.member.join():
                await hub.ratings.start()
                resumed = await hub.live_matches.restore()
                if resumed:
                    log.info("matches of the last run resumed", extra={"matches": resumed})
                await hub.begin_leading()
            await hub.audit_follower.start()
        except BaseException:
            await store.close()
            raise
        hub.start()
        return hub

    async def begin_leading(self) -> None:
        """Begin to decide who plays: with the first server, and after the end of a leader."""
        await self.tournaments.restore()
        await self.competitions.start()
        self.browser_sessions.start()
        if self.builtin_bots is not None:
            self.builtin_bots.keep()
        for timer in self._leader_timers:
            timer.start()

    def entered(self, presence: Presence) -> None:
        """Find matches for a bot that has logged in."""
        self.lobby.pair_soon([presence])
        self.tournaments.advance_soon([presence.bot_id])

    # ------------------------------------------------------------------ connections

    def _leaving(self, participant: Participant) -> None:
        self.lobby.leave(participant.presence)

    async def register(self, session: Session, message: Register) -> None:
        """Make an account."""
        await self.logins.register(session, message)

    async def _log_in(self, session: Session, hello: Hello, wait: LoginWait) -> None:
        await self.logins.log_in(session, hello, wait)

    # -------------------------------------------------------------------------- endings

    def expel(
        self, kind: LoginKind, ids: Container[int], code: str, text: str, *, keep_matches: bool
    ) -> None:
        """Close the connections of all participants whose id of this kind is in ``ids``.

        Unless their matches are kept, they forfeit them; matches that have not begun become void.
        """
        for participant in tuple(self.directory.participants.values()):
            if _id_of(participant, kind) not in ids:
                continue
            held = tuple(self.directory.matches_of(participant.presence.bot_id))
            if participant.line is not None:
                participant.line.fail(code, text)
            if not keep_matches:
                for match, seat in held:
                    live = self.directory.own.get(match.id)
                    if live is not None:
                        live.exclude(seat)

    def signed_out(self, session_ids: Container[int]) -> None:
        """Close the connections that were opened in sessions which are over."""
        text = "This session is over: sign in again."
        self.expel("session", session_ids, "auth/signed_out", text, keep_matches=True)

    def open_sessions(self) -> set[int]:
        """Return the browser sessions whose connections are open."""
        everybody = self.directory.participants.values()
        return {each.presence.session_id for each in everybody if each.presence.online} - {0}

    def rename(self, player_id: int, name: str) -> None:
        """Disconnect a player's bots, so that they connect by their new names and play on."""
        renamed = [
            each
            for each in self.directory.participants.values()
            if each.presence.player_id == player_id
        ]
        text = f"This player is called {name} now: connect again."
        self.expel("player", (player_id,), "server/shutting_down", text, keep_matches=True)
        for participant in renamed:
            self.directory.update(participant, player=name)

    def _admit(self, challenger: Presence, opponent: Presence, terms: Terms) -> None:
        """Raise `ProtocolError` if a bot cannot be challenged.

        A rival could hold the places of a bot by long matches, and so a final.  Built-in bots play
        many matches, and a refusal would give hidden baselines away.
        """
        exempt = opponent.casual or self.privacy.may_be_secret(opponent.name)
        if opponent.hosted:
            self.hosted_play.admit(challenger, opponent, terms)
        elif not exempt and self.tournaments.waits_for(opponent.bot_id):
            text = f"{opponent.name} takes no challenges now: ask again later."
            raise ProtocolError("challenge/not_accepting", text)

    def _plays(self, player_id: int) -> bool:
        everybody = self.directory.presences.values()
        return any(each.player_id == player_id and each.matches for each in everybody)

    def _players_here(self) -> set[int]:
        return {each.player_id for each in self.directory.presences.values()}

    def _forget_names(self) -> None:
        self.boards.forget()
        self.reports.forget()

    def _forget(self, players: list[int]) -> None:
        """Remove guests who are about to be deleted, so that nothing uses their ids."""
        gone = frozenset(players)
        self.expel("player", gone, "auth/signed_out", "", keep_matches=True)
        self.directory.forget_players(gone)
        self.audit_follower.forget_players(gone)

    def _match_over(self, match: MatchSummary) -> None:
        self.counts.ended(match.outcome)
        journal.match_over(match)
        if self.member.match_over(match):
            self.count_over(match)
        else:
            for bot in match.bots:
                self.directory.forget(bot)

    def count_over(self, match: MatchSummary) -> None:
        """Let a match count, on this server or another one, and find others for its bots."""
        self.lobby.quota.spend(match)
        outcome = match.outcome
        void = outcome is None or outcome.termination in VOID
        if match.rated and not void:
            self.ratings.played(match.game)
        if not void:
            seat = forfeiting_seat(outcome)
            self.hosting.played(match.seats, None if seat is None else match.seats[seat])
        held = not self.stopping and self.flag_reports.holds(match)
        if not held:
            self._look_at_forfeit(match)
        for bot in match.bots:
            self.directory.forget(bot)
        if not self.stopping:
            self.lobby.pair_soon(match.seats)
            if held:  # it counts later, but its bots are free
                self.tournaments.advance_soon(match.bots)
            else:
                self.tournaments.over(match)

    def _settled(self, match: MatchSummary, void: bool) -> None:
        """Let a match count that waited for a machine's report, unless it is void."""
        if self.stopping:
            return
        if not void:
            self._look_at_forfeit(match)
        self.tournaments.over(match, void=void)

    def _look_at_forfeit(self, match: MatchSummary) -> None:
        """Check whether the version that has just forfeited a match has done so too often."""
        seat = forfeiting_seat(match.outcome)
        if self.stopping or seat is None or match.challenge:
            return
        running = self.tournaments.running(match.tournament or "")
        if running is not None and running.settings.rehearsal:
            return
        culprit = match.seats[seat]
        if self.forfeit_watch.concerns(culprit):
            participant = self.directory.participants.get(culprit.bot_id)
            self._review(participant, 1)
            self.spawn(self._look_at(culprit, match.id, seat, participant))

    def _review(self, participant: Participant | None, change: int) -> None:
        """Change the number of reviews of a bot; it is not paired during any."""
        if participant is not None:
            reviews = participant.presence.under_review + change
            self.directory.update(participant, under_review=reviews)

    async def _look_at(
        self, culprit: Presence, match_id: str, seat: int, participant: Participant | None
    ) -> None:
        """Keep a bot unpaired until it is clear whether it is suspended."""
        try:
            await self.forfeit_watch.forfeited(match_id, seat, culprit.name)
        finally:
            self._review(participant, -1)
        self.lobby.pair_soon([culprit])
        self.tournaments.advance_soon([culprit.bot_id])

    def suspend(self, version_id: int, reason: str) -> None:
        """Suspend a version from pairing, or reinstate it if ``reason`` is empty.

        Its matches continue.
        """
        for participant in tuple(self.directory.participants.values()):
            if participant.presence.version_id != version_id:
                continue
            self.directory.update(participant, suspended=reason)
            if reason:
                self.lobby.leave(participant.presence)
            notice = Notice(
                "notice/reinstated", "This version was reinstated, and is paired again."
            )
            if reason:
                notice = Notice("auth/suspended", suspended_text(reason))
            if participant.line is not None and not participant.line.on_other_server:
                participant.line.send(notice)
            self.tournaments.advance_soon([participant.presence.bot_id])

    async def say_goodbye(self) -> None:
        """Tell every client that the server stops, and let the last frames go out."""
        if self.builtin_bots is not None:
            await self.builtin_bots.close()
        self.member.stop()
        await super().say_goodbye()

    async def close(self) -> None:
        """Stop; running matches stay in the database and resume at the next start."""
        await self.say_goodbye()
        await self.member.leave()
        self.watchdog.stop()
        await self.browser_sessions.close()
        await self.audit_follower.close()
        await self.competitions.close()
        await self.reviews.close()
        await self.trees.close()
        await self.helpers.close()
        for timer in self._leader_timers:
            timer.stop()
        await self._end_tasks()
        try:
            await self.tournaments.close()
            await self.live_matches.close()
            await self.ratings.close()
        finally:
            await self.store.close()
            await self.member.farewell()


def _id_of(participant: Participant, kind: LoginKind) -> int:
    """Return the id by which bots of this kind of login are expelled; 0 for none."""
    match kind:
        case "token":
            return participant.presence.token_id
        case "session":
            return participant.presence.session_id
        case "player":
            return participant.presence.player_id
        case "bot":
            return participant.presence.bot_id
