"""The first sentences of a report or of a bot's page: the reason for the grade, and what to try.

Pages, the API and commands all get their sentences here.  The functions get only what the reader
may see, so hidden baselines never appear.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from plyhouse.games.values import drop_text, unit_of
from plyhouse.protocol.api.reports import BaselineScore, Summary
from plyhouse.protocol.parts import ending_words
from plyhouse.server.competition_rules.file import CompetitionFile
from plyhouse.server.grades.student_grades import DIGITS, Grade, is_reached
from plyhouse.server.match.terminations import TERMINATIONS
from plyhouse.server.results.scoring import installed_game

Played = tuple[str, str, int]
"""A seat of a match: game, match, seat."""
Reviewed = Callable[[Sequence[Played]], Iterable[tuple[str, str, Mapping[str, Any]]]]
"""Returns the game, the match and the plies (`ReviewedPly` in JSON) of all reviews that exist."""
WITHOUT: Final[Mapping[str, str]] = {
    "disqualified": "The entry was disqualified.",
    "revoked": "The student was taken out of the competition.",
    "nothing entered": "No bot was entered.",
    "nothing played": "No match of the entry has counted yet.",
}
"""The reasons of grades that no result earned (`Grade.grade`)."""


class Loss(NamedTuple):
    """A lost match."""

    game: str
    opponents: tuple[str, ...]
    replay: str


class CostlyPly(NamedTuple):
    """The reviewed ply that cost most."""

    game: str
    ply: int
    played: str
    best: str
    cost: str
    """The loss of value, with its unit."""
    replay: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """The results from which advice follows, as the reader may know them."""

    matches: int = 0
    forfeits: Mapping[str, int] = field(default_factory=dict)
    """Number of forfeits by kind."""
    forfeited: Mapping[str, str] = field(default_factory=dict)
    """The path of an example, by kind."""
    games: Mapping[str, float] = field(default_factory=dict)
    """The mean score in each game."""
    losses: Sequence[Loss] = ()
    """The latest first."""
    costly: CostlyPly | None = None


class HiddenBaseline(NamedTuple):
    """A baseline that the reader may not know, of which no sentence has more than this."""

    grade: str
    reached: bool


class Goals(NamedTuple):
    """The baselines next to a grade."""

    reached: BaselineScore | None
    """The one whose grade it is; None without a grade, and if it is hidden."""
    missed: BaselineScore | None
    """The next one to reach; None if all that the reader may know are reached."""
    hidden: bool = False
    """True if one above the grade that was missed is hidden."""


def explained(
    grade: Grade, met: Sequence[BaselineScore], file: CompetitionFile, shown: Iterable[str]
) -> tuple[str, BaselineScore | None]:
    """Return the reason for a grade, empty without grades, and the baseline that was missed.

    ``met`` are the baselines that the student has met, ``shown`` the names of all entries that the
    reader may know.
    """
    if not (file.graded or grade.grade):
        return "", None
    known = {name.lower() for name in shown}
    scores = {each.name.lower(): each for each in met}
    baselines: list[BaselineScore | HiddenBaseline] = []
    for number, each in enumerate(file.originals):
        name = each.bot.lower()
        if name in known:
            baselines.append(scores.get(name) or _not_met(each.bot, each.grade, each.at_least))
        else:
            counted = grade.against[number] if grade.against else None
            baselines.append(HiddenBaseline(each.grade, is_reached(counted, each.at_least)))
    goals = goals_of(grade.grade, baselines)
    return reason_for(grade.grade, goals, every_lower=file.every_lower), goals.missed


def _not_met(name: str, grade: str, at_least: float) -> BaselineScore:
    """Return the score against a baseline that no entry of the student has met."""
    return BaselineScore(
        *(name, 0, 0, 0, 0, 0.0, None, None, 0.0, 1.0), grade, at_least, reached=False
    )


def goals_of(grade: str, baselines: Sequence[BaselineScore | HiddenBaseline]) -> Goals:
    """Return the baseline of a grade, and the next one above it that was missed.

    ``baselines`` go from the easiest to the hardest, with those that were not met.
    """
    graded = [each for each in baselines if each.grade]
    own = [at for at, each in enumerate(graded) if each.reached and each.grade == grade]
    above = graded[own[-1] + 1 :] if own else graded
    missed = [each for each in above if not (each.reached or each.grade == grade)]
    known = [each for each in missed if isinstance(each, BaselineScore)]
    reached = graded[own[-1]] if own else None
    return Goals(
        reached if isinstance(reached, BaselineScore) else None,
        known[0] if known else None,
        hidden=len(known) < len(missed),
    )


def reason_for(grade: str, goals: Goals, *, every_lower: bool) -> str:
    """Return the reason for a grade as a sentence."""
    if grade in WITHOUT:
        return WITHOUT[grade]
    parts = []
    if goals.reached is not None:
        parts.append(f"reached {grade} {_distance(goals.reached)}")
    elif grade:
        parts.append(f"reached {grade} against a baseline that stays hidden")
    if goals.missed is not None:
        parts.append(f"missed {goals.missed.grade} {_distance(goals.missed)}")
    elif not grade:
        lower = ", which every better grade needs" if every_lower else ""
        hidden = f"missed a baseline that stays hidden{lower}"
        parts.append(hidden if goals.hidden else "no baseline gives a grade")
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."


def reason_of_score(
    score: float | None,
    matches: int,
    bounds: tuple[float, float] | None = None,
    place: int | None = None,
) -> str:
    """Return a mean score as a sentence, for results without grades.

    >>> reason_of_score(0.625, 8, (0.31, 0.86))
    'A mean score of 0.625 over 8 matches (95 % from 0.31 to 0.86).'
    >>> reason_of_score(1.0, 1, place=1)
    'A mean score of 1.000 over 1 match: place 1.'
    """
    if score is None or not matches:
        return WITHOUT["nothing played"]
    text = f"A mean score of {score:.3f} over {matches} match{'' if matches == 1 else 'es'}"
    if bounds is not None:
        text += f" (95 % from {bounds[0]:.2f} to {bounds[1]:.2f})"
    return f"{text}." if place is None else f"{text}: place {place}."


def _distance(goal: BaselineScore) -> str:
    """Return how far a score is from its threshold, in words."""
    if goal.counted is None and not goal.matches:
        return f"without a match against {goal.name}"
    score = goal.score if goal.counted is None else goal.counted
    margin = round(abs(score - goal.at_least), DIGITS)
    text = f"by {margin:.3f}" if margin else "exactly"
    text += f": {score:.3f} against {goal.name}"
    if f"{goal.score:.3f}" == f"{score:.3f}" and goal.low is not None and goal.high is not None:
        return f"{text} (95 % from {goal.low:.2f} to {goal.high:.2f})"
    return text


def advice(evidence: Evidence, missed: BaselineScore | None = None) -> tuple[str, str]:
    """Return one thing to try next, and the path of a match that shows it.

    Forfeits come first, then the baseline that was just missed, then the game with the lowest
    score, then the reviewed ply that cost most, then the latest loss.
    """
    if evidence.forfeits:
        kind, many = max(evidence.forfeits.items(), key=lambda each: each[1])
        of = f"{many} of {evidence.matches} matches" if evidence.matches > 1 else "The match"
        verb = "was" if many == 1 else "were"
        text = f"{of} {verb} lost by {ending_words(kind)}: {TERMINATIONS[kind].remedy}."
        return text, evidence.forfeited.get(kind, "")
    if missed is not None:
        replay = _latest(evidence, opponent=missed.name)
        here = ": look at the latest loss to it" if replay else ""
        return f"{missed.name} is the next baseline to reach{here}.", replay
    games = evidence.games
    low = min(games, key=lambda game: (games[game], game), default="")
    if len(games) > 1 and games[low] < max(games.values()):
        replay = _latest(evidence, game=low)
        here = ": look at the latest loss there" if replay else ""
        return f"{_title(low)} has the lowest score, {games[low]:.3f}{here}.", replay
    if (ply := evidence.costly) is not None:
        text = f"Of the reviewed plies, ply {ply.ply + 1} of a match of {_title(ply.game)} cost"
        return f"{text} most, {ply.cost}: {ply.played} instead of {ply.best}.", ply.replay
    if evidence.losses:
        return "Review the latest loss to find the ply that lost it.", evidence.losses[0].replay
    return ("Nothing was lost: look for stronger opponents.", "") if evidence.matches else ("", "")


def match_path(match: str, ply: int | None = None) -> str:
    """Return the path of a match's page, without the server's address."""
    return f"/matches/{match}" + ("" if ply is None else f"?ply={ply}")


def costly(rows: Iterable[tuple[str, str, Mapping[str, Any]]]) -> CostlyPly | None:
    """Return the reviewed ply that cost most, in shares of the range of each game's returns."""
    most, found = 0.0, None
    for spec, match, row in rows:
        game = installed_game(spec)
        if game is None or not (row["action"] and row["lost"]):
            continue
        low, high = game.return_bounds
        if row["drop"] / (high - low) > most:
            most = row["drop"] / (high - low)
            cost = drop_text(row["drop"], unit_of(game))
            path = match_path(match, row["ply"])
            found = CostlyPly(spec, row["ply"], row["action"], row["best_action"], cost, path)
    return found


def summary(why: str, evidence: Evidence, missed: BaselineScore | None = None) -> Summary:
    """Return the sentences as the API sends them."""
    return Summary(why, *advice(evidence, missed))


def _latest(evidence: Evidence, *, opponent: str = "", game: str = "") -> str:
    """Return the path of the latest loss to an opponent, or in a game; empty if there is none."""
    for each in evidence.losses:
        if (not opponent or opponent in each.opponents) and (not game or each.game == game):
            return each.replay
    return ""


def _title(spec: str) -> str:
    """Return the title of a game, with its parameters; its spec if it is not installed."""
    game = installed_game(spec)
    if game is None:
        return spec
    return (game.info.title or game.info.name) + game.spec.removeprefix(game.info.name)
