"""What ``memeval.toml`` says about the tables of a board: the benchmarks, the headline tracks and own weights."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from memeval.archive.runs import RunFolder
from memeval.benchmarks import find as registered
from memeval.benchmarks.base import Benchmark
from memeval.grading.scoring import composite_of
from memeval.leaderboard.board import BoardTable
from memeval.leaderboard.samples import GRADES
from memeval.leaderboard.suites import refuse_unknown
from memeval.records.base import canonical_json
from memeval.records.benchmark import BenchmarkInfo
from memeval.records.errors import BadInput
from memeval.records.scores import Composite
from memeval.records.settings import BoardSettings, Settings, TrackChoice
from memeval.records.track import Track
from memeval.removed import why_removed
from memeval.settings import SettingsFile, settings_file

BOARD_FILE = "board.json"


def board_settings(results: Path, find: Callable[[str], Benchmark] = registered) -> SettingsFile:
    """Read the settings of the board of a results folder, and check their names against the benchmarks.

    ``results``: the results folder; ``memeval.toml`` is next to it. Raises BadInput: the file is not valid, or names an
    unknown benchmark, category, protocol or tier.
    """
    file = settings_file(results.absolute().parent)

    def info_of(name: str, *keys: str | int) -> BenchmarkInfo:
        try:
            return find(name).info
        except BadInput as error:
            raise BadInput(error.problem, where=file.place(*keys), remedy=error.remedy) from None

    for number, name in enumerate(file.settings.benchmarks or ()):
        info_of(name, "benchmarks", number)
    for name, choice in file.settings.headline.items():
        info = info_of(name, "headline", name)
        for key, known in (("protocol", info.protocols), ("tier", info.tiers)):
            if (chosen := getattr(choice, key)) is not None:
                names = [each.name for each in known]
                refuse_unknown(f"{name} has no {key}", chosen, names, file.place("headline", name, key))
        for key, chosen in (("reader", choice.reader), ("judge", choice.judge)):
            if chosen is not None and (why := why_removed(chosen)):
                raise BadInput(why, where=file.place("headline", name, key), remedy=f"Name another {key}.")
    for name, weights in file.settings.weights.items():
        info = info_of(name, "weights", name)
        categories = [category.name for category in info.every_category]
        for category in weights:
            where = file.place("weights", name, category)
            refuse_unknown(f"{name} has no category", category, categories, where)
    return file


def page_settings(settings: Settings) -> BoardSettings:
    return BoardSettings(**{name: getattr(settings, name) for name in BoardSettings.model_fields})


def board_file(settings: BoardSettings) -> bytes:
    """Return the content of ``board.json``: the published settings, without those that have their default value.

    So a setting that a later memeval adds does not change the file of an unchanged board.
    """
    return f"{canonical_json(settings.identity())}\n".encode()


def shown_runs(folders: Iterable[RunFolder], settings: BoardSettings) -> list[RunFolder]:
    return [folder for folder in folders if shows(settings, folder.run.track.benchmark)]


def shows(settings: BoardSettings, *benchmarks: str) -> bool:
    return settings.benchmarks is None or not set(benchmarks).isdisjoint(settings.benchmarks)


def headline_tracks(tables: Sequence[BoardTable], file: SettingsFile) -> frozenset[str]:
    """Return the ids of the headline tracks. If a choice fits several tracks, the first table counts.

    Raises BadInput: a benchmark has tables, and its choice fits none of them.
    """
    found = set()
    for benchmark, choice in file.settings.headline.items():
        tracks = [table.track for table in tables if table.track.benchmark == benchmark]
        fitting = next((track.id for track in tracks if _fits(choice, track)), None)
        if fitting is not None:
            found.add(fitting)
        elif tracks:
            raise BadInput(
                f"no run of {benchmark} has this headline track.",
                where=file.place("headline", benchmark),
                remedy=f"Choose one of: {'; '.join(sorted({_described(track) for track in tracks}))}.",
            )
    return frozenset(found)


def own_score(folder: RunFolder, weights: Mapping[str, float]) -> Composite | None:
    plan = folder.run.track.categories
    if not set(weights) <= {category.name for category in plan}:
        return None
    if not folder.file(GRADES).exists():
        return Composite(value=None, interval=None, reason="The grades of this run are only in the archive.")
    own = [
        category.model_copy(update={"weight": weights.get(category.name, 0.0), "shared": False}) for category in plan
    ]
    return composite_of(own, list(folder.grades()))


def _fits(choice: TrackChoice, track: Track) -> bool:
    values = {"track": track.id, "protocol": track.protocol, "tier": track.tier}
    values |= {"reader": track.reader, "judge": track.judge}
    return all(values[name] == value for name, value in choice.identity().items())


def _described(track: Track) -> str:
    return f"{track.id} (protocol {track.protocol}, tier {track.tier}, reader {track.reader}, judge {track.judge})"
