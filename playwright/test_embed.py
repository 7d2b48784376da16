"""`CharacterPlayer` in a page of another origin, as a site owner uses it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.provider.server import ModelProvider
from tests.provider.turns import Stall, calls, chunk, file, says, stream

PAGE = "<!doctype html><title>A site</title><body><h1>A site of its own</h1></body>"


@pytest.fixture
def site(page: Page, player_url: str, provider: ModelProvider, sample_zip: Path) -> Page:
    """A page of the provider's origin with `make(options)` for players from the player's origin."""
    provider.serve("/wren.zip", sample_zip.read_bytes())
    provider.serve("/site.html", file(PAGE.encode(), "text/html"))
    page.goto(f"{provider.url}/site.html")
    page.evaluate(
        """async (host) => {
            const { CharacterPlayer } = await import(`${host}/character-player.js`);
            globalThis.heard = [];
            globalThis.make = async (options) => {
                globalThis.player = new CharacterPlayer({ package: "/wren.zip", ...options });
                const events = "message token agentLog agentToast toolCall error";
                for (const event of events.split(" "))
                    player.on(event, (payload) => heard.push([event, payload?.code ?? payload]));
                await player.ready;
            };
        }""",
        player_url,
    )
    return page


def evaluate(page: Page, body: str, argument: Any = None) -> Any:
    """Runs an async function body; an Error comes back as {code, message}."""
    return page.evaluate(
        f"""async (argument) => {{
            try {{ {body} }} catch (error) {{
                const {{ code, message }} = error;
                return {{ code, message, isError: error instanceof Error }};
            }}
        }}""",
        argument,
    )


def test_python_starts_from_the_memory_that_the_build_kept(site: Page) -> None:
    asked: list[str] = []
    complaints: list[str] = []
    site.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    site.on("console", lambda message: complaints.append(message.text))
    evaluate(site, "await make({ storage: 'memory' })")
    assert "memory.bin" in asked
    assert "python_stdlib.zip" not in asked
    assert not any(name.endswith(".whl") for name in asked)
    assert complaints == []


def test_a_conversation_with_tools_from_another_origin(site: Page, provider: ModelProvider) -> None:
    evaluate(
        site,
        "await make(argument)",
        {"apiKey": "sk-embed", "baseUrl": provider.base_url, "model": "test"},
    )
    provider.script(calls(("roll_dice", {"sides": 4})), says("It fell well."))
    reply = evaluate(site, "return player.send('Roll')")
    assert reply == {"role": "assistant", "content": "It fell well."}
    heard = site.evaluate("heard")
    kinds = [event for event, _ in heard]
    assert [kinds.count(kind) for kind in ("message", "agentLog", "toolCall")] == [1, 1, 1]
    assert "".join(payload for event, payload in heard if event == "token") == "It fell well."
    tool = next(payload for event, payload in heard if event == "toolCall")
    assert (tool["agentId"], tool["toolName"]) == ("wren.fate", "roll_dice")
    assert tool["result"].startswith("1d4:")
    entries = site.evaluate("player.getConversation()")
    assert [(entry["role"], entry["content"]) for entry in entries] == [
        ("user", "Roll"),
        ("assistant", "It fell well."),
    ]
    store = evaluate(site, "return player.agentStore('wren.fate')")
    assert store["rolls"][0]["toolCallId"] == 1
    assert provider.chats[0].headers["authorization"] == "Bearer sk-embed"


def test_conversations_outlive_the_page(site: Page) -> None:
    evaluate(site, "await make({})")
    evaluate(site, "await player.send('Remember me')")
    first = evaluate(site, "return player.listConversations()")
    evaluate(site, "await player.newConversation(); await player.send('Another')")
    listed = evaluate(site, "return player.listConversations()")
    assert len(listed) == 2
    evaluate(site, "await player.dispose(); await make({})")
    evaluate(site, "await player.loadConversation(argument)", first[0]["id"])
    assert site.evaluate("player.getConversation()[0].content") == "Remember me"


def test_stop_through_a_signal(site: Page, provider: ModelProvider) -> None:
    evaluate(site, "await make(argument)", {"baseUrl": provider.base_url, "model": "test"})
    provider.script(stream(chunk({"content": "Once "}), Stall()))
    reply = evaluate(
        site,
        """const controller = new AbortController();
        player.on("token", () => controller.abort());
        return player.send("Tell me", { signal: controller.signal });""",
    )
    assert reply == {"role": "assistant", "content": "Once ", "stopped": True}


def test_commands_and_their_validation(site: Page) -> None:
    evaluate(site, "await make({ storage: 'memory' })")
    assert [c["name"] for c in site.evaluate("player.listCommands()")] == ["roll"]
    assert evaluate(site, "return player.runCommand('@roll', '2d6')") is None
    assert "2d6+1" in evaluate(site, "return player.runCommand('roll', 'nonsense')")
    assert [event for event, _ in site.evaluate("heard")] == ["agentToast", "agentLog"]


def test_an_agents_words_come_with_its_name_beside_them(site: Page) -> None:
    evaluate(site, "await make({ storage: 'memory' })")
    said = evaluate(
        site,
        """const said = [];
        for (const event of ["agentToast", "agentLog"])
            player.on(event, (...heard) => said.push([event, typeof heard[0], heard[1]]));
        player.on("token", (...heard) => said.push(["token", heard.length]));
        await player.runCommand("roll", "2d6");
        await player.send("Hello");
        return said;""",
    )
    who = {"agentId": "wren.fate", "characterName": "Wren Tallow"}
    assert said[:2] == [["agentToast", "string", who], ["agentLog", "string", who]]
    assert {tuple(rest) for rest in said[2:]} == {("token", 1)}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("await make({ package: 42 })", "package_source_invalid"),
        ("await make({ package: '/nowhere.zip' })", "package_http_error"),
        ("await make({}); await player.loadConversation('missing')", "unknown_conversation"),
        ("await make({}); await player.dispose(); await player.send('x')", "disposed"),
        ("await make({}); player.on('noise', () => {})", "unknown_event"),
    ],
)
def test_errors_have_stable_codes(site: Page, body: str, code: str) -> None:
    failure = evaluate(site, body)
    assert failure["isError"] is True
    assert failure["code"] == code


def test_two_players_share_nothing(site: Page, provider: ModelProvider) -> None:
    evaluate(site, "await make({ storage: 'memory' }); globalThis.first = player;")
    evaluate(site, "await make({ storage: 'memory' })")
    evaluate(site, "await first.send('Only here')")
    assert site.evaluate("player.getConversation()") == []
    assert len(site.evaluate("first.getConversation()")) == 2


def test_packages_as_bytes_and_as_files(site: Page) -> None:
    evaluate(
        site,
        """const bytes = await (await fetch("/wren.zip")).arrayBuffer();
        await make({ package: bytes, storage: "memory" });
        await make({ package: new Blob([bytes]), storage: "memory" });
        await make({ storage: "memory", package: { files: {
            "config.json": '{"name": "Bo"}',
            "instructions.txt": new TextEncoder().encode("Be Bo."),
        } } });""",
    )
    preview = evaluate(site, "return player.promptPreview()")
    assert preview["messages"][0]["content"] == "Be Bo."
