"""Pages of other packages, found by entry point and installed as an installer would."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memeval.archive.runs import RunFolder
from memeval.benchmarks import registry
from memeval.evaluation.verify.verification import checks_of_run
from memeval.records.errors import BadInput
from memeval.site import build
from memeval.site.frame.site_folder import inputs_of
from memeval.site.model.content import read_site
from memeval.site.model.files import Asset, Page
from memeval.site.pages.publisher import brought_files, brought_pages
from tests.site.factory import FakeBenchmark, Made, make_run
from tests.support.packages import with_package
from tests.support.runs import edit_head

EXAMPLE = Path(__file__).parents[3] / "examples" / "extension-package"

HEAD = """
from pathlib import Path

from markupsafe import Markup

from memeval.site.model.files import Asset, KeptPage, Page
from memeval.site.pages.publisher import Publisher


class Extra(Publisher):
    name = "extra"
    order = 1
    title = "Extra <b>"

    def publish(self, site):
"""

Install = Callable[..., None]
Build = Callable[[], Path]
Files = Callable[[], "list[Page | Asset]"]


def forget() -> None:
    brought_pages.cache_clear()
    registry._extending.cache_clear()


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Return a function that installs a package with a page; the lines are those of its ``publish``."""

    def put(folder: Path) -> None:
        metadata = tmp_path / f"installed-{folder.name}"
        with_package(folder, metadata)
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.syspath_prepend(str(metadata))
        forget()

    def make(*lines: str, name: str = "extra", package: str = "acme-extra", value: str = "{module}:Extra") -> None:
        folder = tmp_path / package
        folder.mkdir()
        module = f"{package.replace('-', '_')}_{tmp_path.name.replace('-', '_')}"
        (folder / f"{module}.py").write_text(HEAD + "".join(f"        {line}\n" for line in lines), "utf-8")
        entry = f'{name} = "{value.format(module=module)}"'
        (folder / "pyproject.toml").write_text(
            f'[project]\nname = "{package}"\nversion = "1.2"\n[project.entry-points."memeval.pages"]\n{entry}\n'
        )
        put(folder)

    make.put = put  # type: ignore[attr-defined]
    yield make
    monkeypatch.undo()
    forget()


@pytest.fixture
def built(tmp_path: Path) -> Build:
    def make() -> Path:
        benchmark = FakeBenchmark()
        make_run(tmp_path / "results", Made("acme", "Acme Memory"), benchmark)
        build(tmp_path / "results", tmp_path / "site", find=lambda _name: benchmark)
        return tmp_path / "site"

    return make


def test_the_example_package_adds_a_page_with_the_frame_of_the_board(install: Install, built: Build) -> None:
    install.put(EXAMPLE)  # type: ignore[attr-defined]
    site = built()
    page = (site / "freshness/index.html").read_text("utf-8")
    assert '<a href="../systems/acme/"><bdi>Acme Memory</bdi></a></td><td>0</td>' in page
    assert '<a href="../freshness/" aria-current="page">Freshness</a>' in page and "mv-search" in page
    assert json.loads((site / "freshness/days.json").read_bytes()) == {"acme": 0}
    assert '<a href="./freshness/">Freshness</a>' in (site / "index.html").read_text("utf-8")
    assert "freshness/" in (site / "search/search_index.json").read_text("utf-8")


def test_a_site_with_such_a_page_is_always_built_again(install: Install, tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    assert inputs_of(tmp_path / "results") is not None
    install("yield Asset('extra/a.txt', b'')")
    assert inputs_of(tmp_path / "results") is None


def test_files_and_kept_pages_are_written_and_the_title_is_escaped(install: Install, built: Build) -> None:
    install(
        "page = Page('extra/more/', 'More', Markup('<h1>More</h1>'), 'More.')",
        "yield KeptPage('extra/more/', 'sha256:1', lambda: [page, Asset('extra/more/a.txt', lambda: b'made')])",
        "yield Page('extra/', 'Extra', Markup('<h1>Extra</h1>'), 'Extra.')",
    )
    site = built()
    assert (site / "extra/more/a.txt").read_bytes() == b"made"
    assert "<h1>More</h1>" in (site / "extra/more/index.html").read_text("utf-8")
    assert "Extra &lt;b&gt;</a>" in (site / "index.html").read_text("utf-8")


@pytest.fixture
def files(tmp_path: Path) -> Files:
    benchmark = FakeBenchmark()
    make_run(tmp_path / "results", Made("acme", "Acme Memory"), benchmark)
    site = read_site(tmp_path / "results", find=lambda _name: benchmark)
    return lambda: list(brought_files(site, {"systems"}))


WHO = "the page extra of acme-extra 1.2 cannot be used: "


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("raise RuntimeError('no  data\\nhere')", "RuntimeError: no data here."),
        ("import sys; sys.exit('gone')", "SystemExit: gone."),
        ("yield 3", "it gives int, and not a Page or an Asset."),
        ("yield Asset('extra/a', Path('/no/such/file'))", "FileNotFoundError: "),
        *(
            (f"yield Asset({path!r}, b'')", f"it wants to write {path!r}, outside its folder extra/.")
            for path in ("index.html", "extra", "/extra/a", "extra/../index.html", "extra//a", "extra/.", "extra/..\\a")
        ),
        ("yield Page('', 'Front', Markup(''), '')", "it wants to write 'index.html', outside its folder extra/."),
        (
            "yield KeptPage('', 'sha256:1', lambda: [Page('runs/', 'Runs', Markup(''), '')])",
            "it wants to write 'runs/index.html', outside its folder extra/.",
        ),
    ],
)
def test_a_page_that_raises_or_writes_elsewhere_stops_the_build(
    install: Install, files: Files, line: str, says: str
) -> None:
    install(line)
    with pytest.raises(BadInput) as caught:
        files()
    assert caught.value.problem.startswith(WHO + says)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("no_such_module:Page", "ModuleNotFoundError: No module named 'no_such_module'."),
        ("{module}:Missing", "AttributeError: "),
        ("{module}:Path", "{module}:Path makes PosixPath, and not a Publisher."),
        ("{module}:Publisher", "TypeError: "),
    ],
)
def test_an_entry_point_that_gives_no_page_is_named_with_its_package(
    install: Install, files: Files, value: str, says: str
) -> None:
    install("yield from ()", value=value)
    with pytest.raises(BadInput) as caught:
        files()
    assert caught.value.problem.startswith(WHO) and says.partition("{module}")[2] in caught.value.problem


@pytest.mark.parametrize("name", ["Extra", "extra.files", "assets/extra"])
def test_a_name_that_is_no_folder_is_refused(install: Install, files: Files, name: str) -> None:
    install("yield from ()", name=f'"{name}"')
    with pytest.raises(BadInput, match="its name has other characters than a-z, 0-9 and -, or more than 40"):
        files()


@pytest.mark.parametrize("name", ["systems", "faq"])
def test_a_page_cannot_have_the_name_of_one_of_memeval(
    install: Install, built: Build, tmp_path: Path, name: str
) -> None:
    install(f"yield Asset('{name}/a.txt', b'')", name=name)
    with pytest.raises(BadInput, match=f"the page {name} of acme-extra 1.2 cannot be used: memeval has a page {name}/"):
        built()
    assert not (tmp_path / "site").exists()


def test_two_packages_with_a_page_of_one_name_are_both_named(install: Install, files: Files) -> None:
    install("yield from ()")
    install("yield from ()", package="other-extra")
    with pytest.raises(BadInput) as caught:
        files()
    said = f"{caught.value.problem} {caught.value.remedy}"
    assert "acme-extra 1.2" in said and "other-extra 1.2" in said and "uninstall" in said


def test_the_check_of_the_example_package_finds_a_run_that_ends_before_it_starts(
    install: Install, tmp_path: Path
) -> None:
    install.put(EXAMPLE)  # type: ignore[attr-defined]
    run = make_run(tmp_path / "results", Made("acme", "Acme Memory"), FakeBenchmark())

    def found() -> list[str]:
        (check,) = (check for check in checks_of_run(RunFolder(run.path)) if check.name == "times")
        return [finding.problem for finding in check.findings]

    assert found() == []
    edit_head(run, timing=run.run.timing.data() | {"ended": "2020-01-01T00:00:00+00:00"})
    assert found() == ["the run ended at 2020-01-01T00:00:00+00:00, before it started."]
