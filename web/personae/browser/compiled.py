"""Modules compiled ahead that somebody else writes to disk as sources: PyScript's own package.

PyScript writes the same sources at every start and imports them; compiling them there is a good
part of a restored start. The build compiles them from the PyScript that it ships.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType


class Compiled(Loader):
    """Finder and loader of one package's modules."""

    def __init__(self, package: str, sources: Mapping[str, str]) -> None:
        self._package = package
        self._code: dict[str, CodeType] = {}
        for file, source in sources.items():
            stem = file.removesuffix(".py")
            name = package if stem == "__init__" else f"{package}.{stem}"
            self._code[name] = compile(source, f"{package}/{file}", "exec", dont_inherit=True)

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in self._code:
            return None
        return ModuleSpec(name, self, is_package=name == self._package)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        exec(self._code.pop(module.__name__), module.__dict__)  # noqa: S102


def keep(package: str, sources: Mapping[str, str]) -> None:
    """Compiles the sources (file name -> text) now, for imports to come."""
    sys.meta_path.insert(0, Compiled(package, sources))
