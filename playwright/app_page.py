"""The app as a test sees it: by test ids, in a user's words."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Locator, Page, expect

READY = 60_000
"""Milliseconds that anything may take on a slow machine that is busy."""

KEPT = """async () => {
    const found = [JSON.stringify(localStorage), JSON.stringify(sessionStorage)];
    for (const {name} of await indexedDB.databases()) {
        const open = (resolve) => {
            const request = indexedDB.open(name);
            request.onsuccess = () => resolve(request.result);
        };
        const database = await new Promise(open);
        for (const table of database.objectStoreNames) {
            const all = database.transaction(table).objectStore(table).getAll();
            await new Promise((resolve) => (all.onsuccess = resolve));
            found.push(JSON.stringify(all.result));
        }
        database.close();
    }
    return found.join();
}"""

AT_REST = """(wanted) => new Promise((resolve) => {
    const rows = () => [...feed.children].map((row) => row.dataset.entryId);
    const look = () => String([transcript.scrollTop, transcript.scrollHeight, rows()]);
    let seen = "", frames = 0;
    const frame = () => {
        frames = look() === seen ? frames + 1 : 0;
        seen = look();
        if (frames < wanted) requestAnimationFrame(frame);
        else resolve();
    };
    frame();
})"""


class AppPage:
    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url

    def open(self, query: str = "") -> AppPage:
        self.page.goto(f"{self.url}/{query}")
        return self.started()

    def reload(self) -> AppPage:
        self.page.reload()
        return self.started()

    def started(self) -> AppPage:
        self.page.wait_for_selector("html[data-started]", state="attached", timeout=READY)
        return self

    def run_python(self, code: str) -> None:
        """Adds a PyScript script to the page, as a host may; it runs in the page's interpreter."""
        self.page.evaluate(
            """code => {
                const script = document.createElement("script");
                script.type = "py";
                script.textContent = code;
                document.body.append(script);
            }""",
            code,
        )

    def kept(self) -> str:
        """Everything in the page's storage, as text."""
        return str(self.page.evaluate(KEPT))

    def at_rest(self, frames: int = 20) -> Page:
        """The page once nothing in the transcript has moved for so many frames."""
        self.page.evaluate(AT_REST, frames)
        return self.page

    def by(self, test_id: str) -> Locator:
        return self.page.get_by_test_id(test_id)

    def open_sample(self) -> AppPage:
        """Opens the character that a first visit offers."""
        self.by("offer").first.click()
        return self.talks_to("Wren Tallow")

    def open_link(self, link: str) -> AppPage:
        self.by("load-url").fill(link)
        self.by("load-url").press("Enter")
        return self

    def open_file(self, path: Path) -> AppPage:
        self.by("load-file").set_input_files(path)
        return self

    def drop_file(self, path: Path) -> AppPage:
        """Drops the file on the page, as a drag from the desktop does."""
        self.page.evaluate(
            """async ([name, bytes]) => {
                const data = new DataTransfer();
                data.items.add(new File([new Uint8Array(bytes)], name, {type: "application/zip"}));
                for (const type of ["dragenter", "dragover", "drop"])
                    document.body.dispatchEvent(new DragEvent(type, {
                        bubbles: true, cancelable: true, dataTransfer: data,
                    }));
            }""",
            [path.name, list(path.read_bytes())],
        )
        return self

    def talks_to(self, name: str) -> AppPage:
        """Waits until the character is there and can be written to."""
        expect(self.by("character-name").first).to_have_text(name, timeout=READY)
        expect(self.by("composer")).to_be_editable(timeout=READY)
        return self

    def use_provider(self, base_url: str, *, key: str = "sk-test", model: str = "test") -> AppPage:
        self.page.locator('[data-action="open-settings"]').first.click()
        self.by("base-url").fill(base_url)
        self.by("api-key").fill(key)
        self.by("model-main").fill(model)
        self.page.keyboard.press("Escape")
        expect(self.by("settings")).to_be_hidden()
        return self

    def say(self, text: str) -> AppPage:
        self.by("composer").fill(text)
        self.by("send").click()
        return self

    def messages(self, role: str = "assistant") -> Locator:
        return self.page.locator(f'[data-testid="message"][data-role="{role}"]')

    def answered(self, text: str, *, timeout: int = READY) -> AppPage:
        """Waits until the newest answer contains ``text`` and the turn has ended."""
        expect(self.messages().last).to_contain_text(text, timeout=timeout)
        expect(self.by("send")).to_be_visible(timeout=timeout)
        return self
