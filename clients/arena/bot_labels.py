"""Names of the bots of a series, from how they were given on the command line."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

PATH_OPTION = re.compile(r"""[\s,]*\b\w+\s*=\s*(["'])[^"']*/[^"']*\1(?=.*\)$)""")
"""An option that is an address or a path, which would make a name long and is no part of it."""


def contest_labels(contest: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the names of all bots in each series: only those of the candidates, which come first,
    differ between series.
    """
    firsts = tuple(bots[0] for bots in contest)
    labels = bot_labels(firsts + contest[0][1:])
    return [(label, *labels[len(firsts) :]) for label in labels[: len(firsts)]]


def bot_labels(bots: tuple[str, ...]) -> tuple[str, ...]:
    """Return a short name for each bot, all different: of its file, class or program.

    Bots of one name get their folders or arguments as well, and at last a number.  Characters that
    names of bots cannot have become hyphens.

    >>> bot_labels(("my bot (copy).py", "bots/a.py:Bold", "random", "random"))
    ('my-bot-copy', 'Bold', 'random', 'random-2')
    >>> bot_labels(("old/mybot.py", "new/mybot.py", "cmd:./go --depth 2", "cmd:./go --depth 3"))
    ('old-mybot', 'new-mybot', 'go-depth-2', 'go-depth-3')
    >>> bot_labels(('llm(model="small", endpoint="http://127.0.0.1/v1")', "random"))
    ('llm-model-small', 'random')
    """
    names = [_names(bot) for bot in bots]
    short = [each[0].lower() for each in names]
    labels: list[str] = []
    for bot, (name, full) in zip(bots, names, strict=True):
        alike = {other for other, text in zip(bots, short, strict=True) if text == name.lower()}
        label = name if alike == {bot} else full
        number, taken = 1, label
        while taken.lower() in (each.lower() for each in labels):  # names do not differ by case
            number += 1
            taken = f"{label}-{number}"
        labels.append(taken)
    return tuple(labels)


def _names(bot: str) -> tuple[str, str]:
    """Return a bot's short name, and one with its folder or arguments."""
    if bot.startswith("cmd:"):
        program, *arguments = shlex.split(bot.removeprefix("cmd:"))
        # A program on the PATH runs what the author wrote, as in `node bot.mjs`.
        file = next((each for each in arguments if Path(each).is_file()), "")
        own = program if "/" in program or not file else file
        name = Path(own).stem if own == file else Path(program).name
        folder = "" if own == program == name else Path(own).parent.name
        return _label(name), _label(" ".join([folder, name, *arguments]))
    path, _, kind = PATH_OPTION.sub("", bot).partition(".py:")
    place = Path(path.removesuffix(".py"))
    if place.is_dir():
        place = place.resolve()
    name = kind or place.name
    return _label(name), _label(f"{place.parent.name} {name}")


def _label(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.]+", "-", text).strip("-.")[:28].strip("-.") or "bot"
