"""Program that runs a NATS server until its standard input ends: with its parent at the latest.
On Linux the server also ends with this program, however that ends.

It reads one line of JSON with the path of the program, a token and a port, 0 for any.  It prints
the addresses as JSON once the server accepts connections, or the last line of the server's log to
standard error.  It uses the standard library only, and is started as a file.
"""

from __future__ import annotations

import ctypes
import json
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

START_S = 20.0
"""Time for the server to be ready."""
STOP_S = 5.0
"""Time for the server to stop before it is killed."""


def main() -> int:
    """Run the server; return its exit code."""
    asked = json.loads(sys.stdin.readline())
    with tempfile.TemporaryDirectory(prefix="plyhouse-nats-") as folder:
        settings = {
            "host": "127.0.0.1",
            "port": asked["port"] or -1,
            "authorization": {"token": asked["token"]},
            "ports_file_dir": folder,
        }
        # In a file that only this user can read, as everybody sees the arguments of a process.
        file = Path(folder, "nats.conf")
        file.touch(0o600)
        file.write_text(json.dumps(settings), encoding="utf-8")
        journal = Path(folder, "nats.log")
        with (
            journal.open("wb") as log,
            subprocess.Popen(  # noqa: S603 - the program that our parent found
                [asked["program"], "--config", str(file)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=_end_with_parent if sys.platform == "linux" else None,
            ) as server,
        ):
            threading.Thread(target=_stop_at_end_of_input, args=(server,), daemon=True).start()
            ports = Path(folder, f"nats-server_{server.pid}.ports")
            deadline = time.monotonic() + START_S
            while server.poll() is None and time.monotonic() < deadline:
                if ports.exists() and (found := ports.read_text(encoding="utf-8")):
                    sys.stdout.write(found.rstrip().replace("\n", "") + "\n")
                    sys.stdout.flush()
                    break
                time.sleep(0.01)
            else:
                server.kill()
                lines = journal.read_text(encoding="utf-8", errors="replace").splitlines()
                sys.stderr.write(lines[-1] if lines else "it wrote no log")
            return server.wait()


def _end_with_parent() -> None:
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGTERM)


def _stop_at_end_of_input(server: subprocess.Popen[bytes]) -> None:
    sys.stdin.read()
    server.terminate()
    try:
        server.wait(STOP_S)
    except subprocess.TimeoutExpired:
        server.kill()


if __name__ == "__main__":
    sys.exit(main())
