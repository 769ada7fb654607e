"""Give plies the event loop first: HTTP requests get a share of it while matches run.

Clocks run in the loop that answers requests.  A request runs in steps, from one ``await`` to the
next.  Once steps have used the loop for `SLICE_NS`, all further steps wait `REST` times as long.  A
ply therefore waits for one slice at most, and for the step that ends it.  Without a running match
nothing waits.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from time import monotonic_ns
from typing import Any, Final

__all__ = ["Pacer"]

SLICE_NS: Final = 500_000
REST: Final = 4.0
"""HTTP requests get a fifth of the loop."""
LONGEST_REST: Final = 0.05
"""Seconds; a standstill that has other causes must not end in a long rest."""


class Pacer:
    """Shares the event loop between HTTP requests and everything else.

    ``busy`` says whether there is something to share it with; ``now`` returns nanoseconds.
    """

    def __init__(self, busy: Callable[[], bool], now: Callable[[], int] = monotonic_ns) -> None:
        self._busy = busy
        self._now = now
        self._spent = 0
        """Nanoseconds of steps since the last rest."""
        self._resting: asyncio.TimerHandle | None = None
        self._waiting: deque[asyncio.Future[None]] = deque()
        """Steps in the order in which they became ready."""

    def run(self, work: Coroutine[Any, Any, None]) -> Paced:
        """Return an awaitable that runs ``work`` in steps, each in its turn."""
        return Paced(self, work)

    def turn(self) -> asyncio.Future[None] | None:
        """Return what the next step has to wait for, if it must."""
        if self._resting is None and not self._waiting:
            return None
        future = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        return future

    def done(self, ns: int) -> None:
        """Count a step of so many nanoseconds, and let the next one go or rest."""
        if self._busy():
            self._spent += ns
            if self._spent >= SLICE_NS and self._resting is None:
                pause = min(self._spent * REST / 1e9, LONGEST_REST)
                self._spent = 0
                self._resting = asyncio.get_running_loop().call_later(pause, self._go_on)
        if self._resting is None:
            self._next()

    def _go_on(self) -> None:
        self._resting = None
        self._next()

    def _next(self) -> None:
        while self._waiting:
            future = self._waiting.popleft()
            if not future.done():  # a cancelled request waits no more
                future.set_result(None)
                return


class Paced:
    """A coroutine whose steps wait for their turn; see `Pacer.run`."""

    def __init__(self, pacer: Pacer, work: Coroutine[Any, Any, None]) -> None:
        self._pacer = pacer
        self._work = work

    def __await__(self) -> Generator[Any, Any, None]:
        """Run it to its end."""
        pacer, work = self._pacer, self._work
        thrown: BaseException | None = None
        while True:
            turn = None if thrown is not None else pacer.turn()
            if turn is not None:
                try:
                    yield from turn.__await__()
                except BaseException as error:
                    thrown = error
            begin = pacer._now()
            try:
                waited = work.send(None) if thrown is None else work.throw(thrown)
            except StopIteration:
                return
            finally:
                pacer.done(pacer._now() - begin)
            thrown = None
            try:
                yield waited
            except BaseException as error:
                thrown = error
