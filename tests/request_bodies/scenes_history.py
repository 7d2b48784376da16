"""Long conversations, and text of every kind."""

from __future__ import annotations

from typing import Any

from tests.request_bodies.stage import Stage, folder, last_id, say, scene

WORDS = (
    "\U0001f9dc\u200d\u2640\ufe0f e\u0301 \u00e9 \u05e9\u05dc\u05d5\u05dd "
    "\u0645\u0631\u062d\u0628\u0627 \u4f60\u597d "
)
ODD = WORDS + '\u2028 \u2029 \ufeff \x00 \x07 \x7f \u0085 \\ " / </script> %%CHARACTER_NAME%%'


@scene
async def text_of_every_kind(stage: Stage) -> None:
    sheet = {"mara__character-sheet.txt": f"You are M\u00e1ra. {WORDS} \\ %%CHARACTER_NAME%%"}
    files = folder("examples/renamed-files", **{"skarn-point__\u00e9t\u00e9.txt": WORDS}, **sheet)
    async with stage.playing(files) as player:
        await say(player, stage, ODD, WORDS)
        stage.transport.says(ODD, "and \ud83d", "\ude00 a pair in two pieces")
        await player.send("half a pair: \ud83d!")
        await player.edit(last_id(player, "user"), "\tline\r\nline\n\n  \u00a0indented \udc00")
        await say(player, stage, "  spaces around  ", "as they are")


@scene
async def odd_text_through_a_tool(stage: Stage) -> None:
    async with stage.playing(folder("examples/every-tag")) as player:
        stage.transport.calls(("log_event", {"what": ODD}), ("read_log", {}))
        await say(player, stage, "Write this.", "Written.")
        assert await player.run_command("log", f"  {ODD}  ") is None
        await say(player, stage, "And?", "And.")


@scene
async def a_hundred_turns(stage: Stage) -> None:
    """The middle is played; what is asked at the ends is what counts."""
    async with stage.playing(folder("examples/every-tag")) as player:
        await player.load_conversation(await player.import_conversation(long_conversation(100)))
        await say(player, stage, "The newest.", "Answered.")
        middle = player.entries[len(player.entries) // 2].id
        await player.edit(last_id(player, "user"), "The newest, edited.")
        await player.fork(middle)
        await say(player, stage, "In the middle.", "Here.")
        await player.reject(player.entries[9].id)
        await player.delete(player.entries[1].id)
        await say(player, stage, "Two fewer.", "Right.")


def long_conversation(turns: int) -> dict[str, Any]:
    """An export with a tool round in every fifth turn."""
    entries: list[dict[str, Any]] = []

    def add(role: str, content: str, **more: Any) -> None:
        identity = f"e{len(entries) + 1:010d}"
        entries.append({"id": identity, "role": role, "content": content, "at": 1, **more})

    number = 0
    for turn in range(turns):
        add("user", f"Message {turn}: \u00e9")
        if turn % 5 == 0:
            number += 1
            call = {"id": f"c{turn}", "name": "log_event", "arguments": f'{{"what": "{turn}"}}'}
            add("assistant", "", tool_calls=[{**call, "toolCallId": number}])
            add("tool", f"Written: {turn}", tool_call_id=f"c{turn}", toolCallId=number, ok=True)
        add("assistant", f"Answer {turn}.")
    head = {"id": "1", "characterId": "x", "createdAt": 1, "updatedAt": 2, "title": "Long"}
    return {
        "format": "personae-conversation",
        "version": 1,
        "character": "Mara",
        "conversation": {**head, "nextEntry": len(entries) + 1, "lastToolCallId": number},
        "entries": entries,
        "stores": {"skarn.logbook": {"events": [{"what": "old", "toolCallId": 1}]}},
    }
