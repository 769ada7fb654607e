"""Decide whether a command draws in place or writes lines, and what it can draw with."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from plyhouse.clients.shared.output import has_controls

if TYPE_CHECKING:
    from plyhouse.clients.terminal.colours import Ink

F = TypeVar("F", bound=Callable[..., Any])


def plain_option() -> Callable[[F], F]:
    """``--plain``: lines of text, one after the other."""
    return click.option(
        "--plain",
        is_flag=True,
        help="Lines of text instead of a screen that is drawn in place: for screen readers, logs "
        "and pipes, where it goes without saying.",
    )


def draws_in_place(plain: bool) -> bool:
    """Return whether there is a terminal on all sides that can be drawn on, and nobody minds."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    return not plain and all(stream is not None and has_controls(stream) for stream in streams)


def terminal_ink() -> Ink:
    """Colours unless ``NO_COLOR`` is set, and the characters that the terminal's encoding has."""
    from plyhouse.clients.terminal.colours import Ink

    encoding = (getattr(sys.stdout, "encoding", "") or "").lower().replace("-", "")
    return Ink(colours=not os.environ.get("NO_COLOR"), unicode=encoding in ("utf8", "utf16"))


def is_light() -> bool:
    """Return whether the terminal says that its ground is light, as some do in ``COLORFGBG``.

    Boards look the same on both; this is for what is written around them.
    """
    ground = os.environ.get("COLORFGBG", "").rpartition(";")[2]
    return ground in ("7", "9", "10", "11", "12", "13", "14", "15")
