"""The messages between a runner machine and the server.

They are the body and the answer of one request.

A runner describes itself, what it hosts, and what it has found out.  The server answers with
everything that the runner should host and check.  Each message is complete, so a lost one does no
harm.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

LONGEST_CHECK = 120.0
"""Seconds that a check may take: all matches and imports, and the start of its processes."""
MAX_REPORT = 16_000
"""Most characters in a runner's report of one check."""

MAX_LINES = 8000
"""Most lines of one bot in one match that a runner sends; it sends about 64 KiB at most."""

MAX_COSTS = 1000
"""Most plies of one match whose costs a runner sends."""

MAX_CHECKED = 20
MAX_TROUBLES = 100
MAX_FLAGS = 100
"""Most reports in one request of a runner."""

MAX_GAMES = 100
"""Most games that a submission may play."""

MAX_GAME = 200
"""Most characters in the name of a game with its parameters."""

LONGEST_NAME = 64
"""Most characters in the name of a runner."""

Name = Annotated[
    str, Meta(min_length=1, max_length=LONGEST_NAME, pattern="^[A-Za-z0-9][A-Za-z0-9_.-]*$")
]
Text = Annotated[str, Meta(max_length=MAX_REPORT)]
Id = Annotated[int, Meta(ge=1, le=(1 << 53) - 1)]


def machine_name(host: str, start: str = "") -> str:
    """Return the name of a runner on a host; ``start`` distinguishes those of one host.

    The end of a long host name is kept, because names of containers differ there.
    """
    made = start + host[len(start) - LONGEST_NAME :]
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "_.-") else "-" for c in made)
    return kept.lstrip("_.-") or "runner"


class Hosted(Struct, frozen=True):
    """A bot that a runner runs."""

    bot: Id
    version: Id


class CheckDone(Struct, frozen=True):
    """The result of a check of a submission."""

    submission: Id
    ok: bool
    report: Text
    games: Annotated[
        list[Annotated[str, Meta(max_length=MAX_GAME)]], Meta(max_length=MAX_GAMES)
    ] = []
    """The games that the submission plays."""
    checked: Annotated[
        list[Annotated[str, Meta(max_length=MAX_GAME)]], Meta(max_length=MAX_GAMES)
    ] = []
    """The games among these in which it was checked."""


class Trouble(Struct, frozen=True):
    """A failure on this machine; the server asks another machine, or asks again later."""

    why: Annotated[str, Meta(max_length=2000)]
    bot: Annotated[int, Meta(ge=0)] = 0
    """The bot that this machine cannot run; 0 if the report is about a submission."""
    version: Annotated[int, Meta(ge=0)] = 0
    submission: Annotated[int, Meta(ge=0)] = 0
    """The submission that this machine cannot check; 0 if the report is about a bot."""
    id: Annotated[str, Meta(max_length=64)] = ""
    """Unique id, so that a report that is sent again counts once; without one it always counts."""
    machine_works: bool = False
    """True if the machine could check its own bot just afterwards: the submission is at fault."""


Span = Annotated[int, Meta(ge=0, le=(1 << 53) - 1)]


class FlagFell(Struct, frozen=True, kw_only=True):
    """A flag fall of a bot hosted here, and what the machine did meanwhile.

    Spans are in nanoseconds.

    A runner reports every such match, because the server waits for the report.
    """

    match: Annotated[str, Meta(min_length=1, max_length=64)]
    bot: Id
    ply: Annotated[int, Meta(ge=0, lt=1 << 31)]
    allowed: Span
    """The time on the bot's clock when the server asked it."""
    wall: Span
    cpu: Span
    lost: Span
    """How long the bot could not use the machine in this ply; see `LostTime`."""
    match_wall: Span
    """The sum over all plies of the bot in this match, including this one."""
    match_lost: Span
    slept: Span = 0
    """How long in this ply no thread of the bot was running or waiting for the processor."""


class RunnerReport(Struct, frozen=True, kw_only=True):
    """A runner, what it hosts, and what it has found out since the last answer."""

    name: Name
    """The name of the machine."""
    instance: Annotated[str, Meta(min_length=8, max_length=64)]
    """A random id for each start of the program; it distinguishes two runners with one name."""
    cores: Annotated[int, Meta(ge=1, le=1024)]
    """Processors that it gives to bots."""
    bots: Annotated[int, Meta(ge=1, le=1024)] = 64
    """How many bots fit into its memory."""
    tier: Annotated[str, Meta(max_length=32)] = ""
    languages: Annotated[list[Annotated[str, Meta(max_length=32)]], Meta(max_length=20)] = []
    """``python``, ``program``, and the installed programs with which ``run`` may begin."""
    hosts: Annotated[list[Hosted], Meta(max_length=1024)] = []
    ended: Annotated[list[Hosted], Meta(max_length=1024)] = []
    """Bots whose program exited and has not come back yet."""
    checked: Annotated[list[CheckDone], Meta(max_length=MAX_CHECKED)] = []
    troubles: Annotated[list[Trouble], Meta(max_length=MAX_TROUBLES)] = []
    flags: Annotated[list[FlagFell], Meta(max_length=MAX_FLAGS)] = []
    leaving: bool = False
    """True if the runner stops now, so that all its bots must move."""


class CheckTerms(Struct, frozen=True):
    """A game of a competition and its time control there."""

    game: str
    time_control: str


class CheckWanted(Struct, frozen=True):
    """A submission to check."""

    submission: int
    digest: str
    terms: list[CheckTerms] = []
    """The games of its competitions; empty to check all games that it claims."""
    must_play: bool = False
    """True if the check fails unless the submission plays all of these games."""
    flags_count: bool = False
    """True if a flag fall counts even if the machine was busy."""


class BotWanted(Struct, frozen=True):
    """A bot to run."""

    bot: int
    version: int
    player: str
    name: str
    """The bot's name, without the player's."""
    label: str
    """The label of the version."""
    digest: str
    """The digest by which the runner fetches the package."""
    ticket: str
    """The ticket for logging in from this machine, valid while the server wants the bot there."""
    matches: int
    """How many matches it must be able to play at a time."""
    games: list[str]
    """The games for which it is needed."""
    competition: str
    """The name of its purpose, for people."""
    nice: int = 0
    """How far its processes yield to others, as the command ``nice`` counts it."""


class RunnerPlan(Struct, frozen=True):
    """Everything that a runner should host and check."""

    every_ms: int
    """When to ask again."""
    lease_ms: int
    """A runner that is silent for this long loses its bots to other runners."""
    checks: list[CheckWanted] = []
    bots: list[BotWanted] = []


class OutputLine(Struct, frozen=True, array_like=True):
    """A line for the author of a bot."""

    ply: Annotated[int, Meta(ge=0, le=1 << 31)] | None
    """The ply for which the server asked the bot; None before the first and after the last."""
    kind: Annotated[str, Meta(pattern="^(print|note|crash)$")]
    """``print`` for output, ``note`` for a note of the runner, ``crash`` for how the bot failed."""
    text: Text


class PlyCost(Struct, frozen=True, array_like=True):
    """The machine time that a ply cost, in nanoseconds."""

    ply: Annotated[int, Meta(ge=0, le=1 << 31)]
    wall: Annotated[int, Meta(ge=0, le=1 << 60)]
    cpu: Annotated[int, Meta(ge=0, le=1 << 60)]
    """Processor time of the bot."""
    waited: Annotated[int, Meta(ge=0, le=1 << 60)]
    """How long the bot was ready to run while another program had its processor."""


class MatchOutput(Struct, frozen=True, kw_only=True):
    """The output of a bot in a match on one machine, and its costs there.

    A part that is sent again replaces the earlier one.
    """

    match: Annotated[str, Meta(min_length=1, max_length=64)]
    bot: Id
    part: Annotated[str, Meta(pattern="^[a-z0-9-]{1,64}$")]
    """Unique for each run of a runner: several runs may play parts of one match."""
    lines: Annotated[list[OutputLine], Meta(max_length=MAX_LINES)] = []
    costs: Annotated[list[PlyCost], Meta(max_length=MAX_COSTS)] = []
    cut: Annotated[int, Meta(ge=0, le=1 << 53)] = 0
    """Number of bytes left out."""
    cut_at: Annotated[int, Meta(ge=0, le=MAX_LINES)] = 0
    """The line before which these bytes are missing."""
