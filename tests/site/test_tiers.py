"""What a benchmark's page says its tiers can show."""

from __future__ import annotations

from memeval.benchmarks import find
from memeval.site.tiers import tier_powers
from memeval.statistics.paired import smallest_difference
from tests.site.conftest import Built


def test_locomos_tiers_have_the_half_widths_that_are_documented_for_them() -> None:
    powers = {power.tier.name: power for power in tier_powers(find("locomo").info)}
    assert {name: round(100 * powers[name].half_width, 1) for name in ("quick", "fair", "full")} == {
        "quick": 13.4,
        "fair": 6.9,
        "full": 2.2,
    }
    assert all(power.difference == smallest_difference(power.tier.items) for power in powers.values())


def test_the_catalogue_is_published_beside_its_page(built: Built) -> None:
    published = built.read("benchmarks/fake@1/catalogue.json")
    assert published == built.benchmark.info.to_json() + "\n"
    assert 'href="catalogue.json"' in built.read("benchmarks/fake@1/index.html")
