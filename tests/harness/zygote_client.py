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
    *(_signal.SIGTSTP, _signal.SIGCONT, _signal.SIGUSR1, _signal.SIGUSR2),
)
BOT = "plyhouse.bots.process"
"""The module whose first two arguments are files that it inherits."""
FORK_SERVER = "plyhouse.bots.sandbox.fork_server"
"""The module whose only argument is a file that it inherits; another zygote runs it."""
MODULES = (
    BOT,
    FORK_SERVER,
    "plyhouse.clients.arena.process",
    "plyhouse.clients.builtin_bots.process",
    "plyhouse.clients.cli.main",
    "plyhouse.server.jobs.helper_processes",
)
"""The modules that the zygote has imported and runs for ``python -m``."""
OPTIONS = ("-I", "-P", "-u")

folder, name = os.path.split(sys.argv[0])
words = sys.argv[1:]
program = words[sum(word in OPTIONS for word in words[:2]) :]
inherited = [
    int(word)
    for module, arguments in ((BOT, program[2:4]), (FORK_SERVER, program[2:3]))
    if program[:2] == ["-m", module]
    for word in arguments
]
command = 0
early: list[int] = []


def forward(number: int, frame: object) -> None:
    """Pass a signal on, at the latest when the command is known; SIGTSTP as SIGSTOP."""
    if number == _signal.SIGTSTP:
        number = _signal.SIGSTOP
    if not command:
        early.append(number)
        return
    try:  # noqa: SIM105 - contextlib is not built in
        os.kill(command, number)
    except ProcessLookupError:  # it has just ended
        pass


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
    or (program[:1] == ["-m"] and program[1:2] and program[1] in MODULES)
):
    os.execv(sys.executable, [sys.executable, *words])

for signal in FORWARDED:
    if _signal.getsignal(signal) != _signal.SIG_IGN:
        _signal.signal(signal, forward)

zygote = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
zygote.connect(f"{folder}/{'boxes' if program[:2] == ['-m', FORK_SERVER] else 'socket'}")
request = marshal.dumps((name, words, os.getcwd(), dict(os.environ)))
files = array.array("i", [0, 1, 2, *inherited])
zygote.sendmsg([len(request).to_bytes(4, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, files)])
zygote.sendall(request)
for file in inherited:  # the other end must notice when the process closes it
    os.close(file)

command = next_number(zygote)
for signal in early:
    forward(signal, None)
code = next_number(zygote)
if code < 0:
    if -code in FORWARDED:
        _signal.signal(-code, _signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
