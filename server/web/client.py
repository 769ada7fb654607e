"""The files of the web client under ``/web``, where it is installed.

Browsers keep them, and ask each time whether their copy is current (``Cache-Control: no-cache``
with an ``ETag``).  So modules of different versions never meet, and an unchanged file costs an
answer without a body (304).  The server lists the available files when it starts; a file that
changes later is read again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from litestar import Request, Response, get
from litestar.datastructures import CacheControlHeader, ResponseHeader
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

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
IMPORT: Final = re.compile(
    r'^(?:import|export)\s(?:[^"\'();]*?\sfrom\s+)?["\']\./([^"\']+)["\']', re.MULTILINE
)
"""A static import or re-export of a module beside; types in comments do not begin a line."""


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

    def __init__(self, folder: Path) -> None:
        self._paths = {
            path.relative_to(folder).as_posix(): path
            for path in sorted(folder.rglob("*"))
            if path.suffix in MEDIA_TYPES and path.is_file()
        }
        self._read: dict[str, ClientFile] = {}

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
        etag = f'W/"{hashlib.sha256(data).hexdigest()[:32]}"'
        read = self._read[name] = ClientFile(data, MEDIA_TYPES[path.suffix], etag, stamp)
        return read


def matches_etag(if_none_match: str, etag: str) -> bool:
    """Return whether ``If-None-Match`` names this tag, compared weakly (RFC 9110, 13.1.2)."""
    named = [each.strip().removeprefix("W/") for each in if_none_match.split(",")]
    return etag.removeprefix("W/") in named or named == ["*"]


@cache
def _imports() -> dict[str, list[str]]:
    """The direct imports of each module of the client."""
    paths = sorted(FOLDER.glob("*.js")) if FOLDER.is_dir() else []
    return {path.name: IMPORT.findall(path.read_text(encoding="utf-8")) for path in paths}


def imported_by(script: str) -> tuple[str, ...]:
    """The modules of the client that a script imports, and those that they do, each once.

    A page names them all, so that a browser asks for them at once and not level by level.  They are
    looked up once: after a change of a file during a run, its new imports load a little later.
    """
    found = [script]
    for name in found:  # which grows meanwhile
        found += [each for each in _imports().get(name, ()) if each not in found]
    return tuple(found[1:])


def handlers() -> list[Any]:
    """Return the route handler of the client's files; none if it is not installed."""
    if not (FOLDER / INDEX).is_file():
        return []
    files = ClientFiles(FOLDER)

    @get(
        ["/web", "/web/{path:path}"],
        include_in_schema=False,
        cache_control=CacheControlHeader(no_cache=True),
        response_headers=[ResponseHeader(name="vary", value="Accept-Encoding")],
    )
    async def client_file(
        request: Request[Any, Any, Any], path: FromPath[str] = INDEX
    ) -> Response[bytes]:
        """Hand out a file of the web client."""
        file = files.get(path.strip("/") or INDEX)
        if file is None:
            raise NotFoundException
        headers = {"etag": file.etag}
        if matches_etag(request.headers.get("if-none-match", ""), file.etag):
            return Response(b"", status_code=304, media_type=file.media_type, headers=headers)
        return Response(file.data, media_type=file.media_type, headers=headers)

    return [client_file]
