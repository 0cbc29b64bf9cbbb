"""The pages of the ledger: the newest entries first, and older pages that never change."""

from itertools import pairwise
from pathlib import Path

import pytest

from memeval.archive.ledger import Ledger
from memeval.records.ledger import LedgerEvent
from memeval.site.model.content import read_site
from memeval.site.pages import releases
from memeval.site.pages.releases import LedgerPage
from tests.site.factory import FakeBenchmark, Made, make_run
from tests.site.reading import pages_of


def test_older_pages_never_change_and_all_entries_are_on_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(releases, "ENTRIES", 4)
    run = make_run(tmp_path, Made("acme", "Acme"), FakeBenchmark())
    ledger = Ledger(tmp_path)
    before: dict[str, str] = {}
    for number in range(1, 14):
        ledger.append(LedgerEvent.REPLIED, run, by="vendor", reason=f"Reply {number}.")
        if number in (1, 7, 8, 12, 13):
            found = pages_of(read_site(tmp_path), LedgerPage)
            for url, body in found.items():
                shown = [each for each in range(number, 0, -1) if f"<td>Reply {each}.</td>" in body]
                assert all(one == other + 1 for one, other in pairwise(shown))
                assert (len(shown) == 4) if url != "ledger/" else (len(shown) < 8)
            assert sum(body.count("<td>Reply ") for body in found.values()) == number
            assert f"<td>Reply {number}.</td>" in found["ledger/"]
            for url, body in before.items():
                if url == "ledger/":
                    continue
                assert [line for line in body.splitlines() if "<td>" in line] == [
                    line for line in found[url].splitlines() if "<td>" in line
                ]
            before = found
    assert list(before) == ["ledger/1/", "ledger/2/", "ledger/"]
    assert "Older entries" in before["ledger/"] and "Newer entries" not in before["ledger/"]
    assert "Newer entries" in before["ledger/1/"] and "Older entries" not in before["ledger/1/"]
