"""The board of a final, as one viewer sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from plyhouse.games.base import Scoring
from plyhouse.protocol.api.standings import Twin
from plyhouse.server.competition_rules.file import CompetitionFile
from plyhouse.server.competition_rules.format_registry import BY_SCORE
from plyhouse.server.grades.board_statistics import (
    BoardLine,
    Crossing,
    Statistics,
    duplicate_note,
    lines,
    twins,
)
from plyhouse.server.grades.final_results import Results
from plyhouse.server.grades.game_tables import Decider, GameFinal, deciding
from plyhouse.server.grades.missing_games import left_words, missing_words
from plyhouse.server.grades.standings import Entrant, Standing, standings, with_places
from plyhouse.server.grades.visible_entries import Viewer, Visibility, visible_entries
from plyhouse.server.match.presence import PRIVATE
from plyhouse.storage.competition_rows import CompetitionRow


@dataclass(frozen=True, slots=True)
class Board:
    """A board as one viewer may see it."""

    row: CompetitionRow
    file: CompetitionFile
    lines: tuple[BoardLine, ...]
    notes: tuple[str, ...]
    statistics: Statistics
    crosstab: dict[tuple[str, str], Crossing]
    """Scores between the entries of the lines; empty where they have no names."""
    duplicates: tuple[Twin, ...] = ()
    """The twins among the lines."""
    scoring: Mapping[str, Scoring] = field(default_factory=dict)
    """The scoring of matches, by game."""
    grades: Mapping[str, str] = field(default_factory=dict)
    """The grades that the viewer may see, by entry: all for staff, a student's own otherwise."""
    decided_by: str = ""
    """The name of the column that decides the places; empty before the final."""
    deciders: tuple[Decider, ...] = ()
    """The deciding values of the lines, in their order."""


def left_out_notes(found: Results, shown: Sequence[BoardLine]) -> list[str]:
    """Return which games the named entries left, and what that costs."""
    notes: list[str] = []
    for line in (each.standing for each in shown):
        lacks = [game for game in found.file.games if line.counts.get(game) == 0]
        if lacks:
            notes.append(f"{line.entrant.name} is {missing_words(lacks, len(found.file.games))}.")
        if line.lost:
            notes.append(f"{line.entrant.name} {left_words(line.lost, line.counts)}.")
    return notes


def standings_for(found: Results, eyes: Visibility, finals: Sequence[GameFinal]) -> list[Standing]:
    """Return the standings by place, without baselines hidden from the viewer."""
    shown: Sequence[Standing] = found.standings
    if eyes.hidden:
        kept = [each.entrant for each in shown if each.entrant.bot_id not in eyes.hidden]
        shown = standings(kept, found.results, by_opponent=found.rules.by_opponent, left=found.left)
    return with_places(shown, [each.table for each in finals], found.file.format.name)


def rules_of_places(finals: Sequence[GameFinal], *, secret: bool) -> list[str]:
    """Return the rule that decides the places, and the seed of the lot.

    ``secret`` leaves out the seed.  Anyone with the seed and the names of the class could repeat
    the lot, and the order of the seeds reveals who plays whom.
    """
    if not finals:
        return []
    [rule] = {each.decided_by for each in finals}
    if len(finals) == 1:
        notes = [f"Places are decided by {rule}."]
    elif finals[0].format in BY_SCORE:
        notes = ["Places are decided by the mean score over the games."]
    else:
        notes = [f"Places are decided by the mean place over the games; in a game by {rule}."]
    notes += [
        f"Entries without a rating in {each.game} were seeded by lot with the seed {each.lot}."
        for each in finals
        if each.lot and not secret
    ]
    return notes


def board_for(found: Results, viewer: Viewer, finals: Sequence[GameFinal]) -> Board:
    """Return the part of the results that one viewer sees."""
    eyes = visible_entries(found.file, viewer, found.entrants)
    shown = standings_for(found, eyes, finals)
    inside = set(eyes.lines([each.entrant.bot_id for each in shown]))
    inner = [
        line
        for line in lines(shown, found.statistics, any_time=found.file.until_certain)
        if line.standing.entrant.bot_id in inside
    ]
    seen = [each if eyes.named(each.standing.entrant.bot_id) else _masked(each) for each in inner]
    column = deciding(finals, shown)
    names = {line.standing.entrant.name for line in seen}
    secret = {each.name for each in found.entrants} - names
    table = {key: each for key, each in found.crosstab.items() if names.issuperset(key)}
    pairs = tuple(twins([each.standing for each in seen], found.statistics))
    return Board(
        found.row,
        found.file,
        tuple(seen),
        (*found.statistics.shown_notes(secret), *map(duplicate_note, pairs)),
        found.statistics,
        table,
        pairs,
        found.rules.scoring,
        decided_by=column.name,
        deciders=tuple(
            [column.values.get(each.standing.entrant.bot_id, Decider()) for each in inner]
        ),
    )


def _masked(line: BoardLine) -> BoardLine:
    """Return the results of a line, without names, versions, forfeits, shares and returns."""
    of = line.standing
    nobody = Entrant(0, PRIVATE, PRIVATE, of.entrant.status)
    masked = Standing(
        *(of.rank, nobody, of.score, of.matches, of.wins, of.draws, of.losses),
        forfeits=0,
        games=of.games,
        counts=of.counts,
        lost=of.lost,
        place=of.place,
    )
    estimate = line.estimate and line.estimate._replace(name=PRIVATE)
    return BoardLine(masked, estimate, line.ahead, None, {})
