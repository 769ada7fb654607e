"""Reports of a runner: each is sent until it is taken, and one that is refused is dropped alone."""

from __future__ import annotations

from tests.harness.reports import flag

from plyhouse.clients.runner.output_queue import MOST_TROUBLES, Batch, Report, ReportQueue
from plyhouse.protocol.hosting.runner_messages import CheckDone, FlagFell, Trouble


def full() -> ReportQueue:
    """News of 45 verdicts, 230 troubles and 210 flags, added in turns."""
    news = ReportQueue()
    for number in range(230):
        news.add(Trouble("full", bot=1, version=number + 1))
        if number < 210:
            news.add(flag(number))
        if number < 45:
            news.add(CheckDone(number + 1, True, ""))
    return news


def reports(batch: Batch) -> list[Report]:
    return [*batch.flags, *batch.checked, *batch.troubles]


def test_batches_report_everything_once_and_flags_first() -> None:
    news, sizes, sent = full(), [], []
    while batch := news.batch():
        sizes.append((len(batch.flags), len(batch.checked), len(batch.troubles)))
        sent += reports(batch)
        news.taken(batch)
    assert sizes == [(100, 20, 100), (100, 20, 100), (10, 5, 30)]
    assert len(sent) == 485
    assert [each.ply for each in sent if isinstance(each, FlagFell)] == [*range(210)]
    assert len({each.id for each in sent if isinstance(each, Trouble)}) == 230


def test_batch_that_was_not_heard_is_sent_again_with_the_same_ids() -> None:
    news = full()
    first = news.batch()
    news.add(flag(999))
    assert reports(news.batch()) == reports(first)


def test_refused_reports_are_dropped_alone() -> None:
    news, taken, dropped, requests = full(), [], [], 0
    bad = {"flag": 57, "verdict": 8, "trouble": 190}

    def is_bad(report: Report) -> bool:
        match report:
            case FlagFell():
                return report.ply == bad["flag"]
            case CheckDone():
                return report.submission == bad["verdict"]
            case Trouble():
                return report.version == bad["trouble"]

    while batch := news.batch():
        requests += 1
        if any(map(is_bad, reports(batch))):
            dropped += [gone for gone in [news.refused(batch)] if gone is not None]
        else:
            taken += reports(batch)
            news.taken(batch)
    assert len(dropped) == 3
    assert all(map(is_bad, dropped))
    assert len(taken) == 485 - 3
    assert requests < 100


def test_troubles_for_a_server_that_is_away_are_bounded() -> None:
    news = ReportQueue()
    for number in range(MOST_TROUBLES + 5):
        news.add(Trouble("no room", bot=1, version=number + 1))
    assert len(news) == MOST_TROUBLES
    assert news.batch().troubles[0].version == 6
