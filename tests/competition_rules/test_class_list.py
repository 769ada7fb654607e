"""Lists of students: what is read, and every row that is refused by its line."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plyhouse.server.competition_rules.class_list import (
    InvalidStudents,
    account_name,
    read_students,
)
from plyhouse.storage.names import name_problem


def bad(text: str) -> list[tuple[int, str]]:
    with pytest.raises(InvalidStudents) as caught:
        read_students(text)
    return [(row.line, row.text) for row in caught.value.rows]


@pytest.mark.parametrize("between", [",", ";", "\t"])
def test_names_mails_and_groups_are_read(between: str) -> None:
    text = "Name,E-Mail,Group\r\nZoë Müller,z@example.org,\r\n\r\nbob,,crew\r\ncy,,crew\r\n"
    students = read_students("\ufeff" + text.replace(",", between))
    assert [(each.account, each.display, each.email) for each in students] == [
        ("Zoë-Müller", "Zoë Müller", "z@example.org"),
        ("crew", "", ""),
        ("crew", "", ""),
    ]
    assert [each.line for each in students] == [2, 4, 5]


@pytest.mark.parametrize("head", ["institution_id", "id", "Institution ID"])
def test_institution_ids_are_read_and_must_differ(head: str) -> None:
    students = read_students(f"{head},name\n0042,ada\n,bob\n,cy\n")
    assert [each.institution_id for each in students] == ["0042", "", ""]
    assert bad(f"name,{head}\nada,7\nbob,7\n") == [(3, "the institution_id 7 is in line 2 already")]
    assert "64 at most" in bad(f"name,{head}\nada,{'7' * 65}\n")[0][1]


def test_logins_are_read_and_must_differ() -> None:
    students = read_students("name,id,login\nada,7,ada1\nbob,8,\ncy,9,\n")
    assert [(each.institution_id, each.login) for each in students] == [
        ("7", "ada1"), ("8", ""), ("9", ""),
    ]  # fmt: skip
    assert bad("name,login\nada,x\nbob,x\n") == [(3, "the login x is in line 2 already")]
    assert bad(f"name,login\nada,{'x' * 255}\nbob,1.2E+11\ncy,x\u200b\n") == [
        (2, "the login has 255 characters; 254 at most"),
        (3, "the login 1.2E+11 was changed by a spreadsheet: set the column to text, enter the "
            "ids again, and save the list again"),
        (4, "the login has a character that cannot be seen"),
    ]  # fmt: skip


def test_names_alone_are_enough() -> None:
    assert [each.name for each in read_students("name\nada\nbob")] == ["ada", "bob"]


def test_students_of_any_script_get_accounts_that_say_who_they_are() -> None:
    names = ("Ольга Петрова", "李雷", "नमस्ते शर्मा", "Νίκος Ö", "김철수", "Zoë Müller", "דוד כהן")
    found = read_students("name\n" + "\n".join(names))
    assert [each.account for each in found] == [
        *("Ольга-Петрова", "李雷", "नमस्ते-शर्मा", "Νίκος-Ö", "김철수", "Zoë-Müller", "דוד-כהן"),
    ]
    assert [each.display for each in found] == [
        *("Ольга Петрова", "", "नमस्ते शर्मा", "Νίκος Ö", "", "Zoë Müller", "דוד כהן"),
    ]


def test_names_of_the_server_are_no_accounts_of_students_or_groups() -> None:
    found = bad("name,group\nHouse,\nada,\nbob,Guest crew\nPLYHOUSE!,\nChance,\nErased 1,\n")
    assert [line for line, _ in found] == [2, 4, 5, 6, 7]
    assert all("reserved for the server's own accounts" in text for _, text in found)
    assert read_students("name\nChance Perdomo\nGregory House\nAdmiral")


def test_every_bad_row_is_named_by_its_line() -> None:
    text = (
        "name,email,group\n"
        "ada,nowhere,\n"
        ",x@example.org,\n"
        "bob,b@example.org,,more\n"
        "!?,,\n"
        "cy,c@example.org,\n"
        "CY,,\n"
        "dan,c@example.org,\n"
        "eve,,ada!\n"
        f"{'x' * 65},,\n"
        "fay\u202e,,\n"
    )
    found = bad(text)
    assert [line for line, _ in found] == [2, 3, 4, 5, 7, 8, 10, 11]
    told = dict(found)
    assert "no e-mail address" in told[2]
    assert told[3] == "there is no name"
    assert "has 4 cells" in told[4]
    assert "give a pseudonym" in told[5]
    assert "line 6" in told[7]
    assert "U+202E" in told[11]


def test_a_student_and_a_group_cannot_have_one_account() -> None:
    ((line, text),) = bad("name,group\nCrew,\nbob,Crew\n")
    assert line == 3
    assert "account of line 2" in text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("name\n", "nobody"),
        ("ada\nbob\n", "names the columns"),
        ("name,name\nada,ada\n", "names the columns"),
        ("name,points\nada,3\n", "'points'"),
        ('name\n"ada', "no CSV"),
    ],
)
def test_a_list_that_is_none(text: str, said: str) -> None:
    assert said in bad(text)[0][1]


@given(st.text(max_size=100))
def test_an_account_can_be_named_so(text: str) -> None:
    name = account_name(text)
    assert not name or name_problem(name) == ""
    with contextlib.suppress(InvalidStudents):
        read_students(f"name\n{text}")
