"""
@agent ferry.dice
@tool roll
@tool-description Rolls a die that always shows its highest side.
@tool-params {"type": "object", "properties": {"sides": {"type": "integer"}}, "required": ["sides"]}
"""


async def on_tool_call(tool_name, args, store, studio, context):
    store["rolls"] = store.get("rolls", 0) + 1
    studio.log(f"rolled {args['sides']}")
    return f"{args['sides']} (roll {store['rolls']}, call {context['toolCallId']})"
