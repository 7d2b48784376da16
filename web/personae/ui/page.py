"""The views of the page in one value: made once by the app, used by whatever drives them."""

from __future__ import annotations

from dataclasses import dataclass

from personae.ui.composer.composer import Composer
from personae.ui.composer.status_line import StatusLine
from personae.ui.conversations.sidebar import Sidebar
from personae.ui.dom.dispatcher import Dispatcher
from personae.ui.dom.frames import Frames
from personae.ui.dom.menu import Menus
from personae.ui.dom.tasks import Tasks
from personae.ui.inspector.inspector import Inspector
from personae.ui.notices.banners import Banners
from personae.ui.notices.toasts import Toasts
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
    status: StatusLine
    transcript: Transcript
    inspector: Inspector
