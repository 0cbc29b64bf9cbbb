"""The theme's script does less when a page loads, and another script is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from mkdocs.utils import get_theme_dir

from memeval.site.theme_script import BUNDLE, lightened
from tests.site.conftest import Built


def test_the_script_of_a_site_is_the_themes_with_seven_changes(built: Built) -> None:
    [path] = [path for path in built.out.rglob("*.js") if BUNDLE.fullmatch(path.relative_to(built.out).as_posix())]
    theme = Path(get_theme_dir("material")) / path.relative_to(built.out)
    assert path.read_text(encoding="utf-8") == lightened(theme.read_text(encoding="utf-8"))
    assert abs(len(path.read_text()) - len(theme.read_text())) < 150


@pytest.mark.parametrize("script", ["", 'a(location.protocol!=="file:");b(location.protocol!=="file:")'])
def test_another_script_is_refused(script: str) -> None:
    with pytest.raises(ValueError, match="the theme's script has changed"):
        lightened(script)
