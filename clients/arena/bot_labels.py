"""Names of the bots of a series, from how they were given on the command line."""

from __future__ import annotations

import re
from pathlib import Path


def contest_labels(contest: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the names of all bots in each series: only those of the candidates, which come first,
    differ between series.
    """
    firsts = tuple(bots[0] for bots in contest)
    labels = bot_labels(firsts + contest[0][1:])
    return [(label, *labels[len(firsts) :]) for label in labels[: len(firsts)]]


def bot_labels(bots: tuple[str, ...]) -> tuple[str, ...]:
    """Return a short name for each bot, all different: of its file or class, or with a number.

    Characters that names of bots cannot have become hyphens.

    >>> bot_labels(("my bot (copy).py", "bots/a.py:Bold", "random", "random"))
    ('my-bot-copy', 'Bold', 'random', 'random-2')
    """
    labels: list[str] = []
    for bot in bots:
        path, _, name = bot.removeprefix("cmd:").partition(".py:")
        label = name or Path(path).name.removesuffix(".py")
        label = re.sub(r"[^A-Za-z0-9_.-]+", "-", label)[:28].strip("-.") or "bot"
        number, taken = 1, label
        while taken.lower() in (each.lower() for each in labels):  # names do not differ by case
            number += 1
            taken = f"{label}-{number}"
        labels.append(taken)
    return tuple(labels)
