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
from plyhouse.protocol.messages import (
    Hello,
    Notice,
    Register,
)
from plyhouse.server.accounts.browser_sessions import BrowserSessions
from plyhouse.server.accounts.builtin_bots import HouseBots
from plyhouse.server.accounts.privacy import Privacy
from plyhouse.server.accounts.registration import Registration
from plyhouse.server.administration.audit_follower import AuditFollower, LoginKind
from plyhouse.server.administration.erasure import Eraser
from plyhouse.server.administration.health import HealthCheck
from plyhouse.server.cluster.carrier import Carrier
from plyhouse.server.cluster.database_carrier import DatabaseCarrier
from plyhouse.server.cluster.leadership import Leadership
from plyhouse.server.cluster.link import Link
from plyhouse.server.cluster.membership import Cluster, Member
from plyhouse.server.cluster.nats_carrier import NatsCarrier
from plyhouse.server.cluster.owned_matches import OwnedMatches
from plyhouse.server.cluster.remote_play import RemotePlay
from plyhouse.server.cluster.switchboard import Switchboard
from plyhouse.server.competitions.boards import Boards
from plyhouse.server.competitions.bot_profiles import BotProfiles
from plyhouse.server.competitions.competition_changes import read_files
from plyhouse.server.competitions.exports import Exports
from plyhouse.server.competitions.lifecycle import Competitions
from plyhouse.server.competitions.reports import Reports
from plyhouse.server.competitions.tournaments import Tournaments
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.admission import Admission
from plyhouse.server.gateway.logins import Logins
from plyhouse.server.gateway.match_hub import SWEEP_SECONDS, MatchHub
from plyhouse.server.gateway.membership import Alone
from plyhouse.server.gateway.requests import Requests
from plyhouse.server.hosting.hosted_play import HostedPlay
from plyhouse.server.hosting.runner_reports import FlagReports, Outputs
from plyhouse.server.hosting.runners import Hosting
from plyhouse.server.hosting.uploads import Uploads
from plyhouse.server.jobs.helper_jobs import Reviews, Trees
from plyhouse.server.jobs.helper_processes import FairQueue, Helpers
from plyhouse.server.jobs.periodic import Periodic
from plyhouse.server.lobby.lobby import Lobby
from plyhouse.server.lobby.suspension import ForfeitWatch, suspended_text
from plyhouse.server.match.outcomes import VOID
from plyhouse.server.match.presence import MatchSummary, Presence
from plyhouse.server.match.terminations import forfeiting_seat
from plyhouse.server.results.rating_refits import RatingRefits
from plyhouse.server.table import journal
from plyhouse.server.table.participants import Participant
from plyhouse.server.table.resuming_runner import ResumingRunner
from plyhouse.server.version import server_version
from plyhouse.server.wire.session import Session
from plyhouse.storage import members
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
        builtin_bots: Callable[[Hub], HouseBots] | None = None,
    ) -> None:
        super().__init__(config, now)
        self.store = store
        self.started = now()
        self.ratings = RatingRefits(store)
        self.runner: ResumingRunner = ResumingRunner(
            config,
            store,
            self.directory,
            now,
            on_over=self._match_over,
            rating_of=self.ratings.rating_of,
            settle_stalls=self._settle_stalls,
        )
        self.registration = Registration(config, store, now)
        self.browser_sessions = BrowserSessions(
            config=config,
            store=store,
            registration=self.registration,
            now=now,
            playing=self._plays,
            leaving=self._forget,
        )
        self.builtin_bots = None if builtin_bots is None else builtin_bots(self)
        """Starts bots for people to play against; None if there are none."""
        self.privacy = Privacy(store)
        # Lambdas look up attributes that are assigned below.
        self.lobby = Lobby(
            config,
            self.runner,
            self.directory,
            admit_to_hosted=lambda *match: self.hosted_play.admit(*match),
            may_be_secret=self.privacy.may_be_secret,
        )
        self.tournaments = Tournaments(
            store,
            self.runner,
            self.directory,
            hidden_in=self.privacy.hidden,
            rooms_of_hosted=lambda running: self.hosting.rooms(running),
            hosted_waits_for=lambda *bot: self.hosting.waits_for(*bot),
        )
        self.flag_reports = FlagReports(store, now, self._settled)
        self.hosting = Hosting(
            store,
            self.directory,
            self.tournaments,
            now,
            wanted_by_people=lambda: self.hosted_play.wanted(),
            people_waiting=lambda machine: self.hosted_play.waiting_on(machine),
            on_flags=self.flag_reports.heard,
        )
        self.hosted_play = HostedPlay(config, store, self.directory, self.hosting, now)
        self.competitions = Competitions(config, store, self.tournaments, self.directory)
        self.boards = Boards(store)
        self.reports = Reports(store, self.boards)
        self.exports = Exports(store, self.boards, self.privacy)
        self.audit_follower = AuditFollower(
            store,
            self,
            runner=self.runner,
            privacy=self.privacy,
            tournaments=self.tournaments,
            competitions=self.competitions,
            ratings=self.ratings,
        )
        self.erasure = Eraser(store, self.audit_follower, self.directory, self.boards, self.reports)
        self.bot_profiles = BotProfiles(config, store, self.privacy, self.directory)
        self.forfeit_watch = ForfeitWatch(config, store, self.audit_follower.look)
        self.reviews = Reviews(config)
        self.trees = Trees(config, now)
        self.replays = FairQueue()
        self.helpers = Helpers(HELPERS)
        self.uploads = Uploads(config, store, now)
        self.outputs = Outputs(config, store)
        self.health = HealthCheck(store, self.runner.writer, now)
        self.admission = Admission(self.directory, self.hosting)
        self.member: Member | None = None
        """The messages to the other servers of a cluster; None for a single server."""
        self.cluster: Cluster | None = None
        self.secret = ""
        """The secret that other servers show when they pass on a request."""
        if config.cluster:
            self.member = self._membership()
        sockets = (
            Alone(self.admission, self.hosting) if self.member is None else self.member.sockets
        )
        self.logins = Logins(
            config,
            self._entrance(sockets, lambda: self.hosting.refund(now())),
            sessions=self.sessions,
            directory=self.directory,
            registration=self.registration,
            browser_sessions=self.browser_sessions,
            audit_follower=self.audit_follower,
            lobby=self.lobby,
            tournaments=self.tournaments,
            member=sockets,
        )
        self.requests: Requests = Requests(
            directory=self.directory,
            lobby=self.lobby,
            privacy=self.privacy,
            browser_sessions=self.browser_sessions,
            sessions=self.sessions,
            seated=self.seated,
            spawn=self.spawn,
            now=now,
            member=self.member,
            store=store,
            helpers=self.helpers,
            replays=self.replays,
            wakes=None if self.builtin_bots is None else self.builtin_bots.wake,
        )
        self._leader_timers = (
            Periodic(lambda: self.hosting.refund(now()), SWEEP_SECONDS, "hosting refunds", log),
            Periodic(lambda: self.flag_reports.look(now()), SWEEP_SECONDS, "verdicts", log),
        )

    def _membership(self) -> Member:
        """Make the parts of a server in a cluster, and connect them with its other packages."""
        board = Switchboard(self.store.epoch, self.directory)
        sockets = RemotePlay(
            board,
            directory=self.directory,
            admission=self.admission,
            hosting=self.hosting,
            watchdog=self.watchdog,
            sessions=self.sessions,
            now=self.now,
        )
        matches = OwnedMatches(
            board,
            directory=self.directory,
            runner=self.runner,
            grace=self.config.disconnect_grace,
            redeliver=sockets.redeliver,
            now=self.now,
        )
        sockets.on_returned = matches.returned
        leadership = Leadership(
            board,
            directory=self.directory,
            runner=self.runner,
            admission=self.admission,
            hosting=self.hosting,
            sockets=sockets,
            on_over=self.count_over,
            on_entered=self.entered,
            on_left=self.lobby.leave,
            lobby_request=lambda bot, message: self.requests.ask_lobby(bot, message),
            open_again=self.lobby.seek,
        )
        self.runner.elsewhere = leadership.elsewhere
        self.runner.on_made = matches.announce_owner
        self.lobby.on_seek = leadership.seek_changed
        return Member(board, sockets, matches, leadership)

    async def _join(self, member: Member) -> None:
        """Join the cluster of the database; return when a leader is known."""
        name = await self.store.read(members.cluster_name)
        carriers: list[Carrier] = [
            NatsCarrier(self.config.cluster, name),
            DatabaseCarrier(self.store),
        ]
        link = Link(
            member.board.epoch,
            carriers,
            self.now,
            member.board.received,
            on_stranger=member.board.met_stranger,
        )
        member.board.link = link
        self.cluster = Cluster(
            store=self.store,
            link=link,
            member=member,
            directory=self.directory,
            runner=self.runner,
            holder_of=self.logins.holder,
            hidden_in=self.privacy.hidden,
            begin_leading=self.begin_leading,
            on_over=self.count_over,
            now=self.now,
        )
        await self.cluster.start()

    @classmethod
    async def open(
        cls,
        config: ServerConfig,
        *,
        store: Store | None = None,
        now: Callable[[], int] = time.monotonic_ns,
        builtin_bots: Callable[[Hub], HouseBots] | None = None,
        address: str = "",
    ) -> Hub:
        """Open the database and resume the matches of the last run, or join a cluster.

        Raises `plyhouse.storage.errors.StorageError` when the database cannot be used, and
        `plyhouse.games.errors.GameError` for a file of ``config.game_files`` that is no game.
        ``store`` is an open store; the hub closes it, too.  ``builtin_bots`` makes the object that
        starts bots for people to play against; the hub closes that, too.
        ``address`` is the base URL at which the other servers of a cluster reach this one.
        """
        for source in config.game_sources:
            add_game_file(source)
        if store is None:
            store = await Store.open(config.database)
        try:
            version = server_version()
            shared = bool(config.cluster)
            await store.claim(shared=shared, address=address, version=version)
            await store.apply(())  # fails now if the database is read-only
            hub = cls(config, store, now, builtin_bots)
            hub.secret = urlsplit(address).password or ""
            await hub.audit_follower.mark()
            await read_files(store)
            await hub.privacy.sight(None)  # loads the bots that no list may show
            if hub.member is None:
                await hub.ratings.start()
                resumed = await hub.runner.restore(hub.logins.holder, hub.privacy.hidden)
                if resumed:
                    log.info("matches of the last run resumed", extra={"matches": resumed})
                await hub.begin_leading()
            else:
                hub.directory.lead(False)
                await hub._join(hub.member)
            await hub.audit_follower.start()
        except BaseException:
            await store.close()
            raise
        hub.start()
        return hub

    async def begin_leading(self) -> None:
        """Begin to decide who plays: with the first server, and after the end of a leader."""
        if self.member is not None:
            await self.ratings.start()
        await self.tournaments.restore()
        await self.competitions.start()
        self.browser_sessions.start()
        if self.builtin_bots is not None:
            self.builtin_bots.keep()
        for timer in self._leader_timers:
            timer.start()

    def entered(self, presence: Presence) -> None:
        """Find matches for a bot that has logged in at another server."""
        self.lobby.pair_soon([presence])
        self.tournaments.advance_soon([presence.bot_id])

    # ------------------------------------------------------------------ connections

    def _leaving(self, session: Session, participant: Participant) -> None:
        self.lobby.leave(participant.presence)
        if self.member is not None:
            self.member.sockets.leaving(session)

    def _has_left(self, session: Session, bot: int) -> None:
        if self.member is not None:
            self.member.sockets.left(session, bot)

    async def register(self, session: Session, message: Register) -> None:
        """Make an account."""
        await self.logins.register(session, message)

    async def login(self, session: Session, hello: Hello, stamp: int) -> None:
        """Log in a bot with all of its running matches.

        Without token and name, log in a spectator.
        """
        await self.logins.login(session, hello, stamp)

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
        self.expel(
            "session", session_ids, "auth/signed_out", "You have signed out.", keep_matches=True
        )

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

    def _plays(self, player_id: int) -> bool:
        everybody = self.directory.presences.values()
        return any(each.player_id == player_id and each.matches for each in everybody)

    def _forget(self, players: list[int]) -> None:
        """Remove guests who are about to be deleted, so that nothing uses their ids."""
        gone = frozenset(players)
        self.expel("player", gone, "auth/signed_out", "", keep_matches=True)
        self.directory.forget_players(gone)
        self.audit_follower.forget_players(gone)

    def _match_over(self, match: MatchSummary) -> None:
        self.counts.ended(match.outcome)
        journal.match_over(match)
        if self.member is not None:
            self.member.matches.match_over(match)
            if not self.member.board.leading:
                for bot in match.bots:
                    self.directory.forget(bot)
                return
        self.count_over(match)

    def count_over(self, match: MatchSummary) -> None:
        """Let a match count, on this server or another one, and find others for its bots."""
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
        if self.stopping or seat is None:
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
            told = Notice("notice/reinstated", "This version was reinstated, and is paired again.")
            if reason:
                told = Notice("auth/suspended", suspended_text(reason))
            if participant.line is not None and not participant.line.on_other_server:
                participant.line.send(told)
            self.tournaments.advance_soon([participant.presence.bot_id])

    async def say_goodbye(self) -> None:
        """Tell every client that the server stops, and let the last frames go out."""
        if self.builtin_bots is not None:
            await self.builtin_bots.close()
        if self.member is not None:
            self.member.board.stopping = True
        await super().say_goodbye()

    async def close(self) -> None:
        """Stop; running matches stay in the database and resume at the next start."""
        await self.say_goodbye()
        if self.cluster is not None:
            await self.cluster.leave()
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
            await self.runner.close()
            await self.ratings.close()
        finally:
            await self.store.close()
            if self.cluster is not None:
                await self.cluster.farewell()


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
