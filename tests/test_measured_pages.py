"""The tables of measurements in the guide are those of their files."""

import json
from types import ModuleType

import pytest

from bench import beside, determinism, history, labelled_judge, lifecycle, one_conversation, six_turns, steps
from tests.support.commands import ROOT


@pytest.mark.parametrize("measured", [beside, history, lifecycle, steps], ids=lambda module: module.__name__)
def test_a_page_has_the_tables_of_its_file_and_a_page_without_a_place_for_them_is_an_error(
    measured: ModuleType,
) -> None:
    page, stored = (ROOT / measured.PAGE).read_text("utf-8"), json.loads((ROOT / measured.OUT).read_text("utf-8"))
    assert stored and measured.page_of(page, stored) == page
    with pytest.raises(ValueError, match="has no lines"):
        measured.page_of("# A page", stored)


@pytest.mark.parametrize(
    "measured", [determinism, labelled_judge, one_conversation, six_turns], ids=lambda module: module.__name__
)
def test_a_page_has_the_table_of_its_file(measured: ModuleType) -> None:
    stored = json.loads((ROOT / measured.OUT).read_text("utf-8"))
    assert stored
    assert f"{measured.START}{measured.table_of(stored)}{measured.END}" in (ROOT / measured.PAGE).read_text("utf-8")
