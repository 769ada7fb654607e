"""The packages that a runner keeps: those in use, and the most recently used others."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from plyhouse.clients.runner.packages import IN_USE, Packages
from plyhouse.protocol.hosting.package import Rules, digest_of, from_upload, pack

DAY = 86_400.0


class Kept:
    """Packages in a folder, of some 200 KB each with their trees, and a clock moved by hand."""

    def __init__(self, folder: Path) -> None:
        self.now = 1_000_000.0
        self.archives: dict[str, bytes] = {}
        self.fetched: list[str] = []
        self.folder = folder
        self.here = self.machine()

    def machine(self) -> Packages:
        return Packages(self.folder, self._fetch, keep=500_000, now=lambda: self.now)

    def _fetch(self, digest: str) -> bytes:
        self.fetched.append(digest)
        return self.archives[digest]

    def made(self, number: int) -> str:
        """The digest of a package that can be fetched."""
        text = f"# {number}\n" + "".join(f"# {os.urandom(30).hex()}\n" for _ in range(2000))
        package = from_upload("mybot.py", text.encode(), Rules())
        digest = digest_of(package)
        self.archives[digest] = pack(package)
        return digest

    def there(self, digests: list[str]) -> list[bool]:
        """Which of them need not be fetched again."""
        names = {each.stem for each in (self.here.private / "packages").iterdir()}
        return [each in names for each in digests]

    @property
    def trees(self) -> int:
        return len(list((self.folder / "trees").iterdir()))


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path)


def test_package_of_several_bots_is_fetched_by_all_at_once(tmp_path: Path) -> None:
    package = from_upload("mybot.py", b"# a bot\n" * 10_000, Rules())
    archive, digest = pack(package), digest_of(package)
    together = threading.Barrier(4)

    def fetch(_: str) -> bytes:
        together.wait(60)
        return archive

    with ThreadPoolExecutor(4) as threads:
        for number in range(15):
            packages = Packages(tmp_path / f"{number}", fetch)
            found = list(threads.map(packages.built, [digest] * 4))
            assert {each.digest for each in found} == {digest}


def test_what_was_not_used_for_longest_goes_until_the_rest_is_within_the_bound(kept: Kept) -> None:
    digests = [kept.made(number) for number in range(5)]
    for each in digests:
        kept.now += DAY
        kept.here.built(each)
    kept.now += DAY
    kept.here.built(digests[0])  # used again
    kept.now += DAY
    gone = kept.here.tidy([])
    assert gone
    assert kept.there(digests) == [True, False, False, False, True]
    assert kept.trees == 2
    assert kept.here.tidy([]) == []
    assert kept.here.built(digests[2]).folder.is_dir()
    assert kept.fetched == [*digests, digests[2]]


def test_nothing_goes_that_is_used_here_or_by_another_machine(kept: Kept) -> None:
    digests = [kept.made(number) for number in range(5)]
    other = kept.machine()
    for each in digests:
        kept.here.built(each)
    other.built(digests[4])
    kept.now += DAY
    other.tidy([digests[4]])  # It repeats its report.
    assert kept.there(digests)[4]
    assert kept.trees < 5
    for each in digests:
        kept.here.built(each)
    kept.now += IN_USE - 1
    assert kept.here.tidy([]) == [], "somebody may be about to start it"
    kept.now += DAY
    assert kept.here.built(digests[4])
    kept.now += DAY
    kept.here.tidy(digests[:4])
    assert kept.there(digests) == [True] * 4 + [False]
    assert kept.trees == 4


def test_what_killed_programs_left_half_done_goes(kept: Kept) -> None:
    digest = kept.made(0)
    tree = kept.here.built(digest).folder
    draft = tree.parent / ".draft-abc"
    (draft / "inner").mkdir(parents=True)
    (draft / "inner" / "bot.py").write_text("x")
    (draft / "inner").chmod(0o555)
    part = kept.here.private / "packages" / f".{digest}.77"
    part.write_bytes(b"half")
    for each in (draft, part):
        os.utime(each, (kept.now, kept.now))
    assert kept.here.tidy([]) == []
    kept.now += IN_USE + 1
    assert set(kept.here.tidy([])) == {draft, part}
    assert tree.is_dir()
    assert not draft.exists()
