"""Baselines that cannot play are refused or shown, and can be checked again or replaced."""

from __future__ import annotations

import asyncio
import json
import threading
import tomllib
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.harness.server import Server

from plyhouse.bots.loading import load_bot
from plyhouse.clients.cli.main import main
from plyhouse.games.registry import game_names, get_game
from plyhouse.server.competition_rules import file_table, reference_baselines
from plyhouse.server.competition_rules.file_reader import InvalidCompetition, read_competition
from plyhouse.server.competition_rules.file_table import read_document
from plyhouse.server.competition_rules.reference_baselines import (
    REFERENCE,
    reference_misfit,
    with_reference,
)
from plyhouse.server.competitions import file_changes
from plyhouse.server.hosting.check_queue import terms_of
from plyhouse.storage import (
    audit,
    competition_sql,
    competition_students,
    people,
    submission_checks,
    submission_sql,
)
from plyhouse.storage.competition_rows import NewMember
from plyhouse.storage.errors import CompetitionRefusal, Unknown
from plyhouse.storage.rows import By

OLGA = By("olga")
BOT = "from plyhouse.bots import Bot\nclass Mine(Bot):\n    games = ('pig',)\n"
BOT += "    def choose(self, turn):\n        return turn.legal[0]\n"
CUP = """
name = "Cup"
games = ["pig"]
time_control = "total:60+1"
[hosting]
required = true
# The easy one.
[[baselines]]
bot = "house/weak"
reference = "random"  # any action
"""


@pytest.fixture
async def house(open_house: Callable[..., Awaitable[Server]]) -> Server:
    return await open_house(hosted=True)


Plyhouse = Callable[..., Awaitable[tuple[int, str, str]]]


@pytest.fixture
def plyhouse(house: Server, capsys: pytest.CaptureFixture[str]) -> Plyhouse:
    """Runs a command as the player of that name."""

    async def run(player: str, *arguments: str) -> tuple[int, str, str]:
        scopes = ("play", "organise") if player == "olga" else ("play",)
        given = ["--server", house.server.url, "--token", await house.token(player, *scopes)]
        code = await asyncio.to_thread(main, [*arguments, *given])
        return code, *capsys.readouterr()

    return run


@pytest.mark.parametrize("name", REFERENCE)
def test_reference_misfit_agrees_with_the_games_that_the_bot_claims(name: str) -> None:
    claimed = tuple(load_bot(name).claims()) or tuple(game_names())
    for game in game_names():
        assert (game in claimed) == (not reference_misfit(name, get_game(game))), game


@pytest.mark.parametrize(
    ("reference", "game"),
    [("mcts(simulations=200)", "leduc_poker"), ("alpha_beta", "pig"), ("kuhn_optimal", "pig")],
)
def test_competition_file_with_an_unfit_reference_bot_is_invalid(reference: str, game: str) -> None:
    text = CUP.replace('"random"', f'"{reference}"').replace('"pig"', f'"{game}"')
    with pytest.raises(InvalidCompetition, match=f"cannot play {game}") as error:
        read_competition(text)
    (mistake,) = error.value.mistakes
    assert mistake.code == "competition/unfit_baseline"
    assert mistake.key == "baselines[0].reference"


async def test_competition_check_and_open_refuse_an_unfit_baseline(
    house: Server, plyhouse: Plyhouse, tmp_path: Path
) -> None:
    path = tmp_path / "cup.toml"
    path.write_text(CUP.replace('"random"', '"mcts"').replace('"pig"', '"leduc_poker"'))
    for command in ("check", "open"):
        code, _, err = await plyhouse("olga", "competition", command, str(path))
        assert code == 2
        assert "mcts cannot play leduc_poker: its seats do not see the whole state" in err
    assert await house.hub.store.read(competition_sql.list_all) == []


async def test_competition_check_open_and_copy_refuse_wrong_options_of_a_reference_bot(
    house: Server, plyhouse: Plyhouse, tmp_path: Path
) -> None:
    path = tmp_path / "cup.toml"
    path.write_text(CUP.replace('"random"', '"mcts(simulation=200)"'))
    for command in (("check",), ("open",), ("copy", "Old")):
        code, _, err = await plyhouse("olga", "competition", *command, str(path))
        assert (code, "did you mean simulations" in err) == (2, True), err
        assert "baselines[0].reference" in err
    assert await house.hub.store.read(competition_sql.list_all) == []


async def test_uploaded_baseline_that_does_not_play_the_game_is_refused(
    house: Server, plyhouse: Plyhouse, tmp_path: Path
) -> None:
    (tmp_path / "easy.py").write_text(BOT)
    code, _, err = await plyhouse("staff", "submit", str(tmp_path / "easy.py"), "--no-wait")
    assert code == 0, err
    store = house.hub.store
    await store.write(
        submission_sql.check,
        next(iter(await store.read(submission_checks.waiting))),
        True,
        "",
        ("pig",),
        10,
    )
    text = CUP.replace('"house/weak"\nreference = "random"', '"staff/easy"')
    with pytest.raises(InvalidCompetition, match="staff/easy does not play leduc_poker"):
        await house.hub.competitions.check(text.replace('"pig"', '"leduc_poker"'))
    assert (await house.hub.competitions.check(text)).name == "Cup"


async def test_reference_bot_is_checked_in_the_games_of_its_competition_only_and_once(
    house: Server,
) -> None:
    store, classes = house.hub.store, house.hub.competitions
    cup = await classes.open(CUP, OLGA)
    (number,) = await store.read(submission_checks.waiting)
    terms, must_play = terms_of(await store.read(submission_checks.checked_for, number))
    assert [(each.game, each.time_control) for each in terms] == [("pig", "total:60+1")]
    assert must_play
    await store.write(submission_sql.check, number, True, "ok      loads", ("pig",), 10)
    (entry,) = await house.hub.store.read(competition_sql.entries_of, cup.id)
    assert entry.version_id is not None
    # The same bot, options, game and version of Plyhouse under another name: no second check.
    again = CUP.replace("Cup", "Copy").replace("house/weak", "house/other")
    copy = await classes.open(again, OLGA)
    assert not await store.read(submission_checks.waiting)
    (entry,) = await house.hub.store.read(competition_sql.entries_of, copy.id)
    assert entry.version_id is not None
    # Another game needs a check, and the first competition goes on meanwhile.
    other = await classes.open(CUP.replace("Cup", "Chess").replace('"pig"', '"chess"'), OLGA)
    assert [*await store.read(submission_checks.waiting)] == [number]
    assert await store.read(submission_sql.ready_version, entry.bot_id, None) is not None
    terms, _ = terms_of(await store.read(submission_checks.checked_for, number))
    assert [each.game for each in terms] == ["chess"]
    (entry,) = await house.hub.store.read(competition_sql.entries_of, other.id)
    assert entry.version_id is None
    await store.write(submission_sql.check, number, True, "ok      loads", ("chess",), 11)
    (entry,) = await house.hub.store.read(competition_sql.entries_of, other.id)
    assert entry.version_id is not None
    assert (await store.read(submission_sql.find, number)).games == ("chess", "pig")


async def test_a_competition_of_named_entries_begins_when_its_baseline_is_checked(
    house: Server,
) -> None:
    store, competitions = house.hub.store, house.hub.competitions
    await house.bot("ada", games=["pig"])
    text = CUP.replace("required = true", "required = false") + "[limits]\nstudents = 0\n"
    cup = await competitions.open(text, OLGA, entries=["ada/bot"])
    assert cup.status == "frozen"
    await competitions.look()
    waits = await store.read(competition_sql.find, cup.id)
    assert "house/weak is not checked yet" in str(waits.note)
    (number,) = await store.read(submission_checks.waiting)
    await store.write(submission_sql.check, number, True, "ok      loads", ("pig",), 10)
    await competitions.look()
    begun = await store.read(competition_sql.find, cup.id)
    assert (begun.status, begun.note) == ("running", None)


async def test_check_of_a_student_goes_before_that_of_a_baseline(house: Server) -> None:
    store = house.hub.store
    await house.hub.competitions.open(CUP, OLGA)
    (baseline,) = await store.read(submission_checks.waiting)
    player = await store.add_player("ada")
    bot = await store.ensure_bot(player.id, "mine", "bot")
    student = await store.submissions.add(bot.id, "", "d" * 64, b"zip", 10**15)
    waiting = await store.read(submission_checks.waiting)
    assert [*waiting] == [student.id, baseline]
    assert [each.baseline for each in waiting.values()] == [False, True]


async def test_submission_is_checked_for_the_competitions_of_its_student(house: Server) -> None:
    store, classes = house.hub.store, house.hub.competitions
    for name, control in (("One", "move:1"), ("Two", "total:60+1")):
        text = f'name = "{name}"\ngames = ["pig"]\ntime_control = "{control}"\n'
        made = await classes.open(text, OLGA)
        await store.write(
            competition_students.take_in,
            made.id,
            [NewMember("ada", "ada")],
            OLGA,
            store.now(),
            adopt="*",
        )
    ada = await store.read(people.player, "ada")
    bot = await store.ensure_bot(ada.id, "mine", "bot")
    both = await store.submissions.add(bot.id, "", "d" * 64, b"zip", store.now())
    terms, must_play = terms_of(await store.read(submission_checks.checked_for, both.id))
    assert [(each.game, each.time_control) for each in terms] == [
        ("pig", "move:1"),
        ("pig", "total:60+1"),
    ]
    assert not must_play
    other = await store.ensure_bot(ada.id, "mine", "bot")
    one = await store.submissions.add(
        other.id, "", "e" * 64, b"zip", store.now(), competition="One"
    )
    terms, _ = terms_of(await store.read(submission_checks.checked_for, one.id))
    assert [each.time_control for each in terms] == ["move:1"]


async def test_refused_baseline_is_shown_with_its_reason_and_replaced_after_the_freeze(
    house: Server, plyhouse: Plyhouse
) -> None:
    store, store = house.hub.store, house.hub.store
    cup = await house.hub.competitions.open(CUP, OLGA)
    code, out, err = await plyhouse("olga", "competition", "status", "Cup")
    assert (code, "baseline, waits for its check" in out) == (0, True)
    report = "ok      loads\nFAILED  plays pig as 0: flag fall: too late\n1 of 2 checks failed."
    await store.write(
        submission_sql.check,
        next(iter(await store.read(submission_checks.waiting))),
        False,
        report,
        (),
        10,
    )
    code, out, err = await plyhouse("olga", "competition", "status", "Cup")
    assert "baseline, refused" in out
    why = "house/weak was refused by its check (submission 1): plays pig as 0: flag fall: too late."
    assert why in err
    assert "plyhouse competition baseline 'Cup' house/weak" in err
    await store.write(competition_sql.move, cup.id, "freeze", OLGA, store.now())
    with pytest.raises(CompetitionRefusal, match="was refused by its check"):
        await house.hub.competitions.run("Cup", OLGA)
    # Checked again ...
    code, _, err = await plyhouse("olga", "competition", "baseline", "Cup", "house/weak")
    assert (code, "house/weak waits for its check" in err) == (0, True), err
    with pytest.raises(CompetitionRefusal, match="is not checked yet"):
        await house.hub.competitions.run("Cup", OLGA)
    with pytest.raises(CompetitionRefusal, match="house/weak waits for its check"):
        await house.hub.competitions.run("Cup", OLGA, anyway=True)
    await store.write(
        submission_sql.check,
        next(iter(await store.read(submission_checks.waiting))),
        False,
        report,
        (),
        11,
    )
    # ... and replaced, which its competition file says from now on.
    other = ("competition", "baseline", "Cup", "house/weak", "--reference")
    assert (await plyhouse("olga", *other, "alpha_beta"))[0] == 2
    code, _, err = await plyhouse("olga", *other, "pig_optimal")
    assert code == 0, err
    assert (
        'reference = "pig_optimal"  # any action'
        in (await store.read(competition_sql.find, "Cup")).file
    )
    (number,) = await store.read(submission_checks.waiting)
    await store.write(submission_sql.check, number, True, "ok      loads", ("pig",), 12)
    (entry,) = await store.read(competition_sql.entries_of, cup.id)
    assert entry.version_id == (await store.read(submission_sql.find, number)).version_id
    code, out, _ = await plyhouse("olga", "competition", "status", "Cup", "--json")
    (shown,) = json.loads(out)["entries"]
    assert (shown["check"], shown["check_text"]) == ("ready", "")
    log = await house.hub.store.read(audit.latest)
    (noted,) = [each for each in log if each.what == "competition.baseline"]
    assert noted.why == "house/weak: random -> pig_optimal"
    with pytest.raises(Unknown, match="its baselines: house/weak"):
        await house.hub.competitions.baselines.check_again("Cup", "house/hard", OLGA)


async def test_baseline_that_is_a_reference_bot_no_more_is_named_and_can_be_replaced(
    house: Server, plyhouse: Plyhouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = '\n[[baselines]]\nbot = "house/other"\nreference = "pig_optimal"\n'
    await house.hub.competitions.open(CUP + second, OLGA)
    monkeypatch.delitem(REFERENCE, "random")
    again = ("competition", "baseline", "Cup")
    code, _, err = await plyhouse("olga", *again, "house/weak")
    assert (code, "baselines[0].reference" in err) == (2, True), err
    assert "there is no reference bot 'random'; known are" in err
    assert (await plyhouse("olga", *again, "house/other"))[0] == 0
    code, _, err = await plyhouse("olga", *again, "house/weak", "--reference", "best")
    assert code == 0, err


async def test_files_that_the_server_edits_are_read_beside_the_event_loop(
    house: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[bool] = []

    def loads(text: str) -> Any:
        read.append(threading.current_thread() is threading.main_thread())
        return tomllib.loads(text)

    monkeypatch.setattr(file_table, "tomllib", SimpleNamespace(loads=loads))
    competitions, store = house.hub.competitions, house.hub.store
    practice = "[practice]\nladder = true\n"
    text = CUP.replace("# The", practice + "# The") + '[[baselines]]\nbot = "house/other"\n'
    cup = await competitions.open(text + 'reference = "best"\n', OLGA)
    ada = [NewMember("ada", "ada")]
    await store.write(competition_students.take_in, cup.id, ada, OLGA, store.now(), adopt="*")
    bot = await store.ensure_bot((await store.read(people.player, "ada")).id, "mine", "bot")
    await store.submissions.add(bot.id, "", "d" * 64, b"zip", store.now())
    for number in await store.read(submission_checks.waiting):
        await store.write(submission_sql.check, number, True, "", ("pig",), 10)
    await competitions.baselines.check_again("Cup", "house/weak", OLGA, replace_by="pig_optimal")
    read.clear()
    await competitions.look()
    assert read, "a practice ladder begins"
    await competitions.rehearse("Cup", OLGA)
    row = await store.write(competition_sql.move, cup.id, "freeze", OLGA, store.now())
    await file_changes.unfreeze(
        store, competitions, row, OLGA, datetime.fromtimestamp(store.now() / 1000 + 3600, UTC)
    )
    await competitions.baselines.check_again("Cup", "house/weak", OLGA, replace_by="random")
    assert len(read) > 6
    assert not any(read)


def test_reference_that_its_file_repeats_is_replaced_in_bounded_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rules = f'rules = "{"random " * 2000}"\n[hosting]'
    text = CUP.replace("[hosting]", rules)
    read: list[str] = []

    def counted(text: str) -> Any:
        read.append(text)
        return read_document(text)

    monkeypatch.setattr(reference_baselines, "read_document", counted)
    changed = with_reference(text, "house/weak", "best")
    assert read_competition(changed).baselines[0].reference == "best"
    assert read_competition(changed).rules == read_competition(text).rules
    assert len(read) < 30


async def test_two_baselines_replaced_at_once_both_stay_in_the_file_or_one_is_refused(
    house: Server,
) -> None:
    second = '\n[[baselines]]\nbot = "house/other"\nreference = "pig_optimal"\n'
    await house.hub.competitions.open(CUP + second, OLGA)
    baselines = house.hub.competitions.baselines
    done = await asyncio.gather(
        baselines.check_again("Cup", "house/weak", OLGA, replace_by="best"),
        baselines.check_again("Cup", "house/other", OLGA, replace_by="ismcts"),
        return_exceptions=True,
    )
    file = (await house.hub.store.read(competition_sql.find, "Cup")).file
    for reference, each in zip(("best", "ismcts"), done, strict=True):
        if isinstance(each, BaseException):
            assert isinstance(each, CompetitionRefusal)
            assert each.code == "competition/changed_meanwhile"
        assert (f'"{reference}"' in file) is not isinstance(each, BaseException)


async def test_refused_check_of_a_baseline_that_played_before_keeps_the_final_from_beginning(
    house: Server,
) -> None:
    store, store = house.hub.store, house.hub.store
    cup = await house.hub.competitions.open(CUP, OLGA)
    (number,) = await store.read(submission_checks.waiting)
    await store.write(submission_sql.check, number, True, "ok      loads", ("pig",), 10)
    await store.write(competition_sql.move, cup.id, "freeze", OLGA, store.now())
    await house.hub.competitions.baselines.check_again("Cup", "house/weak", OLGA)
    assert [*await store.read(submission_checks.waiting)] == [number]
    await store.write(submission_sql.check, number, False, "FAILED  loads: no", (), 11)
    with pytest.raises(CompetitionRefusal, match="was refused by its check"):
        await house.hub.competitions.run("Cup", OLGA)


async def test_uploaded_baseline_is_replaced_after_the_freeze(
    house: Server, plyhouse: Plyhouse, tmp_path: Path
) -> None:
    store, store = house.hub.store, house.hub.store
    path = tmp_path / "easy.py"
    path.write_text(BOT)
    assert (await plyhouse("staff", "submit", str(path), "--no-wait"))[0] == 0
    text = CUP.replace('"house/weak"\nreference = "random"', '"staff/easy"')
    cup = await house.hub.competitions.open(text, OLGA)
    (number,) = await store.read(submission_checks.waiting)
    await store.write(
        submission_sql.check, number, False, "FAILED  plays pig as 0: too late", (), 10
    )
    (entry,) = await store.read(competition_sql.entries_of, cup.id)
    assert entry.version_id is None, "what waited for its check when it opened is refused"
    await store.write(competition_sql.move, cup.id, "freeze", OLGA, store.now())
    with pytest.raises(CompetitionRefusal, match=r"staff/easy was refused .* too late"):
        await house.hub.competitions.run("Cup", OLGA)
    with pytest.raises(CompetitionRefusal, match="submit it again, with the token of staff"):
        await house.hub.competitions.baselines.check_again("Cup", "staff/easy", OLGA)
    path.write_text(BOT + "# mended\n")
    code, _, err = await plyhouse("staff", "submit", str(path), "--no-wait", "--competition", "Cup")
    assert code == 0, err
    (number,) = await store.read(submission_checks.waiting)
    await store.write(submission_sql.check, number, True, "", ("pig",), 11)
    (entry,) = await store.read(competition_sql.entries_of, cup.id)
    assert entry.version_id == (await store.read(submission_sql.find, number)).version_id
