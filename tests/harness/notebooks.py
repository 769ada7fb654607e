"""The notebooks of examples/notebooks with the outputs of a fresh run.

``python -m tests.harness.notebooks examples/notebooks`` runs and rewrites them.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "notebooks"


def run(name: str, target: Path) -> None:
    """Execute a notebook and write it, with its outputs, into the target folder."""
    notebook = nbformat.read(FOLDER / name, as_version=4)  # type: ignore[no-untyped-call]
    resources = {"metadata": {"path": str(FOLDER)}}
    client = NotebookClient(
        notebook, record_timing=False, coalesce_streams=True, resources=resources
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
