"""A command group that imports a command only when it is used.

``plyhouse --help`` has to answer at once, so the group knows each command's one-line
help by heart (a test compares it with the command's own) and imports nothing but click.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

import click


class HintingGroup(click.Group):
    """A group that answers a mistyped command with the nearest ones.

    ``order`` maps titles of sections of the help to names of commands; without it, the help lists
    all commands by name.
    """

    def __init__(
        self, *args: Any, order: Mapping[str, Sequence[str]] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.order = order or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the help; those without a section come last."""
        placed = [name for names in self.order.values() for name in names]
        return [*placed, *(name for name in super().list_commands(ctx) if name not in placed)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; raises a usage error that names what was probably meant."""
        name = args[0]
        known = self.list_commands(ctx)
        if name not in known and not name.startswith("-"):
            from difflib import get_close_matches

            near = self._in_groups(ctx, name)
            if not near:
                near = [other for other in known if other.startswith(name)]
                close = get_close_matches(name, known, n=3, cutoff=0.5)
                near += [other for other in close if other not in near]
            if near:
                hint = f"did you mean {' or '.join(near)}?"
            else:
                hint = f"it is one of {', '.join(known)}."
            raise click.UsageError(f"There is no command '{name}': {hint}", ctx)
        return super().resolve_command(ctx, args)

    def _in_groups(self, ctx: click.Context, name: str) -> list[str]:
        """Return the subcommands of this name with their groups, such as ``bot run``."""
        groups = ((each, self.get_command(ctx, each)) for each in self.list_commands(ctx))
        return [
            f"{title} {name}"
            for title, group in groups
            if isinstance(group, click.Group) and name in group.list_commands(ctx)
        ]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with the first sentence of their help, never cut."""
        rows = {
            name: command.get_short_help_str(200).rstrip(".")
            for name in self.list_commands(ctx)
            if (command := self.get_command(ctx, name)) is not None
        }
        write_sections(formatter, self.order or {"Commands": list(rows)}, rows)


class LazyGroup(HintingGroup):
    """A group of commands given as ``{name: ("package.module:attribute", "short help")}``.

    ``lazy`` maps titles of sections to such tables; a group without sections has the title
    "Commands" alone.
    """

    def __init__(
        self, *args: Any, lazy: Mapping[str, Mapping[str, tuple[str, str]]], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.sections = lazy
        self.lazy = {name: entry for table in lazy.values() for name, entry in table.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the tables: what is needed first stands first."""
        return list(self.lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return the command; None for an unknown name."""
        if cmd_name not in self.lazy:
            return None
        module, _, attribute = self.lazy[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by section with their short help, without importing them."""
        rows = {name: text for name, (_, text) in self.lazy.items()}
        write_sections(
            formatter, {title: list(each) for title, each in self.sections.items()}, rows
        )


def write_sections(
    formatter: click.HelpFormatter, order: Mapping[str, Sequence[str]], rows: Mapping[str, str]
) -> None:
    """Write tables of commands with a common width of the first column."""
    width = max(map(len, rows))
    for title, names in order.items():
        with formatter.section(title):
            formatter.write_dl([(name.ljust(width), rows[name]) for name in names])
