"""What providers call the end of a reply; each has words of its own for the same few things."""

from __future__ import annotations

from personae.conversation.entries import Cut

_LENGTH = (
    *("length", "max_tokens", "max_output_tokens", "max_new_tokens", "max_completion_tokens"),
    *("max_length", "model_length", "length_limit", "token_limit", "context_length"),
    *("context_length_exceeded", "model_context_window_exceeded", "incomplete"),
)
_FILTER = (
    *("content_filter", "content_filtered", "safety", "recitation", "prohibited_content"),
    *("blocklist", "spii", "sensitive", "refusal", "guardrail_intervened", "error_toxic"),
    *("image_safety", "language"),
)
_FAILURE = (
    *("error", "network_error", "insufficient_system_resource", "abort", "aborted", "cancelled"),
    *("canceled", "timeout", "failed"),
)
CUTS: dict[str, Cut] = {
    **dict.fromkeys(_LENGTH, "length"),
    **dict.fromkeys(_FILTER, "filter"),
    **dict.fromkeys(_FAILURE, "end"),
}
"""A normal reason -> what cut the reply off."""
BAD_CALLS = frozenset(
    (
        *("malformed_function_call", "malformed_tool_call", "unexpected_tool_call"),
        *("tool_use_failed", "too_many_tool_calls", "malformed_response"),
    )
)
"""Normal reasons of a reply that the provider itself could not read."""


def normal_reason(reason: str | None) -> str:
    """Lower case, without the prefix that an enumeration's name puts in front."""
    plain = (reason or "").strip().lower().replace("-", "_").replace(" ", "_")
    return plain.rpartition(".")[2].removeprefix("finish_reason_")
