"""Coverage-guided fuzzing with atheris (libFuzzer), for as long as one likes.

    make fuzz                                       a short run of everything, as CI does
    python tests/attack/fuzz.py codec --runs 1000000
    python tests/attack/fuzz.py frames notation

Targets: ``codec`` (bytes of a frame, as each side and each subprotocol reads them), ``frames``
(a stream of bytes cut into websocket frames, whole and in pieces alike), ``notation`` (the text of
an action in some position of some game), ``packages`` (zip files and names in them), ``manifests``
(plyhouse.toml and requirements.txt).  An input may take five seconds of a processor, and a process
1 GiB.  Each process runs one target and prints the time of its slowest input and its peak memory;
an input that breaks a promise is written to ``crash-...`` and named.
"""

from __future__ import annotations

import argparse
import inspect
import io
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import atheris  # type: ignore[import-untyped,import-not-found,unused-ignore]

os.environ["PLYHOUSE_PURE"] = "1"  # what is compiled cannot be followed

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

with atheris.instrument_imports(
    include=["plyhouse.protocol", "plyhouse.server.wire", "plyhouse.games", "tomllib", "packaging"]
):
    import packaging.requirements  # noqa: F401
    from tests.attack.hostile_packages import MANIFESTS, REQUIREMENTS

    from plyhouse.games import get_game
    from plyhouse.games.errors import GameError
    from plyhouse.games.registry import game_names
    from plyhouse.protocol.codec import JSON, MSGPACK
    from plyhouse.protocol.errors import RemoteProtocolError
    from plyhouse.protocol.hosting.package import (
        Package,
        Rules,
        SubmissionError,
        from_entries,
        from_upload,
        from_zip,
        pack,
    )
    from plyhouse.server.wire.frames import FrameReader, InvalidFrame


def codec(data: bytes) -> None:
    """Any bytes are a message, which is written and read again alike, or are refused."""
    # A Python string may hold half surrogates, which no peer can send but a program can.
    text = data.decode("utf-8", "surrogateescape" if data[:1] == b"\xed" else "replace")
    for frame, way in ((data, MSGPACK), (text, JSON), (text, MSGPACK), (data, JSON)):
        for decode in (way.decode_client, way.decode_server):
            try:
                message = decode(frame)
            except RemoteProtocolError as error:
                if not error.code or not error.message:
                    raise AssertionError("a refusal without words") from error
                continue
            again = getattr(way, decode.__name__)(way.encode(message))
            if again != message:
                raise AssertionError(f"{message!r} came back as {again!r}")


def _cut(pieces: list[bytes]) -> tuple[list[tuple[int, bytes]], int | None]:
    reader = FrameReader(300)
    found: list[tuple[int, bytes]] = []
    try:
        for piece in pieces:
            reader.feed(piece)
            while (frame := reader.next()) is not None:
                found.append(frame)
    except InvalidFrame as error:
        return found, error.code
    return found, None


def frames(data: bytes) -> None:
    """A stream is cut into the same frames however it arrives."""
    whole = _cut([data])
    if _cut([bytes([byte]) for byte in data]) != whole:
        raise AssertionError("bytes one by one are cut otherwise")
    if sum(len(payload) for _, payload in whole[0]) > len(data):
        raise AssertionError("more came out than went in")


BOT = ("bot.py", b"", False)
RULES = Rules(installed=False, max_files=20)


def packages(data: bytes) -> None:
    """Any zip, with any names in it, is a package that survives being packed, or is refused."""
    if data[:1] < b"\x80":
        _packed(lambda: from_upload("bot.zip", b"PK\3\4" + data[1:], RULES))
        return
    names = data[1:].decode("utf-8", "replace").split("\n")
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w") as archive:
        warnings.simplefilter("ignore")  # zipfile warns of equal names
        for name in ("bot.py", *names):
            archive.writestr(zipfile.ZipInfo(name), b"")
    _packed(lambda: from_zip(out.getvalue(), RULES))


def manifests(data: bytes) -> None:
    """Any plyhouse.toml and requirements.txt make a package that survives, or are refused."""
    file = "plyhouse.toml" if data[:1] < b"\x80" else "requirements.txt"
    _packed(lambda: from_entries([BOT, (file, data[1:], False)], RULES, "the package"))


def _packed(read: Callable[[], Package]) -> None:
    try:
        package = read()
    except SubmissionError as error:
        if not error.code or len(str(error)) > 2000:
            raise AssertionError(f"a refusal of {len(str(error))} characters") from error
        return
    again = from_zip(pack(package), RULES)
    if again.files != package.files:
        raise AssertionError(f"{sorted(package.files)} came back as {sorted(again.files)}")


def _zip_seeds() -> list[bytes]:
    """Whole packages, so that not every input is refused for its first bytes."""
    made = []
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", method) as archive:
            archive.writestr("top/bot.py", "x = 1\n" * 9)
            archive.writestr("top/plyhouse.toml", '[bot]\nname = "deep"\n')
        made.append(b"\0" + out.getvalue().removeprefix(b"PK\3\4"))
    names = "a\na/b", "A\na/b/c", "../up", "/etc/x", "\N{GRINNING FACE}" * 96, "C:\\x", "x" * 3_000
    return [*made, *(b"\x80" + each.encode() for each in names)]


def _manifest_seeds() -> list[bytes]:
    good = (
        '[bot]\nname = "deep"\nbot = "bot.py:Mine(depth=4)"\ngames = ["pig"]\n',
        '[bot]\nrun = ["node", "bot.js"]\ngames = ["pig"]\n',
    )
    required = "numpy>=1.26\nscipy ; python_version > '3'\n", "numpy @ file:///etc/passwd"
    texts = [*good, *(text for text, _ in MANIFESTS.values())]
    lists = [*required, *(text for text, _ in REQUIREMENTS.values())]
    return [
        *(b"\0" + each.encode() for each in texts if len(each) < LONGEST["manifests"]),
        *(b"\x80" + each.encode() for each in lists if len(each) < LONGEST["manifests"]),
    ]


def _positions() -> list[tuple[Any, Any]]:
    rng = random.Random(1)
    found = []
    for name in game_names():
        game = get_game(name)
        for length in (0, 1, 3, 8, 20):
            state = game.initial_state()
            for _ in range(length):
                while state.to_move == -1:
                    state = state.after(rng.choice(state.chance_outcomes())[0])
                if state.to_move < 0:
                    break
                state = state.after(rng.choice(state.actions()))
            while state.to_move == -1:
                state = state.after(rng.choice(state.chance_outcomes())[0])
            if state.to_move >= 0:
                found.append((game, state))
    return found


def notation() -> Callable[[bytes], None]:
    """Any text is a legal action, whose own text means the same, or is refused."""
    positions = _positions()
    # Games have an import of their own, which the instrumentation above does not see.
    for kind in {each for game, _ in positions for each in type(game).__mro__}:
        for name in ("parse", "likely", "format"):
            method = vars(kind).get(name)
            if inspect.isfunction(method):
                atheris.instrument_func(method)

    def test(data: bytes) -> None:
        if not data:
            return
        game, state = positions[data[0] % len(positions)]
        text = data[1:].decode("utf-8", "replace")
        try:
            action = game.parse(state, text)
        except GameError:
            return
        if action not in state.actions():
            raise AssertionError(f"{game.spec}: {text!r} means {action!r}, which is not legal")
        if game.parse(state, game.format(state, action)) != action:
            raise AssertionError(f"{game.spec}: the text of {action!r} means something else")

    return test


TARGETS: dict[str, Callable[[], Callable[[bytes], None]]] = {
    "codec": lambda: codec,
    "frames": lambda: frames,
    "notation": notation,
    "packages": lambda: packages,
    "manifests": lambda: manifests,
}

SEEDS: dict[str, Callable[[], list[bytes]]] = {
    "packages": _zip_seeds,
    "manifests": _manifest_seeds,
}

MOST_SECONDS = 5.0
"""Processor time of one input; libFuzzer measures wall time, which a busy machine makes long."""
LONGEST = {"packages": 4_000, "manifests": 17_000}
"""Bytes of an input; of manifests more than either file may have."""


def _measured(test: Callable[[bytes], None], runs: int) -> Callable[[bytes], None]:
    """Print the slowest input and the peak memory after the last of ``runs`` inputs."""
    count, slowest = 0, 0.0

    def run(data: bytes) -> None:
        nonlocal count, slowest
        began = time.process_time()
        test(data)
        slowest = max(slowest, time.process_time() - began)
        if slowest > MOST_SECONDS:
            raise AssertionError(f"an input took {slowest:.1f} s of a processor")
        count += 1
        if count == runs:  # libFuzzer ends the process without running exit handlers
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
            print(
                f"slowest input {slowest * 1000:.0f} ms of a processor, peak memory {peak} MiB",
                flush=True,
            )

    return run


def main() -> None:
    """Run the named targets, each in its own process."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("targets", nargs="*", choices=[[], *TARGETS], metavar="TARGET")
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--one", choices=[*TARGETS], help=argparse.SUPPRESS)
    parser.add_argument("--corpus", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        limits = [f"-runs={options.runs}", f"-seed={options.seed}", "-verbosity=0", "-timeout=120"]
        limits += [f"-max_len={LONGEST.get(options.one, 600)}", "-rss_limit_mb=1024"]
        test = _measured(TARGETS[options.one](), options.runs)
        atheris.Setup([sys.argv[0], *limits, options.corpus], test)
        atheris.Fuzz()
        return
    for target in options.targets or TARGETS:
        print(f"{target}: {options.runs:,} inputs", flush=True)
        same = [f"--runs={options.runs}", f"--seed={options.seed}"]
        with tempfile.TemporaryDirectory() as corpus:
            for number, each in enumerate(SEEDS.get(target, list)()):
                (Path(corpus) / str(number)).write_bytes(each)
            command = [sys.executable, __file__, f"--one={target}", f"--corpus={corpus}", *same]
            subprocess.run(command, check=True)
    print("nothing was found")


if __name__ == "__main__":
    main()
