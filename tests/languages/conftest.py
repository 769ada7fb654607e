"""A server for bots in other languages."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator

import pytest
from tests.harness.language_bots import Server
from tests.harness.patience import PATIENCE
from tests.harness.zygote import Zygote


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, zygote: Zygote) -> Iterator[Server]:
    """A server on its own database, and the means to make players on it."""
    folder = tmp_path_factory.mktemp("server")
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PLYHOUSE_")
    }
    if "PLYHOUSE_PURE" in os.environ:
        environment["PLYHOUSE_PURE"] = os.environ["PLYHOUSE_PURE"]
    environment["PLYHOUSE_DATABASE"] = f"sqlite:///{folder / 'plyhouse.db'}"
    environment["PYTHONUNBUFFERED"] = "1"
    with (folder / "stderr").open("w") as errors:
        process = subprocess.Popen(
            [zygote.plyhouse, "serve", "--port", "0"],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    try:
        assert process.stdout is not None
        with process.stdout:
            line = process.stdout.readline()
            found = re.search(r"listening on (http://\S+)", line)
            assert found, line + (folder / "stderr").read_text()
            yield Server(found[1], environment, folder, zygote)
            process.terminate()
            process.wait(PATIENCE)
    finally:
        process.kill()
        process.wait()
