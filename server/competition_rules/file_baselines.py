"""The baselines of a competition file, with their twins and built-in bots."""

from __future__ import annotations

import difflib
import math
from collections import defaultdict
from dataclasses import replace
from typing import Final

from plyhouse.games.registry import get_game
from plyhouse.server.competition_rules.file import Baseline, CompetitionFile
from plyhouse.server.competition_rules.file_table import Table
from plyhouse.server.competition_rules.reference_baselines import (
    HOUSE_LEVELS,
    reference_misfit,
    reference_problem,
)
from plyhouse.storage.names import HOUSE_NAMES, name_problem, normal

__all__ = ["check_references", "check_sides", "check_twins", "read_baselines"]

BRACKETS: Final = ("knockout", "double_elimination", "groups_knockout")
"""Formats in which a loss eliminates."""


def read_baselines(table: Table) -> tuple[Baseline, ...]:
    """Return the baselines of a file; mistakes are noted in the table."""
    example = '[[baselines]] with bot = "staff/random"'
    rows = table.take("baselines", list, "a list of tables", example)
    found: list[Baseline] = []
    for number, row in enumerate(rows or ()):
        at = f"baselines[{number}]"
        if not isinstance(row, dict):
            table.wrong("bad_type", at, f"must be a table; write {example}")
            continue
        inner = Table(row, at, table.mistakes)
        bot = inner.text("bot", "staff/random", 65, needed=True)
        bot = None if bot is None else normal(bot)
        if bot is not None and not _names_bot(bot):
            inner.bad("bot", f"{bot!r} names no bot; write it like player/bot")
        elif bot is not None and bot.lower() in [each.bot.lower() for each in found]:
            inner.bad("bot", f"{bot} is a baseline already; name it once")
        twin_of = normal(inner.text("twin_of", "staff/random", 65) or "")
        if twin_of:
            for key in {"hidden", "grade", "at_least"} & row.keys():
                text = "is not for a twin: it has no grade, and is hidden if the bot it repeats is"
                inner.bad(key, text)
        hidden = inner.flag("hidden", default=False)
        grade = inner.text("grade", "pass", 32) or ""
        share = inner.take("at_least", float, "a number from 0 to 1", "at_least = 0.5")
        if share is not None and not (math.isfinite(share) and 0 <= share <= 1):
            inner.bad("at_least", f"must be from 0 to 1, not {share:g}")
        if share is not None and not grade and not twin_of:
            inner.wrong("missing_key", "grade", 'is missing; at_least needs one: grade = "pass"')
        reference = _reference(inner, bot or "")
        points = inner.take("points", float, "a number", "points = 10")
        inner.end()
        least = 0.5 if share is None else share
        found.append(Baseline(bot or "", hidden, grade, least, twin_of, reference, points))
    secret = {each.bot.lower() for each in found if each.hidden}
    return tuple(
        replace(each, hidden=True) if each.twin_of.lower() in secret else each for each in found
    )


def _names_bot(text: str) -> bool:
    parts = text.split("/")
    return len(parts) == 2 and not any(map(name_problem, parts))


def _reference(table: Table, bot: str) -> str:
    """Return the built-in bot of a baseline; empty if none is named."""
    text = table.text("reference", "mcts(simulations=200)", 200) or ""
    problem = reference_problem(text) if text else ""
    player, _, name = bot.lower().partition("/")
    if problem:
        table.bad("reference", problem)
    elif text and (player not in HOUSE_NAMES or name in HOUSE_LEVELS):
        levels = ", ".join(HOUSE_LEVELS)
        house = HOUSE_NAMES[0]
        table.bad(
            "bot",
            f"{bot!r} cannot be a bot of the house: call it {house}/{text.partition('(')[0]}-1, "
            f"or {house}/ANYTHING but {levels}, which people play against",
        )
    return text


def check_twins(file: CompetitionFile, table: Table) -> None:
    """Note twins that cannot measure the noise of this board."""
    names = {each.bot.lower(): each for each in file.baselines}
    seen: set[str] = set()
    for number, each in enumerate(file.baselines):
        if not each.twin_of:
            continue
        at, wanted = f"baselines[{number}].twin_of", each.twin_of.lower()
        original = names.get(wanted)
        if original is None:
            near = difflib.get_close_matches(wanted, names.keys() - {each.bot.lower()}, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            text = f"{each.twin_of!r} is no baseline of this file: a twin repeats one{hint}"
        elif original is each:
            text = (
                "a bot cannot be a twin of itself: run the same bot a second time under another "
                f"name, such as {each.bot}-2, and enter that as the twin"
            )
        elif original.twin_of:
            text = f"{original.bot} is a twin itself; name the bot that it repeats"
        elif wanted in seen:
            text = f"{original.bot} has a twin already: one is enough"
        elif file.format.name in BRACKETS:
            text = (
                f"is not for {file.format.name}: one of the two may be out after a match, and then "
                "they show nothing"
            )
        elif file.until_certain:
            text = (
                "is not for a gauntlet with until_certain, which stops when grades are certain: "
                "the two would not play the same number of matches"
            )
        else:
            seen.add(wanted)
            continue
        table.bad(at, text)


def check_sides(file: CompetitionFile, table: Table) -> None:
    """Note baselines that have no partner, or that differ from it.

    Baselines of an account are partners in the order of their names, as in
    `plyhouse.server.competitions.sides`.
    """
    owned: dict[str, list[tuple[int, Baseline]]] = defaultdict(list)
    for number, each in enumerate(file.baselines):
        owned[each.bot.partition("/")[0].lower()].append((number, each))
    size = file.side_size
    for bots in owned.values():
        bots.sort(key=lambda numbered: numbered[1].bot.lower())
        for start in range(0, len(bots), size):
            (number, captain), *partners = bots[start : start + size]
            if len(partners) < size - 1:
                account = captain.bot.partition("/")[0]
                more = "a second bot" if size == 2 else f"bots up to {size}"
                text = f"{captain.bot} has no partner: add {more} of account {account}"
                table.bad(f"baselines[{number}].bot", text)
                continue
            for place, partner in partners:
                _check_partner(table, place, partner, captain)


def _check_partner(table: Table, place: int, partner: Baseline, captain: Baseline) -> None:
    at = f"baselines[{place}]"
    if partner.grade:
        table.bad(f"{at}.grade", f"is for a side: give it to its first bot {captain.bot}")
    if partner.hidden != captain.hidden:
        text = (
            f"must be {str(captain.hidden).lower()}, as for its partner {captain.bot}: the table "
            "shows both or none"
        )
        table.bad(f"{at}.hidden", text)


def check_references(file: CompetitionFile, table: Table) -> None:
    """Note built-in baselines that cannot play a game of the file."""
    for number, baseline in enumerate(file.baselines):
        for game in file.games if baseline.reference else ():
            misfit = reference_misfit(baseline.reference, get_game(game))
            if misfit:
                text = f"{misfit}; ismcts, pimc, best and random play every game"
                table.wrong("unfit_baseline", f"baselines[{number}].reference", text)
