"""Competition files: refused before they take long, stored by their values, and derived."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Collection
from datetime import UTC, datetime

import pytest

from plyhouse.server.competition_rules.derived_files import (
    practice_text,
    rehearsal_text,
    same_terms,
)
from plyhouse.server.competition_rules.file import STRICTEST, decoded, encoded
from plyhouse.server.competition_rules.file_reader import InvalidCompetition, read_competition
from plyhouse.server.competition_rules.file_template import template

NOW = datetime(2026, 10, 1, 12, tzinfo=UTC)
LEAST = 'name = "Cup"\ngames = ["pig"]\ntime_control = "move:1"\n'


@pytest.mark.parametrize(
    "text",
    [
        "a" + ".a" * 16_000 + " = 1",
        "a . b.c.d\t.e.f.g.h.i = 1",
        "[a.b.c.d.e.f.g.h.i]",
        "[[a.b.c.d.e.f.g.h.i]]",
        "x = {a.b.c.d.e.f.g.h.i = 1}",
        """'a'."b.b".c.d.e.f.g.h.i = 1""",
        'x = [{k = """a""""}, {a.b.c.d.e.f.g.h.i = 1}]',
        'x = "\\"" # "\na.b.c.d.e.f.g.h.i = 1',
        """x = 'a\\'\na.b.c.d.e.f.g.h.i = 1""",
    ],
)
def test_key_of_many_parts_is_refused_before_it_is_parsed(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It needs four seconds for the longest.
    monkeypatch.setattr(tomllib, "loads", lambda text: pytest.fail("it was parsed"))
    with pytest.raises(InvalidCompetition) as refused:
        read_competition(LEAST + text)
    (mistake,) = refused.value.mistakes
    line = 4 + text.count("\n")
    said = f"the file is no TOML: the key in line {line} has more than 8 parts"
    assert (mistake.code, mistake.text) == ("competition/not_toml", said)


def test_dots_in_texts_and_comments_make_no_long_key() -> None:
    dots = "a.b.c.d.e.f.g.h.i.j"
    for rules in (f'"{dots}"', f"'{dots}'", f'"""\n{dots}\n"{dots}""""', f"'''\n{dots}\n'''"):
        found = read_competition(f"{LEAST}rules = {rules} # {dots}\n# {dots}\n")
        assert dots in found.rules


@pytest.mark.parametrize("more", ["bot = 'a/b{0}'\ntwin_of = 'a/x{0}'\n", "k{0} = 1\n"])
def test_many_mistakes_are_found_without_a_search_for_each(
    more: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = 0

    def close(word: str, others: Collection[str], n: int = 3, cutoff: float = 0.6) -> list[str]:
        nonlocal compared
        compared += len(others)
        return []

    monkeypatch.setattr(difflib, "get_close_matches", close)
    head = "[[baselines]]\n" if "bot" in more else ""
    with pytest.raises(InvalidCompetition) as refused:
        read_competition(LEAST + "".join(head + more.format(each) for each in range(600)))
    assert len(refused.value.mistakes) >= 600
    assert compared < 600 * 60, "each with the keys, and not with 600 others"


def test_values_are_stored_and_come_back_alike() -> None:
    texts = [template("Cup", ["pig"], "byoyomi:60+5x10", NOW), *map(every_value, (True, False))]
    for text in texts:
        file = read_competition(text)
        assert decoded(encoded(file)) == file
    assert decoded(None) is decoded("{") is decoded("[]") is STRICTEST
    assert not STRICTEST.shown
    assert (STRICTEST.board, STRICTEST.hosting_required) == ("anonymous", True)


def every_value(mirrored: bool) -> str:
    """Return a file with a value of each kind."""
    return (
        f'name = "Größe"\ngames = ["pig", "kuhn_poker"]\ntime_control = "total:60+0.5"\n'
        f"mirrored = {str(mirrored).lower()}\n"
        '[scoring]\npig = "wins"\nkuhn_poker = "returns"\n'
        '[format]\nname = "gauntlet"\ntimes = 3\n'
        '[dates]\nzone = "Europe/Berlin"\nfreeze = 2099-01-31T18:00:00\n'
        "[late]\ndays = 2\npenalty_per_day = 12.5\n"
        '[[baselines]]\nbot = "staff/a"\nhidden = true\n'
        'grade = "pass"\nat_least = 0.25\npoints = 3\n'
        '[[baselines]]\nbot = "staff/b"\ntwin_of = "staff/a"\n'
    )


@pytest.mark.parametrize(
    "more",
    [
        "[dates]\nfreeze = 2099-01-01T00:00:00Z\n[late]\ndays = 3\n",
        '[scoring]\n"kuhn_poker(seats=3)" = "returns"\n',
    ],
)
def test_rehearsal_of_a_file_is_a_file(more: str) -> None:
    text = LEAST.replace('"pig"', '"kuhn_poker(seats=3)"') + more
    found = read_competition(rehearsal_text(text, "Rehearsal"))
    assert found.scoring == read_competition(text).scoring


def test_practice_ladder_has_the_terms_of_its_competition() -> None:
    text = LEAST.replace('"pig"', '"leduc_poker", "pig(target=50)"')
    more = 'mirrored = false\nentries_per_student = 3\nscoring = { "pig(target=50)" = "returns" }\n'
    file = read_competition(f"{text}{more}[practice]\nladder = true\n[hosting]\nrequired = true\n")
    ladder = read_competition(practice_text(file, "Cup (practice)"))
    assert same_terms(file, ladder)
    assert (ladder.entries_per_student, ladder.format.name) == (3, "ladder")
