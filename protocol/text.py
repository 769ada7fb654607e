"""Text as editors, spreadsheets and shells write it, and minus signs for people.

All readers of files and tokens that a person has written ask here, so that the same file works
everywhere.
"""

from __future__ import annotations

import codecs
import re
from typing import Final

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Byte-order marks and their encodings; that of UTF-16-LE begins that of UTF-32-LE."""
_HYPHEN: Final = re.compile(r"(?<!\w)-(?=\d|inf)")


def decoded(data: bytes) -> str:
    r"""Return a text file's content: UTF-8, or the encoding that its byte-order mark names.

    Lines that end in a carriage return alone get a line feed instead.

    Raises `ValueError`, which says what the bytes are instead and the fix.

    >>> decoded(b"one\rtwo")
    'one\ntwo'
    >>> decoded("name".encode("utf-16")), decoded("name".encode("utf-8-sig"))
    ('name', 'name')
    """
    mark, encoding = next((each for each in _MARKS if data.startswith(each[0])), (b"", "utf-8"))
    try:
        text = data[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start + len(mark)].count(b"\n") + 1
        raise ValueError(f"it is not in UTF-8 (line {line}): save it as UTF-8") from None
    if "\0" in text:
        raise ValueError("it has zero bytes, so it is not UTF-8 text: save it as UTF-8")
    return text if "\n" in text else text.replace("\r", "\n")


def trimmed_token(text: str) -> str:
    r"""Return a token without what files and shells leave around it: blanks, line ends, a mark.

    >>> trimmed_token("\ufeffply_x\r\n")
    'ply_x'
    """
    return text.strip().strip("\ufeff").strip()


def minus(text: str) -> str:
    """Return a text for people with a true minus before numbers; other hyphens stay."""
    return _HYPHEN.sub("\N{MINUS SIGN}", text)
