"""Uploads of bots, inspected without running any of their code.

The server checks sizes before it reads.  It keeps an arriving package in a temporary file.  All
arriving packages together may have as many bytes as `ROOM` packages of the largest size, so slow
senders do not keep others out.  Above that the server asks the sender to try again.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import tempfile
from collections.abc import Callable, Iterator
from typing import IO, Final

import msgspec

from plyhouse.protocol.errors import ProtocolError
from plyhouse.protocol.hosting.package_inspector import Accepted, answer_of, command
from plyhouse.protocol.hosting.package_rules import Rules, in_units
from plyhouse.server.accounts.roles import role_in
from plyhouse.server.competition_rules.class_list import account_name
from plyhouse.server.config import ServerConfig
from plyhouse.server.wire.limits import Rate
from plyhouse.storage import competition_sql, submission_sql
from plyhouse.storage.errors import SubmissionRefusal
from plyhouse.storage.rows import Identity
from plyhouse.storage.store import Store
from plyhouse.storage.submission_rows import SubmissionRow, no_submission

log = logging.getLogger("plyhouse.server.submissions")

INSPECTION_SECONDS: Final = 60.0
"""The longest time for one inspection; `package_inspector` limits its processor time."""


async def inspect_upload(name: str, upload: IO[bytes], rules: Rules) -> Accepted:
    """Inspect an upload in a separate process.

    ``upload`` is an open file at its beginning.

    Raises `SubmissionRefusal` for a package that breaks a rule, and for one that takes more time or
    memory than the process may use.
    """
    process = await asyncio.create_subprocess_exec(
        *command(name, rules),
        stdin=upload.fileno(),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,  # Ctrl-C must reach only the server
    )
    complaint = b""
    try:
        async with asyncio.timeout(INSPECTION_SECONDS):
            output, complaint = await process.communicate()
        answer = answer_of(output)
    except (TimeoutError, msgspec.MsgspecError):
        why = complaint.decode(errors="replace")[-500:]
        log.warning("an upload could not be read", extra={"file": name, "why": why})
        raise SubmissionRefusal(
            "submission/too_complex",
            f"{name or 'the package'} takes too much time or memory to read; send a smaller or "
            "simpler package",
        ) from None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if isinstance(answer, Accepted):
        return answer
    raise SubmissionRefusal(answer.code, answer.message)


AT_ONCE: Final = 256
"""Most players who may send packages at the same time."""
ROOM: Final = 32
"""Limit on the bytes of all arriving packages, in packages of the largest size."""
IN_MEMORY: Final = 1 << 16
"""Bytes of an arriving package that stay in memory."""
INSPECTIONS: Final = 2
"""Most packages that are inspected at a time."""
SECONDS: Final = 600.0
"""The longest time for sending a package."""
HOUR: Final = 3600.0


class Uploads:
    """Receives packages, if the server hosts bots."""

    def __init__(self, config: ServerConfig, store: Store, now: Callable[[], int]) -> None:
        self._config = config
        self._store = store
        self._rate = Rate(
            config.submissions_per_hour, config.submissions_per_hour / HOUR, now, most=100_000
        )
        self._sending: dict[int, Incoming] = {}
        """The packages that players are sending, by player."""
        self._inspecting = asyncio.Semaphore(INSPECTIONS)
        self.rules = Rules(
            max_packed=config.max_submission_bytes,
            packages=frozenset(_listed(config.hosted_packages)),
            runtimes=frozenset(_listed(config.hosted_programs)),
            installed=False,
        )

    def refuse_unless_hosted(self) -> None:
        """Raise `SubmissionRefusal` if this server takes no submissions."""
        if not self._config.hosted:
            raise SubmissionRefusal(
                "submission/not_hosted",
                "this server does not run bots for others: let yours run where you are and connect "
                "it, plyhouse bot run mybot.py (who runs the server can change that: "
                "plyhouse serve --hosted)",
            )

    def refuse_size(self, size: int) -> None:
        """Raise `SubmissionRefusal` if a package has more bytes than allowed."""
        if size > self.rules.max_packed:
            raise SubmissionRefusal(
                "submission/too_large",
                f"a package has at most {in_units(self.rules.max_packed)} here: leave out what the "
                "bot does not need, or make its data smaller",
            )

    @contextlib.contextmanager
    def place(self, player_id: int) -> Iterator[Incoming]:
        """Yield an empty package for a player's upload.

        Raises `SubmissionRefusal` or `ProtocolError`.
        """
        if player_id in self._sending:
            raise SubmissionRefusal(
                "submission/busy", "you are sending another package; wait until it has come"
            )
        if len(self._sending) >= AT_ONCE:
            raise _overloaded()
        if not self._rate.take(player_id):
            seconds = max(1, math.ceil(self._rate.wait(player_id)))
            raise SubmissionRefusal(
                "submission/too_many",
                f"a player may submit {self._config.submissions_per_hour} times an hour: "
                f"wait {seconds} s, and try your bot at home meanwhile "
                "(plyhouse bot check --sandbox)",
                retry_after=seconds,
            )
        with tempfile.SpooledTemporaryFile(IN_MEMORY) as file:
            self._sending[player_id] = coming = Incoming(self, file)
            try:
                yield coming
            finally:
                del self._sending[player_id]

    def refuse_more(self, size: int) -> None:
        """Raise `ProtocolError` if ``size`` more bytes exceed `ROOM`."""
        there = sum(each.size for each in self._sending.values())
        if there + size > ROOM * self.rules.max_packed:
            raise _overloaded()

    async def accept(
        self,
        identity: Identity,
        sent: Incoming,
        *,
        file: str = "",
        bot: str = "",
        label: str = "",
        competition: str = "",
    ) -> SubmissionRow:
        """Inspect a received package and store it for its check.

        ``file`` is the file's name at the sender.  The bot's name is ``bot``, or else the name in
        the package, or else the file's name.  Raises `SubmissionRefusal` and the errors of
        `plyhouse.storage.submissions.Submissions.add`.
        """
        config, store = self._config, self._store
        if competition:  # report a misspelt one before a bot is made
            await store.read(competition_sql.find, competition)
        file = file.replace("\\", "/").rpartition("/")[2]
        async with self._inspecting:
            package = await inspect_upload(file, sent.from_start(), self.rules)
        name = bot or package.name or _bot_name(file)
        if not name or name.lower() == identity.player.lower():
            fault = f"cannot be called {name!r} like your account" if name else "has no name"
            raise SubmissionRefusal(
                "submission/bot_name",
                f'the bot {fault}: give another name with --bot NAME, or as name = "..." in '
                "plyhouse.toml",
            )
        row = await store.ensure_bot(
            identity.player_id, name, "bot", limit=config.max_bots_per_player
        )
        if row.disabled_ms is not None:
            raise ProtocolError("auth/disabled")
        return await store.submissions.add(
            row.id,
            label,
            package.digest,
            package.archive,
            store.now(),
            competition=competition,
            most_bytes=config.max_submitted_bytes_per_player,
            most_versions=config.max_versions_per_bot,
            needs=package.program,
        )

    async def seen_by(self, identity: Identity, submission_id: int) -> SubmissionRow:
        """Return a submission that the identity owns or may see as staff.

        Raises `Unknown` otherwise.
        """
        row = await self._store.read(submission_sql.find, submission_id)
        if row.player_id != identity.player_id and not await self._staffed(row, identity):
            raise no_submission(submission_id)
        return row

    async def _staffed(self, row: SubmissionRow, identity: Identity) -> bool:
        """Return whether the identity is on the staff of a competition of this submission."""
        for each in row.competitions:
            if await role_in(self._store, each.competition_id, identity) is not None:
                return True
        return False


class Incoming:
    """A package that is being received."""

    def __init__(self, uploads: Uploads, file: IO[bytes]) -> None:
        self._uploads = uploads
        self._file = file
        self.size = 0

    def add(self, part: bytes) -> None:
        """Append the next bytes.

        Raises `SubmissionRefusal` if the package is too large, `ProtocolError` if the server
        receives too much.
        """
        self._uploads.refuse_size(self.size + len(part))
        self._uploads.refuse_more(len(part))
        self._file.write(part)
        self.size += len(part)

    def from_start(self) -> IO[bytes]:
        """Return the package as an open file, positioned at its start."""
        self._file.fileno()  # makes an in-memory temporary file a real one
        self._file.seek(0)
        return self._file


def _overloaded() -> ProtocolError:
    return ProtocolError(
        "server/overloaded", "Many players are submitting right now. Try again in a few seconds."
    )


def _bot_name(file: str) -> str:
    """Return a bot name from the file's name, for a package that names none.

    Latin letters lose their accents, as they always did, so that the next package is the same bot.
    """
    stem = file.rpartition(".")[0] if file.endswith((".py", ".zip")) else file
    return account_name(stem, gap="_", plain=True)


def _listed(text: str) -> list[str]:
    return [each for part in text.split(",") if (each := part.strip())]
