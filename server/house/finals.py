"""The final of a competition with a class: how it begins, and how its format sees it.

A final is one competition for each game, which `plyhouse.server.house.competitions` plays.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from plyhouse.games.registry import get_game
from plyhouse.server.competition.evidence import PRIVATE
from plyhouse.server.competition.facts import FormatError, Line, Round, Row, State
from plyhouse.server.competition.file import CompetitionFile, read_competition
from plyhouse.server.competition.gauntlet import Gauntlet
from plyhouse.server.competition.ladder import Ladder
from plyhouse.server.competition.preview import planned_matches
from plyhouse.server.competition.progress import field_of, look
from plyhouse.server.competition.tables import placed
from plyhouse.server.house.boards import AHEAD, Boards, Viewer
from plyhouse.server.house.competitions import MAX_MATCHES
from plyhouse.server.house.matches import Terms
from plyhouse.server.house.running import (
    PairingId,
    Stored,
    graded_of,
    progress_of,
    run_of,
    way_of,
)
from plyhouse.server.match.clock import TimeControl
from plyhouse.server.results.ratings import PairScore, fit
from plyhouse.server.results.sequential import BandDecision
from plyhouse.storage.class_rows import ClassCompetition, ClassEntry
from plyhouse.storage.errors import ClassRefusal, Unknown
from plyhouse.storage.rows import CompetitionRow, EntryRow, Identity, PlayedSeat, new_id
from plyhouse.storage.store import Store

__all__ = ["Certainty", "GameFinal", "certainty", "check", "finals_of", "parts", "planned"]


@dataclass(frozen=True, slots=True)
class Certainty:
    """How sure it is that an entry reaches, or does not reach, what a baseline's grade needs."""

    entry: int
    baseline: int
    decision: BandDecision
    """Band 1 has the grade."""

    @property
    def reached(self) -> bool | None:
        """Whether the threshold is reached; None while that is open."""
        return None if self.decision.band is None else bool(self.decision.band)


@dataclass(frozen=True, slots=True)
class GameFinal:
    """A game of a final as its format sees it: the table and the rounds."""

    game: str
    competition_id: str
    format: str
    tie_breaks: tuple[str, ...]
    """What decides the table where points are equal, in the order of `Row.tie_breaks`."""
    table: tuple[Row[int], ...]
    rounds: tuple[Round[int], ...]
    names: dict[int, str]
    """What the bots are called, as far as whoever asks may know."""
    pairings: dict[str, str]
    """Ids of the pairings that were begun, by the keys of the lines."""
    certainty: tuple[Certainty, ...] = ()
    """For a gauntlet that goes on until grades are certain."""


def planned(file: CompetitionFile, game: str, entries: int) -> int:
    """Matches of a game with so many entries; 0 where that is not known, or nobody could play."""
    try:
        return planned_matches(file, game, entries) or 0
    except FormatError:
        return 0


def check(row: ClassCompetition, file: CompetitionFile, entered: Sequence[ClassEntry]) -> None:
    """Raise `ClassRefusal` if these entries cannot play the final."""
    if len(entered) < 2:
        raise ClassRefusal(
            "competition/too_few",
            f"{row.name!r} has {len(entered)} entries, baselines included: nobody could be "
            "compared",
        )
    for game in row.games:
        try:
            matches = planned_matches(file, game.game, len(entered)) or 0
        except FormatError as error:
            raise ClassRefusal(
                "competition/too_few",
                f"{row.name!r} has {len(entered)} entries, baselines included: {error}",
            ) from error
        if matches > MAX_MATCHES:
            raise ClassRefusal(
                "competition/too_long",
                f"{len(entered)} entries make {matches:,} matches of {game.game} in this format; "
                f"{MAX_MATCHES:,} at most: open it with fewer rounds",
            )


async def parts(
    row: ClassCompetition,
    file: CompetitionFile,
    entered: Sequence[ClassEntry],
    store: Store,
    now: int,
) -> list[CompetitionRow]:
    """What is played in the final: one competition for each game.

    Entries are seeded by their place on the leaderboard of the game at this moment.
    """
    name, parameters = file.terms
    needed = {each.bot.lower(): each.at_least for each in file.baselines if each.grade}
    thresholds = {
        str(each.bot_id): needed[each.name.lower()]
        for each in entered
        if each.baseline and each.name.lower() in needed
    }
    made = []
    for game in row.games:
        data = {
            "class": row.id,
            "at_a_time": file.limits.matches_at_a_time,
            "only_hosted": file.hosting_required,
            "parameters": parameters,
            "baselines": [each.bot_id for each in entered if each.baseline],
            "thresholds": thresholds,
            "seeds": await _seeds(store, game.game, entered),
        }
        made.append(
            CompetitionRow(
                id=new_id(),
                name=f"{row.name}: {game.game}"[:100],
                game=game.game,
                time_control=str(file.time_control),
                format=name,
                rounds=file.laps,
                mirrored=file.mirrored,
                rated=name == "ladder",  # its pairings need ratings
                created_ms=now,
                status="running",
                started_ms=now,
                data=json.dumps(data),
            )
        )
    return made


async def _seeds(store: Store, game: str, entered: Sequence[ClassEntry]) -> list[int]:
    """The bots that have a rating with the version that plays, the best first."""
    versions = {each.version_id: each.bot_id for each in entered}
    board = await store.leaderboard(game, 1_000_000, every_version=True)
    rated = [each for each in board if each.rating is not None and each.version_id in versions]
    rated.sort(key=lambda each: (-(each.rating or 0.0), each.version_id))
    return [versions[each.version_id] for each in rated]


# ------------------------------------------------------------------------------- looking


async def finals_of(
    store: Store, boards: Boards, reference: str, identity: Identity | None
) -> list[GameFinal]:
    """The games of a final that has begun, worked out from what is stored.

    Organisers see everything; others what the board lets them see, and no hidden baselines.  On an
    anonymous board a student sees its own pairings, and of the table its own lines, three ahead
    and the baselines.  Raises `ProtocolError` for who may see nothing, and `Unknown`.
    """
    row = await store.classes.find(reference)
    file = read_competition(row.file)
    viewer = await boards.viewer(row, identity)
    boards.admit(row, file, viewer, identity)
    entered = await store.classes.entries(row.id)
    may_see = _sight(file, viewer, entered)
    return [may_see(each) for each in await _all(store, row)]


async def certainty(store: Store, row: ClassCompetition) -> list[Certainty]:
    """How sure the grades of a final are, for organisers; nothing unless it goes on until then."""
    if row.format != "gauntlet":
        return []
    return [each for final in await _all(store, row) for each in final.certainty]


async def _all(store: Store, row: ClassCompetition) -> list[GameFinal]:
    found = []
    for game in row.games:
        if game.competition_id is None:
            continue
        try:
            part = await store.competition(game.competition_id)
        except Unknown:  # deleted by itself
            continue
        entries = await store.entries(part.id)
        seats = await store.played_seats(part.id)
        found.append(await asyncio.to_thread(_worked_out, part, entries, seats))
    return found


def _worked_out(
    row: CompetitionRow, entries: Sequence[EntryRow], seats: Iterable[PlayedSeat]
) -> GameFinal:
    """What a format says of stored facts; this takes its time."""
    game = get_game(row.game)
    terms = Terms(game, TimeControl.parse(row.time_control), row.rated, row.mirrored)
    names = {each.bot_id: f"{each.player}/{each.bot}" for each in entries}
    way = way_of(row, terms)
    versions = {each.bot_id: each.version_id for each in entries if each.version_id is not None}
    stored = Stored.read(row, seats, versions)
    if isinstance(way, Ladder):
        return _ladder(row, entries, stored, names)
    if isinstance(way, Gauntlet) and way.until_certain:
        return _graded(row, way, entries, stored, names)
    facts = progress_of(row, way, entries, stored)
    facts.accept(look(way, facts.facts(), facts.pool))
    known = facts.field, facts.finished, facts.begun
    pairings = {key: str(PairingId(row.id, key, run_of(row))) for key in facts.begun}
    return GameFinal(
        *(row.game, row.id, way.name, way.tie_breaks),
        tuple(way.table(*known)),
        tuple(way.rounds(*known)),
        names,
        {**pairings, **facts.reused},
    )


def _graded(
    row: CompetitionRow,
    way: Gauntlet,
    entries: Sequence[EntryRow],
    stored: Stored,
    names: dict[int, str],
) -> GameFinal:
    """A gauntlet until grades are certain: its rounds are what was begun."""
    work = graded_of(row, way, entries, stored)
    known = work.field, work.finished, work.begun
    pairings = {key: str(PairingId(row.id, key, run_of(row))) for key in stored.begun}
    return GameFinal(
        *(row.game, row.id, way.name, way.tie_breaks),
        tuple(way.table(*known)),
        tuple(way.rounds(*known)),
        names,
        {**pairings, **work.reused},
        tuple(Certainty(*pair, decision) for pair, decision in work.decisions().items()),
    )


def _ladder(
    row: CompetitionRow, entries: Sequence[EntryRow], stored: Stored, names: dict[int, str]
) -> GameFinal:
    """A ladder: the points of its table are ratings fitted to its pairings, in Elo."""
    results = [each for each in stored.finished.values() if not each.void]
    rated = fit(
        PairScore(
            *(each.entries[0], each.entries[1], each.matches, each.scores[0]),
            each.scores[0] ** 2 / each.matches,
        )
        for each in results
    )
    played = Counter(bot for each in results for bot in each.entries)
    lines = []
    for key in sorted(stored.begun, key=lambda key: int(key[1:])):
        outcome, pair = stored.finished.get(key), stored.begun[key]
        state = State.PLAYING if outcome is None else State.FINISHED
        state = State.VOID if outcome is not None and outcome.void else state
        lines.append(Line(key, 0, pair, state, outcome))
    rows = [
        Row(
            *(each.bot_id, None, rated[each.bot_id].elo if each.bot_id in rated else 0.0),
            *(played[each.bot_id], (), each.status == "withdrawn"),
        )
        for each in entries
    ]
    field = field_of([each.bot_id for each in entries])
    table = placed(rows, field, lambda line: (float(line.played > 0), line.points))
    return GameFinal(
        *(row.game, row.id, "ladder", (), tuple(table)),
        (Round(0, "Ladder", tuple(lines)),) if lines else (),
        names,
        stored.ids,
    )


def _sight(
    file: CompetitionFile, viewer: Viewer, entered: Sequence[ClassEntry]
) -> Callable[[GameFinal], GameFinal]:
    """What somebody may see of a final."""
    if viewer.organiser:
        return lambda final: final
    secret = {each.bot.lower() for each in file.baselines if each.hidden}
    hidden = {each.bot_id for each in entered if each.name.lower() in secret}
    if file.board != "anonymous":
        return lambda final: _without(final, hidden)
    own = {each.bot_id for each in entered if each.player == viewer.student}
    known = own | {each.bot_id for each in entered if each.baseline} - hidden
    return lambda final: _anonymous(_without(final, hidden), own, known)


def _without(final: GameFinal, hidden: set[int]) -> GameFinal:
    """Without the names of some, and without their lines in the table."""
    return replace(
        final,
        table=tuple(line for line in final.table if line.entry not in hidden),
        certainty=tuple(
            each for each in final.certainty if hidden.isdisjoint((each.entry, each.baseline))
        ),
        names={bot: PRIVATE if bot in hidden else name for bot, name in final.names.items()},
    )


def _anonymous(final: GameFinal, own: set[int], known: set[int]) -> GameFinal:
    """Own pairings; own lines of the table, some ahead of the best of them, and baselines."""
    first = next((n for n, line in enumerate(final.table) if line.entry in own), 0)
    others = [n for n in range(first) if final.table[n].entry not in known][-AHEAD:]

    def mine(line: Line[int]) -> bool:
        return not own.isdisjoint(line.players)

    return replace(
        final,
        table=tuple(
            line for n, line in enumerate(final.table) if line.entry in known or n in others
        ),
        certainty=tuple(each for each in final.certainty if each.entry in own),
        rounds=tuple(replace(each, lines=tuple(filter(mine, each.lines))) for each in final.rounds),
        names={bot: name if bot in known else PRIVATE for bot, name in final.names.items()},
    )
