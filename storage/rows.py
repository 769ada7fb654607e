"""The values that go into and come out of the database, as plain frozen rows.

This module does not touch SQLAlchemy, so that the pure parts of the server can make and read
rows.  Rows made with every ply or match are msgspec structs, which take a tenth of the time of a
frozen dataclass and are unknown to the garbage collector. The others are dataclasses.

Units: fields named ``*_ns`` are nanoseconds of a monotonic clock's differences, fields named
``*_ms`` are wall-clock milliseconds since 1970 (UTC). Identifiers of matches, pairings and
competitions are short url-safe texts from `new_id`; those of players, bots, versions and tokens
are integers given by the database.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from typing import Final, Literal, Protocol, TypeAlias

from msgspec import Struct

from plyhouse.storage.causes import NO_CAUSE, Cause

SCOPES = ("play", "runner", "organise", "admin")
"""Scopes of a token, from the least to the most powerful."""

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_last_id = 0
"""The number of the identifier made last; ints are swapped whole, so threads at worst repeat one
step of 4096."""


def wall_ms() -> int:
    """Return the wall-clock time in milliseconds since 1970 (UTC)."""
    return time.time_ns() // 1_000_000


def new_id(now_ms: int | None = None) -> str:
    """Return a fresh identifier of 14 url-safe characters that sorts by its time of making.

    Nine characters hold the milliseconds, five are random (25 bits); what one process makes within
    a millisecond still sorts in the order of making. The order keeps the events of matches that run
    at the same time on neighbouring pages of the database.  Any other unique text works as an
    identifier, too, but more slowly.
    """
    global _last_id
    value = wall_ms() if now_ms is None else now_ms
    value = value << 25 | secrets.randbits(25)
    if value <= _last_id < value + (1 << 26):  # the same millisecond, or one it ran over into
        # As in ULID's monotonic form: a step of random size, so that others rarely make the same.
        value = _last_id + 1 + secrets.randbits(12)
    _last_id = value
    return "".join(_ALPHABET[value >> shift & 31] for shift in range(65, -1, -5))


@dataclass(frozen=True, slots=True)
class By:
    """The actor of an audited action, and the reason."""

    who: str
    why: str = ""
    player_id: int | None = None
    """The account, if it is one; it owns the competitions that it opens."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Owner and scopes of a token."""

    player_id: int
    player: str
    scopes: frozenset[str]
    token_id: int
    """0 if no token was used: a guest, or a person who signed in with a password."""
    session_id: int = 0
    """The session of a browser by which it was found; 0 for a token itself."""
    guest: bool = False
    expires_ms: int = 0
    """When the session ends; 0 for a token itself."""


class SeatRow(Struct, frozen=True, gc=False):
    """The holder of one seat of a match. Only the seat and the ids are stored, names are looked
    up.
    """

    seat: int
    player: str
    bot: str
    version: str
    player_id: int
    bot_id: int
    version_id: int

    @property
    def in_person(self) -> bool:
        """True if a person played, whose bot has the player's name."""
        return self.bot.lower() == self.player.lower()


class PairingRow(Struct, frozen=True, gc=False):
    """A set of mirrored matches between the same holders, with one secret seed."""

    id: str
    game: str
    """The game's canonical spec, as in `MatchRow`."""
    time_control: str
    rated: bool
    seed: bytes
    """Secret until the pairing is over."""
    commitment: str
    """Hex SHA-256 of the seed, told at the start of every match."""
    matches: int
    """How many matches the pairing consists of."""
    created_ms: int
    tournament_id: str | None = None
    round: int = 0
    finished_ms: int | None = None
    """When the pairing was over; from then on the seed is public."""
    owner: int | None = None
    """Epoch of the lease of the server that runs its matches; None on SQLite, which has none."""


class MatchRow(Struct, frozen=True, gc=False):
    """The header of a match: everything but its events."""

    id: str
    pairing_id: str
    game: str
    """The game's canonical spec: its name, and its parameters where not the defaults."""
    time_control: str
    rated: bool
    illegal_rule: str
    """``forfeit`` or ``retry``."""
    stream: str
    """Names the chance stream within the pairing; mirrored matches share it."""
    commitment: str
    """Hex SHA-256 of the pairing's seed. Read from the pairing; not written with the match."""
    seed: bytes
    """The pairing's seed, secret until the pairing is over; not written with the match."""
    seats: tuple[SeatRow, ...]
    created_ms: int
    nonces: tuple[str, ...] = ()
    """Each seat's contribution to the chance stream (hex), once all are ready."""
    status: str = "waiting"
    """``waiting``, ``running`` or ``finished``."""
    ply: int = 0
    """How many actions of seats were made; kept up when the match finishes."""
    started_ms: int | None = None
    finished_ms: int | None = None
    termination: str = ""
    culprit: int | None = None
    """The seat that caused the end, where one did."""
    cause: Cause = NO_CAUSE
    """Why it ended."""
    returns: tuple[float, ...] = ()
    data: str | None = None
    """Further data for resuming the match (JSON)."""
    void_cause: Cause | None = None
    """Why the match was made void, by an organiser or as a machine was too busy for a bot, so that
    it counts nowhere; None if it was not."""
    tournament_id: str | None = None
    """The tournament of the match. Read from the pairing; not written with the match."""
    replaced: bool = False
    """True if another version or bot has since taken the place of one that plays here, so that
    the match no longer counts in its competition. Read from the entries; not written."""

    @property
    def reason(self) -> str:
        """The sentence of `cause`, with the names of `seats`."""
        return self.cause.sentence(self.seats)

    @property
    def void_reason(self) -> str | None:
        """The sentence of `void_cause`, with the names of `seats`."""
        return None if self.void_cause is None else self.void_cause.sentence(self.seats)

    @property
    def kind(self) -> str:
        """Purpose of the match: ``competition``, ``rated`` or ``casual``."""
        if self.tournament_id is not None:
            return "competition"
        return "rated" if self.rated else "casual"


class EventRow(Struct, frozen=True, gc=False):
    """One thing that happened in a match, in order; a match is resumed from these."""

    match_id: str
    index: int
    kind: str
    ply: int
    seat: int
    """The seat that acted, -1 for chance or the server."""
    text: str
    thought_ns: int = 0
    lag_ns: int = 0
    stall_ns: int = 0
    charged_ns: int = 0
    remaining_ns: int = 0
    data: str | None = None


class StoredMatch(Struct, frozen=True, gc=False):
    """A match as found in the database: its header, its pairing and all its events in order."""

    header: MatchRow
    pairing: PairingRow
    events: tuple[EventRow, ...]


@dataclass(frozen=True, slots=True)
class PairResult:
    """All counted results between two versions in a game; ``version_a < version_b``."""

    game: str
    version_a: int
    version_b: int
    wins_a: int
    draws: int
    wins_b: int
    score_a: float
    """Sum of the first version's scores against the other (see `MatchScores.pairs`)."""
    squares_a: float
    """Sum of the squares of these scores."""

    @property
    def games(self) -> int:
        """How often the two met."""
        return self.wins_a + self.draws + self.wins_b


class RatingLike(Protocol):
    """The parts of a rating that `Store.save_ratings` reads."""

    @property
    def elo(self) -> float:
        """The rating itself."""

    @property
    def low(self) -> float:
        """Lower bound of its 95 % interval."""

    @property
    def high(self) -> float:
        """Upper bound of its 95 % interval."""


TournamentStatus: TypeAlias = Literal[
    "open", "running", "paused", "suspended", "finished", "deleted"
]
"""The status of one game of a final; ``open`` is from 0.2.0 and counts as ``running``.

A ``suspended`` one cannot go on, and a ``deleted`` one is listed nowhere."""
RUNNING: Final[tuple[TournamentStatus, ...]] = ("open", "running")
UNFINISHED: Final[tuple[TournamentStatus, ...]] = (*RUNNING, "paused", "suspended")


@dataclass(frozen=True, slots=True)
class TournamentRow:
    """A schedule of pairings between entries."""

    id: str
    name: str
    game: str
    time_control: str
    format: str
    """``round_robin`` and so on."""
    rounds: int
    mirrored: bool
    rated: bool
    created_ms: int
    status: TournamentStatus = "running"
    started_ms: int | None = None
    finished_ms: int | None = None
    data: str | None = None
    """Settings of the format (JSON)."""


@dataclass(frozen=True, slots=True)
class EntryRow:
    """A bot's place in a tournament."""

    tournament_id: str
    bot_id: int
    version_id: int | None
    player: str
    bot: str
    status: str
    """``active`` or ``withdrawn``."""
    created_ms: int


@dataclass(frozen=True, slots=True)
class PlayedSeat:
    """A seat of a match of a tournament, finished or not."""

    pairing_id: str
    match_id: str
    bot_id: int
    version_id: int
    score: float | None
    result: str | None
    """None while it is played, and where it does not count."""
    finished: bool
    ended: str
    """The termination, if this seat is why the match ended; else empty."""
    missed: bool = False
    """True if the match never began, as its seats did not become ready."""


class NewPairing(Struct, frozen=True, gc=False):
    """Operation: store a pairing."""

    pairing: PairingRow


class NewMatch(Struct, frozen=True, gc=False):
    """Operation: store a match and its seats; its pairing is stored before or with it."""

    match: MatchRow


class StartMatch(Struct, frozen=True, gc=False):
    """Operation: all seats are ready, the match runs from now on."""

    match_id: str
    nonces: tuple[str, ...]
    started_ms: int


class MatchScores(Struct, frozen=True, gc=False):
    """Score of a match in tables and ratings, computed outside of storage."""

    seats: tuple[tuple[float, str], ...]
    """The score of each seat, and ``W``, ``D`` or ``L``."""
    pairs: tuple[float | None, ...]
    """The score of the first of every two seats against the second, from 0 to 1, where 1/2 is a
    tie: seats 0 and 1, 0 and 2, ..., 1 and 2, and so on (`itertools.combinations`).  None for
    seats of one team."""


class FinishMatch(Struct, frozen=True, gc=False):
    """Operation: the match is over; the leaderboard takes it in within the same transaction."""

    match_id: str
    termination: str
    returns: tuple[float, ...]
    """One per seat; empty when there are none, as in a void match."""
    ply: int
    finished_ms: int
    culprit: int | None = None
    cause: Cause = NO_CAUSE
    scores: MatchScores | None = None
    """None for a match that counts nowhere.  One that is not rated counts in its competition's
    table, not on the leaderboard."""


class FinishPairing(Struct, frozen=True, gc=False):
    """Operation: the pairing is over and its seed public."""

    pairing_id: str
    finished_ms: int


Op = EventRow | NewPairing | NewMatch | StartMatch | FinishMatch | FinishPairing
"""The operations of a `Writer`.  Within a batch it stores pairings first, then matches, starts,
events and ends.  So operations that need each other may travel together."""
