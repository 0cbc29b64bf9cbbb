"""Environments: packages come as the lock names them, once, and nothing of memeval's is seen."""

import functools
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memeval.records.errors import BadInput
from memeval.systems.environments import Environment, environment_for, install
from memeval.systems.environments.python_lock import read_script
from memeval.systems.environments.tools import Installer, find_pip, find_uv, uv_settings
from tests.systems.environments.locks import DIGEST, LOCK, OTHER, PACKAGE, PACKAGE_LOCK, script, submission


def ran(environment: Environment, code: str) -> str:
    done = subprocess.run([str(environment.python), "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture(scope="session", params=["uv", "pip"])
def installer(request: pytest.FixtureRequest) -> Installer:
    tool = find_uv() if request.param == "uv" else find_pip()
    assert tool is not None and tool.name == request.param
    return tool


@pytest.fixture(scope="session")
def built(installer: Installer, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    folder = tmp_path_factory.mktemp("built")
    wanted = submission(folder / "submission", requirements_lock=LOCK)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(install, "find_python_installer", lambda: installer)
        environment = environment_for(wanted, None, cache=folder / "cache", note=lambda _line: None)
    assert environment is not None and environment.identity.tool == str(installer)
    return environment


def test_a_package_of_the_lock_is_there_and_nothing_of_memevals(built: Environment) -> None:
    assert ran(built, "import iniconfig; print(iniconfig.__file__)").startswith(str(built.folder))
    code = "import importlib.util as u; print([n for n in ('memeval', 'pydantic', 'pip', 'rich') if u.find_spec(n)])"
    assert ran(built, code) == "[]"


def test_modules_are_compiled_for_nothing_can_be_written_later(built: Environment) -> None:
    assert list(built.folder.glob("python/lib/*/site-packages/iniconfig/__pycache__/*.pyc"))


def test_tests_of_packages_are_not_compiled_wherever_the_environment_is(tmp_path: Path) -> None:
    target = tmp_path / "tests" / "env"
    package = target / "lib" / "python3" / "site-packages" / "one"
    for folder in (package, package / "tests" / "inner", package / "test", package / "latest", package / "testing"):
        folder.mkdir(parents=True)
        (folder / "module.py").write_text("value = 1\n", "utf-8")
    (package / "tests.py").write_text("value = 1\n", "utf-8")
    install._compile(target)
    compiled = {path.parents[1].relative_to(package).as_posix() for path in package.rglob("*.pyc")}
    assert compiled == {".", "latest", "testing"}
    assert len(list((package / "__pycache__").iterdir())) == 2


def test_what_an_environment_needs_is_shown(built: Environment) -> None:
    assert built.python is not None
    assert any(built.python.resolve().is_relative_to(folder) for folder in (*built.shown, Path("/usr")))
    assert built.path == (built.python.parent,)
    assert built.identity.locked


def test_a_file_with_another_digest_is_refused(
    installer: Installer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(install, "find_python_installer", lambda: installer)
    wanted = submission(tmp_path / "submission", requirements_lock=OTHER)
    with pytest.raises(BadInput, match=r"requirements\.lock:1: the file of 'iniconfig==2\.0\.0' does not match"):
        environment_for(wanted, None, cache=tmp_path, note=lambda _line: None)
    assert not list(tmp_path.glob("environments/*/*"))


def test_a_file_without_a_lock_gets_one_chosen_and_kept(tmp_path: Path) -> None:
    wanted = submission(tmp_path / "submission", adapter_py=script('dependencies = ["iniconfig==2.0.0"]'))
    notes: list[str] = []
    for _ in range(2):
        environment = environment_for(wanted, wanted / "adapter.py", cache=tmp_path, note=notes.append)
        assert environment is not None and not environment.identity.locked
        assert ran(environment, "import iniconfig; print(iniconfig.__name__)") == "iniconfig"
    assert len(notes) == 2
    assert DIGEST in next(tmp_path.glob("resolved/*.lock")).read_text("utf-8")


def test_pip_chooses_versions_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "find_python_installer", find_pip)
    found = read_script(script('dependencies = ["iniconfig==2.0.0"]'), tmp_path / "adapter.py")
    assert found is not None
    chosen = install.resolve(found, tmp_path / "kept", lambda _line: None)
    assert str(chosen) == f"iniconfig==2.0.0 --hash=sha256:{DIGEST}\n"


def test_node_packages_are_installed_from_their_lock(tmp_path: Path) -> None:
    elsewhere = '"resolved": "https://x.invalid/is-number/-/is-number-7.0.0.tgz", "version": "7.0.0"'
    lock = PACKAGE_LOCK.replace('"version": "7.0.0"', elsewhere)  # where packages come from is not for it to say
    wanted = submission(tmp_path / "submission", package_json=PACKAGE, package__lock_json=lock)
    environment = environment_for(wanted, None, cache=tmp_path, note=lambda _line: None)
    assert environment is not None and environment.python is None
    code = "console.log(require('is-number')('7'))"
    done = subprocess.run(
        ["node", "-e", code], env=environment.variables | {"PATH": "/usr/local/bin:/usr/bin"}, stdout=-1
    )
    assert done.stdout == b"true\n"
    assert all(path.is_dir() for path in environment.path), "what is not there cannot be shown"


def test_without_a_lock_there_is_no_environment(tmp_path: Path) -> None:
    wanted = submission(tmp_path / "submission", adapter_py="class System: ...\n", package_json="{}")
    assert environment_for(wanted, wanted / "adapter.py", cache=tmp_path / "cache", note=pytest.fail) is None
    assert not (tmp_path / "cache").exists()


def test_an_environment_is_built_once_even_by_two_at_a_time(tmp_path: Path) -> None:
    wanted, notes = submission(tmp_path / "submission", requirements_lock="# nothing\n"), list[str]()
    build = functools.partial(environment_for, wanted, None, cache=tmp_path / "cache", note=notes.append)
    with ThreadPoolExecutor(2) as pool:
        first, second = (each.result() for each in [pool.submit(build), pool.submit(build)])
    assert first == second == build()
    assert len(notes) == 1


@pytest.mark.parametrize("damage", ["marker", "file", "python", "more"])
def test_a_damaged_environment_is_built_again(tmp_path: Path, damage: str) -> None:
    wanted, notes = submission(tmp_path / "submission", requirements_lock=""), list[str]()
    build = functools.partial(environment_for, wanted, None, cache=tmp_path / "cache", note=notes.append)
    environment = build()
    assert environment is not None and environment.python is not None
    match damage:
        case "marker":
            (environment.folder / "environment.json").write_text("{", "utf-8")
        case "file":
            (environment.folder / "python" / "pyvenv.cfg").write_text("", "utf-8")
        case "python":
            environment.python.unlink()
        case _:
            (environment.folder / "python" / "lib" / "more.pth").write_text("import os", "utf-8")
    assert build() == environment
    assert len(notes) == 2
    assert ran(environment, "print(6 * 7)") == "42"
    assert not (environment.folder / "python" / "lib" / "more.pth").exists()


def test_the_digest_follows_what_is_installed_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMEVAL_CACHE", str(tmp_path / "cache"))
    empty = submission(tmp_path / "empty", requirements_lock="")
    said = submission(tmp_path / "said", requirements_lock="# with a comment\n")
    inline = submission(tmp_path / "inline", adapter_py=script("dependencies = []"))
    one, two, three = (
        environment_for(folder, folder / "adapter.py", note=lambda _line: None) for folder in (empty, said, inline)
    )
    assert one is not None and two is not None and three is not None
    assert one.folder == two.folder == three.folder == next(tmp_path.glob("cache/environments/*"))
    assert (one.identity.locked, three.identity.locked) == (True, False)


def test_a_python_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    wanted = submission(tmp_path / "submission", adapter_py="\n" + script('requires-python = ">=4.0"'))
    with pytest.raises(BadInput, match=r"adapter\.py:2: needs Python >=4\.0, and memeval runs on 3\."):
        environment_for(wanted, wanted / "adapter.py", cache=tmp_path, note=pytest.fail)


def test_a_link_is_no_lock(tmp_path: Path) -> None:
    wanted = submission(tmp_path / "submission")
    (wanted / "requirements.lock").symlink_to("/etc/passwd")
    with pytest.raises(BadInput, match="not a plain file"):
        environment_for(wanted, None, cache=tmp_path, note=pytest.fail)


def test_dependencies_without_a_lock_are_refused(tmp_path: Path) -> None:
    wanted = submission(tmp_path / "submission", package_json=PACKAGE)
    with pytest.raises(BadInput, match=r"no package-lock\.json beside it"):
        environment_for(wanted, None, cache=tmp_path, note=pytest.fail)


@pytest.mark.parametrize("name", ["requirements.txt", "requirements.in"])
def test_packages_of_a_python_adapter_without_a_lock_are_refused(tmp_path: Path, name: str) -> None:
    wanted = submission(tmp_path / "submission")
    asked = wanted / name
    asked.write_text("# only a remark\n\n", "utf-8")
    assert environment_for(wanted, wanted / "adapter.py", cache=tmp_path, note=pytest.fail) is None
    asked.write_text("# packages\niniconfig\n", "utf-8")
    for lock in (None, "", "# only a remark\n"):
        if lock is not None:
            (wanted / "requirements.lock").write_text(lock, "utf-8")
        with pytest.raises(BadInput, match=rf"missing or pins none\..*--universal {name} -o requirements\.lock"):
            environment_for(wanted, wanted / "adapter.py", cache=tmp_path, note=pytest.fail)
    (wanted / "requirements.lock").unlink()
    assert environment_for(wanted, None, cache=tmp_path, note=pytest.fail) is None  # another program's own affair


def test_a_cache_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    wanted = submission(tmp_path / "submission", requirements_lock="")
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(BadInput, match="MEMEVAL_CACHE"):
        environment_for(wanted, None, cache=tmp_path / "file" / "cache", note=pytest.fail)


def test_uv_is_told_what_pips_configuration_says_of_indexes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("UV_INDEX", "UV_DEFAULT_INDEX", "UV_FIND_LINKS", "PIP_FIND_LINKS", "PIP_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    conf = tmp_path / "pip.conf"
    conf.write_text("[global]\nindex-url = https://a.invalid/simple\nextra-index-url =\n  file:///b\n  file:///c\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(conf))
    settings = uv_settings()
    assert settings["UV_DEFAULT_INDEX"] == "https://a.invalid/simple"
    assert settings["UV_INDEX"].split()[-2:] == ["file:///b", "file:///c"]
    monkeypatch.setenv("UV_INDEX", "https://d.invalid")
    assert uv_settings() == {}
