"""Where samples of answers are stored: ``results/labels/<name>/``."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from memeval.archive.rows import indented, pack, read_rows, write_files
from memeval.claims.store import file_name, stored_regraded, stored_rows
from memeval.evaluation.verify.findings import Check, Finding
from memeval.labels.sampling import drawn_cells, label_id
from memeval.labels.worth import report
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from memeval.records.label import LabelReport, LabelSample, Reading, ReadLabel, RulesVerdicts, SampleRow
from memeval.removed import why_removed
from memeval.storage import listed, readable

LABELS = "labels"

VERDICTS = "verdicts"

SAMPLE, ROWS, GUIDE = "sample.json", "rows.jsonl.gz", "guide.md"


def sample_folder(results: Path, name: str) -> Path:
    return results / LABELS / name


def write_sample(results: Path, sample: LabelSample, rows: list[SampleRow], guide: bytes) -> Path:
    folder = sample_folder(results, sample.name)
    if (folder / SAMPLE).exists():
        raise BadInput("there is a sample of this name.", where=folder, remedy="Choose another name.")
    write_files({folder / ROWS: pack(rows)[0], folder / GUIDE: guide, folder / SAMPLE: indented(sample.data())})
    return folder


def stored_samples(results: Path) -> list[LabelSample]:
    return [sample_at(path) for path in listed(results / LABELS, f"*/{SAMPLE}")]


def sample_at(path: Path) -> LabelSample:
    return LabelSample.parse(path.read_bytes(), path)


def sample_rows(results: Path, sample: LabelSample) -> list[SampleRow]:
    """Return the drawn rows of a sample. Raises BadInput: they are missing, invalid, or do not match their digest."""
    path = sample_folder(results, sample.name) / ROWS
    rows = list(read_rows(path, SampleRow))
    if pack(rows)[1].digest != sample.rows_digest:
        raise BadInput("the rows do not match their digest.", where=path, remedy="Restore the file.")
    return rows


def guide_of(results: Path, sample: LabelSample) -> str:
    """Return the readers' guide of a sample. Raises BadInput: it is missing, or does not match its digest."""
    path = sample_folder(results, sample.name) / GUIDE
    with readable(path, "Restore the file."):
        data = path.read_bytes()
    if digest_bytes(data) != sample.guide_digest:
        raise BadInput("it is not the guide that readers followed.", where=path, remedy="Restore the file.")
    return data.decode()


def write_reading(results: Path, reading: Reading, labels: list[ReadLabel]) -> Path:
    path = sample_folder(results, reading.sample) / f"{reading.reader}.json"
    if reading.reader in (SAMPLE.removesuffix(".json"), ROWS.removesuffix(".jsonl.gz")) or path.exists():
        raise BadInput(f"the name '{reading.reader}' is taken.", where=path, remedy="Choose another name.")
    write_files({path.with_suffix(".jsonl.gz"): pack(labels)[0], path: indented(reading.data())})
    return path


def stored_readings(results: Path, sample: LabelSample) -> list[tuple[Reading, list[ReadLabel]]]:
    found = []
    for path in listed(sample_folder(results, sample.name), "*.json"):
        if path.name == SAMPLE:
            continue
        reading = Reading.parse(path.read_bytes(), path)
        rows = path.with_suffix(".jsonl.gz")
        labels = list(read_rows(rows, ReadLabel))
        if pack(labels)[1].digest != reading.rows_digest:
            raise BadInput("the labels do not match their digest.", where=rows, remedy="Restore the file.")
        found.append((reading, labels))
    return found


def write_verdicts(results: Path, verdicts: RulesVerdicts) -> Path:
    path = sample_folder(results, verdicts.sample) / VERDICTS / f"{verdicts.judge.replace('@', '-')}.json"
    write_files({path: indented(verdicts.data())})
    return path


def stored_verdicts(results: Path, sample: LabelSample) -> list[RulesVerdicts]:
    paths = listed(sample_folder(results, sample.name) / VERDICTS, "*.json")
    return [RulesVerdicts.parse(path.read_bytes(), path) for path in paths]


def stored_reports(results: Path) -> list[LabelReport]:
    """Return what the labels of each stored sample say, by name. A sample without labels has no report.

    Raises BadInput: a file is missing or invalid, or a regraded file changed after the draw. If the rules of the draw
    were removed, the files may have been graded again.
    """
    files = {file_name(file): file for file in stored_regraded(results)}
    found = []
    for sample in stored_samples(results):
        guide_of(results, sample)
        rows, readings = sample_rows(results, sample), stored_readings(results, sample)
        for name, digest in sample.files.items():
            if name not in files or (why_removed(sample.judge) is None and files[name].rows_digest != digest):
                raise BadInput(
                    f"the regraded file '{name}' is not the one that was drawn from.",
                    where=sample_folder(results, sample.name),
                    remedy="Restore it, or draw a new sample.",
                )
        made = report(sample, rows, readings, files, stored_verdicts(results, sample))
        if made.labelled:
            found.append(made)
    return found


REMEDY = "Restore the folder of the sample."


def label_checks(results: Path) -> Iterator[Check]:
    """Yield a check for each sample: it can be drawn again, and its labels are those of its readers.

    If the rules of the draw were removed, the strata cannot be made again, only checked against the drawn rows.
    ``results``: a folder of results. One without samples gets no check.
    """
    for path in listed(results / LABELS, f"*/{SAMPLE}"):
        removed = None
        try:
            sample = sample_at(path)
            removed = why_removed(sample.judge)
            problems = _problems(results, sample)
        except BadInput as error:
            problems = [error.problem]
        yield Check("labels", tuple(Finding(str(path), problem, REMEDY) for problem in problems), removed)


def _problems(results: Path, sample: LabelSample) -> list[str]:
    guide_of(results, sample)
    rows = sample_rows(results, sample)
    drawn = _redrawn if why_removed(sample.judge) is None else _as_drawn
    problems = list(drawn(results, sample, rows))
    ids = {row.label_id for row in rows}
    for reading, labels in stored_readings(results, sample):
        given = [each.label_id for each in labels]
        if reading.guide_digest != sample.guide_digest:
            problems.append(f"the reader '{reading.reader}' followed another guide.")
        if len(given) != reading.rows or len({*given}) != len(given) or not ids >= {*given}:
            problems.append(f"the labels of '{reading.reader}' are not those of the rows.")
    for verdicts in stored_verdicts(results, sample):
        accepted = verdicts.accepted
        if verdicts.rows_digest != sample.rows_digest or len({*accepted}) != len(accepted) or not ids >= {*accepted}:
            problems.append(f"the verdicts of {verdicts.judge} are not about the rows.")
    return problems


def _redrawn(results: Path, sample: LabelSample, rows: Sequence[SampleRow]) -> Iterator[str]:
    stored = {file_name(file): file for file in stored_regraded(results)}
    drawn = {(row.file, row.item_id, row.trial): row for row in rows}
    again = set()
    is_same = True
    for name, digest in sample.files.items():
        if name not in stored or stored[name].rows_digest != digest:
            is_same = False
            yield f"the regraded file '{name}' is not the one that was drawn from."
            continue
        for row, judged, probability in drawn_cells(name, stored_rows(results, stored[name]), sample):
            again.add((name, row.item_id, row.trial))
            found = drawn.get((name, row.item_id, row.trial))
            if found is None or (found.answer_digest, found.judge, found.rules, found.probability) != (
                row.answer_digest,
                judged,
                row.verdict,
                probability,
            ):
                is_same = False
                yield f"the row of '{row.item_id}' in '{name}' is not the drawn one."
    if is_same and again != drawn.keys():
        yield "it has rows that were not drawn."


def _as_drawn(results: Path, sample: LabelSample, rows: Sequence[SampleRow]) -> Iterator[str]:
    numbers = Counter((row.file, row.category, row.judge, row.rules) for row in rows)
    strata = {(each.file, each.category, each.judge, each.rules): each for each in sample.strata}
    if numbers != Counter({place: each.drawn for place, each in strata.items() if each.drawn}):
        yield "it has rows that were not drawn."
        return
    for row in rows:
        stratum = strata[row.file, row.category, row.judge, row.rules]
        if row.label_id != label_id(sample.seed, row.file, row) or row.probability != stratum.drawn / stratum.rows:
            yield f"the row of '{row.item_id}' in '{row.file}' is not the drawn one."
