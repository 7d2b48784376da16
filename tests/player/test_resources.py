"""The package's data files."""

from __future__ import annotations

from pathlib import Path

import personae
import pytest
from personae import resources

FOLDER = Path(personae.__file__).parent


def test_every_data_file_is_named():
    found = {
        path.relative_to(FOLDER).as_posix()
        for path in FOLDER.rglob("*")
        if path.suffix in (".js", ".json") and path.is_file()
    }
    assert found == set(resources.NAMES)


@pytest.mark.parametrize("name", resources.NAMES)
def test_a_file_is_what_the_folder_holds(name: str):
    assert resources.text(name) == (FOLDER / name).read_text("utf-8")


def test_what_is_not_named_is_not_read():
    with pytest.raises(KeyError):
        resources.text("errors.py")
