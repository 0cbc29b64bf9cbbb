"""The pages written by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

GUIDE = Path(__file__).parents[2] / "site"


@pytest.mark.parametrize("page", sorted(path.name for path in GUIDE.glob("*.md")))
def test_a_page_of_the_guide_says_what_it_is_about_in_a_head_that_can_be_read(page: str) -> None:
    before, head, _text = (GUIDE / page).read_text("utf-8").split("---\n", 2)
    assert not before
    assert isinstance(yaml.safe_load(head)["description"], str)
