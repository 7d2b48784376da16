"""Presets for the usual providers, and how a provider is asked for its models.

A preset is a base URL and a note: nothing secret, nothing measured. Pure apart from the transport
that is passed in.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

from personae.bounded_json import load_json
from personae.errors import ModelError, PersonaeError
from personae.ports import HttpRequest, ModelTransport

REHEARSAL = "rehearsal"
TEST_SECONDS = 20


@dataclass(frozen=True, slots=True)
class Preset:
    id: str
    label: str
    base_url: str
    note: str = ""
    local: bool = False


PRESETS = (
    Preset(
        REHEARSAL,
        "Rehearsal (no AI, no key)",
        "",
        "Shows what a model would be given. Good for a first look and for agent authors.",
    ),
    Preset("relay", "This site", "", "Requests go through the host of this page, on its terms."),
    Preset("openai", "OpenAI", "https://api.openai.com/v1"),
    Preset(
        "anthropic",
        "Anthropic",
        "https://api.anthropic.com/v1",
        "Through its OpenAI-compatible endpoint.",
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
    Preset("together", "Together", "https://api.together.xyz/v1"),
    Preset(
        "ollama",
        "Ollama, on this computer",
        "http://localhost:11434/v1",
        "Start it with OLLAMA_ORIGINS set to the address of this page.",
        local=True,
    ),
    Preset(
        "lmstudio",
        "LM Studio, on this computer",
        "http://localhost:1234/v1",
        "Switch on CORS in its server settings.",
        local=True,
    ),
    Preset(
        "llamacpp",
        "llama.cpp, on this computer",
        "http://localhost:8080/v1",
        "Needs no key.",
        local=True,
    ),
    Preset("custom", "Custom", "", "Any server that speaks chat completions."),
)


def preset_of(base_url: str, model: str, relay_url: str = "") -> str:
    """The id of the preset that these settings amount to."""
    if not base_url:
        return REHEARSAL if model in ("", REHEARSAL) else "custom"
    if relay_url and base_url.rstrip("/") == relay_url.rstrip("/"):
        return "relay"
    for preset in PRESETS:
        if preset.base_url and preset.base_url == base_url.rstrip("/"):
            return preset.id
    return "custom"


def headers(api_key: str) -> dict[str, str]:
    accept = {"accept": "application/json"}
    return accept | {"authorization": f"Bearer {api_key}"} if api_key else accept


def model_ids(body: str) -> list[str]:
    """Model names in a ``/models`` reply, sorted, in the shapes servers use. Raises ValueError."""
    reply: Any = load_json(body)
    found = reply.get("data", reply.get("models", [])) if isinstance(reply, dict) else reply
    if not isinstance(found, list):
        raise ValueError("no list")
    names = map(_model_name, found)
    return sorted({name for name in names if name}, key=str.lower)


def _model_name(item: Any) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, dict):
        return str(item.get("id") or item.get("name") or "")
    return ""


async def fetch_models(transport: ModelTransport, base_url: str, api_key: str) -> list[str]:
    """The provider's models. Raises ModelError with a message for the settings dialog."""
    url = base_url.rstrip("/") + "/models"
    response = await transport.open(HttpRequest("GET", url, headers(api_key)))
    try:
        body = b"".join([chunk async for chunk in response.chunks()]).decode("utf-8", "replace")
    finally:
        await response.close()
    if response.status >= 400:
        raise ModelError("http", describe_status(response.status, body), status=response.status)
    try:
        return model_ids(body)
    except (ValueError, TypeError, AttributeError):
        raise ModelError(
            "not_json", f"{url} did not answer with a list of models.", status=response.status
        ) from None


def describe_status(status: int, body: str) -> str:
    """Status and the provider's own words, if it has any."""
    words = {
        401: "The key was refused",
        403: "The key is not allowed to do this",
        404: "There is nothing at this address; is the base URL right?",
        429: "Too many requests at the moment",
    }
    said = provider_message(body)
    return f"{words.get(status, 'The provider answered')} ({status})" + (
        f": {said}" if said else "."
    )


def provider_message(body: str) -> str:
    """The message of an error body in one of the shapes in use; empty when there is none."""
    try:
        reply: Any = load_json(body)
    except ValueError:
        return ""
    error = reply.get("error", reply) if isinstance(reply, dict) else reply
    message = error.get("message") or error.get("detail") if isinstance(error, dict) else error
    return message[:300] if isinstance(message, str) else ""


async def test_connection(
    transport: ModelTransport, base_url: str, api_key: str, model: str
) -> str:
    """Asks for one token. Returns a sentence that names the model; raises ModelError."""
    url = base_url.rstrip("/") + "/chat/completions"
    body = json.dumps({"model": model, "messages": [{"role": "user", "content": "Say OK."}]})
    sent = headers(api_key) | {"content-type": "application/json"}
    try:
        async with asyncio.timeout(TEST_SECONDS):
            response = await transport.open(HttpRequest("POST", url, sent, (body,)))
            try:
                parts = [chunk async for chunk in response.chunks()]
            finally:
                await response.close()
    except TimeoutError:
        raise ModelError("timeout", f"No answer within {TEST_SECONDS} seconds.") from None
    text = b"".join(parts).decode("utf-8", "replace")
    if response.status >= 400:
        raise ModelError("http", describe_status(response.status, text), status=response.status)
    if '"choices"' not in text:
        raise ModelError("not_json", "The answer is no chat completion; is the base URL right?")
    return f"{model} answers."


def explain_failure(error: PersonaeError, base_url: str, page_is_secure: bool, relay: bool) -> str:
    """Why a test failed, in terms of key, URL, CORS, model or network."""
    if error.detail.get("status") is not None or error.code in ("timeout", "not_json"):
        return error.message
    local = any(name in base_url for name in ("//localhost", "//127.", "//[::1]"))
    if local:
        return "Nothing answers there. Is the server running, and does it allow this page (CORS)?"
    if page_is_secure and base_url.startswith("http:"):
        return "A secure page may not call an http address. Use https, or a server on localhost."
    way = " Choose “This site” as the provider instead." if relay else ""
    return (
        "The browser could not reach it: the address is wrong, you are offline, or the provider "
        f"refuses requests from web pages (CORS).{way}"
    )
