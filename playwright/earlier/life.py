"""What a user did with the player: the life that a fixture is the trace of."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

from app_page import READY, AppPage
from faults.world import crash, eventually, inject, moody, stored
from playwright.sync_api import BrowserContext, expect

from tests.provider.server import ModelProvider
from tests.provider.turns import Stall, Turn, calls, json_body, reply_json, says

ROOT = Path(__file__).resolve().parents[2]
LINK = "https://characters.example/wren.zip"
GONE = "https://characters.example/gone.zip"
"""The link of a character that was removed; its conversation waits."""
LONG = 260
"""Entries of the longest conversation: more than are read before it is shown."""


class Life:
    """One browser, and the provider that its user chose."""

    def __init__(
        self, context: BrowserContext, url: str, provider: ModelProvider, folder: Path
    ) -> None:
        self._context, self._url, self._provider, self._folder = context, url, provider, folder
        inject(context)
        wren = zipped(ROOT / "web" / "sample", folder / "wren.zip")
        serve(context, LINK, wren.read_bytes())
        serve(context, GONE, moody(folder, name="Gone").read_bytes())
        self.app = self._tab()

    def live(self) -> None:
        """All of it; the tab is killed at the end."""
        self.choose_settings()
        self.talk_with_wren()
        self.talk_with_mara()
        self.sail_on_the_ferry()
        self.leave_one_behind()
        for name, die in (
            ("Moody", self._in_a_call),
            ("Sulky", self._in_mid_stream),
            ("Grumpy", self._before_an_edit_was_told),
        ):
            self.app.open_file(moody(self._folder, name=name)).talks_to(name)
            die()
            crash(self.app.page)
            self.app = self._tab()

    def choose_settings(self) -> None:
        page = self.app.page
        page.locator("[data-action=open-settings]").first.click()
        for test_id, text in (
            ("base-url", self._provider.base_url),
            ("api-key", "sk-kept"),
            ("model-main", "big"),
            ("model-worker", "small"),
            ("temperature", "0.7"),
        ):
            self.app.by(test_id).fill(text)
        page.get_by_text("On this device", exact=True).click()
        page.keyboard.press("Escape")
        expect(self.app.by("settings")).to_be_hidden()

    # Wren, from a link

    def talk_with_wren(self) -> None:
        self.app.open(f"?loadCharacter={LINK}").talks_to("Wren Tallow")
        self._wren_at_the_bell()
        self._wren_interrupted()
        self._wren_in_many_scripts()
        self._wren_at_length()

    def _wren_at_the_bell(self) -> None:
        roll = ("roll_dice", {"sides": 20, "count": 2, "reason": "the rope"})
        self._talk("The Drowned Bell, please.", "The water is *very* still.")
        self._talk("I pull the rope.", "It holds.", calls(roll, roll, text="*Dice.*"))
        self._on_last("Mark as unacceptable")
        expect(self.app.page.locator("[data-part=rejected]:visible")).to_have_count(1)
        self._provider.script(says("It breaks."))
        self._on_last("Send again", role="user")
        self.app.answered("It breaks.")
        self._edit_first_message("The Drowned Bell, if you please.")
        self._run_command("roll", "2d6+1")
        self._talk("And then?", "You swim.")
        self._fork("The water is")
        self._talk("I turn around.", "The inn is dark.")
        self._rename("The road not taken")

    def _wren_interrupted(self) -> None:
        self._begin()
        self._provider.script(says("One half, and ").without_end(Stall()))
        self.app.say("Tell me everything.")
        expect(self.app.messages().last).to_contain_text("One half", timeout=READY)
        self.app.by("stop").click()
        expect(self.app.by("send")).to_be_visible(timeout=READY)
        self._talk("Go on.", "The other half.")

    def _wren_in_many_scripts(self) -> None:
        self._begin()
        words = "\U0001f9dc\u200d\u2640\ufe0f \u05e9\u05dc\u05d5\u05dd \u4f60\u597d"
        usage = {"prompt_tokens": 70, "completion_tokens": 7, "total_tokens": 77}
        last = says(f"Said: {words} | `a < b` & c", reasoning="Which?", usage=usage)
        self._talk(f"Say {words}", "Said: it", last=last)
        self._talk("Nothing of this stays.", "As you wish.")
        self._on_last("Delete")
        self._on_last("Delete", role="user")
        expect(self.app.messages("user")).to_have_count(1)

    def _wren_at_length(self) -> None:
        self.app.page.locator("#import-file").set_input_files(
            {
                "name": "long.json",
                "mimeType": "application/json",
                "buffer": json.dumps(long_conversation("Wren Tallow", LONG)).encode(),
            }
        )
        expect(self.app.messages().last).to_contain_text(f"Message {LONG}.", timeout=READY)
        self._talk("Enough.", "Enough.", calls(("roll_dice", {"sides": 4})))

    # Mara, from a file; her agent keeps a log

    def talk_with_mara(self) -> None:
        self._open("mara", ROOT / "examples" / "every-tag", "Mara")
        high = {"what": "The lamp went out", "importance": "high"}
        events = calls(("log_event", high), ("log_event", {"what": "A boat passed"}))
        self._talk("What happened?", "It is written.", events)
        self._run_command("log", "the lamp was cleaned")
        self._talk("Read it.", "Three lines.", calls(("read_log", {})))
        self._talk("Take a note.", "Taken.", calls(("log_event", {"what": "Regretted"})))
        self._on_last("Delete")
        expect(self.app.messages().last).to_contain_text("Three lines.")
        self.app.reload().talks_to("Mara")
        self._begin()
        self._talk("A second evening.", "So it is.")
        self._talk("And no more.", "No more.")

    # The ferry, from a file; six agents in three languages

    def sail_on_the_ferry(self) -> None:
        self._open("ferry", ROOT / "playwright" / "whole", "Ferry")
        rounds = (
            calls(("roll", {"sides": 6}), ("time", {}), ("ports", {}), ("dance", {})),
            calls(("keeper", {"question": "How deep?"})),
            inner_calls(("roll", {"sides": 4}), ("memory_remember", {"key": "k", "value": "v"})),
            reply_json("As deep as a 4."),
        )
        self._talk("Do everything.", "All done.", *rounds)
        self._run_command("mood", "glad")
        self._fork("All done.")
        self._talk("And on the other shore?", "Reeds.", calls(("time", {})))
        self._begin()
        self._talk("Another crossing.", "Cast off.")

    # A character that is removed

    def leave_one_behind(self) -> None:
        self.app.open(f"?loadCharacter={GONE}").talks_to("Gone")
        self._talk("Do not forget me.", "Never.", calls(("act", {"how": "well"})))
        self.app.page.locator("nav [data-action=show-start]").last.click()
        card = self.app.by("library-item").filter(has_text="Gone")
        card.get_by_label("More for Gone").click()
        self.app.page.get_by_role("menuitem", name="Remove").click()
        self.app.page.get_by_role("button", name="Remove", exact=True).click()
        expect(card).to_have_count(0)

    # Tabs that are killed

    def _in_a_call(self) -> None:
        self._talk("First.", "Fine.", calls(("act", {"how": "well"})))
        self._stalls_after(calls(("act", {"how": "well"}), ("act", {"how": "hold call"})))
        self.app.say("Act twice.")
        self._wait_for_the_stall()

    def _in_mid_stream(self) -> None:
        self._provider.script(says("This was said, and ").without_end(Stall()))
        self.app.say("Speak.")
        eventually(self.app.page, lambda: "This was said, and " in self._contents())

    def _before_an_edit_was_told(self) -> None:
        self._talk("Act.", "Acted.", calls(("act", {"how": "hold edit"})))
        self._stalls_after()
        self._on_last("Delete")
        self._wait_for_the_stall()

    def _stalls_after(self, *turns: Turn) -> None:
        self._asked = len(self._provider.chats) + len(turns)
        self._provider.script(*turns, says("").without_end(Stall()))

    def _wait_for_the_stall(self) -> None:
        self._provider.wait_for_chats(self._asked + 1)
        self.app.page.wait_for_timeout(500)

    def _contents(self) -> list[str]:
        entries = stored(self.app.page)["entries"].values()
        return [entry["content"] for entry in entries if isinstance(entry, dict)]

    # What a user does

    def _tab(self) -> AppPage:
        page = self._context.new_page()
        page.on("dialog", lambda dialog: dialog.accept())
        return AppPage(page, self._url).open()

    def _open(self, name: str, folder: Path, character: str) -> None:
        self.app.open().open_file(zipped(folder, self._folder / f"{name}.zip")).talks_to(character)

    def _talk(self, text: str, answer: str, *rounds: Turn, last: Turn | None = None) -> None:
        """``rounds``: what comes before the answer; ``last``: how it is said."""
        self._provider.script(*rounds, last or says(answer))
        self.app.say(text).answered(answer.split(" ")[0].strip("*"))

    def _begin(self) -> None:
        self.app.by("new-conversation").first.click()
        expect(self.app.messages("user")).to_have_count(0)
        expect(self.app.by("composer")).to_be_editable(timeout=READY)

    def _on_last(self, item: str, *, role: str = "assistant") -> None:
        self._menu(self.app.messages(role).last, item)

    def _menu(self, message: Any, item: str) -> None:
        message.hover()
        message.locator("[data-action=message-menu]").click()
        self.app.page.get_by_role("menuitem", name=item).click()

    def _fork(self, text: str) -> None:
        self._menu(self.app.messages().filter(has_text=text).first, "Fork from here")
        expect(self.app.by("toast").last).to_contain_text("This is the fork", timeout=READY)
        expect(self.app.by("composer")).to_be_editable(timeout=READY)

    def _edit_first_message(self, text: str) -> None:
        message = self.app.messages("user").first
        message.hover()
        message.locator("[data-action=edit-message]").click()
        self.app.page.get_by_label("Edit the message").fill(text)
        self.app.page.get_by_role("button", name="Save", exact=True).click()
        expect(self.app.messages("user").first.locator(".prose")).to_have_text(text)

    def _run_command(self, name: str, text: str) -> None:
        self.app.by("composer").fill("")
        self.app.by("composer").press_sequentially("@")
        dialog = self.app.by("command-dialog")
        dialog.get_by_role("option").filter(has_text=name).click()
        dialog.get_by_role("textbox", name="Text for the command").fill(text)
        dialog.get_by_role("button", name="Run").click()
        expect(dialog).to_be_hidden(timeout=READY)

    def _rename(self, title: str) -> None:
        conversation = self.app.by("conversation-list").locator("[aria-current=true]")
        conversation.hover()
        conversation.locator(".conversation-more").click()
        self.app.page.get_by_role("menuitem", name="Rename", exact=True).click()
        self.app.page.get_by_role("textbox", name="Name of the conversation").fill(title)
        self.app.page.keyboard.press("Enter")
        expect(self.app.by("conversation-list")).to_contain_text(title)


def serve(context: BrowserContext, link: str, package: bytes) -> None:
    """Answers requests for the link, which leads nowhere, with the package."""
    headers = {"access-control-allow-origin": "*", "content-type": "application/zip"}
    context.route(link, lambda route: route.fulfill(status=200, headers=headers, body=package))


def zipped(folder: Path, target: Path) -> Path:
    with zipfile.ZipFile(target, "w") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder).as_posix())
    return target


def inner_calls(*wanted: tuple[str, dict[str, Any]]) -> Turn:
    """A whole reply, as a sub-agent's loop asks for, that calls granted tools."""
    made = [
        {"id": f"inner_{at}", "type": "function", "function": {"name": name, "arguments": given}}
        for at, (name, given) in enumerate(wanted)
    ]
    message = {"role": "assistant", "content": None, "tool_calls": made}
    return json_body({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]})


def long_conversation(character: str, count: int) -> dict[str, Any]:
    """An export of ``count`` short entries."""
    head = {
        "id": "x", "characterId": "y", "title": "A long way", "named": True, "createdAt": 1,
        "updatedAt": 1, "nextEntry": count + 1, "lastToolCallId": 0, "tokensSpent": 12,
    }  # fmt: skip
    entries = [
        {
            "id": f"e{number:010d}",
            "role": "user" if number % 2 else "assistant",
            "content": f"Message {number}.",
            "at": 1_700_000_000_000 + number,
        }
        for number in range(1, count + 1)
    ]
    return {
        "format": "personae-conversation", "version": 1, "character": character,
        "conversation": head, "entries": entries, "stores": {},
    }  # fmt: skip
