"""Whatever a user does in whatever order, stopped at any request or call: what is stored is what is
shown, every call has one result, no number is handed out twice, and nothing is left behind."""

from __future__ import annotations

import asyncio
import contextlib
import random

import pytest
from personae.conversation.call_numbers import numbers
from personae.conversation.entry_json import entry_from_json
from personae.conversation.repair import open_calls
from personae.errors import UsageError
from personae.player.character_player import CharacterPlayer

from tests.player.support import World, agent, breathe, package, playing

ACTIONS = (
    *("send", "send", "send", "regenerate", "resubmit", "continue", "edit", "delete"),
    *("reject", "truncate", "clear", "fork", "new", "load", "reopen"),
)
HOOKS = ("beforeResponse", "afterResponse", "afterToolCall", "afterUserEdit")
CHARACTER = package(agent("a", "act", hooks=HOOKS, preload=True), agent("b", hooks=HOOKS))


class Play:
    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.numbers: list[tuple[str, int]] = []
        self.stop_in = 0
        self.player: CharacterPlayer
        hooks = dict.fromkeys(("onBeforeResponse", "onAfterResponse"), self.hook)
        functions = {**hooks, "onAfterToolCall": self.hook, "onAfterUserEdit": self.hook}
        act = {"onToolCall": self.act, "onLoad": lambda store, *_: str(store)}
        self.world = World({"a": {**functions, **act}, "b": functions})
        self.world.transport.on_open = self.asked

    def moment(self) -> None:
        self.stop_in -= 1
        if self.stop_in == 0:
            self.player.stop()

    def act(self, name, args, store, studio, context):
        self.numbers.append((self.player.conversation_id, context["toolCallId"]))
        self.hook(args, store)
        return "done"

    def hook(self, event, store, *_):
        self.moment()
        store["n"] = store.get("n", 0) + 1
        if self.chance.random() < 0.1:
            raise RuntimeError("broken")

    async def asked(self) -> None:
        self.moment()
        if self.chance.random() < 0.4:
            self.world.transport.calls(("act", {}), ("act", "{"), ("none", {}))
        else:
            self.world.transport.says("said ", "so")

    async def do(self, action: str) -> None:
        player, chance = self.player, self.chance
        entry = chance.choice(player.entries).id if player.entries else "e"
        match action:
            case "send":
                await player.send("Hello")
            case "regenerate":
                await player.regenerate()
            case "resubmit":
                await player.resubmit(entry, "Again")
            case "continue":
                await player.continue_()
            case "edit":
                await player.edit(entry, "Other")
            case "clear":
                await player.clear()
            case "fork":
                await player.fork(entry)
            case "new":
                await player.new_conversation()
            case "load":
                listed = await player.list_conversations()
                await player.load_conversation(chance.choice(listed)["id"])
            case _:
                await getattr(player, action)(entry)

    def check(self) -> None:
        player, mine = self.player, self.player.conversation_id
        stored = self.world.storage.json("entries")
        records = [entry_from_json(v) for key, v in sorted(stored.items()) if key[0] == mine]
        assert records == player.entries
        assert list(open_calls(player.entries)) == []
        assert len(set(self.numbers)) == len(self.numbers)
        head = self.world.storage.json("conversations")[player.character_id, mine]
        assert head["lastToolCallId"] >= max(numbers(player.entries), default=0)


@pytest.mark.parametrize("seed", range(12))
async def test_what_is_shown_is_stored_and_nothing_is_left_behind(seed: int) -> None:
    play = Play(seed)
    chance = play.chance
    for _ in range(4):
        async with playing(play.world, CHARACTER) as play.player:
            for action in chance.choices(ACTIONS, k=6):
                if action == "reopen":
                    break
                play.stop_in = chance.randint(1, 12) if chance.random() < 0.4 else 0
                with contextlib.suppress(UsageError):  # nothing there to do it with
                    await play.do(action)
                await breathe(200)
                play.check()
        assert play.world.locks.held == set()
    await breathe()
    names = {task.get_coro().__qualname__ for task in asyncio.all_tasks()}  # type: ignore[union-attr]
    assert not any(name.startswith(("OpenConversation", "CharacterPlayer")) for name in names)
