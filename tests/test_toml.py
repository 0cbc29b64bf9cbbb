"""Reading TOML files: every refusal names the file, the line and what to do."""

from pathlib import Path

import pytest

from memeval.records.errors import BadInput, NewerSchema
from memeval.records.settings import Settings
from memeval.settings import read_settings
from memeval.toml import LARGEST, read_toml


def refusal(folder: Path, content: str | bytes) -> str:
    file = folder / "memeval.toml"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(BadInput) as refused:
        read_settings(folder)
    return str(refused.value).removeprefix(f"{file}:")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[check]\n\noveral_points = 1\n", "3: unknown key 'check.overal_points'. Did you mean 'overall_points'?"),
        ("\n[chek]\n", "2: unknown key 'chek'. Did you mean 'check'?"),
        ("[check]\nbaseline_runs = 0\n", "2: 'check.baseline_runs': "),
        ('[archive]\nto = "a"\nto = "b"\n', "3: not valid TOML: a key occurs twice. Correct the line."),
        ("[archive]\nto = a\n", "2: not valid TOML: invalid value. Texts need quotes. Correct the line."),
        ("[archive]\nto = [\n\n", "4: not valid TOML: "),
        ("[check]\noverall_points = nan\n", "2: 'check.overall_points' is not a finite number. Give a number."),
        ("[archive]\nto = 2026-01-31\n", "2: 'archive.to' is a date. Put it in quotes."),
        ("[check]\nbaseline_runs = 99999999999999999999\n", "2: 'check.baseline_runs' is too large a number."),
        (f"x = {'9' * 5_000}\n", " not valid TOML: a number is too long."),
        ("x = " + "[" * 20_000, " is nested too deeply."),
        (".".join("a" * 2_000) + " = 1\n", " is nested too deeply."),
        ('[check]\nwarn_only = [\n "latency",\n]\n', "2: 'check.warn_only.0': "),
    ],
)
def test_what_is_not_valid_is_named_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    assert refusal(tmp_path, text).startswith(message)


def test_a_file_in_another_encoding_is_refused_at_its_first_wrong_line(tmp_path: Path) -> None:
    assert refusal(tmp_path, '[archive]\nto = "Zürich"\n'.encode("latin-1")) == (
        "2: is not UTF-8 text. Save the file as UTF-8."
    )
    assert refusal(tmp_path, "[archive]\n".encode("utf-16")).startswith("1: is not UTF-8 text.")


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    assert refusal(tmp_path, "#" * 5_000_000) == f" has 5000000 bytes; the limit is {LARGEST}."


def test_a_file_of_a_later_memeval_is_refused(tmp_path: Path) -> None:
    (tmp_path / "memeval.toml").write_text("\nschema_version = 2\nnew = 1\n")
    with pytest.raises(NewerSchema, match=r"memeval\.toml:2: has schema version 2, .* Update memeval\."):
        read_settings(tmp_path)


def test_a_folder_without_the_file_has_the_defaults_and_a_folder_of_that_name_is_refused(tmp_path: Path) -> None:
    assert read_settings(tmp_path) == Settings()
    (tmp_path / "memeval.toml").mkdir()
    with pytest.raises(BadInput, match=r"memeval\.toml: cannot be read \(Is a directory\)"):
        read_settings(tmp_path)


def test_a_value_inside_a_list_of_tables_has_the_line_of_its_own_table(tmp_path: Path) -> None:
    file = tmp_path / "some.toml"
    file.write_text("[[a]]\nb = 1\n\n[[a]]\nb = 2\nc = {d = 3}\n")
    toml = read_toml(file)
    assert toml.place("a", 0, "b") == f"{file}:2"
    assert toml.place("a", 1, "c", "d") == f"{file}:6"
    assert toml.place("a", 1, "missing") == f"{file}:4"
    assert toml.place("elsewhere") == str(file)
    assert toml.has(("a", 1, "c", "d")) and not toml.has(("a", 2))
