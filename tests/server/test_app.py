"""config.json, /healthz, the characters folder, errors."""

from __future__ import annotations

from pathlib import Path

import pytest
from personae.errors import UsageError
from personae_server import __version__
from personae_server.app import create_app
from personae_server.settings import Settings

from tests.server.support import client_of, code_of


async def test_config_tells_what_the_host_offers(static: Path, tmp_path: Path) -> None:
    settings = Settings(static=static, name="Stage", proxy=False, characters=tmp_path)
    async with client_of(settings) as client:
        answer = await client.get("/config.json")
    assert answer.json() == {
        "name": "Stage",
        "version": __version__,
        "proxy": False,
        "reader": False,
        "relay": False,
        "relayModel": "",
        "characters": True,
    }
    assert answer.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize(
    ("models", "default"), [(("large", "small"), "large"), (("*",), ""), (("large", "*"), "large")]
)
async def test_config_names_the_model_that_answers_unasked(
    static: Path, models: tuple[str, ...], default: str
) -> None:
    relay = {"relay_url": "https://models.example/v1", "relay_key": "sk-of-the-host"}
    async with client_of(Settings(static=static, relay_models=models, **relay)) as client:
        answer = await client.get("/config.json")
    assert (answer.json()["relay"], answer.json()["relayModel"]) == (True, default)
    assert "sk-of-the-host" not in answer.text


async def test_health(static: Path) -> None:
    async with client_of(Settings(static=static)) as client:
        assert (await client.get("/healthz")).json() == {"status": "ok"}


async def test_what_is_off_is_not_there(static: Path) -> None:
    async with client_of(Settings(static=static, proxy=False)) as client:
        assert (await client.get("/proxy?url=https://a.example/")).status_code == 404
        assert (await client.get("/characters/")).status_code == 404


def test_a_missing_bundle_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="make run") as caught:
        create_app(Settings(static=tmp_path))
    assert caught.value.code == "assets_missing"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "characters"
    folder.mkdir()
    (folder / "aria.zip").write_bytes(b"PK aria")
    (folder / "Mr. Fox & co.zip").write_bytes(b"PK fox")
    (folder / ".hidden.zip").write_bytes(b"PK")
    (folder / "notes.txt").write_text("no")
    (folder / "sub.zip").mkdir()
    (tmp_path / "secret.zip").write_bytes(b"PK secret")
    (folder / "link.zip").symlink_to(tmp_path / "secret.zip")
    (folder / "link-to-hidden.zip").symlink_to(folder / ".hidden.zip")
    (folder / "link-to-notes.zip").symlink_to("notes.txt")
    (folder / "link-to-folder.zip").symlink_to("sub.zip")
    (folder / "loop.zip").symlink_to("loop.zip")
    (folder / "link-to-link.zip").symlink_to("link.zip")
    return folder


async def test_the_characters_list_leads_to_the_zips(static: Path, folder: Path) -> None:
    async with client_of(Settings(static=static, characters=folder)) as client:
        listed = (await client.get("/characters/")).json()
        fetched = [await client.get(f"/characters/{each['url']}") for each in listed]
    assert [(each["name"], each["bytes"]) for each in listed] == [("Mr. Fox & co", 6), ("aria", 7)]
    assert [answer.content for answer in fetched] == [b"PK fox", b"PK aria"]
    assert fetched[0].headers["content-disposition"].startswith("attachment")
    assert fetched[0].headers["content-type"] == "application/zip"


async def test_an_unchanged_character_is_not_sent_again(static: Path, folder: Path) -> None:
    async with client_of(Settings(static=static, characters=folder)) as client:
        etag = (await client.get("/characters/aria.zip")).headers["etag"]
        again = await client.get("/characters/aria.zip", headers={"If-None-Match": etag})
    assert (again.status_code, again.content) == (304, b"")


async def test_a_link_to_a_zip_that_is_offered_is_offered(static: Path, folder: Path) -> None:
    (folder / "newest.zip").symlink_to("aria.zip")
    async with client_of(Settings(static=static, characters=folder)) as client:
        assert (await client.get("/characters/newest.zip")).content == b"PK aria"


@pytest.mark.parametrize(
    "path",
    [
        *("nobody.zip", ".hidden.zip", "sub.zip", "link.zip", "..%2Fsecret.zip", "%00.zip"),
        *("link-to-hidden.zip", "link-to-notes.zip", "link-to-folder.zip", "loop.zip"),
        *("link-to-link.zip", "..zip", ".zip"),
    ],
)
async def test_only_zips_of_the_folder_are_served(static: Path, folder: Path, path: str) -> None:
    async with client_of(Settings(static=static, characters=folder)) as client:
        answer = await client.get(f"/characters/{path}")
    assert answer.status_code == 404
    assert code_of(answer) in ("character_unknown", "not_found")


async def test_a_crash_shows_nothing_of_the_inside(
    static: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("sk-secret at 10.0.0.7")

    monkeypatch.setattr("personae_server.characters.Characters._entries", broken)
    async with client_of(Settings(static=static, characters=folder)) as client:
        answer = await client.get("/characters/")
    assert (answer.status_code, code_of(answer)) == (500, "internal_error")
    assert "secret" not in answer.text and "10.0" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"
