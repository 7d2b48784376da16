"""Gives idle Python workers back when there are many of them.

A Python worker takes 50 to 100 MB; a character with many Python agents, or several open
characters, would take the memory of a phone. What an agent keeps is in its store, so a worker
that is not in a call can end and be started again (from a snapshot) at the next one. How many may
stay is the sandbox's to say, which knows the device.
"""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakKeyDictionary

from personae.ports import Sandbox


class IdleWorkers:
    """The running Python workers of one sandbox, least recently used first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._releases: dict[object, Callable[[], bool]] = {}

    def used(self, process: object, release: Callable[[], bool]) -> None:
        """``process`` is in use now. ``release`` ends it if it is idle, and says whether it was."""
        self._releases.pop(process, None)
        self._releases[process] = release
        surplus = len(self._releases) - self._most
        for other, give_back in list(self._releases.items()):
            if surplus <= 0:
                return
            if other is not process and give_back():
                surplus -= 1

    def ended(self, process: object) -> None:
        self._releases.pop(process, None)


_of_sandbox: WeakKeyDictionary[object, IdleWorkers] = WeakKeyDictionary()


def idle_workers(sandbox: Sandbox) -> IdleWorkers:
    """The one that all processes of a sandbox share."""
    return _of_sandbox.setdefault(sandbox, IdleWorkers(sandbox.most_python_workers))
