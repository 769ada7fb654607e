"""The bots of a competition: lookup by name, and reasons for absence."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.contests.ladders import LadderWork
from plyhouse.server.contests.running import Running
from plyhouse.server.table.participants import Participant
from plyhouse.storage.competitions import gone_why
from plyhouse.storage.errors import Unknown
from plyhouse.storage.probation import SuspensionRow
from plyhouse.storage.rows import CompetitionRow
from plyhouse.storage.store import Store

__all__ = [
    "Missing",
    "WaitsFor",
    "bots_named",
    "gone_texts",
    "missed",
    "missing",
    "suspended_texts",
    "withdrawn_texts",
]


WaitsFor: TypeAlias = Callable[[int, int | None, bool], str]
"""Returns what a bot with a version waits for on a runner machine: `Hosting.waits_for`."""


NO_RUNNER: Final = "without a runner"


@dataclass(frozen=True, slots=True)
class Missing:
    """A bot that keeps pairings from being played."""

    name: str
    brief: str
    """The state of the bot, to follow "has been": ``away``, ``suspended``."""
    text: str
    """A sentence with the fault and its remedy."""
    baseline: bool = False


async def bots_named(store: Store, names: Sequence[str]) -> list[int]:
    """Return the ids of the bots with these names.

    One query finds all of them if all exist.  Raises `ProtocolError` for one that does not.
    """
    known: dict[tuple[str, str], int] = {}
    for bot in await store.bots_of({name.partition("/")[0] for name in names}):
        if bot.kind == "guest":
            raise ProtocolError("guest/casual", f"{bot.player} is a guest: it cannot enter.")
        known[bot.player.lower(), bot.name.lower()] = bot.id
    found = []
    for name in names:
        player, _, bot_name = name.lower().partition("/")
        key = player, bot_name or player
        found.append(known[key] if key in known else await _bot(store, name))
    return found


async def _bot(store: Store, name: str) -> int:
    player, _, bot = name.partition("/")
    try:
        row = await store.player(player)
    except Unknown as error:
        raise ProtocolError("protocol/bad_field", f"There is no player {player!r}.") from error
    wanted = (bot or row.name).lower()
    bots = await store.bots(row.id)
    for each in bots:
        if each.name.lower() == wanted:
            return each.id
    known = ", ".join(f"{row.name}/{each.name}" for each in bots) or "none yet"
    raise ProtocolError(
        "protocol/bad_field",
        f"There is no bot {name!r}; bots of {row.name}: {known}. "
        "A bot is known once it has logged in.",
    )


def gone_texts(row: CompetitionRow, names: Mapping[int, str]) -> list[str]:
    """Return why bots were withdrawn from a game, a sentence for each."""
    return [
        f"{names[bot]} was withdrawn from {row.game}: {why}."
        for bot, why in gone_why(row).items()
        if bot in names
    ]


def withdrawn_texts(suspended: Sequence[SuspensionRow], names: Mapping[int, str]) -> list[str]:
    """Return why suspended bots left a final, a sentence for each."""
    return [
        f"{names[each.bot_id]} was withdrawn from the final, as it is suspended: {each.reason}."
        for each in suspended
        if each.bot_id in names
    ]


def suspended_texts(
    suspended: Sequence[SuspensionRow], names: Mapping[int, str], baselines: Collection[int]
) -> list[str]:
    """Return a sentence for each entry suspended before the final begins."""
    found = []
    for each in suspended:
        name = names[each.bot_id]
        then = (
            "The final does not begin without it"
            if each.bot_id in baselines
            else "The final begins without it"
        )
        found.append(
            f"{name} is suspended: {each.reason}. {then}, unless another version is entered or you "
            f"let this one in again: plyhouse bot reinstate {name}."
        )
    return found


def missing(
    running: Running,
    participants: Mapping[int, Participant],
    own: Collection[str],
    waits_for: WaitsFor | None = None,
) -> list[str]:
    """Return the reasons why pairings cannot begin.

    ``own`` are the running matches of the competition.  Other matches of its bots are reported too:
    a bot that always plays elsewhere would otherwise block everything unnoticed.
    """
    if running.paused:
        return ["The competition is paused."]
    if isinstance(running.work, LadderWork):
        return _ladder_waits(running, running.work.bots, participants)
    told = {bot: each.text for bot, each in missed(running, participants, waits_for).items()}
    matches = running.work.at_once
    for bot in running.waiting():
        participant = participants.get(bot)
        if bot in told or participant is None:
            continue
        other = sorted(participant.matches.keys() - set(own))
        if participant.max_matches - len(other) < matches:
            told[bot] = _busy(participant, other, matches)
    return list(told.values())


def _ladder_waits(
    running: Running, bots: Sequence[int], participants: Mapping[int, Participant]
) -> list[str]:
    """Return a sentence if a ladder has too few bots to pair."""
    able = [
        bot
        for bot in bots
        if _fault(running, running.names[bot], bot, participants.get(bot)) is None
    ]
    if len(able) > 1:
        return []
    return [
        f"{len(able)} of {len(bots)} entries are here, and a ladder pairs two: start the bots; "
        "`plyhouse runner` starts a machine for those that were submitted."
    ]


def _busy(participant: Participant, other: Sequence[str], matches: int) -> str:
    together = f", and the {matches} of a mirrored pairing are played together"
    return (
        f"{participant.name} is busy: it plays {len(other)} other match"
        f"{'es' if len(other) > 1 else ''}, of {participant.max_matches} at a time"
        f"{together if matches > 1 else ''}: {', '.join(other)}."
    )


def missed(
    running: Running,
    participants: Mapping[int, Participant],
    waits_for: WaitsFor | None = None,
) -> dict[int, Missing]:
    """Return the bots that pairings wait for, by id; none while paused.

    ``waits_for`` says what bots that need a runner machine wait for.
    """
    found = {}
    for bot in () if running.paused else running.waiting():
        name = running.names[bot]
        participant = participants.get(bot)
        fault = _fault(running, name, bot, participant)
        if waits_for is not None and fault is not None and fault[0] in ("away", NO_RUNNER):
            only_hosted = running.is_for_runners(bot)
            text = waits_for(bot, running.versions.get(bot), only_hosted)
            if text:
                fault = NO_RUNNER, f"{name} {text}"
        if fault is not None:
            found[bot] = Missing(name, *fault, bot in running.baselines)
    return found


def _fault(
    running: Running, name: str, bot: int, participant: Participant | None
) -> tuple[str, str] | None:
    """Return why a bot cannot play, in brief and in full; None if it can."""
    game = running.terms.game
    matches = running.work.at_once
    if running.is_for_runners(bot) and (participant is None or not participant.hosted):
        return (
            NO_RUNNER,
            f"{name} waits for a runner machine, and none is connected: `plyhouse runner` starts "
            "one.",
        )
    if participant is None or not participant.online:
        return "away", f"{name} is not connected."
    if participant.suspended:
        return (
            "suspended",
            f"{name} is suspended ({participant.suspended}): "
            f"`plyhouse bot reinstate {name}` lets it in again.",
        )
    if not participant.accepts(game.info.name, game.spec):
        return (
            "connected for other games only",
            f"{name} is connected, but not for {game.spec}; "
            f"it would say so with `--game {game.spec}`.",
        )
    if running.versions.get(bot, participant.version_id) != participant.version_id:
        return (
            "connected with another version only",
            f"{name} is connected with another version than the one that was entered: "
            "run that one.",
        )
    if participant.max_matches < matches:
        return (
            "connected for too few matches at a time",
            f"{name} plays {participant.max_matches} match at a time, but the {matches} "
            f"of a mirrored pairing are played together: `--workers {matches}` allows it.",
        )
    return None
