"""An installed wheel is self-contained: no Node, no checkout, nothing fetched at run time."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of a fresh environment with the wheel in it."""
    folder = tmp_path_factory.mktemp("install")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "-w", folder, ROOT], check=True)
    (wheel,) = folder.glob("personae-*.whl")
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    scripts = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    fresh = [scripts / "python", "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*fresh, "install", wheel], check=True)
    return scripts


def test_the_server_has_everything_the_page_loads(installed: Path, tmp_path: Path) -> None:
    environment = {"PATH": str(installed), "HOME": str(tmp_path)}
    process = subprocess.Popen(
        [installed / "personae", "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=environment,
    )
    try:
        assert process.stdout
        url = re.search(r"http://[\d.:]+", process.stdout.readline())
        assert url
        page = urllib.request.urlopen(f"{url[0]}/").read().decode()
        links = re.findall(r'(?:href|src)="([^"#:]+)"', page)
        assert any("pyodide" in link for link in links)
        for link in links:
            assert urllib.request.urlopen(f"{url[0]}/{link}").status == 200
    finally:
        process.terminate()
        process.wait(10)
        if process.stdout:
            process.stdout.close()


def test_the_sample_passes_the_package_check(installed: Path, sample_zip: Path) -> None:
    command = [installed / "personae", "check", sample_zip]
    checked = subprocess.run(command, env={"PATH": ""}, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
