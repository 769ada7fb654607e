"""``plyhouse bot new``: write a starter bot that already plays."""

from __future__ import annotations

import keyword
import re
from pathlib import Path
from typing import Final

import click

from plyhouse.clients.shared.errors import EXIT_USAGE, CommandError
from plyhouse.clients.shared.output import note
from plyhouse.games.base import Game, Information

_HEAD: Final = '''"""A bot for {title}.

Try it:        plyhouse match {file}{others}
Play it:       plyhouse play {shell_spec} --against {file}
Check it:      plyhouse bot check {file}
Let it play:   plyhouse bot run {file} --seek
"""

{imports}


class {name}(Bot):
    """What makes this bot special: say it here."""

    games = ("{spec}",)

'''

_SEARCHING: Final = '''    def choose(self, turn: Turn) -> Any:
        """Look as far ahead as the clock allows."""
        # turn.state is the position, turn.legal what you can do, turn.clock the time.
        # {search}() takes evaluate=..., a function of yours that judges positions.
{note}        return {search}(turn.game, turn.state, turn.limit).action
'''

_NOTE: Final = """        # The game's own book and solver are then off; endings=True turns them on.
"""

_HIDDEN: Final = '''    def choose(self, turn: Turn) -> Any:
        """Try actions in guesses of the hidden part, and take what is best on average."""
        # turn.observation is all you see; turn.sample() is one position that fits it.
        totals = dict.fromkeys(turn.legal, 0.0)
        tries = dict.fromkeys(turn.legal, 0)
        best = turn.legal[0]
        end = monotonic() + min(turn.limit.time or 1.0, 1.0)
        for action in turn.legal * 100:
            if monotonic() > end:
                break
            totals[action] += self.playout(turn.sample().after(action), turn)
            tries[action] += 1
            tried = [each for each in turn.legal if tries[each]]
            best = max(tried, key=lambda each: totals[each] / tries[each])
            turn.report(best)  # it is played if the time is over before choose returns
        return best

    def playout(self, state: Any, turn: Turn) -> float:
        """What I get when everybody goes on at random."""
        while state.to_move != TERMINAL:
            if state.to_move == CHANCE:
                outcomes, weights = zip(*state.chance_outcomes(), strict=True)
                state = state.after(turn.rng.choices(outcomes, weights)[0])
            else:
                state = state.after(turn.rng.choice(state.actions()))
        return float(state.returns()[turn.seat])
'''


@click.command("new")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--game",
    metavar="SPEC",
    default="connect_four",
    show_default=True,
    help="First game of the bot; the starter uses a search that fits it.",
)
@click.option("--force", is_flag=True, help="Overwrite the file if it exists.")
def new_bot(file: Path, game: str, force: bool) -> None:
    """Write a starter bot into a new file.

    FILE is a Python file, such as mybot.py.
    """
    from plyhouse.games.registry import get_game

    if file.suffix != ".py":
        raise CommandError(
            f"A bot is a Python file: name it {file.with_suffix('.py')}.", EXIT_USAGE
        )
    rules = get_game(game)
    text = starter(file, rules)
    if not file.parent.is_dir():
        raise CommandError(f"There is no folder {file.parent}: make it first.", EXIT_USAGE)
    try:
        with open(file, "w" if force else "x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        raise CommandError(
            f"{file} exists already; choose another name, or overwrite it with --force.",
            EXIT_USAGE,
        ) from None
    others = " random" * (rules.seats - 1)
    note(f"Wrote {file}. Try it: plyhouse match {file}{others}")


def starter(file: Path, game: Game) -> str:
    """Return the source of a starter bot for ``game``, to be written to ``file``."""
    if game.info.information is Information.IMPERFECT:
        body = _HIDDEN
        needed = "from time import monotonic\n"
        ours = [
            "from plyhouse.bots import Bot, Turn",
            "from plyhouse.games import CHANCE, TERMINAL",
        ]
    else:
        from plyhouse.search import recommended

        needed = ""
        search = recommended(game).algorithm
        body = _SEARCHING.format(search=search, note=_NOTE if search == "alpha_beta" else "")
        ours = ["from plyhouse.bots import Bot, Turn", f"from plyhouse.search import {search}"]
    head = _HEAD.format(
        title=game.info.title,
        file=file.name,
        spec=game.spec,
        shell_spec=_quoted(game.spec),
        others=" random" * (game.seats - 1),
        imports=needed + "\n".join(["from typing import Any", "", *ours]),
        name=class_name(file.stem),
    )
    return head + body


def class_name(stem: str) -> str:
    """``my_first-bot`` to ``MyFirstBot``, and ``mybot`` to ``MyBot``."""
    # "mybot" and "deepbot" are two words; "robot" is one.
    spaced = re.sub(r"(?<=[a-z]{2})(?<!^ro)bot(?![a-z])", "_bot", stem)
    parts = re.split(r"[^A-Za-z0-9]+", spaced)
    name = "".join(part[:1].upper() + part[1:] for part in parts if part)
    if not name or not name[0].isalpha() or keyword.iskeyword(name) or name in ("Bot", "Turn"):
        return f"My{name}" if name else "MyBot"
    return name


def _quoted(spec: str) -> str:
    """A spec as one writes it in a shell."""
    return spec if re.fullmatch(r"[\w./:-]+", spec) else f"'{spec}'"
