"""One JavaScript agent through the whole sandbox: page, frame, worker, QuickJS and back."""

from __future__ import annotations

from typing import Any

AGENT = """
let loads = 0;
export function onLoad(store) { loads += 1; return `loads ${loads}`; }
export async function onToolCall(tool, args, store, studio, context) {
  store.seen = [...(store.seen ?? []), args.word];
  studio.log("saw " + args.word);
  const found = await studio.history.search(args.word);
  return { tool, agent: context.agentId, found, shout: shout(args.word) };
}
export const notAFunction = 1;
"""


def start(drive: Any, **spec: Any) -> Any:
    return drive(
        "load",
        {
            "id": "t.slice",
            "language": "javascript",
            "source": AGENT,
            "libraries": {"shout": "globalThis.shout = (text) => text.toUpperCase() + '!';"},
            **spec,
        },
    )


def test_a_call_reaches_the_agent_and_its_store_comes_back(drive: Any) -> None:
    assert start(drive, apis=["studio.history"]) == {"exports": ["onLoad", "onToolCall"]}
    call = {"id": "t.slice", "function": "onToolCall", "arguments": ["look", {"word": "héllo"}]}
    answer = drive("call", call)
    assert answer["store"] == '{"seen":["héllo"]}'
    assert answer["notices"] == [["t.slice", "log", "saw héllo"]]
    assert answer["value"] == (
        '{"tool":"look","agent":"t.slice","found":'
        '{"method":"history.search","arguments":{"query":"héllo"}},"shout":"HÉLLO!"}'
    )
    assert drive("call", {"id": "t.slice", "function": "onLoad"})["changed"] is False


def test_an_undeclared_api_is_refused_by_name(drive: Any) -> None:
    start(drive, apis=[])
    call = {"id": "t.slice", "function": "onToolCall", "arguments": ["look", {"word": "x"}]}
    failure = drive("call", call)
    assert failure["code"] == "agent_threw"
    assert "'@api studio.history'" in failure["message"]
