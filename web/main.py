"""The page's composition root: PyScript runs this once the interpreter and the core are there."""

import js
from personae.browser.environment import browser_environment, host_config
from personae.ui.app import App
from personae.ui.notices.notifier import UiNotifier

host = await host_config()  # noqa: F704
notifier = UiNotifier()
environment = await browser_environment(host, notifier=notifier)  # noqa: F704
await App(environment, notifier, host).start()  # noqa: F704
js.document.documentElement.dataset.started = ""
js.dispatchEvent(js.Event.new("personae:started"))
