"""Checks and file formats that other packages add by entry points."""

from typing import Any

import pytest

from memeval.archive.runs import RunFolder
from memeval.benchmarks.exchange_format import ExchangeFormat
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.evaluation.verify.checks.subject import Subject
from memeval.evaluation.verify.findings import Check, CheckStatus, Finding
from memeval.evaluation.verify.verification import CHECKS, GROUP, checks_of_run
from memeval.exchange import formats
from memeval.exchange.formats import all_formats, find_format, find_import_format
from memeval.records.errors import BadInput
from memeval.systems.source import file_source
from tests.support.adapters import plain_adapter
from tests.support.registered import extend
from tests.support.tiny import TinyBenchmark


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    root = tmp_path_factory.mktemp("run")
    source = file_source(plain_adapter(root))
    return run_system(source, BenchmarkSession.open(TinyBenchmark(), None), RunOptions(root / "results"))


def short(subject: Subject) -> Check:
    """Find answers of one letter."""
    rows = [number for number, row in enumerate(subject.responses, start=1) if len(row.answer) < 1_000]
    return Check("", tuple(Finding(subject.where("responses.jsonl", number), "is short.") for number in rows))


def test_a_check_of_another_package_comes_after_ours(folder: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    own = [check.name for check in checks_of_run(folder)]
    extend(monkeypatch, GROUP, brevity=short, nothing=lambda subject: None)
    *usual, last = checks_of_run(folder)
    assert [check.name for check in usual] == own and (last.name, last.status) == ("brevity", CheckStatus.FAILED)
    assert str(last.findings[0]).startswith(str(folder.path)) and "is short." in str(last.findings[0])


def raising(subject: Subject) -> Check:
    raise KeyError("colour")


@pytest.mark.parametrize(
    ("check", "said"),
    [
        (None, "ModuleNotFoundError: No module named 'brevity'"),
        (raising, "KeyError: 'colour'"),
        (lambda subject: True, "TypeError: it returns bool, and not a Check"),
    ],
)
def test_an_unusable_check_is_named_with_package(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch, check: Any, said: str
) -> None:
    extend(monkeypatch, GROUP, brevity=check)
    last = checks_of_run(folder)[-1]
    assert (last.name, last.status, last.not_checked) == (
        "brevity",
        CheckStatus.NOT_CHECKED,
        f"the check brevity of made 1.0 cannot be used: {said}",
    )


def test_a_check_of_another_package_cannot_pass_for_ours(folder: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    extend(monkeypatch, GROUP, **{CHECKS[0][0]: lambda subject: Check("track")})
    assert checks_of_run(folder)[-1].name == f"made 1.0 {CHECKS[0][0]}"


def test_a_file_format_of_another_package_is_found_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    form = ExchangeFormat(name="pages", title="One page a question.", reader="made:read")
    extend(monkeypatch, formats.GROUP, pages=form)
    assert find_import_format("pages") is form and all_formats()[-1] is form


@pytest.mark.parametrize(
    ("form", "said"),
    [
        (None, "ModuleNotFoundError: No module named 'pages'."),
        (ExchangeFormat(name="sheets", title=""), "made:benchmark is no ExchangeFormat of this name."),
    ],
)
def test_an_unusable_format_is_named_with_package(
    monkeypatch: pytest.MonkeyPatch, form: ExchangeFormat | None, said: str
) -> None:
    usual = all_formats()
    extend(monkeypatch, formats.GROUP, pages=form)
    with pytest.raises(BadInput) as refused:
        find_format("pages")
    assert refused.value.problem == f"the file format pages of made 1.0 cannot be used: {said}"
    assert "uninstall the package" in str(refused.value) and all_formats() == usual
