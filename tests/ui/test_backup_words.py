"""What the dialog says before a backup changes anything."""

from __future__ import annotations

from personae.storage.transfer.backup_file import Backup
from personae.ui.settings.app_settings import Settings
from personae.ui.settings.backup_words import left_out, question


def test_what_changes_and_what_does_not_is_said() -> None:
    found = {
        "temperature": 0.2,
        "base_url": "https://evil.example/v1",
        "cap_response": 10**9,
        "web_access": {"a": True},
        "max_tokens": None,
    }
    said = question(Backup(settings=found), Settings(temperature=0.7))
    assert "changes temperature to 0.2." in said
    assert "settings for provider, caps and web access are not taken over" in said
    assert "evil" not in said
    assert "longest reply" not in said


def test_a_backup_with_content_only_says_nothing_of_settings() -> None:
    said = question(Backup(settings={"cap_response": 32_000, "top_p": None}), Settings())
    assert "0 characters and 0 conversations" in said
    assert "settings" not in said


def test_what_cannot_be_read_is_named_and_the_rest_counted() -> None:
    said = question(Backup(unreadable=["a", "b", "c", "d", "e"]), Settings())
    assert "left out: a; b; c and 2 more." in said
    assert (left_out([]), left_out(["One"])) == (
        "",
        "Too large for a backup, and left out: One.",
    )


def test_a_name_in_a_backup_is_one_plain_line() -> None:
    said = question(Backup(unreadable=["\u202efiles/x\n\n" + "y" * 9_000]), Settings())
    assert "left out: files/x yyy" in said
    assert len(said) < 600
