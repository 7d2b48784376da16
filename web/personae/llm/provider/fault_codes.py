"""Which stable code a provider's failure has: told by its words, else by its status."""

from __future__ import annotations

import re

from personae.llm.provider.refusal_words import SCHEMA, refuses_tools
from personae.llm.provider.retry import MAX_WAIT, wait_in_words

_SIGNS = (
    ("model_relay_refused", r"\brelay_refused\b"),
    (
        "model_bad_call",
        r"tool_use_failed|failed_generation|failed to call a function|output_parse_failed"
        r"|tool call validation failed|malformed[_ ](function|tool)[_ ]call"
        r"|(error|failed|failure|unable|could not|cannot)( while| to| in)? pars(e|ing)"
        r"( the| model)?( tool| function)[ _]?calls?\b(?! arguments)"
        r"|failed to parse (input|output) at pos|tool[_ ]?calls?[_ ]pars\w+[_ ](failed|error)"
        r"|failed to generate tool|(invalid|malformed) (tool|function)[_ ]calls? (was |were )?"
        r"(generated|produced|returned)"
        r"|model (produced|generated|returned|output)[^.]{0,30}"
        r"(invalid|malformed|could not be parsed)",
    ),
    (
        "model_context_length",
        r"context_length_exceeded|context[ _-]?(length|window|size)|maximum context"
        r"|prompt is too long|input is too long|too many (input )?tokens|reduce the length",
    ),
    (
        "model_quota",
        r"insufficient[ _]?(quota|balance|credits?|funds)|credit balance|(out of|no|more) credits"
        r"|exceeded_(your_)?current_quota|no resource package|billing[ _](hard[ _])?limit"
        r"|(exceeded|reached|exhausted|used up|used all|spent|hit|over)\b[^.]{0,40}"
        r"\b(current|monthly|daily|weekly|yearly|spending|usage|billing|free|available|included"
        r"|credits?|prepaid)\b"
        r"|\b(credits?|free tier|quota|balance)\b[^.]{0,30}"
        r"\b(exhausted|depleted|used up|run out|ran out|expired)"
        r"|free-models-per-day|per[-_ ]?(day|month|week)\b|perday|by ?day\b|[/ ](day|month)\b"
        r"|spending limit|payment required|arrears|overdue",
    ),
    ("model_content_filter", r"content_filter|content management policy|content_policy|moderation"),
    (
        "model_unauthorized",
        r"(invalid|incorrect|missing|wrong|no)[ _](x-)?api[ _-]?key|api[ _]?key not valid"
        r"|invalid_api_key|authentication",
    ),
    ("model_bad_request", r"\bjinja\b|template ?error|chat[_ ]template"),
    (
        "model_not_found",
        r"model_not_found|not a valid model|(unknown|invalid|no such) model\b"
        r"|model\b.{0,120}\b(not found|does not exist|is not available)",
    ),
)
_BY_STATUS = {
    401: "model_unauthorized",
    402: "model_quota",
    403: "model_unauthorized",
    404: "model_not_found",
    408: "model_server_error",
    429: "model_rate_limited",
}


def code_of(status: int | None, words: str) -> str:
    """``status``: None for an error object without one."""
    if status != 401 and status != 429 and refuses_tools(words) and not SCHEMA.search(words):
        return "model_no_tools"
    for code, signs in _SIGNS:
        if _may_mean(status, code, words) and re.search(signs, words, re.IGNORECASE):
            return code
    if status is None:
        return "model_stream_error"
    if status >= 500:
        return "model_server_error"
    return _BY_STATUS.get(status, "model_bad_request")


def _may_mean(status: int | None, code: str, words: str) -> bool:
    """Whether words may overrule the status: limits speak of tokens and outages of anything."""
    if code == "model_quota":
        return status in (None, 400, 402, 403, 429, 500) and not _soon_over(words)
    if code == "model_relay_refused":
        return True
    if status == 429:
        return False
    if status is not None and status >= 500:
        return code in ("model_context_length", "model_bad_call", "model_bad_request")
    return status != 401


def _soon_over(words: str) -> bool:
    """A limit of a minute is worded like a quota by some; they say when it is over."""
    if re.search(r"per[-_ ]?(day|month|week)\b|perday|by ?day\b", words, re.IGNORECASE):
        return False
    wait = wait_in_words(words)
    return wait is not None and wait <= MAX_WAIT
