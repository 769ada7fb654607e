"""Names of players and bots, in any script: what may be one, and which are the same.

A name has letters, the marks that belong to them, digits, ``_``, ``-`` and ``.``.  It is kept in
normal form C (Unicode Standard Annex 15), and names that differ only in case are the same.  Names
cannot have invisible characters, or letters that are other forms of usual ones (wide, circled,
...).

Look-alikes are refused in two ways, after Unicode Technical Standard 39.  Letters between two
separators must be of one script; Japanese, Korean and Chinese names may mix theirs with Latin.  In
addition, `lookalikes` finds names of another script whose letters look like those of Latin.
"""

from __future__ import annotations

import difflib
import heapq
import itertools
import os.path
import re
import unicodedata
from collections.abc import Iterable
from typing import Final, Literal

from plyhouse.protocol.parts import LONGEST_NAME

MOST_NORMAL: Final = 1000
"""The most characters of a text that is brought into another form.

A longer text is too long for a name in any form.
"""
COMPARED: Final = 16
"""Names that are compared letter by letter with a wrong one."""
SEPARATORS: Final = "_-."
BUILTIN_NAMES: Final = ("house", "house-bots", "plyhouse")
"""Names for the player of the built-in bots; the server takes the first one that is free."""
PAST_GUESTS: Final = ("guest", "guests-of-the-past")
"""Names for the player who stands for all guests of the past; the first one that is free."""
GUEST_PREFIX: Final = "guest-"
ERASED_PREFIX: Final = "erased-"
"""Begins the pseudonym of an erased person."""
RESERVED: Final = (
    *BUILTIN_NAMES,
    *PAST_GUESTS,
    *("admin", "administrator", "chance", "server", "system"),
)
"""Names of the server's own accounts, and names that could be taken for the server's."""
_MIXED: Final = (
    frozenset({"LATIN", "CJK", "HIRAGANA", "KATAKANA"}),
    frozenset({"LATIN", "CJK", "HANGUL"}),
    frozenset({"LATIN", "CJK", "BOPOMOFO"}),
)
"""Scripts that are written together."""
_IDEOGRAPHS: Final = ("CJK", "IDEOGRAPHIC")
_COMMON: Final = ("COMBINING", "MODIFIER", "KATAKANA-HIRAGANA", "DIGIT", "LOW", "HYPHEN-MINUS",
                  "FULL", "ARABIC-INDIC", "EXTENDED")  # fmt: skip
"""First words of the names of characters that belong to several scripts."""
_UNSEEN: Final = (
    *((0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x3164, 0x3164)),
    *((0xFE00, 0xFE0F), (0xFFA0, 0xFFA0), (0xE0100, 0xE01EF)),
)
"""Letters and marks that are not drawn."""
_WHOLE: Final = frozenset("\u0e33\u0eb3")
"""Letters of Thai and Lao that Unicode takes apart, and that everybody writes."""
_ALIKE: Final = (
    # Cyrillic, Greek, Armenian
    str.maketrans(
        "acdehijlopqswxy",
        "\u0430\u0441\u0501\u0435\u04bb\u0456"
        "\u0458\u04cf\u043e\u0440\u051b\u0455\u051d\u0445\u0443",
    ),
    str.maketrans("aikopuv", "\u03b1\u03b9\u03ba\u03bf\u03c1\u03c5\u03bd"),
    str.maketrans("hnou", "\u0570\u0578\u0585\u057d"),
)
"""Small Latin letters to those that look like them in another script."""
_DRAWN: Final = str.maketrans(
    "\u0251\u0261\u01c0\u1d00\u0299\u1d04\u1d05\u1d07\ua730\u0262\u029c\u026a\u1d0a\u1d0b"
    "\u029f\u1d0d\u0274\u1d0f\u1d18\ua7af\u0280\ua731\u1d1b\u1d1c\u1d20\u1d21\u028f\u1d22",
    "agl" + "abcdefghijklmnopqrstuvwyz",
)
"""Phonetic letters and small capitals, which no name needs, to the usual ones."""
_LATIN: Final = {other: one for table in _ALIKE for one, other in table.items()}
_SPECIAL: Final = str.maketrans(
    {
        "ß": "ss",
        "ø": "o",
        "Ø": "O",
        "ł": "l",
        "Ł": "L",
        "æ": "ae",
        "Æ": "Ae",
        "đ": "d",
        "Đ": "D",
        "\N{LATIN SMALL LETTER DOTLESS I}": "i",
        "ð": "d",
        "Ð": "D",
        "þ": "th",
        "Þ": "Th",
        "œ": "oe",
        "Œ": "Oe",
        "ħ": "h",
        "Ħ": "H",
    }
)
"""Letters that Unicode does not decompose into an ASCII letter and a mark."""
_CAPITALS: Final = (
    # Cyrillic, Greek, Cherokee, Lisu
    str.maketrans(
        "abcehijkmopstxy",
        "\u0430\u0432\u0441\u0435\u043d\u0456\u0458\u043a"
        "\u043c\u043e\u0440\u0455\u0442\u0445\u0443",
    ),
    str.maketrans(
        "abehikmnoptxyz",
        "\u03b1\u03b2\u03b5\u03b7\u03b9\u03ba\u03bc\u03bd\u03bf\u03c1\u03c4\u03c7\u03c5\u03b6",
    ),
    str.maketrans(
        "abcdeghijklmoprstvwyz",
        "\uab7a\u13fc\uabaf\uab70\uab7c\uab90\uab8b\uaba0\uab7b\uabb6\uabae"
        "\uab87\u13fb\uabb2\uab71\uabaa\uab72\uaba9\uab83\uab79\uab93",
    ),
    str.maketrans(
        "abcdefghijklmnoprstuvwxyz",
        "\ua4ee\ua4d0\ua4da\ua4d3\ua4f0\ua4dd\ua4d6\ua4e7\ua4f2\ua4d9\ua4d7\ua4e1\ua4df"
        "\ua4e0\ua4f3\ua4d1\ua4e3\ua4e2\ua4d4\ua4f4\ua4e6\ua4ea\ua4eb\ua4ec\ua4dc",
    ),
)
"""The same of capital letters, all written small: keys of names are in small letters."""

_BACKWARD: Final = (
    _LATIN,
    _DRAWN,
    *({two: one for one, two in each.items()} for each in _CAPITALS),
)
"""Small letters of other scripts to the Latin ones that they look like, or their capitals do."""


def nearest(wrong: str, known: Iterable[str]) -> str | None:
    """Return the known name that resembles a wrong one; None if none does.

    It compares only those that begin and end most like it, because strangers choose both.

    >>> nearest("ann/botx", ["bob/bot", "ann/bot"]), nearest("ann/bot", ["zoe/x"])
    ('ann/bot', None)
    """
    asked = wrong[: 2 * LONGEST_NAME + 1]
    back = asked[::-1]

    def alike(name: str) -> int:
        common = os.path.commonprefix
        return len(common([asked, name])) + len(common([back, name[::-1]]))

    found = heapq.nlargest(COMPARED, known, key=alike)
    return next(iter(difflib.get_close_matches(asked, found, n=1)), None)


def normal(text: str) -> str:
    r"""Return a text in normal form C; one of more than `MOST_NORMAL` characters as it is.

    >>> len("e\u0301"), len(normal("e\u0301"))
    (2, 1)
    """
    return _in_form("NFC", text)


def _in_form(form: Literal["NFC", "NFKC", "NFKD"], text: str) -> str:
    """Return a text in a normal form; one of more than `MOST_NORMAL` characters as it is.

    Normalizing takes a time that grows with the square of the number of marks in a row, and blocks
    the whole process.
    """
    return text if len(text) > MOST_NORMAL else unicodedata.normalize(form, text)


def key_of(name: str) -> str:
    """Return what is equal for names that are the same: normal form C, in small letters.

    >>> key_of("ОЛЬГА") == key_of("Ольга"), key_of("Ada")
    (True, 'ada')
    """
    return normal(normal(name).lower())


def unseen(character: str) -> bool:
    r"""Return whether a character is invisible, or changes how others appear: controls, directions,
    fillers.

    >>> unseen("\u202e"), unseen("\u3164"), unseen("a")
    (True, True, False)
    """
    code = ord(character)
    return unicodedata.category(character)[0] == "C" or any(
        first <= code <= last for first, last in _UNSEEN
    )


def character_text(character: str) -> str:
    r"""Return a character as messages show it: itself, or its code where it cannot be seen.

    >>> character_text("\u2603"), character_text("\u202e")
    ("'☃' (snowman)", 'U+202E (right-to-left override)')
    """
    hidden = unseen(character) or (character.isspace() and character != " ")
    shown = f"U+{ord(character):04X}" if hidden else f"'{character}'"
    return f"{shown} ({unicodedata.name(character, 'a control character').lower()})"


def without_accents(text: str) -> str:
    """Return a text in ASCII letters, as far as these have an equivalent.

    >>> without_accents("Größe"), without_accents("Łódź")
    ('Grosse', 'Lodz')
    """
    plain = _in_form("NFKD", text.translate(_SPECIAL))
    return "".join(each for each in plain if not unicodedata.combining(each))


def script_of(character: str) -> str:
    """Return the script of a letter, by the first word of its name; empty if it has several.

    >>> script_of("a"), script_of("ж"), script_of("李"), script_of("_")
    ('LATIN', 'CYRILLIC', 'CJK', '')
    """
    word = unicodedata.name(character, "").split(" ")[0]
    if word in _IDEOGRAPHS:
        return "CJK"
    return "" if word in _COMMON else word


def name_problem(name: str) -> str:
    r"""Return why a text in normal form C cannot name a player or bot; empty if it can.

    >>> name_problem("Ольга"), name_problem("山田-2"), name_problem("नमस्ते")
    ('', '', '')
    >>> name_problem("p\u0430ypal")
    'it mixes letters of LATIN and CYRILLIC between two separators'
    """
    if not 1 <= len(name) <= LONGEST_NAME or len(key_of(name)) > LONGEST_NAME:
        return f"it has to have 1 to {LONGEST_NAME} characters"
    before = "_"
    for each in name:
        kind = unicodedata.category(each)
        apart = unicodedata.decomposition(each).startswith("<") and each not in _WHOLE
        apart = apart or ord(each) in _DRAWN
        if unseen(each) or apart or not (kind[0] in "LM" or kind == "Nd" or each in SEPARATORS):
            return f"it cannot contain {character_text(each)}"
        if kind[0] == "M" and unicodedata.category(before)[0] not in "LM":
            return "a mark in it belongs to no letter"
        before = each
    if not any(unicodedata.category(each)[0] in "LN" for each in name):
        return "it needs a letter or digit"
    for separator, part in itertools.groupby(name, lambda each: each in SEPARATORS):
        scripts = {} if separator else dict.fromkeys(filter(None, map(script_of, part)))
        if len(scripts) > 1 and not any(each.issuperset(scripts) for each in _MIXED):
            return f"it mixes letters of {' and '.join(scripts)} between two separators"
    return ""


def reserved(name: str) -> bool:
    r"""Return whether only the server may give this name to an account.

    Names that differ by separators, or look like a reserved one, are reserved, too: also with a
    capital I for a small L, and an I without a dot.

    >>> [reserved(each) for each in ("House", "guest_sly.fox", "erased-1", "admin", "guesthouse")]
    [True, True, True, True, False]
    """
    keys = {key_of(each).replace("\u0131", "i") for each in (name, name.replace("I", "l"))}
    for each in keys.union(*map(lookalikes, keys)):
        plain = "-".join(re.split(f"[{re.escape(SEPARATORS)}]+", each))
        if plain.strip("-") in RESERVED or plain.startswith((GUEST_PREFIX, ERASED_PREFIX)):
            return True
    return False


def lookalikes(key: str) -> frozenset[str]:
    r"""Return the keys of other names that look the same as this one, in another script.

    >>> sorted(map(ascii, lookalikes("coxa")))
    ["'\\u0441\\u043e\\u0445\\u0430'", "'\\ua4da\\ua4f3\\ua4eb\\ua4ee'"]

    Names in capitals look alike where others do not: ``BOB`` and Cyrillic ``\u0412\u041e\u0412``.

    >>> cyrillic = "\u0432\u043e\u0432"
    >>> "bob" in lookalikes(cyrillic), cyrillic in lookalikes("bob")
    (True, True)
    """
    found: set[str] = set()
    for latin in {key.translate(each) for each in _BACKWARD}:
        if not latin.isascii():
            continue
        found.add(latin)
        for table in (*_ALIKE, *_CAPITALS):
            if all(ord(each) in table for each in latin if each.isalpha()):
                found.add(latin.translate(table))
    return frozenset(found - {key})


def looks(text: str) -> frozenset[str]:
    r"""Return what a reader may take a display name for: its letters and digits, in Latin ones.

    Two texts look alike if they have one of these in common.

    >>> sorted(looks("Ada  Lovelace!")), looks("\u0410da lovelace") >= looks("ada-lovelace")
    (['adalovelace'], True)
    """
    folded = _in_form("NFKC", text)
    key = "".join([each for each in key_of(folded) if unicodedata.category(each)[0] in "LMN"])
    if key.isascii():
        return frozenset({key} - {""})
    return frozenset({key, *(key.translate(each) for each in _BACKWARD)})
