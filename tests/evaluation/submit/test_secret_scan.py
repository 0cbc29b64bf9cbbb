"""The scan of submissions for secrets."""

from pathlib import Path

from memeval.evaluation.submit.submitting import LINE_LENGTH, secrets_in


def test_a_line_that_detectors_take_hours_over_is_refused_at_once(tmp_path: Path) -> None:
    text, binary = tmp_path / "notes.txt", tmp_path / "picture.png"
    text.write_text("short\n" + "://:" * 400_000)
    binary.write_bytes(b"\x89PNG\xff" * LINE_LENGTH)
    (problem,) = secrets_in({"notes.txt": text, "picture.png": binary})
    assert str(problem) == (
        f"{text}:2: has more than 20,000 characters, so it cannot be scanned for secrets. Break the line."
    )
