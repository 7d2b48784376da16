"""One fuzzed archive from one seed, and what must hold for it.

Archives are built from honest parts (stored and deflated entries, data descriptors, zip64,
comments, odd names), then their bytes are changed where it hurts: headers, lengths, offsets, flags.
"""

from __future__ import annotations

import io
import random
import struct
import time
import zipfile

from personae.errors import PackageError
from personae.package.archive.unzip import read_files
from personae.package.report import Report
from personae.package.steps import run

SLOWEST = 2.0
"""Seconds that any of these small archives may take."""
NAMES = ("a.txt", "b/c.txt", "b\\d.txt", "é.txt", "__proto__", "../up", "/root", "A.TXT", "x/", "")
NUMBERS = (0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF)
SIGNATURES = (
    b"PK\x03\x04",
    b"PK\x01\x02",
    b"PK\x05\x06",
    b"PK\x06\x06",
    b"PK\x06\x07",
    b"PK\x07\x08",
)


def attempt(seed: int) -> None:
    """Raises AssertionError with the seed when the reader does what it must not."""
    chance = random.Random(seed)
    data = mutated(honest(chance), chance)
    started = time.process_time()
    try:
        files = run(read_files(data, Report()))
    except PackageError as error:
        assert error.message, f"seed {seed}: a refusal that says nothing"
        return
    except Exception as error:
        raise AssertionError(f"seed {seed}: {error!r}") from error
    assert time.process_time() - started < SLOWEST, f"seed {seed}: slow"
    assert agrees(files, data), f"seed {seed}: zipfile reads something else"


def honest(chance: random.Random) -> bytes:
    target = io.BytesIO()
    method = chance.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with zipfile.ZipFile(target, "w", method) as archive:
        for name in chance.sample(NAMES, chance.randint(1, 5)):
            content = chance.randbytes(chance.choice((0, 1, 100))) * chance.choice((1, 1, 200))
            with archive.open(
                zipfile.ZipInfo(name), "w", force_zip64=chance.random() < 0.2
            ) as entry:
                entry.write(content)
        archive.comment = chance.randbytes(chance.choice((0, 0, 30)))
    return target.getvalue()


def mutated(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        if not changed:
            break
        at = place(changed, chance)
        kind = chance.randrange(5)
        if kind == 0:
            changed[at] = chance.randrange(256)
        elif kind == 1:
            form = chance.choice(("<H", "<I"))
            packed = struct.pack(
                form, chance.choice(NUMBERS) & (2 ** (8 * struct.calcsize(form)) - 1)
            )
            changed[at : at + len(packed)] = packed
        elif kind == 2:
            del changed[at : at + chance.randint(1, 40)]
        elif kind == 3:
            changed[at:at] = changed[at : at + chance.randint(1, 60)]
        else:
            changed[at : at + 4] = chance.choice(SIGNATURES)
    return bytes(changed)


def place(data: bytearray, chance: random.Random) -> int:
    """Mostly somewhere in a header."""
    found = data.find(chance.choice(SIGNATURES), chance.randrange(len(data)))
    if found >= 0 and chance.random() < 0.8:
        return min(found + chance.randrange(46), len(data) - 1)
    return chance.randrange(len(data))


def agrees(files: dict[str, bytes], data: bytes) -> bool:
    """Whether zipfile, where it reads the archive at all, finds the same contents."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as other:
            contents = {other.read(entry) for entry in other.infolist()}
    except Exception:  # what another reader cannot read proves nothing
        return True
    return set(files.values()) <= contents
