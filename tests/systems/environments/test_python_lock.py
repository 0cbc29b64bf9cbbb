"""Locks of Python and Node packages, and inline metadata, are read strictly."""

import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memeval.records.errors import BadInput
from memeval.systems.environments.python_lock import (
    check_covered,
    read_package,
    read_package_lock,
    read_pins,
    read_script,
    write_pins,
)
from tests.systems.environments.locks import DIGEST, LOCK, PACKAGE_LOCK, script

HERE = Path("requirements.lock")
SCRIPT_HERE = Path("adapter.py")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("--index-url https://x.invalid/simple", "requirements.lock:1: '--index-url' is not allowed in a lock"),
        ("\n--extra-index-url=https://x.invalid", "requirements.lock:2: '--extra-index-url' is not allowed"),
        ("-r other.txt", "'-r' is not allowed"),
        ("-e .", "'-e' is not allowed"),
        ("--pre", "'--pre' is not allowed in a lock: it is not a package"),
        ("six", "'six' is not pinned to one version"),
        ("six==1.*", "'six' is not pinned to one version"),
        ("six>=1 --hash=sha256:" + DIGEST, "'six' is not pinned to one version"),
        ("# six\nsix==1.16.0", "requirements.lock:2: 'six' has no hash. Compile it with"),
        ("six==1.16.0 --hash=md5:" + "a" * 32, "is not a valid hash of 'six'"),
        ("six==1.16.0 --hash=sha256:" + "a" * 63, "is not a valid hash of 'six'"),
        ("six==1.16.0 --config-settings=a", "is not a valid hash of 'six'"),
        ("six @ https://x.invalid/six.whl --hash=sha256:" + DIGEST, "'six' comes from a URL"),
        ("git+https://x.invalid/six", "is not a package of an index"),
        ("./six.whl", "is not a package of an index"),
        ("# x \\\n--index-url https://x.invalid", "requirements.lock:2: '--index-url' is not allowed"),
        ("six==\x1b[2J", "is not a package of an index"),
        (f"six==1; os_name == '${{HOME}}' --hash=sha256:{DIGEST}", "is not a package of an index"),
        (f"six=={'1.' * 20_000}0 --hash=sha256:{DIGEST}", "is not a package of an index"),
        (f"six=={'9' * 5_000} --hash=sha256:{DIGEST}", "is not a package of an index"),
        (f"six==1{' ' * 500_000}x", "is not a package of an index"),
    ],
)
def test_a_lock_with_anything_but_pinned_packages_is_refused_with_its_line(text: str, sentence: str) -> None:
    with pytest.raises(BadInput) as refused:
        read_pins(text, HERE)
    assert sentence in str(refused.value)
    assert str(refused.value).isprintable()


def test_a_lock_is_read_with_its_markers_and_extras() -> None:
    text = f'A_b[c]==1.0+cpu ; python_version < "3.12" --hash=sha256:{DIGEST} \\\n  --hash=sha512:{"0" * 128}'
    (pin,) = read_pins(text, HERE)
    assert (pin.name, str(pin.version), len(pin.hashes)) == ("a-b", "1.0+cpu", 2)
    assert read_pins(write_pins([pin]), HERE) == (pin,)


@given(st.text() | st.from_regex(r"[a-z]{1,3}==[0-9]( ;[^\n]*)?( \\\n)? --hash=sha256:[0-9a-f]{64}\n", fullmatch=True))
@example("six==1 --hash=sha256:" + DIGEST + "\x85-e .")
def test_any_text_is_a_lock_or_refused_and_installers_get_what_was_read(text: str) -> None:
    try:
        pins = read_pins(text, HERE)
    except BadInput:
        return
    written = write_pins(pins)
    assert [str(pin) for pin in read_pins(written, HERE)] == written.splitlines() == [str(pin) for pin in pins]


@given(st.text().map(lambda text: script(*text.splitlines())) | st.text())
def test_any_text_is_a_script_or_refused(text: str) -> None:
    try:
        read_script(text, SCRIPT_HERE)
    except BadInput as refused:
        assert "adapter.py" in str(refused)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (script("dependencies = [") + "\n", "adapter.py:1: the '# /// script' block is not valid TOML"),
        (script('dependencies = "six"'), "not a list of texts"),
        (script("dependencies = [1]"), "not a list of texts"),
        (script('dependencies = ["six @ https://x.invalid/six.whl"]'), "'six' comes from a URL"),
        (script('requires-python = "three"'), "not a version range"),
        (script(f"tool = {'9' * 5_000}"), "is not valid TOML"),
        (script("requires-python = 3"), "not a version range"),
        (script('dependency = ["six"]'), "unknown key 'dependency'"),
        (script("dependencies = []") + "\n" + script("tool = {}"), "two '# /// script' blocks"),
    ],
)
def test_wrong_inline_metadata_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(BadInput) as refused:
        read_script(text, SCRIPT_HERE)
    assert sentence in str(refused.value)


def test_a_lock_pins_what_the_file_beside_it_asks_for() -> None:
    pins = read_pins(LOCK, HERE)
    for wanted, fits in (("iniconfig>=2", True), ("Iniconfig", True), ("iniconfig<2", False), ("six", False)):
        found = read_script(script(f'dependencies = ["{wanted}"]'), SCRIPT_HERE)
        assert found is not None
        if fits:
            check_covered(found, pins, HERE)
        else:
            with pytest.raises(BadInput, match=r"which requirements\.lock does not pin"):
                check_covered(found, pins, HERE)


def test_all_wrong_lines_of_a_lock_are_named_at_once() -> None:
    lock = "alpha==1.0\n-e .\nbeta>=2\n"
    with pytest.raises(BadInput, match=r"'alpha' has no hash\. Lines 2, 3 are wrong, too\."):
        read_pins(lock, HERE)


@pytest.mark.parametrize(
    ("part", "by", "sentence"),
    [
        ('"lockfileVersion": 3', '"lockfileVersion": 1', "is not 2 or 3"),
        ('"integrity"', '"dignity"', "package-lock.json:13: 'is-number' has no integrity"),
        ("sha512-", "sha1-", "'is-number' has no integrity"),
        *(
            ('"version": "7.0.0",\n', f'"resolved": "{place}",\n', "does not come from a registry")
            for place in ("git+ssh://git@x.invalid/x.git#abc", "http://x.invalid/-/x-1.0.0.tgz", "file:../x.tgz")
        ),
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
