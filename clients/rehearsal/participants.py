"""The bots of a rehearsal: honest bots and misbehaving ones, each with its promised treatment."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Final

from plyhouse.games.base import Information
from plyhouse.games.registry import get_game
from plyhouse.server.competition_rules.file import CompetitionFile

BROKEN: Final = '"""A bot that cannot be loaded."""\n\nimport a_library_that_nobody_has\n'
"""The text of the bot that cannot be imported."""

_HERE: Final = Path(__file__).resolve().parent / "misbehaving_bots.py"


class Event(StrEnum):
    """An event that befalls a bot from outside."""

    NOTHING = "nothing"
    ABSENT = "absent"
    """It never connects."""
    CUT = "cut"
    """Its runner is killed in the middle of a match, and started again after it."""
    TWICE = "twice"
    """Its runner is started a second time while it plays."""


@dataclass(frozen=True, slots=True)
class Role:
    """One bot of the rehearsal."""

    name: str
    """Its account, and with ``bot`` its name as an entry."""
    does: str
    spec: str
    promise: str
    """The server's promised reaction, in words."""
    forfeits: frozenset[str] = frozenset()
    """Terminations by which it may lose without play; at least one must occur."""
    event: Event = Event.NOTHING
    prints: str = ""
    """The text that its author must see."""
    baseline: bool = False
    bot: str = "bot"
    captain: str = ""
    """The entry under whose name its side is in the table; empty for its own."""

    @property
    def entry(self) -> str:
        """``player/bot``."""
        return f"{self.name}/{self.bot}"


Cast = tuple[Role, ...]


def _impostor(
    name: str, does: str, kind: str, promise: str, *forfeits: str, event: Event = Event.NOTHING
) -> Role:
    return Role(name, does, f"{_HERE}:{kind}", promise, frozenset(forfeits), event)


_IMPOSTORS: Final = (
    Role(
        "import-failure",
        "cannot be imported",
        "broken.py",
        "never connects: not entered, and nobody wins against it",
        event=Event.ABSENT,
    ),
    _impostor("crash", "raises in the middle", "Crasher", "forfeits as crashed", "bot_crash"),
    _impostor("hang", "never comes back", "Hanger", "flag falls, the rest goes on", "flag_fall"),
    _impostor("slow", "answers too late", "Sleeper", "flag falls", "flag_fall"),
    _impostor(
        "illegal", "breaks the rules", "RuleBreaker", "forfeits by that action", "illegal_action"
    ),
    _impostor(
        "memory-hog",
        "takes all memory",
        "Hog",
        "forfeits as crashed, or by its flag if that falls first",
        "bot_crash",
        "flag_fall",
    ),
    _impostor(
        "disconnect",
        "is cut off in the middle",
        "Steady",
        "forfeits what it is away from, then plays on",
        "disconnect",
        "flag_fall",
        "no_show",
        event=Event.CUT,
    ),
    _impostor(
        "double-login",
        "logs in a second time",
        "Steady",
        "the second is refused, the first plays on",
        event=Event.TWICE,
    ),
    Role(
        "prints",
        "prints to standard output",
        f"{_HERE}:Printer",
        "its author is shown it, and it plays on",
        prints="printed at ply ",
    ),
)


def cast_of(file: CompetitionFile) -> Cast:
    """Return the bots of a file: honest and misbehaving ones, and random baselines."""
    perfect = all(get_game(spec).info.information is Information.PERFECT for spec in file.games)
    second = "mcts(time=0.05)" if perfect else "random"
    honest = (
        Role("honest-1", "plays at random", "random", "no forfeit"),
        Role("honest-2", f"plays as {second.partition('(')[0]}", second, "no forfeit"),
    )
    staff = []
    for baseline in file.baselines:
        player, _, bot = baseline.bot.partition("/")
        does = "baseline, played by random"
        staff.append(Role(player, does, "random", "no forfeit", baseline=True, bot=bot))
    if file.teams:
        staff = _with_captains(staff, file.side_size)
    taken = {each.name.lower() for each in staff} | {"organiser"}
    return (*staff, *(_renamed(each, taken) for each in (*honest, *_IMPOSTORS)))


def _with_captains(staff: list[Role], size: int) -> list[Role]:
    """Return the baselines with the captains of their sides."""
    found = []
    for role in staff:
        own = sorted([each.bot.lower() for each in staff if each.name == role.name])
        place = own.index(role.bot.lower())
        captain = f"{role.name}/{own[place - place % size]}" if place % size else ""
        found.append(replace(role, captain=captain))
    return found


def _renamed(role: Role, taken: set[str]) -> Role:
    """The role under a name that no member of the staff has."""
    while role.name in taken:
        role = replace(role, name=f"{role.name}-x")
    return role
