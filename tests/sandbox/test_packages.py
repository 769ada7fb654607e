"""Packages that are accepted, and packages that are refused before any of their code runs."""

from __future__ import annotations

import io
import os
import pickle
import stat
import struct
import zipfile
from pathlib import Path

import pytest
from tests.sandbox.conftest import Submission

from plyhouse.bots.hosting.build import build
from plyhouse.bots.local_packages import (
    Manifest,
    Package,
    Rules,
    SubmissionError,
    read_package,
)
from plyhouse.bots.running.digest import bot_digest
from plyhouse.protocol.hosting.package import digest_of, from_upload, from_zip, pack, version_of

BOT = "from plyhouse.bots import Bot\nimport helper\nclass Mine(Bot):\n    games = ('pig',)\n"


def zipped(path: Path, *entries: tuple[str | zipfile.ZipInfo, bytes | str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return path


def refused(path: Path, rules: Rules | None = None) -> tuple[str, str]:
    with pytest.raises(SubmissionError) as caught:
        read_package(path, rules)
    return caught.value.code, str(caught.value)


def test_a_file_a_folder_and_a_zip_of_the_same_are_the_same(
    submission: Submission, tmp_path: Path
) -> None:
    folder = submission(bot=BOT, helper="x = 1\n")
    plain = zipped(tmp_path / "a.zip", ("bot.py", BOT), ("helper.py", "x = 1\n"))
    inside = zipped(
        tmp_path / "b.zip",
        ("mine/bot.py", BOT),
        ("mine/helper.py", "x = 1\n"),
        ("mine/__pycache__/helper.cpython-311.pyc", b"\0"),
    )
    versions = {version_of(read_package(path)) for path in (folder, plain, inside)}
    assert len(versions) == 1
    single = read_package(zipped(tmp_path / "c.zip", ("bot.py", BOT)))
    assert version_of(read_package(folder / "bot.py")) == version_of(single)
    assert version_of(single) not in versions


def test_the_hash_is_the_one_that_the_author_s_runner_reports(
    submission: Submission, tmp_path: Path
) -> None:
    folder = submission(bot=BOT)
    built = build(read_package(folder), tmp_path / "store")
    assert built.digest == bot_digest(str(folder / "bot.py")) != ""
    assert built.spec == str(built.folder / "bot.py")
    assert digest_of(from_upload("other.py", BOT.encode(), Rules())) == built.digest


def test_whatever_else_is_in_a_package_makes_another_version(submission: Submission) -> None:
    folder = submission(bot=BOT)
    seen = {digest_of(read_package(folder))}
    for weights in ("1", "2"):  # files that the author's own runner knows nothing of
        (folder / "weights.txt").write_text(weights)
        package = read_package(folder)
        seen.add(digest_of(package))
        again = from_zip(pack(package), Rules())
        assert (again, digest_of(again)) == (package, digest_of(package))
    assert len(seen) == 3


def test_what_is_sent_need_not_be_a_file(tmp_path: Path) -> None:
    for name, data, code in (
        ("bot.txt", b"x = 1", "missing"),
        ("../bot.py", b"x = 1", "bad_name"),
        ("bot.py", b"\x7fELF\0", "bad_file"),
        ("", b"", "missing"),
        ("bot.zip", b"PK\3\4 and no more", "bad_file"),
        ("bot.py", b"x" * 11, "too_large"),
    ):
        with pytest.raises(SubmissionError) as caught:
            from_upload(name, data, Rules(max_file=10))
        assert caught.value.code == f"submission/{code}", name


def test_a_directory_that_would_fill_the_memory_is_not_read(tmp_path: Path) -> None:
    entries = [(f"__MACOSX/{number}", "") for number in range(700)]
    path = zipped(tmp_path / "many.zip", ("bot.py", BOT), *entries)
    assert read_package(path).files.keys() == {"bot.py"}
    assert refused(path, Rules(max_files=5)) == ("submission/too_large", "more than 5 files")
    data = bytearray(path.read_bytes())
    end = data.rindex(b"PK\5\6")
    data[end:end] = b"PK\6\7" + bytes(16)
    with pytest.raises(SubmissionError, match="zip64"):
        from_zip(bytes(data), Rules())


def test_ways_of_packing_that_take_much_memory_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "lzma.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("bot.py", BOT)
    code, text = refused(path)
    assert code == "submission/bad_file"
    assert "use deflate" in text


def test_what_bots_are_only_taken_needs_nothing_installed() -> None:
    files = {"bot.py": BOT.encode(), "requirements.txt": b"pandas>=1\n"}
    rules = Rules(packages=frozenset({"Pandas"}), installed=False)
    data = pack(Package(files, frozenset(), Manifest()))
    assert from_zip(data, rules).requirements == ("pandas>=1",)
    with pytest.raises(SubmissionError, match="this server offers numpy, scipy"):
        from_zip(data, Rules(installed=False))


def test_a_tree_is_built_once_and_cannot_be_written(submission: Submission, tmp_path: Path) -> None:
    package = read_package(submission(bot=BOT, helper="x = 1\n"))
    first = build(package, tmp_path / "store")
    before = first.folder.stat().st_ino
    assert build(package, tmp_path / "store") == first
    assert first.folder.stat().st_ino == before
    assert os.listdir(tmp_path / "store") == [version_of(package)]
    for path in (first.folder, *first.folder.rglob("*")):
        assert not path.stat().st_mode & 0o222, path


@pytest.mark.parametrize(
    "name", ["../bot.py", "/etc/cron.d/bot.py", "a/../../bot.py", "..\\bot.py", "C:/bot.py", "a//b"]
)
def test_no_path_leaves_an_archive(name: str, tmp_path: Path) -> None:
    code, text = refused(zipped(tmp_path / "slip.zip", ("bot.py", BOT), (name, "x")))
    assert code == "submission/bad_name"
    assert name.replace("\\", "/") in text


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO, stat.S_IFSOCK])
def test_an_archive_holds_neither_links_nor_devices(kind: int, tmp_path: Path) -> None:
    entry = zipfile.ZipInfo("data")
    entry.external_attr = (kind | 0o777) << 16
    code, text = refused(zipped(tmp_path / "link.zip", ("bot.py", BOT), (entry, "/etc/passwd")))
    assert code == "submission/bad_file"
    assert "ordinary files only" in text


def test_a_folder_holds_neither_links_nor_pipes(submission: Submission) -> None:
    folder = submission("files", bot=BOT)
    (folder / "data").symlink_to("/etc/passwd")
    assert refused(folder)[0] == "submission/bad_file"
    (folder / "data").unlink()
    os.mkfifo(folder / "data")
    assert refused(folder) == (
        "submission/bad_file",
        "data is a device, pipe or socket: packages hold ordinary files only",
    )
    (folder / "data").unlink()
    (folder / "more").symlink_to("/etc")
    assert refused(folder)[0] == "submission/bad_file"


def test_sizes_are_bounded_whatever_an_archive_says_of_itself(tmp_path: Path) -> None:
    rules = Rules(max_file=1000, max_bytes=2500, max_files=4)
    bomb = zipped(tmp_path / "bomb.zip", ("bot.py", BOT), ("zeros", bytes(1_000_000)))
    assert refused(bomb, rules) == ("submission/too_large", "zeros: more than 1000 bytes")
    data = bytearray(bomb.read_bytes())
    place = data.rindex(b"PK\x01\x02")
    struct.pack_into("<I", data, place + 24, 10)  # it claims to be ten bytes long
    (tmp_path / "liar.zip").write_bytes(data)
    assert refused(tmp_path / "liar.zip", rules)[0] in (
        "submission/too_large",
        "submission/bad_file",
    )
    many = zipped(tmp_path / "many.zip", *[(f"f{n}.py", "x") for n in range(5)])
    assert refused(many, rules) == ("submission/too_large", "more than 4 files")
    wide = zipped(tmp_path / "wide.zip", *[(f"f{n}.py", "x" * 900) for n in range(3)])
    assert refused(wide, rules) == ("submission/too_large", "more than 2500 bytes in all files")


def test_pickles_bytecode_and_machine_code_stay_outside(tmp_path: Path) -> None:
    for name in ("weights.pkl", "weights.dat"):
        content = pickle.dumps({"weights": [1.0, 2.0]})
        code, text = refused(zipped(tmp_path / f"{name}.zip", ("bot.py", BOT), (name, content)))
        assert code == "submission/pickle"
        assert "store data as JSON" in text
    for name in ("helper.pyc", "fast.so"):
        path = zipped(tmp_path / f"{name}.zip", ("bot.py", BOT), (name, b"\0"))
        assert refused(path)[0] == "submission/compiled"


class Call:
    """Pickled, it calls a function when it is loaded."""

    def __reduce__(self) -> tuple[object, ...]:
        return (print, ("code",))


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("rest", [b"", b"\n# more"])
def test_pickle_that_calls_something_is_found_by_its_content(
    tmp_path: Path, protocol: int, rest: bytes
) -> None:
    for value in (Call(), {"weights": [1.0, {Call(): 2}]}):
        content = pickle.dumps(value, protocol) + rest
        path = zipped(tmp_path / "data.zip", ("bot.py", BOT), ("weights.txt", content))
        assert refused(path)[0] == "submission/pickle"


@pytest.mark.parametrize(
    "content",
    [
        b"cats\ndogs\n.",
        b"I1\n.",
        b"N.",
        b"import os\n\n.\n",
        b"(1, 2)\n",
        b"0.5\n0.25\nR.",
        b"\x80\2 x",
    ],
)
def test_text_that_resembles_a_pickle_is_let_in(tmp_path: Path, content: bytes) -> None:
    path = zipped(tmp_path / "data.zip", ("bot.py", BOT), ("words.txt", content))
    assert "words.txt" in read_package(path).files


def test_the_same_name_twice_and_what_is_no_archive(tmp_path: Path) -> None:
    twice = zipped(tmp_path / "twice.zip", ("bot.py", BOT), ("Bot.py", BOT))
    assert refused(twice)[0] == "submission/bad_name"
    (tmp_path / "bot.txt").write_text("no bot")
    assert refused(tmp_path / "bot.txt")[0] == "submission/missing"
    assert refused(tmp_path / "nowhere.zip")[0] == "submission/missing"
    broken = io.BytesIO(zipped(tmp_path / "good.zip", ("bot.py", BOT)).read_bytes())
    (tmp_path / "bad.zip").write_bytes(broken.getvalue().replace(b"PK\x03\x04", b"PK\x03\x05"))
    assert refused(tmp_path / "bad.zip")[0] == "submission/bad_file"
    for content, what in ((b"no zip", "is damaged, or no zip"), (b"", "is empty")):
        (tmp_path / "so-called.ZIP").write_bytes(content)
        code, said = refused(tmp_path / "so-called.ZIP")
        assert (code, what in said) == ("submission/bad_file", True)
        with pytest.raises(SubmissionError, match=what):
            from_upload("so-called.ZIP", content, Rules())


def test_a_program_that_was_saved_in_another_encoding_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(BOT, encoding="utf-16")
    assert refused(tmp_path / "bot.py")[1].endswith("save it as UTF-8")
    with pytest.raises(SubmissionError, match="save it as UTF-8"):
        from_upload("bot.py", (tmp_path / "bot.py").read_bytes(), Rules())


def test_which_file_is_the_bot(submission: Submission) -> None:
    assert read_package(submission("one", mybot=BOT, helper="")).manifest.bot == "mybot.py"
    code, text = refused(submission("two", first=BOT, second=BOT))
    assert code == "submission/manifest"
    assert "first.py, second.py" in text
    said = submission("three", first=BOT, second=BOT, plyhouse='[bot]\nbot = "second.py:Mine"\n')
    assert read_package(said).manifest.bot == "second.py:Mine"


@pytest.mark.parametrize(
    ("manifest", "problem"),
    [
        ("[bot", "cannot be read"),
        ("[game]\n", "must contain one section, [bot]"),
        ('[bot]\nbott = "x"\n', "contains 'bott'; known keys are name, bot, run, games"),
        ('[bot]\nbot = "other.py"\n', "has no file other.py"),
        ('[bot]\nbot = "../bot.py"\n', "has no file"),
        ('[bot]\nrun = ["./bot"]\ngames = ["pig"]\n', "has no such file"),
        ('[bot]\nrun = ["bash", "-c", "true"]\ngames = ["pig"]\n', "offers these programs: node"),
        ('[bot]\nrun = ["node", "bot.py"]\n', "lacks games"),
        ('[bot]\nrun = "node"\n', "must give run as a list of strings"),
        ('[bot]\nbot = "bot.py"\nrun = ["node"]\n', "contains both bot and run"),
    ],
)
def test_a_manifest_that_is_wrong_says_what_would_be_right(
    manifest: str, problem: str, submission: Submission
) -> None:
    code, text = refused(submission(bot=BOT, plyhouse=manifest))
    assert code == "submission/manifest"
    assert problem in text


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("requests", "this server offers numpy, scipy"),
        ("numpy<1", "is installed on this server"),
        ("numpy @ https://example.org/numpy.whl", "this server offers"),
        ("-e .", "is not a requirement"),
        ("--index-url https://example.org", "is not a requirement"),
    ],
)
def test_requirements_are_those_that_the_operator_offers(
    line: str, problem: str, submission: Submission
) -> None:
    code, text = refused(submission(bot=BOT, requirements=f"# mine\n{line}\n"))
    assert code == "submission/requirement"
    assert text.startswith("requirements.txt, line 2: ")
    assert problem in text


def test_a_requirement_that_is_offered_and_installed_is_noted(submission: Submission) -> None:
    found = read_package(submission(bot=BOT, requirements="NumPy>=1.20\n")).requirements
    assert len(found) == 1
    assert found[0].startswith("numpy==")
