"""The JavaScript face of CharacterPlayer (reference: Part 3, Character Consumers).

``character-player.js`` calls one EmbeddedPlayer per player. Everything crosses as JSON text, so
there are no proxies to leak: an answer is ``{"value"}`` or ``{"error": {code, message, detail}}``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from pyodide.ffi import JsProxy

from personae.browser.convert import value_from_js
from personae.browser.environment import embedded_environment
from personae.errors import PersonaeError
from personae.player.character_player import CharacterPlayer
from personae.turn.events import EMISSIONS

CALLS = frozenset(
    (
        *("send", "regenerate", "edit", "delete", "truncate", "reject", "clear", "fork"),
        *("new_conversation", "load_conversation", "list_conversations", "delete_conversation"),
        *("export_conversation", "import_conversation"),
        *("run_command", "agent_store", "prompt_preview"),
    )
)
CALLS_NOW = frozenset(("stop", "get_conversation", "list_commands", "agents"))

# JavaScript option -> keyword of CharacterPlayer.
_OPTIONS = {
    "apiKey": "api_key",
    "baseUrl": "base_url",
    "model": "model",
    "workerModel": "worker_model",
    "limits": "limits",
    "webAccess": "web_access",
    "temperature": "temperature",
    "topP": "top_p",
    "maxTokens": "max_tokens",
}


class EmbeddedPlayer:
    """One player of an embedding page. ``hear(event, payload, who)`` gets JSON text."""

    def __init__(self, source: Any, settings_text: str, hear: JsProxy) -> None:
        self._source = value_from_js(source)
        self._settings: dict[str, Any] = json.loads(settings_text)
        self._hear = hear
        self._player: CharacterPlayer | None = None

    async def start(self) -> str:
        try:
            options = keyword_options(self._settings)
            environment = await embedded_environment(self._settings.get("storage", "indexeddb"))
            player = CharacterPlayer(package=self._source, environment=environment, **options)
            for event in EMISSIONS:
                player.on(event, self._forward(event))
            await player.ready()
            self._player = player
        except Exception as error:
            return failure_text(error)
        return json.dumps({"value": None})

    def _forward(self, event: str) -> Callable[[Any], None]:
        def forward(payload: Any, who: dict[str, str] | None = None) -> None:
            if isinstance(payload, Exception):
                payload = error_json(payload)
            self._hear(event, json.dumps(payload), json.dumps(who))

        return forward

    async def call(self, method: str, values_text: str) -> str:
        """Runs one of CALLS."""
        try:
            if method not in CALLS:
                raise AttributeError(method)
            value = await getattr(self._player, method)(*json.loads(values_text))
        except Exception as error:
            return failure_text(error)
        return json.dumps({"value": value})

    def call_now(self, method: str, values_text: str) -> str:
        """Runs one of CALLS_NOW, which answer at once."""
        try:
            if method not in CALLS_NOW:
                raise AttributeError(method)
            value = getattr(self._player, method)(*json.loads(values_text))
        except Exception as error:
            return failure_text(error)
        return json.dumps({"value": value})

    async def dispose(self) -> None:
        if self._player:
            await self._player.dispose()
            self._player = None


def keyword_options(settings: dict[str, Any]) -> dict[str, Any]:
    """The embedder's options as keywords of CharacterPlayer; unset ones are left out."""
    return {
        keyword: settings[option]
        for option, keyword in _OPTIONS.items()
        if settings.get(option) is not None
    }


def error_json(error: Exception) -> dict[str, Any]:
    if isinstance(error, PersonaeError):
        return {"code": error.code, "message": error.message, "detail": error.detail}
    return {"code": "internal_error", "message": f"{type(error).__name__}: {error}", "detail": {}}


def failure_text(error: Exception) -> str:
    return json.dumps({"error": error_json(error)}, default=str)
