"""The interface of what carries batches from process to process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Receive(Protocol):
    """Takes a batch that came for this process."""

    def __call__(self, batch: bytes, /) -> None:
        """Call it on the event loop."""


Changed = Callable[[], None]
"""Is called when `Carrier.connected` has changed."""


class Carrier(Protocol):
    """Carries batches, of which it may lose, double and reorder any."""

    @property
    def name(self) -> str:
        """Its name in the log."""

    @property
    def patience_ns(self) -> int:
        """Time in which an acknowledgement usually comes back."""

    @property
    def pause_ns(self) -> int:
        """Time between two batches for one process; 0 if each may follow at once."""

    @property
    def connected(self) -> bool:
        """True if batches are likely to arrive."""

    async def start(self, own: int, receive: Receive, changed: Changed) -> None:
        """Begin to carry batches to and from the process with the epoch ``own``."""

    def send(self, to: int, batch: bytes) -> None:
        """Carry a batch to the process with the epoch ``to``; drop it where that is impossible."""

    async def close(self) -> None:
        """Stop; batches that were sent before still leave if the connection allows it."""
