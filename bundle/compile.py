"""Turns the .py files of an archive into .pyc files; runs inside the Pyodide of the bundle.

Most of an interpreter's start is Python compiling its own library; with this the browser never
compiles. The result is a stored (uncompressed) archive: the HTTP layer compresses it better.
"""

import importlib.util
import marshal
import zipfile

# A fixed time: the same input gives the same bytes.
STAMP = (1980, 1, 1, 0, 0, 0)
# What stands before the code in a .pyc that knows neither time nor size of its source.
HEADER = importlib.util.MAGIC_NUMBER + bytes(12)


def compile_archive(source: str, target: str, prefix: str) -> None:
    """``prefix`` is shown before file names in tracebacks."""
    with zipfile.ZipFile(source) as archive, zipfile.ZipFile(target, "w") as out:
        for name in sorted(archive.namelist()):
            if name.endswith("/"):
                continue
            content = archive.read(name)
            if name.endswith(".py"):
                code = compile(content, prefix + name, "exec", dont_inherit=True)
                name, content = name + "c", HEADER + marshal.dumps(code)
            out.writestr(zipfile.ZipInfo(name, STAMP), content)
