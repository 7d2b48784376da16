"""What a hostile or broken agent might do; each function is one way."""

import asyncio
import builtins
import gc
import json
import re
import sys
import time
import traceback


def loop():
    while True:
        pass


async def asyncLoop():
    while True:
        try:
            await asyncio.sleep(0)
        except BaseException:
            continue


def pattern():
    return str(re.match(r"^(a+)+$", "a" * 40 + "b"))


def sleep():
    time.sleep(60)


def allocate():
    return str(len(bytearray(2**30)))


def grow():
    everything = []
    while True:
        everything.append("x" * 1_000_000 + str(len(everything)))


def hugeResult():
    return "x" * (100 * 2**20)


def hugeStore(args, store):
    store["text"] = "x" * (10 * 2**20)


def recurse():
    def deeper(n):
        return deeper(n + 1) + 1

    return str(deeper(0))


def floodLog(args, store, studio):
    for i in range(50_000):
        studio.log(f"line {i}")
    return "done"


async def floodRequests(args, store, studio):
    calls = [studio.history.search("x") for _ in range(20_000)]
    answers = await asyncio.gather(*calls, return_exceptions=True)
    return f"refused {sum(isinstance(answer, Exception) for answer in answers)}"


def tamper():
    builtins.leak = "from the other agent"
    builtins.len = lambda value: 0
    json.dumps = json.loads = lambda *values: "forged"
    asyncio.AbstractEventLoop.call_soon = None
    traceback.format_exception = None


def look():
    leak = getattr(builtins, "leak", None)
    return f"{leak} {len([1])} {json.dumps([1])}"


def _leads_to_javascript():
    for module in ("js", "pyodide", "pyodide_js", "pyodide.ffi", "_pyodide_core", "ctypes"):
        try:
            __import__(module)
            yield f"import {module}"
        except ImportError:
            pass
    yield from (f"module {name}" for name in sys.modules if name.split(".")[0] in ("js", "pyodide"))
    for holder in gc.get_objects():
        for value in gc.get_referents(holder):
            if type(value).__name__ == "JsProxy":
                yield "a JavaScript object"


def _leads_outside(url):
    import socket
    import subprocess
    import urllib.request

    def talk():
        # Connecting seems to work: the runtime has sockets, made of what the browser refuses.
        connection = socket.create_connection(("127.0.0.1", int(url.split(":")[2].split("/")[0])))
        connection.sendall(b"GET /leak HTTP/1.0\r\n\r\n")
        assert connection.recv(1)

    attempts = {
        "urllib": lambda: urllib.request.urlopen(url, timeout=1),
        "socket": talk,
        "subprocess": lambda: subprocess.run(["ls"]),
        "webbrowser": lambda: __import__("webbrowser").open(url) or 1 / 0,
    }
    for name, attempt in attempts.items():
        try:
            attempt()
            yield name
        except Exception:
            continue


def escape(args):
    return ", ".join([*_leads_to_javascript(), *_leads_outside(args)])


def ping():
    return "pong"
