"""A command group that imports a command only when it is used.

``plyhouse --help`` has to answer at once, so the group knows each command's one-line
help by heart (a test compares it with the command's own) and imports nothing but click.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click

__all__ = ["HintingGroup", "LazyGroup"]


class HintingGroup(click.Group):
    """A group that answers a mistyped command with the nearest ones."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; raises a usage error that names what was probably meant."""
        name = args[0]
        known = self.list_commands(ctx)
        if name not in known and not name.startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(name, known, n=3, cutoff=0.5)
            near += [other for other in known if other.startswith(name) and other not in near]
            if near:
                hint = f"did you mean {' or '.join(near)}?"
            else:
                hint = f"it is one of {', '.join(known)}."
            raise click.UsageError(f"There is no command '{name}': {hint}", ctx)
        return super().resolve_command(ctx, args)


class LazyGroup(HintingGroup):
    """A group of commands given as ``{name: ("package.module:attribute", "short help")}``."""

    def __init__(self, *args: Any, lazy: Mapping[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the table: what is needed first stands first."""
        return list(self.lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return the command; None for an unknown name."""
        if cmd_name not in self.lazy:
            return None
        module, _, attribute = self.lazy[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with their short help, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_text) for name, (_, help_text) in self.lazy.items()])
