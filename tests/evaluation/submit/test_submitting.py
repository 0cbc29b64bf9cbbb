import html
import random
import re
import string
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from memeval.archive.conformance import latest
from memeval.evaluation.submit.proposed_results import LENGTH, MARKER, comment_text
from memeval.evaluation.submit.scaffold import ScaffoldAnswers, scaffold, slug_of
from memeval.evaluation.submit.submitting import LINE_LENGTH, check_submission, secrets_in
from memeval.options import CheckOptions
from memeval.records.conformance import Problem, Step, StepName, StepOutcome, SubmissionCheck
from memeval.records.errors import BadInput
from memeval.records.submission import AdapterKind

TEMPLATES = Path(__file__).parents[3] / "templates" / "submission"
UNRUN = CheckOptions(run=False)


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A submission from ``memeval submit new``."""
    return scaffold(ScaffoldAnswers(name="My Memory", author="A. Person"), tmp_path / "submissions", TEMPLATES)


def outcomes(report: SubmissionCheck) -> dict[StepName, StepOutcome]:
    return {step.name: step.outcome for step in report.steps}


def sentences(report: SubmissionCheck) -> list[str]:
    return [str(problem) for step in report.steps for problem in step.problems]


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


@pytest.mark.parametrize("kind", AdapterKind)
def test_what_is_scaffolded_passes_the_whole_check(kind: AdapterKind, tmp_path: Path) -> None:
    folder = scaffold(ScaffoldAnswers(name="My Memory", kind=kind), tmp_path / "submissions", TEMPLATES)
    results = tmp_path / "results"
    report = check_submission(folder, CheckOptions(results=results))
    assert report.holds, sentences(report)
    assert set(outcomes(report).values()) == {StepOutcome.PASSED}
    kept = latest(results, "my-memory")
    assert kept is not None and kept.holds
    assert (kept.checks, kept.environment_digest) == (report.conformance, report.environment_digest)
    assert [path.name for path in results.iterdir()] == ["conformance"]


def test_a_scaffold_is_never_made_over_something_else(made: Path, tmp_path: Path) -> None:
    before = {path.name: path.read_bytes() for path in made.iterdir()}
    with pytest.raises(BadInput, match="already exists"):
        scaffold(ScaffoldAnswers(name="my memory"), made.parent, TEMPLATES)
    assert {path.name: path.read_bytes() for path in made.iterdir()} == before
    with pytest.raises(BadInput, match="not an SPDX licence"):
        scaffold(ScaffoldAnswers(name="Another", licence="free for all"), made.parent, TEMPLATES)
    assert [path.name for path in made.parent.iterdir()] == ["my-memory"]


@settings(max_examples=25)
@given(st.text(min_size=1, max_size=100), st.text(max_size=100))
def test_a_scaffold_of_any_answers_is_sound_or_refused(name: str, summary: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        try:
            made = scaffold(ScaffoldAnswers(name=name, summary=summary), Path(folder), TEMPLATES)
        except BadInput:
            assert list(Path(folder).iterdir()) == []
        else:
            assert check_submission(made, UNRUN).holds


def test_a_slug_is_made_of_what_a_name_has_of_letters_and_digits() -> None:
    assert slug_of("  Größe & Mémoire 2.0!") == "grosse-memoire-2-0"
    with pytest.raises(BadInput, match="no letter or digit"):
        slug_of("記憶")


def test_all_problems_of_a_submission_are_reported_without_running_it(made: Path) -> None:
    edit(made / "submission.toml", 'licence = "Apache-2.0"', 'licence = "Apache 2"\nendpoint = "https://x.example.org"')
    edit(made / "adapter.py", "def reset", "def reset(")
    (made / "link").symlink_to("/etc/passwd")
    (made / "notes.md").write_bytes(b"ok\n\xff")
    report = check_submission(made)
    problems = sentences(report)
    assert not report.holds
    manifest = made / "submission.toml"
    assert any(each.startswith(f"{manifest}:8: 'Apache 2' is not an SPDX") for each in problems)
    assert any(each.startswith(f"{manifest}:9: 'endpoint' does not go with kind 'python'") for each in problems)
    assert any(each.startswith(f"{made}/adapter.py:") and "invalid Python" in each for each in problems)
    assert any(each.startswith(f"{made}/link: is a symbolic link") for each in problems)
    assert any(each.startswith(f"{made}/notes.md:2: is not UTF-8") for each in problems)
    assert outcomes(report)[StepName.SMOKE] is StepOutcome.SKIPPED


def test_a_secret_is_found_by_line_and_not_repeated(made: Path) -> None:
    rng = random.Random(4)
    letters = string.ascii_letters + string.digits
    planted = {
        "openai": "sk-" + "".join(rng.choices(letters, k=40)),
        "github": "ghp_" + "".join(rng.choices(letters, k=36)),
        "random": "".join(rng.sample(letters, 48)),
    }
    for name, secret in planted.items():
        (made / f"{name}.py").write_text(f"# a comment\n{name} = '{secret}'\n")
    report = check_submission(made, UNRUN)
    (step,) = (step for step in report.steps if step.name is StepName.SECRETS)
    assert [problem.where for problem in step.problems] == [f"{made}/{name}.py:2" for name in sorted(planted)]
    assert not any(secret in report.to_json() for secret in planted.values())


def test_digests_in_locks_and_code_are_no_secrets(made: Path) -> None:
    digest = "".join(random.Random(1).choices("0123456789abcdef", k=64))
    (made / "requirements.lock").write_text(f"numpy==2.0.0 --hash=sha256:{digest}\n")
    (made / "pins.py").write_text(f'MODEL = "sha256:{digest}"\nOTHER = "{digest}"\n')
    assert check_submission(made, UNRUN).holds


def test_an_address_with_a_password_in_a_lock_is_a_secret(made: Path) -> None:
    (made / "requirements.lock").write_text("# from https://me:hunter2hunter2@packages.example.org/simple\n")
    (problem,) = next(step for step in check_submission(made, UNRUN).steps if step.name is StepName.SECRETS).problems
    assert problem.where == f"{made}/requirements.lock:1"


def test_a_system_that_breaks_the_contract_is_refused_with_the_check_it_fails(made: Path) -> None:
    edit(made / "adapter.py", "self.notes.clear()", "pass")
    report = check_submission(made)
    assert outcomes(report)[StepName.CONFORMANCE] is StepOutcome.FAILED
    assert any(each.startswith("reset-resets: ") for each in sentences(report))
    assert outcomes(report)[StepName.SMOKE] is StepOutcome.PASSED


def test_a_system_that_cannot_be_loaded_is_refused_when_it_is_installed(made: Path) -> None:
    edit(made / "adapter.py", "import re", "import re\n\nimport no_such_package")
    report = check_submission(made)
    assert outcomes(report)[StepName.INSTALL] is StepOutcome.FAILED
    assert "no_such_package" in "".join(sentences(report))
    assert outcomes(report)[StepName.CONFORMANCE] is StepOutcome.SKIPPED


def test_what_a_system_printed_before_it_failed_to_start_is_quoted(made: Path) -> None:
    edit(made / "adapter.py", "import re", "import re\n\nprint('no index below ~/.acme')\nraise SystemExit(3)")
    (step,) = (step for step in check_submission(made).steps if step.name is StepName.INSTALL)
    assert step.outcome is StepOutcome.FAILED
    assert step.problems[0].remedy
    told = [str(problem) for problem in step.problems]
    assert "Output: no index below ~/.acme" in told
    assert "sys.exit(3) (adapter.py:11)" in told[0]


def test_a_system_that_finds_nothing_is_not_asked_a_benchmark_too(made: Path) -> None:
    edit(made / "adapter.py", "items = self.search", "raise OSError('no space left')\n        items = self.search")
    report = check_submission(made)
    assert any(each.startswith("planted-fact: ") and "no space left" in each for each in sentences(report))
    assert outcomes(report)[StepName.CONFORMANCE] is StepOutcome.FAILED
    assert outcomes(report)[StepName.SMOKE] is StepOutcome.SKIPPED


def test_a_submission_over_the_size_limit_is_not_scanned_for_secrets(made: Path, tmp_path: Path) -> None:
    for number in range(13):
        (made / f"{number}.txt").write_text("x" * 1_000_000)
    assert outcomes(check_submission(made, UNRUN))[StepName.SECRETS] is StepOutcome.SKIPPED
    (tmp_path / "keys.py").write_text(f"key = 'sk-{'aB3dE6gH9j' * 4}'\n")
    assert outcomes(check_submission(tmp_path, UNRUN))[StepName.SECRETS] is StepOutcome.SKIPPED


def test_a_lock_without_digests_is_refused_by_line(made: Path) -> None:
    (made / "requirements.lock").write_text("# packages\nnumpy==2.0.0\n")
    report = check_submission(made)
    assert any(each.startswith(f"{made}/requirements.lock:2: ") for each in sentences(report))


def test_a_system_with_a_missing_key_is_installed_but_not_run(made: Path) -> None:
    with (made / "submission.toml").open("a") as manifest:
        manifest.write('[[hosts]]\nhost = "api.acme.example"\nvariable = "ACME_URL"\nkey = "ACME_API_KEY"\n')
    report = check_submission(made)
    steps = {step.name: step for step in report.steps}
    assert report.holds
    assert steps[StepName.CONFORMANCE].outcome is StepOutcome.SKIPPED
    assert "ACME_API_KEY is not set" in steps[StepName.SMOKE].detail


def test_a_folder_without_a_submission_is_reported(tmp_path: Path) -> None:
    report = check_submission(tmp_path)
    assert (report.holds, report.slug, report.submission_digest) == (False, None, None)
    assert "without a submission.toml" in sentences(report)[0]


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)


def hostile(text: str, count: int = 1) -> SubmissionCheck:
    problem = Problem(where=text, sentence=text, remedy=text)
    step = Step(name=StepName.READ, outcome=StepOutcome.FAILED, detail=text, seconds=1.0, problems=(problem,) * count)
    return SubmissionCheck(
        folder=text,
        slug=None,
        submission_digest=None,
        environment_digest=None,
        memeval=text,
        sandbox=text,
        at="2026-01-01T00:00:00Z",
        steps=(step,),
    )


def tags(comment: str) -> list[str]:
    """Return the HTML tags of a comment after GitHub's Markdown rendering."""
    parser = _Tags()
    parser.feed(MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(comment))
    return parser.tags


HARMLESS = tags(comment_text([hostile("nothing")]))

ATTACKS = (
    "@maintainers look",
    "<script>alert(1)</script>",
    "</pre><img src=x onerror=alert(1)>",
    "\n</pre>\n\n# Approved\n",
    "```\n@team\n```",
    "[click](https://evil.example) https://evil.example www.evil.example",
    "closes #1, GH-2, owner/repo#3, owner/repo@0123456789012345678901234567890123456789",
    "<!-- memeval: check of submissions -->",
    "&lt;b&gt; &#60;script&#62; \x1b[31m \u202e",
    "| a | b |\n|---|---|",
)


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_in_a_report_formats_links_or_mentions(attack: str) -> None:
    comment = comment_text([hostile(attack)])
    assert comment.startswith(MARKER)
    assert comment.count(MARKER) == comment.count("</pre>") == 1
    assert tags(comment) == HARMLESS
    quoted = comment.partition("<pre>")[2].partition("</pre>")[0]
    assert not set(re.sub("&#[0-9]+;", "", quoted)) & set("@#<>`[]|*_&:/")
    assert not re.search(r"@\w|#\d|://|www\.", html.unescape(quoted))


@given(st.text(max_size=300))
def test_no_text_at_all_changes_the_form_of_a_comment(text: str) -> None:
    assert tags(comment_text([hostile(text)])) == HARMLESS


def test_a_huge_report_is_cut_and_still_whole() -> None:
    comment = comment_text([hostile("<" * 10_000, 1000), hostile("x" * 10_000, 1000)])
    assert len(comment) <= LENGTH
    assert "the rest is left out" in comment
    assert comment.count("</pre>") == 1
    assert tags(comment) == HARMLESS


def test_a_line_that_detectors_take_hours_over_is_refused_at_once(tmp_path: Path) -> None:
    text, binary = tmp_path / "notes.txt", tmp_path / "picture.png"
    text.write_text("short\n" + "://:" * 400_000)
    binary.write_bytes(b"\x89PNG\xff" * LINE_LENGTH)
    (problem,) = secrets_in({"notes.txt": text, "picture.png": binary})
    assert str(problem) == (
        f"{text}:2: has more than 20,000 characters, so it cannot be scanned for secrets. Break the line."
    )
