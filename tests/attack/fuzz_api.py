"""The HTTP API under schemathesis: every request gets a documented answer.

    make fuzz                                       a short run, as CI does
    python tests/attack/fuzz_api.py --examples 1000

Starts a server on a free port, with an empty database and a token that may do everything, and ends
it.  The log of the server, thousands of lines about nonsense, is printed only if a check failed.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)


def main() -> None:
    """Run the phases of schemathesis that need no order of requests; exit as it does."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=20, help="of each operation")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    here = f"{Path(sys.executable).parent}/"
    with tempfile.TemporaryDirectory() as folder:
        database = f"--database=sqlite:///{Path(folder, 'fuzz.db')}"
        everything = [f"--scope={scope}" for scope in ("play", "organise", "admin")]
        command = ("admin", "player", "add", "fuzzer")
        added = [here + "plyhouse", *command, *everything, database]
        done = subprocess.run(added, check=True, stdout=subprocess.PIPE, text=True)
        serving = [here + "plyhouse", "serve", "--port=0", "--hosted", database]
        log = Path(folder, "log")
        with (
            log.open("w") as errors,
            subprocess.Popen(serving, stdout=subprocess.PIPE, stderr=errors, text=True) as server,
        ):
            try:
                assert server.stdout is not None
                found = re.search(r"http://\S+", server.stdout.readline())
                assert found is not None, "the server did not say where it is"
                testing = [
                    *(here + "schemathesis", "run", f"{found[0].rstrip('/')}/api/openapi.json"),
                    *("--phases", "examples,coverage,fuzzing", "--checks", ",".join(CHECKS)),
                    *("--header", f"Authorization: Bearer {done.stdout.strip()}"),
                    *(f"--max-examples={options.examples}", f"--seed={options.seed}"),
                    *("--warnings", "off"),
                ]
                tested = subprocess.run(testing, cwd=folder)
            finally:
                server.terminate()
        if tested.returncode:
            sys.stderr.write(log.read_text())
    sys.exit(tested.returncode)


if __name__ == "__main__":
    main()
