"""Which model answers when nobody has chosen one: the host's, else the provider's first. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from personae.ui.settings.app_settings import Settings

_OTHER_WORK = re.compile(
    r"embed|whisper|tts|dall-e|imagen?\b|image|moderation|audio|realtime|transcri|rerank|speech"
    r"|guard|ocr|video|\bveo|sora|aqa|davinci|babbage|turbo-instruct|lyria|diffusion|flux",
    re.IGNORECASE,
)
"""Words in the names of models that do something else than talk."""


def first_suitable(models: Iterable[str]) -> str:
    """The first of a provider's models that looks as if it could talk; empty when none does."""
    return next((model for model in models if not _OTHER_WORK.search(model)), "")


@dataclass(frozen=True, slots=True)
class HostModel:
    """What the page's own host offers a visitor who has chosen nothing."""

    base_url: str = ""
    """Empty: it offers no models."""
    model: str = ""
    """Empty: it has to be asked for its list."""

    def assumed(self, settings: Settings) -> Settings:
        """``settings`` with the host's model where they leave it open."""
        chosen = settings.base_url or settings.model
        if not self.base_url or (chosen and settings.base_url != self.base_url):
            return settings
        return replace(settings, base_url=self.base_url, model=settings.model or self.model)

    def chosen(self, settings: Settings) -> Settings:
        """``settings`` without what is only assumed, so that another choice of the host counts."""
        if not self.base_url or (settings.base_url, settings.model) != (self.base_url, self.model):
            return settings
        return replace(settings, base_url="", model="")
