from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from personae.package.archive.paths import UnsafeName, clean_path, find_roots, is_junk


@pytest.mark.parametrize(
    ("name", "clean"),
    [
        ("a", "a"),
        ("./a//b/", "a/b"),
        ("a\\b", "a/b"),
        ("notes..txt", "notes..txt"),
        (".cars.json", ".cars.json"),
        ("cafe\u0301", "café"),
        ("__proto__", "__proto__"),
        ("C", "C"),
    ],
)
def test_clean_paths(name: str, clean: str):
    assert clean_path(name) == clean


@pytest.mark.parametrize(
    "name", ["", ".", "/", "..", "a/..", "..\\a", "\\a", "Z:", "./Z:", "a\x7f", "a\0"]
)
def test_refused_paths(name: str):
    with pytest.raises(UnsafeName):
        clean_path(name)


@given(st.text(st.sampled_from("ab./\\:C~ \n"), max_size=12))
@settings(deadline=None)
def test_a_clean_path_stays_inside_and_stays_the_same(name: str):
    try:
        path = clean_path(name)
    except UnsafeName:
        return
    assert clean_path(path) == path
    parts = path.split("/")
    assert "" not in parts
    assert not {".", ".."} & set(parts)
    assert "\\" not in path


def test_junk():
    assert is_junk("__MACOSX/x")
    assert is_junk("a/THUMBS.DB")
    assert not is_junk("context/.cars.json")
    assert not is_junk("thumbs.db.txt")


def test_roots():
    assert find_roots(["config.json", "x/config.json"]) == [""]
    assert find_roots(["b/config.json", "a/config.json", "a/b/config.json"]) == ["a/", "b/"]
    assert find_roots(["a/myconfig.json"]) == []
