"""The cost of messages between two server processes: through a link, and through plain NATS.

    python benchmarks/cluster_link.py [--messages 100000] [--seconds 5] [--bytes 200]

Two processes and a NATS server run on this machine. One process sends to the other: as much as
possible with one or fifty messages for each turn of the event loop, and then a thousand messages a
second, of which the receiver notes how long each took. Beside it, in the same run, the same
messages are published to NATS with nats-py, one by one and without anything that would notice a
loss. ``sender`` and ``receiver`` are processor time for each message, in microseconds; that of the
NATS server is not part of them. The link goes both ways: its receiver acknowledges.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import uvloop

from plyhouse.server.cluster.carriers import NatsCarrier
from plyhouse.server.cluster.link import Link
from plyhouse.server.cluster.nats_server import LocalNats

SENDER, RECEIVER = 1, 2
PER_TURN = (1, 50)
RATE = 1000
"""Messages per second while latency is measured."""
SETTLE_S = 1.0

Send = Callable[[bytes], Awaitable[None]]


class Task(msgspec.Struct):
    """The measurements of one pair of processes."""

    url: str
    way: str
    messages: int
    per_turn: int
    pause_s: float
    size: int


class Result(msgspec.Struct):
    """What the receiver has seen."""

    received: int
    processor_s: float
    wall_s: float
    latencies_us: list[float]


class Counted:
    """Takes messages in the receiver."""

    def __init__(self, expected: int) -> None:
        self.expected = expected
        self.latencies_us: list[float] = []
        self.began_s = self.ended_s = 0.0
        self.processor_s = 0.0
        self.done = asyncio.Event()

    def take(self, payload: bytes) -> None:
        now = time.monotonic_ns()
        if not self.latencies_us:
            self.began_s, self.processor_s = now / 1e9, time.process_time()
        self.latencies_us.append((now - int.from_bytes(payload[:8], "big")) / 1000)
        if len(self.latencies_us) == self.expected:
            self.ended_s = now / 1e9
            self.done.set()

    async def result(self) -> Result:
        async with asyncio.timeout(300):
            await self.done.wait()
        spent = time.process_time() - self.processor_s
        wall = self.ended_s - self.began_s
        return Result(len(self.latencies_us), spent, wall, self.latencies_us)


async def plain_client(url: str) -> Any:
    from nats.aio.client import Client

    client = Client()
    await client.connect(url)
    return client


async def receive(task: Task) -> Result:
    """The receiving process."""
    counted = Counted(task.messages)
    if task.way == "plain NATS":
        client = await plain_client(task.url)

        async def on_message(message: Any) -> None:
            counted.take(message.data)

        await client.subscribe("bench", cb=on_message)
        await client.flush()
        say_ready()
        result = await counted.result()
        await client.close()
        return result
    link = Link(
        RECEIVER,
        [NatsCarrier(task.url, "bench")],
        time.monotonic_ns,
        lambda _, payload: counted.take(payload),
    )
    await link.start()
    link.set_peers([SENDER])
    say_ready()
    result = await counted.result()
    await asyncio.sleep(0.1)  # the last acknowledgement
    await link.close()
    return result


def say_ready() -> None:
    sys.stdout.write("ready\n")
    sys.stdout.flush()


async def send_all(task: Task, send: Send) -> None:
    filler = os.urandom(task.size - 8)
    due = time.monotonic()
    for _ in range(0, task.messages, task.per_turn):
        for _ in range(task.per_turn):
            await send(time.monotonic_ns().to_bytes(8, "big") + filler)
        if task.pause_s:
            due += task.pause_s
            await asyncio.sleep(max(0.0, due - time.monotonic()))
        else:
            await asyncio.sleep(0)


async def measure(task: Task) -> tuple[Result, float]:
    """Run one pair; return what the receiver saw, and the sender's processor time."""
    receiver = await asyncio.create_subprocess_exec(
        sys.executable,
        __file__,
        "--receive",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=1 << 28,
    )
    assert receiver.stdin is not None
    assert receiver.stdout is not None
    receiver.stdin.write(msgspec.json.encode(task) + b"\n")
    await receiver.stdout.readline()
    if task.way == "plain NATS":
        client = await plain_client(task.url)
        await asyncio.sleep(SETTLE_S)
        before = time.process_time()
        await send_all(task, lambda payload: client.publish("bench", payload))
        await client.flush()
        line = await receiver.stdout.readline()
        spent = time.process_time() - before
        await client.close()
    else:
        link = Link(SENDER, [NatsCarrier(task.url, "bench")], time.monotonic_ns, lambda _, __: None)
        await link.start()
        link.set_peers([RECEIVER])

        async def send(payload: bytes) -> None:
            link.send(RECEIVER, payload)

        await asyncio.sleep(SETTLE_S)
        before = time.process_time()
        await send_all(task, send)
        line = await receiver.stdout.readline()
        spent = time.process_time() - before
        await link.close()
    await receiver.wait()
    return msgspec.json.decode(line, type=Result), spent


async def compare(messages: int, seconds: float, size: int) -> None:
    print(f"{messages:,} messages of {size} bytes\n")
    print("| messages per turn | way | messages/s | sender us | receiver us |")
    print("|---|---|---|---|---|")
    ways = ("link", "plain NATS")
    with LocalNats() as nats:
        for per_turn in PER_TURN:
            for way in ways:
                task = Task(nats.url, way, messages, per_turn, 0.0, size)
                result, spent = await measure(task)
                each = 1e6 / messages
                print(
                    f"| {per_turn} | {way} | {messages / result.wall_s:,.0f} | "
                    f"{spent * each:.1f} | {result.processor_s * each:.1f} |"
                )
        print(f"\n{RATE} messages/s for {seconds:g} s\n")
        print("| way | p50 us | p99 us | sender us | receiver us |")
        print("|---|---|---|---|---|")
        for way in ways:
            count = int(RATE * seconds)
            result, spent = await measure(Task(nats.url, way, count, 1, 1 / RATE, size))
            cuts = statistics.quantiles(result.latencies_us, n=100)
            print(
                f"| {way} | {cuts[49]:.0f} | {cuts[98]:.0f} | {spent * 1e6 / count:.1f} | "
                f"{result.processor_s * 1e6 / count:.1f} |"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--bytes", type=int, default=200)
    parser.add_argument("--receive", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.receive:
        task = msgspec.json.decode(sys.stdin.readline(), type=Task)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            sys.stdout.buffer.write(msgspec.json.encode(runner.run(receive(task))) + b"\n")
        return
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(compare(arguments.messages, arguments.seconds, arguments.bytes))


if __name__ == "__main__":
    main()
