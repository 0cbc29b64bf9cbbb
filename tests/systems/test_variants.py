from pathlib import Path

import pytest

from memeval.evaluation.submit.submitting import check_submission
from memeval.options import CheckOptions
from memeval.records.conformance import StepName, StepOutcome
from memeval.records.errors import BadInput
from memeval.systems.manifest import MANIFEST
from memeval.systems.source import altered_source, examined_folder, find_system
from tests.systems.helpers import write

BASE = """
schema_version = 1
slug = "acme"
name = "Acme"
version = "1.0"

[parameters]
depth = 3
wide = false
"""

VARIANTS = """
[variants.fast]
summary = "Looks at less."

[variants.fast.parameters]
depth = 1

[variants.wide-open]
summary = "Looks at everything."
parameters = { wide = true }
"""

TAKES = """
class Acme:
    def __init__(self, depth, wide):
        self.depth = depth

    def reset(self):
        pass

    def ingest_session(self, session, timestamp):
        pass

    def query(self, question, timestamp="now"):
        return "x"

    def get_context_tokens(self):
        return 1
"""


@pytest.fixture
def submissions(tmp_path: Path) -> Path:
    """A folder of one submission with two variants."""
    made(tmp_path / "submissions", "acme", BASE + VARIANTS)
    return tmp_path / "submissions"


def made(submissions: Path, name: str, manifest: str) -> Path:
    folder = submissions / name
    folder.mkdir(parents=True)
    write(folder, TAKES, "adapter.py")
    write(folder, manifest, MANIFEST)
    write(folder, "# Acme\n", "README.md")
    return folder


def faults(submissions: Path, manifest: str) -> list[str]:
    """Return what is wrong with the submission under another manifest."""
    write(submissions / "acme", manifest, MANIFEST)
    _source, found = examined_folder(submissions / "acme")
    return [str(fault).removeprefix(str(submissions / "acme" / MANIFEST)) for fault in found]


def refusal(named: str, submissions: Path) -> str:
    with pytest.raises(BadInput) as caught:
        find_system(named, submissions)
    return str(caught.value)


def test_a_variant_is_the_same_files_under_its_own_parameters_and_name(submissions: Path) -> None:
    whole, fast = find_system("acme", submissions), find_system("acme:fast", submissions)
    assert (fast.slug, fast.name, fast.variant) == ("acme-fast", "Acme (fast)", "fast")
    assert dict(fast.parameters) == dict(fast.launch.parameters) == {"depth": 1, "wide": False}
    assert fast.submission is not None and fast.submission.summary == "Looks at less."
    assert fast.submission_digest == whole.submission_digest
    assert (whole.variant, dict(whole.parameters)) == (None, {"depth": 3, "wide": False})
    assert fast.launch.files == whole.launch.files


def test_a_variant_is_found_by_the_path_of_its_folder_too(submissions: Path) -> None:
    assert find_system(f"{submissions}/acme:wide-open", Path("nowhere")).slug == "acme-wide-open"


def test_the_adapter_file_behind_a_server_gets_the_variants_parameters(submissions: Path) -> None:
    manifest = BASE.replace("\nversion", '\nkind = "http"\ncommand = ["python3", "{port}"]\nversion') + VARIANTS
    write(submissions / "acme", manifest, MANIFEST)
    assert find_system("acme:fast", submissions).launch.parameters["parameters"] == {"depth": 1, "wide": False}


def test_an_unknown_variant_is_refused_with_the_nearest_name(submissions: Path) -> None:
    assert "acme has no variant 'fats'. Did you mean 'acme:fast'?" in refusal("acme:fats", submissions)
    assert "Its variants: fast, wide-open." in refusal("acme:", submissions)
    write(submissions / "acme", BASE, MANIFEST)
    assert "acme has no variant 'fast'. It has no variants: use 'acme'." in refusal("acme:fast", submissions)


def test_what_is_wrong_with_variants_is_told_with_its_line(submissions: Path) -> None:
    first = BASE.count("\n") + 2
    wrong = VARIANTS.replace("depth = 1", 'class = "x"').replace('"Looks at everything."', '" "')
    assert faults(submissions, BASE + wrong) == [
        f":{first + 7}: 'variants' is blank. Fill it in, or remove the line.",
        f":{first + 4}: 'class' is not a valid name of a parameter. Use letters, digits and underscores.",
    ]
    wide, *_ = faults(submissions, BASE + VARIANTS.replace("[variants.wide-open]", "[variants.Wide]"))
    assert wide.startswith(f":{first + 6}: 'variants.Wide'")
    (unknown,) = faults(submissions, BASE + VARIANTS.replace('summary = "Looks at less."', 'summary = "x"\nsumary = 1'))
    assert unknown == f":{first + 2}: unknown key 'variants.fast.sumary'. Did you mean 'summary'?"
    (lacks,) = faults(submissions, BASE + '[variants.fast]\nsummary = "x"\n')
    assert "'variants.fast.parameters' is missing. Add a line: parameters = …" in lacks


def test_a_variant_may_use_models_that_the_submission_does_not(submissions: Path) -> None:
    asking = VARIANTS.replace('less."', 'less."\ndeclared_models = ["tiny"]')
    models = BASE.replace("[parameters]", 'declared_models = ["big"]\n[parameters]')
    write(submissions / "acme", models + asking, MANIFEST)
    used = {name: find_system(name, submissions).declared_models for name in ("acme", "acme:fast", "acme:wide-open")}
    assert used == {"acme": ("big",), "acme:fast": ("big", "tiny"), "acme:wide-open": ("big",)}
    (blank,) = faults(submissions, BASE + asking.replace('"tiny"', '" "'))
    assert "'variants' is blank." in blank
    (twice,) = faults(submissions, BASE + asking.replace('"tiny"', '"tiny", "tiny"'))
    assert "has a duplicate" in twice


def test_two_variants_of_the_same_parameters_are_refused(submissions: Path) -> None:
    same = VARIANTS.replace("depth = 1", "depth = 3")
    assert faults(submissions, BASE + same) == [
        f":{BASE.count(chr(10)) + 2}: the variant 'fast' has the parameters of the submission itself. "
        "Change a parameter, or remove the variant."
    ]
    twice = VARIANTS.replace("{ wide = true }", "{ depth = 1 }")
    assert "the variant 'wide-open' has the parameters of the variant 'fast'." in faults(submissions, BASE + twice)[0]


def test_a_name_that_is_too_long_for_a_folder_is_refused(submissions: Path) -> None:
    fault, *_ = faults(submissions, BASE + VARIANTS.replace("variants.fast", f"variants.{'x' * 60}"))
    assert "has more than 64 characters. Give it a shorter name." in fault


def test_the_name_of_a_variant_is_no_other_systems(submissions: Path) -> None:
    other = made(submissions, "acme-fast", BASE.replace('"acme"', '"acme-fast"'))
    (mine,) = faults(submissions, BASE + VARIANTS)
    said = "'acme-fast' is also the name of the submission in acme-fast. Use another slug."
    assert mine == f":{BASE.count(chr(10)) + 2}: {said}"
    _source, (theirs,) = examined_folder(other)
    assert theirs.problem == "'acme-fast' is also the name of a variant of the submission in acme."
    renamed = BASE.replace('"acme"', '"no"')
    made(submissions, "no", renamed + VARIANTS.replace("variants.fast", "variants.memory"))
    assert "'no-memory' is the name of a shipped control." in refusal("no", submissions)


def test_a_submission_under_other_parameters_is_a_system_of_its_own(submissions: Path) -> None:
    altered = altered_source(find_system("acme:fast", submissions), "deep", {"depth": 9})
    assert (altered.slug, altered.name) == ("acme-fast-deep", "Acme (fast) (deep)")
    assert dict(altered.parameters) == {"depth": 9, "wide": False}
    with pytest.raises(BadInput, match="'bm25' takes no parameters"):
        altered_source(find_system("bm25"), "deep", {"depth": 9})


def test_a_check_starts_every_variant(submissions: Path) -> None:
    report = check_submission(submissions / "acme", CheckOptions())
    steps = {step.name: step for step in report.steps}
    assert steps[StepName.INSTALL].detail.endswith("Variants started: fast, wide-open.")
    write(submissions / "acme", BASE + VARIANTS.replace("{ wide = true }", "{ height = 1 }"), MANIFEST)
    report = check_submission(submissions / "acme", CheckOptions())
    (install,) = [step for step in report.steps if step.name is StepName.INSTALL]
    assert (install.outcome, install.detail) == (StepOutcome.FAILED, "The variant 'wide-open' does not start.")


def test_a_check_leaves_a_variant_out_whose_models_there_is_no_key_for(
    submissions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    write(submissions / "acme", BASE + VARIANTS.replace('less."', 'less."\ndeclared_models = ["tiny"]'), MANIFEST)
    report = check_submission(submissions / "acme", CheckOptions())
    (install,) = [step for step in report.steps if step.name is StepName.INSTALL]
    assert install.outcome is StepOutcome.PASSED and install.detail.endswith("Variants started: wide-open.")
