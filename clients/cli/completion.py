"""``plyhouse completion``: completion of commands and options in a shell."""

from __future__ import annotations

import click


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a script for shell completion.

    Load it from the file that your shell reads at its start:

    \b
    bash  echo 'eval "$(plyhouse completion bash)"' >> ~/.bashrc
    zsh   echo 'eval "$(plyhouse completion zsh)"' >> ~/.zshrc
    fish  plyhouse completion fish > ~/.config/fish/completions/plyhouse.fish

    Open a new shell afterwards. bash has to be 4.4 or newer.
    """  # noqa: D301 - click reads the character \b
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None  # noqa: S101 - click.Choice allows no other
    root = click.get_current_context().find_root().command
    click.echo(found(root, {}, "plyhouse", "_PLYHOUSE_COMPLETE").source())
