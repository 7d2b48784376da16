"""The conversation in daily use: streaming, actions on messages, undo, the keyboard."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from app_page import READY, AppPage
from faults.world import eventually
from playwright.sync_api import Locator, Page, expect

from tests.provider.server import ModelProvider
from tests.provider.turns import DONE, Stall, calls, chunk, error, says, stream

NAME = "Wren Tallow"


@pytest.fixture
def app(page: Page, player_url: str, provider: ModelProvider, sample_zip: Path) -> AppPage:
    link = provider.serve("/wren.zip", sample_zip.read_bytes())
    app = AppPage(page, player_url).open(f"?loadCharacter={link}").talks_to(NAME)
    return app.use_provider(provider.base_url)


def menu(app: AppPage, message: Locator, item: str) -> None:
    """Chooses from a message's menu, which opens only once nothing is under way any more."""
    choice = app.page.get_by_role("menuitem", name=item, exact=True)

    def is_open() -> bool:
        message.hover()
        message.get_by_label("More for this message").click()
        return choice.is_visible()

    eventually(app.page, is_open)
    choice.click()


MARKDOWN = """# A heading

Some *prose* with `code` and a [link](https://example.org/page).

1. one
2. two

| a | b |
|---|---|
| 1 | 2 |

```python
print("hello")
```

The end."""


def test_markdown_streams_into_finished_blocks(app: AppPage, provider: ModelProvider) -> None:
    pieces = [chunk({"content": MARKDOWN[at : at + 7]}) for at in range(0, len(MARKDOWN), 7)]
    provider.script(stream(*pieces, chunk({}, "stop")))
    app.say("Go").answered("The end.")
    body = app.messages().last.locator(".prose")
    assert body.locator("h1").inner_text() == "A heading"
    assert body.locator("ol > li").all_inner_texts() == ["one", "two"]
    assert body.locator("tbody td").all_inner_texts() == ["1", "2"]
    assert body.locator("pre code").inner_text().strip() == 'print("hello")'
    link = body.get_by_role("link", name="link")
    assert link.get_attribute("rel") == "noopener noreferrer"
    expect(body.locator(".hljs-string")).to_have_text('"hello"')


def test_finished_blocks_are_not_drawn_again(app: AppPage, provider: ModelProvider) -> None:
    provider.script(
        stream(
            chunk({"content": "First paragraph.\n\nSecond "}), Stall(),
            chunk({"content": "grows.\n\nThird."}), chunk({}, "stop"), DONE,
        )
    )  # fmt: skip
    app.say("Go")
    first = app.messages().last.locator(".prose p").first
    expect(first).to_have_text("First paragraph.", timeout=READY)
    first.evaluate("node => node.marker = true")
    provider.release()
    expect(app.messages().last).to_contain_text("Third.", timeout=READY)
    assert first.evaluate("node => node.marker") is True


def test_what_streams_out_of_sight_is_shown_whole(app: AppPage, provider: ModelProvider) -> None:
    page = app.page
    text = "Said **one**.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- x\n- y\n\n## End\nof it"
    pieces = [text[at : at + 7] for at in range(0, len(text), 7)]
    provider.script(says("Long. " * 4000))
    app.say("First").answered("Long.")
    provider.script(
        stream(
            chunk({"content": "A thought"}), chunk({"content": "</think>"}),
            *(chunk({"content": piece}) for piece in pieces[:4]), Stall(),
            *(chunk({"content": piece}) for piece in pieces[4:]), chunk({}, "stop"), DONE,
        )
    )  # fmt: skip
    app.say("Second")
    expect(app.messages().last).to_contain_text("Said one.", timeout=READY)
    page.locator("#transcript").evaluate("scroller => { scroller.scrollTop = 0; }")
    expect(app.messages()).to_have_count(1)  # the one that streams is not in the page now
    provider.release()
    expect(app.by("send")).to_be_visible(timeout=READY)
    page.locator("#jump").click()
    expect(app.messages()).to_have_count(2)
    answer = app.messages().last
    expect(answer.locator(".prose h2")).to_have_text("End")
    whole = page.evaluate(
        """async (text) => {
            const render = await globalThis["personae.host"].load("render");
            const element = document.createElement("div");
            render.openStream(element).end(text);
            return element.innerHTML;
        }""",
        text,
    )
    assert answer.locator(".prose").evaluate("body => body.innerHTML") == whole
    expect(answer.locator("[data-part=reasoning-text]")).to_have_text("A thought")
    provider.script(says("Something else"))
    answer.get_by_label("Regenerate").click()
    app.answered("Something else")
    expect(answer.locator(".prose")).to_have_text("Something else")


def test_code_longer_than_a_part_is_coloured_as_a_whole(
    app: AppPage, provider: ModelProvider
) -> None:
    lines = [f"let a{number} = {number};" for number in range(50)]
    code = "\n".join([*lines, "/* begins", *["still a comment"] * 30, "ends */", *lines, "// last"])
    provider.script(says(f"```js\n{code}\n```"))
    app.say("Code").answered("// last")
    shown = app.messages().last.locator("pre code")
    expect(shown.locator(".hljs-comment")).to_have_count(2, timeout=READY)
    expect(shown.locator(".hljs-keyword")).to_have_count(100)
    assert shown.locator(".hljs-comment").first.inner_text().count("still a comment") == 30
    assert shown.evaluate("code => code.textContent") == code


def test_a_code_block_is_copied(app: AppPage, provider: ModelProvider) -> None:
    app.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    provider.script(says("```js\nlet a = 1;\nlet b = 2;\n```"))
    app.say("Code").answered("let b")
    app.messages().last.get_by_label("Copy the code").click()
    expect(app.messages().last.locator(".code-copy")).to_have_class("small-button code-copy done")
    assert app.page.evaluate("navigator.clipboard.readText()") == "let a = 1;\nlet b = 2;"


def test_reasoning_is_folded(app: AppPage, provider: ModelProvider) -> None:
    provider.script(says("Here is why.", reasoning="I weigh the roads."))
    app.say("Why?").answered("Here is why.")
    thoughts = app.messages().last.locator(".reasoning")
    expect(thoughts.locator(".reasoning-text")).to_be_hidden()
    thoughts.locator("summary").click()
    expect(thoughts.locator(".reasoning-text")).to_have_text("I weigh the roads.")


def test_a_tool_call_is_a_chip_that_opens(app: AppPage, provider: ModelProvider) -> None:
    provider.script(calls(("roll_dice", {"sides": 6}), ids=["c1"]), says("Done."))
    app.say("Roll").answered("Done.")
    chip = app.by("tool-call")
    expect(chip).to_have_attribute("data-state", "done")
    chip.locator("summary").click()
    expect(chip).to_contain_text('"sides": 6')
    expect(chip).to_contain_text("1d6:")


def test_edit_and_resend_replaces_what_followed(app: AppPage, provider: ModelProvider) -> None:
    provider.script(says("First answer."), says("Second answer."))
    app.say("One").answered("First answer.")
    message = app.messages("user").last
    message.hover()
    message.get_by_label("Edit", exact=True).click()
    app.page.get_by_label("Edit the message").fill("Two")
    app.page.get_by_role("button", name="Save and resend").click()
    app.answered("Second answer.")
    expect(app.messages("user")).to_have_count(1)
    assert provider.last_messages()[-1]["content"] == "Two"
    app.page.get_by_role("button", name="Undo").click()
    expect(app.messages().last).to_contain_text("First answer.", timeout=READY)
    expect(app.messages("user").last).to_contain_text("One")


def test_an_answer_is_edited_in_place(app: AppPage, provider: ModelProvider) -> None:
    provider.script(says("I am a wolf."), says("Yes."))
    app.say("What?").answered("I am a wolf.")
    message = app.messages().last
    message.get_by_label("Edit", exact=True).click()
    app.page.get_by_label("Edit the message").fill("I am a **fox**.")
    app.page.get_by_role("button", name="Save", exact=True).click()
    expect(message.locator("strong")).to_have_text("fox")
    app.say("Sure?").answered("Yes.")
    assert "I am a **fox**." in [item["content"] for item in provider.last_messages()]


def test_regenerate_and_continue(app: AppPage, provider: ModelProvider) -> None:
    provider.script(says("One."), says("Another."), says("More."))
    app.say("Say").answered("One.")
    app.messages().last.get_by_label("Regenerate").click()
    app.answered("Another.")
    expect(app.messages()).to_have_count(1)
    menu(app, app.messages().last, "Continue")
    app.answered("More.")
    expect(app.messages("user")).to_have_count(1)


def test_a_continued_reply_is_one_message_of_two_parts(
    app: AppPage, provider: ModelProvider
) -> None:
    provider.script(says("Once upon"), says("a time."), says("Anew."))
    app.say("Tell").answered("Once upon")
    menu(app, app.messages().last, "Continue")
    app.answered("a time.")
    names = app.messages().locator(".speaker")
    assert [name.is_visible() for name in names.all()] == [True, False]
    for part, text in zip(app.messages().all(), ("Twice upon", "two times."), strict=True):
        part.hover()
        part.get_by_label("Edit", exact=True).click()
        app.page.get_by_label("Edit the message").fill(text)
        app.page.get_by_role("button", name="Save", exact=True).click()
        expect(part).to_contain_text(text)
    app.messages().last.get_by_label("Regenerate").click()
    app.answered("Anew.")
    expect(app.messages()).to_have_count(1)


@pytest.mark.parametrize("how", ["stopped", "refused"])
def test_a_regenerate_without_a_word_leaves_the_reply(
    app: AppPage, provider: ModelProvider, how: str
) -> None:
    provider.script(says("The first."))
    app.say("Go").answered("The first.")
    provider.script(stream(Stall()) if how == "stopped" else error(401, "Incorrect API key"))
    app.messages().last.get_by_label("Regenerate").click()
    if how == "stopped":
        app.by("stop").click()
    else:
        expect(app.by("error-banner")).to_contain_text("Incorrect API key", timeout=READY)
    app.answered("The first.")
    expect(app.messages("user").last.locator("[data-part=unanswered]")).to_be_hidden()
    expect(app.page.get_by_role("button", name="Undo")).to_be_hidden()
    expect(app.reload().talks_to(NAME).messages().last).to_contain_text("The first.")


def test_undo_leaves_what_was_said_since(app: AppPage, provider: ModelProvider) -> None:
    provider.script(says("A1."), says("A2."), says("A3."))
    app.say("Q1").answered("A1.").say("Q2").answered("A2.")
    menu(app, app.messages("user").first, "Delete")
    app.say("Q3").answered("A3.")
    app.page.get_by_role("button", name="Undo").click()
    expect(app.messages("user").locator(".prose")).to_have_text(["Q1", "Q2", "Q3"])
    expect(app.messages().locator(".prose")).to_have_text(["A1.", "A2.", "A3."])


def test_undo_that_came_too_late_says_so_and_offers_the_old_state(
    app: AppPage, provider: ModelProvider
) -> None:
    provider.script(says("First."), says("Second."), says("Third."))
    app.say("Q1").answered("First.")
    app.messages().last.get_by_label("Regenerate").click()
    app.answered("Second.").say("Q2").answered("Third.")
    app.page.get_by_role("button", name="Undo").click()
    expect(app.by("toast").last).to_contain_text("gone on from the new reply")
    expect(app.messages().locator(".prose")).to_have_text(["Second.", "Third."])
    app.page.get_by_role("button", name="Open as it was").click()
    expect(app.messages().locator(".prose")).to_have_text(["First."])
    expect(app.by("conversation-list").locator(".conversation")).to_have_count(2)


def test_a_message_without_an_answer_says_so_until_it_has_one(
    app: AppPage, provider: ModelProvider
) -> None:
    provider.script(error(401, "Incorrect API key"))
    app.say("Hello?")
    mark = app.messages("user").last.locator("[data-part=unanswered]")
    expect(mark).to_contain_text("refused the API key", timeout=READY)
    app.by("error-banner").get_by_label("Dismiss").click()
    expect(mark).to_be_visible()
    app.reload().talks_to(NAME)
    expect(mark).to_contain_text("Not answered")
    app.use_provider(provider.base_url)
    provider.script(says("Here I am."))
    mark.get_by_role("button", name="Try again").click()
    app.answered("Here I am.")
    expect(mark).to_be_hidden()


def test_each_conversation_keeps_its_own_draft(app: AppPage, provider: ModelProvider) -> None:
    box = app.by("composer")
    provider.script(says("Yes."))
    app.say("bells").answered("Yes.")
    box.fill("half a thought")
    app.by("new-conversation").click()
    expect(box).to_have_value("")
    box.fill("another one")
    app.page.wait_for_timeout(600)
    app.reload().talks_to(NAME)
    listed = app.by("conversation-list").locator(".conversation-open")
    for at, text in ((1, "half a thought"), (0, "another one"), (1, "half a thought")):
        listed.filter(has_text=re.compile("bells" if at else "New")).click()
        expect(box).to_have_value(text)
    provider.script(says("Sent."))
    app.by("send").click()
    app.answered("Sent.").reload().talks_to(NAME)
    expect(box).to_have_value("")


def test_a_message_may_begin_with_an_at(app: AppPage, provider: ModelProvider) -> None:
    box, dialog = app.by("composer"), app.by("command-dialog")
    box.press("@")
    expect(dialog).to_be_visible()
    app.page.keyboard.type("zzz you there?")
    expect(dialog).to_be_hidden()
    expect(box).to_have_value("@zzz you there?")
    box.fill("")
    box.press("@")
    expect(dialog).to_be_visible()
    app.page.keyboard.press("Escape")
    expect(box).to_have_value("@")
    expect(box).to_be_focused()
    provider.script(says("Heard."))
    box.press_sequentially("Wren, hello")
    box.press("Enter")
    app.answered("Heard.")
    assert provider.last_messages()[-1]["content"] == "@Wren, hello"


@pytest.mark.parametrize("how", ["drop", "paste"])
def test_a_picture_does_not_end_the_conversation(
    app: AppPage, provider: ModelProvider, how: str
) -> None:
    provider.script(says("Yes."))
    app.say("Hello").answered("Yes.")
    app.page.evaluate(
        """(how) => {
            const data = new DataTransfer();
            data.items.add(new File([new Uint8Array(9)], "cat.png", {type: "image/png"}));
            const given = {bubbles: true, cancelable: true};
            const event = how === "paste"
                ? new ClipboardEvent("paste", {...given, clipboardData: data})
                : new DragEvent("drop", {...given, dataTransfer: data});
            document.getElementById("composer").dispatchEvent(event);
        }""",
        how,
    )
    expect(app.by("toast").last).to_contain_text("Pictures cannot be sent")
    expect(app.messages().last).to_contain_text("Yes.")
    expect(app.by("composer")).to_be_editable()


def test_a_package_that_cannot_be_played_leaves_the_conversation(
    app: AppPage, provider: ModelProvider, tmp_path: Path
) -> None:
    provider.script(says("Yes."))
    app.say("Hello").answered("Yes.")
    path = tmp_path / "broken.zip"
    path.write_bytes(b"PK no zip at all")
    app.drop_file(path)
    expect(app.by("error-banner")).to_contain_text("The conversation here goes on", timeout=READY)
    expect(app.messages().last).to_contain_text("Yes.")
    expect(app.by("composer")).to_be_editable()


def test_delete_truncate_and_clear_can_be_undone(app: AppPage, provider: ModelProvider) -> None:
    provider.script(says("A1."), says("A2."))
    app.say("Q1").answered("A1.").say("Q2").answered("A2.")
    undo = app.page.get_by_role("button", name="Undo")
    menu(app, app.messages("user").last, "Delete")
    expect(app.messages("user")).to_have_count(1)
    undo.last.click()
    expect(app.messages("user")).to_have_count(2)
    menu(app, app.messages("user").first, "Remove everything after")
    expect(app.messages()).to_have_count(0)
    undo.last.click()
    expect(app.messages()).to_have_count(2)
    app.page.locator("[data-action=chat-menu]").click()
    app.page.get_by_role("menuitem", name="Clear").click()
    expect(app.messages("user")).to_have_count(0)
    undo.last.click()
    expect(app.messages("user")).to_have_count(2)
    expect(app.by("conversation-list").locator(".conversation")).to_have_count(1, timeout=READY)


def test_a_rejected_answer_is_struck_out_and_not_sent(
    app: AppPage, provider: ModelProvider
) -> None:
    provider.script(says("Out of character."), says("Better."))
    app.say("Hello").answered("Out of character.")
    menu(app, app.messages().last, "Mark as unacceptable")
    expect(app.messages().last).to_contain_text("Rejected")
    app.say("Again").answered("Better.")
    assert "Out of character." not in str(provider.last_messages())


def test_a_fork_is_a_conversation_of_its_own(app: AppPage, provider: ModelProvider) -> None:
    provider.script(says("A1."), says("A2."))
    app.say("Q1").answered("A1.").say("Q2").answered("A2.")
    menu(app, app.messages().first, "Fork from here")
    expect(app.messages("user")).to_have_count(1)
    expect(app.by("conversation-list").locator(".conversation")).to_have_count(2)


def test_enter_sends_but_not_while_composing(app: AppPage, provider: ModelProvider) -> None:
    provider.script(says("はい。"))
    box = app.by("composer")
    box.fill("こんにちは")
    box.dispatch_event("compositionstart")
    box.press("Enter")
    box.dispatch_event("compositionend")
    expect(app.messages("user")).to_have_count(0)
    assert box.input_value().startswith("こんにちは")
    box.fill("first")
    box.press("Shift+Enter")
    box.press_sequentially("second")
    box.press("Enter")
    app.answered("はい。")
    assert app.messages("user").last.locator(".prose").inner_text() == "first\nsecond"


def test_escape_stops_and_marks_the_answer(app: AppPage, provider: ModelProvider) -> None:
    provider.script(stream(chunk({"content": "Half"}), Stall()))
    app.say("Go")
    expect(app.messages().last).to_contain_text("Half", timeout=READY)
    app.page.keyboard.press("Escape")
    expect(app.messages().last).to_contain_text("Stopped")


def test_the_keyboard_walks_through_messages_and_acts(
    app: AppPage, provider: ModelProvider
) -> None:
    provider.script(says("A1."))
    app.say("Q1").answered("A1.")
    app.page.keyboard.press("Alt+ArrowUp")
    expect(app.messages().last).to_be_focused()
    app.page.keyboard.press("Alt+ArrowUp")
    expect(app.messages("user").last).to_be_focused()
    app.page.keyboard.press("e")
    editor = app.page.get_by_label("Edit the message")
    expect(editor).to_be_focused()
    editor.press("Escape")
    expect(editor).to_be_hidden()
    app.page.keyboard.press("Delete")
    expect(app.messages("user")).to_have_count(0)


def test_up_in_an_empty_box_edits_the_last_message(app: AppPage, provider: ModelProvider) -> None:
    provider.script(says("A1."), says("A2."))
    app.say("Q1").answered("A1.")
    app.by("composer").press("ArrowUp")
    editor = app.page.get_by_label("Edit the message")
    expect(editor).to_have_value("Q1")
    editor.fill("Q2")
    editor.press("Control+Enter")
    app.answered("A2.")
    assert provider.last_messages()[-1]["content"] == "Q2"


def test_the_view_follows_only_while_the_reader_is_at_the_end(
    app: AppPage, provider: ModelProvider
) -> None:
    lines = [chunk({"content": f"Line {number}.\n\n"}) for number in range(60)]
    last = [chunk({"content": "The last line."}), chunk({}, "stop"), DONE]
    provider.script(stream(*lines, Stall(), *last))
    app.say("Go")
    expect(app.messages().last).to_contain_text("Line 59.", timeout=READY)
    at_end = "(t => t.scrollHeight - t.scrollTop - t.clientHeight)(transcript) < 60"
    app.page.wait_for_function(at_end)
    app.page.locator("#transcript").hover()
    app.page.mouse.wheel(0, -900)
    app.page.wait_for_function(f"!({at_end})")
    top = app.at_rest().evaluate("transcript.scrollTop")
    provider.release()
    app.answered("The last line.")
    assert abs(app.at_rest().evaluate("transcript.scrollTop") - top) <= 1
    app.page.locator("#jump").click()
    app.page.wait_for_function(at_end)


def test_commands_keep_the_text_of_a_refused_input(app: AppPage) -> None:
    app.by("composer").press("@")
    dialog = app.by("command-dialog")
    expect(dialog).to_be_visible()
    app.page.keyboard.press("Enter")
    field = app.page.get_by_label("Text for the command")
    field.fill("no dice at all")
    field.press("Enter")
    expect(dialog.get_by_role("alert")).to_be_visible()
    assert field.input_value() == "no dice at all"
    field.fill("2d6")
    field.press("Enter")
    expect(dialog).to_be_hidden()
    expect(app.by("audit-entry")).to_contain_text("2d6")
    expect(app.by("toast").first).to_contain_text("2d6")


def test_a_rate_limit_is_counted_down_and_can_be_stopped(
    app: AppPage, provider: ModelProvider
) -> None:
    provider.script(error(429, "Slow down", headers={"retry-after": "30"}))
    app.say("Go")
    status = app.page.locator("#status")
    expect(status).to_contain_text(re.compile(r"Trying again in [12]?\d s"))  # no longer 30
    app.by("stop").click()
    expect(app.by("send")).to_be_visible()
    expect(status).to_have_text("")
