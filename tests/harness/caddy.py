"""Caddy with the site of deploy/, without TLS and at another address."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

__all__ = ["CADDY", "caddy"]

CADDY = shutil.which("caddy")


@contextlib.contextmanager
def caddy(site: Path, folder: Path, port: int, server_port: int) -> Iterator[None]:
    """Run Caddy with a site for the time of the block, in front of a server on this machine."""
    assert CADDY is not None
    text = site.read_text()
    for old, new in (
        ("games.example.org {", f"http://127.0.0.1:{port} {{"),
        ("127.0.0.1:8765", f"127.0.0.1:{server_port}"),
    ):
        assert old in text, f"{site.name} does not say {old!r} any more"
        text = text.replace(old, new)
    config = folder / "Caddyfile"
    config.write_text(f"{{\n\tadmin off\n}}\n\n{text}")
    homes = dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"), str(folder))
    with subprocess.Popen(
        [CADDY, "run", "--config", str(config), "--adapter", "caddyfile"],
        stderr=subprocess.DEVNULL,
        env={**os.environ, **homes},
    ) as process:
        try:
            yield
        finally:
            process.terminate()
            process.wait(timeout=100)
