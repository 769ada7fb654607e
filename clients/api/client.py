"""`Api` and `AsyncApi`: one table of methods, and two ways to send a call.

A method is a function of `plyhouse.protocol.api.calls` or `competition_calls`.  A client's method
has the same arguments and documentation, makes the call and returns its answer.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, ParamSpec, Self, TypeVar, overload

from plyhouse.clients.api.session import NO_ANSWERS, Patience, Session, httpx, saved
from plyhouse.protocol.api import calls, competition_calls
from plyhouse.protocol.api.answers import ApiError, no_server
from plyhouse.protocol.api.routes import Call, Pages
from plyhouse.protocol.api.submissions import Submission

__all__ = ["Api", "AsyncApi", "packed"]

P = ParamSpec("P")
T = TypeVar("T")


def packed(bot: str | os.PathLike[str]) -> tuple[str, bytes]:
    """Return the name and the bytes of a Python file or a zip, or a folder made into a zip.

    Raises `FileNotFoundError`, and `ValueError` for links: a server takes ordinary files only.
    """
    path = Path(bot)
    if not path.is_dir():
        return path.name, path.read_bytes()
    import io  # these load much, and few need them
    import zipfile

    from plyhouse.protocol.hosting.package import ignored

    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(each for each in folders if not ignored(each))
            for each in sorted({*folders, *(each for each in names if not ignored(each))}):
                found = Path(folder) / each
                if found.is_symlink():
                    raise ValueError(f"{found} is a link: packages hold ordinary files only")
                if each in names:
                    archive.write(found, found.relative_to(path).as_posix())
    return path.resolve().name, out.getvalue()


class Method(Generic[P, T]):
    """A method that makes a call; of the class and not of a client, it is the call's function."""

    def __init__(self, make: Callable[P, Call[T]]) -> None:
        self.make = make

    @overload
    def __get__(self, client: None, owner: type) -> Callable[P, Call[T]]: ...
    @overload
    def __get__(self, client: Api, owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: AsyncApi, owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, client: Api | AsyncApi | None, owner: type) -> Callable[P, Any]:
        if client is None:
            return self.make
        do = client.do
        return _like(self.make, lambda *args, **kwargs: do(self.make(*args, **kwargs)))


class Listing(Generic[P, T]):
    """A method that iterates over a long list, page by page."""

    def __init__(self, make: Callable[P, Pages[T]]) -> None:
        self.make = make

    @overload
    def __get__(self, client: None, owner: type) -> Callable[P, Pages[T]]: ...
    @overload
    def __get__(self, client: Api, owner: type) -> Callable[P, Iterator[T]]: ...
    @overload
    def __get__(self, client: AsyncApi, owner: type) -> Callable[P, AsyncIterator[T]]: ...
    def __get__(self, client: Api | AsyncApi | None, owner: type) -> Callable[P, Any]:
        if client is None:
            return self.make
        rows = client.rows
        return _like(self.make, lambda *args, **kwargs: rows(self.make(*args, **kwargs)))


def _like(model: Callable[..., Any], method: Callable[..., Any]) -> Callable[..., Any]:
    """Give a method the name, the arguments and the documentation of a call."""
    return functools.update_wrapper(method, model)


class Methods:
    """The methods that `Api` and `AsyncApi` have in common."""

    # the server
    health = Method(calls.health)
    cluster = Method(calls.cluster)
    games = Method(calls.games)

    # matches
    matches = Listing(calls.matches)
    match = Method(calls.match)
    record = Method(calls.record)
    positions = Listing(calls.positions)
    position = Method(calls.position)
    review = Method(calls.review)
    tree = Method(calls.tree)
    chances = Method(calls.chances)
    detail = Method(calls.detail)
    output = Method(calls.output)
    outputs = Method(calls.outputs)

    # standings and people
    leaderboards = Method(calls.leaderboards)
    leaderboard = Method(calls.leaderboard)
    standings = Listing(calls.standings)
    player = Method(calls.player)
    bots = Method(calls.bots)
    bot = Method(calls.bot)
    bot_matches = Listing(calls.bot_matches)
    bot_review = Method(calls.bot_review)
    register = Method(calls.register)

    # competitions
    competitions = Method(competition_calls.competitions)
    competition = Method(competition_calls.competition)
    check_competition = Method(competition_calls.check_competition)
    open_competition = Method(competition_calls.open_competition)
    step_competition = Method(competition_calls.step_competition)
    competition_file = Method(competition_calls.competition_file)
    change_competition = Method(competition_calls.change_competition)
    unfreeze_competition = Method(competition_calls.unfreeze_competition)
    competition_losses = Method(competition_calls.competition_losses)
    copy_competition = Method(competition_calls.copy_competition)
    delete_competition = Method(competition_calls.delete_competition)
    board = Method(competition_calls.board)
    table = Method(competition_calls.table)
    next_pairings = Method(competition_calls.next_pairings)
    export = Method(competition_calls.export)

    # students
    students = Method(competition_calls.students)
    take_in = Method(competition_calls.take_in)
    extend = Method(competition_calls.extend)
    disqualify = Method(competition_calls.disqualify)
    withdraw = Method(competition_calls.withdraw)
    restore = Method(competition_calls.restore)
    codes = Method(competition_calls.codes)
    new_code = Method(competition_calls.new_code)
    revoke_code = Method(competition_calls.revoke_code)
    reissue_token = Method(competition_calls.reissue_token)

    # staff, announcements, regrades
    announcements = Method(competition_calls.announcements)
    announce = Method(competition_calls.announce)
    staff = Method(competition_calls.staff)
    add_staff = Method(competition_calls.add_staff)
    remove_staff = Method(competition_calls.remove_staff)
    regrades = Method(competition_calls.regrades)
    ask_regrade = Method(competition_calls.ask_regrade)
    answer_regrade = Method(competition_calls.answer_regrade)

    # for students
    join = Method(competition_calls.join)
    versions = Method(competition_calls.versions)
    enter = Method(competition_calls.enter)
    submissions = Method(calls.submissions)
    submission = Method(calls.submission)
    remove_submission = Method(calls.remove_submission)

    _session: Session

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.server}>"

    @property
    def server(self) -> str:
        """The address of the server."""
        return self._session.base


class Api(Methods):
    """A server; use it in a ``with`` block, or `close` it.

    ``server`` and ``token`` default to ``PLYHOUSE_SERVER`` and ``PLYHOUSE_TOKEN`` of the
    environment.  ``patience`` says how often what failed for the moment is tried again, ``timeout``
    how many seconds an answer may take.  Raises `ApiError` and `Unreachable` (see
    `plyhouse.protocol.api.answers`), and `ValueError` for an address that is none.  Two threads
    must not use it at once.  Its methods are the functions of `plyhouse.protocol.api.calls` and
    `plyhouse.protocol.api.competition_calls`.

    ``cookie`` is the cookie of a browser's session, to act as the person who is signed in there
    instead of by a token.
    """

    def __init__(
        self,
        server: str | None = None,
        token: str | None = None,
        *,
        timeout: float = 30.0,
        patience: Patience | None = None,
        cookie: str | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._session = Session(server, token, timeout, patience, cookie)
        self._sleep = sleep
        self._http = httpx.Client(**self._session.transport())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def cookie(self) -> str:
        """The cookie of the session that the server has begun; empty if there is none."""
        return "; ".join(f"{each.name}={each.value}" for each in self._http.cookies.jar)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def do(self, call: Call[T]) -> T:
        """Make a call of `plyhouse.protocol.api.calls`; retry it as ``patience`` allows."""
        made = 0
        while True:
            made += 1
            try:
                response = self._http.request(**self._session.request(call))
                return self._session.read(call, response)
            except (ApiError, *NO_ANSWERS) as error:
                seconds = self._session.wait(call, error, made)
            self._sleep(seconds)

    def rows(self, pages: Pages[T]) -> Iterator[T]:
        """Iterate over a long list; pages are fetched as you go on."""
        had, size = 0, pages.size(0)
        call = pages.call(size) if size > 0 else None
        while call is not None:
            page = self.do(call)
            yield from page
            had += len(page)
            asked, size = size, pages.size(had)
            call = pages.after(page, had, asked, size)

    @contextmanager
    def streamed(self, call: Call[bytes]) -> Iterator[httpx.Response]:
        """Open the file that a call answers, to be read part by part, however long it is.

        Raises `ApiError` and `Unreachable`, the latter also within the block, where the answer
        breaks off.
        """
        begun = False
        try:
            with self._http.stream(**self._session.request(call)) as response:
                if not response.is_success:
                    response.read()
                    self._session.read(call, response)  # raises the refusal
                if "content-disposition" not in response.headers:  # of a page to log in
                    raise no_server(self._session.base, "something else than a file")
                begun = True
                yield response
        except NO_ANSWERS as error:
            raise self._session.unreachable(error, begun=begun) from error

    def download(self, call: Call[bytes], folder: Path) -> Path:
        """Write the file that a call answers into a folder, by the name that the server gives it.

        It is there as a whole or not at all, however long it is.  Returns where it is.
        """
        with self.streamed(call) as response:
            return saved(response, folder)

    def submit(
        self,
        path: str | os.PathLike[str],
        *,
        bot: str = "",
        competition: str = "",
        version: str = "",
    ) -> Submission:
        """Submit a bot for the server to run: a Python file, a folder or a zip.

        It waits for its check then; `submission` says what came of it.  It plays in
        ``competition``, or without one wherever a bot that connects is entered.
        """
        file, data = packed(path)
        return self.do(calls.submit(file, data, bot=bot, competition=competition, version=version))


class AsyncApi(Methods):
    """A server; use it in an ``async with`` block, or `close` it.

    It takes the same arguments as `Api` and has the same methods as coroutines; several calls may
    be awaited at once.
    """

    def __init__(
        self,
        server: str | None = None,
        token: str | None = None,
        *,
        timeout: float = 30.0,
        patience: Patience | None = None,
        cookie: str | None = None,
        sleep: Callable[[float], Awaitable[None]] | None = None,
    ) -> None:
        from asyncio import sleep as asyncio_sleep  # programs that wait need no event loop

        self._session = Session(server, token, timeout, patience, cookie)
        self._sleep = sleep or asyncio_sleep
        self._http = httpx.AsyncClient(**self._session.transport())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def do(self, call: Call[T]) -> T:
        """Make a call of `plyhouse.protocol.api.calls`; retry it as ``patience`` allows."""
        made = 0
        while True:
            made += 1
            try:
                response = await self._http.request(**self._session.request(call))
                return self._session.read(call, response)
            except (ApiError, *NO_ANSWERS) as error:
                seconds = self._session.wait(call, error, made)
            await self._sleep(seconds)

    async def rows(self, pages: Pages[T]) -> AsyncIterator[T]:
        """Iterate over a long list; pages are fetched as you go on."""
        had, size = 0, pages.size(0)
        call = pages.call(size) if size > 0 else None
        while call is not None:
            page = await self.do(call)
            for row in page:
                yield row
            had += len(page)
            asked, size = size, pages.size(had)
            call = pages.after(page, had, asked, size)

    async def submit(
        self,
        path: str | os.PathLike[str],
        *,
        bot: str = "",
        competition: str = "",
        version: str = "",
    ) -> Submission:
        """Submit a bot for the server to run; see `Api.submit`."""
        from asyncio import to_thread

        file, data = await to_thread(packed, path)
        return await self.do(
            calls.submit(file, data, bot=bot, competition=competition, version=version)
        )
