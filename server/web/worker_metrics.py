"""Metrics of the workers of one supervisor, which share a port.

The system gives each request to any worker.  So each worker offers its own numbers at a socket in
the supervisor's folder.  The worker with the request reads all of them, and adds the label
``worker`` to every sample.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from plyhouse.server.gateway.hub import Hub
from plyhouse.server.web.metrics import metrics_text

__all__ = ["WorkerMetrics", "merged"]

log = logging.getLogger("plyhouse.server.web")

PATIENCE: Final = 2.0
"""Seconds to wait for the numbers of another worker; one that hangs is left out."""


class WorkerMetrics:
    """The metrics of this server, and of the other workers of its supervisor."""

    def __init__(self, hub: Hub, folder: Path | None = None, number: int = 1) -> None:
        """Without the ``folder`` of a supervisor there are no other workers."""
        self._hub = hub
        self._folder = folder
        self._number = number

    async def text(self) -> bytes:
        """Return the metrics in Prometheus' text format."""
        own = metrics_text(self._hub)
        if self._folder is None:
            return own
        places = await asyncio.to_thread(lambda folder: sorted(folder.glob("*.sock")), self._folder)
        others = [each for each in places if each.stem != str(self._number)]
        read = await asyncio.gather(*map(_read, others))
        texts = {each.stem: text for each, text in zip(others, read, strict=True) if text}
        texts[str(self._number)] = own
        return await asyncio.to_thread(merged, dict(sorted(texts.items())))

    @contextlib.asynccontextmanager
    async def offered(self) -> AsyncIterator[None]:
        """Offer this worker's numbers to the others for the time of the block."""
        if self._folder is None:
            yield
            return
        place = self._folder / f"{self._number}.sock"
        await asyncio.to_thread(place.unlink, missing_ok=True)  # of a worker that was killed

        async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with contextlib.suppress(OSError):
                writer.write(metrics_text(self._hub))
                await writer.drain()
            writer.close()

        server = await asyncio.start_unix_server(answer, place)
        try:
            yield
        finally:
            server.close()
            await asyncio.to_thread(place.unlink, missing_ok=True)


async def _read(place: Path) -> bytes:
    """Return the numbers of another worker; empty if it does not answer."""
    try:
        async with asyncio.timeout(PATIENCE):
            reader, writer = await asyncio.open_unix_connection(place)
            try:
                return await reader.read(-1)
            finally:
                writer.close()
    except (OSError, TimeoutError) as error:
        log.warning("worker %s does not tell its metrics: %r", place.stem, error)
        return b""


def merged(texts: Mapping[str, bytes]) -> bytes:
    """Return one text of metrics for those of several workers, given by their names."""
    families: dict[str, Metric] = {}
    for worker, text in texts.items():
        for family in text_string_to_metric_families(text.decode()):
            whole = families.setdefault(
                family.name, Metric(family.name, family.documentation, family.type)
            )
            whole.samples += [
                each._replace(labels={**each.labels, "worker": worker}) for each in family.samples
            ]
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Families(families))
    return generate_latest(registry)


class _Families(Collector):
    def __init__(self, families: Mapping[str, Metric]) -> None:
        self._families = families

    def collect(self) -> Iterator[Metric]:
        """Return the metrics that were read."""
        yield from self._families.values()
