"""The charsets that pages are read in: those of the web, by the names that pages use.

Python knows far more codecs, some so slow that a page in them is an attack, some no charsets at
all. A name that is not here counts as none.
"""

from __future__ import annotations

import codecs
import re

_PYTHONS = {
    "utf-8": "utf8 unicode-1-1-utf-8",
    "utf-16-le": "utf-16 utf-16le",
    "utf-16-be": "utf-16be",
    # As browsers do: what says Latin 1 or ASCII is Windows' superset of it.
    "cp1252": "windows-1252 iso-8859-1 iso8859-1 latin1 latin-1 ascii us-ascii",
    "cp1250": "windows-1250",
    "cp1251": "windows-1251",
    "cp1253": "windows-1253",
    "cp1254": "windows-1254 iso-8859-9 latin5",
    "cp1255": "windows-1255",
    "cp1256": "windows-1256",
    "cp1257": "windows-1257",
    "cp1258": "windows-1258",
    "cp866": "ibm866",
    "cp874": "windows-874 tis-620 iso-8859-11",
    "iso8859-2": "iso-8859-2 latin2",
    "iso8859-3": "iso-8859-3 latin3",
    "iso8859-4": "iso-8859-4 latin4",
    "iso8859-5": "iso-8859-5",
    "iso8859-6": "iso-8859-6",
    "iso8859-7": "iso-8859-7",
    "iso8859-8": "iso-8859-8 iso-8859-8-i",
    "iso8859-10": "iso-8859-10 latin6",
    "iso8859-13": "iso-8859-13",
    "iso8859-14": "iso-8859-14",
    "iso8859-15": "iso-8859-15 latin9",
    "iso8859-16": "iso-8859-16",
    "koi8-r": "koi8",
    "koi8-u": "koi8-ru",
    "mac-roman": "macintosh",
    "gb18030": "gbk gb2312 x-gbk",
    "big5hkscs": "big5 big5-hkscs",
    "euc_jp": "euc-jp",
    "iso2022_jp": "iso-2022-jp",
    "cp932": "shift_jis shift-jis sjis windows-31j",
    "cp949": "euc-kr ks_c_5601-1987 windows-949",
}
CHARSETS = {name: python for python, names in _PYTHONS.items() for name in (python, *names.split())}
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = re.compile(rb"charset\s*=\s*[\"']?\s*([\w.:-]{2,40})|encoding=[\"']([\w.:-]{2,40})")
DECLARING = 1024
"""Bytes in which a page has to say its charset, as in browsers."""
SAMPLE = 16 * 1024
FALLBACK = "cp1252"


def known(name: str | None) -> str | None:
    """Python's name of a charset of the list."""
    return CHARSETS.get(name.strip().lower()) if name else None


def charset_of(body: bytes, header: str | None, markup: bool) -> str:
    """As browsers decide: a byte order mark, the header, the markup; then what it looks like."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return name
    return known(header) or (_declared(body) if markup else None) or _guessed(body)


def decoded(body: bytes, header: str | None, markup: bool) -> str:
    text = body.decode(charset_of(body, header, markup), "replace")
    return text.removeprefix("\ufeff")


def _declared(body: bytes) -> str | None:
    for found in _DECLARED.finditer(body[:DECLARING]):
        name = known((found[1] or found[2]).decode("ascii", "ignore"))
        if name:
            # A declaration that could be read is in no UTF-16.
            return "utf-8" if name.startswith("utf-16") else name
    return None


def _guessed(body: bytes) -> str:
    """UTF-8 if it can be, else what the beginning resembles most."""
    try:
        body.decode("utf-8")
        return "utf-8"
    except UnicodeDecodeError as error:
        if len(body) - error.start < 4 and error.reason == "unexpected end of data":
            return "utf-8"
    from charset_normalizer import from_bytes

    best = from_bytes(body[:SAMPLE], cp_isolation=_CANDIDATES).best()
    return (known(best.encoding.replace("_", "-")) if best else None) or FALLBACK


_CANDIDATES = ["cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "koi8_r",
               "gb18030", "big5", "euc_jp", "cp932", "cp949"]  # fmt: skip
