"""The metrics that a Prometheus server reads at ``/metrics``.

Everything is collected when it is asked for, from numbers that the server keeps anyway.

The workers of one supervisor share a port, and the system gives each request to any of them.  So
each worker offers its own numbers at a socket in the supervisor's folder.  The worker with the
request reads all of them, and adds the label ``worker`` to every sample.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from plyhouse.protocol.messages import PROTOCOL_VERSION
from plyhouse.server.gateway.hub import Hub, server_version
from plyhouse.storage.writer import BOUNDS_NS

log = logging.getLogger("plyhouse.server.web")

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


def metrics_text(hub: Hub) -> bytes:
    """All metrics in Prometheus' text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_ServerNumbers(hub))
    ProcessCollector(namespace="plyhouse", registry=registry)  # memory, processor, files
    return generate_latest(registry)


class _ServerNumbers(Collector):
    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def collect(self) -> Iterator[Metric]:
        """Read the numbers of the server."""
        hub = self._hub
        yield InfoMetricFamily(
            "plyhouse",
            "Version of the program and of its protocol.",
            {"version": server_version().removeprefix("plyhouse "), "protocol": PROTOCOL_VERSION},
        )
        counts = hub.counts
        for name, text, value in (
            ("plies", "Actions of seats since the start.", hub.live_matches.all_plies()),
            ("connections_accepted", "Connections since the start.", counts.connections),
            ("logins", "Logins of bots and people since the start.", counts.logins),
            ("stalled_seconds", "How long the server stood still.", hub.watchdog.total_ns / 1e9),
        ):
            yield CounterMetricFamily(f"plyhouse_{name}", text, value=value)
        for name, text, label, values in (
            ("matches", "Matches that ended.", "termination", counts.terminations),
            ("logins_refused", "Logins refused.", "code", counts.refused),
        ):
            family = CounterMetricFamily(f"plyhouse_{name}", text, labels=[label])
            for key, count in sorted(values.items()):
                family.add_metric([key], count)
            yield family
        yield from _gauges(hub)
        yield from _link_metrics(hub)
        latency = hub.live_matches.writer.latency
        bounds = [f"{bound / 1e9:g}" for bound in BOUNDS_NS]
        yield HistogramMetricFamily(
            "plyhouse_commit_seconds",
            "Time from handing a transaction to the database to hearing that it is durable.",
            buckets=list(zip([*bounds, "+Inf"], accumulate(latency.counts), strict=True)),
            sum_value=latency.total_ns / 1e9,
        )


def _gauges(hub: Hub) -> Iterator[Metric]:
    """Yield the numbers that go up and down."""
    trouble = hub.live_matches.writer.trouble
    for name, text, value in (
        ("connections", "Connections that are open.", len(hub.sessions)),
        ("bots", "Bots that are connected to this server.", hub.directory.connected_here()),
        ("matches_running", "Matches that this server runs.", len(hub.directory.own)),
        (
            "matches_remote",
            "Matches of other servers that this one knows.",
            len(hub.directory.live) - len(hub.directory.own),
        ),
        ("leads", "Whether this server pairs bots.", hub.member.leads),
        (
            "cluster_members",
            "Servers that this one knows, with itself.",
            hub.member.size,
        ),
        ("seeks", "Seeks that are open.", len(hub.lobby)),
        ("competitions", "Tournaments that run: games of competitions.", len(hub.tournaments)),
        (
            "longest_stall_seconds",
            "The longest time for which the server stood still.",
            hub.watchdog.longest_ns / 1e9,
        ),
        ("storing", "Whether the database took the last transaction.", trouble is None),
        (
            "operations_waiting",
            "Rows that are not durable yet.",
            hub.live_matches.writer.pending,
        ),
    ):
        yield GaugeMetricFamily(f"plyhouse_{name}", text, value=value)


def _link_metrics(hub: Hub) -> Iterator[Metric]:
    """The lease on a PostgreSQL database, and in a cluster the messages to other servers."""
    left = hub.store.lease_left_s
    if left is not None:
        yield GaugeMetricFamily(
            "plyhouse_lease_left_seconds",
            "How long the lease is valid without a renewal.",
            value=left,
        )
    counts = hub.member.link_counts()
    if not counts:
        return
    for name, text in (
        ("repeated", "Segments of messages to other servers that were sent again."),
        ("doubled", "Batches of other servers that had come before."),
        ("unreadable", "Batches of other servers that this version cannot read."),
    ):
        yield CounterMetricFamily(f"plyhouse_link_{name}", text, value=counts[name])
    yield GaugeMetricFamily(
        "plyhouse_link_waiting_bytes",
        "Memory of messages that other servers have not acknowledged.",
        value=counts["waiting_bytes"],
    )


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
        log.warning("no metrics of worker", extra={"worker": place.stem, "why": repr(error)})
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
