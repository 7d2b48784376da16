"""
@agent skarn.tide-py
@description Counts trawlers that pass the light.
@tool count_trawlers
@tool-description Add trawlers that passed, and get the total.
@tool-params {"type":"object","properties":{"trawlers":{"type":"integer"}},"required":["trawlers"]}
@command @trawlers set_trawlers
@preload true
"""


def on_load(store):
    return f"Trawlers so far: {store['total']}" if store.get("total") else None


async def on_tool_call(tool_name, args, store):
    store["total"] = store.get("total", 0) + args["trawlers"]
    return f"Trawlers so far: {store['total']}"


def set_trawlers(args, store):
    if not args.strip().isdigit():
        return "Write a number."
    store["total"] = int(args)
    return None
