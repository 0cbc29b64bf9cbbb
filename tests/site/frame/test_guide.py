"""The pages written by hand."""

import json
import re
from pathlib import Path

import pytest
import yaml

from memeval.records.settings import BoardSettings, Settings
from memeval.settings import read_settings
from tests.site.conftest import Built

GUIDE = Path(__file__).parents[3] / "site"


@pytest.mark.parametrize("page", sorted(path.name for path in GUIDE.glob("*.md")))
def test_a_page_of_the_guide_says_what_it_is_about_in_a_head_that_can_be_read(page: str) -> None:
    before, head, _text = (GUIDE / page).read_text("utf-8").split("---\n", 2)
    assert not before
    assert isinstance(yaml.safe_load(head)["description"], str)


def test_the_guide_explains_every_setting_and_its_example_is_valid(tmp_path: Path) -> None:
    page = (GUIDE / "board.md").read_text("utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "memeval.toml").write_text(example, encoding="utf-8")
    assert read_settings(tmp_path).title == "My leaderboard"
    section = page.partition("| setting | meaning |")[2].partition("\n\n")[0]
    names = ["schema_version", *BoardSettings.model_fields, "check", "archive", "publish"]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == names
    assert set(Settings.model_fields) == set(names)


def test_the_search_finds_what_newcomers_ask(built: Built) -> None:
    found = json.loads(built.read("search/search_index.json"))["docs"]
    for word, place in (
        ("cheapest", "faq/#which-system-is-cheapest"),
        ("mem0", "faq/#why-is-mem0-ranked-without-an-llm"),
        ("best overall", "faq/#which-memory-system-is-best-overall"),
        ("tie", "faq/#what-is-a-tie"),
        ("evidence", "glossary/#how-it-is-tested"),
    ):
        named = [each["location"] for each in found if word in f"{each['title']} {each['text']}".lower()]
        assert place in named, word
