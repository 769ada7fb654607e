"""The start of a final with a class, and its view for one viewer.

A final is one competition for each game, which `plyhouse.server.contests.competitions` plays.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Collection, Sequence
from dataclasses import replace

from plyhouse.games.registry import get_game
from plyhouse.server.competition.facts import FormatError
from plyhouse.server.competition.file import CompetitionFile, read_competition
from plyhouse.server.competition.game_scoring import grading_settings
from plyhouse.server.competition.ladder import Ladder
from plyhouse.server.competition.lots import drawn
from plyhouse.server.competition.preview import planned_matches
from plyhouse.server.competition.tables import places_without
from plyhouse.server.contests.board_visibility import Visibility, eyes_of
from plyhouse.server.contests.boards import Boards, entrants_of
from plyhouse.server.contests.competitions import MAX_MATCHES
from plyhouse.server.contests.game_finals import Certainty, GameFinal
from plyhouse.server.results.scoring import default_scoring
from plyhouse.storage import class_finals, class_sql
from plyhouse.storage.class_rows import ClassCompetition, ClassEntry
from plyhouse.storage.errors import ClassRefusal
from plyhouse.storage.rows import CompetitionRow, Identity, new_id
from plyhouse.storage.store import Store

__all__ = ["certainty", "check", "finals_of", "parts", "planned"]


def planned(file: CompetitionFile, game: str, entries: int) -> int:
    """Return the matches of a game for this number of entries.

    Returns 0 where the number is not known, or if nobody could play.
    """
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
    if all(each.baseline for each in entered):
        raise ClassRefusal(
            "competition/too_few",
            f"no bot of a student is entered in {row.name!r}, and the final would be over before "
            "one comes; `plyhouse competition rehearse` plays one without students",
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
    *,
    rehearsal: bool = False,
    practice: bool = False,
) -> list[CompetitionRow]:
    """Return the competitions of a final, one for each game.

    ``practice`` makes a practice ladder, which counts for no leaderboard.

    Entries are seeded by their current place on the leaderboard of the game.  If the format uses
    seeds, entries without a rating follow by lot.
    """
    name, parameters = file.terms
    needed = {each.bot.lower(): each.at_least for each in file.baselines if each.grade}
    thresholds = {
        str(each.bot_id): needed[each.name.lower()]
        for each in entered
        if each.baseline and each.name.lower() in needed
    }
    twins = [each.bot_id for each in entered if each.baseline and each.name.lower() in file.twins]
    made = []
    for game in row.games:
        scoring = file.scored_by(game.game)
        data = {
            "class": row.id,
            "at_a_time": file.limits.matches_at_a_time,
            "only_hosted": file.hosting_required,
            "parameters": parameters,
            "baselines": [each.bot_id for each in entered if each.baseline],
            "twins": twins,
            "thresholds": thresholds,
            "rehearsal": rehearsal,
            "practice": practice,
            "scoring": scoring.value,
            "grading": grading_settings(file, entered),
            **await _seeds(store, game.game, entered, file),
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
                # Everybody sees leaderboards, and each has one scoring.  So a match counts there
                # only if everybody may see it and it has the same scoring.
                rated=name == "ladder"
                and not practice
                and file.board == "public"
                and scoring is default_scoring(get_game(game.game)),
                created_ms=now,
                status="running",
                started_ms=now,
                data=json.dumps(data),
            )
        )
    return made


async def _seeds(
    store: Store, game: str, entered: Sequence[ClassEntry], file: CompetitionFile
) -> dict[str, object]:
    """Return the bots in seed order, and the seed of the lot if one was drawn.

    Bots come first if the version that plays has a rating.
    """
    versions = {each.version_id: each.bot_id for each in entered}
    board = await store.leaderboard(game, 1_000_000, every_version=True)
    rated = [each for each in board if each.rating is not None and each.version_id in versions]
    rated.sort(key=lambda each: (-(each.rating or 0.0), each.version_id))
    seeds = [versions[each.version_id] for each in rated]
    names = {bot: name for bot, name in _labels(entered, file).items() if bot not in seeds}
    form = file.play(game)
    if isinstance(form, Ladder) or not form.adaptive or len(names) < 2:
        return {"seeds": seeds}
    lot = secrets.token_hex(8)
    return {"seeds": seeds + drawn(lot, names), "lot": lot}


def _labels(entered: Sequence[ClassEntry], file: CompetitionFile) -> dict[int, str]:
    """Return the labels of entries in a lot.

    A hidden baseline is labelled by its number in the competition file.  With its name in the lot,
    anybody who guesses the name could check the guess against the lot.
    """
    hidden = {
        each.bot.lower(): f"hidden {number}"
        for number, each in enumerate(file.baselines, start=1)
        if each.hidden
    }
    return {each.bot_id: hidden.get(each.name.lower(), each.name) for each in entered}


# ------------------------------------------------------------------------------- looking


async def finals_of(
    store: Store, boards: Boards, reference: str, identity: Identity | None
) -> list[GameFinal]:
    """Return the games of a final that has begun, computed from stored rows.

    Organisers see everything.  Others see what the board shows them, and no hidden baselines.  On
    an anonymous board a student sees its own pairings, and in the table its own lines, three ahead
    and the baselines.  Raises `ProtocolError` if the identity may see nothing, and `Unknown`.
    """
    row = await store.read(class_sql.find, reference)
    file = read_competition(row.file)
    viewer = await boards.viewer(row, identity)
    boards.admit(row, file, viewer, identity)
    entrants = entrants_of(
        await store.read(class_finals.played_entries, row.id, replaced=True), file
    )
    eyes = eyes_of(file, viewer, entrants)
    out = eyes.hidden.union(each.bot_id for each in entrants if each.status == "disqualified")
    return [_seen(each, eyes, out) for each in await boards.games.of(row)]


async def certainty(boards: Boards, row: ClassCompetition) -> list[Certainty]:
    """Return how certain a gauntlet's grades are; empty in other formats."""
    if row.format != "gauntlet":
        return []
    found = await boards.games.of(row, fresh=True)
    return [each for final in found for each in final.certainty]


def _seen(final: GameFinal, eyes: Visibility, out: Collection[int]) -> GameFinal:
    """Return one viewer's part of a game; entries in ``out`` get no place."""
    lines = set(eyes.lines([row.entry for row in final.table]))
    table = places_without(final.table, out)
    return replace(
        final,
        table=tuple(row for row in table if row.entry in lines),
        lot="" if eyes.anonymous else final.lot,
        seeds=() if eyes.anonymous else tuple(b for b in final.seeds if b not in eyes.hidden),
        certainty=tuple(
            each
            for each in final.certainty
            if eyes.hidden.isdisjoint((each.entry, each.baseline)) and eyes.meets((each.entry,))
        ),
        rounds=tuple(
            replace(each, lines=tuple(line for line in each.lines if eyes.meets(line.players)))
            for each in final.rounds
        ),
        names={bot: eyes.name(bot, name) for bot, name in final.names.items()},
    )
