"""What the user can do about what a server refused and was then asked without."""

from __future__ import annotations

import re

from personae.errors import ModelError
from personae.llm.provider.faults import REMEDIES, shorten


def remedy(error: ModelError) -> str:
    """What the user can do about a refusal that was worked around, with the provider's words."""
    words = str(error.detail.get("provider", {}).get("message", "")).strip()
    hint = next((hint for sign, hint in _HINTS if re.search(sign, words, re.IGNORECASE)), "")
    said = f"It said: {shorten(words, 200).rstrip('.')}." if words else ""
    return f"{said} {hint or REMEDIES['model_no_tools']} {_THEN_TEST}".strip()


_HINTS = (
    (r"--jinja", "Start the llama.cpp server with --jinja."),
    (
        r"tool-call-parser|auto-tool-choice",
        "Start vLLM with --enable-auto-tool-choice and the --tool-call-parser of this model.",
    ),
    (
        r"ollama",
        "Choose a model that Ollama lists with the label “tools”.",
    ),
    (
        r"no endpoints found|openrouter",
        "Choose a model that OpenRouter lists with tool support, or allow more of its providers.",
    ),
    (r"\bimage|vision|multimodal|mmproj", "Choose a model that sees pictures."),
)
_THEN_TEST = "Once that has changed, test the connection in the settings."
