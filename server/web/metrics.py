"""The metrics that a Prometheus server reads at ``/metrics``.

Everything is collected when it is asked for, from numbers that the house keeps anyway.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from plyhouse.protocol.messages import PROTOCOL_VERSION
from plyhouse.server.gateway.hub import Hub, server_version
from plyhouse.storage.latency import BOUNDS_NS

__all__ = ["CONTENT_TYPE", "metrics_text"]

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


def metrics_text(hub: Hub) -> bytes:
    """All metrics in Prometheus' text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_House(hub))
    ProcessCollector(namespace="plyhouse", registry=registry)  # memory, processor, files
    return generate_latest(registry)


class _House(Collector):
    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def collect(self) -> Iterator[Metric]:
        """Read the house's numbers."""
        hub = self._hub
        yield InfoMetricFamily(
            "plyhouse",
            "Version of the program and of its protocol.",
            {"version": server_version().removeprefix("plyhouse "), "protocol": PROTOCOL_VERSION},
        )
        counts = hub.counts
        for name, text, value in (
            ("plies", "Actions of seats since the start.", hub.runner.all_plies()),
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
        trouble = hub.runner.writer.trouble
        member = hub.member
        for name, text, value in (
            ("connections", "Connections that are open.", len(hub.sessions)),
            ("bots", "Bots that are connected to this server.", hub.directory.connected_here()),
            ("matches_running", "Matches that this server runs.", len(hub.directory.own)),
            (
                "matches_remote",
                "Matches of other servers that this one knows.",
                len(hub.directory.live) - len(hub.directory.own),
            ),
            ("leads", "Whether this server pairs bots.", member is None or member.board.ready),
            (
                "cluster_members",
                "Servers that this one knows, with itself.",
                1 if member is None else len(member.board.peers),
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
                hub.runner.writer.pending,
            ),
        ):
            yield GaugeMetricFamily(f"plyhouse_{name}", text, value=value)
        yield from _link_metrics(hub)
        latency = hub.runner.writer.latency
        bounds = [f"{bound / 1e9:g}" for bound in BOUNDS_NS]
        yield HistogramMetricFamily(
            "plyhouse_commit_seconds",
            "Time from handing a transaction to the database to hearing that it is durable.",
            buckets=list(zip([*bounds, "+Inf"], accumulate(latency.counts), strict=True)),
            sum_value=latency.total_ns / 1e9,
        )


def _link_metrics(hub: Hub) -> Iterator[Metric]:
    """The lease on a PostgreSQL database, and in a cluster the messages to other servers."""
    left = hub.store.lease_left_s
    if left is not None:
        yield GaugeMetricFamily(
            "plyhouse_lease_left_seconds", "How long the lease is surely valid.", value=left
        )
    if hub.cluster is None:
        return
    counts = hub.cluster.link_counts()
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
