"""The views of the page in one value: made once by the app, used by whatever drives them."""

from __future__ import annotations

from dataclasses import dataclass

from personae.ui.composer.composer import Composer
from personae.ui.conversations.conversations import Sidebar
from personae.ui.dom.menu import Menus
from personae.ui.dom.notices import Banners, Toasts
from personae.ui.dom.page_dom import Dispatcher, Frames, Tasks
from personae.ui.inspector.inspector import Inspector
from personae.ui.shell import Shell
from personae.ui.transcript.transcript import Transcript


@dataclass(frozen=True, slots=True)
class Page:
    tasks: Tasks
    frames: Frames
    dispatcher: Dispatcher
    toasts: Toasts
    banners: Banners
    menus: Menus
    shell: Shell
    sidebar: Sidebar
    composer: Composer
    transcript: Transcript
    inspector: Inspector
