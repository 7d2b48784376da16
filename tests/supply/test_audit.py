"""The audit: vulnerabilities fail it, and so does a registry that tells nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bundle.audit import NOT_ASKED, VULNERABLE, Answer, read_npm, read_python, verdict

FAULT = {"id": "PYSEC-2026-1", "fix_versions": ["2.1"], "aliases": [], "description": ""}


def python_answer(*packages: dict[str, Any]) -> Answer:
    return read_python("a.lock", 2, json.dumps({"dependencies": packages, "fixes": []}), "")


SOUND = {"name": "a", "version": "1", "vulns": []}
FAULTY = {"name": "b", "version": "2", "vulns": [FAULT]}
SKIPPED = {"name": "c", "skip_reason": "Dependency not found on the index: c (1)"}


def test_all_is_well_only_when_all_were_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert verdict([python_answer(SOUND, SOUND)]) == 0
    assert "No known vulnerabilities." in capsys.readouterr().out


def test_a_vulnerability_fails_and_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert verdict([python_answer(SOUND, FAULTY), python_answer(SKIPPED)]) == VULNERABLE
    assert "b 2: PYSEC-2026-1 (mended in 2.1)" in capsys.readouterr().out


def test_a_skipped_package_is_not_called_sound(capsys: pytest.CaptureFixture[str]) -> None:
    answer = python_answer(SOUND, SKIPPED)
    assert (answer.asked, answer.found) == (1, ())
    assert verdict([answer]) == NOT_ASKED
    told = capsys.readouterr().out
    assert "NOT AUDITED: 1 skipped: Dependency not found" in told
    assert "No known vulnerabilities" not in told


@pytest.mark.parametrize(
    ("output", "errors", "reason"),
    [
        ("", "Traceback\nConnectionError: no route", "ConnectionError: no route"),
        ("", "", "pip-audit gave no answer"),
        ("[]", "odd", "odd"),
        ('{"dependencies": []}', "", "pip-audit looked at nothing"),
    ],
)
def test_pip_audit_that_does_not_answer(output: str, errors: str, reason: str) -> None:
    answer = read_python("a.lock", 3, output, errors)
    assert answer.not_asked == reason
    assert verdict([answer]) == NOT_ASKED


def test_npm_with_and_without_vulnerabilities() -> None:
    counted = {"dependencies": {"total": 7}}
    sound = read_npm("l", json.dumps({"vulnerabilities": {}, "metadata": counted}), "")
    assert (sound.asked, verdict([sound])) == (7, 0)
    faults = {"marked": {"range": "<18", "severity": "high"}}
    faulty = read_npm("l", json.dumps({"vulnerabilities": faults, "metadata": counted}), "")
    assert faulty.found == ("marked <18: high",)
    assert verdict([faulty]) == VULNERABLE


@pytest.mark.parametrize("output", ['{"message": "405 Method Not Allowed"}', "", "<html>"])
def test_npm_that_does_not_answer(output: str) -> None:
    answer = read_npm("l", output, "npm error\naudit endpoint returned an error")
    assert answer.not_asked in ("405 Method Not Allowed", "audit endpoint returned an error")
    assert verdict([answer]) == NOT_ASKED
