"""The terms of a pairing and of its matches, fixed before they begin, and the data of one ply."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

import msgspec
from msgspec import Struct, structs

from plyhouse.games.base import ChanceKind, Game, Scoring
from plyhouse.games.registry import get_game
from plyhouse.protocol.messages import IllegalRule, SeatInfo
from plyhouse.server.match.chance import SHARED_STREAM, match_stream
from plyhouse.server.match.presence import PairingPlan
from plyhouse.server.match.time_control import SECOND, LagPolicy, Ledger, TimeControl
from plyhouse.storage.rows import MatchRow

LONG_TEXT: Final = 64
"""For longer actions, a digest is kept instead of the text."""
MAX_RETRIES: Final = 10
"""Illegal actions that a seat may retry in one ply, unless the terms of its match say otherwise."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The game of a pairing, and how it is played."""

    game: Game
    time_control: TimeControl
    rated: bool
    mirrored: bool = False
    """True if every rotation of the seats is played with one seed."""
    scoring: Scoring | None = None
    """The scoring of a match; None: the game's default."""
    challenge: bool = False
    """True if one player chose these terms and named the others."""

    @property
    def at_once(self) -> int:
        """The number of matches in a pairing, which begin together."""
        return self.game.seats if self.mirrored else 1


def planned_terms(plan: PairingPlan) -> Terms:
    """Return the terms of a planned pairing; raises `GameError` if its game is not installed."""
    scoring = Scoring(plan.scoring) if plan.scoring else None
    control = TimeControl.parse(plan.time_control)
    game = get_game(plan.game)
    return Terms(game, control, plan.rated, scoring=scoring, challenge=plan.challenge)


@dataclass(frozen=True, slots=True)
class MatchConfig:
    """Everything that is fixed before a match begins."""

    match: str
    pairing: str
    game: Game
    time_control: TimeControl
    players: tuple[SeatInfo, ...]
    """The holder of each seat of the game."""
    seed: bytes
    """The pairing's secret seed."""
    ready_timeout_ns: int
    disconnect_grace_ns: int
    rated: bool = False
    stream: str = ""
    """Chance stream within the pairing; empty for the match's own (see `chance`)."""
    illegal_rule: IllegalRule = "forfeit"
    lag: LagPolicy = field(default_factory=LagPolicy)
    max_retries: int = MAX_RETRIES
    """Illegal actions that a seat may retry in one ply, under the rule ``retry``."""
    no_show_forfeits: bool = False
    """True if the only seat not ready in time forfeits; otherwise the match is void."""

    def __post_init__(self) -> None:
        if len(self.players) != self.game.seats:
            raise ValueError(
                f"{self.game.spec} has {self.game.seats} seats, not {len(self.players)}"
            )

    @property
    def shares_chance(self) -> bool:
        """True if other matches of the pairing have the same rolls and deals."""
        return self.stream == SHARED_STREAM and self.game.chance_kind is ChanceKind.STOCHASTIC

    @property
    def chance_stream(self) -> str:
        """The name of the chance stream, including the default."""
        return self.stream or match_stream(self.match)


class Mark(Struct, frozen=True):
    """A point in a match to which `Course.back` can return."""

    state: Any
    ply: int
    draws: int
    rows: int
    events: int
    retries: int


class Played(Struct, frozen=True, gc=False):
    """An accepted action of a seat."""

    seat: int
    text: str
    """The action in the game's own notation."""
    sent: str
    """The action as the seat wrote it; see `as_sent`."""
    ledger: Ledger


def as_sent(text: str) -> str:
    """Return the short form of an action's text that recognises a repeated action.

    >>> as_sent("e2e4")
    'e2e4'
    >>> len(as_sent(4000 * "x"))
    64
    """
    if len(text) <= LONG_TEXT:
        return text
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


class _StoredTerms(Struct, frozen=True):
    """The part of a `MatchConfig` that has no column in `MatchRow`."""

    ready_timeout_ns: int
    disconnect_grace_ns: int
    lag: LagPolicy
    max_retries: int
    no_show_forfeits: bool = False
    machines: tuple[str, ...] = ()
    challenge: bool = False


_UNSTATED: Final = _StoredTerms(10 * SECOND, 30 * SECOND, LagPolicy(), 10)
"""The terms of old rows, which have no data."""


def terms_data(
    config: MatchConfig, machines: Sequence[str] = (), *, challenge: bool = False
) -> str:
    """Return the text of `MatchRow.data` from which `config_of` restores the terms.

    ``machines`` are the runners that host the seats; empty for a bot that its author runs.
    """
    terms = msgspec.convert(config, _StoredTerms, from_attributes=True)
    terms = structs.replace(terms, challenge=challenge)
    if any(machines):
        terms = structs.replace(terms, machines=tuple(machines))
    return msgspec.json.encode(terms).decode()


def was_challenge(data: str | None) -> bool:
    """Return whether a match began by a challenge, from its `MatchRow.data`."""
    return msgspec.json.decode(data, type=_StoredTerms).challenge if data else False


def machines_of(header: MatchRow) -> tuple[str, ...]:
    """Return the runners that hosted the seats when a stored match began.

    Raises msgspec's ValueError if they cannot be read.
    """
    machines = msgspec.json.decode(header.data, type=_StoredTerms).machines if header.data else ()
    return machines or ("",) * len(header.seats)


def config_of(header: MatchRow, game: Game) -> MatchConfig:
    """Return the terms of a stored match; ``game`` is the game of its spec.

    Raises ValueError (also `InvalidTimeControl` and msgspec's) if they cannot be read.
    """
    terms = msgspec.json.decode(header.data, type=_StoredTerms) if header.data else _UNSTATED
    return MatchConfig(
        match=header.id,
        pairing=header.pairing_id,
        game=game,
        time_control=TimeControl.parse(header.time_control),
        players=tuple(
            SeatInfo(seat.player, kind="human")
            if seat.in_person
            else SeatInfo(seat.player, seat.bot, seat.version)
            for seat in header.seats
        ),
        seed=header.seed,
        rated=header.rated,
        stream=header.stream,
        illegal_rule=cast(IllegalRule, header.illegal_rule),
        ready_timeout_ns=terms.ready_timeout_ns,
        disconnect_grace_ns=terms.disconnect_grace_ns,
        lag=terms.lag,
        max_retries=terms.max_retries,
        no_show_forfeits=terms.no_show_forfeits,
    )
