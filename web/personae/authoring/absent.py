"""Warns of what an agent's source uses and the sandbox lacks or silently ignores (docs/agents.md).

Python is read as a syntax tree; of the other languages only names are looked for, outside of
comments and texts. A name that the agent declares itself, or asks for with ``typeof`` or an
``except``, is its own business: no warning rather than a wrong one.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from personae.authoring.blanks import blanked_lua, blanked_script
from personae.package.model import AgentProgram
from personae.package.report import Report
from personae.ports import Language


class Found(NamedTuple):
    line: int
    message: str


def warn_of_absent(program: AgentProgram, report: Report) -> None:
    """Adds a warning, with its line, for each name that will not be found or does nothing."""
    for line, message in sorted(set(_READERS[program.language](program))):
        report.warning(program.path, message, line)


# JavaScript and TypeScript ------------------------------------------------------------------

_NO_NETWORK = "agents have no network; studio.web.fetch reads pages, with @api studio.web"
_NO_PAGE = "agents have no page and no browser around them"
_NO_STORAGE = "agents keep what they need in their store"
_GLOBALS: Mapping[str, str] = {
    "Intl": "format numbers and dates in your own code",
    **dict.fromkeys(("fetch", "XMLHttpRequest", "WebSocket", "EventSource"), _NO_NETWORK),
    **dict.fromkeys(("document", "window", "navigator", "location", "alert", "prompt"), _NO_PAGE),
    **dict.fromkeys(("requestAnimationFrame", "Worker", "importScripts"), _NO_PAGE),
    **dict.fromkeys(("localStorage", "sessionStorage", "indexedDB"), _NO_STORAGE),
    **dict.fromkeys(("require", "module", "process"), "agents do not run in Node; use @lib"),
    "Buffer": "use Uint8Array, TextEncoder, atob and btoa",
    **dict.fromkeys(("Headers", "Request", "Response", "FormData"), _NO_NETWORK),
    **dict.fromkeys(("Blob", "File", "FileReader"), "agents have no files"),
    **dict.fromkeys(("AbortController", "AbortSignal", "EventTarget"), "agents have no events"),
}
_DECLARED = r"\b(?:const|let|var|function|class|import|enum|namespace)\b[^;=\n]*(?<![.\w$]){0}\b"
_PARAMETER = r"[(,{{]\s*{0}\s*(?:[,)}}=:?]|=>)|(?<![.\w$]){0}\s*=>|\bcatch\s*\(\s*{0}\b"
_LOCALE_METHOD = re.compile(
    r"\.(toLocale(?:Date|Time)?String|toLocale(?:Upper|Lower)Case|localeCompare)\s*\("
)
_IMPORT = re.compile(r"(?<![.\w$])import\s*(?:\(|[\w{*\"'][^;\n]*[\"'])")


def _script(program: AgentProgram) -> Iterator[Found]:
    text = blanked_script(program.source)
    libraries = "\n".join(library.source for library in program.libraries)
    for name, remedy in _GLOBALS.items():
        if re.search(rf"\b{name}\b", libraries) or _is_own(name, text):
            continue
        for match in re.finditer(rf"(?<![.\w$]){name}\b(?!\s*:)", text):
            yield Found(_line(text, match), f"agents have no {name}: {remedy}")
    if not re.search(r"typeof\s+crypto\b", text):
        for match in re.finditer(r"\bcrypto\s*\.\s*subtle\b", text):
            yield Found(
                _line(text, match), "agents have no crypto.subtle; crypto gives random numbers"
            )
    for match in _IMPORT.finditer(text):
        if not re.match(r"import\s+type\b", match[0]):
            yield Found(_line(text, match), "agents cannot import; declare a library with @lib")
    yield from _locales(text)


def _is_own(name: str, text: str) -> bool:
    """Whether the agent declares the name or asks whether it is there."""
    method = rf"(?<![.\w$]){name}\s*\([^()]*\)\s*\{{"
    ways = (_DECLARED.format(name), _PARAMETER.format(name), method, rf"typeof\s+{name}\b")
    return any(re.search(way, text) for way in ways)


def _locales(text: str) -> Iterator[Found]:
    for match in _LOCALE_METHOD.finditer(text):
        method = match[1]
        given = _arguments(text, match.end())
        if given > (1 if method == "localeCompare" else 0):
            what = "locale and options" if method != "localeCompare" else "the locale"
            message = f"{method} ignores {what}: agents have no data of languages and time zones"
            yield Found(_line(text, match), message)


def _arguments(text: str, start: int) -> int:
    """How many arguments a call has whose bracket opened before ``start``."""
    depth, count, seen = 0, 0, False
    for character in text[start:]:
        if depth == 0 and character == ")":
            break
        depth += (character in "([{") - (character in ")]}")
        if depth == 0 and character == ",":
            count += seen
            seen = False
        elif not character.isspace():
            seen = True
    return count + seen


# Python -------------------------------------------------------------------------------------

_TO_THE_PAGE = ("js", "pyodide", "_pyodide", "pyodide_js", "ctypes", "pyscript", "micropip")
_NOT_BUILT = (
    *("curses", "dbm", "ensurepip", "grp", "msvcrt", "nt", "pwd", "pydoc_data", "readline"),
    *("resource", "syslog", "tkinter", "turtle", "turtledemo", "venv", "winreg", "winsound"),
)
_LEAD_NOWHERE: Mapping[str, str] = {
    **dict.fromkeys(("socket", "ssl", "ftplib", "smtplib", "imaplib", "poplib"), _NO_NETWORK),
    **dict.fromkeys(("http.client", "urllib.request", "xmlrpc.client"), _NO_NETWORK),
    **dict.fromkeys(("threading", "multiprocessing"), "agents have one thread; use asyncio"),
    **dict.fromkeys(("subprocess", "webbrowser"), "agents start no programs"),
}


def _python(program: AgentProgram) -> Iterator[Found]:
    try:
        tree = ast.parse(program.source)
    except (SyntaxError, ValueError, RecursionError):
        return
    guarded = {
        child
        for node in ast.walk(tree)
        if isinstance(node, ast.Try) and node.handlers
        for statement in node.body
        for child in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if node in guarded:
            continue
        for name in _imported(node):
            problem = _import_problem(name)
            if problem is not None:
                yield Found(node.lineno, problem)  # type: ignore[attr-defined]
        if _is_locale_call(node):
            message = "setlocale changes nothing: agents have no data of languages"
            yield Found(node.lineno, message)  # type: ignore[attr-defined]


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return []


def _import_problem(name: str) -> str | None:
    top = name.partition(".")[0]
    if name in _LEAD_NOWHERE:
        return f"{name} leads nowhere: {_LEAD_NOWHERE[name]}"
    if "." in name and top in sys.stdlib_module_names:
        return None
    if top in _TO_THE_PAGE:
        return f"agents cannot import {top}"
    if top in _NOT_BUILT:
        return f"agents cannot import {top}: this Python is built without it"
    if top in sys.stdlib_module_names or top == "tzdata":
        return None
    return f"agents cannot import {top}: they have the standard library and no packages"


def _is_locale_call(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "setlocale"
        and len(node.args) > 1
    )


# Lua ----------------------------------------------------------------------------------------

_ONE_FILE = "an agent is one file"
_TEXT = "agents run no code from texts"
_SYSTEM = "agents have no system around them; os has time, clock, date and difftime"
_OLD = "this is Lua 5.4"
_LUA_NAMES: Mapping[str, str] = {
    **dict.fromkeys(("io", "debug"), "agents have no files, no console and no debugger"),
    **dict.fromkeys(("package", "require", "dofile", "loadfile"), _ONE_FILE),
    **dict.fromkeys(("load", "loadstring", "string.dump"), _TEXT),
    "collectgarbage": "memory is looked after",
    **dict.fromkeys(
        (
            "os.execute",
            "os.exit",
            "os.getenv",
            "os.remove",
            "os.rename",
            "os.tmpname",
            "os.setlocale",
        ),
        _SYSTEM,
    ),
    **dict.fromkeys(("unpack", "setfenv", "getfenv", "bit32", "module"), _OLD),
    **dict.fromkeys(("table.getn", "table.maxn", "math.pow", "string.gfind"), _OLD),
}
_SEEDED_BY_TIME = re.compile(r"\bmath\s*\.\s*randomseed\s*\(\s*(?:tonumber\s*\(\s*)?os\s*\.\s*time")


def _lua(program: AgentProgram) -> Iterator[Found]:
    text = blanked_lua(program.source)
    for name, remedy in _LUA_NAMES.items():
        if _is_own_lua(name, text):
            continue
        spelled = re.escape(name).replace(r"\.", r"\s*\.\s*")
        # A bare library name is used through its fields.
        use = r"\s*[.:\[]" if name in ("io", "debug", "package", "bit32") else r"\b(?!\s*=[^=])"
        for match in re.finditer(rf"(?<![.:\w]){spelled}{use}", text):
            yield Found(_line(text, match), f"agents have no {name}: {remedy}")
    for match in _SEEDED_BY_TIME.finditer(text):
        message = (
            "agents that take the time for a seed roll the same dice as others in that second; "
            "leave it out: every worker is seeded by the browser"
        )
        yield Found(_line(text, match), message)


def _is_own_lua(name: str, text: str) -> bool:
    top = re.escape(name)
    declared = rf"\blocal\s+(?:function\s+)?(?:\w+\s*,\s*)*{top}\b|\bfunction\s+{top}\b"
    parameter = rf"\bfunction\b[^(\n]*\([^)]*(?<![\w.]){top}\b[^)]*\)|(?<![.:\w]){top}\s*=[^=]"
    field = rf"[{{,]\s*{top}\s*=[^=]"
    return bool(re.search(rf"{declared}|{parameter}|{field}", text))


def _line(text: str, match: re.Match[str]) -> int:
    return text.count("\n", 0, match.start()) + 1


_READERS: Mapping[Language, Callable[[AgentProgram], Iterator[Found]]] = {
    "javascript": _script,
    "typescript": _script,
    "python": _python,
    "lua": _lua,
}
