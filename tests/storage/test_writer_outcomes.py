"""The writer and every outcome of a transaction, by a store that answers from a script."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import pytest

from plyhouse.storage.errors import (
    AlreadyExists,
    DatabaseFull,
    InDoubt,
    InvalidValue,
    StorageError,
    StoreClosed,
    Unknown,
    Unreachable,
    WriterFull,
)
from plyhouse.storage.rows import EventRow, Op
from plyhouse.storage.store import Store
from plyhouse.storage.writer import BOUNDS_NS, Latency, Writer

pytestmark = pytest.mark.timeout(10)  # everything happens in this process


@pytest.fixture(autouse=True)
async def no_fault_in_the_background() -> AsyncIterator[None]:
    """Fail a test whose callbacks or tasks raised where nobody looks."""
    faults: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context))
    yield
    gc.collect()  # a task that nobody awaited reports its exception when it is freed
    assert faults == []


def event(name: str) -> EventRow:
    return EventRow(name, 0, "act", 0, 0, "x")


class Script(Store):
    """Answers each transaction with the next outcome, None at the end, and says what is stored."""

    place = "the script"

    def __init__(self, *outcomes: BaseException | None) -> None:
        self.outcomes = list(outcomes)
        self.batches: list[str] = []
        self.stored: set[str] = set()
        self.reads: list[str] = []
        self.unreadable: Exception | None = None
        self.waiting: list[Callable[[], None]] = []
        self.held = False

    def apply_soon(self, ops: Sequence[Op], done: Callable[[BaseException | None], None]) -> None:
        self.batches.append("".join(op.match_id for op in ops if isinstance(op, EventRow)))
        outcome = self.outcomes.pop(0) if self.outcomes else None
        if self.held:
            self.waiting.append(lambda: done(outcome))
        else:
            asyncio.get_running_loop().call_soon(done, outcome)

    async def read(self, query: Any, *args: Any, **kwargs: Any) -> Any:
        (ops,) = args
        names = [op.match_id for op in ops]
        self.reads.append("".join(names))
        if self.unreadable is not None:
            raise self.unreadable
        return self.stored.issuperset(names)


class Told:
    """What each submission heard, in order."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.heard: list[tuple[str, str]] = []
        self.errors: list[StorageError | None] = []

    def submit(self, *submissions: str) -> None:
        """Submit the events named by the letters of each text."""
        for names in submissions:
            self.writer.submit_then([event(name) for name in names], self._hear(names))

    def _hear(self, names: str) -> Callable[[StorageError | None], None]:
        def hear(error: StorageError | None) -> None:
            self.heard.append((names, "" if error is None else type(error).__name__))
            self.errors.append(error)

        return hear

    async def after(self, *submissions: str) -> list[tuple[str, str]]:
        """Submit, and return what is heard until the writer rests."""
        self.heard.clear()
        self.submit(*submissions)
        await self.writer.flush()
        return list(self.heard)


def told(store: Script, **limits: int) -> Told:
    return Told(Writer(store, **limits))


# ---------------------------------------------------------------------- order and batches


async def test_submissions_of_one_turn_of_the_loop_share_a_transaction() -> None:
    store = Script()
    assert await told(store).after("a", "bc", "d") == [("a", ""), ("bc", ""), ("d", "")]
    assert store.batches == ["abcd"]


@pytest.mark.parametrize(
    ("largest", "batches"),
    [
        (1, ["aa", "b", "ccc", "d", "e"]),
        (2, ["aa", "b", "ccc", "de"]),
        (3, ["aab", "ccc", "de"]),
        (4, ["aab", "cccd", "e"]),
        (7, ["aabcccd", "e"]),
        (8, ["aabcccde"]),
    ],
)
async def test_transactions_are_filled_in_order(largest: int, batches: list[str]) -> None:
    store = Script()
    heard = await told(store, max_batch=largest).after("aa", "b", "ccc", "d", "e")
    assert store.batches == batches
    assert [names for names, _ in heard] == ["aa", "b", "ccc", "d", "e"]


async def test_largest_transaction_by_default_has_two_thousand_operations() -> None:
    for count, batches in ((2000, 1), (2001, 2)):
        store = Script()
        await told(store).after(*["a"] * count)
        assert len(store.batches) == batches


async def test_most_that_wait_by_default_are_fifty_thousand() -> None:
    listener = told(Script())
    listener.submit("a" * 25_000, "b" * 25_000, "c")
    assert [error for _, error in listener.heard] == ["WriterFull"]
    assert str(listener.errors[0]) == (
        "50000 operations wait for the script, which is too slow; try again later"
    )
    await listener.writer.flush()


async def test_operations_count_as_pending_until_they_are_told() -> None:
    listener = told(Script(), max_pending=3)
    pending: list[int] = []
    listener.submit("ab")
    assert listener.writer.pending == 2
    listener.writer.submit_then([event("c")], lambda _: pending.append(listener.writer.pending))
    assert listener.writer.pending == 3
    listener.submit("d")
    assert listener.heard == [("d", "WriterFull")]
    await listener.writer.flush()
    assert pending == [0]
    assert await listener.after("abc") == [("abc", "")]


async def test_empty_submission_is_done_at_once_even_where_nothing_fits() -> None:
    listener = told(Script(), max_pending=1)
    listener.submit("a", "")
    assert listener.heard == [("", "")]
    await listener.writer.close()
    listener.heard.clear()
    listener.submit("", "b")
    assert listener.heard == [("", "StoreClosed"), ("b", "StoreClosed")]
    assert isinstance(listener.errors[-1], StoreClosed)
    assert str(listener.errors[-1]) == "the writer of the script was closed; nothing was stored"
    assert listener.writer.pending == 0


async def test_flush_and_close_of_a_writer_at_rest_return() -> None:
    listener = told(Script())
    await listener.writer.flush()
    assert await listener.after("a") == [("a", "")]
    await listener.writer.flush()
    await listener.writer.close()


async def test_every_flush_ends_once() -> None:
    listener = told(Script())
    for _ in range(2):
        listener.submit("a")
        await asyncio.gather(listener.writer.flush(), listener.writer.flush())
    assert listener.writer.pending == 0


async def test_sockets_are_looked_at_before_the_next_transaction() -> None:
    store = Script()
    store.held = True
    listener = told(store)
    listener.submit("a")
    await asyncio.sleep(0)
    listener.submit("b")
    store.waiting.pop()()
    await asyncio.sleep(0)
    assert store.batches == ["a"], "one turn of the loop is not enough"
    listener.submit("c")
    await asyncio.sleep(0)
    assert store.batches == ["a", "bc"]
    store.waiting.pop()()
    await listener.writer.flush()


async def test_submission_while_a_transaction_runs_begins_no_other() -> None:
    store = Script()
    store.held = True
    listener = told(store)
    listener.submit("a")
    for _ in range(5):
        await asyncio.sleep(0)
        listener.submit("b")
    assert store.batches == ["a"]
    store.waiting.pop()()
    for _ in range(3):
        await asyncio.sleep(0)
    store.waiting.pop()()
    await listener.writer.flush()
    assert store.batches == ["a", "bbbbb"]


# ------------------------------------------------------------------------ wrong operations


@pytest.mark.parametrize("wrong", [AlreadyExists, InvalidValue, Unknown])
async def test_wrong_submission_alone_is_told_its_error(wrong: Any) -> None:
    store = Script(wrong("it is wrong"))
    listener = told(store)
    assert await listener.after("a") == [("a", wrong.__name__)]
    assert store.batches == ["a"]
    assert listener.writer.trouble is None


async def test_wrong_submission_among_others_is_found_in_order() -> None:
    store = Script(InvalidValue("one is wrong"), None, InvalidValue("this one"), None)
    listener = told(store)
    assert await listener.after("a", "b", "c") == [("a", ""), ("b", "InvalidValue"), ("c", "")]
    assert store.batches == ["abc", "a", "b", "c"]
    assert listener.writer.trouble is None
    assert await listener.after("d", "e") == [("d", ""), ("e", "")]
    assert store.batches[4:] == ["de"]


async def test_fault_of_the_operations_is_told_as_a_failure_of_storage() -> None:
    store = Script(ValueError("2 seats"), None, ValueError("2 seats"))
    listener = told(store)
    assert await listener.after("a", "b") == [("a", ""), ("b", "StorageError")]
    error = listener.errors[-1]
    assert str(error) == "storing failed by a fault in Plyhouse: ValueError('2 seats')"
    assert error is not None
    assert isinstance(error.__cause__, ValueError)
    assert listener.writer.trouble is None


async def test_what_comes_while_suspects_are_tried_waits_for_them() -> None:
    store = Script(InvalidValue("one is wrong"))
    listener = told(store)
    listener.writer.submit_then([event("a")], lambda _: listener.submit("c"))
    assert await listener.after("b") == [("b", ""), ("c", "")]
    assert store.batches == ["ab", "a", "b", "c"]


# ------------------------------------------------------------------------ trouble, latency


async def test_trouble_lasts_until_the_next_transaction_that_is_stored() -> None:
    full = DatabaseFull("the disk is full")
    store = Script(full, InvalidValue("it is wrong"), None)
    listener = told(store)
    assert await listener.after("a", "b") == [("a", "DatabaseFull"), ("b", "DatabaseFull")]
    assert store.batches == ["ab"], "others of the transaction would fare no better"
    assert listener.writer.trouble is full
    await listener.after("c")
    assert listener.writer.trouble is full, "a wrong operation says nothing of the database"
    await listener.after("d")
    assert [listener.writer.trouble] == [None]


async def test_trouble_by_a_fault_is_an_error_of_storage() -> None:
    listener = told(Script(RuntimeError("a fault")))
    assert await listener.after("a") == [("a", "StorageError")]
    assert type(listener.writer.trouble) is StorageError


def test_latency_has_a_class_for_each_bound_and_one_beyond() -> None:
    assert (BOUNDS_NS[0], BOUNDS_NS[-1]) == (125_000, 8_192_000_000)
    latency = Latency()
    for duration in (*BOUNDS_NS, BOUNDS_NS[-1] + 1, BOUNDS_NS[-1] + 1):
        latency.add(duration)
    assert latency.counts == [1] * len(BOUNDS_NS) + [2]
    assert latency.total_ns == sum(BOUNDS_NS) + 2 * (BOUNDS_NS[-1] + 1)


async def test_latency_counts_the_transactions_that_were_stored() -> None:
    listener = told(Script(None, DatabaseFull("full"), None))
    for name in "abc":
        await listener.after(name)
    assert sum(listener.writer.latency.counts) == 2
    assert 0 < listener.writer.latency.total_ns < 60 * 10**9


# ---------------------------------------------------------------------------------- doubt


DOUBT = InDoubt("the answer was lost")
THERE = AlreadyExists("it is there")


async def test_transaction_in_doubt_is_tried_once_more() -> None:
    store = Script(DOUBT)
    listener = told(store)
    assert await listener.after("a", "b") == [("a", ""), ("b", "")]
    assert store.batches == ["ab", "ab"]
    assert listener.writer.trouble is None
    assert store.reads == []


async def test_doubt_of_a_second_try_is_told() -> None:
    store = Script(DOUBT, DOUBT)
    listener = told(store)
    assert await listener.after("a") == [("a", "InDoubt")]
    assert store.batches == ["a", "a"]
    assert listener.writer.trouble is DOUBT


async def test_second_doubt_later_is_tried_once_more_again() -> None:
    store = Script(DOUBT, DOUBT, DOUBT)
    listener = told(store)
    await listener.after("a")
    assert await listener.after("b") == [("b", "")]
    assert store.batches == ["a", "a", "b", "b"]


async def test_doubtful_operations_that_are_stored_are_told_so() -> None:
    store = Script(DOUBT, THERE)
    store.stored = {"a", "b"}
    listener = told(store)
    assert await listener.after("a", "b") == [("a", ""), ("b", "")]
    assert store.reads == ["a", "b"]
    assert listener.writer.pending == 0
    assert store.batches == ["ab", "ab"]


async def test_operations_that_were_never_in_doubt_are_not_looked_up() -> None:
    store = Script(THERE)
    store.stored = {"a"}
    listener = told(store)
    assert await listener.after("a") == [("a", "AlreadyExists")]
    assert store.reads == []


async def test_doubtful_operations_among_others_are_told_and_the_rest_is_stored() -> None:
    store = Script(DOUBT, Unreachable("it is away"), THERE)
    store.stored = {"a"}
    listener = told(store)
    assert await listener.after("a") == [("a", "Unreachable")]
    assert await listener.after("c", "a", "b") == [("a", ""), ("c", ""), ("b", "")]
    assert store.reads == ["a"]
    assert store.batches == ["a", "a", "cab", "c", "b"]


async def test_doubtful_operation_that_somebody_else_stored_is_refused() -> None:
    store = Script(DOUBT, THERE)
    listener = told(store)
    assert await listener.after("a") == [("a", "AlreadyExists")]
    assert listener.errors[-1] is THERE
    store.outcomes = [THERE]
    assert await listener.after("a") == [("a", "AlreadyExists")]
    assert store.reads == ["a"], "the doubt is settled"


async def test_doubt_is_settled_by_storing() -> None:
    store = Script(DOUBT, None, THERE)
    store.stored = {"a"}
    listener = told(store)
    assert await listener.after("a") == [("a", "")]
    assert await listener.after("a") == [("a", "AlreadyExists")]
    assert store.reads == []


async def test_doubt_of_some_is_not_settled_by_storing_others() -> None:
    store = Script(DOUBT, DOUBT, None, THERE)
    store.stored = {"a"}
    listener = told(store)
    await listener.after("a")
    await listener.after("b")
    assert await listener.after("a") == [("a", "")]
    store.outcomes = [THERE]
    assert await listener.after("a") == [("a", "AlreadyExists")], "told once, it is settled"


async def test_part_of_a_submission_in_doubt_is_looked_up_whole() -> None:
    store = Script(DOUBT, DOUBT, THERE)
    store.stored = {"a"}
    listener = told(store)
    await listener.after("a")
    assert await listener.after("ab") == [("ab", "AlreadyExists")]
    assert store.reads == ["ab"]


async def test_rest_of_a_transaction_keeps_its_doubt() -> None:
    store = Script(DOUBT, DOUBT, THERE, THERE)
    store.stored = {"a"}
    listener = told(store)
    await listener.after("a", "b")
    assert await listener.after("a", "b") == [("a", ""), ("b", "AlreadyExists")]
    assert store.reads == ["a", "b", "b"]
    assert store.batches == ["ab", "ab", "ab", "b"]


async def test_look_up_that_fails_is_told_to_everyone_and_the_writer_goes_on() -> None:
    store = Script(DOUBT, THERE)
    store.unreadable = RuntimeError("unreadable")
    listener = told(store)
    assert await listener.after("a", "b") == [("a", "StorageError"), ("b", "StorageError")]
    assert "unreadable" in str(listener.errors[-1])
    assert await listener.after("c") == [("c", "")]
    store.unreadable, store.stored, store.outcomes = None, {"a"}, [THERE]
    assert await listener.after("a") == [("a", "")], "the doubt remains"


async def test_wrong_operation_after_a_doubt_is_found_among_others() -> None:
    store = Script(DOUBT, InvalidValue("one is wrong"), None, InvalidValue("this one"))
    listener = told(store)
    assert await listener.after("a", "b") == [("a", ""), ("b", "InvalidValue")]
    assert store.batches == ["ab", "ab", "a", "b"]


async def test_listener_that_fails_harms_no_other(caplog: pytest.LogCaptureFixture) -> None:
    listener = told(Script())

    def fail(_: StorageError | None) -> None:
        raise RuntimeError("a fault")

    listener.writer.submit_then([event("a")], fail)
    assert await listener.after("b") == [("b", "")]
    assert "a fault" in caplog.text
    assert listener.writer.pending == 0


async def test_writer_that_is_full_says_so_by_its_own_error() -> None:
    listener = told(Script(), max_pending=0)
    listener.submit("a")
    assert isinstance(listener.errors[0], WriterFull)
    assert listener.writer.pending == 0
    await listener.writer.flush()
