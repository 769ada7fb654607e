"""What a runner machine and the server tell each other: the body and the answer of one request.

A runner says what it is, what it has, and what it has found out; it is told all that shall be.
Nothing is a command that could be lost: what shall be is said in full, every time.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

__all__ = [
    "MAX_CHECKED",
    "MAX_COSTS",
    "MAX_FLAGS",
    "MAX_GAME",
    "MAX_GAMES",
    "MAX_LINES",
    "MAX_REPORT",
    "MAX_TROUBLES",
    "BotWanted",
    "CheckDone",
    "CheckTerms",
    "CheckWanted",
    "FlagFell",
    "Hosted",
    "MatchOutput",
    "OutputLine",
    "PlyCost",
    "RunnerSays",
    "RunnerTold",
    "Trouble",
]

MAX_REPORT = 16_000
"""Characters of a report of one check that a runner sends."""

MAX_LINES = 8000
"""Lines of one bot in one match that a runner sends; it sends at most some 64 KiB of them."""

MAX_COSTS = 1000
"""Plies of one match whose costs a runner sends."""

MAX_CHECKED = 20
MAX_TROUBLES = 100
MAX_FLAGS = 100
"""Reports in one request of a runner."""

MAX_GAMES = 100
"""Games that a submission may play."""

MAX_GAME = 200
"""Characters of the name of one, with its parameters."""

Name = Annotated[str, Meta(min_length=1, max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
Text = Annotated[str, Meta(max_length=MAX_REPORT)]
Id = Annotated[int, Meta(ge=1, le=(1 << 53) - 1)]


class Hosted(Struct, frozen=True):
    """A bot that a runner runs."""

    bot: Id
    version: Id


class CheckDone(Struct, frozen=True):
    """What a check of a submission has said."""

    submission: Id
    ok: bool
    report: Text
    games: Annotated[
        list[Annotated[str, Meta(max_length=MAX_GAME)]], Meta(max_length=MAX_GAMES)
    ] = []
    """What it plays."""
    checked: Annotated[
        list[Annotated[str, Meta(max_length=MAX_GAME)]], Meta(max_length=MAX_GAMES)
    ] = []
    """Those of them that it was checked in."""


class Trouble(Struct, frozen=True):
    """Something that this machine cannot do; the server asks another one, or later again."""

    why: Annotated[str, Meta(max_length=2000)]
    bot: Annotated[int, Meta(ge=0)] = 0
    """The bot that cannot be run here; or else ..."""
    version: Annotated[int, Meta(ge=0)] = 0
    submission: Annotated[int, Meta(ge=0)] = 0
    """... the submission that cannot be checked here."""
    id: Annotated[str, Meta(max_length=64)] = ""
    """Unique id, so that a report that is sent again counts once; without one it always counts."""
    machine_works: bool = False
    """True if the machine could check its own bot just afterwards: the submission is at fault."""


Span = Annotated[int, Meta(ge=0, le=(1 << 53) - 1)]


class FlagFell(Struct, frozen=True, kw_only=True):
    """A bot that is hosted here has lost on time: what the machine did meanwhile.

    Spans are nanoseconds.  Told of every such match, whatever the figures: the server waits for it.
    """

    match: Annotated[str, Meta(min_length=1, max_length=64)]
    bot: Id
    ply: Annotated[int, Meta(ge=0, lt=1 << 31)]
    allowed: Span
    """What was left on the bot's clock when it was asked."""
    wall: Span
    cpu: Span
    lost: Span
    """For how long the machine was not the bot's in this ply; see `LostTime`."""
    match_wall: Span
    """All plies of the bot in this match, this one included."""
    match_lost: Span
    slept: Span = 0
    """For how long of this ply no thread of the bot was running or waiting for the processor."""


class RunnerSays(Struct, frozen=True, kw_only=True):
    """What a runner is, what it hosts, and what it has found out since the last answer."""

    name: Name
    """What the machine is called."""
    instance: Annotated[str, Meta(min_length=8, max_length=64)]
    """Drawn by each start of the program: two with one name are told apart by it."""
    cores: Annotated[int, Meta(ge=1, le=1024)]
    """Processors that it gives to bots."""
    bots: Annotated[int, Meta(ge=1, le=1024)] = 64
    """How many bots it has room for."""
    tier: Annotated[str, Meta(max_length=32)] = ""
    languages: Annotated[list[Annotated[str, Meta(max_length=32)]], Meta(max_length=20)] = []
    """``python``, ``program``, and the programs that ``run`` may begin with and that it has."""
    hosts: Annotated[list[Hosted], Meta(max_length=1024)] = []
    ended: Annotated[list[Hosted], Meta(max_length=1024)] = []
    """Bots whose program ended by itself and is not back yet."""
    checked: Annotated[list[CheckDone], Meta(max_length=MAX_CHECKED)] = []
    troubles: Annotated[list[Trouble], Meta(max_length=MAX_TROUBLES)] = []
    flags: Annotated[list[FlagFell], Meta(max_length=MAX_FLAGS)] = []
    leaving: bool = False
    """Whether it ends now, and all that it has is to go elsewhere."""


class CheckTerms(Struct, frozen=True):
    """A game of a competition, and its time control there."""

    game: str
    time_control: str


class CheckWanted(Struct, frozen=True):
    """A submission to be checked."""

    submission: int
    digest: str
    terms: list[CheckTerms] = []
    """The games of its competitions; empty to check all games that it claims."""
    must_play: bool = False
    """Whether it is refused unless it plays all of these games."""
    flags_count: bool = False
    """Whether a flag fall counts even if the machine was busy."""


class BotWanted(Struct, frozen=True):
    """A bot to be run."""

    bot: int
    version: int
    player: str
    name: str
    """Its name under its player."""
    label: str
    """Of the version."""
    digest: str
    """By which its package is fetched."""
    ticket: str
    """By which it logs in, from this machine, for as long as the server wants it there."""
    matches: int
    """How many it shall be able to play at a time."""
    games: list[str]
    """What it is needed for."""
    competition: str
    """The name of what it is needed for, for people."""
    nice: int = 0
    """How much its processes step back behind others, as the command ``nice`` counts it."""


class RunnerTold(Struct, frozen=True):
    """All that a runner shall do."""

    every_ms: int
    """When to ask again."""
    lease_ms: int
    """Whoever is silent for so long has lost everything to others."""
    checks: list[CheckWanted] = []
    bots: list[BotWanted] = []


class OutputLine(Struct, frozen=True, array_like=True):
    """Something for the author of a bot."""

    ply: Annotated[int, Meta(ge=0, le=1 << 31)] | None
    """The ply for which the bot was asked; None before the first and after the last."""
    kind: Annotated[str, Meta(pattern="^(print|note|crash)$")]
    """``print``: the bot printed it; ``note``: its runner says so; ``crash``: how it failed."""
    text: Text


class PlyCost(Struct, frozen=True, array_like=True):
    """What a ply has cost of the machine; nanoseconds."""

    ply: Annotated[int, Meta(ge=0, le=1 << 31)]
    wall: Annotated[int, Meta(ge=0, le=1 << 60)]
    cpu: Annotated[int, Meta(ge=0, le=1 << 60)]
    """Processor time of the bot."""
    waited: Annotated[int, Meta(ge=0, le=1 << 60)]
    """For how long it could have run, but its processor was another's."""


class MatchOutput(Struct, frozen=True, kw_only=True):
    """What a bot printed in a match on one machine, and what it cost there.

    Told again, it takes the place of what was told before.
    """

    match: Annotated[str, Meta(min_length=1, max_length=64)]
    bot: Id
    part: Annotated[str, Meta(pattern="^[a-z0-9-]{1,64}$")]
    """Another one for each run of a machine's program: a match may be played on several."""
    lines: Annotated[list[OutputLine], Meta(max_length=MAX_LINES)] = []
    costs: Annotated[list[PlyCost], Meta(max_length=MAX_COSTS)] = []
    cut: Annotated[int, Meta(ge=0, le=1 << 53)] = 0
    """Bytes that were left out ..."""
    cut_at: Annotated[int, Meta(ge=0, le=MAX_LINES)] = 0
    """... before this line."""
