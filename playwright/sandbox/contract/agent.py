"""
@agent contract.suite
@description Does what cases.json asks; the same agent exists in four languages.
"""

import random
from datetime import UTC, datetime


def kind(args):
    value = args["value"]
    if value is None:
        return "null"
    if value is True or value is False:
        return "boolean"
    if type(value) is int:
        return "whole"
    if type(value) is float:
        return "fraction"
    if type(value) is str:
        return "text"
    if type(value) is list:
        return f"list {len(value)}"
    assert type(value) is dict
    return f"object {len(value)}"


def remember(args, store):
    assert type(store) is dict
    store.setdefault("items", []).append(args["item"])
    return str(len(store["items"]))


def replace_with_empty(args, store):
    store["items"] = []


def deep_change(args, store):
    store["a"]["b"][1]["c"] = args["value"]


def change_and_throw(args, store):
    store["items"] = ["half done"]
    raise ValueError(args["message"])


def fail(args):
    raise ValueError(args["message"])


def tell(args, store, studio):
    studio.log(f"log {args['text']}")
    studio.toast(f"toast {args['text']}")
    print(f"console {args['text']}")


def tell_often(args, store, studio):
    for i in range(args["times"]):
        studio.log(f"line {i}")


async def read(args, store, studio):
    found = await studio.context.readFile(args["name"])
    return "no such file" if found is None else "a file"


async def model(args, store, studio):
    messages = [{"role": "user", "content": "hi"}]
    return await studio.callModel("be brief", messages, 50, {"model": "main"})


async def fetch(args, store, studio):
    return await studio.web.fetch("https://example.org/", options={"maxChars": 500})


async def caught(args, store, studio):
    try:
        await studio.context.readFile("refuse")
    except Exception as error:
        return f"caught: {error}"
    return "answered"


async def two_at_once(args, store, studio):
    first = studio.history.search("first")
    second = studio.history.search("second")
    later, earlier = await second, await first
    return f"{earlier['arguments']['query']} {later['arguments']['query']}"


def capability(args, store, studio):
    def word(found):
        return "present" if found else "absent"

    collapse = word(hasattr(studio, "conversation"))
    compact = word(hasattr(studio.history, "compact"))
    return f"{collapse} {compact} {word(hasattr(studio.web, 'fetch'))}"


def context(args, store, studio, context):
    names = ("invokedBy", "agentId", "characterName", "conversationLength", "toolCallId")
    return " ".join([*(str(context[name]) for name in names), context["config"]["contextFile"]])


def cycle():
    outer = {"a": {}}
    outer["a"]["b"] = outer
    return outer


def nested(depth):
    deep = [0]
    for _ in range(depth):
        deep = [deep]
    return deep


SPECIAL = {
    "nan": lambda: float("nan"),
    "infinity": lambda: [float("inf"), float("-inf")],
    "function": lambda: {"kept": 1, "dropped": len, "list": [len]},
    "cycle": cycle,
    "deep": lambda: nested(20000),
    "nearly_deep": lambda: nested(900),
    "surrogate": lambda: "a\ud800b",
    "proto": lambda: {"__proto__": {"x": 1}, "constructor": 2},
    "date": lambda: datetime.fromtimestamp(86400, UTC),
    "set": lambda: {1},
    "big": lambda: 2**70,
    "controls": lambda: 'nul \0 quote " back \\ tab \t',
}


def set_special(args, store):
    store["special"] = SPECIAL[args["kind"]]()


class GameError(Exception):
    pass


def lose():
    raise GameError("lost")  # raises deep


def missing(studio):
    return {}["moood"]  # raises missing


def value(studio):
    raise RuntimeError("42")  # raises value


def silent(studio):
    raise TimeoutError  # raises silent


async def later(studio):
    await studio.context.readFile("a.txt")
    raise TimeoutError("too late")  # raises later


async def refused(studio):
    await studio.context.readFile("refuse")  # raises refused


RAISED = {
    "missing": missing,
    "value": value,
    "silent": silent,
    "deep": lambda studio: lose(),
    "later": later,
    "refused": refused,
}


TOOLS = {
    "raise": lambda args, store, studio: RAISED[args["how"]](studio),
    "roll": lambda args: " ".join(str(random.randrange(10**9)) for _ in range(8)),
    "nothing": lambda args: None,
    "text": lambda args: args["value"],
    "value": lambda args: args["value"],
    "kind": kind,
    "remember": remember,
    "count": lambda args, store: str(len(store["items"])),
    "empty": lambda args, store: store["items"].clear(),
    "replace_with_empty": replace_with_empty,
    "forget": lambda args, store: store.pop(args["key"]) and None,
    "deep_change": deep_change,
    "change_and_throw": change_and_throw,
    "fail": fail,
    "tell": tell,
    "tell_often": tell_often,
    "search": lambda args, store, studio: studio.history.search(args["query"]),
    "range": lambda args, store, studio: studio.history.range(args["start"], args["end"]),
    "read": read,
    "model": model,
    "model_bare": lambda args, store, studio: studio.callModel("be brief", []),
    "grant": lambda args, store, studio: studio.grants.readStore("other.agent"),
    "fetch": fetch,
    "caught": caught,
    "two_at_once": two_at_once,
    "capability": capability,
    "context": context,
    "special": set_special,
    "special_result": lambda args: SPECIAL[args["kind"]](),
}


def on_load(store):
    return f"{len(store['items'])} items" if store.get("items") else None


async def on_tool_call(tool_name, args, store, studio, context):
    tool = TOOLS[tool_name]
    count = tool.__code__.co_argcount
    result = tool(*(args, store, studio, context)[:count])
    return await result if hasattr(result, "__await__") else result


def on_after_response(event, store):
    store["turns"] = store.get("turns", 0) + 1
    store["last"] = event["responseText"]


async def memoryAdd(args, store, studio):
    if not args.strip():
        return "Usage: memory <text>"
    store["items"] = [*store.get("items", []), args.strip()]
    studio.toast(f"Stored: {args.strip()}")
    return None


def onlyArgs(args):
    return f"got {args}"
