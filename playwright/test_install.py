"""An installed wheel is self-contained: no Node, no checkout, nothing fetched at run time."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from app_page import READY, AppPage
from playwright.sync_api import Page

ROOT = Path(__file__).parent.parent


def copied(target: Path) -> Path:
    """The checkout without what was built of it; that one is being served to other tests."""
    apart = (".git", ".venv", "node_modules", "stage", "static", "__pycache__", ".*_cache")
    shutil.copytree(ROOT, target, ignore=shutil.ignore_patterns(*apart))
    (target / "worker" / "node_modules").symlink_to(ROOT / "worker" / "node_modules")
    return target


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of a fresh environment with the wheel in it."""
    folder = tmp_path_factory.mktemp("install")
    checkout = copied(folder / "checkout")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "-w", folder, checkout], check=True)
    (wheel,) = folder.glob("personae-*.whl")
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    scripts = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    fresh = [scripts / "python", "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*fresh, "install", wheel], check=True)
    return scripts


def test_the_page_starts(installed: Path, tmp_path: Path, page: Page, console: list[str]) -> None:
    process = subprocess.Popen(
        [installed / "personae", "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env={"PATH": str(installed), "HOME": str(tmp_path)},
    )
    try:
        assert process.stdout
        url = re.search(r"http://[\d.:]+", process.stdout.readline())
        assert url
        app = AppPage(page, url[0]).open().open_sample()
        app.say('call roll_dice {"sides": 20}').answered("1d20:")
        assert console == []
    finally:
        process.terminate()
        process.wait(READY / 1000)
        if process.stdout:
            process.stdout.close()


def test_the_sample_passes_the_package_check(installed: Path, sample_zip: Path) -> None:
    command = [installed / "personae", "check", sample_zip]
    checked = subprocess.run(command, env={"PATH": ""}, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
