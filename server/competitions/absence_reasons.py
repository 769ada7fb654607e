"""The bots of a tournament: lookup by name, and reasons for absence."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from plyhouse.protocol.api.bots import Suspension
from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.competitions.ladders import LadderQueue
from plyhouse.server.competitions.tournament_state import RunningTournament
from plyhouse.server.match.presence import Presence
from plyhouse.storage import people
from plyhouse.storage.errors import Unknown
from plyhouse.storage.rows import TournamentRow
from plyhouse.storage.store import Store
from plyhouse.storage.tournament_settings import settings

HostedAbsence: TypeAlias = Callable[[int, int | None, bool], str]
"""Returns what a bot with a version waits for on a runner machine: `Hosting.absence_of`."""


NO_RUNNER: Final = "without a runner"
PLAYS_NOT: Final = "run by the server, and its program does not play this game"


@dataclass(frozen=True, slots=True)
class Missing:
    """A bot that keeps pairings from being played."""

    name: str
    brief: str
    """The state of the bot, to follow "has been": ``away``, ``suspended``."""
    text: str
    """A sentence with the fault and its remedy."""
    baseline: bool = False
    in_vain: bool = False
    """True if no wait can help: the program does not play the game."""


async def bots_named(store: Store, names: Sequence[str]) -> list[int]:
    """Return the ids of the bots with these names.

    One query finds all of them if all exist.  Raises `ProtocolError` for one that does not.
    """
    known: dict[tuple[str, str], int] = {}
    for bot in await store.read(people.bots_of, {name.partition("/")[0] for name in names}):
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
        row = await store.read(people.player, player)
    except Unknown as error:
        raise ProtocolError("protocol/bad_field", f"There is no player {player!r}.") from error
    wanted = (bot or row.name).lower()
    bots = await store.read(people.list_bots, row.id)
    for each in bots:
        if each.name.lower() == wanted:
            return each.id
    known = ", ".join(f"{row.name}/{each.name}" for each in bots) or "none yet"
    raise ProtocolError(
        "protocol/bad_field",
        f"There is no bot {name!r}; bots of {row.name}: {known}. "
        "A bot is known once it has logged in.",
    )


def gone_texts(row: TournamentRow, names: Mapping[int, str]) -> list[str]:
    """Return why bots were withdrawn from a game, a sentence for each."""
    return [
        f"{names[bot]} was withdrawn from {row.game}: {why}."
        for bot, why in settings(row).gone.items()
        if bot in names
    ]


def withdrawn_texts(suspended: Sequence[Suspension], names: Mapping[int, str]) -> list[str]:
    """Return why suspended bots left a final, a sentence for each."""
    return [
        f"{names[each.bot_id]} was withdrawn from the final, as it is suspended: {each.reason}."
        for each in suspended
        if each.bot_id in names
    ]


def suspended_texts(
    suspended: Sequence[Suspension], names: Mapping[int, str], baselines: Collection[int]
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
            f"let this one in again: plyhouse admin bot reinstate {name}."
        )
    return found


def missing(
    running: RunningTournament,
    presences: Mapping[int, Presence],
    own: Collection[str],
    hosted_absence: HostedAbsence | None = None,
) -> list[str]:
    """Return the reasons why pairings cannot begin.

    ``own`` are the running matches of the tournament.  Other matches of its bots are reported too:
    a bot that always plays elsewhere would otherwise block everything unnoticed.
    """
    if running.paused:
        return ["The competition is paused."]
    if isinstance(running.queue, LadderQueue):
        return _ladder_waits(running, running.queue.bots, presences)
    sentences = {bot: each.text for bot, each in missed(running, presences, hosted_absence).items()}
    matches = running.queue.at_once
    for bot in running.waiting():
        presence = presences.get(bot)
        if bot in sentences or presence is None:
            continue
        other = sorted(presence.matches.keys() - set(own))
        if presence.max_matches - len(other) < matches:
            sentences[bot] = _busy(presence, other, matches)
    return list(sentences.values())


def _ladder_waits(
    running: RunningTournament, bots: Sequence[int], presences: Mapping[int, Presence]
) -> list[str]:
    """Return a sentence if a ladder has too few bots to pair."""
    able = [
        bot for bot in bots if _fault(running, running.names[bot], bot, presences.get(bot)) is None
    ]
    if len(able) > 1:
        return []
    return [
        f"{len(able)} of {len(bots)} entries are here, and a ladder pairs two: start the bots; "
        "`plyhouse runner` starts a machine for those that were submitted."
    ]


def _busy(presence: Presence, other: Sequence[str], matches: int) -> str:
    together = f", and the {matches} of a mirrored pairing are played together"
    return (
        f"{presence.name} is busy: it plays {len(other)} other match"
        f"{'es' if len(other) > 1 else ''}, of {presence.max_matches} at a time"
        f"{together if matches > 1 else ''}: {', '.join(other)}."
    )


def missed(
    running: RunningTournament,
    presences: Mapping[int, Presence],
    hosted_absence: HostedAbsence | None = None,
) -> dict[int, Missing]:
    """Return the bots that pairings wait for, by id; none while paused.

    ``hosted_absence`` says what bots that need a runner machine wait for.
    """
    found = {}
    for bot in () if running.paused else running.waiting():
        name = running.names[bot]
        presence = presences.get(bot)
        fault = _fault(running, name, bot, presence)
        if hosted_absence is not None and fault is not None and fault[0] in ("away", NO_RUNNER):
            only_hosted = running.is_for_runners(bot)
            text = hosted_absence(bot, running.versions.get(bot), only_hosted)
            if text:
                fault = NO_RUNNER, f"{name} {text}"
        if fault is not None:
            needed = bot in running.settings.needed_baselines
            found[bot] = Missing(name, *fault, needed, fault[0] == PLAYS_NOT)
    return found


def _fault(
    running: RunningTournament, name: str, bot: int, presence: Presence | None
) -> tuple[str, str] | None:
    """Return why a bot cannot play, in brief and in full; None if it can."""
    game = running.terms.game
    matches = running.queue.at_once
    if running.is_for_runners(bot) and (presence is None or not presence.hosted):
        return (
            NO_RUNNER,
            f"{name} waits for a runner machine, and none is connected: `plyhouse runner` starts "
            "one.",
        )
    if presence is None or not presence.online:
        return "away", f"{name} is not connected."
    if presence.suspended:
        return (
            "suspended",
            f"{name} is suspended ({presence.suspended}): "
            f"`plyhouse admin bot reinstate {name}` lets it in again.",
        )
    if not presence.accepts(game.info.name, game.spec):
        if presence.hosted:
            return (
                PLAYS_NOT,
                f"{name} is run by the server, and its program does not play {game.spec}: submit "
                "one that does.",
            )
        return (
            "connected for other games only",
            f"{name} is connected, but not for {game.spec}; "
            f"it would say so with `--game {game.spec}`.",
        )
    if running.versions.get(bot, presence.version_id) != presence.version_id:
        return (
            "connected with another version only",
            f"{name} is connected with another version than the one that was entered: "
            "run that one.",
        )
    if presence.max_matches < matches:
        return (
            "connected for too few matches at a time",
            f"{name} plays {presence.max_matches} match at a time, but the {matches} "
            f"of a mirrored pairing are played together: `--workers {matches}` allows it.",
        )
    return None
