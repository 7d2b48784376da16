"""The settings' part about the provider: what is taken, kept and asked, and where keys go."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from personae.credentials import origin_of
from personae.errors import ModelError
from personae.llm.provider.client import ChatClient
from personae.ports import HttpRequest
from personae.storage.saver import Saver
from personae.ui.settings import app_settings
from personae.ui.settings.app_settings import Settings
from personae.ui.settings.provider_form import ProviderForm
from personae.ui.settings.providers import PRESETS

from tests.fakes import FakeClock, FakeNotifier, FakeResponse, FakeStorage, breathe

KEY = "sk-very-secret-key"
HERE, THERE = "https://here.example/v1", "https://there.example/v1"
ANSWER = {"choices": [{"message": {"content": "OK"}, "finish_reason": "stop"}]}


class Transport:
    """Answers every request alike, and remembers them."""

    def __init__(self, body: object = ANSWER, status: int = 200) -> None:
        self.body, self.status = body, status
        self.requests: list[HttpRequest] = []
        self.answer: FakeResponse | ModelError | None = None
        """What it answers instead."""

    async def open(self, request: HttpRequest) -> FakeResponse:
        self.requests.append(request)
        await asyncio.sleep(0)
        if isinstance(self.answer, ModelError):
            raise self.answer
        if self.answer is not None:
            return self.answer
        text = self.body if isinstance(self.body, str) else json.dumps(self.body)
        return FakeResponse([text.encode()], self.status)

    def sent(self) -> list[tuple[str, str | None]]:
        return [(seen.url, seen.headers.get("Authorization")) for seen in self.requests]


def form(
    transport: Transport, chosen: Settings | None = None, clock: FakeClock | None = None
) -> ProviderForm:
    made = ProviderForm(
        ChatClient(transport, clock or FakeClock()),
        lambda changed: None,
        lambda: None,
        relay_url="https://player.example/v1",
    )
    made.show(chosen or Settings())
    return made


def entered(base_url: str = HERE, key: str = KEY, model: str = "m") -> Settings:
    return Settings(base_url=base_url, model=model).with_key(key)


async def test_stepping_through_the_providers_sends_nothing() -> None:
    transport = Transport()
    steps = form(transport, entered())
    for preset in PRESETS:
        steps.choose(preset.id)
        await breathe()
    assert transport.requests == []


async def test_a_base_url_that_is_typed_is_not_asked_and_not_taken() -> None:
    transport = Transport()
    typing = form(transport, entered())
    for length in range(len(THERE) + 1):
        typing.type_base_url(THERE[:length])
        await breathe()
    assert (transport.requests, typing.settings.base_url) == ([], HERE)
    assert typing.leave_base_url()
    assert typing.settings.base_url == THERE


async def test_another_base_url_does_not_get_the_key() -> None:
    transport = Transport({"data": [{"id": "b"}, {"id": "a"}]})
    moving = form(transport, entered())
    moving.type_base_url(THERE)
    await moving.list_models()
    moving.type_base_url(HERE)
    await moving.list_models()
    assert transport.sent() == [(f"{THERE}/models", None), (f"{HERE}/models", f"Bearer {KEY}")]
    assert moving.models == ("a", "b")


async def test_switching_providers_and_back_loses_nothing() -> None:
    steps = form(Transport())
    steps.choose("openai")
    steps.type_key("sk-openai")
    steps.take(app_settings.with_field(steps.settings, "model", "gpt"))
    steps.choose("custom")
    steps.type_base_url(f"{HERE}/chat/completions")
    steps.leave_base_url()
    steps.type_key("sk-custom")
    steps.take(app_settings.with_field(steps.settings, "worker_model", "small"))
    steps.choose("groq")
    assert (steps.key, steps.settings.model) == ("", "")
    steps.choose("openai")
    assert (steps.key, steps.settings.model) == ("sk-openai", "gpt")
    steps.choose("custom")
    assert (steps.key, steps.draft, steps.settings.worker_model) == ("sk-custom", HERE, "small")
    steps.choose("rehearsal")
    assert (steps.key, steps.settings.model) == ("", "rehearsal")


async def test_a_base_url_that_cannot_be_taken_is_still_there_on_the_way_back() -> None:
    steps = form(Transport(), entered())
    steps.type_base_url("https://me@nowhere.example/v1")
    steps.choose("openai")
    assert (steps.draft, steps.complaint) == ("https://api.openai.com/v1", "")
    steps.choose("custom")
    assert steps.draft == "https://me@nowhere.example/v1"
    assert "field of its own" in steps.complaint
    assert steps.settings.base_url == HERE


@pytest.mark.parametrize("base_url", ["", "https:", f"https://{KEY}@here.example/v1", KEY])
async def test_without_a_base_url_there_is_nobody_a_key_could_belong_to(base_url: str) -> None:
    transport = Transport()
    steps = form(transport)
    steps.type_base_url(base_url)
    steps.type_key(KEY)
    await steps.list_models()
    _, said = await steps.test()
    assert (steps.takes_key, bool(steps.settings.keys)) == (False, False)
    assert (transport.requests, KEY in f"{said}{steps.note}{steps.complaint}") == ([], False)


@pytest.mark.parametrize(
    ("pasted", "asked"),
    [
        (f"{HERE}/chat/completions", HERE),
        (f"{HERE}/", HERE),
        (f" {HERE}/chat/completions/ ", HERE),
    ],
)
async def test_what_chat_makes_of_a_pasted_url_the_settings_make_too(
    pasted: str, asked: str
) -> None:
    transport = Transport()
    steps = form(transport, Settings(model="m"))
    steps.type_base_url(pasted)
    assert await steps.test() == ("good", "m answers.")
    await steps.list_models()
    assert [url for url, _ in transport.sent()] == [f"{asked}/chat/completions", f"{asked}/models"]


async def test_a_query_stays_where_it_belongs() -> None:
    transport = Transport()
    steps = form(transport, Settings(model="m"))
    steps.type_base_url(f"{HERE}/chat/completions?api-version=2024-05-01-preview")
    await steps.test()
    await steps.list_models()
    query = "?api-version=2024-05-01-preview"
    assert [url for url, _ in transport.sent()] == [
        f"{HERE}/chat/completions{query}",
        f"{HERE}/models{query}",
    ]


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (401, f"Incorrect API key provided: {KEY}"),
        (400, "x" * 590 + KEY),
        (500, f"{KEY} is not welcome"),
    ],
)
async def test_the_key_is_in_nothing_that_is_shown(status: int, said: str) -> None:
    steps = form(Transport({"error": {"message": said}}, status), entered())
    tone, shown = await steps.test()
    assert (tone, KEY[:12] in shown) == ("bad", False)
    await steps.list_models()
    assert "No list of models" in steps.note
    assert KEY[:12] not in steps.note


async def test_a_test_asks_once() -> None:
    transport = Transport({"error": {"message": "down"}}, 503)
    tone, said = await form(transport, entered()).test()
    assert (tone, len(transport.requests)) == ("bad", 1)
    assert "down" in said


async def test_a_test_streams_and_waits_as_long_as_a_chat_does() -> None:
    clock, pieces = FakeClock(), [b": one moment\n\n", asyncio.Event()]
    transport = Transport()
    transport.answer = FakeResponse(pieces)
    task = asyncio.ensure_future(form(transport, entered(), clock).test())
    await breathe()
    await clock.advance(250_000)
    assert not task.done()
    await clock.advance(100_000)
    tone, said = await task
    assert (tone, "300 seconds" in said) == ("bad", True)
    assert json.loads(transport.requests[0].body or "")["stream"] is True


async def test_a_test_is_over_with_the_first_word() -> None:
    transport = Transport()
    first = b'data: {"choices": [{"index": 0, "delta": {"content": "O"}}]}\n\n'
    transport.answer = FakeResponse([first, asyncio.Event()])
    assert await form(transport, entered()).test() == ("good", "m answers.")


@pytest.mark.parametrize("url", [HERE, "http://localhost:8000/v1"])
async def test_a_refusal_that_the_browser_hides_may_be_the_keys(url: str) -> None:
    transport = Transport()
    transport.answer = ModelError("model_unreachable", "No answer. Check the base URL.")
    tone, said = await form(transport, entered(url)).test()
    assert (tone, said.startswith("The API key may be wrong")) == ("bad", True)


async def test_a_web_page_in_the_place_of_a_provider_is_the_wrong_address() -> None:
    tone, said = await form(Transport("<html><title>Hi</title>"), entered()).test()
    assert (tone, "base URL" in said) == ("bad", True)


async def test_nothing_to_test_says_so() -> None:
    assert (await form(Transport()).test())[0] == "good"
    assert (await form(Transport(), Settings(base_url=HERE)).test())[0] == "bad"


@pytest.mark.parametrize(
    ("listed", "first"),
    [
        (["only"], "only"),
        (["text-embedding-3-large", "whisper-1", "talks", "a"], "talks"),
        (["omni-moderation-latest", "dall-e-3"], ""),
        ([], ""),
    ],
)
async def test_a_provider_always_has_its_first_model_that_can_talk(
    listed: list[str], first: str
) -> None:
    asking = form(Transport({"data": listed}), Settings(base_url=HERE))
    await asking.list_models()
    assert asking.settings.model == first
    assert first in asking.note


async def test_a_model_that_was_chosen_stays() -> None:
    asking = form(Transport({"data": ["first"]}), entered(model="mine"))
    await asking.list_models()
    assert asking.settings.model == "mine"


async def test_done_asks_for_the_models_of_a_provider_that_has_none_chosen() -> None:
    transport = Transport({"data": ["first", "second"]})
    steps = form(transport)
    steps.type_base_url(HERE)
    steps.type_key(KEY)
    asked = asyncio.ensure_future(steps.list_models())  # the field of the key is left
    await asyncio.sleep(0)
    assert await steps.finish()
    await asked
    assert (steps.settings.model, transport.sent()) == (
        "first",
        [(f"{HERE}/models", f"Bearer {KEY}")],
    )


@pytest.mark.parametrize(
    "transport", [Transport("down", 503), Transport({"data": ["whisper-1"]}), Transport("<html>")]
)
async def test_done_says_when_a_provider_has_no_model(transport: Transport) -> None:
    steps = form(transport, Settings(base_url=HERE).with_key(KEY))
    assert not await steps.finish()
    assert steps.note.startswith("Type the name of a main model.")
    assert steps.settings.player_options()["model"] == ""
    steps.take(app_settings.with_field(steps.settings, "model", "typed"))
    assert await steps.finish()


async def test_done_says_when_a_base_url_cannot_be_taken() -> None:
    steps = form(Transport())
    steps.type_base_url("https:")
    assert (await steps.finish(), bool(steps.complaint)) == (False, True)
    assert await form(Transport()).finish(), "nobody has to choose a provider"


async def test_an_answer_that_comes_after_another_choice_is_not_shown() -> None:
    steps = form(Transport({"data": ["late"]}), entered())
    asking = asyncio.ensure_future(steps.list_models())
    await asyncio.sleep(0)
    steps.choose("openai")
    await asking
    assert (steps.models, steps.note) == ((), "")


# Whatever the user does, a key goes to its own origin


@dataclass
class Desk:
    """The real settings over a recording transport and storage, driven step by step."""

    storage: FakeStorage = field(default_factory=FakeStorage)
    transport: Transport = field(default_factory=lambda: Transport({"data": [{"id": "m"}]}))
    entered: dict[str, str] = field(default_factory=dict)
    """Key -> the origin that the base URL had when it was typed."""

    def __post_init__(self) -> None:
        self.form = form(self.transport)

    async def do(self, step: tuple[str, str]) -> None:
        name, what = step
        if name == "key":
            key = f"sk-key-number-{len(self.entered):04d}"
            self.form.type_key(key)
            self.entered[key] = origin_of(self.form.settings.base_url)
        elif name == "url":
            self.form.type_base_url(what)
        elif name == "choose":
            self.form.choose(what)
        elif name == "keep":
            self.form.keep_key(what == "device")
        elif name == "reload":
            await self.reload()
        elif name == "restore":
            found = json.loads(what)
            self.form.show(app_settings.restored(self.form.settings, found))
        else:
            form = self.form
            work = {"leave": self.leave, "models": form.list_models, "test": form.test}
            work["finish"] = form.finish
            await work[name]()

    async def leave(self) -> None:
        if self.form.leave_base_url():
            await self.form.list_models()

    async def reload(self) -> None:
        saver = Saver(self.storage, FakeClock(), FakeNotifier())
        await app_settings.save(saver, self.form.settings)
        self.form.show(await app_settings.load(self.storage))

    def strays(self) -> list[tuple[str, str]]:
        """Requests that carried a key to another origin than its own."""
        return [
            (request.url, key)
            for request in self.transport.requests
            for key, origin in self.entered.items()
            if key in f"{request.headers}{request.url}{request.body}"
            and origin_of(request.url) != origin
        ]


_URLS = (
    HERE,
    THERE,
    "http://here.example/v1",
    "https://here.example:8443/v1",
    "https://here.exam",
    "https://here.example@evil.example/v1",
    "https://here.example\\@evil.example",
    "//evil.example/v1",
    "https://api.openai.com/v1",
    "",
)
_RESTORED = json.dumps(
    {"base_url": "https://evil.example/v1", "model": "m", "temperature": 1, "keys": {}}
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("url"), st.sampled_from(_URLS)),
        st.tuples(st.just("choose"), st.sampled_from([preset.id for preset in PRESETS])),
        st.tuples(st.just("keep"), st.sampled_from(["device", "session"])),
        st.tuples(st.just("restore"), st.just(_RESTORED)),
        *(st.just((name, "")) for name in ("key", "leave", "models", "test", "finish", "reload")),
    ),
    min_size=5,
    max_size=40,
)


@settings(max_examples=150, deadline=None)
@given(STEPS)
def test_no_request_carries_a_key_to_another_origin_than_its_own(
    steps: Sequence[tuple[str, str]],
) -> None:
    async def play() -> Desk:
        desk = Desk()
        for step in steps:
            await desk.do(step)
        desk.form.take(app_settings.with_field(desk.form.settings, "model", "m"))
        await desk.form.test()
        return desk

    assert asyncio.run(play()).strays() == []
