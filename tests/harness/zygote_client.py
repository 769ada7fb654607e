"""The replacements that `tests.harness.zygote` installs for ``plyhouse`` and ``python``.

It runs on a bare interpreter (``-IS``) and imports built-in modules only, so it starts in a
hundredth of a second.
"""

import _signal  # type: ignore[import-not-found]  # signal imports enum
import _socket
import array
import marshal
import os
import sys

FORWARDED = (
    *(_signal.SIGHUP, _signal.SIGINT, _signal.SIGQUIT, _signal.SIGTERM),
    *(_signal.SIGTSTP, _signal.SIGCONT),
)
MODULES = ("plyhouse.clients.cli.main", "plyhouse.clients.arena.process")
"""The modules that the zygote has imported and runs for ``python -m``."""

folder, name = os.path.split(sys.argv[0])
words = sys.argv[1:]
command = 0
early: list[int] = []


def forward(number: int, frame: object) -> None:
    """Pass a signal on, at the latest when the command is known; SIGTSTP as SIGSTOP."""
    if number == _signal.SIGTSTP:
        number = _signal.SIGSTOP
    if command:
        os.kill(command, number)
    else:
        early.append(number)


def next_number(connection: _socket.socket) -> int:
    """Read a line with a number from the zygote."""
    text = b""
    while not text.endswith(b"\n"):
        piece = connection.recv(1)
        if not piece:
            sys.exit("the zygote has gone")
        text += piece
    return int(text)


if name == "python" and not (
    (words[:1] and words[0].endswith(".py"))
    or words[:2] in [["-m", module] for module in MODULES]
    or words[:3] in [["-P", "-m", module] for module in MODULES]
):
    os.execv(sys.executable, [sys.executable, *words])

for signal in FORWARDED:
    if _signal.getsignal(signal) != _signal.SIG_IGN:
        _signal.signal(signal, forward)

zygote = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
zygote.connect(f"{folder}/socket")
request = marshal.dumps((name, words, os.getcwd(), dict(os.environ)))
files = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))
zygote.sendmsg([len(request).to_bytes(4, "big")], [files])
zygote.sendall(request)

command = next_number(zygote)
for signal in early:
    os.kill(command, signal)
code = next_number(zygote)
if code < 0:
    if -code in FORWARDED:
        _signal.signal(-code, _signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
