"""The commented competition file that ``plyhouse competition new`` writes, valid as it stands."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from plyhouse.server.competition.catalogue import FORMATS
from plyhouse.server.competition.file import VISIBILITIES

__all__ = ["template"]

_TEMPLATE = """\
# A competition of Plyhouse. Check it, with what it will cost:  plyhouse competition check FILE
name = {name}
games = {games}  # names, also with parameters: "pig(target=50)"
time_control = {control}  # seconds: move:1, total:60+0.5, byoyomi:60+5x10, bank:1+30
mirrored = true  # every pairing is played from every seat
rounds = 1  # how often the whole schedule is played
entries_per_student = 1
# scoring = "wins"  # or "returns", or by game: {{ kuhn_poker = "returns" }}
board = "class"  # who sees the table: {boards}
rules = \"\"\"
One bot each. Your own work; say what you took from where.
\"\"\"

[format]
name = "round_robin"  # {formats}

# Dates have a time and a zone. What is left out happens when you say so:
# plyhouse competition open, freeze, run.
[dates]
# opening = {opening}  # students may join; left out: at once
freeze = {freeze}  # the version that plays changes no more; practice goes on
final = {final}  # the final begins

[limits]
students = 200  # groups count once
matches_at_a_time = 8  # of the final, beside free play
absent_minutes = 30  # so long the final waits for an entry that is away; 0: for ever

# Where the server runs bots (plyhouse serve --hosted):
# [hosting]
# required = true  # only submitted bots play in the final, on the runner machines
# shared_chance = false  # every match has its own dice; left out: mirrored ones share them

# Bots of the staff, from the easiest to the hardest. A student's grade is that of the last one
# against which the mean score (a win is 1, a draw 0.5) is at least `at_least`. Each must have
# been connected once before the competition is opened.
# [[baselines]]
# bot = "staff/random"
# grade = "pass"
# at_least = 0.6
#
# [[baselines]]
# bot = "staff/alpha_beta"
# hidden = true  # students do not see it on the board
# grade = "good"
# at_least = 0.5
#
# [[baselines]]
# bot = "house/mcts-200"  # a built-in bot: you need not run it
# reference = "mcts(simulations=200)"
# grade = "very good"
# at_least = 0.5
#
# [[baselines]]
# bot = "staff/alpha_beta-2"  # the same bot under a second name: how far chance drives equals apart
# twin_of = "staff/alpha_beta"
"""


def template(
    name: str, games: Sequence[str], time_control: str, now: datetime, *, days: int = 14
) -> str:
    """Return a file whose freeze is ``days`` after ``now`` (with a zone), the final an hour later.

    Games and time control are written as they are given; who calls has checked them.
    """
    opening = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    freeze = opening + timedelta(days=days)
    dates = {
        "opening": opening,
        "freeze": freeze,
        "final": freeze + timedelta(hours=1),
    }
    return _TEMPLATE.format(
        name=json.dumps(name, ensure_ascii=False),
        games=json.dumps(list(games)),
        control=json.dumps(time_control),
        boards=", ".join(VISIBILITIES),
        formats=", ".join(FORMATS),
        **{key: value.isoformat().replace("+00:00", "Z") for key, value in dates.items()},
    )
