"""Servers' words for what they refuse: each tells of its quirk; what follows is sent that way."""

from __future__ import annotations

import json
from typing import Any

import pytest
from personae.errors import ModelError
from personae.llm.provider import quirks
from personae.llm.provider.client import ChatClient
from personae.llm.request.body import (
    build_body,
    file_message,
    system_message,
    tool_message,
    user_message,
)
from personae.llm.stream.reply import Reply, Without
from personae.package.model import ToolDefinition

from tests.llm.fakes import FakeResponse, FakeTransport, InstantClock, endpoint_of, said, sse

HERE = endpoint_of("https://here.example/v1", "", "m")
INTRO = {"role": "assistant", "content": "Ahoy."}
SEES = {
    "role": "user",
    "content": [
        {"type": "text", "text": "Look."},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
    ],
}
ASKING = {
    "role": "assistant",
    "content": "",
    "tool_calls": [{"id": "a", "function": {"name": "roll", "arguments": "{}"}}],
}
ROLL = ToolDefinition("roll", "", {"type": "object", "properties": {"on": {"format": "uri"}}})
START = [system_message("Be."), INTRO, user_message("Hi")]
BODY = build_body(START, tools=[ROLL], tool_choice="none")


def refusal(status: int, words: str, **more: Any) -> FakeResponse:
    return FakeResponse([json.dumps({"error": {"message": words, **more}}).encode()], status)


async def played(
    *answers: FakeResponse, body: Any = BODY, memory: Any = None
) -> tuple[list[dict[str, Any]], list[str]]:
    """The bodies that went out until one was taken, and what the user was told."""
    transport = FakeTransport(*answers, said("ok"))
    client = ChatClient(transport, InstantClock(), memory)
    events = [event async for event in client.stream(HERE, body)]
    assert isinstance(events[-1], Reply)
    assert events[-1].text == "ok"
    return transport.bodies, [event.message for event in events if isinstance(event, Without)]


TOOLS = [
    (500, "tools param requires --jinja flag"),
    (500, "this custom template is not supported, try using --jinja"),
    (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
    (400, "registry.ollama.ai/library/gemma3:4b does not support tools"),
    (
        404,
        "No endpoints found that support tool use. To learn more about provider routing, visit x",
    ),
    (400, "`tools` is not supported with this model"),
    (400, "tool calling is not supported with this model"),
    (400, "Function calling is not enabled for models/gemma-3-27b-it"),
    (400, "Tool use with function calling is unsupported by the model."),
    (400, "This model doesn't support tool use."),
    (422, "This model does not support function calling"),
    (400, "Unsupported parameter: 'tools' is not supported with this model."),
    (400, "Unrecognized request argument supplied: tools"),
    (422, "body.tools: Extra inputs are not permitted"),
    (400, "deepseek-reasoner does not support Function Calling"),
    (501, "Tools are not implemented for this model"),
    (400, "Unsupported param: tools"),
]


@pytest.mark.parametrize(("status", "words"), TOOLS)
async def test_who_takes_no_tools_is_asked_without_and_it_is_said_once(
    status: int, words: str
) -> None:
    memory: dict[str, list[str]] = {}
    (first, second), told = await played(refusal(status, words), memory=memory)
    assert first["tools"]
    assert first.keys() - second.keys() == {"tools", "tool_choice"}
    assert [words[:40] in one for one in told] == [True]
    assert await played(memory=memory) == ([second], [])


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (TOOLS[0][1], "--jinja"),
        (TOOLS[2][1], "--tool-call-parser"),
        (TOOLS[3][1], "Ollama lists"),
        ("No endpoints found that support tool use", "OpenRouter lists"),
        ("tool calling is not supported with this model", "Choose a model that supports tool"),
    ],
)
async def test_each_server_has_its_remedy(words: str, remedy: str) -> None:
    _, told = await played(refusal(400, words))
    assert remedy in told[0].rpartition(words)[2]


async def test_a_worker_models_refusal_is_learnt_and_what_was_learnt_can_be_forgotten() -> None:
    memory: dict[str, list[str]] = {}
    transport = FakeTransport(refusal(400, "m does not support tools"), said("ok"), said("ok"))
    client = ChatClient(transport, InstantClock(), memory)
    await client.complete(HERE, BODY)
    assert memory["https://here.example/v1 m"] == ["tools:none"]
    client.forget(HERE)
    await client.complete(HERE, BODY)
    assert ["tools" in body for body in transport.bodies] == [True, False, True]


async def test_rounds_of_another_model_are_told_to_who_takes_no_tools() -> None:
    body = build_body([*START, ASKING, tool_message("a", "a six")], tools=[ROLL])
    (_, second), _ = await played(refusal(400, "m does not support tools"), body=body)
    assert [message["role"] for message in second["messages"]] == [
        *("system", "assistant", "user", "user"),
    ]
    assert "roll" in second["messages"][-1]["content"]
    assert "a six" in second["messages"][-1]["content"]


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "System role not supported"),
        (500, "Error: Jinja Exception: System role not supported"),
        (400, "Developer instruction is not enabled for models/gemma-3-27b-it"),
        (
            400,
            "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
        ),
        (400, "Only user and assistant roles are supported!"),
        (400, "Unexpected role 'system'"),
        (400, "This model does not support system messages"),
        (422, "messages.0.role: Input should be 'user' or 'assistant'"),
        (400, "Please use a valid role: user, model."),
    ],
)
async def test_without_a_system_role_its_text_comes_first(status: int, words: str) -> None:
    memory: dict[str, list[str]] = {}
    (_, second), told = await played(refusal(status, words), memory=memory)
    assert second["messages"] == [{"role": "user", "content": "Be."}, *BODY["messages"][1:]]
    (_, joined), _ = await played(
        refusal(status, words), body=build_body([system_message("Be."), user_message("Hi")])
    )
    assert joined["messages"] == [{"role": "user", "content": "Be.\n\nHi"}]
    assert (told, memory["https://here.example/v1 m"]) == ([], ["system:user"])


ALTERNATE = [
    (400, "Conversation roles must alternate user/assistant/user/assistant/..."),
    (400, "After the optional system message, conversation roles must alternate user/assistant"),
    (
        400,
        "After the (optional) system message(s), user or tool message(s) should alternate with "
        "assistant message(s).",
    ),
    (400, "Please ensure that multiturn requests alternate between user and model."),
    (400, 'messages: first message must use the "user" role'),
    (400, "A conversation must start with a user message. Try again."),
]


def in_turn(messages: list[dict[str, Any]]) -> bool:
    """Whether user and assistant alternate, the user first, with a system message or none."""
    roles = [message["role"] for message in messages]
    roles = roles[1:] if roles[:1] == ["system"] else roles
    return roles == [("user", "assistant")[at % 2] for at in range(len(roles))]


@pytest.mark.parametrize(("status", "words"), ALTERNATE)
@pytest.mark.parametrize(
    "messages",
    [
        START,
        [INTRO, user_message("Hi")],
        [
            system_message("Be."),
            file_message("Context"),
            file_message("More"),
            INTRO,
            user_message("Hi"),
        ],
        [INTRO, user_message("Hi"), user_message("There?"), {**INTRO, "content": "Yes."}],
    ],
)
async def test_strict_turns(status: int, words: str, messages: list[Any]) -> None:
    (first, second), _ = await played(refusal(status, words), body=build_body(messages))
    assert not in_turn(first["messages"])
    assert in_turn(second["messages"])
    both = [" ".join(str(one["content"]) for one in body["messages"]) for body in (first, second)]
    assert all(str(message["content"]) in both[1] for message in messages), both


async def test_strict_turns_that_know_no_system_message() -> None:
    memory: dict[str, list[str]] = {}
    words = ALTERNATE[0][1]
    bodies, _ = await played(refusal(400, words), refusal(400, words), memory=memory)
    last = bodies[-1]["messages"]
    assert in_turn(last)
    assert [message["role"] for message in last] == ["user", "assistant", "user"]
    assert memory["https://here.example/v1 m"] == ["roles:merged", "system:user"]


@pytest.mark.parametrize(
    "words",
    [
        "Expected last role User or Tool (or Assistant with prefix True) for serving but got "
        "assistant",
        "Cannot have 2 or more assistant messages at the end of the list.",
        "This model does not support assistant message prefill. The conversation must end with a "
        "user message.",
        "Assistant response prefill is incompatible with enable_thinking.",
    ],
)
async def test_who_wants_the_user_last(words: str) -> None:
    body = build_body([*START, {**INTRO, "content": "Well…"}])
    (first, second), _ = await played(refusal(400, words), body=body)
    assert second["messages"][:-1] == first["messages"]
    assert second["messages"][-1]["role"] == "user"


@pytest.mark.parametrize(
    ("words", "more"),
    [
        ("Your organization must be verified to stream this model.", {"param": "stream"}),
        (
            "Unsupported value: 'stream' does not support true with this model. "
            "Only the default (false) value is supported.",
            {},
        ),
        ("Streaming is not supported for this model", {}),
        ("Cannot use tools with stream", {}),
        ("This model doesn't support tool use in streaming mode.", {}),
        ("stream=true is not allowed here", {}),
    ],
)
async def test_who_does_not_stream_is_asked_for_the_whole(words: str, more: Any) -> None:
    (first, second), told = await played(refusal(400, words, **more))
    assert (first["stream"], second["stream"]) == (True, False)
    assert first.keys() - second.keys() == {"stream_options"}
    assert told == []


@pytest.mark.parametrize(
    "words",
    [
        "This model only support stream mode, please enable the stream parameter",
        "parameter.enable_thinking must be set to false for non-streaming calls",
        "Non-streaming requests are not supported",
    ],
)
async def test_who_only_streams(words: str) -> None:
    transport = FakeTransport(refusal(400, words), said("ok"))
    reply = await ChatClient(transport, InstantClock()).complete(HERE, BODY)
    assert (reply.text, [body["stream"] for body in transport.bodies]) == ("ok", [False, True])


@pytest.mark.parametrize(
    "words",
    [
        "Invalid schema for function 'roll': In context=('properties', 'on'), 'uri' is not a valid "
        "format.",
        "GenerateContentRequest.tools[0].function_declarations[0].parameters.properties[on]"
        ".format: only 'enum' and 'date-time' are supported for STRING type",
        'Invalid JSON payload received. Unknown name "$ref" at \'tools[0].function_declarations[0]'
        ".parameters': Cannot find field.",
        "JSON schema conversion failed: Unrecognized schema: {}",
        "tools.0.custom.input_schema: JSON schema is invalid",
    ],
)
async def test_schemas_that_are_refused_are_sent_plainer(words: str) -> None:
    (first, second), told = await played(refusal(400, words))
    assert (told, second["tools"][0]["function"]["name"]) == ([], "roll")
    parameters = [body["tools"][0]["function"]["parameters"] for body in (first, second)]
    assert parameters[0]["properties"]["on"] == {"format": "uri"}
    assert parameters[1] == {"type": "object", "properties": {"on": {}}}


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (404, "No endpoints found that support image input"),
        (500, "image input is not supported - hint: you may need to provide the mmproj"),
        (400, "m is not a multimodal model"),
        (400, "Invalid content type. image_url is only supported by certain models."),
        (422, "This model does not support images"),
    ],
)
async def test_pictures_that_are_refused_are_told_in_words(status: int, words: str) -> None:
    body = build_body([system_message("Be."), SEES])
    (_, second), told = await played(refusal(status, words), body=body)
    assert second["messages"][1] == {"role": "user", "content": "Look.\n\n[picture]"}
    assert len(told) == 1


async def test_who_wants_a_user_at_all() -> None:
    body = build_body([system_message("Be.")])
    (_, second), _ = await played(refusal(400, "No user query found in messages."), body=body)
    assert [message["role"] for message in second["messages"]] == ["system", "user"]


TWO = {**ASKING, "tool_calls": [{**ASKING["tool_calls"][0], "id": id_} for id_ in "ab"]}
RESULTS = [tool_message("a", "1"), tool_message("b", "2")]


@pytest.mark.parametrize(
    "words",
    [
        "Jinja Exception: This model only supports single tool-calls at once!",
        "Parallel tool calls are not supported",
    ],
)
async def test_one_call_at_a_time(words: str) -> None:
    body = build_body([user_message("Hi"), TWO, *RESULTS, INTRO], tools=[ROLL])
    (_, second), told = await played(refusal(500, words), body=body)
    messages = second["messages"]
    assert [one["role"] for one in messages] == [
        *("user", "assistant", "tool", "assistant", "tool", "assistant"),
    ]
    asked = [one["tool_calls"][0]["id"] for one in messages if one.get("tool_calls")]
    assert asked == [one["tool_call_id"] for one in messages if one["role"] == "tool"]
    assert ("tools" in second, told) == (True, [])


async def test_no_thoughts_beside_the_text_of_a_round() -> None:
    said_too = {**ASKING, "content": "Let me.", "reasoning_content": "hm"}
    words = "Cannot pass both content and thinking in an assistant message with tool calls!"
    body = build_body([user_message("Hi"), said_too, tool_message("a", "6")])
    (first, second), _ = await played(refusal(500, words), body=body)
    assert first["messages"][1]["reasoning_content"] == "hm"
    assert "reasoning_content" not in second["messages"][1]
    assert second["messages"][1]["content"] == "Let me."


async def test_only_one_system_message_and_that_first() -> None:
    body = build_body([*START, system_message("Be brief.")])
    words = "Jinja Exception: System message must be at the beginning."
    (_, second), _ = await played(refusal(500, words), body=body)
    assert second["messages"] == [system_message("Be.\n\nBe brief."), INTRO, user_message("Hi")]


SIGNED = {
    **ASKING,
    "thinking_blocks": [{"type": "thinking", "thinking": "x", "signature": "s"}],
    "tool_calls": [{**ASKING["tool_calls"][0], "extra_content": {"google": {"sign": "A"}}}],
}


@pytest.mark.parametrize(
    ("words", "gone"),
    [
        ("messages.1.thinking_blocks: Extra inputs are not permitted", "thinking_blocks"),
        ("'messages.1' : property 'extra_content' is unsupported", "extra_content"),
    ],
)
async def test_a_field_that_is_no_longer_wanted_is_dropped_and_that_is_remembered(
    words: str, gone: str
) -> None:
    memory: dict[str, list[str]] = {}
    body = build_body([user_message("Hi"), SIGNED, tool_message("a", "6")])
    (first, second), _ = await played(refusal(400, words), body=body, memory=memory)
    assert (gone in json.dumps(first), gone in json.dumps(second)) == (True, False)
    assert memory["https://here.example/v1"] == [f"drop:{gone}"]
    assert all(quirks.find(name) for name in memory["https://here.example/v1"])


async def test_a_refusal_in_the_stream_is_learnt_from_too() -> None:
    broken = FakeResponse([sse({"error": {"message": "m does not support tools"}})])
    bodies, told = await played(broken)
    assert (len(bodies), len(told)) == (2, 1)


@pytest.mark.parametrize("name", ["drop:content", "drop:role", "drop:a b", "said: hello", "drop:"])
def test_only_facts_are_known(name: str) -> None:
    assert quirks.find(name) is None


CHANCE = [
    (400, "Failed to call a function. Please adjust your prompt.", {"code": "tool_use_failed"}),
    (400, "tool call validation failed: parameters did not match schema", {}),
    (400, "Parsing failed. See 'failed_generation'", {"code": "output_parse_failed"}),
    (500, "error parsing tool call: raw='{', err=unexpected end of JSON input", {}),
    (500, "Failed to parse input at pos 12: <tool_call>", {}),
    (400, "Failed to generate tool_calls. Please adjust your prompt.", {}),
    (500, "gemma4 tool call parsing failed: invalid character '@'", {}),
    (502, "Provider returned error", {"metadata": {"raw": "Failed to parse tool call: x"}}),
]


@pytest.mark.parametrize(("status", "words", "more"), CHANCE)
async def test_a_call_the_provider_could_not_read_is_asked_again_as_it_was(
    status: int, words: str, more: Any
) -> None:
    (first, second), told = await played(refusal(status, words, **more))
    assert (first, told) == (second, [])


async def test_a_reply_that_is_only_a_malformed_call_is_asked_again() -> None:
    bad = FakeResponse(
        [sse({"choices": [{"delta": {}, "finish_reason": "MALFORMED_FUNCTION_CALL"}]})]
    )
    bodies, _ = await played(bad)
    assert len(bodies) == 2


PERMANENT = [
    (429, "You exceeded your current quota", {"code": "insufficient_quota"}, "model_quota"),
    (429, "You exceeded your current quota, please check your plan.", {}, "model_quota"),
    (429, "Rate limit exceeded: free-models-per-day. Add 10 credits", {}, "model_quota"),
    (429, "Insufficient balance or no resource package. Please recharge.", {}, "model_quota"),
    (429, "you have used up your daily free allocation of 10,000 neurons", {}, "model_quota"),
    (403, "Your team has used all available credits", {}, "model_quota"),
    (400, "Your credit balance is too low to access the API", {}, "model_quota"),
    (400, "You have reached your specified API usage limits.", {}, "model_quota"),
    (402, "Insufficient Balance", {}, "model_quota"),
    (
        429,
        "You exceeded your current quota. Please retry in 21s.",
        {"details": [{"violations": [{"quotaId": "GenerateRequestsPerDayPerProject"}]}]},
        "model_quota",
    ),
    (502, "The model service refuses this host", {"code": "relay_refused"}, "model_relay_refused"),
    (500, "Jinja Exception: no such filter", {}, "model_bad_request"),
]


@pytest.mark.parametrize(("status", "words", "more", "code"), PERMANENT)
async def test_what_stays_as_it_is_is_not_asked_again(
    status: int, words: str, more: Any, code: str
) -> None:
    transport = FakeTransport(refusal(status, words, **more))
    with pytest.raises(ModelError) as caught:
        await ChatClient(transport, InstantClock()).complete(HERE, BODY)
    assert (caught.value.code, len(transport.requests)) == (code, 1)


@pytest.mark.parametrize(
    ("words", "more"),
    [
        ("You exceeded your current quota. Please retry in 21.7s.", {}),
        ("You exceeded your current quota.", {"details": [{"retryDelay": "5s"}]}),
        ("Requests rate limit exceeded", {}),
    ],
)
async def test_a_limit_of_a_minute_is_waited_for(words: str, more: Any) -> None:
    bodies, _ = await played(refusal(429, words, **more))
    assert len(bodies) == 2
