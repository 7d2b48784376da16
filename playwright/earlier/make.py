"""Plays the life of ``life.py`` in Chromium and writes what is left of it: see this folder's page.

    python playwright/earlier/make.py [--out FILE]

``FILE`` is ``version-<version>.json`` in this folder unless given. Refuses to replace a fixture.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path += [str(HERE.parent), str(HERE.parent / "bench"), str(ROOT)]

from harness import chromium, serving  # noqa: E402 (from the benches)

from earlier.life import Life  # noqa: E402
from tests.provider.server import ModelProvider  # noqa: E402

ENDPOINT = "https://model.example/v1"
"""Stands for the provider's address, which is another one in every run."""


def main() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    parser = argparse.ArgumentParser(description="Makes a database that later versions must read.")
    parser.add_argument("--out", type=Path, default=HERE / f"version-{version}.json")
    out: Path = parser.parse_args().out
    if out.exists():
        sys.exit(f"{out} is there already. A fixture is made once; give another file with --out.")
    found, damaged = lived()
    write(out, version, found, damaged)
    print(f"{out}: {len(found['records'])} records, {out.stat().st_size:,} bytes")


def lived() -> tuple[dict[str, Any], list[list[Any]]]:
    """What the database holds in the end, and which records of it are damaged."""
    with ModelProvider() as provider, serving(None) as [url], chromium() as browser:
        with tempfile.TemporaryDirectory() as folder:
            context = browser.new_context()
            life = Life(context, url, provider, Path(folder))
            life.live()
        page = life.app.page
        before = page.evaluate((HERE / "dump.js").read_text("utf-8"))
        damage = damages(before["records"])
        page.evaluate("triples => faults.write(triples)", damage)
        found = page.evaluate((HERE / "dump.js").read_text("utf-8"))
        context.close()
    text = json.dumps(found, ensure_ascii=False).replace(provider.base_url, ENDPOINT)
    return json.loads(text), [[table, key] for table, key, _ in damage]


def damages(records: list[list[Any]]) -> list[list[Any]]:
    """Records as a failing disk or a foreign hand leaves them, as [table, key, value]."""
    heads = {
        json.loads(value)["title"]: key for table, key, value in records if table == "conversations"
    }
    second = heads["A second evening."]
    first_said = next(
        key for table, key, _ in records if table == "entries" and key[0] == second[1]
    )
    return [
        ["entries", first_said, "{broken"],
        ["conversations", [second[0], "broken"], "[]"],
        ["stores", [heads["Another crossing."][1], "ferry.dice"], "damaged"],
        ["stores", [heads["What happened?"][1], "skarn.logbook", "log", 2], "{"],
        ["packages", ["broken"], '{"id": "broken"}'],
    ]


def write(out: Path, version: str, found: dict[str, Any], damaged: list[list[Any]]) -> None:
    """A record a line."""
    head = {
        "about": f"What version {version} stored, see __init__.py.",
        "schema": found["schema"],
        "tables": sorted({table for table, _, _ in found["records"]}),
        "damaged": damaged,
    }
    lines = ",\n".join(json.dumps(record, ensure_ascii=False) for record in found["records"])
    opening = json.dumps(head, indent=1, ensure_ascii=False).removesuffix("\n}")
    out.write_text(f'{opening},\n "records": [\n{lines}\n]}}\n', "utf-8")


if __name__ == "__main__":
    main()
