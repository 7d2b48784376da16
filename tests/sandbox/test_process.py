"""The player's view of one agent, against workers that answer, fall silent, or lie."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from personae.errors import AgentError
from personae.protocol import limit
from personae.sandbox.process import AgentProcess, StoreText
from personae.written import Written, written

from tests.fakes import FakeClock, breathe
from tests.sandbox.fakes import FakeBridge, FakeSandbox, FakeWorker, program

EMPTY = StoreText(0, "{}")


def echo(worker: FakeWorker, message: dict[str, Any], store: str | None) -> None:
    if message["type"] == "call":
        worker.say("result", call=message["call"], value=message["function"])


class Rig:
    def __init__(self, behave: Any = echo, **fields: Any) -> None:
        self.sandbox = FakeSandbox(behave)
        self.clock = FakeClock()
        self.bridge = FakeBridge()
        self.process = AgentProcess(program(**fields), self.sandbox, self.clock, self.bridge.notice)

    def call(self, function: str = "onLoad", store: StoreText = EMPTY, **extra: Any) -> Any:
        return asyncio.ensure_future(
            self.process.call(
                function, Written("[]"), context={}, store=store, serve=self.bridge.request, **extra
            )
        )

    async def failure(self, **extra: Any) -> AgentError:
        with pytest.raises(AgentError) as caught:
            await self.call(**extra)
        assert caught.value.detail["agentId"] == "t.agent"
        return caught.value

    @property
    def worker(self) -> FakeWorker:
        return self.sandbox.workers[-1]


async def test_the_first_call_starts_the_worker_and_loads_the_agent() -> None:
    rig = Rig()
    assert rig.process.state == "closed"
    assert (await rig.call()).value == "onLoad"
    assert rig.process.state == "idle"
    assert rig.process.exports == {"onLoad", "onToolCall"}
    assert [message["type"] for message in rig.worker.got] == ["load", "call"]
    await rig.call()
    assert len(rig.sandbox.workers) == 1


async def test_a_worker_is_told_every_function_that_the_contract_names() -> None:
    rig = Rig()
    await rig.call()
    assert rig.worker.got[0]["functions"] == [
        *("onLoad", "onToolCall"),
        *("onConversationStart", "onBeforeResponse", "onAfterResponse"),
        *("onAfterToolCall", "onAfterUserEdit"),
    ]


async def test_calls_are_answered_one_after_the_other() -> None:
    rig = Rig()
    answers = await asyncio.gather(*(rig.call(name) for name in ("a", "b", "c")))
    assert [answer.value for answer in answers] == ["a", "b", "c"]


async def test_a_store_is_sent_only_when_the_worker_has_another() -> None:
    def change(worker: FakeWorker, message: dict[str, Any], store: str | None) -> None:
        changed = '{"n":1}' if message["function"] == "change" else None
        worker.say("result", call=message["call"], store=changed)

    rig = Rig(change)
    assert (await rig.call()).store is None
    changed = (await rig.call("change")).store
    assert changed == StoreText(1, '{"n":1}')
    await rig.call(store=changed)
    await rig.call(store=EMPTY)
    assert rig.worker.stores[1:] == ["{}", None, None, "{}"]


async def test_the_same_version_of_another_conversation_is_another_store() -> None:
    rig = Rig()
    await rig.call(store=StoreText(3, '{"mine":1}'))
    await rig.call(store=StoreText(3, '{"yours":1}'))
    assert rig.worker.stores[1:] == ['{"mine":1}', '{"yours":1}']


async def test_what_an_agent_throws_is_told_and_its_store_forgotten() -> None:
    def throw(worker: FakeWorker, message: dict[str, Any], store: str | None) -> None:
        place = {"name": "RangeError", "file": "agents/t.agent.js", "line": 7, "stack": "at x"}
        worker.say("error", call=message["call"], kind="threw", message="boom", **place)

    rig = Rig(throw)
    error = await rig.failure(function="onToolCall")
    assert (error.code, error.detail) == (
        "agent_threw",
        {
            "agentId": "t.agent",
            "function": "onToolCall",
            "thrown": "RangeError: boom",
            "told": "boom",
            "type": "RangeError",
            "file": "agents/t.agent.js",
            "line": 7,
            "stack": "at x",
        },
    )
    assert error.message == (
        "Agent “t.agent” failed in onToolCall (agents/t.agent.js, line 7): RangeError: boom"
    )
    await rig.failure()
    assert not rig.worker.ended
    assert rig.worker.stores[1:] == ["{}", "{}"]


@pytest.mark.parametrize(
    ("apis", "extra", "deadline"),
    [
        ((), {}, 8_000),
        (("studio.model",), {}, 120_000),
        (("studio.model",), {"deadline": 8_000}, 8_000),
    ],
)
async def test_a_call_past_its_deadline_ends_the_worker(
    apis: tuple[str, ...], extra: dict[str, Any], deadline: int
) -> None:
    def silent(worker: FakeWorker, message: dict[str, Any], store: str | None) -> None:
        if len(rig.sandbox.workers) > 1:
            echo(worker, message, store)

    rig = Rig(silent, apis=apis)
    waiting = rig.call("onToolCall", **extra)
    await rig.clock.advance(deadline - 1)
    assert not waiting.done()
    await rig.clock.advance(1)
    with pytest.raises(AgentError, match=r"onToolCall") as caught:
        await waiting
    assert caught.value.code == "agent_deadline"
    assert rig.worker.ended
    assert (await rig.call()).value == "onLoad"


async def test_the_user_stopping_a_call_ends_the_worker() -> None:
    rig = Rig(lambda worker, message, store: None)
    waiting = rig.call()
    await breathe()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert rig.worker.ended


async def test_loading_has_its_own_deadline() -> None:
    rig = Rig()
    rig.sandbox._answer = lambda worker, message, store: None  # type: ignore[method-assign]
    waiting = rig.call()
    await rig.clock.advance(10_000)
    with pytest.raises(AgentError, match="its module"):
        await waiting
    assert rig.worker.ended


async def test_a_module_that_does_not_load_says_why() -> None:
    rig = Rig()
    rig.sandbox._answer = (  # type: ignore[method-assign]
        lambda worker, message, store: worker.say("failed", kind="load", message="line 3: what")
    )
    error = await rig.failure()
    assert error.code == "agent_load_failed"
    assert "line 3: what" in error.message


async def test_a_module_that_does_not_load_is_tried_again_a_minute_later() -> None:
    rig = Rig()
    loads = rig.sandbox._answer
    rig.sandbox._answer = lambda worker, message, store: None  # type: ignore[method-assign]
    waiting = rig.call()
    await rig.clock.advance(10_000)
    with pytest.raises(AgentError, match="its module"):
        await waiting
    rig.sandbox._answer = loads  # type: ignore[method-assign]
    with pytest.raises(AgentError, match="its module"):
        await rig.call()
    assert len(rig.sandbox.workers) == 1
    await rig.clock.advance(60_000)
    await rig.call()
    assert len(rig.sandbox.workers) == 2


async def test_requests_pass_the_gate_and_come_back() -> None:
    def ask(worker: FakeWorker, message: dict[str, Any], store: str | None) -> None:
        if message["type"] == "call":
            for number, name in enumerate(["a.txt", "secret"]):
                worker.say(
                    "request", call=1, request=number, method="context.readFile", arguments=[name]
                )
            worker.say("request", call=1, request=2, method="history.search", arguments=["x"])
        elif len(worker.got) == 5:
            worker.say("result", call=1)

    rig = Rig(ask, apis=("studio.context",))
    await rig.call()
    by_number = {message["request"]: message for message in rig.worker.got[2:]}
    assert by_number[0]["body"] == {"asked": {"name": "a.txt"}}
    assert (by_number[1]["code"], by_number[1]["message"]) == ("refused", "not for you")
    assert "'@api studio.history'" in by_number[2]["message"]
    assert rig.bridge.requests == [
        ("context.readFile", {"name": "a.txt"}),
        ("context.readFile", {"name": "secret"}),
    ]


async def test_a_defect_of_the_player_is_an_answer_too() -> None:
    def ask(worker: FakeWorker, message: dict[str, Any], store: str | None) -> None:
        if message["type"] == "call":
            worker.say("request", call=1, request=1, method="history.search", arguments=["x"])
        else:
            worker.say("result", call=1, value=message["code"])

    async def broken(*values: Any) -> Any:
        raise KeyError("defect")

    rig = Rig(ask, apis=("studio.history",))
    rig.bridge.request = broken  # type: ignore[method-assign]
    told: list[str] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda loop, context: told.append(context["message"])
    )
    assert (await rig.call()).value == "player_failed"
    assert told == ["studio.history.search failed"]


async def test_an_answer_that_comes_after_the_call_is_not_sent() -> None:
    def leave(worker: FakeWorker, message: dict[str, Any], store: str | None) -> None:
        if message["type"] == "call":
            worker.say("request", call=1, request=1, method="history.search", arguments=["x"])
            worker.say("result", call=1)

    rig = Rig(leave, apis=("studio.history",))
    await rig.call()
    await breathe()
    assert [message["type"] for message in rig.worker.got] == ["load", "call"]


async def test_notices_reach_the_bridge_cut_and_well_formed() -> None:
    def note(worker: FakeWorker, message: dict[str, Any], store: str | None) -> None:
        worker.say("notice", kind="log", text="\ud800" + "x" * 20_000)
        worker.say("notice", kind="dropped", text="", dropped=41)
        worker.say("result", call=message["call"])

    rig = Rig(note)
    await rig.call()
    (_, _, text), dropped = rig.bridge.notices
    assert len(text) == limit("noticeCharacters")
    text.encode()
    assert dropped == ("t.agent", "log", "41 more messages of this call were dropped")


def say(**message: Any) -> Callable[[FakeWorker, dict[str, Any], str | None], None]:
    type_ = message.pop("type")

    def behave(worker: FakeWorker, call: dict[str, Any], store: str | None) -> None:
        for _ in range(message.pop("times", 1)):
            worker.say(type_, **message)

    return behave


REQUEST = {"type": "request", "call": 1, "method": "history.search", "arguments": ["x"]}


@pytest.mark.parametrize(
    ("behave", "why"),
    [
        (say(type="made-up"), "never sends"),
        (say(type="ready"), "in state calling"),
        (say(type="reply", request=1, value="forged"), "never sends"),
        (say(type="result", call=99, value="forged"), "call 99"),
        (say(type="error", call=99, kind="threw", message=""), "call 99"),
        (say(**REQUEST, request=1, times=2), "request 1 twice"),
        (say(**{**REQUEST, "call": 7}, request=1), "call 7"),
        (say(type="notice", kind="shout", text=""), "of kind 'shout'"),
        (say(type="notice", kind="log", text="", times=1000), "flood of notices"),
        (say(type="result", call=1, value="x", store="[]"), "no object"),
    ],
)
async def test_a_lying_worker_is_ended(behave: Any, why: str) -> None:
    rig = Rig(behave, apis=("studio.history",))
    error = await rig.failure()
    assert error.code == "agent_protocol"
    assert why in error.message
    assert rig.worker.ended
    rig.sandbox.behave = echo
    assert (await rig.call()).value == "onLoad"


async def test_a_flood_of_requests_ends_the_worker() -> None:
    def behave(worker: FakeWorker, message: dict[str, Any], store: str | None) -> None:
        fields = {key: value for key, value in REQUEST.items() if key != "type"}
        for number in range(limit("openRequests") + 1):
            worker.say("request", request=number, **fields)

    rig = Rig(behave, apis=("studio.history",))
    assert "flood of requests" in (await rig.failure()).message
    await breathe()


async def test_a_result_that_nobody_waits_for_ends_the_worker() -> None:
    rig = Rig()
    await rig.call()
    rig.worker.say("result", call=1, value="again")
    assert rig.worker.ended
    assert rig.process.state == "failed"


async def test_a_crash_is_told_and_the_next_call_starts_afresh() -> None:
    rig = Rig(say(type="crashed", message="out of memory"))
    error = await rig.failure()
    assert error.code == "agent_crashed"
    assert rig.worker.ended
    rig.sandbox.behave = echo
    await rig.call(store=EMPTY)
    assert rig.worker.stores == [None, "{}"]


@pytest.mark.parametrize(
    ("kind", "code", "ended"),
    [
        ("threw", "agent_threw", False),
        ("value", "agent_bad_value", True),
        ("crash", "agent_crashed", True),
        ("missing", "agent_function_missing", False),
        ("too_large", "agent_too_large", True),
        ("memory", "agent_memory", True),
        ("made-up", "agent_threw", False),
    ],
)
async def test_failures_have_codes(kind: str, code: str, ended: bool) -> None:
    rig = Rig(say(type="error", call=1, kind=kind, message="m"))
    assert (await rig.failure()).code == code
    assert rig.worker.ended is ended


@pytest.mark.parametrize("kind", ["threw", "value", "crash", "memory"])
async def test_an_agent_that_failed_is_called_so_until_a_call_ends_well(kind: str) -> None:
    rig = Rig(say(type="error", call=1, kind=kind, message="m"))
    assert rig.process.state == "closed"
    await rig.failure()
    assert rig.process.state == "failed"
    rig.sandbox.behave = echo
    running = rig.call()
    await breathe()
    assert rig.process.state != "failed"
    await running
    assert rig.process.state == "idle"


async def test_another_function_that_works_does_not_hide_one_that_failed() -> None:
    rig = Rig(say(type="error", call=1, kind="threw", message="m"))
    await rig.failure(function="onToolCall")
    rig.sandbox.behave = echo
    await rig.call()
    assert rig.process.state == "failed"
    await rig.call("onToolCall")
    assert rig.process.state == "idle"


async def test_a_call_that_was_stopped_or_an_agent_that_was_closed_did_not_fail() -> None:
    rig = Rig(lambda worker, message, store: None)
    running = rig.call()
    await breathe()
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    assert rig.process.state == "closed"
    waiting = rig.call()
    await breathe()
    rig.process.close()
    with pytest.raises(AgentError):
        await waiting
    assert rig.process.state == "closed"


async def test_closing_fails_what_waits_and_what_comes() -> None:
    rig = Rig(lambda worker, message, store: None)
    waiting = rig.call()
    await breathe()
    rig.process.close()
    with pytest.raises(AgentError) as caught:
        await waiting
    assert caught.value.code == "agent_closed"
    assert (await rig.failure()).code == "agent_closed"
    assert rig.worker.ended
    rig.process.close()


@pytest.mark.parametrize("arguments", [[], ["t", {"a": None, "b": "\n"}]])
async def test_the_context_follows_the_arguments(arguments: list[Any]) -> None:
    rig = Rig()
    given = {"context": {"agentId": "t"}, "store": EMPTY, "serve": rig.bridge.request}
    await rig.process.call("onToolCall", written(arguments), **given)
    assert rig.worker.got[-1]["body"] == [*arguments, {"agentId": "t"}]


async def test_an_answer_that_is_written_already_is_not_written_again() -> None:
    posted: list[str] = []

    async def serve(method: str, arguments: Any) -> Written:
        return Written('{"n" : 1.50}')

    def ask(worker: FakeWorker, message: dict[str, Any], store: str | None) -> None:
        if message["type"] == "call":
            fields = {"call": 1, "request": 1, "method": "history.search", "arguments": ["x"]}
            worker.post = lambda text, store=None: posted.append(text)  # type: ignore[method-assign]
            worker.say("request", **fields)

    rig = Rig(ask, apis=("studio.history",))
    running = asyncio.ensure_future(
        rig.process.call("onLoad", Written("[]"), context={}, store=EMPTY, serve=serve)
    )
    await breathe()
    assert posted == ['{"type":"reply","request":1}\n{"n" : 1.50}']
    running.cancel()
