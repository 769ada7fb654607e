"""The results of a final, computed from the seats of its matches.

Luck and repeated games are computed from the events of matches.  A match whose events do not fit
the game any more has no luck.
"""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from plyhouse.games.errors import GameError
from plyhouse.games.registry import get_game
from plyhouse.server.competition_rules.file import CompetitionFile
from plyhouse.server.competition_rules.sides import sides_in
from plyhouse.server.grades.board_statistics import Crossing, MatchOutcome, Statistics, crosstab
from plyhouse.server.grades.final_rules import (
    FinalRules,
)
from plyhouse.server.grades.standings import Entrant, SeatResult, Standing, standings
from plyhouse.server.match.terminations import FORFEITS
from plyhouse.server.results.luck import Judge, judge_of, match_luck
from plyhouse.server.results.suspicion import PlayedLine, repeat_weights
from plyhouse.storage.competition_results import FinalSeat, State
from plyhouse.storage.competition_rows import CompetitionEntry, CompetitionRow

MOST_VALUES: Final = 20_000
"""Largest number of positions valued for the luck of one match: about 0.15 s in backgammon, and
most of such a match.  The luck of later rolls stays in the result."""


@dataclass(frozen=True, slots=True)
class Results:
    """All matches of a final so far, and the results computed from them."""

    row: CompetitionRow
    file: CompetitionFile
    entrants: tuple[Entrant, ...]
    seats: tuple[FinalSeat, ...]
    """The seats of every finished match, void ones included, in the order of their ends."""
    outcomes: tuple[MatchOutcome, ...]
    """Outcomes of the matches that count."""
    results: tuple[SeatResult, ...]
    standings: tuple[Standing, ...]
    statistics: Statistics
    crosstab: dict[tuple[str, str], Crossing]
    state: State
    rules: FinalRules
    left: Mapping[str, frozenset[int]]
    """The entries that left games, if that counts; see `missing_games`."""


def counted_outcomes(
    entries: Iterable[CompetitionEntry], seats: Sequence[FinalSeat]
) -> list[MatchOutcome]:
    """Return the matches that count, in the order of their ends."""
    names = {each.bot_id: each.name for each in entries}
    made = [
        MatchOutcome(
            rows[0].match,
            rows[0].game,
            rows[0].pairing,
            tuple(names[each.bot_id] for each in rows),
            tuple(float(each.score or 0.0) for each in rows),
            tuple(float(each.returned or 0.0) for each in rows),
        )
        for rows in _by_match(seats)
        if all(
            each.score is not None and each.returned is not None and each.bot_id in names
            for each in rows
        )
    ]
    for game in {each.game for each in made}:
        judge_in(game)  # A judge solves a small game completely, so create it here, in a thread.
    return made


def _by_match(seats: Sequence[FinalSeat]) -> Iterable[list[FinalSeat]]:
    matches: dict[str, list[FinalSeat]] = defaultdict(list)
    for each in seats:
        matches[each.match].append(each)
    return matches.values()


def versions_of(seats: Sequence[FinalSeat]) -> dict[str, tuple[int, ...]]:
    """Return the versions in the seats of each match."""
    return {rows[0].match: tuple(row.version_id for row in rows) for rows in _by_match(seats)}


@functools.lru_cache(maxsize=64)
def judge_in(game: str) -> Judge | None:
    """Return the judge of luck in a game; None if this server has none."""
    try:
        return judge_of(get_game(game))
    except GameError:
        return None


def repeatable_matches(
    outcomes: Sequence[MatchOutcome], seats: Sequence[FinalSeat]
) -> list[MatchOutcome]:
    """Return the matches from which repeats and variation can be seen.

    These are matches of versions that met twice in the same seats of a game without chance.  Only
    they can be repeats, and only the actions of these versions show whether the versions vary.
    """
    versions = versions_of(seats)
    met = Counter((each.game, versions[each.match]) for each in outcomes)
    twice = {(game, version) for (game, who), count in met.items() if count > 1 for version in who}
    if not twice:
        return []
    still = {game for game, _ in twice if _without_chance(game)}
    return [
        each
        for each in outcomes
        if each.game in still
        and any((each.game, version) in twice for version in versions[each.match])
    ]


def _without_chance(game: str) -> bool:
    try:
        return get_game(game).chance_kind.value == "deterministic"
    except GameError:
        return False


def played_line(
    outcome: MatchOutcome, versions: tuple[int, ...], events: Sequence[tuple[str, int, str]]
) -> PlayedLine:
    """Return the course of a match, to find repeats of it."""
    return PlayedLine(
        outcome.game,
        versions,
        tuple((seat, text) for kind, seat, text in events if kind == "action"),
        (outcome.returns,),
        any(kind == "chance" for kind, _, _ in events),
    )


def luck_in(
    outcomes: Sequence[MatchOutcome],
    read: dict[str, list[tuple[str, int, str]]],
    clock: Callable[[], float],
    end: float,
) -> dict[str, tuple[float, ...] | None]:
    """Compute the luck of at least one match, and of more until ``end``.

    The luck is None where the events do not fit the game (any more).
    """
    found: dict[str, tuple[float, ...] | None] = {}
    for each in outcomes:
        if found and clock() >= end:
            break
        game = get_game(each.game)
        judge = judge_in(each.game)
        try:
            found[each.match] = (
                None if judge is None else match_luck(game, read[each.match], judge, MOST_VALUES)
            )
        except (GameError, KeyError):
            found[each.match] = None
    return found


def compute_results(
    row: CompetitionRow,
    file: CompetitionFile,
    entries: Sequence[CompetitionEntry],
    seats: Sequence[FinalSeat],
    counted: Sequence[FinalSeat],
    outcomes: Sequence[MatchOutcome],
    luck: Mapping[str, tuple[float, ...] | None],
    lines: Mapping[str, PlayedLine],
    state: State,
    extra: Sequence[str],
    rules: FinalRules,
    left: Mapping[str, frozenset[int]],
) -> Results:
    """Compute all results of the matches; this can take long.

    ``luck`` and ``lines`` have luck and courses by match, as far as they are known.
    """
    # This imports numpy, which only competitions need.
    from plyhouse.server.grades.board_fits import compute_statistics

    outcomes = [each._replace(luck=luck.get(each.match)) for each in outcomes]
    again = [each.match for each in outcomes if each.match in lines]
    weights = repeat_weights([lines[match] for match in again])
    repeats = {match for match, weight in zip(again, weights, strict=True) if weight == 0.0}
    results = tuple(
        SeatResult(
            each.match,
            each.game,
            each.bot_id,
            each.score,
            each.result,
            each.termination if each.culprit == each.seat and each.termination in FORFEITS else "",
            each.pairing,
        )
        for each in counted
        if each.score is not None and each.result is not None
    )
    entrants = entrants_of(entries, file)
    return Results(
        row,
        file,
        entrants,
        tuple(seats),
        tuple(outcomes),
        results,
        tuple(standings(entrants, results, by_opponent=rules.by_opponent, left=left)),
        compute_statistics(outcomes, repeats, extra, rules.scoring),
        crosstab(outcomes, any_time=file.until_certain),
        state,
        rules,
        left,
    )


def entries_that_left(
    row: CompetitionRow,
    file: CompetitionFile,
    entries: Sequence[CompetitionEntry],
    counted: Sequence[FinalSeat],
    withdrawn: Iterable[tuple[str, int]],
) -> dict[str, frozenset[int]]:
    """Return the entries that left each game, by captain.

    These are the withdrawn ones, and in a game that is over also those without a finished match.
    A void match is none of their doing, so that a game with nothing else is not left.  A
    disqualified entry left nothing: it was kept from playing, and has no rank and no grade to lose.
    """
    sides = sides_in(file, entries)
    inside = {each.bot_id for each in sides.captains(entries)}
    inside -= {sides.captain(each.bot_id) for each in entries if each.status == "disqualified"}
    out = {sides.captain(each.bot_id) for each in entries if each.status == "withdrawn"}
    gone: dict[str, set[int]] = {each.game: set(out) for each in row.games}
    for game, bot in withdrawn:
        gone[game].add(sides.captain(bot))
    for each in row.games:
        if each.status == "finished":
            seen = {seat.bot_id for seat in counted if seat.game == each.game}
            gone[each.game] |= inside - seen
    return {game: frozenset(bots & inside) for game, bots in gone.items()}


def entrants_of(entries: Sequence[CompetitionEntry], file: CompetitionFile) -> tuple[Entrant, ...]:
    """Return the entries of a competition in the form that standings need.

    With teams, an entry is a side, under the name of its captain.
    """
    sides = sides_in(file, entries)
    by_id = {each.bot_id: each for each in entries}
    names = {each.name.lower(): each.name for each in entries}
    twins = {twin: names.get(entry, "") for twin, entry in file.twins.items()}
    return tuple(
        Entrant(
            bot_id=each.bot_id,
            name=each.name,
            student=each.player,
            status=_status([by_id[bot].status for bot in sides.members(each.bot_id)]),
            baseline=each.baseline,
            version=each.version,
            digest=each.digest,
            twin_of=twins.get(each.name.lower(), "") if each.baseline else "",
            partners=tuple((bot, by_id[bot].name) for bot in sides.members(each.bot_id)[1:]),
        )
        for each in sides.captains(entries)
    )


def _status(members: Sequence[str]) -> str:
    """Return the status of a side: a bot that is out takes its partners with it."""
    return min(members, key=("disqualified", "withdrawn", "active").index)
