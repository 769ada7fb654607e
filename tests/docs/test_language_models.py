"""The script of the tutorial for language models, where it cannot play."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "language-models.md"


def test_script_of_the_tutorial_without_a_login_ends_in_sentences(tmp_path: Path) -> None:
    found = re.search(r'```python title="standin.py"\n(.*?)```', PAGE.read_text(), re.DOTALL)
    assert found is not None
    (tmp_path / "standin.py").write_text(found[1])
    home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "PLYHOUSE_PURE": "1"}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "standin.py"],
        cwd=tmp_path,
        env={**os.environ, **home, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    first, second = done.stderr.splitlines()
    assert "run `plyhouse login`" in first
    assert second == "No match was played to its end: Connection closed"
    assert done.returncode == 1
