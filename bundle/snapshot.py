"""Runs inside the Pyodide of the bundle: imports all of the player before its memory is kept.

What is imported here needs no archive in the page: neither the player's nor, for what PyScript and
the boot path use, that of Python's library (``personae/browser/python_library.py``).
"""

import dis
import gc
import importlib.util
import sys
import zipfile
from collections.abc import Iterator
from pathlib import PurePosixPath
from types import CodeType
from typing import Any

# PyScript's own Python code imports these.
PYSCRIPT = (
    *("ast", "asyncio", "base64", "functools", "html", "inspect", "io", "json", "os", "pathlib"),
    *("re", "textwrap", "traceback", "types", "warnings"),
)
# Loaded by name when text is decoded; those that our code and the archive reader name.
CODECS = ("ascii", "cp437", "idna", "latin_1", "unicode_escape", "utf_8", "utf_8_sig")


LIBRARY = sys.stdlib_module_names - {"__future__"}


def prepare(core: str, pyscript: dict[str, str]) -> None:
    """``pyscript``: file name -> source of the package that PyScript writes at its start."""
    sys.path.append(core)
    ours, codecs = modules(core), [f"encodings.{name}" for name in CODECS]
    for name in (*PYSCRIPT, *codecs, *ours, *library_modules(ours)):
        importlib.import_module(name)
    from personae import resources
    from personae.browser import compiled
    from personae.browser import python_library as library

    compiled.keep("pyscript", pyscript)
    resources.keep_all()
    library.watch()
    del sys.modules[__name__]
    gc.collect()
    # What is here stays: later collections need not look at it.
    gc.freeze()


def modules(core: str) -> list[str]:
    with zipfile.ZipFile(core) as archive:
        paths = [PurePosixPath(name) for name in archive.namelist() if name.endswith(".pyc")]
    return [".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in paths]


def library_modules(ours: list[str]) -> set[str]:
    """What our modules import of Python's library, also what they import only when it is used."""
    named: set[str] = set()
    for name in ours:
        found = imported(code_of(name))
        named |= {each for each in found if each.partition(".")[0] in LIBRARY}
    return named


def code_of(name: str) -> CodeType:
    spec = importlib.util.find_spec(name)
    loader: Any = spec and spec.loader
    code: CodeType = loader.get_code(name)
    return code


def imported(code: CodeType) -> Iterator[str]:
    """The names that a module's code and all code in it import."""
    for step in dis.get_instructions(code):
        if step.opname == "IMPORT_NAME":
            yield str(step.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from imported(constant)
