"""Commands that tests let a zygote fork."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from tests.harness import zygote
from tests.harness.scripted_bot import NOBODY

CLIENT = Path(zygote.__file__).with_name("zygote_client.py")


@pytest.mark.parametrize("told", [True, False], ids=["told its id", "not told yet"])
def test_signal_after_the_end_of_a_command_leaves_its_exit_code(
    tmp_path: Path, *, told: bool
) -> None:
    """A command that had ended by itself seemed to end with a traceback."""
    program = shutil.copy(CLIENT, tmp_path / "plyhouse")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        listener.listen()
        client = subprocess.Popen(
            [sys.executable, "-IS", program], stderr=subprocess.PIPE, text=True
        )
        with listener.accept()[0] as connection:
            size = int.from_bytes(connection.recv(4, socket.MSG_WAITALL), "big")
            connection.recv(size, socket.MSG_WAITALL)
            if told:
                connection.sendall(b"%d\n" % NOBODY)
            client.send_signal(signal.SIGCONT)
            connection.sendall(b"7\n" if told else b"%d\n7\n" % NOBODY)
            _, complaint = client.communicate(timeout=zygote.PATIENCE)
    assert (client.returncode, complaint) == (7, "")
