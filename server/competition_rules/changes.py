"""The changes that a new competition file makes, and their effects.

`compare` names every difference by its key.  Which changes are possible depends on the stage of the
competition.  The final fixes who plays, what they play and by which rules.  The meaning of results,
their visibility and the dates can change later.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from plyhouse.protocol.api.competitions import FINAL_BEGUN, IN_FINAL, CompetitionStatus
from plyhouse.server.competition_rules.dates import in_words
from plyhouse.server.competition_rules.derived_files import TERMS, same_terms
from plyhouse.server.competition_rules.file import (
    Baseline,
    CompetitionFile,
    Dates,
    FormatTerms,
    LateRule,
    Limits,
    Practice,
)
from plyhouse.server.competition_rules.formats import FormatError
from plyhouse.server.competition_rules.preview import planned_matches

NEVER: Final = ""
DRAFT: Final = "draft"
FINAL: Final = "final"
IDLE: Final = "idle"
ALWAYS: Final = "always"


@dataclass(frozen=True, slots=True)
class Stage:
    """The stage of a competition."""

    status: CompetitionStatus
    entries: int
    """The number of active entries, including baselines."""

    @property
    def begun(self) -> bool:
        """True if the final has begun."""
        return self.status in FINAL_BEGUN


@dataclass(frozen=True, slots=True)
class Rule:
    """The stage until which a key can change, and the effect of a change."""

    until: str
    """`NEVER`, `DRAFT` (before it opens), `FINAL` (before the final), `IDLE` (not while the final
    runs) or `ALWAYS`."""
    effect: str
    begun: str = ""
    """The effect after the final has begun, if it differs."""


@dataclass(frozen=True, slots=True)
class Change:
    """A difference between two versions of a competition file."""

    key: str
    """The key in the file; a baseline's key names its bot: ``baselines[staff/easy].at_least``."""
    old: str
    """The value in words; empty if there was none."""
    new: str
    effect: str
    refused: str = ""
    """The reason why the change is refused now; empty if it is possible."""
    public: bool = True
    """True if students may see it; changes of hidden baselines are private."""


_PLAYED: Final = "the matches of the final are played by it"
RULES: Final[Mapping[str, Rule]] = {
    "name": Rule(NEVER, "addresses, codes and reports lead to it"),
    "games": Rule(
        FINAL, "The final is of these games; an entry that does not play one waits in it"
    ),
    "time_control": Rule(
        FINAL,
        "The final uses it. Submitted bots stay ready, although their check used the old one: "
        "submit one again to check it",
    ),
    "format": Rule(FINAL, "The final is played in this format"),
    "mirrored": Rule(FINAL, "The schedule of the final follows"),
    "teams": Rule(FINAL, "The schedule of the final follows"),
    "rounds": Rule(FINAL, "The schedule of the final follows"),
    "rated": Rule(FINAL, "With a public board, the matches of the final count for leaderboards"),
    "entries_per_student": Rule(FINAL, "Students may enter this number of bots"),
    "scoring": Rule(FINAL, "The matches of the final are scored by it"),
    "late.days": Rule(FINAL, "Late submissions are taken for this number of days"),
    "late.final_waits": Rule(
        FINAL, "The final waits for the end of late submissions and extensions"
    ),
    "late.penalty_per_day": Rule(ALWAYS, "Penalties follow; nothing is played again"),
    "grading.every_lower": Rule(ALWAYS, "Grades follow; nothing is played again"),
    "grading.points": Rule(ALWAYS, "The points of grades follow"),
    "baselines[].points": Rule(ALWAYS, "The points of its grade follow"),
    "board": Rule(ALWAYS, ""),
    "rules": Rule(ALWAYS, "Students read the new text"),
    "dates.zone": Rule(
        ALWAYS, "Dates without an offset are in this zone, and late days are those of its calendar"
    ),
    "dates.opening": Rule(DRAFT, "It opens by itself at that time"),
    "dates.freeze": Rule(FINAL, "Versions may change until then. Extensions stay as they are"),
    "dates.final": Rule(FINAL, "The final begins by itself at that time"),
    "limits.students": Rule(ALWAYS, "This number of students may join; groups count once"),
    "limits.matches_at_a_time": Rule(ALWAYS, "The final has this number of matches at a time"),
    "limits.absent_minutes": Rule(ALWAYS, "The final waits this long for an entry that is away"),
    "limits.help": Rule(FINAL, "Entries with another level of help do not play in the final"),
    "hosting.required": Rule(FINAL, "It decides which entries play in the final"),
    "practice.ladder": Rule(FINAL, "Entries play each other until the freeze, or stop doing so"),
    "practice.matches_at_a_time": Rule(FINAL, "The practice ladder has this number of matches"),
    "practice.baselines": Rule(FINAL, "Baselines are on the practice ladder, or leave it"),
    "baselines[]": Rule(
        FINAL, "It plays in the final against everybody that its format pairs it with"
    ),
    "baselines[].hidden": Rule(FINAL, "Students do not see it"),
    "baselines[].shown": Rule(
        ALWAYS, "Students see its name and results, also in matches of before"
    ),
    "baselines[].grade": Rule(
        IDLE,
        "Grades of the final follow",
        "All grades are worked out again from the stored results; nothing is played again",
    ),
    "baselines[].at_least": Rule(
        IDLE,
        "Grades of the final follow",
        "All grades are worked out again from the stored results; nothing is played again",
    ),
    "baselines[].twin_of": Rule(FINAL, "The noise on the board is measured by it"),
    "baselines[].reference": Rule(FINAL, "The server submits this built-in bot and checks it"),
}
"""Rules by key; a key without one can change before the final."""

_LABELS: Final[Mapping[str, str]] = {
    "name": "Name",
    "games": "Games",
    "time_control": "Time control",
    "format": "Format",
    "mirrored": "Mirrored matches",
    "teams": "Teams of two bots",
    "rounds": "Rounds",
    "rated": "Matches count for leaderboards",
    "entries_per_student": "Bots for each student",
    "board": "Board",
    "scoring": "Scoring",
    "late.days": "Late days",
    "late.final_waits": "The final waits for late submissions",
    "late.penalty_per_day": "Penalty for each late day",
    "grading.every_lower": "A grade needs every lower threshold",
    "grading.points": "Points of grades",
    "dates.zone": "Time zone",
    "dates.opening": "Opening",
    "dates.freeze": "Freeze, until which versions may change",
    "dates.final": "Begin of the final",
    "limits.students": "Students who may join",
    "limits.matches_at_a_time": "Matches at a time",
    "limits.absent_minutes": "Minutes that the final waits for an absent bot",
    "limits.help": "Level of help of language models",
    "hosting.required": "Only submitted bots play",
    "practice.ladder": "Practice ladder",
    "practice.matches_at_a_time": "Practice matches at a time",
    "practice.baselines": "Baselines on the practice ladder",
    "baselines": "Order of the baselines",
    "baselines[]": "Baseline {bot}",
    "baselines[].hidden": "Baseline {bot} hidden",
    "baselines[].grade": "Grade of baseline {bot}",
    "baselines[].at_least": "Least score against baseline {bot}",
    "baselines[].points": "Points of baseline {bot}",
    "baselines[].twin_of": "Twin of baseline {bot}",
    "baselines[].reference": "Built-in bot of baseline {bot}",
}
"""Keys in words, for students, who do not know the file."""

_OTHER: Final = Rule(FINAL, "It holds for the final")
_CERTAIN: Final = Rule(
    IDLE,
    "Grades of the final follow",
    "Grades are decided again from the stored results; `rerun` plays what is still missing",
)
_BOARDS: Final = {
    "public": "Everybody sees all entries, matches and records by name, also those of before",
    "class": "Students of the class see all entries, matches and records by name, also those of "
    "before; nobody else does",
    "anonymous": "Students see other entries without names; what they have seen or saved until "
    "now stays known",
}
_SAID: Final = {"": "none", "true": "yes", "false": "no"}
_SPELLED: Final = {
    "hosting_required": "hosting.required",
    "every_lower": "grading.every_lower",
    "points": "grading.points",
}


def compare(old: CompetitionFile, new: CompetitionFile, stage: Stage) -> list[Change]:
    """Return all differences between two versions of a file, in the order of the file."""
    found = [
        _change(key, key, before, after, new, stage)
        for key, before, after in _differences(old, new)
    ]
    found += _baselines(old, new, stage)
    if any(each.key in ("games", "format", "mirrored", "teams", "rounds") or each.key.endswith("]")
           for each in found):  # fmt: skip
        found = [_counted(each, old, new, stage) for each in found]
    if old.practice.ladder and stage.status == "open" and not same_terms(old, new):
        found = [_ends_practice(each) for each in found]
    return found


def _ends_practice(change: Change) -> Change:
    """Return a change with its effect on the practice ladder."""
    if change.refused or change.key not in {_SPELLED.get(each, each) for each in TERMS}:
        return change
    text = f"{change.effect} The practice ladder ends, as its matches were played otherwise."
    return dataclasses.replace(change, effect=text)


def _differences(old: CompetitionFile, new: CompetitionFile) -> Iterator[tuple[str, Any, Any]]:
    """Yield the values that differ, except those of baselines."""
    for field in dataclasses.fields(CompetitionFile):
        before, after = getattr(old, field.name), getattr(new, field.name)
        if field.name == "baselines":
            continue
        if isinstance(before, Dates | Limits | Practice | LateRule):
            for inner in dataclasses.fields(before):
                pair = getattr(before, inner.name), getattr(after, inner.name)
                if pair[0] != pair[1]:
                    yield f"{field.name}.{inner.name}", *pair
        elif before != after:
            yield _SPELLED.get(field.name, field.name), before, after


def _change(
    key: str, rule_key: str, before: Any, after: Any, new: CompetitionFile, stage: Stage,
    *, public: bool = True,
) -> Change:  # fmt: skip
    rule = RULES.get(rule_key, _OTHER)
    if new.format.parameters.get("until_certain") and rule_key.endswith((".grade", ".at_least")):
        rule = _CERTAIN
    effect = rule.begun if stage.begun and rule.begun else rule.effect
    if key == "board":
        effect = _BOARDS[str(after)]
    if key == "late.final_waits" and not after:
        effect = "The final begins on its date; late submissions and extensions play in a rerun"
    if key == "dates.freeze" and stage.status == "frozen" and after is not None:
        effect = "The competition is open again: versions may change until then"
    if key.startswith("dates.") and after is None:
        effect = "It happens when you say so"
        if key == "dates.freeze" and stage.status == "frozen":
            effect = "It stays frozen: plyhouse competition unfreeze opens it again"
    refused = _refused(rule, effect, stage)
    shown = _shown(before, new.dates.zone), _shown(after, new.dates.zone)
    return Change(key, *shown, f"{effect}.", refused, public)


def _refused(rule: Rule, effect: str, stage: Stage) -> str:
    """Return why a key cannot change at this stage; empty if it can."""
    if rule.until == NEVER:
        return f"it never changes: {effect}"
    if rule.until == DRAFT and stage.status != "draft":
        return f"the competition is {stage.status}: it has opened"
    if rule.until == FINAL and stage.begun:
        return (
            f"the final is {stage.status}, and {_PLAYED}; open a new competition with the "
            "students of this one: plyhouse competition copy"
        )
    if rule.until == IDLE and stage.status in IN_FINAL and rule is _CERTAIN:
        return (
            "the final plays until these grades are certain; wait for its end, or end it: "
            "plyhouse competition finish"
        )
    return ""


def _baselines(old: CompetitionFile, new: CompetitionFile, stage: Stage) -> Iterator[Change]:
    before = {each.bot.lower(): each for each in old.baselines}
    after = {each.bot.lower(): each for each in new.baselines}
    for key in [*before, *(each for each in after if each not in before)]:
        one, other = before.get(key), after.get(key)
        there = one or other
        if there is not None and (one is None or other is None):
            name = f"baselines[{there.bot}]"
            texts = "" if one is None else _words(one), "" if other is None else _words(other)
            made = _change(name, "baselines[]", *texts, new, stage, public=not there.hidden)
            if other is None:
                made = dataclasses.replace(
                    made, effect="It plays no longer, and its grade is gone."
                )
            yield made
        if one is None or other is None:
            continue
        public = not (one.hidden and other.hidden)
        for field in dataclasses.fields(Baseline):
            values = getattr(one, field.name), getattr(other, field.name)
            if field.name == "bot" or values[0] == values[1]:
                continue
            rule = f"baselines[].{field.name}"
            if field.name == "hidden":
                if other.hidden:  # Students must not learn that a baseline becomes hidden.
                    public = False
                else:
                    rule = "baselines[].shown"
            yield _change(
                f"baselines[{other.bot}].{field.name}", rule, *values, new, stage, public=public
            )
    order = [key for key in before if key in after], [key for key in after if key in before]
    if order[0] != order[1]:
        one_order, other_order = (", ".join(after[key].bot for key in each) for each in order)
        hidden = any(each.hidden for each in after.values())
        yield _change(
            "baselines", "baselines[].grade", one_order, other_order, new, stage, public=not hidden
        )


def _counted(change: Change, old: CompetitionFile, new: CompetitionFile, stage: Stage) -> Change:
    """Return a change of the schedule with the match counts before and after."""
    schedule = change.key in (
        "games",
        "format",
        "mirrored",
        "teams",
        "rounds",
    ) or change.key.endswith("]")
    if change.refused or not schedule:
        return change
    more = len(new.baselines) - len(old.baselines)
    before, after = _matches(old, stage.entries), _matches(new, stage.entries + more)
    if before is None or after is None:
        return change
    text = (
        f"{change.effect} With the entries of now it has {after:,} matches instead of {before:,}."
    )
    return dataclasses.replace(change, effect=text)


def _matches(file: CompetitionFile, entries: int) -> int | None:
    """Return the number of matches of all games; None if it is unknown."""
    try:
        counts = [planned_matches(file, game, entries) for game in file.games]
    except FormatError:
        return None
    return None if None in counts else sum(each or 0 for each in counts)


def _words(baseline: Baseline) -> str:
    """Return a baseline as one line of text."""
    parts = [baseline.bot]
    if baseline.reference:
        parts.append(f"reference {baseline.reference}")
    if baseline.twin_of:
        parts.append(f"twin of {baseline.twin_of}")
    if baseline.grade:
        parts.append(f"grade {baseline.grade} at {baseline.at_least:g}")
    if baseline.hidden:
        parts.append("hidden")
    return ", ".join(parts)


def _shown(value: Any, zone: str = "UTC") -> str:
    """Return a value in words."""
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return in_words(value, zone)
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{key} = {_shown(each)}" for key, each in value.items()) or "not set"
    if isinstance(value, FormatTerms):
        given = [f"{key} = {json.dumps(each)}" for key, each in value.parameters.items()]
        return ", ".join([value.name, *given])
    if isinstance(value, float):
        return f"{value:g}"
    return str(getattr(value, "value", value))


def notice(changes: list[Change]) -> str:
    """Return the notice for students; empty if there is nothing for them."""
    lines = []
    for each in changes:
        if not each.public:
            continue
        if each.key == "rules":
            lines.append("The rules have changed. Read them on this page.")
        elif each.key == "board":
            lines.append(f"{label(each.key)}: {each.old} -> {each.new}. {each.effect}")
        else:
            old, new = (_SAID.get(text, text) for text in (each.old, each.new))
            lines.append(f"{label(each.key)}: {old} -> {new}")
    return "\n".join(lines)


def label(key: str) -> str:
    """Return a key in words for students.

    >>> label("baselines[staff/easy].at_least")
    'Least score against baseline staff/easy'
    """
    bot, found = "", key
    if key.startswith("baselines["):
        bot, _, field = key.removeprefix("baselines[").partition("]")
        found = f"baselines[]{field}"
    return _LABELS[found].format(bot=bot)
