"""A database of an earlier version: put into a browser, and read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faults.world import inject
from playwright.sync_api import BrowserContext

HERE = Path(__file__).parent

SCHEMA_1 = ["packages", "files", "conversations", "entries", "stores", "settings"]
"""The tables of version 0.1.0."""

Json = dict[str, Any]
Triple = tuple[str, list[Any], Any]


@dataclass(frozen=True)
class Saved:
    schema: int
    tables: list[str]
    records: list[Triple]
    """Table, key and value; a file of a package is ``{"text": ...}``."""
    damaged: list[list[Any]]
    """``[table, key]`` of the records that were broken on purpose."""

    @classmethod
    def load(cls, name: str) -> Saved:
        data = json.loads((HERE / f"{name}.json").read_text("utf-8"))
        records = [(table, key, value) for table, key, value in data["records"]]
        return cls(data["schema"], data["tables"], records, data["damaged"])

    def put_into(self, context: BrowserContext, player_url: str, *, base_url: str) -> None:
        """Writes all of it into the context's storage; ``base_url``: the provider in settings.

        For a context in which the player has not run yet.
        """
        inject(context)
        page = context.new_page()
        page.goto(f"{player_url}/pyscript.json")  # the player's origin, without the player
        page.evaluate(
            "([version, tables]) => faults.hold(version, tables, true)", [self.schema, self.tables]
        )
        page.evaluate("triples => faults.write(triples)", list(self._pointed_at(base_url)))
        page.close()

    def _pointed_at(self, base_url: str) -> Iterator[Triple]:
        for table, key, value in self.records:
            if table == "settings" and key == ["app"]:
                value = json.dumps({**json.loads(value), "base_url": base_url})
            yield table, key, value

    def sound(self, table: str) -> Iterator[tuple[list[Any], Any]]:
        """Key and value of a table's records that are not damaged."""
        for kept, key, value in self.records:
            if kept == table and [table, key] not in self.damaged:
                yield key, value

    def characters(self) -> list[Json]:
        """The records of packages, last opened first."""
        rows = [json.loads(value) for _, value in self.sound("packages")]
        return sorted(rows, key=lambda row: -row["openedAt"])

    def all_heads(self) -> list[Json]:
        """The heads of all conversations, the one that changed last first."""
        heads = [json.loads(value) for _, value in self.sound("conversations")]
        return sorted(heads, key=lambda head: -head["updatedAt"])

    def conversations(self, character_id: str) -> list[Json]:
        """Those of a character."""
        return [head for head in self.all_heads() if head["characterId"] == character_id]

    def entries(self, conversation_id: str) -> list[Json]:
        found = [
            json.loads(value) for key, value in self.sound("entries") if key[0] == conversation_id
        ]
        return sorted(found, key=lambda entry: str(entry["id"]))

    def stores(self, conversation_id: str) -> dict[str, Any]:
        """Agent id -> its store."""
        return {
            key[1]: json.loads(value.partition("\n")[2])
            for key, value in self.sound("stores")
            if key[0] == conversation_id and len(key) == 2
        }

    def logs(self, conversation_id: str) -> dict[str, list[Json]]:
        """Agent id -> the stored lines of its log, oldest first."""
        lines: dict[str, list[Json]] = {}
        for key, value in sorted(self.sound("stores"), key=lambda record: record[0][2:]):
            if key[0] == conversation_id and key[2:3] == ["log"]:
                lines.setdefault(key[1], []).append(json.loads(value))
        return lines

    def settings(self) -> Json:
        """The user's settings, and the key as ``api_key``."""
        rows = {key[0]: json.loads(value) for key, value in self.sound("settings")}
        return {**rows["app"], "api_key": rows["api_key"]}
