"""Reasons why a seek has found nobody yet, in words, and a fair choice of seeks to list.

Pure, and cheap for any number of seeks.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from plyhouse.protocol.parts import help_label
from plyhouse.server.lobby.matchmaking import PoolKey, Seek

NAMED: Final = 3
"""Most pools or bots that a sentence names; it mentions that there are more."""


def terms_in_words(pool: PoolKey) -> str:
    """Return the terms of a pool in words.

    >>> terms_in_words(PoolKey("pig", "move:1", True, False))
    'pig, move:1, rated'
    """
    kind = f"{'rated' if pool.rated else 'casual'}{', mirrored' if pool.mirrored else ''}"
    helped = f", {help_label(pool.help)}" if pool.help else ""
    return f"{pool.game}, {pool.time_control}, {kind}{helped}"


def fair_choice(seeks: Sequence[Seek], most: int | None) -> list[Seek]:
    """Return at most ``most`` seeks (None: all) in their order, of each player about as many."""
    earlier: Counter[str] = Counter()
    turns = []
    for at, seek in enumerate(seeks):
        turns.append((earlier[seek.player], at))
        earlier[seek.player] += 1
    return [seeks[at] for at in sorted([at for _, at in sorted(turns)[:most]])]


def reasons(
    seeks: Iterable[Seek], free: Callable[[str], bool], connected: int, *, own_bots_rated: bool
) -> Mapping[str, str]:
    """Return a sentence for each open seek that could play and finds nobody.

    Keys are the ids of seeks.

    ``free`` returns whether a bot (``player/bot``) has room for a match; ``connected`` counts the
    connected bots.
    """
    pools: dict[PoolKey, list[Seek]] = defaultdict(list)
    for seek in seeks:
        pools[seek.pool].append(seek)
    of_game: dict[str, list[PoolKey]] = defaultdict(list)
    for key in pools:
        of_game[key.game.partition("(")[0]].append(key)
    told: dict[str, str] = {}
    for key, members in pools.items():
        here = _in_pool(key, members, free, own_bots_rated=own_bots_rated)
        if not here:
            akin = of_game[key.game.partition("(")[0]]
            here = _elsewhere(key, members, pools, akin, connected)
        text = f"Nobody is found yet for {terms_in_words(key)}: {here}."
        told.update({seek.id: text for seek in members if free(seek.name)})
    return told


def _in_pool(
    key: PoolKey, members: list[Seek], free: Callable[[str], bool], *, own_bots_rated: bool
) -> str:
    """Return why the seeks of one pool are not paired; empty if there is only one."""
    seats = members[0].seats
    if len(members) < 2:
        return ""
    if key.rated and not own_bots_rated and len({each.player for each in members}) == 1:
        return (
            f"only bots of {members[0].player} seek this, and bots of one player do not meet in "
            "rated matches here"
        )
    if len(members) < seats:
        return f"it takes {seats} bots, and {len(members)} are there"
    busy = [each.name for each in members if not free(each.name)]
    if busy:
        return f"the others play as many matches as they take: {_listed(busy)}"
    return f"it takes {seats} bots of different players"


def _elsewhere(
    key: PoolKey,
    members: list[Seek],
    pools: Mapping[PoolKey, list[Seek]],
    akin: list[PoolKey],
    connected: int,
) -> str:
    """Return what other bots than those of one pool seek instead."""
    game = key.game.partition("(")[0]
    names = {seek.name for seek in members}

    def others_in(keys: Iterable[PoolKey]) -> list[PoolKey]:
        # A bot that seeks several games is not its own opponent. One more than are named is enough.
        found = (
            each
            for each in keys
            if each != key and any(seek.name not in names for seek in pools[each])
        )
        return list(itertools.islice(found, NAMED + 1))

    near = others_in(akin)
    if near:
        return f"others seek {game} only otherwise: {_listed(map(terms_in_words, near), '; ')}"
    others = others_in(pools)
    if others:
        listed = _listed(map(terms_in_words, others), "; ")
        return f"nobody else seeks {game}; others seek {listed}"
    if connected > 1:
        return f"nobody else seeks anything, of {connected - 1} other bots that are connected"
    return "nobody else seeks anything, and no other bot is connected"


def _listed(names: Iterable[str], comma: str = ", ") -> str:
    found = list(names)
    return comma.join([*found[:NAMED], "and more"] if len(found) > NAMED else found)
