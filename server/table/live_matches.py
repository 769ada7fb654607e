"""All matches of a server: created, found by id, and removed.

`plyhouse.server.table.resumable_matches` adds what only a server with a database does.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias

from plyhouse.protocol.messages import Revealed, SeatInfo, ServerMessage
from plyhouse.server.config import ServerConfig
from plyhouse.server.match.chance import SEED_BYTES, SHARED_STREAM, commitment, match_stream
from plyhouse.server.match.effects import Finish
from plyhouse.server.match.engine import Match, MatchConfig
from plyhouse.server.match.presence import PRIVATE, MatchPlan, MatchSummary, PairingPlan, Presence
from plyhouse.server.match.terms import Terms, terms_data
from plyhouse.server.match.time_control import MS, SECOND, LagPolicy
from plyhouse.server.results.scoring import game_scores
from plyhouse.server.table import journal
from plyhouse.server.table.directory import Directory
from plyhouse.server.table.live import LiveMatch, LivePairing
from plyhouse.server.table.participants import Line, Participant
from plyhouse.storage.causes import Cause
from plyhouse.storage.errors import StorageError
from plyhouse.storage.rows import (
    FinishMatch,
    FinishPairing,
    MatchRow,
    NewMatch,
    NewPairing,
    Op,
    PairingRow,
    new_id,
    wall_ms,
)

__all__ = ["BEGUN_AT_ONCE", "LiveMatches", "MatchStorage", "Terms"]

log = logging.getLogger("plyhouse.server.match.engine")

BEGUN_AT_ONCE: Final = 16
"""Pairings begun in one turn of the event loop, which must serve other work in between."""

MOST_PLIES: Final = 1_000_000
"""Plies of running matches in memory; each takes about a kilobyte."""
LONGEST: Final = 50_000
"""Plies of a running match outside of competitions, so that a client can read them at once."""

TOLD_NS: Final = 50_000_000
"""The log reports stalls of which at least this many nanoseconds are charged to a seat."""


Elsewhere: TypeAlias = Callable[
    [PairingPlan, Sequence[Sequence[Participant]]], "LivePairing | None"
]


def _nobody(lines: Sequence[Line], message: ServerMessage) -> None:
    """Send nothing: a single server has all connections itself."""


class MatchStorage(Protocol):
    """The interface of a runner's storage for what happens in matches.

    See `plyhouse.storage.writer.Writer` and `plyhouse.server.table.kept_matches.KeptMatches`.
    """

    def submit_then(
        self, rows: Sequence[Op], done: Callable[[StorageError | None], None], /
    ) -> None:
        """Store operations, all or none; then call ``done`` with the error or None."""

    async def close(self) -> None:
        """Store what is waiting, and accept nothing more."""


class LiveMatches:
    """Creates, keeps and removes live matches; a `plyhouse.server.table.live.Referee`.

    ``storage`` stores what happens in them.  ``on_over`` is called when a match has ended, is
    stored, and its seats know.  ``rating_of`` returns the displayed rating of a bot in a game.
    ``settle_stalls`` is called before flags fall.
    """

    def __init__(
        self,
        config: ServerConfig,
        storage: MatchStorage,
        directory: Directory,
        now: Callable[[], int],
        *,
        on_over: Callable[[MatchSummary], None],
        rating_of: Callable[[str, int], float | None],
        settle_stalls: Callable[[], None],
    ) -> None:
        self._config = config
        self._storage = storage
        self._directory = directory
        self._on_over = on_over
        self._rating_of = self.rating_of = rating_of
        self.now = now
        self.settle_stalls = settle_stalls
        self.store = storage.submit_then
        self.elsewhere: Elsewhere | None = None
        """Begins a pairing on another server of the cluster, if that should run it."""
        self.send_elsewhere: Callable[[Sequence[Line], ServerMessage], None] = _nobody
        """Sends a message to connections of other servers of the cluster."""
        self.on_made: Callable[[LiveMatch], None] | None = None
        """Called with every match before its seats hear of it."""
        self.plies = 0
        """Plies of finished matches since the start."""
        self._resumed_plies = 0
        """Plies of restored matches that were played before the start."""

    def all_plies(self) -> int:
        """Return the number of plies since the start, including those of running matches."""
        running = sum(live.match.ply for live in self._directory.own.values())
        return self.plies + running - self._resumed_plies

    # --------------------------------------------------------------------------- making

    def begin(
        self,
        terms: Terms,
        orders: Sequence[Sequence[int]],
        *,
        tournament: str | None = None,
        round_number: int = 0,
        pairing_id: str = "",
        seed: bytes | None = None,
        unnamed: Collection[int] = (),
    ) -> LivePairing:
        """Make a pairing, and notify its seats as soon as it is stored.

        ``orders`` has the ids of the bots in the order of seats, once per match.  All matches of a
        pairing are played at the same time.  Nobody learns the names of the bots ``unnamed``, given
        by id.  Every bot must be connected or hold a seat (`Directory.presences`).

        ``seed`` is for play where this program runs the bots itself, each match in a separate
        process.  Then all matches share its chance.  None draws a secret seed and gives every match
        its own chance, because two programs on one machine can always exchange messages.  Raises
        ValueError for a seed where a bot came over the network.
        """
        known = self._directory.participants
        holders = [[known[bot] for bot in order] for order in orders]
        if seed is not None:
            for each in (each for seated in holders for each in seated):
                if each.line is None or each.line.remote:
                    name = each.presence.name
                    raise ValueError(f"{name} could remember or tell: no shared chance")
        plan = PairingPlan(
            id=pairing_id or new_id(),
            game=terms.game.spec,
            family=terms.game.info.name,
            simultaneous=terms.game.info.simultaneous,
            time_control=str(terms.time_control),
            rated=terms.rated,
            tournament=tournament,
            round=round_number,
            scoring="" if terms.scoring is None else terms.scoring.value,
            matches=tuple(
                [
                    MatchPlan(new_id(), tuple(order), self._players(terms, seated, unnamed))
                    for order, seated in zip(orders, holders, strict=True)
                ]
            ),
            holders=(),
            challenge=terms.challenge,
        )
        if self.elsewhere is not None:
            begun = self.elsewhere(plan, holders)
            if begun is not None:
                return begun
        return self.start(plan, terms, holders, seed)

    def start(
        self,
        plan: PairingPlan,
        terms: Terms,
        holders: Sequence[Sequence[Participant]],
        seed: bytes | None = None,
    ) -> LivePairing:
        """Make a planned pairing on this server, with the holders of the seats of each match."""
        shared = seed is not None
        if seed is None:
            seed = secrets.token_bytes(SEED_BYTES)
        pairing = LivePairing(
            plan.id,
            seed,
            tournament=plan.tournament,
            scoring=terms.scoring,
            challenge=terms.challenge,
        )
        row = PairingRow(
            id=plan.id,
            game=plan.game,
            time_control=plan.time_control,
            rated=plan.rated,
            seed=seed,
            commitment=commitment(seed),
            matches=len(plan.matches),
            created_ms=wall_ms(),
            tournament_id=plan.tournament,
            round=plan.round,
        )
        made = []
        for each, seated in zip(plan.matches, holders, strict=True):
            stream = SHARED_STREAM if shared else match_stream(each.id)
            made.append(self._make(row, terms, each, stream, seated, pairing))
        self._mark_last(pairing)
        ops: list[Op] = [NewPairing(row)]
        for live, new in made:
            if self.on_made is not None:
                self.on_made(live)
            live.begin([*ops, new])
            ops = []
            journal.match_begun(live.summary())
        return pairing

    def _players(
        self, terms: Terms, seated: Sequence[Participant], unnamed: Collection[int]
    ) -> tuple[SeatInfo, ...]:
        spec = terms.game.spec
        seats = [each.presence for each in seated]
        return tuple([self._told(each, spec, named=each.bot_id not in unnamed) for each in seats])

    def _make(
        self,
        row: PairingRow,
        terms: Terms,
        plan: MatchPlan,
        stream: str,
        seated: Sequence[Participant],
        pairing: LivePairing,
    ) -> tuple[LiveMatch, NewMatch]:
        spec = terms.game.spec
        seats = [each.presence for each in seated]
        config = MatchConfig(
            match=plan.id,
            pairing=row.id,
            game=terms.game,
            time_control=terms.time_control,
            players=plan.players,
            seed=row.seed,
            rated=terms.rated,
            stream=stream,
            illegal_rule="retry" if self._config.illegal_rule == "retry" else "forfeit",
            no_show_forfeits=terms.rated or pairing.tournament is not None,
            **self._limits(),
        )
        live = LiveMatch(self, Match(config, self.now()), pairing, seated)
        self._keep(live)
        header = MatchRow(
            id=plan.id,
            pairing_id=row.id,
            game=spec,
            time_control=row.time_control,
            rated=terms.rated,
            illegal_rule=config.illegal_rule,
            stream=stream,
            commitment=row.commitment,
            seed=row.seed,
            seats=tuple(each.seat_row(seat) for seat, each in enumerate(seats)),
            created_ms=row.created_ms,
            data=terms_data(config, [each.hosted for each in seats], challenge=terms.challenge),
        )
        return live, NewMatch(header)

    def _told(self, holder: Presence, spec: str, *, named: bool) -> SeatInfo:
        """Return what everybody learns about the holder of a seat."""
        if not named:
            return SeatInfo(PRIVATE)
        return holder.seat_info(self._rating_of(spec, holder.version_id))

    def _limits(self) -> dict[str, Any]:
        config = self._config
        return {
            "ready_timeout_ns": int(config.ready_timeout * SECOND),
            "disconnect_grace_ns": int(config.disconnect_grace * SECOND),
            "lag": LagPolicy(
                config.lag_per_move_ms * MS,
                config.lag_total_ms * MS,
                vouched_per_move_ns=config.lag_per_move_ms * MS,
            ),
        }

    def _keep(self, live: LiveMatch) -> None:
        self._directory.began(live)
        live.pairing.open[live.id] = live
        for seat, holder in enumerate(live.holders):
            updates, scenes = holder.presence.updates, holder.presence.scenes
            if updates or scenes:
                live.match.audience.subscribe(seat, updates=updates, scenes=scenes)

    @staticmethod
    def _mark_last(pairing: LivePairing) -> None:
        if len(pairing.open) == 1:
            for live in pairing.open.values():
                live.match.last_of_pairing = True

    # ----------------------------------------------------------------------- ending

    def abort(self, match: str, cause: Cause) -> None:
        """Make a running match void; does nothing for a match that is over or unknown."""
        live = self._directory.own.get(match)
        if live is not None:
            live.input(live.match.abort, cause, self.now())

    def end_longest(self) -> None:
        """Make matches void that are too long, or of which there are too many plies together.

        It is the longest match of the player who has the most plies.  Matches of competitions
        count, but go on.
        """
        lives = [each for each in self._directory.own.values() if each.match.status != "finished"]
        total = sum([each.ply for each in lives])
        if total <= MOST_PLIES and max([each.ply for each in lives], default=0) <= LONGEST:
            return
        free = sorted(
            [each for each in lives if each.pairing.tournament is None], key=lambda each: each.ply
        )
        plies: Counter[int] = Counter()
        for live in free:
            for player in {each.player_id for each in live.seats}:
                plies[player] += live.ply
        while free and (total > MOST_PLIES or free[-1].ply > LONGEST):
            live = free[-1]
            if live.ply <= LONGEST:
                [(most, _)] = plies.most_common(1)
                live = next(
                    each for each in reversed(free)
                    if most in {seat.player_id for seat in each.seats}
                )  # fmt: skip
            free.remove(live)
            total -= live.ply
            for player in {each.player_id for each in live.seats}:
                plies[player] -= live.ply
            log.warning("match made void", extra={"match": live.id, "plies": live.ply})
            self.abort(live.id, Cause("too_many_plies", (), (live.ply,)))

    def finish_ops(self, live: LiveMatch, finish: Finish) -> list[Op]:
        """Return the operations that end a match, and perhaps its pairing."""
        pairing = live.pairing
        outcome = finish.outcome
        wall = wall_ms()
        counted = None
        if not finish.void:
            counted = game_scores(live.match.game, outcome.returns, pairing.scoring)
        ops: list[Op] = [
            FinishMatch(
                live.id,
                outcome.termination,
                () if finish.void else tuple(outcome.returns),
                finish.ply,
                wall,
                culprit=outcome.seat,
                cause=finish.cause,
                scores=counted,
            )
        ]
        pairing.open.pop(live.id, None)
        self._mark_last(pairing)
        if not pairing.open:
            ops.append(FinishPairing(pairing.id, wall))
        return ops

    def finished(self, live: LiveMatch) -> None:
        """Remove a match, and reveal the seed to the pairing's earlier matches."""
        pairing = live.pairing
        pairing.open.pop(live.id, None)
        if live.match.last_of_pairing:
            message = Revealed(pairing.id, pairing.seed.hex())
            for earlier in pairing.over:
                earlier.send_to_all(message)
        # Free ended matches at once. Left to the garbage collector, they pile up for seconds, and
        # then all clocks wait for it.
        if pairing.open:
            pairing.over.append(live)
        else:
            pairing.over.clear()
        for line in live.spectators:
            line.watching.discard(live.id)
        self.plies += live.match.ply
        self._directory.ended(live)
        self._on_over(live.summary())

    # ------------------------------------------------------------------------- time

    def freeze(self) -> None:
        """Stop all clocks before the server stops, so that nobody forfeits."""
        now = self.now()
        for live in self._directory.own.values():
            live.match.server_paused(now)
            live.cancel_alarm()

    def stalled(self, begin: int, end: int, busy_ns: int, spent: Mapping[Any, int]) -> None:
        """Give back the time of a stall, except to the connections that caused it.

        ``spent`` has for each connection the nanoseconds that it kept the server busy meanwhile.
        This looks at every match, and under load each turn of the loop is a stall: with a hundred
        matches, one for every ply or two.
        """
        small = end - begin <= SECOND
        failed = []
        for live in self._directory.own.values():
            # Short stalls matter only to a running clock.
            match = live.match
            seat = match.clock.running
            if live.suspended or (seat is None and small):
                continue
            own = 0
            if seat is not None:
                line = live.holders[seat].line
                if line is not None and line.on_other_server:
                    continue  # the server with the socket measures its thinking time
                own = spent.get(line, 0)
            try:
                given = match.server_stalled(begin, end, busy_ns, own)
            except Exception as error:  # the others must get their time back even so
                failed.append((live, error))
                continue
            if given is not None and given + TOLD_NS < end - begin:
                times = {"stall": end - begin, "given_back": given, "own": own}
                fields = {f"{name}_ms": time // MS for name, time in times.items()}
                log.warning("stall charged", extra={"match": live.id, "seat": seat, **fields})
        for live, why in failed:
            log.error("match failed", exc_info=why, extra={"match": live.id})
            live.input(live.match.abort, Cause("server_failed"), self.now(), "server_fault")

    async def close(self) -> None:
        """Store what is waiting; running matches are resumed at the next start."""
        for live in self._directory.own.values():
            live.cancel_alarm()
        await self._storage.close()
        await asyncio.sleep(0)  # lets callbacks of the last commit run
