"""Competition files written from a few arguments.

`template` writes the commented file of ``plyhouse competition new``, valid without any edit.
`round_robin_text` describes a round robin without students.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from plyhouse.games.base import Game
from plyhouse.games.registry import get_game
from plyhouse.server.competition_rules.derived_files import toml
from plyhouse.server.competition_rules.file import MOST_AT_A_TIME, VISIBILITIES
from plyhouse.server.competition_rules.format_registry import FORMATS, described
from plyhouse.server.competition_rules.grade_precision import ENOUGH
from plyhouse.server.results.scoring import return_span, side_size

_TEMPLATE = """\
# A competition of Plyhouse. Check it, with what it will cost:  plyhouse competition check FILE
name = {name}
games = {games}  # names, also with parameters: "pig(target=50)"
time_control = {control}  # seconds: move:1, total:60+0.5, byoyomi:60+5x10, bank:1+30
mirrored = true  # every pairing is played from every seat
rounds = {rounds}  # how often the whole schedule is played
{entries}
{scoring}
# rated = true  # matches count for leaderboards, if everybody sees the board
board = "class"  # who sees the table: {boards}
rules = \"\"\"
One bot each. Your own work; say what you took from where.
\"\"\"

{style}
# Dates have a time and a zone. What is left out happens when you say so:
# plyhouse competition open, freeze, run.
[dates]
{zone}  # of times without an offset, and of late days
# opening = {opening}  # students may join; left out: at once
freeze = {freeze}  # entries keep their versions; practice goes on
final = {final}  # the final begins

[limits]
students = 200  # groups count once
matches_at_a_time = 8  # of the final, beside free play
absent_minutes = 30  # so long the final waits for an entry that is away; 0: for ever
# help = "position"  # only language models that see the position alone; or "actions", "rules"

# Practice: entries play each other from the opening to the freeze, for no grade.
# [practice]
# ladder = true
# matches_at_a_time = 4
# baselines = true  # hidden ones never play

# Late submissions, for so many days after the freeze; each day costs so many percent:
# [late]
# days = 3
# penalty_per_day = 10

# Where the server runs bots (plyhouse serve --hosted):
# [hosting]
# required = true  # only submitted bots play in the final, on the runner machines

# Bots that students are measured against, from the easiest to the hardest. A grade needs a mean
# score of `at_least` against its baseline and against every easier one.
{easy}
{comment}grade = "pass"
{comment}at_least = {share}
#
# [[baselines]]
# bot = "staff/hard"  # any bot of yours: plyhouse bot run mybot.py --name hard ...
# hidden = true  # students do not see it on the board
# grade = "good"
# at_least = 0.5
#
# [[baselines]]
# bot = "house/mcts-200"  # a built-in bot: a server with --hosted runs it
# reference = "mcts(simulations=200)"
# grade = "very good"
# at_least = 0.5
#
# Not with until_certain: the same bot under a second name shows how far chance drives equals apart.
# [[baselines]]
# bot = "staff/hard-2"
# twin_of = "staff/hard"

[grading]
every_lower = true  # a grade needs every lower threshold; false: the last one reached counts
# points = 100  # of the best grade, the others evenly spaced; or give each baseline its points
"""

_SCORING: Final = '# scoring = "wins"  # or "returns", or by game: { kuhn_poker = "returns" }'
_BY_WINS: Final = """\
# By returns, ordinary differences in {wide} hardly change a score. Wins show more.
scoring = {scoring}"""
_WIDE: Final = 100.0
"""Span of returns above which a game is scored by wins: a point would add less than 0.005."""

_TEAMS: Final = """\
# teams = true  # the bots of a student are partners, {size} in a side
# entries_per_student = {size}  # bots with teams; 1 without"""

_UNTIL_CERTAIN: Final = """\
[format]
name = "gauntlet"  # {formats}
until_certain = true  # a student meets a baseline until its grade is certain
error = 0.05  # how often a grade may be wrong
most = 60  # pairings with each baseline at most
"""

_REPEATED: Final = """\
[format]
name = "gauntlet"  # {formats}
"""

_TABLES: Final = """\
[format]
name = "tables"  # {formats}
number = 10
"""

_STAFF: Final = """\
# Run this one before you open the competition, and leave it running for the final:
#   plyhouse bot run random --name easy --game {game} --workers 4 --token TOKEN_OF_STAFF
[[baselines]]
bot = "staff/easy\""""

_HOUSE: Final = """\
[[baselines]]
bot = "house/random-1"  # a built-in bot, which the server runs
reference = "random\""""


def template(
    name: str,
    games: Sequence[str],
    time_control: str,
    now: datetime,
    *,
    days: int = 14,
    hosted: bool = False,
    form: str = "",
    dates: Mapping[str, datetime] | None = None,
    zone: str = "",
) -> str:
    """Return a competition file with a freeze ``days`` after ``now``.

    ``now`` has a zone; the final is an hour after the freeze.  ``dates`` replaces some of
    ``opening``, ``freeze`` and ``final``; ``form`` is a format, by default one that fits.
    Games and time control are written as given; the caller has checked them.  One game for two is
    graded until grades are certain.
    Several games are played often enough for a standard error of `MOST_ERROR`.  Games for more than
    two have no baselines.  Games whose returns span more than `_WIDE` are scored by wins.  The
    baseline is a built-in bot if the server is ``hosted``, and a bot of the staff otherwise.
    """
    played = [get_game(game) for game in games]
    paired = all(game.seats == 2 for game in played)
    style = _TABLES if not paired else _UNTIL_CERTAIN if len(games) == 1 else _REPEATED
    rounds = math.ceil(ENOUGH / (2 * len(games))) if style is _REPEATED and not form else 1
    style = _chosen(form) if form else style
    easy = (_HOUSE if hosted else _STAFF).replace("{game}", games[0])
    wide = [name for name, game in zip(games, played, strict=True) if return_span(game) > _WIDE]
    narrow = any(0 < return_span(game) <= _WIDE for game in played)
    return _TEMPLATE.format(
        name=json.dumps(name, ensure_ascii=False),
        games=json.dumps(list(games)),
        control=json.dumps(time_control),
        rounds=rounds,
        boards=", ".join(VISIBILITIES),
        style=style.replace("{formats}", ", ".join(FORMATS)),
        easy=easy if paired else "# " + _STAFF.split("\n", 2)[2].replace("\n", "\n# "),
        comment="" if paired else "# ",
        share=0.52 if narrow else 0.55 if wide else 0.6,
        scoring=_scoring(games, wide),
        entries=_entries(played),
        zone=f"zone = {json.dumps(zone)}" if zone else '# zone = "Europe/Berlin"',
        **_dates(now, days, dates or {}),
    )


def _dates(now: datetime, days: int, given: Mapping[str, datetime]) -> dict[str, str]:
    """Return opening, freeze and final as the file has them."""
    opening = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    opening = given.get("opening", opening)
    freeze = given.get("freeze", opening + timedelta(days=days))
    final = given.get("final", freeze + timedelta(hours=1))
    dates = {"opening": opening, "freeze": freeze, "final": final}
    return {key: value.isoformat().replace("+00:00", "Z") for key, value in dates.items()}


def _chosen(form: str) -> str:
    """Return the lines on a format, with its parameters to be changed."""
    parameters = "".join(
        f"# {each.name} = {json.dumps(each.default)}  # {each.words}\n"
        for each in described(form)
        if each.default is not None
    )
    return f'[format]\nname = "{form}"  # {{formats}}\n{parameters}'


def _scoring(games: Sequence[str], wide: Sequence[str]) -> str:
    """Return the lines on scoring; ``wide`` are the games to score by wins."""
    if not wide:
        return _SCORING
    table = ", ".join([f'{json.dumps(game)} = "wins"' for game in wide])
    value = '"wins"' if len(wide) == len(games) else f"{{ {table} }}"
    return _BY_WINS.format(wide=" and ".join(wide), scoring=value)


def _entries(played: Sequence[Game]) -> str:
    """Return the lines on the number of bots of a student."""
    sizes = {side_size(game) for game in played}
    if len(sizes) == 1 and max(sizes) > 1:
        return _TEAMS.format(size=max(sizes))
    return "entries_per_student = 1"


def round_robin_text(
    name: str, game: str, time_control: str, *, rounds: int, mirrored: bool, rated: bool
) -> str:
    """Return the competition file of a round robin of one game without students.

    It waits for absent entries without end.
    """
    return toml(
        {
            "name": name,
            "games": [game],
            "time_control": time_control,
            "mirrored": mirrored,
            "rounds": rounds,
            "rated": rated,
            "board": "public",
            "limits": {"students": 0, "matches_at_a_time": MOST_AT_A_TIME, "absent_minutes": 0},
        }
    )
