"""Lists that Moodle, Canvas, Gradescope and spreadsheets write are read as they are."""

from __future__ import annotations

import pytest

from plyhouse.server.competition_rules.class_list import (
    InvalidStudents,
    account_name,
    people_left_out,
    read_students,
)
from plyhouse.storage.competition_rows import NewMember

ADA = NewMember("Ada Lovelace", "Ada-Lovelace", "Ada Lovelace", "ada@example.org", 2, "0042")
CANVAS = "Student,ID,SIS User ID,SIS Login ID,Section,Homework 1 (77),Final Score\n"
POINTS = "    Points Possible,,,,,10.00,(read only)\n"


@pytest.mark.parametrize(
    "text",
    [
        "First name,Last name,ID number,Email address,Groups,Last access\n"
        'Ada,Lovelace,0042,ada@example.org,"Tutorial 1, Lab",now\n',
        '"First name",Surname,"ID number",Institution,Department,"Email address",'
        '"Course total (Real)","Last downloaded from this course"\n'
        "Ada,Lovelace,0042,Uni,Maths,ada@example.org,-,1700000000\n",
        "Vorname;Nachname;E-Mail-Adresse;Matrikelnummer\nAda;Lovelace;ada@example.org;0042\n",
        "First Name,Last Name,SID,Email,Role,Section\nAda,Lovelace,0042,ada@example.org,Student,\n",
        "Name,SID,Email,Total Score\nAda Lovelace,0042,ada@example.org,9.5\n",
    ],
)
def test_export_of_a_platform_is_read_without_its_groups(text: str) -> None:
    assert read_students(text) == (ADA,)
    assert read_students("\ufeff" + text.replace("\n", "\r\n")) == (ADA,)


def test_export_of_canvas_has_its_own_ids_and_rows_that_are_no_students() -> None:
    text = (
        CANVAS + POINTS + '"Lovelace, Ada",901,0042,ada@example.org,S1,9,9\n'
        '"Müller, Zoë",902,,zoe1,S1,8,8\nPrince,903,,,S1,7,7\n"Student, Test",904,,abc,S1,,\n'
    )
    found = read_students(text)
    assert [(each.name, each.email, each.institution_id, each.login) for each in found] == [
        ("Ada Lovelace", "ada@example.org", "0042", "ada@example.org"),
        ("Zoë Müller", "", "canvas:902", "zoe1"),
        ("Prince", "", "canvas:903", ""),
    ]
    assert [each.line for each in found] == [3, 4, 5]
    assert people_left_out(text) == ["Test Student"]


def test_staff_in_an_export_is_left_out() -> None:
    text = (
        "First name,Last name,Email address,Roles\nAda,L,a@x.org,Student\n"
        'Bob,T,b@x.org,"Teacher, Student"\nCy,T,c@x.org,Teacher\n'
        "Dan,T,d@x.org,Non-editing teacher\n"
        "Eve,T,e@x.org,\n"
    )
    assert [each.name for each in read_students(text)] == ["Ada L", "Bob T", "Eve T"]
    assert people_left_out(text) == ["Cy T", "Dan T"]


@pytest.mark.parametrize(
    "text",
    [
        "sep=;\nname;email\nada;a@x.org\n",
        '"sep=;"\r\nname;email\r\nada;a@x.org\r\n',
        "SEP=;\n\nname;email;;\nada;a@x.org;;\n",
        "sep=|\nname|email\nada|a@x.org\n",
        "name,email,,\nada,a@x.org,,\n,,,\n",
        "\ufeffname\temail\t\t\nada\ta@x.org\t\t\n",
    ],
)
def test_lists_of_spreadsheets_are_read(text: str) -> None:
    (student,) = read_students(text)
    assert (student.name, student.email) == ("ada", "a@x.org")


def test_line_that_says_the_separator_counts_as_a_line() -> None:
    with pytest.raises(InvalidStudents) as caught:
        read_students("sep=;\nname;email\nada;nonsense\n")
    assert [each.line for each in caught.value.rows] == [3]


def test_cells_beyond_the_columns_are_refused_unless_they_are_empty() -> None:
    with pytest.raises(InvalidStudents, match="has 3 cells, and the first row 2"):
        read_students("name,email\nada,a@x.org,9\n")
    with pytest.raises(InvalidStudents, match="the columns name, email"):
        read_students("name,,email\nada,,a@x.org\n".replace("email", "mail"))


@pytest.mark.parametrize("number", ["1.23457E+11", "1,23457E+11", "1E+12", "1.2e10"])
def test_id_that_a_spreadsheet_rounded_is_refused(number: str) -> None:
    for text in (
        f'name;institution_id\nada;"{number}"\n',
        f'First name;Last name;ID number\nAda;L;"{number}"\n',
    ):
        with pytest.raises(InvalidStudents, match="was changed by a spreadsheet"):
            read_students(text)
    assert read_students("name,id\nada,1e\n")[0].institution_id == "1e"


def test_unknown_column_of_an_own_list_is_a_mistake() -> None:
    for header in ("name,ematl", "name,SID2", "first name,email", "student,email"):
        with pytest.raises(InvalidStudents, match="or is that of an export of Moodle"):
            read_students(f"{header}\nada,x\n")


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("Identifier,Full name,ID number,Email address,Status", "Participant 1,Ada Ek,7,a@x.org,-"),
        ("Vollständiger Name;ID-Nummer;E-Mail-Adresse", "Ada Ek;7;a@x.org"),
        ("Full Name,SID,Email,Role", "Ada Ek,7,a@x.org,Student"),
        ("Nom;Pre\u0301nom;Numéro d\u2019identification;Adresse de courriel", "Ek;Ada;7;a@x.org"),
        ("Nome;Cognome;Codice identificativo;Indirizzo email", "Ada;Ek;7;a@x.org"),
        ("Achternaam|Voornaam|ID-nummer|E-mailadres", "Ek|Ada|7|a@x.org"),
        ("sep=;\n\ufeffname;email;id", "Ada Ek;a@x.org;7"),
        ("Last Name\tFirst Name\tStudent ID\tEmail", 'Ek\tAda\t="7"\ta@x.org'),
    ],
)
def test_headers_of_exports_are_known_however_they_are_written(header: str, row: str) -> None:
    (student,) = read_students(f"{header}\n{row}\n")
    assert (student.name, student.institution_id, student.email) == ("Ada Ek", "7", "a@x.org")


def test_row_of_posting_policies_of_canvas_is_no_student() -> None:
    text = (
        "Student,ID,SIS Login ID,Section,HW1\n"
        ",,,,Manual Posting\n    Points Possible,,,,10\n"
        '"Ek, Ada",1,ada,S,9\n'
    )
    assert [each.name for each in read_students(text)] == ["Ada Ek"]
    assert people_left_out(text) == []


def test_groups_of_an_own_list_are_never_dropped_as_those_of_an_export() -> None:
    with pytest.raises(InvalidStudents, match="the first row names the columns"):
        read_students("name,email,group,role\nAda,a@x.org,crew,student\n")


@pytest.mark.parametrize("value", ["1.23457E+11", "123456.0", "12,00", "#######"])
def test_id_that_a_spreadsheet_changed_is_refused(value: str) -> None:
    with pytest.raises(InvalidStudents, match="was changed by a spreadsheet"):
        read_students(f"name;id\nAda;{value}\n")


def test_line_of_a_quote_without_end_is_named() -> None:
    with pytest.raises(InvalidStudents, match="line 3: this is no CSV"):
        read_students('name,email\nAda,a@x.org\n"Bob" B,b@x.org\n')


def test_letters_that_a_name_can_have_stay_and_wide_ones_become_usual_ones() -> None:
    names = ["Cem Y\N{LATIN SMALL LETTER DOTLESS I}lmaz", "Þóra Đukić", "\uff3a\uff4fë"]
    assert [account_name(each) for each in names] == [
        *("Cem-Y\N{LATIN SMALL LETTER DOTLESS I}lmaz", "Þóra-Đukić", "Zoë"),
    ]
