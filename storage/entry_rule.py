"""Admission of bots to a competition and its games: one rule for every path, and the insert.

A bot is entered when it connects, passes a check, or is chosen by its student.  It may also be a
baseline, or come with the opening of a competition.  The rule is always the same: programs only,
and only where they play at least one of the games, with the help that the competition demands.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from plyhouse.protocol.parts import help_misfit
from plyhouse.storage import audit, submission_checks, tournaments
from plyhouse.storage.competition_rows import CompetitionEntry, CompetitionRow, plays
from plyhouse.storage.errors import CompetitionRefusal
from plyhouse.storage.models import bots, competition_entries, players, versions
from plyhouse.storage.names import key_of
from plyhouse.storage.rows import By
from plyhouse.storage.statements import parts


@dataclass(frozen=True, slots=True)
class Candidate:
    """A bot to be entered, and the version with which it plays."""

    bot_id: int
    version_id: int | None = None
    """None: any version, or the one that comes."""
    chosen: bool = False
    """True if its student chose the version."""


def obstacle(
    connection: Connection,
    row: CompetitionRow,
    bot_id: int,
    games: Collection[str] = (),
    label: str | None = None,
) -> str:
    """Return why a bot may not be entered; empty if it may.

    The reasons are outcomes of `plyhouse.storage.submission_rows.OUTCOMES`: ``person`` for an
    account that plays in person or for a guest, and ``games`` for a bot that plays none of the
    games.  ``help`` stands for a version whose label does not state the level of help that the
    competition demands, ``unreadable`` for a competition of which nobody knows what it demands.
    ``games`` are those that the bot claims; none stand for all.  ``label`` is that of the version
    that would play; None for a baseline, of which no help is demanded.
    """
    if bot_id not in programs(connection, [bot_id]):
        return "person"
    if not plays([each.game for each in row.games], games):
        return "games"
    if label is None or not unhelped(row, "", label):
        return ""
    return "unreadable" if row.help is None else "help"


def unreadable(row: CompetitionRow) -> CompetitionRefusal:
    """Return the error for a competition whose file cannot be read."""
    return CompetitionRefusal(
        "competition/unreadable",
        f"the competition file of {row.name!r} cannot be read on this server; its staff finds "
        f"the reason by plyhouse competition status {row.name!r}",
    )


def unhelped(row: CompetitionRow, name: str, label: str) -> str:
    """Return why the label of a bot's version keeps it out; empty if it does not.

    The label must state the level of help that the competition demands.  A competition lets nobody
    in if its demand cannot be read.
    """
    if row.help is None:
        return f"{unreadable(row)}; until then it takes no bots"
    misfit = help_misfit(name, label, row.help)
    return misfit and f"{row.name!r} takes bots with one level of help only: {misfit}"


def with_help(
    row: CompetitionRow, entries: Sequence[CompetitionEntry], *, anyway: bool
) -> list[CompetitionEntry]:
    """Return the entries that have the level of help which the competition demands.

    Others came before it was demanded.  Raises `CompetitionRefusal` for them, unless ``anyway``.
    """
    misfits = {
        each.name: why
        for each in entries
        if not each.baseline and (why := unhelped(row, each.name, each.version))
    }
    if misfits and not anyway:
        why = "; ".join(misfits.values())
        raise CompetitionRefusal("help/required", f"{why}; or start without it: --anyway")
    return [each for each in entries if each.name not in misfits]


def label_of(connection: Connection, version_id: int) -> str:
    """Return the label of a version."""
    query = select(versions.c.label).where(versions.c.id == version_id)
    return connection.execute(query).scalar_one() or ""


def programs(connection: Connection, bot_ids: Iterable[int]) -> dict[int, int]:
    """Return the owners of those bots that are programs, by bot id.

    Persons, who play under the name of their account, and guests are left out.
    """
    found: dict[int, int] = {}
    for part in parts(sorted(set(bot_ids))):
        query = (
            select(bots.c.id, bots.c.player_id)
            .join(players, players.c.id == bots.c.player_id)
            .where(bots.c.id.in_(part))
            .where(bots.c.kind == "bot", bots.c.name_key != players.c.name_key)
        )
        found |= {bot: owner for bot, owner in connection.execute(query)}  # noqa: C416
    return found


def add(
    connection: Connection,
    row: CompetitionRow,
    candidates: Collection[Candidate],
    now_ms: int,
    *,
    baseline: bool = False,
) -> None:
    """Enter bots.

    Raises `CompetitionRefusal` (``competition/not_a_bot``) if one of them is no program.
    """
    owners = programs(connection, [each.bot_id for each in candidates])
    persons = [each.bot_id for each in candidates if each.bot_id not in owners]
    if persons:
        raise not_a_bot(connection, row, persons[0])
    if candidates:
        connection.execute(
            competition_entries.insert(),
            [
                {
                    "competition_id": row.id,
                    "bot_id": each.bot_id,
                    "player_id": owners[each.bot_id],
                    "version_id": each.version_id,
                    "chosen": each.chosen,
                    "baseline": baseline,
                    "status": "active",
                    "created_ms": now_ms,
                }
                for each in candidates
            ],
        )


def leave_out(connection: Connection, row: CompetitionRow, by: By, now_ms: int) -> None:
    """Withdraw entries from those games of a final that their checked versions do not play.

    The final would wait for them in vain.  Baselines stay: a competition waits for them.
    """
    checked = submission_checks.games_for(connection, row.rehearses or row.id)
    if not checked:
        return
    here = competition_entries.c
    baselines = set(
        connection.execute(
            select(here.bot_id).where(here.competition_id == row.id, here.baseline.is_(True))
        ).scalars()
    )
    for game in row.games:
        if game.tournament_id is None:
            continue
        why = f"it does not play {game.game}, as its check found"
        out = [
            each
            for each in tournaments.list_entries(connection, game.tournament_id)
            if each.status != "withdrawn" and each.bot_id not in baselines
            if (claimed := checked.get(each.version_id or 0)) and not plays([game.game], claimed)
        ]
        reasons = dict.fromkeys([each.bot_id for each in out], why)
        tournaments.withdraw_some(connection, game.tournament_id, reasons)
        for each in out:
            subject = f"{audit.ABOUT} from {row.name}: {game.game}"
            audit.add(
                connection, now_ms, By(by.who, why), "competition.withdraw", subject,
                game.tournament_id, bot_id=each.bot_id,
            )  # fmt: skip


def not_a_bot(connection: Connection, row: CompetitionRow, bot_id: int) -> CompetitionRefusal:
    """Return the refusal of a person or guest."""
    query = (
        select(players.c.name, bots.c.name)
        .join(bots, bots.c.player_id == players.c.id)
        .where(bots.c.id == bot_id)
    )
    player, bot = connection.execute(query).one()
    named = player if key_of(player) == key_of(bot) else f"{player}/{bot}"
    return CompetitionRefusal(
        "competition/not_a_bot",
        f"{row.name!r} is for bots, and {named} plays in person; enter a bot of {player} by "
        f"another name, such as {player}/mybot",
    )
