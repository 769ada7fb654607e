"""A runner queues a limited number of a program's requests to the server."""

from __future__ import annotations

from typing import Any

from tests.bots.conftest import snapshot

from plyhouse.bots.hosting.program_match import MOST_OPEN, InMatch, ProgramMatch, Surroundings
from plyhouse.protocol.messages import Error, Ok, Sync, Welcome
from plyhouse.protocol.requests import Hello


class Process:
    """The process that a match shares."""

    pid = 0
    hello = Hello(1, "")

    def __init__(self) -> None:
        self.told: list[Any] = []
        self.on_message: Any = None

    def plays(self, match: str) -> None: ...

    def work(self) -> None: ...

    def rest(self) -> None: ...

    def write(self, message: Any) -> None:
        self.told.append(message)


def test_a_program_that_asks_without_end_while_nobody_answers_is_refused() -> None:
    asked: list[tuple[ProgramMatch, InMatch]] = []
    around = Surroundings(
        welcome=lambda: Welcome(1, "anna", "mybot", "", "1", "srv", 0, 1000),
        ask=lambda match, request: asked.append((match, request)),
        sync=lambda _: None,
        resign=lambda *_: None,
        restart=lambda _: None,
        on_cost=None,
    )
    process = Process()
    match = ProgramMatch(snapshot(status="waiting"), around)
    match.attach(process)  # type: ignore[arg-type]
    for number in range(2, 2 * MOST_OPEN + 2):
        process.on_message(Sync(number, "m1"))
    assert len(asked) == MOST_OPEN
    refused = [each for each in process.told if isinstance(each, Error)]
    assert {each.code for each in refused} == {"protocol/rate"}
    assert len(refused) == MOST_OPEN
    for _, request in asked:
        match.on_answer(request, Ok(request.id))
    process.on_message(Sync(1000, "m1"))
    assert len(asked) == MOST_OPEN + 1, "what is answered makes room"
