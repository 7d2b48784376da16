"""The command palette: find one of the character's commands, give it text, run it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from personae.errors import AgentError, PersonaeError
from personae.ui.composer.command_search import Command, matching_commands
from personae.ui.dom.dispatcher import Dispatcher
from personae.ui.dom.elements import clone, document, fill, part, show
from personae.ui.dom.listeners import Listeners
from personae.ui.dom.templates import load_templates
from personae.unicode import plain, plain_line

_LONGEST_PROBLEM = 2_000
Run = Callable[[str, str], Awaitable[str | None]]


class Palette:
    """Esc closes it; a validation error keeps it open with the text as it was.

    Opened by typing "@", it gives what is no command back as the beginning of a message.
    """

    def __init__(
        self, dispatcher: Dispatcher, run: Run, done: Callable[[str | None], None]
    ) -> None:
        """``done``: gets what is to be in the message box: what began with "@" and is no command,
        nothing when one has run; None: as it is."""
        self._run, self._done = run, done
        self._typed = self._ran = False
        self._dialog: Any = None
        self._commands: list[Command] = []
        self._character = ""
        self._shown: list[Command] = []
        self._chosen: Command | None = None
        self._at = 0
        self._listeners = Listeners()
        dispatcher.on("input", "palette-query", lambda *_: self._filter())
        dispatcher.on(
            "action", "palette-pick", lambda element, _: self._pick(int(element.dataset.at))
        )
        dispatcher.on("action", "palette-back", lambda *_: self._show_list())
        dispatcher.on("submit", "palette-run", lambda *_: self._execute())

    async def open(self, commands: list[Command], character: str, query: str | None = None) -> None:
        """``query``: what was typed behind an "@" so far; None: it was opened otherwise."""
        await load_templates("dialogs")
        if self._dialog is None:
            self._dialog = clone("palette")
            document.body.appendChild(self._dialog)
            self._listeners.on(part(self._dialog, "query"), "keydown", self._key)
            self._listeners.on(part(self._dialog, "args"), "keydown", self._args_key)
            self._listeners.on(self._dialog, "close", lambda _: self._closed())
        self._commands, self._character = commands, character
        self._typed, self._ran = query is not None, False
        part(self._dialog, "query").value = query or ""
        self._dialog.showModal()
        self._show_list()

    def _closed(self) -> None:
        query = str(part(self._dialog, "query").value).removeprefix("@")
        unused = "" if self._ran else f"@{query}"
        self._done(unused if self._typed else None)

    def _show_list(self) -> None:
        self._chosen = None
        show(part(self._dialog, "choose"), True)
        show(part(self._dialog, "run"), False)
        self._filter()
        part(self._dialog, "query").focus()

    def _filter(self) -> None:
        self._shown = matching_commands(self._commands, str(part(self._dialog, "query").value))
        if self._typed and not self._shown:
            self._dialog.close()
            return
        part(self._dialog, "list").replaceChildren(
            *[_item(command, at) for at, command in enumerate(self._shown)]
        )
        empty = part(self._dialog, "empty")
        empty.textContent = (
            "No command of that name." if self._commands else "This character has no commands."
        )
        show(empty, not self._shown)
        self._select(0)

    def _select(self, at: int) -> None:
        self._at = at % len(self._shown) if self._shown else 0
        query = part(self._dialog, "query")
        query.removeAttribute("aria-activedescendant")
        for number, node in enumerate(list(part(self._dialog, "list").children)):
            chosen = number == self._at
            node.setAttribute("aria-selected", "true" if chosen else "false")
            if chosen:
                query.setAttribute("aria-activedescendant", node.id)
                node.scrollIntoView(block="nearest")

    def _key(self, event: Any) -> None:
        if event.isComposing:
            return
        moves = {"ArrowDown": 1, "ArrowUp": -1}
        if event.key in moves:
            event.preventDefault()
            self._select(self._at + moves[event.key])
        elif event.key in ("Enter", "Tab") and self._shown and not event.shiftKey:
            event.preventDefault()
            self._pick(self._at)

    def _pick(self, at: int) -> None:
        self._chosen = self._shown[at]
        run = part(self._dialog, "run")
        fill(run, name=f"@{self._chosen['name']}", agent=self._chosen["agentId"])
        part(run, "args").value = ""
        self._show_problem("")
        show(part(self._dialog, "choose"), False)
        show(run, True)
        part(run, "args").focus()

    def _args_key(self, event: Any) -> Any:
        if event.key == "Enter" and not event.shiftKey and not event.isComposing:
            event.preventDefault()
            part(self._dialog, "run").requestSubmit()

    async def _execute(self) -> None:
        if self._chosen is None:
            return
        run = part(self._dialog, "run")
        button = part(run, "submit")
        if button.disabled:
            return
        button.disabled = True
        agent = ""
        try:
            problem = await self._run(self._chosen["name"], str(part(run, "args").value))
            agent = self._chosen["agentId"]
        except AgentError as error:
            problem, agent = error.message, str(error.detail.get("agentId", ""))
        except PersonaeError as error:
            problem = error.message
        finally:
            button.disabled = False
        if problem is None:
            self._ran = True
            self._dialog.close()
        else:
            self._show_problem(problem or "The command was not accepted.", agent if problem else "")
            part(run, "args").focus()

    def _show_problem(self, text: str, agent: str = "") -> None:
        """``agent``: whose text it is when it is not ours."""
        box = part(self._dialog, "problem")
        fill(box, problem_text=plain(text)[:_LONGEST_PROBLEM], problem_agent=plain_line(agent, 60))
        fill(box, problem_character=plain_line(self._character, 60))
        show(part(box, "problem-from"), bool(agent))
        show(box, bool(text))
        part(self._dialog, "args").setAttribute("aria-invalid", "true" if text else "false")


def _item(command: Command, at: int) -> Any:
    node = clone("palette-item")
    node.id = f"palette-item-{at}"
    node.dataset.at = str(at)
    fill(
        node,
        name=f"@{command['name']}",
        description=plain_line(command.get("description") or "", 160),
        agent=command["agentId"],
    )
    return node
