"""Locks of Node packages are read strictly."""

import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memeval.records.errors import BadInput
from memeval.systems.environments.python_lock import read_package, read_package_lock
from tests.systems.environments.locks import PACKAGE_LOCK


@pytest.mark.parametrize(
    ("part", "by", "sentence"),
    [
        ('"lockfileVersion": 3', '"lockfileVersion": 1', "is not 2 or 3"),
        ('"integrity"', '"dignity"', "package-lock.json:13: 'is-number' has no integrity"),
        ("sha512-", "sha1-", "'is-number' has no integrity"),
        (
            '"version": "7.0.0",\n',
            '"resolved": "git+ssh://git@x.invalid/x.git#abc",\n',
            "does not come from a registry",
        ),
        ('"version": "7.0.0",\n', '"resolved": "http://x.invalid/-/x-1.0.0.tgz",\n', "does not come from a registry"),
        ('"version": "7.0.0",\n', '"resolved": "file:../x.tgz",\n', "does not come from a registry"),
        ('"version": "7.0.0",\n', '"link": true,\n', "is a folder"),
        ("node_modules/is-number", "../is-number", "is a folder"),
        ("node_modules/is-number", "node_modules/../is-number", "is a folder"),
        ('"dependencies"', '"workspaces": ["a"], "dependencies"', "has 'workspaces'"),
        ('"is-number": "7.0.0"', '"is-number": "x/is-number"', "does not come from a registry"),
        ('"packages": {', '"packages": 1, "x": {', "'packages' is missing or not an object"),
    ],
)
def test_a_node_lock_with_anything_but_a_registrys_packages_is_refused(part: str, by: str, sentence: str) -> None:
    assert part in PACKAGE_LOCK
    read_package_lock(PACKAGE_LOCK, Path("package-lock.json"))
    with pytest.raises(BadInput) as refused:
        read_package_lock(PACKAGE_LOCK.replace(part, by), Path("package-lock.json"))
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    "version", ["git+https://x.invalid/x", "file:../x", "https://x.invalid/x.tgz", "a/b", "npm:a/b"]
)
def test_a_package_asks_a_registry_alone(version: str) -> None:
    with pytest.raises(BadInput, match="does not come from a registry"):
        read_package(json.dumps({"dependencies": {"x": version}}), Path("package.json"))
    read_package(json.dumps({"dependencies": {"x": "^1.0.0 || 2", "y": "npm:@a/b@1"}}), Path("package.json"))


def objects_of(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    keys = st.sampled_from(
        ["packages", "", "node_modules/a", "dependencies", "lockfileVersion", "integrity", "resolved"]
    )
    return st.dictionaries(keys | st.text(), inner)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | objects_of(inner)
)


@pytest.mark.parametrize("value", ["NaN", "1e999", r'"\ud800"', "9" * 5_000])
def test_what_no_digest_can_be_made_of_is_no_json(value: str) -> None:
    with pytest.raises(BadInput, match="not valid JSON"):
        read_package(f'{{"x": {value}}}', Path("package.json"))


@given(JSON.map(json.dumps) | st.text())
@example("[" * 100_000)
@example('{"lockfileVersion": 3, "packages": {}, "x": NaN}')
def test_any_text_is_a_node_lock_or_refused(text: str) -> None:
    for read in (read_package, read_package_lock):
        try:
            read(text, Path("package.json"))
        except BadInput as refused:
            assert "package.json" in str(refused)
