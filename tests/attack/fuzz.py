"""Coverage-guided fuzzing with atheris (libFuzzer), for as long as one likes.

    make fuzz                                       a short run of everything, as CI does
    python tests/attack/fuzz.py codec --runs 1000000
    python tests/attack/fuzz.py frames notation

Targets: ``codec`` (bytes of a frame, as each side and each subprotocol reads them), ``frames``
(a stream of bytes cut into websocket frames, whole and in pieces alike), ``notation`` (the text of
an action in some position of some game), ``packages`` (uploads, manifests, requirements and file
names).  An input may take five seconds and a process 1 GiB.  Each process runs one target; an
input that breaks a promise is written to ``crash-...`` and named.
"""

from __future__ import annotations

import argparse
import inspect
import io
import os
import random
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable
from typing import Any

import atheris  # type: ignore[import-untyped,import-not-found,unused-ignore]

os.environ["PLYHOUSE_PURE"] = "1"  # what is compiled cannot be followed

with atheris.instrument_imports(
    include=["plyhouse.protocol", "plyhouse.server.wire", "plyhouse.games"]
):
    from plyhouse.games import get_game
    from plyhouse.games.errors import GameError
    from plyhouse.games.registry import game_names
    from plyhouse.protocol.codec import JSON, MSGPACK
    from plyhouse.protocol.errors import RemoteProtocolError
    from plyhouse.protocol.package import (
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


def packages(data: bytes) -> None:
    """Any upload is a package that survives being packed, or is refused with a reason."""
    rules = Rules(installed=False, max_files=20)
    bot = ("bot.py", b"", False)
    kind, rest = data[:1], data[1:]
    try:
        if kind < b"\x40":
            package = from_entries([bot, ("plyhouse.toml", rest, False)], rules, "the package")
        elif kind < b"\x80":
            package = from_entries([bot, ("requirements.txt", rest, False)], rules, "the package")
        elif kind < b"\xc0":
            package = from_upload("bot.zip", b"PK\3\4" + rest, rules)
        else:
            names = rest.decode("utf-8", "replace").split("\n")
            out = io.BytesIO()
            with warnings.catch_warnings(), zipfile.ZipFile(out, "w") as archive:
                warnings.simplefilter("ignore")  # zipfile warns of equal names
                for name in ("bot.py", *names):
                    archive.writestr(zipfile.ZipInfo(name), b"")
            package = from_zip(out.getvalue(), rules)
    except SubmissionError as error:
        if not error.code or len(str(error)) > 2000:
            raise AssertionError(f"a refusal of {len(str(error))} characters") from error
        return
    again = from_zip(pack(package), rules)
    if again.files != package.files:
        raise AssertionError(f"{sorted(package.files)} came back as {sorted(again.files)}")


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
}


def main() -> None:
    """Run the targets that were named, each in a process of its own."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("targets", nargs="*", choices=[[], *TARGETS], metavar="TARGET")
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--one", choices=[*TARGETS], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        limits = [f"-runs={options.runs}", f"-seed={options.seed}", "-max_len=600", "-verbosity=0"]
        limits += ["-timeout=5", "-rss_limit_mb=1024"]
        atheris.Setup([sys.argv[0], *limits], TARGETS[options.one]())
        atheris.Fuzz()
        return
    for target in options.targets or TARGETS:
        print(f"{target}: {options.runs:,} inputs", flush=True)
        same = [f"--runs={options.runs}", f"--seed={options.seed}"]
        subprocess.run([sys.executable, __file__, "--one", target, *same], check=True)
    print("nothing was found")


if __name__ == "__main__":
    main()
