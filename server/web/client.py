"""The files of the web client under ``/web``, where it is installed.

Pages name files below ``/web/v-…/``, with a digest of all of them.  Browsers keep those for good
(``immutable``) and never ask again; another version of the client has other names, so files of
different versions never meet.  Under ``/web/`` alone each file is there for tests and for links
that last: browsers ask each time whether their copy is current (``no-cache`` with an ``ETag``).

The server lists the available files when it starts; a file that changes later is read again.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from litestar import Request, Response, get
from litestar.datastructures import ResponseHeader
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

from plyhouse.server.web import bundle
from plyhouse.server.web.forwarding import BY_ANY

MEDIA_TYPES: Final = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
}
"""The files that browsers may load; they have no use for the rest of the folder."""

INDEX: Final = "index.html"
# Found beside the server, not imported: the server knows no client.
FOLDER: Final = Path(__file__).resolve().parents[2] / "clients" / "web"
SHEET: Final = "plyhouse.css"
"""All sheets in one file."""
PAGES: Final = "pages/"
"""Folder of the scripts of pages: ``pages/play.js`` holds all modules that ``play.js`` needs."""
EVERYWHERE: Final = "times.js"
"""The module that runs on every page."""
SHEETS: Final = (
    "style.css",
    "boards.css",
    "tables.css",
    "plots.css",
    "explain.css",
    "lists.css",
)
"""The style sheets in the order of their rules."""

LOOK_AGAIN: Final = 1.0
"""Seconds after which changed files are noticed."""
KEPT: Final = "public, max-age=31536000, immutable"
ASKED: Final = "no-cache"


@dataclass(frozen=True, slots=True)
class ClientFile:
    """A file as it was read."""

    data: bytes
    media_type: str
    etag: str
    """A weak one, as the bytes sent may be compressed ones."""
    stamp: tuple[int, int]
    """Time of change in ns and size, by which a change is noticed."""


class ClientFiles:
    """The files of a folder by their path in it."""

    def __init__(self, folder: Path, now: Callable[[], float] = time.monotonic) -> None:
        self._paths = {
            path.relative_to(folder).as_posix(): path
            for path in sorted(folder.rglob("*"))
            if path.suffix in MEDIA_TYPES and path.is_file()
        }
        self._read: dict[str, ClientFile] = {}
        self._now = now
        self._until = -1.0
        self._version = ""
        self._bundles: dict[str, ClientFile] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def get(self, name: str) -> ClientFile | None:
        """Return a file as it is now; None if there is none of this name."""
        path = self._paths.get(name)
        if path is None:
            return None
        try:
            status = path.stat()
            stamp = status.st_mtime_ns, status.st_size
            known = self._read.get(name)
            if known is not None and known.stamp == stamp:
                return known
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        read = self._read[name] = _made(name, data, stamp)
        return read

    @property
    def version(self) -> str:
        """A digest of all files as they are now: the part of their addresses that changes."""
        if self._now() >= self._until:
            self._until = self._now() + LOOK_AGAIN
            found = [file for name in self._paths if (file := self.get(name)) is not None]
            tags = "".join(file.etag for file in found)
            version = "v-" + hashlib.sha256(tags.encode()).hexdigest()[:16]
            if version != self._version:
                self._version, self._bundles = version, {}
        return self._version

    def kept(self, name: str) -> ClientFile | None:
        """Return a file as pages of this version name it: also one that is made of several."""
        if name in self._bundles:
            return self._bundles[name]
        script = name.removeprefix(PAGES)
        if name == SHEET:
            text = bundle.sheet(map(self._text, SHEETS))
        elif script != name and script in self._paths and script.endswith(".js"):
            modules = {each: self._text(each) for each in self._paths if each.endswith(".js")}
            text = bundle.script(modules, list(dict.fromkeys([EVERYWHERE, script])))
        else:
            return self.get(name)
        made = self._bundles[name] = _made(name, text.encode())
        return made

    def bundle(self, names: Iterable[str]) -> None:
        """Make files of several ahead of the requests for them, which would wait for that."""
        if self.version:  # reads the files
            for name in names:
                self.kept(name)

    def _text(self, name: str) -> str:
        file = self.get(name)
        return "" if file is None else file.data.decode("utf-8")


def _made(name: str, data: bytes, stamp: tuple[int, int] = (0, 0)) -> ClientFile:
    etag = f'W/"{hashlib.sha256(data).hexdigest()[:32]}"'
    return ClientFile(data, MEDIA_TYPES[Path(name).suffix], etag, stamp)


def matches_etag(if_none_match: str, etag: str) -> bool:
    """Return whether ``If-None-Match`` names this tag, compared weakly (RFC 9110, 13.1.2)."""
    named = [each.strip().removeprefix("W/") for each in if_none_match.split(",")]
    return etag.removeprefix("W/") in named or named == ["*"]


FILES: Final = ClientFiles(FOLDER)


def address(name: str) -> str:
    """Return where a page finds a file, under a name that browsers keep for good."""
    return f"/web/{FILES.version}/{name}"


def handlers() -> list[Any]:
    """Return the route handler of the client's files; none if it is not installed."""
    if not (FOLDER / INDEX).is_file():
        return []

    @get(
        ["/web", "/web/{path:path}"],
        include_in_schema=False,
        opt=BY_ANY,
        response_headers=[ResponseHeader(name="vary", value="Accept-Encoding")],
    )
    async def client_file(
        request: Request[Any, Any, Any], path: FromPath[str] = INDEX
    ) -> Response[bytes]:
        """Hand out a file of the web client.

        A server of a cluster that has another version answers with its own file, to be asked for
        again: the page comes from a server that was upgraded earlier or will be.
        """
        first, _, rest = path.strip("/").partition("/")
        named = first.startswith("v-")
        file = FILES.kept(rest) if named else FILES.get(path.strip("/") or INDEX)
        if file is None:
            raise NotFoundException
        keep = KEPT if named and first == FILES.version else ASKED
        headers = {"etag": file.etag, "cache-control": keep}
        if matches_etag(request.headers.get("if-none-match", ""), file.etag):
            return Response(b"", status_code=304, media_type=file.media_type, headers=headers)
        return Response(file.data, media_type=file.media_type, headers=headers)

    return [client_file]
