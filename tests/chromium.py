"""The Chromium that tests and benches drive, and how it is started."""

from __future__ import annotations

import os
import shutil

EXECUTABLE = (
    os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
)

# Each window would start a process that gets the popups of its address bar ready.
_POPUPS = ("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup")
# What Playwright turns off itself, for a second list replaces the first.
_TURNED_OFF_ANYWAY = (
    "AimEnabled",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
)


def arguments(*turned_off: str) -> list[str]:
    """Command-line switches that leave the machine to the page; ``turned_off``: more features."""
    switches = ["--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    switches.append(f"--disable-features={','.join((*turned_off, *_POPUPS, *_TURNED_OFF_ANYWAY))}")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        switches.append("--no-sandbox")
    return switches
