"""What single providers want said in a request's headers, by origin.

A key goes out in exactly one place, here: it is looked up by the URL that the request goes to.
"""

from __future__ import annotations

from personae.credentials import Credentials, origin_of
from personae.errors import ModelError

ANTHROPIC = "https://api.anthropic.com"
_FROM_A_PAGE = {"anthropic-dangerous-direct-browser-access": "true"}
"""Without it Anthropic answers no web page (CORS)."""
_ANTHROPIC_VERSION = {"anthropic-version": "2023-06-01"}


def headers_for(url: str, credentials: Credentials, *, listing: bool = False) -> dict[str, str]:
    """The key of the URL's origin and what else belongs to that origin; ``listing``: of models.

    Raises ModelError ``model_unauthorized`` for a key that no header can carry.
    """
    key = credentials.key_for(url)
    if not (key.isascii() and key.isprintable()):
        raise ModelError(
            "model_unauthorized",
            "The API key holds characters that no key has. Copy it again into the settings.",
            status=None,
            retryAfter=None,
        )
    bearer = {"Authorization": f"Bearer {key}"} if key else {}
    if origin_of(url) != ANTHROPIC:
        return bearer
    if not listing:
        return bearer | _FROM_A_PAGE
    # Its list of models is not part of its OpenAI-compatible endpoint.
    return ({"x-api-key": key} if key else {}) | _ANTHROPIC_VERSION | _FROM_A_PAGE
