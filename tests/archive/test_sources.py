"""The files of a system are stored whole, once, by their digest, or not at all."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from memeval.archive.sources import SOURCES, keep_source, source_fault, source_path, store_source, stored_sources
from memeval.records.base import Digest, digest_of
from memeval.systems.controls import CONTROLS
from memeval.systems.folder import TOTAL_BYTES
from memeval.systems.source import altered_source, control_source, file_source, folder_source
from tests.support.adapters import plain_adapter

MANIFEST = """
slug = "acme"
name = "Acme"
version = "1"
[variants.fast]
summary = "Fast."
[variants.fast.parameters]
k = 1
"""


def submission(folder: Path) -> Path:
    made = folder / "acme"
    made.mkdir()
    plain_adapter(made).rename(made / "adapter.py")
    (made / "submission.toml").write_text(MANIFEST)
    (made / ".gitignore").write_text("*.tmp\n")
    return made


def stored_names(results: Path) -> list[str]:
    return sorted(str(path.relative_to(results / SOURCES)) for path in results.rglob("*") if path.is_file())


def store(results: Path, files: Mapping[str, Path], digest: Digest | None = None) -> str | None:
    return store_source(results, "acme", digest or digest_of("any"), files)


def test_a_submission_is_stored_under_its_digest(tmp_path: Path) -> None:
    source = folder_source(submission(tmp_path))
    assert keep_source(tmp_path / "results", source) is None
    (folder,) = stored_sources(tmp_path / "results", source.submission_digest)
    assert folder == source_path(tmp_path / "results", "acme", source.submission_digest, MANIFEST.encode())
    assert stored_names(tmp_path / "results") == [
        f"acme/{folder.name}/adapter.py",
        f"acme/{folder.name}/submission.toml",
    ]
    assert folder_source(folder).submission_digest == source.submission_digest
    assert source_fault(folder) is None


def test_variants_and_configurations_share_the_files(tmp_path: Path) -> None:
    folder = submission(tmp_path)
    for source in (folder_source(folder, "fast"), altered_source(folder_source(folder), "other", {"k": 2})):
        assert keep_source(tmp_path / "results", source) is None
    assert [path.parent.name for path in stored_sources(tmp_path / "results")] == ["acme"]


def test_another_description_is_stored_beside_the_first_and_other_prose_is_not(tmp_path: Path) -> None:
    folder, results = submission(tmp_path), tmp_path / "results"
    first = folder_source(folder)
    assert keep_source(results, first) is None
    (folder / "README.md").write_text("Read me.\n")
    assert keep_source(results, folder_source(folder)) is None
    assert len(stored_sources(results)) == 1
    (folder / "submission.toml").write_text(MANIFEST + '[configuration]\nmodel = "no LLM"\n')
    assert keep_source(results, folder_source(folder)) is None
    assert len(stored_sources(results, first.submission_digest)) == 2
    assert [source_fault(each) for each in stored_sources(results)] == [None, None]


def test_a_stored_description_that_was_edited_is_found(tmp_path: Path) -> None:
    assert keep_source(tmp_path / "results", folder_source(submission(tmp_path))) is None
    (folder,) = stored_sources(tmp_path / "results")
    (folder / "submission.toml").write_text(MANIFEST.replace('name = "Acme"', 'name = "Other"'))
    fault = source_fault(folder)
    assert fault is not None and fault.problem == "does not match its digest: a file was changed."


def test_controls_and_single_files_are_not_stored(tmp_path: Path) -> None:
    for source in (control_source(CONTROLS["bm25"]), file_source(plain_adapter(tmp_path))):
        assert keep_source(tmp_path / "results", source) is None
    assert stored_sources(tmp_path / "results") == []


@pytest.mark.parametrize("name", ["adapter.py", "submission.toml"])
def test_files_that_changed_after_the_start_are_not_stored(tmp_path: Path, name: str) -> None:
    folder = submission(tmp_path)
    source = folder_source(folder)
    with (folder / name).open("a") as stream:
        stream.write("# changed\n")
    assert keep_source(tmp_path / "results", source) == "its files changed after the start"
    assert stored_names(tmp_path / "results") == []


@pytest.mark.parametrize("name", ["../evil.py", "/etc/evil.py", "a/../../evil.py"])
def test_a_name_that_leads_outside_is_not_stored(name: str, tmp_path: Path) -> None:
    path = plain_adapter(tmp_path)
    assert store(tmp_path / "results", {name: path}) == "plain.py is not a plain file inside the submission"
    assert stored_names(tmp_path / "results") == []
    assert not list(tmp_path.rglob("evil.py"))


def test_a_symlink_is_not_stored(tmp_path: Path) -> None:
    (tmp_path / "link.py").symlink_to(plain_adapter(tmp_path))
    assert store(tmp_path / "results", {"link.py": tmp_path / "link.py"}) is not None
    assert stored_names(tmp_path / "results") == []


def test_files_that_are_too_large_are_not_stored(tmp_path: Path) -> None:
    large = tmp_path / "large.py"
    large.write_bytes(b"#" * (TOTAL_BYTES + 1))
    refused = store(tmp_path / "results", {"large.py": large})
    assert refused is not None and refused.endswith("the limit without lock files is 2000000")
    assert stored_names(tmp_path / "results") == []


def test_a_secret_is_not_stored(tmp_path: Path) -> None:
    path = tmp_path / "adapter.py"
    path.write_text(f'KEY = "sk-{"a1" * 12}"\n')
    assert store(tmp_path / "results", {"adapter.py": path}) == "adapter.py seems to contain a secret"
    assert stored_names(tmp_path / "results") == []


def test_an_invalid_slug_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not a slug"):
        source_path(tmp_path, "../acme", f"sha256:{'0' * 64}", b"")


def test_a_link_in_the_place_of_a_stored_source_is_found(tmp_path: Path) -> None:
    assert keep_source(tmp_path / "results", folder_source(submission(tmp_path))) is None
    (folder,) = stored_sources(tmp_path / "results")
    folder.rename(tmp_path / folder.name)
    folder.symlink_to(tmp_path / folder.name, target_is_directory=True)
    fault = source_fault(folder)
    assert fault is not None and fault.problem == "is not a folder."
