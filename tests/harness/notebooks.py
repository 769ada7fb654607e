"""The notebooks of examples/notebooks with the outputs of a fresh run.

``python -m tests.harness.notebooks examples/notebooks`` runs and rewrites them.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from tests.harness.patience import PATIENCE
from tests.harness.ports import kept_port
from traitlets.config import Config

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "notebooks"
CHANNELS = ("shell", "iopub", "stdin", "hb", "control")


def run(name: str, target: Path) -> None:
    """Execute a notebook and write it, with its outputs, into the target folder."""
    notebook = nbformat.read(FOLDER / name, as_version=4)  # type: ignore[no-untyped-call]
    resources = {"metadata": {"path": str(FOLDER)}}
    # Any free ports are chosen before the kernel takes them: another test may be faster.
    ports = {f"{channel}_port": kept_port() for channel in CHANNELS}
    config = Config({"KernelManager": {"cache_ports": False, **ports}})
    client = NotebookClient(
        notebook,
        config=config,
        record_timing=False,
        coalesce_streams=True,
        resources=resources,
        startup_timeout=int(PATIENCE),
        iopub_timeout=int(PATIENCE),  # by default, output that comes after four seconds is lost
        raise_on_iopub_timeout=True,
    )
    client.execute()
    # The kernel adds its version of Python, which says nothing about the notebook.
    notebook.metadata = {
        "kernelspec": notebook.metadata["kernelspec"],
        "language_info": {"name": "python"},
    }
    nbformat.write(notebook, target / name)  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    for path in sorted(FOLDER.glob("*.ipynb")):
        run(path.name, Path(sys.argv[1]))
