"""Settings: flags over environment over defaults, each explained, each wrong value named."""

from __future__ import annotations

import argparse
import dataclasses
import ipaddress
from pathlib import Path

import pytest
from personae.errors import UsageError
from personae_server.settings import SECRET, Settings, add_flags, read_settings


def parsed(*arguments: str, **environment: str) -> Settings:
    parser = argparse.ArgumentParser()
    add_flags(parser)
    return read_settings(vars(parser.parse_args(arguments)), environment)


def test_without_anything_the_defaults_hold() -> None:
    assert parsed() == Settings()


def test_the_environment_sets_and_a_flag_wins() -> None:
    assert parsed(PERSONAE_PORT="9000", PERSONAE_NAME="Stage").port == 9000
    assert parsed("--port", "9001", PERSONAE_PORT="9000").port == 9001


@pytest.mark.parametrize(
    ("arguments", "environment", "proxy"),
    [
        ([], {}, True),
        (["--no-proxy"], {}, False),
        (["--proxy"], {"PERSONAE_PROXY": "off"}, True),
        ([], {"PERSONAE_PROXY": "OFF"}, False),
        ([], {"PERSONAE_PROXY": ""}, True),
    ],
)
def test_switches(arguments: list[str], environment: dict[str, str], proxy: bool) -> None:
    assert parsed(*arguments, **environment).proxy is proxy


def test_lists_take_commas_and_spaces(tmp_path: Path) -> None:
    settings = parsed(
        "--proxy-hosts", "a.example, *.b.example", "--proxy-ports", "80 8080",
        PERSONAE_PROXY_NETWORKS="10.0.0.0/8,fd00::/8", PERSONAE_CHARACTERS=str(tmp_path),
    )  # fmt: skip
    assert settings.proxy_hosts == ("a.example", "*.b.example")
    assert settings.proxy_ports == (80, 8080)
    assert settings.proxy_networks == tuple(
        ipaddress.ip_network(network) for network in ("10.0.0.0/8", "fd00::/8")
    )
    assert settings.characters == tmp_path


@pytest.mark.parametrize(
    ("arguments", "environment", "named"),
    [
        (["--port", "high"], {}, "--port"),
        (["--port", "65536"], {}, "--port"),
        (["--workers", "0"], {}, "--workers"),
        (["--grace", "-1"], {}, "--grace"),
        (["--grace", "nan"], {}, "--grace"),
        (["--log", "xml"], {}, "--log"),
        (["--characters", "/no/such/folder"], {}, "--characters"),
        (["--proxy-rate", "often"], {}, "--proxy-rate"),
        (["--relay-url", "models.example"], {}, "--relay-url"),
        ([], {"PERSONAE_RELAY_URL": "https://user:pw@models.example/v1"}, "PERSONAE_RELAY_URL"),
        ([], {"PERSONAE_RELAY_KEY_FILE": "/no/such/file"}, "PERSONAE_RELAY_KEY_FILE"),
        ([], {"PERSONAE_PROXY": "maybe"}, "PERSONAE_PROXY"),
        ([], {"PERSONAE_PROXY_NETWORKS": "10.0.0.1/8"}, "PERSONAE_PROXY_NETWORKS"),
        (["--proxy-ports", "80,70000"], {}, "--proxy-ports"),
    ],
)
def test_an_unusable_value_is_named(
    arguments: list[str], environment: dict[str, str], named: str
) -> None:
    with pytest.raises(UsageError, match=named) as caught:
        parsed(*arguments, **environment)
    assert caught.value.code == "setting_invalid"


def test_help_explains_every_setting_and_names_its_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "999")
    parser = argparse.ArgumentParser()
    add_flags(parser)
    text = " ".join(parser.format_help().split())
    for each in dataclasses.fields(Settings):
        if each.name == SECRET:
            assert "relay-key" not in text
            continue
        assert f"--{each.name.replace('_', '-')}" in text
        assert f"PERSONAE_{each.name.upper()}" in text
        assert each.metadata["help"] in text
