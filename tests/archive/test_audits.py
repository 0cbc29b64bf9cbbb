"""Stored audits: whole or not at all, and named so that no two judges meet."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.archive.audits import AuditFolder, judge_slug, stored_audits, write_audit
from memeval.archive.runs import sealed_runs
from memeval.records.audit import ProbeKind
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from tests.support.audits import make_audit, make_judgment, make_probe


def test_an_audit_is_stored_with_its_rows_and_read_again(tmp_path: Path) -> None:
    probes = [make_probe(1, ProbeKind.OFF, verdict=True), make_probe(2, ProbeKind.RIGHT, verdict=None)]
    calls = [make_judgment("is it?", "yes")]
    folder = write_audit(tmp_path, make_audit(judge="openai:gpt-4o-2024-08-06@1"), probes, calls)
    assert folder.path.parent == tmp_path / "audits" / "fake" / "openai-gpt-4o-2024-08-06-1"
    [found] = stored_audits(tmp_path)
    assert (found.audit, list(found.probes())) == (folder.audit, probes)
    assert (list(found.judgments()), found.audit.files["probes.jsonl"].rows) == (calls, 2)
    assert found.digest == digest_bytes((folder.path / "audit.json").read_bytes())
    assert sealed_runs(tmp_path) == [], "an audit is no run"


def test_an_audit_of_the_rule_set_has_no_judgments(tmp_path: Path) -> None:
    folder = write_audit(tmp_path, make_audit(), [make_probe(1, ProbeKind.OFF, verdict=False)])
    assert sorted(path.name for path in folder.path.iterdir()) == ["audit.json", "probes.jsonl.gz"]
    assert list(folder.judgments()) == []


def test_what_is_stored_is_never_written_over(tmp_path: Path) -> None:
    folder = write_audit(tmp_path, make_audit(), [])
    before = folder.head_bytes
    with pytest.raises(BadInput, match="already stored"):
        write_audit(tmp_path, make_audit(judge_label="another"), [])
    assert AuditFolder(folder.path).head_bytes == before


def test_a_write_that_was_cut_off_leaves_nothing_and_the_next_one_succeeds(tmp_path: Path) -> None:
    def cut() -> object:
        yield make_probe(1, ProbeKind.OFF, verdict=False)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_audit(tmp_path, make_audit(), cut())  # type: ignore[arg-type]
    assert stored_audits(tmp_path) == []
    place = tmp_path / "audits" / "fake" / "rules-3" / (make_audit().audit_id + ".part")
    place.mkdir(parents=True)
    (place / "audit.json").write_bytes(b"{}")
    (place / "left.over").write_bytes(b"")
    assert stored_audits(tmp_path) == [], "what is not whole is not there"
    folder = write_audit(tmp_path, make_audit(), [])
    assert not place.exists() and not (folder.path / "left.over").exists()


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "audits").write_text("a file")
    with pytest.raises(BadInput, match=r"audits.*cannot be written"):
        write_audit(tmp_path, make_audit(), [])


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "not valid JSON"), (b"[]", "expected a JSON object"), (b'{"schema_version": 99}', "schema version 99")],
)
def test_a_damaged_head_gives_a_sentence(tmp_path: Path, content: bytes, said: str) -> None:
    audit = write_audit(tmp_path, make_audit(), [])
    (audit.path / "audit.json").write_bytes(content)
    with pytest.raises(BadInput, match=rf"audit\.json: .*{said}"):
        _ = stored_audits(tmp_path)[0].audit


def test_missing_and_damaged_rows_give_a_sentence(tmp_path: Path) -> None:
    folder = write_audit(tmp_path, make_audit(), [make_probe(1, ProbeKind.OFF, verdict=False)])
    path = folder.file("probes.jsonl")
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(BadInput, match=r"probes\.jsonl\.gz: the file is damaged"):
        list(folder.probes())
    path.unlink()
    with pytest.raises(BadInput, match=r"probes\.jsonl\.gz: the file is missing"):
        list(folder.probes())
    (folder.path / "audit.json").unlink()
    with pytest.raises(BadInput, match=r"there is no audit\.json here"):
        _ = AuditFolder(folder.path).audit


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("rules@3", "rules-3"),
        ("openai:gpt-4o-2024-08-06@1", "openai-gpt-4o-2024-08-06-1"),
        ("openai:llama3.3@2", "openai-llama3.3-2"),
    ],
)
def test_a_usual_judge_has_a_readable_folder(name: str, slug: str) -> None:
    assert judge_slug(name) == slug


NAMES = st.text("ab:@-./_1Ä\\", max_size=12) | st.builds("{}:{}@{}".format, *[st.text("ab-1.", max_size=4)] * 3)


@given(NAMES, NAMES)
def test_two_judges_never_share_a_folder_and_none_is_unsafe(one: str, other: str) -> None:
    first, second = judge_slug(one), judge_slug(other)
    assert (first == second) == (one == other)
    assert first == first.lower() and set(first) <= set("abcdefghijklmnopqrstuvwxyz0123456789-._")
    assert first[0] not in ".-" and first[-1] not in ".-" and 0 < len(first) < 100
