"""More of servers' words: which quirk they tell of, or that they tell of none."""

from __future__ import annotations

from typing import Any

import pytest
from personae.llm.provider import faults, quirks
from personae.llm.request.body import Sampling, build_body

from tests.llm.test_refusals import INTRO, RESULTS, ROLL, SEES, START, TWO

PLAIN = build_body(START, tools=[ROLL], sampling=Sampling(0.5, 0.9, 100))
ROUND = build_body(
    [*START, {**TWO, "reasoning_content": "hm"}, *RESULTS], sampling=Sampling(0.5, 0.9, 100)
)
ENDED = build_body([*START, INTRO])
SEEN = build_body([SEES])


@pytest.mark.parametrize(
    ("body", "status", "words", "quirk"),
    [
        (PLAIN, 400, "Roles must alternate between 'user' and 'assistant'", "roles:merged"),
        (
            PLAIN,
            400,
            'messages: roles must alternate between "user" and "assistant", but found multiple '
            '"user" roles in a row',
            "roles:merged",
        ),
        (PLAIN, 500, "Conversations must start with a user prompt", "roles:merged"),
        (PLAIN, 400, "The first message must be from user", "roles:merged"),
        (
            PLAIN,
            400,
            "Please ensure that function call turn comes immediately after a user turn or "
            "after a function response turn.",
            "roles:merged",
        ),
        (PLAIN, 400, "Expected user message first, got assistant", "roles:merged"),
        (
            PLAIN,
            400,
            "Invalid role order: assistant message cannot be the first message",
            "roles:merged",
        ),
        (PLAIN, 400, "Unsupported role: system", "system:user"),
        (PLAIN, 400, "role 'system' is not supported", "system:user"),
        (
            PLAIN,
            400,
            "system is not one of ['user', 'assistant'] - 'messages.0.role'",
            "system:user",
        ),
        (
            PLAIN,
            400,
            "Invalid value: 'system'. Supported values are: 'user', 'assistant'.",
            "system:user",
        ),
        (PLAIN, 400, "System prompts are not allowed for this model", "system:user"),
        (PLAIN, 400, "This model does not support a system prompt", "system:user"),
        (PLAIN, 400, "The model does not support system instructions", "system:user"),
        (PLAIN, 400, "Messages with role 'system' are not allowed", "system:user"),
        (PLAIN, 400, "tools is not supported in this model", "tools:none"),
        (PLAIN, 400, "The model `x` does not support tool calls", "tools:none"),
        (PLAIN, 400, "This model does not support tool use", "tools:none"),
        (
            PLAIN,
            404,
            'No endpoints found that support tool use. Try disabling "roll".',
            "tools:none",
        ),
        (PLAIN, 500, "Unsupported param: tools", "tools:none"),
        (PLAIN, 400, "The requested model does not support tools/functions", "tools:none"),
        (PLAIN, 400, "Function calling is not supported", "tools:none"),
        (PLAIN, 400, "unknown field `tools`", "tools:none"),
        (PLAIN, 400, "[TOOLS] template does not support tool definitions", "tools:none"),
        (PLAIN, 400, "Tool calling unsupported for model phi3", "tools:none"),
        (PLAIN, 400, "This model is not capable of tool calling", "tools:none"),
        (PLAIN, 422, "Tool use is not enabled on this deployment", "tools:none"),
        (PLAIN, 400, "tools must be empty for this model", "tools:none"),
        (PLAIN, 400, "property 'tools' is unsupported, did you mean 'stop'?", "tools:none"),
        (PLAIN, 400, "stream is not supported", "stream:never"),
        (PLAIN, 400, "This model only supports non-streaming requests", "stream:never"),
        (PLAIN, 400, "Streaming responses are disabled for your account", "stream:never"),
        (PLAIN, 400, "Invalid parameter: stream must be false", "stream:never"),
        (PLAIN, 400, "The 'stream' parameter cannot be true", "stream:never"),
        (
            PLAIN,
            400,
            "Unrecognized request argument supplied: stream_options",
            "drop:stream_options",
        ),
        (
            PLAIN,
            422,
            "[{'type': 'extra_forbidden', 'loc': ['body', 'stream_options'], "
            "'msg': 'Extra inputs are not permitted'}]",
            "drop:stream_options",
        ),
        (PLAIN, 400, "max_tokens is not supported, use max_completion_tokens", "rename:max_tokens"),
        (PLAIN, 400, "`temperature` is deprecated for this model.", "drop:temperature"),
        (PLAIN, 400, "Unsupported parameter: top_p", "drop:top_p"),
        (PLAIN, 400, "temperature may only be set to 1", "drop:temperature"),
        (PLAIN, 400, "invalid temperature: only 1 is allowed for this model", "drop:temperature"),
        (PLAIN, 400, "Argument not supported: temperature", "drop:temperature"),
        (
            ROUND,
            400,
            "messages.3.reasoning_content: Extra inputs are not permitted",
            "drop:reasoning_content",
        ),
        (ROUND, 400, "Invalid 'messages[3].content': expected a string", "content:empty"),
        (
            PLAIN,
            400,
            "Invalid 'tools[0].function.parameters': schema must have type object",
            "schemas:plain",
        ),
        (
            PLAIN,
            400,
            "tools.0.function.parameters.properties.a.format: unsupported format 'uri'",
            "schemas:plain",
        ),
        (
            PLAIN,
            400,
            "* GenerateContentRequest.tools[0].function_declarations[0].parameters"
            ".properties[a].enum[0]: cannot be empty",
            "schemas:plain",
        ),
        (
            PLAIN,
            400,
            "Unable to submit request because `roll` functionDeclaration `parameters.a` "
            "schema didn't specify the schema type field.",
            "schemas:plain",
        ),
        (PLAIN, 400, "reference to undefined schema at properties.a", "schemas:plain"),
        (PLAIN, 400, "Schema.ref is not supported; '$ref' found", "schemas:plain"),
        (SEEN, 400, "This model does not support image inputs", "pictures:none"),
        (
            SEEN,
            400,
            "Failed to deserialize: unknown variant `image_url`, expected `text`",
            "pictures:none",
        ),
        (SEEN, 400, "At most 0 image(s) may be provided in one prompt.", "pictures:none"),
        (SEEN, 400, "messages[0].content must be a string", "pictures:none"),
        (SEEN, 400, "The model is not multimodal", "pictures:none"),
        (SEEN, 500, "this model is missing data required for image input", "pictures:none"),
        (SEEN, 400, "Vision is not enabled for this model", "pictures:none"),
        (
            ENDED,
            400,
            "Requests ending with an assistant message are not supported; "
            "final message must be from user",
            "user:last",
        ),
        (ENDED, 400, "The last message must have role 'user' or 'tool'", "user:last"),
        (ENDED, 400, "the final turn must be a user turn", "user:last"),
        (PLAIN, 400, "Your input is too long", None),
        (PLAIN, 400, "Invalid API key", None),
        (PLAIN, 403, "This function is not available in your region", None),
        (PLAIN, 500, "Internal server error", None),
        (PLAIN, 503, "The model is overloaded, not available", None),
        (PLAIN, 400, "temperature must be between 0 and 1", None),
        (PLAIN, 404, "The model `x` does not exist", None),
        (PLAIN, 400, "Content policy: not allowed", None),
    ],
)
def test_servers_words(body: Any, status: int, words: str, quirk: str | None) -> None:
    assert quirks.learn(faults.refusal(status, {"message": words}), body) == quirk
