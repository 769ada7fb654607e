"""Bots that are handed in: looked at without running anything of them, and kept for their check.

What is read is bounded before it is read.  A package that is on its way lies in a file, and only
as many bytes as `ROOM` packages may have are there at a time: who sends slowly keeps no room from
others by waiting.  Whoever comes while there is no room is asked to come again.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import tempfile
from collections.abc import Callable, Iterator
from typing import IO, Final

from plyhouse.protocol.errors import ProtocolError
from plyhouse.protocol.package_rules import Rules, in_units
from plyhouse.server.accounts.roles import role_in
from plyhouse.server.competition.students import account_name
from plyhouse.server.config import ServerConfig
from plyhouse.server.hosting.package_inspection import inspect_upload
from plyhouse.server.wire.rates import Rate
from plyhouse.storage.errors import SubmissionRefusal
from plyhouse.storage.rows import Identity
from plyhouse.storage.store import Store
from plyhouse.storage.submission_rows import SubmissionRow, no_submission

__all__ = ["Incoming", "Uploads"]

AT_ONCE: Final = 256
"""Players who may be sending at a time."""
ROOM: Final = 32
"""Whole packages for which there is room on their way."""
IN_MEMORY: Final = 1 << 16
"""Bytes of a package that are kept in memory while it comes."""
INSPECTIONS: Final = 2
"""Packages that are read at a time."""
SECONDS: Final = 600.0
"""How long sending one may take."""
HOUR: Final = 3600.0


class Uploads:
    """Takes packages, if the server hosts bots."""

    def __init__(self, config: ServerConfig, store: Store, now: Callable[[], int]) -> None:
        self._config = config
        self._store = store
        self._rate = Rate(
            config.submissions_per_hour, config.submissions_per_hour / HOUR, now, most=100_000
        )
        self._sending: dict[int, Incoming] = {}
        """What players send now."""
        self._inspecting = asyncio.Semaphore(INSPECTIONS)
        self.rules = Rules(
            max_packed=config.max_submission_bytes,
            packages=frozenset(_listed(config.hosted_packages)),
            runtimes=frozenset(_listed(config.hosted_programs)),
            installed=False,
        )

    def refuse_unless_hosted(self) -> None:
        """Raise `SubmissionRefusal` where nothing can be handed in."""
        if not self._config.hosted:
            raise SubmissionRefusal(
                "submission/not_hosted",
                "this server does not run bots for others: let yours run where you are and connect "
                "it, plyhouse bot run mybot.py (who runs the server can change that: "
                "plyhouse serve --hosted)",
            )

    def refuse_size(self, size: int) -> None:
        """Raise `SubmissionRefusal` for a package of more bytes than may be sent."""
        if size > self.rules.max_packed:
            raise SubmissionRefusal(
                "submission/too_large",
                f"a package has at most {in_units(self.rules.max_packed)} here: leave out what the "
                "bot does not need, or make its data smaller",
            )

    @contextlib.contextmanager
    def place(self, player_id: int) -> Iterator[Incoming]:
        """What a player begins to send; raises `SubmissionRefusal` or `ProtocolError`."""
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
                f"a player hands in at most {self._config.submissions_per_hour} times an hour: "
                f"wait {seconds} s, and try your bot at home meanwhile (plyhouse check --sandbox)",
                retry_after=seconds,
            )
        with tempfile.SpooledTemporaryFile(IN_MEMORY) as file:
            self._sending[player_id] = coming = Incoming(self, file)
            try:
                yield coming
            finally:
                del self._sending[player_id]

    def refuse_more(self, size: int) -> None:
        """Raise `ProtocolError` if there is no room for so many more bytes on their way."""
        there = sum(each.size for each in self._sending.values())
        if there + size > ROOM * self.rules.max_packed:
            raise _overloaded()

    async def take(
        self,
        identity: Identity,
        sent: Incoming,
        *,
        file: str = "",
        bot: str = "",
        label: str = "",
        competition: str = "",
    ) -> SubmissionRow:
        """Look at a package and keep it for its check.

        ``file`` is what it is called where it comes from; the bot is called ``bot``, or as the
        package says, or as the file.  Raises `SubmissionRefusal` and what
        `plyhouse.storage.submissions.Submissions.submit` does.
        """
        config, store = self._config, self._store
        if competition:  # a misspelt one is told before a bot is made
            await store.classes.find(competition)
        file = file.replace("\\", "/").rpartition("/")[2]
        async with self._inspecting:
            package = await inspect_upload(file, sent.from_start(), self.rules)
        name = bot or package.name or _bot_name(file)
        if not name or name.lower() == identity.player.lower():
            raise SubmissionRefusal(
                "submission/bot_name",
                "the bot needs a name of its own, as yours stands for you in person: say it with "
                f'--bot, or as name = "..." in plyhouse.toml (not {name!r})',
            )
        row = await store.ensure_bot(
            identity.player_id, name, "bot", limit=config.max_bots_per_player
        )
        if row.disabled_ms is not None:
            raise ProtocolError("auth/disabled")
        return await store.submissions.submit(
            *(row.id, label, package.digest, package.archive, store.classes.now()),
            competition=competition,
            most_bytes=config.max_submitted_bytes_per_player,
            most_versions=config.max_versions_per_bot,
            needs=package.program,
        )

    async def seen_by(self, identity: Identity, submission_id: int) -> SubmissionRow:
        """Return a submission of one's own; staff sees those for its competitions as well.

        To everybody else it is not there.
        """
        row = await self._store.submissions.get(submission_id)
        if row.player_id != identity.player_id and not await self._staffed(row, identity):
            raise no_submission(submission_id)
        return row

    async def _staffed(self, row: SubmissionRow, identity: Identity) -> bool:
        """Whether somebody is on the staff of a competition for which something was submitted."""
        for each in row.competitions:
            if await role_in(self._store, each.class_id, identity) is not None:
                return True
        return False


class Incoming:
    """A package that is on its way, as far as it has come."""

    def __init__(self, handing: Uploads, file: IO[bytes]) -> None:
        self._handing = handing
        self._file = file
        self.size = 0

    def add(self, part: bytes) -> None:
        """Keep what came; raises `SubmissionRefusal` or `ProtocolError` where that is too much."""
        self._handing.refuse_size(self.size + len(part))
        self._handing.refuse_more(len(part))
        self._file.write(part)
        self.size += len(part)

    def from_start(self) -> IO[bytes]:
        """Return the package as a file on disk, at its beginning."""
        self._file.fileno()  # makes a temporary file that was in memory so far a real one
        self._file.seek(0)
        return self._file


def _overloaded() -> ProtocolError:
    return ProtocolError(
        "server/overloaded", "Many hand in at this moment: try again in some seconds."
    )


def _bot_name(file: str) -> str:
    """Return a name for the bot in a file whose package names none."""
    stem = file.rpartition(".")[0] if file.endswith((".py", ".zip")) else file
    return account_name(stem, gap="_")


def _listed(text: str) -> list[str]:
    return [each for part in text.split(",") if (each := part.strip())]
