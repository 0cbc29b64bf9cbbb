"""The digest of a submission is of what runs, and not of what describes it."""

from pathlib import Path

import pytest

from memeval.records.submission import Submission, Variant
from memeval.systems.folder import BEHAVIOUR, is_prose
from memeval.systems.source import folder_source
from tests.support.adapters import plain_adapter

MANIFEST = 'slug = "acme"\nname = "Acme"\nversion = "1"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "acme"
    made.mkdir()
    plain_adapter(made).rename(made / "adapter.py")
    (made / "submission.toml").write_text(MANIFEST)
    (made / "requirements.lock").write_text("# no packages\n")
    return made


def digest(folder: Path, manifest: str = MANIFEST) -> str:
    (folder / "submission.toml").write_text(manifest)
    return folder_source(folder).submission_digest


@pytest.mark.parametrize(
    "more",
    [
        'authors = ["A. Person"]',
        'licence = "MIT"',
        'homepage = "https://acme.example"',
        'summary = "A memory."',
        "light = true",
        "deterministic = false",
        'conflict_of_interest = "None."',
        'declared_models = ["gpt-4o"]',
        'mock = true\n[configuration]\nreplaced = ["the LLM"]',
        '[product]\nname = "Acme"\nversion = "3"',
        '[configuration]\nmodel = "no LLM"',
        '[interests]\nproduct = "Acme"\nrelation = "none"',
        '[variants.fast]\nsummary = "Fast."\nparameters = { k = 1 }',
        "[parameters]",
        "[resources]\nmemory_mb = 4096",
        "# a remark",
    ],
)
def test_a_description_changes_no_digest(folder: Path, more: str) -> None:
    assert digest(folder, MANIFEST + more + "\n") == digest(folder)


def test_name_version_and_slug_change_no_digest(folder: Path) -> None:
    assert digest(folder, 'slug = "other"\nname = "Other"\nversion = "2"\n') == digest(folder)


@pytest.mark.parametrize(
    "more",
    [
        'entry = "adapter.py:Plain"',
        'self_reported = ["tokens"]',
        'variables = { MODE = "fast" }',
        "parameters = { k = 1 }",
        "[resources]\nmemory_mb = 512",
        '[[hosts]]\nhost = "api.acme.example"\nvariable = "ACME_URL"',
        '[[services]]\nname = "redis"\nvariable = "REDIS_URL"',
    ],
)
def test_what_decides_what_runs_changes_the_digest(folder: Path, more: str) -> None:
    assert digest(folder, MANIFEST + more + "\n") != digest(folder)


def test_code_data_and_lock_files_count_and_prose_does_not(folder: Path) -> None:
    before = digest(folder)
    for name in ("README.md", "LICENSE", "licence.txt", "NOTICE", "CHANGELOG.rst"):
        (folder / name).write_text("Prose.\n")
    assert digest(folder) == before
    seen = {before}
    for name, text in (("prompt.md", "Be brief."), ("requirements.lock", "# other\n"), ("readme.py", "x = 1\n")):
        (folder / name).write_text(text)
        seen.add(digest(folder))
    (folder / "docs").mkdir()
    (folder / "docs" / "README.md").write_text("Read by the adapter, perhaps.\n")
    seen.add(digest(folder))
    assert len(seen) == 5


PROSE = ("README", "readme.md", "README.txt", "LICENSE-MIT", "LICENSE.MIT.txt", "COPYING")
OTHER = ("notes.md", "README.py", "readme.json", "readmes/a.md", "licences.md", "adapter.py")


@pytest.mark.parametrize("name", [*PROSE, *OTHER])
def test_prose_has_a_usual_name_and_no_other_file_is_prose(name: str) -> None:
    assert is_prose(name) is (name in PROSE)


DESCRIPTION = frozenset(
    {"schema_version", "slug", "name", "version", "authors", "licence", "homepage", "summary", "light"}
    | {"deterministic", "mock", "product", "configuration", "vendor", "interests", "conflict_of_interest"}
)
"""Fields that describe a submission. Changing one changes no digest."""

FINGERPRINTED = frozenset({"declared_models", "variants"})
"""Fields that decide what one run does: its models, and the parameters of its variant. The fingerprint of the run
covers them, and not the digest of the submission: another variant changes nothing for the present ones."""


def test_every_field_of_a_manifest_is_decided_once() -> None:
    parts = [BEHAVIOUR, DESCRIPTION, FINGERPRINTED]
    assert frozenset().union(*parts) == set(Submission.model_fields)
    assert sum(map(len, parts)) == len(Submission.model_fields)


def test_a_variant_has_the_digest_of_its_submission(folder: Path) -> None:
    (folder / "submission.toml").write_text(MANIFEST + '[variants.fast]\nsummary = "Fast."\nparameters = { k = 1 }\n')
    fast, plain = folder_source(folder, "fast"), folder_source(folder)
    assert fast.submission_digest == plain.submission_digest
    assert fast.parameters != plain.parameters
    assert set(Variant.model_fields) == {"summary", "parameters", "declared_models", "configuration"}
