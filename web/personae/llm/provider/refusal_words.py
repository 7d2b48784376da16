"""How servers word what they refuse: patterns, each for one thing that can be done otherwise.

The words are those of the error's message, code, type and parameter together. A pattern is narrow
enough to stand for itself whatever the HTTP status is; what names a field besides is looked up in
the request (``quirks``).
"""

from __future__ import annotations

import re

_NOT = r"(?:not (?:be |currently |yet )?|n't (?:be )?|un)"
_TAKEN = r"(?:supported?|supports?|enabled?|allowed|permitted|available|implemented|accepted|valid)"
_REFUSES = rf"{_NOT}{_TAKEN}"
_SUPPORT = r"(?:(?:does|do|did|is|are|was) ?(?:not|n't)|cannot|can't|unable to|not)"
_WITHOUT = (
    rf"(?:{_SUPPORT} (?:support|allow|accept|handle|implement|have)\w*|unsupported|no support)"
)
_TOOL = (
    r"\b(?:tools|functions|tool[ _-]?(?:use|usage|calls?|calling|param|parameter|definitions?)"
    r"|function[ _-]?(?:calls?|calling))\b(?![ _-]?(?:choice|id\b))"
)


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE | re.DOTALL)


NAMED = _any(
    r"unsupported|not support|unrecogni[sz]ed|unknown|unexpected|not permitted|not allowed",
    r"extra (?:input|field|propert)|additional propert|cannot both|only one of|not accept",
    r"(?:invalid|illegal|bad) (?:parameter|argument|field|propert|keyword)|cannot find field",
    r"not_?forwarded|not forwarded|(?:no|not a) (?:such |valid )?(?:parameter|field)",
    r"not (?:available|implemented|recogni[sz]ed|expected|defined)",
    r"deprecated|forbidden|does not exist|(?:got|received) an? unexpected|remove",
    r"only (?:be (?:set to )?|the default|[\d.]+ is)",
)
"""That something the message names is not wanted in a request."""

CONTENT = _any(
    r"\bcontent\b.*\b(?:null|none|string|empty|required|missing|nil|blank|non-empty)\b",
    r"\b(?:null|none|empty|missing|non-empty)\b.*\bcontent\b",
)

SCHEMA = _any(
    r"invalid[ _](?:json[ _]|tool[ _]|function[ _])?schema|invalid_function_parameters",
    r"function_?declarations?|undefined schema|input_schema|json[ -]?schema",
    r"schema (?:conversion|reference|valid)",
    r"(?:unrecogni[sz]ed|unsupported|bad) (?:schema|format)|parse grammar|grammar pars",
    r"function['\"\]]*\.parameters|\.parameters\.|\$(?:ref|defs)\b|object schema",
    rf"\b(?:format|enum|keyword)\b[^.]{{0,60}}(?:{_REFUSES}|only|empty|must)",
    rf"schema[^.]{{0,60}}(?:{_REFUSES}|invalid|must|missing)",
)

WHOLE_ONLY = _any(
    r"verified to stream|cannot use tools with stream|stream(?:ing)? must be (?:set to )?false",
    rf"\bstream(?:ing)?\b[^.]{{0,60}}{_REFUSES}\b(?! non)",
    rf"\b{_WITHOUT}[^.]{{0,40}}\bstream(?:ing|ed)?\b(?! ?=? ?false)",
    r"\bstream(?:ing)?\b(?: is| responses?| mode)?[^.]{0,20}(?:disabled|cannot be true|turned off)",
    r"disable stream|only[^.]{0,30}non-?stream|(?:turn|switch) off stream",
    r"\bstream\b[^.]{0,30}does not support true",
)
STREAM_ONLY = _any(
    r"only supports? (?:the )?stream|supports? (?:only )?stream(?:ing)? (?:mode|only)",
    r"stream(?:ing)? (?:is |mode is )?(?:only|required|must be (?:set to )?(?:true|enabled))",
    r"(?:enable|set|use|requires?) (?:the )?stream",
    rf"non-?stream\w*[^.]{{0,60}}(?:{_REFUSES}|must|require)|for non-?streaming",
    r"\bstream\b[^.]{0,30}does not support false",
)

SYSTEM_PLACE = _any(
    r"system (?:message|role|prompt)s?[^.]{0,60}(?:beginning|first|start|index 0|position 0)",
    r"(?:multiple|more than one|only one|single)[^.]{0,20}\bsystem",
    r"unexpected role '?system'? after",
)
NO_SYSTEM = _any(
    rf"\b(?:system|developer)['\"`]?[ _-]?(?:role|message|prompt|instruction)s?\b"
    rf"[^.]{{0,60}}{_REFUSES}",
    rf"{_WITHOUT}[^.]{{0,40}}\b(?:system|developer)\b",
    r"(?:unexpected|invalid|unknown|unrecogni[sz]ed|unsupported) (?:message )?role:? "
    r"['\"`]?(?:system|developer)",
    rf"\brole:? ['\"`]?(?:system|developer)['\"`]?[^.]{{0,30}}(?:{_REFUSES}|unknown|invalid)",
    r"only ['\"`]?user['\"`]?,?(?: and| or|,)? ['\"`]?(?:assistant|model)",
    r"\bsystem['\"`]?[^.]{0,20}not one of|invalid value: ['\"`]?system",
    r"should be 'user'(?:, 'tool')?(?: or|,) '(?:assistant|model)'|valid role: user, model",
)
ROLES = _any(
    r"alternat(?:e|es|ed|ing|ion)\b",
    r"(?:first|initial) (?:non-system )?(?:message|content|turn|role)[^.]{0,60}\buser\b",
    r"(?:start|begin)s? with (?:an? |the )?['\"`]?user|consecutive (?:user|assistant|message|role)",
    r"(?:user|assistant|same role)[^.]{0,40}in a row|immediately after a user turn",
    r"unexpected role '?(?:user|assistant)'? after role|invalid role order",
    r"user (?:message |role |turn )?first\b|(?:assistant|model)[^.]{0,30}cannot be (?:the )?first",
)
USER_LAST = _any(
    r"expected last role user|prefill|more assistant messages at the end",
    r"\bend(?:s|ing)? with (?:an? |the )?['\"`]?(?:user|tool)",
    r"(?:last|final) (?:message|role|turn|content)[^.]{0,60}\buser\b",
    r"ending with an? assistant",
    r"last (?:message|role|turn)[^.]{0,40}(?:not|n't|cannot)[^.]{0,30}assistant",
    r"no user (?:query|message)|at least one user|without a user message",
    r"final assistant content|add_generation_prompt|continue_final_message",
)

THOUGHT_TWICE = _any(r"both content and (?:thinking|reasoning)")
SINGLE_CALLS = _any(
    r"(?:only|one) (?:supports? )?(?:a )?(?:single|one) tool[- ]?calls?",
    rf"(?:parallel|multiple|several) tool[- ]?calls?[^.]{{0,40}}{_REFUSES}",
    rf"{_WITHOUT} (?:parallel|multiple|several) tool",
)

NO_PICTURES = _any(
    rf"\b(?:image|vision|picture|photo|multi-?modal)\w*[^.]{{0,60}}{_REFUSES}",
    rf"(?:{_WITHOUT}|found that support)[^.]{{0,40}}\b(?:image|vision|picture|multi-?modal)",
    r"content must be a string|image_url|mmproj|multimodal|not a (?:vision|vlm)|vision model",
    r"text[- ]only|at most 0 image|required for image",
)

_NO_TOOLS = _any(
    r"requires? (?:the )?--jinja|using --jinja|--enable-auto-tool-choice|--tool-call-parser",
    r"found that support (?:the )?(?:tool|function)",
    rf"{_TOOL}[^.]{{0,60}}(?:{_REFUSES}\b|disabled|turned off)",
    rf"(?:{_WITHOUT}|not capable|incapable)[^.]{{0,40}}{_TOOL}",
    r"\btools must (?:not be|be (?:empty|null|none|omitted|removed))",
    rf"{_WITHOUT} (?:parameter|param|argument)s?:? ['\"`]?tools\b",
)


def refuses_tools(words: str) -> bool:
    """Whether tools are not wanted at all: not only one of their schemas, or how one is chosen."""
    return bool(_NO_TOOLS.search(words))


def names(words: str, name: str) -> bool:
    """Whether a field is named, not only a longer one that holds its name."""
    return re.search(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", words) is not None
