"""Presets for the usual providers, and what a failure to reach one means. Pure.

A preset is a base URL, as its provider documents it, and a note: nothing secret, nothing measured.
None is here whose provider is known to refuse web pages; what an origin wants beside the key is
in ``llm.provider.origin_headers``.
"""

from __future__ import annotations

from dataclasses import dataclass

from personae.credentials import BadBaseUrl, read_base_url
from personae.errors import PersonaeError
from personae.llm.provider.faults import MAYBE_THE_KEY
from personae.settings import REHEARSAL

CUSTOM = "custom"
RELAY = "relay"


@dataclass(frozen=True, slots=True)
class Preset:
    id: str
    label: str
    base_url: str
    note: str = ""


PRESETS = (
    Preset(
        REHEARSAL,
        "Rehearsal (no AI, no key)",
        "",
        "Shows what a model would be given. Good for a first look and for agent authors.",
    ),
    Preset(RELAY, "This site", "", "Requests go through the host of this page, on its terms."),
    Preset("openai", "OpenAI", "https://api.openai.com/v1"),
    Preset(
        "anthropic",
        "Anthropic",
        "https://api.anthropic.com/v1",
        "Through its OpenAI-compatible endpoint. An organisation can forbid requests from pages.",
    ),
    Preset(
        "google",
        "Google Gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "Through its OpenAI-compatible endpoint.",
    ),
    Preset(
        "openrouter",
        "OpenRouter",
        "https://openrouter.ai/api/v1",
        "One key for the models of many providers.",
    ),
    Preset("venice", "Venice", "https://api.venice.ai/api/v1"),
    Preset("mistral", "Mistral", "https://api.mistral.ai/v1"),
    Preset("groq", "Groq", "https://api.groq.com/openai/v1"),
    Preset("deepseek", "DeepSeek", "https://api.deepseek.com/v1"),
    Preset("xai", "xAI", "https://api.x.ai/v1"),
    Preset("together", "Together", "https://api.together.ai/v1"),
    Preset(
        "ollama",
        "Ollama, on this computer",
        "http://localhost:11434/v1",
        "Start it with OLLAMA_ORIGINS set to the address of this page.",
    ),
    Preset(
        "lmstudio",
        "LM Studio, on this computer",
        "http://localhost:1234/v1",
        "Switch on CORS in its server settings, or start it with lms server start --cors.",
    ),
    Preset(
        "llamacpp",
        "llama.cpp, on this computer",
        "http://localhost:8080/v1",
        "Needs no key.",
    ),
    Preset(CUSTOM, "Custom", "", "Any server that speaks chat completions."),
)


def preset(preset_id: str) -> Preset:
    return next(item for item in PRESETS if item.id == preset_id)


def preset_of(base_url: str, model: str, relay_url: str = "") -> str:
    """The id of the preset that these settings amount to."""
    if not base_url:
        return REHEARSAL if model in ("", REHEARSAL) else CUSTOM
    if relay_url and base_url.rstrip("/") == relay_url.rstrip("/"):
        return RELAY
    for item in PRESETS:
        if item.base_url and item.base_url == base_url.rstrip("/"):
            return item.id
    return CUSTOM


def explain_failure(
    error: PersonaeError, base_url: str, *, keyed: bool, page_is_secure: bool, relay: bool
) -> str:
    """Why a provider did not answer, in terms of key, URL, CORS, model or network."""
    if error.code != "model_unreachable":
        return error.message
    # A browser does not show a refusal that lacks CORS headers: it looks like no answer.
    key = f"{MAYBE_THE_KEY} " if keyed else ""
    return key + _unreached(base_url, page_is_secure=page_is_secure, relay=relay, keyed=keyed)


def _unreached(base_url: str, *, page_is_secure: bool, relay: bool, keyed: bool) -> str:
    if any(name in base_url for name in ("//localhost", "//127.", "//[::1]")):
        return "Nothing answers there. Is the server running, and does it allow this page (CORS)?"
    if page_is_secure and base_url.lower().startswith("http:"):
        return "A secure page may not call an http address. Use https, or a server on localhost."
    way = " Choose “This site” as the provider instead." if relay else ""
    lead = "Otherwise" if keyed else "The browser could not reach it"
    return (
        f"{lead}: the address is wrong, you are offline, or the provider refuses requests from "
        f"web pages (CORS).{way}"
    )


def complaint(base_url: str) -> str:
    """Why a base URL cannot be taken; empty when it can, or when there is none."""
    if not base_url.strip():
        return ""
    try:
        read_base_url(base_url)
    except BadBaseUrl as fault:
        return str(fault)
    return ""
