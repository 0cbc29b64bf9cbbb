from __future__ import annotations

from pathlib import Path

import pytest

from memeval.records.errors import BadInput, NewerSchema
from memeval.records.run import SystemKind, View
from memeval.systems.controls import CONTROLS
from memeval.systems.messages import Hello
from memeval.systems.process import SystemProcess
from memeval.systems.source import SystemSource, candidates_warning, find_system, folder_source, greet
from tests.systems.helpers import FAST, adapter, write

MANIFEST = """
schema_version = 1
slug = "acme"
name = "Acme"
version = "1.0"
light = true
authors = ["A. Person"]

[parameters]
depth = 3
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A submission that is all right."""
    made = tmp_path / "submissions" / "acme"
    made.mkdir(parents=True)
    write(made, adapter("return 'x'"))
    write(made, MANIFEST, "submission.toml")
    return made


def refusal(named: object, submissions: Path = Path("nowhere")) -> str:
    """Return the sentence with which a system is refused."""
    with pytest.raises(BadInput) as caught:
        find_system(str(named), submissions)
    return str(caught.value)


def test_a_submission_is_found_by_slug_and_by_folder(folder: Path) -> None:
    by_slug = find_system("acme", folder.parent)
    assert by_slug == find_system(str(folder))
    assert (by_slug.slug, by_slug.name, by_slug.version, by_slug.kind) == ("acme", "Acme", "1.0", SystemKind.SUBMISSION)
    assert by_slug.light and by_slug.declared_models == ()
    assert by_slug.parameters == by_slug.launch.parameters == {"depth": 3}


def test_a_file_is_a_system_with_the_class_after_a_colon(tmp_path: Path) -> None:
    file = write(tmp_path, adapter("return 'x'"), "My Memory_2.py")
    plain, named = find_system(str(file)), find_system(f"{file}:System")
    assert (plain.slug, plain.version, plain.kind, plain.launch.class_name) == (
        "my-memory-2",
        "0",
        SystemKind.FILE,
        None,
    )
    assert named.launch.class_name == "System"
    assert plain.submission_digest == named.submission_digest
    assert find_system(str(write(tmp_path, adapter("return 1"), "bm25.py"))).slug == "bm25-file"


def test_every_control_is_found_by_its_name() -> None:
    for slug, control in CONTROLS.items():
        source = find_system(slug)
        assert (source.slug, source.kind, source.control) == (slug, SystemKind.CONTROL, control)
        assert source.view is (View.EVIDENCE if slug == "oracle" else View.ALL)


def test_the_digest_is_of_every_file_but_what_tools_leave(folder: Path) -> None:
    before = folder_source(folder).submission_digest
    write(folder, "junk", ".DS_Store")
    (folder / "__pycache__").mkdir()
    write(folder / "__pycache__", "junk", "adapter.pyc")
    assert folder_source(folder).submission_digest == before
    (folder / "data").mkdir()
    write(folder / "data", "one", "a.txt")
    with_file = folder_source(folder).submission_digest
    assert with_file != before
    (folder / "data" / "a.txt").rename(folder / "data" / "b.txt")
    assert folder_source(folder).submission_digest not in (before, with_file)


def test_a_link_in_a_submission_is_refused(folder: Path) -> None:
    (folder / "passwd").symlink_to("/etc/passwd")
    assert refusal(folder) == f"{folder}/passwd: is a symbolic link. A submission holds plain files only."


def test_a_missing_path_a_wrong_suffix_and_a_bare_folder_are_told_apart(tmp_path: Path) -> None:
    assert refusal(tmp_path / "no.py") == f"{tmp_path}/no.py: there is no such file or folder. Check the path."
    notes = write(tmp_path, "x", "notes.txt")
    assert refusal(notes) == f"{notes}: is not a Python file: its name does not end in .py."
    assert "is a folder without a submission.toml." in refusal(tmp_path)


def test_a_file_that_is_not_python_is_refused_with_its_line(tmp_path: Path) -> None:
    broken = write(tmp_path, "x = 1\ndef f(:\n")
    assert refusal(broken).startswith(f"{broken}:2: is not valid Python: ")
    for data in (b"\xff\xfe\x00", b"x = '\x00'", b"\x80abc"):
        broken.write_bytes(data)
        assert "is not valid Python: " in refusal(broken)


def test_an_unknown_name_is_refused_with_the_nearest(folder: Path) -> None:
    assert refusal("acmee", folder.parent) == "there is no system called 'acmee'. Did you mean 'acme'?"
    assert refusal("bm52") == "there is no system called 'bm52'. Did you mean 'bm25'?"
    assert "There are: no-memory, " in refusal("zzzzzzzzzz")


@pytest.mark.parametrize(
    ("old", "new", "line", "sentence"),
    [
        ("light = true", "entery = 'a.py'", 6, "unknown key 'entery'. Did you mean 'entry'?"),
        ("light = true", "light = 'yes'", 6, "'light': "),
        ("light = true", "light = ", 6, "not valid TOML"),
        ('version = "1.0"', "version = 2026-01-01", 5, "'version' is a date. Put it in quotes."),
        ('slug = "acme"', 'slug = "Ac/me"', 3, "'slug': "),
        ('name = "Acme"', "", None, "'name' is missing."),
        ("light = true", "entry = '../adapter.py'", 6, "is not a path inside this folder"),
        ("light = true", "entry = 'other.py'", 6, "is not a file of this folder"),
        ("light = true", "entry = '/etc/passwd'", 6, "is not a path inside this folder"),
        ('slug = "acme"', 'slug = "bm25"', 3, "is the name of a shipped control"),
        ("depth = 3", "depth = [3]", 10, "'parameters.depth"),
    ],
)
def test_a_fault_in_the_manifest_is_named_by_line(
    folder: Path, old: str, new: str, line: int | None, sentence: str
) -> None:
    manifest = write(folder, MANIFEST.replace(old, new), "submission.toml")
    refused = refusal(folder)
    assert refused.startswith(f"{manifest}:{line}: " if line else f"{manifest}: ")
    assert sentence in refused


def test_a_newer_manifest_is_refused_as_such(folder: Path) -> None:
    write(folder, MANIFEST.replace("schema_version = 1", "schema_version = 2"), "submission.toml")
    with pytest.raises(NewerSchema, match="Update memeval"):
        find_system(str(folder))


def test_a_slug_must_be_its_folders_name(folder: Path) -> None:
    folder.rename(folder.parent / "other")
    assert "Give both the same name." in refusal("other", folder.parent)


def _greeted(source: SystemSource) -> Hello:
    process = SystemProcess(source.launch, FAST, print)
    try:
        return greet(source, process)
    finally:
        process.close()


def test_a_greeting_refuses_what_would_be_nothing_but_errors(tmp_path: Path) -> None:
    file = write(tmp_path, "class A: pass")
    with pytest.raises(BadInput, match=r"adapter\.py: No adapter class found: a class needs reset"):
        _greeted(find_system(str(file)))
    with pytest.raises(BadInput, match="Loading the adapter raised ZeroDivisionError"):
        _greeted(find_system(str(write(tmp_path, "1 / 0"))))


def test_several_classes_are_warned_of_unless_one_is_named(tmp_path: Path) -> None:
    source = adapter("return 'x'") + "\nclass Another(System):\n    pass\n"
    file = write(tmp_path, source)
    unnamed, named = find_system(str(file)), find_system(f"{file}:System")
    hello = _greeted(unnamed)
    warning = candidates_warning(hello, unnamed.launch)
    assert warning is not None
    assert "several adapter classes (Another, System); Another is run." in warning
    assert candidates_warning(_greeted(named), named.launch) is None
