"""Check whether everybody in a rehearsal was treated as promised: pure, from what a server said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from plyhouse.clients.rehearsal.participants import Cast, Event, Role
from plyhouse.clients.shared.errors import EXIT_REFUSED
from plyhouse.clients.shared.output import counted
from plyhouse.games.registry import get_game
from plyhouse.protocol.api.boards import BoardLine, GradeLine
from plyhouse.protocol.messages import VOID
from plyhouse.server.match.terminations import ENDINGS, FORFEITS, Fault, fault_of

T = TypeVar("T")

BUSY: Final = "; if this machine was busy, --time-control move:5 gives everybody more"


@dataclass(frozen=True, slots=True)
class RehearsalMatch:
    """One match of the final."""

    match: str
    game: str
    entries: tuple[str, ...]
    """``player/bot`` by seat."""
    termination: str
    culprit: str = ""
    """The entry whose doing the end was, where it was one's."""
    returns: tuple[float, ...] = ()
    tried: frozenset[str] = frozenset()
    """The entries that had a turn at which a misbehaving bot misbehaves."""
    fault: str = ""
    """The complaints of `plyhouse verify` about its record; empty if there are none."""


@dataclass(frozen=True, slots=True)
class RehearsalFacts:
    """The outcome of a rehearsal."""

    over: bool
    """True if the final was played to its end in the time that there was."""
    waiting_for: Sequence[str]
    matches: Sequence[RehearsalMatch]
    standings: Sequence[BoardLine]
    """Lines of the export."""
    grades: Sequence[GradeLine]
    said: Mapping[str, str]
    """The output of each entry's runner."""
    codes: Mapping[str, int | None]
    """How runners ended that should, by entry: the absent one, and the second of a double one."""
    suspended: Mapping[str, str] = field(default_factory=dict)
    """Entries that were suspended, and why."""
    suspend_after: int = 0
    """How many forfeits suspend; 0: none do."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one bot was treated."""

    role: Role
    forfeits: Mapping[str, int]
    """Return the number of its losses without play, by termination."""
    line: BoardLine | None
    """Its line of the table; None where it has none."""
    grade: str
    suspended: str
    wrong: tuple[str, ...]
    """The broken promises; empty if there are none."""


def judge(cast: Cast, facts: RehearsalFacts) -> tuple[list[Verdict], list[str]]:
    """A verdict for everybody, and what is wrong with the whole."""
    lines = {line.entry.lower(): line for line in facts.standings}
    grades = {line.student.lower(): line.grade for line in facts.grades}
    verdicts = []
    for role in cast:
        forfeits: Counter[str] = Counter(
            each.termination
            for each in facts.matches
            if each.culprit == role.entry and each.termination in FORFEITS
        )
        line = lines.get((role.captain or role.entry).lower())
        verdicts.append(
            Verdict(
                role=role,
                forfeits=dict(forfeits),
                line=line,
                grade=grades.get(role.name.lower(), ""),
                suspended=facts.suspended.get(role.entry, ""),
                wrong=tuple(_wrong(role, forfeits, line, grades.get(role.name.lower(), ""), facts)),
            )
        )
    return verdicts, _wrong_with_all(facts)


def _wrong(
    role: Role,
    forfeits: Mapping[str, int],
    line: BoardLine | None,
    grade: str,
    facts: RehearsalFacts,
) -> list[str]:
    if role.event is Event.ABSENT:
        return _wrong_with_absent(role, line, grade, facts)
    wrong = [
        f"it {ENDINGS[kind].words} in {counted(forfeits[kind], 'match', 'matches')}: "
        f"{role.promise} was promised" + (BUSY if kind == "flag_fall" else "")
        for kind in sorted(set(forfeits) - role.forfeits)
    ]
    if role.forfeits and _could_forfeit(role, facts) and not set(forfeits) & role.forfeits:
        wrong.append(f"{_either(role.forfeits)} was promised, and no match ended so")
    if not role.captain:
        wrong += _wrong_in_table(role, forfeits, line, facts)
    if role.prints and role.prints not in facts.said.get(role.entry, ""):
        wrong.append("what it printed was not shown to its author")
    if role.event is Event.TWICE:
        code = facts.codes.get(role.entry)
        if code != EXIT_REFUSED:
            wrong.append(f"its second login was not refused (exit code {code})")
    if role.entry in facts.suspended and not role.forfeits:
        wrong.append(f"it was suspended: {facts.suspended[role.entry]}")
    if role.entry not in facts.suspended and _must_be_suspended(role, facts):
        wrong.append("it went on forfeiting, and was not suspended")
    return wrong


def _could_forfeit(role: Role, facts: RehearsalFacts) -> bool:
    """Return whether the final is over, and the bot had a turn at which it misbehaves.

    Others may end all of its matches before.
    """
    return facts.over and any(role.entry in each.tried for each in facts.matches)


def _must_be_suspended(role: Role, facts: RehearsalFacts) -> bool:
    """Return whether it forfeited all of its matches, and enough of them:
    some may have begun before the suspension.
    """
    own = [each for each in facts.matches if role.entry in each.entries]
    guilty = [
        each
        for each in own
        if each.culprit == role.entry and fault_of(each.termination) is Fault.PROGRAM
    ]
    return 0 < 3 * facts.suspend_after <= len(guilty) == len(own)


def _wrong_in_table(
    role: Role, forfeits: Mapping[str, int], line: BoardLine | None, facts: RehearsalFacts
) -> list[str]:
    """Return whether the table says what the matches say."""
    if line is None:
        return ["it is missing in the table"]
    counting = [
        each
        for each in facts.matches
        if role.entry in each.entries and each.termination not in VOID
    ]
    wrong = []
    for what, shown, is_so in (
        ("matches", line.matches, len(counting)),
        ("forfeits", line.forfeits, sum(forfeits.values())),
    ):
        if facts.over and shown != is_so:
            wrong.append(f"the table says {shown} {what}, its matches say {is_so}")
    return wrong


def _wrong_with_absent(
    role: Role, line: BoardLine | None, grade: str, facts: RehearsalFacts
) -> list[str]:
    wrong = []
    if line is not None:
        wrong.append("it is in the table, though it never connected")
    if any(role.entry in each.entries for each in facts.matches):
        wrong.append("somebody was given a match against it")
    if grade != "nothing entered":
        wrong.append(f"its grade is {grade!r}, not 'nothing entered'")
    if not facts.codes.get(role.entry):
        wrong.append(
            f"its runner ended with code {facts.codes.get(role.entry)}, as if all was well"
        )
    if "a_library_that_nobody_has" not in facts.said.get(role.entry, ""):
        wrong.append("its author was not told what could not be imported")
    return wrong


def _wrong_with_all(facts: RehearsalFacts) -> list[str]:
    wrong = []
    if not facts.over:
        why = " ".join(facts.waiting_for) or "matches are still being played."
        wrong.append(f"the final was not over in time: {why}")
    for each in facts.matches:
        at = f"match {each.match} ({', '.join(each.entries)})"
        if each.termination in VOID:
            wrong.append(f"{at} was void: {ENDINGS[each.termination].words}")
        elif each.culprit and each.termination in FORFEITS:
            seat = each.entries.index(each.culprit)
            guilty = each.returns[seat]
            others = opposing(each.game, seat, each.returns)
            if any(guilty >= returned for returned in others):
                wrong.append(f"{at}: {each.culprit} forfeited, and got {guilty:g} of {others}")
        if each.fault:
            wrong.append(f"{at}: its record does not hold: {each.fault}")
    return wrong


def opposing(spec: str, seat: int, returns: Sequence[T]) -> list[T]:
    """Return the values of the seats that play against a seat: all but those of its team."""
    game = get_game(spec)
    return [each for other, each in enumerate(returns) if game.team(other) != game.team(seat)]


def _either(kinds: frozenset[str]) -> str:
    return " or ".join(ENDINGS[kind].words for kind in sorted(kinds))
