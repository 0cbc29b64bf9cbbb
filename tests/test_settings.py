"""The settings of a board: colours are legible, weights sum to 1, and texts are plain."""

import tomllib
from pathlib import Path

import pytest

from memeval.settings import contrast, read_settings
from tests.test_toml import refusal

ROOT = Path(__file__).resolve().parents[1]


def accents(light: str, dark: str) -> str:
    return f'[colours]\naccent = "{light}"\naccent_dark = "{dark}"\n'


@pytest.mark.parametrize(
    ("first", "second", "ratio"),
    [
        # Golden values of the WebAIM contrast checker.
        ("#000000", "#ffffff", 21.0),
        ("#777777", "#ffffff", 4.48),
        ("#767676", "#ffffff", 4.54),
        ("#0000ff", "#ffffff", 8.59),
        ("#ff0000", "#00ff00", 2.91),
    ],
)
def test_the_contrast_is_that_of_wcag(first: str, second: str, ratio: float) -> None:
    assert contrast(first, second) == contrast(second, first) == pytest.approx(ratio, abs=0.005)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[colours]\nprimary = "#ffcc00"\n', "2: 'colours.primary' has a contrast of 1.51:1 with white text; "),
        ('[colours]\nprimary_dark = "#777777"\n', "2: 'colours.primary_dark' has a contrast of 4.47:1 with white"),
        (accents("#63c5d4", "#63c5d4"), "2: 'colours.accent' has a contrast of 1.8"),
        (accents("#0a6c7c", "#0a6c7c"), "3: 'colours.accent_dark' has a contrast of 2.47:1"),
        (
            '[colours]\naccent = "#0a6c7c"\n',
            "1: 'colours.accent_dark' is missing: no colour is legible in both themes.",
        ),
    ],
)
def test_a_colour_that_is_not_legible_is_refused_with_its_contrast(tmp_path: Path, text: str, message: str) -> None:
    assert refusal(tmp_path, text).startswith(message)


def test_legible_colours_are_accepted(tmp_path: Path) -> None:
    (tmp_path / "memeval.toml").write_text(
        '[colours]\nprimary = "#5B2A86"\naccent = "#5b2a86"\naccent_dark = "#c9a7eb"\n'
    )
    assert read_settings(tmp_path).colours.primary == "#5B2A86"


@pytest.mark.parametrize("colour", ["red", "red;}", "#12345", "#1234567", "#12345g", "url(//x)", ""])
def test_what_is_not_a_colour_is_refused(tmp_path: Path, colour: str) -> None:
    said = refusal(tmp_path, f'[colours]\nprimary = "{colour}"\n')
    assert said.startswith("2: 'colours.primary' does not have the required form. Write #") and said.endswith(
        'such as "#0a6c7c".'
    )


@pytest.mark.parametrize(
    "title",
    ["", " ", " x", "<b>x</b>", 'x\\" onload=\\"y', "two\\nlines", "\\u202egnirts", "\\u0000", "x" * 61, "a\\u2028b"],
)
def test_a_title_is_one_line_of_plain_text(tmp_path: Path, title: str) -> None:
    said = refusal(tmp_path, f'title = "{title}"\n')
    assert said.startswith("1: 'title'") and said.endswith('characters, without <, > and ".')


@pytest.mark.parametrize(
    "address",
    ["javascript:alert(1)", "http://example.org/x", "https://me:secret@example.org/x", "https://example.org/a b", "x"],
)
def test_a_repository_is_a_plain_web_address(tmp_path: Path, address: str) -> None:
    said = refusal(tmp_path, f'repository = "{address}"\n')
    assert said.startswith("1: 'repository' does not have the required form. Write a web") and "secret" not in said


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("a = 0.5\nb = 0.4", "1: the weights of x@1 sum to 0.9, not to 1. Correct the weights."),
        ("a = -1.0\nb = 2.0", "2: 'weights.x@1.a': Input should be greater than 0."),
        ("a = 0.0\nb = 1.0", "2: 'weights.x@1.a': Input should be greater than 0."),
        ("a = nan", "2: 'weights.x@1.a' is not a finite number."),
        ("a = inf", "2: 'weights.x@1.a' is not a finite number."),
        ("", "1: the weights of x@1 sum to 0, not to 1."),
        ('a = "1"', "2: 'weights.x@1.a': a number belongs here."),
    ],
)
def test_weights_are_shares_that_sum_to_one(tmp_path: Path, weights: str, message: str) -> None:
    assert refusal(tmp_path, f'[weights."x@1"]\n{weights}\n').startswith(message)


def test_a_headline_selects_something_and_a_list_of_benchmarks_names_one(tmp_path: Path) -> None:
    assert refusal(tmp_path, '[headline."x@1"]\n').startswith("1: 'headline.x@1' selects no track.")
    assert refusal(tmp_path, "benchmarks = []\n").startswith("1: 'benchmarks': ")


def test_the_settings_of_this_board_name_their_schema() -> None:
    text = (ROOT / "memeval.toml").read_text(encoding="utf-8")
    (line,) = [line for line in text.splitlines() if line.startswith("#:schema ")]
    assert (ROOT / line.removeprefix("#:schema ")).is_file()
    assert read_settings(ROOT).title == tomllib.loads(text)["title"] == "memeval"
