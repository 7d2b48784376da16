"""One package that uses every feature at once, in three languages, played in a real browser."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

from app_page import READY, AppPage
from playwright.sync_api import Page, expect

from tests.provider.server import ModelProvider
from tests.provider.turns import Turn, calls, json_body, reply_json, says

FOLDER = Path(__file__).parent / "whole"


def zipped(folder: Path, target: Path) -> Path:
    with zipfile.ZipFile(target, "w") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder).as_posix())
    return target


def test_it_plays(page: Page, player_url: str, provider: ModelProvider, tmp_path: Path) -> None:
    app = AppPage(page, player_url).open().open_file(zipped(FOLDER, tmp_path / "ferry.zip"))
    app.talks_to("Ferry").use_provider(provider.base_url)
    provider.script(
        calls(
            *(("roll", {"sides": 6}), ("time", {}), ("ports", {}), ("boats", {})),
            *(("roll", {"sides": "six"}), ("dance", {})),
        ),
        calls(("keeper", {"question": "How deep?"})),
        inner_calls("roll", {"sides": 4}),
        reply_json("As deep as a 4."),
        says("All done."),
    )
    app.say("Do everything").answered("All done.")

    first, _, asked, answered, last = (chat.body for chat in provider.chats)
    assert [message["content"] for message in first["messages"]] == [
        "Stay in character. You steer the ferry.",
        first["messages"][1]["content"],
        "Mood: calm",
        "Mind the gap.",
        "Do everything",
    ]
    context = first["messages"][1]["content"]
    assert context.endswith('\n\n[{"boat": "Heron"}]\n\nThe river is wide.')
    assert "Nim" not in context
    names = [tool["function"]["name"] for tool in first["tools"]]
    assert names == ["roll", "time", "ports", "boats", "keeper"]

    results = [message["content"] for message in last["messages"] if message["role"] == "tool"]
    assert results[0] == "6 (roll 1, call 1)"
    assert results[1] == "noon 1: The river is wide."
    assert "Nim" in results[2]
    assert "Heron" in results[3]
    assert "sides" in results[4]
    assert "dance" in results[5]
    assert results[6] == "As deep as a 4."
    assert asked["messages"][0]["content"] == "You keep the log of Ferry. How deep?"
    assert answered["messages"][-1]["content"] == "4 (roll 2, call 6)"

    app.by("composer").press_sequentially("@")
    dialog = app.by("command-dialog")
    dialog.get_by_role("option").filter(has_text="mood").click()
    dialog.get_by_role("button", name="Run").click()
    expect(dialog).to_contain_text("Say which mood.")
    dialog.get_by_role("textbox", name="Text for the command").fill("glad")
    dialog.get_by_role("button", name="Run").click()
    expect(app.by("toast").last).to_contain_text("The mood is glad (direct)", timeout=READY)
    provider.script(says("So glad."))
    app.say("And now?").answered("So glad.")
    assert provider.last_messages()[2]["content"] == "Mood: glad"
    assert mood_events(page) == [
        ["conversationStart", True],
        ["beforeResponse", [0]],
        ["afterToolCall", ["ferry.dice", "roll", 1]],
        ["afterToolCall", ["ferry.clock", "time", 2]],
        ["afterToolCall", ["ferry.ports", "ports", 3]],
        ["afterToolCall", ["ferry.boats", "boats", 4]],
        ["afterToolCall", ["ferry.keeper", "keeper", 5]],
        ["afterResponse", ["All done.", 5, False]],
        ["beforeResponse", [0]],
        ["afterResponse", ["So glad.", 0, False]],
    ]


STORES = """async () => {
    const database = await new Promise((resolve, reject) => {
        const request = indexedDB.open("personae");
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });
    const records = await new Promise((resolve) => {
        const request = database.transaction("stores").objectStore("stores").openCursor();
        const found = [];
        request.onsuccess = () => {
            const cursor = request.result;
            if (!cursor) return resolve(found);
            found.push([cursor.key, cursor.value]);
            cursor.continue();
        };
    });
    database.close();
    return records;
}"""


def mood_events(page: Page) -> list[object]:
    """What the hooks of ferry.mood wrote into its store, as stored."""
    (text,) = (value for key, value in page.evaluate(STORES) if key[1:] == ["ferry.mood"])
    store = json.loads(text.partition("\n")[2])
    return list(store["events"])


def inner_calls(name: str, arguments: dict[str, object]) -> Turn:
    """A whole reply, as studio.callModel asks for, that calls a granted tool."""
    call = {
        "id": "inner_1",
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return json_body({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]})
