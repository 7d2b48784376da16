"""Python libraries that only some packages need, loaded from the bundle when they are missed."""

from __future__ import annotations

import asyncio
import importlib

import pyodide_js
from pyodide.ffi import JsException

from personae.browser import python_library as library
from personae.browser.convert import error_message, options_to_js
from personae.errors import PackageError

# Module -> the package that brings it, and what to import step by step: importing all of it at once
# would hold the page up.
_LIBRARIES = {
    "jsonschema": ("jsonschema", ("attr", "pyrsistent", "jsonschema.exceptions", "jsonschema")),
    "ruamel": ("ruamel-yaml", ("ruamel.yaml.scanner", "ruamel.yaml.constructor", "ruamel.yaml")),
}


async def install(module: str) -> None:
    """Makes ``module`` importable (Environment.install). Raises PackageError."""
    package, steps = _LIBRARIES[module]
    try:
        await library.ready()
        await pyodide_js.loadPackage(
            package, options_to_js({"messageCallback": None, "checkIntegrity": False})
        )
    except JsException as error:
        raise PackageError(
            "library_unavailable",
            f"The library {package} could not be loaded ({error_message(error)}). "
            "Check the connection to this site and try again.",
        ) from error
    importlib.invalidate_caches()
    for step in steps:
        importlib.import_module(step)
        await asyncio.sleep(0)
