"""``memeval labels``: readers label published answers, to find out what graders are worth."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memeval.cli.shared import DEFAULT_RESULTS, AsJson, Results, counted, percent, print_json, print_table
from memeval.cli.sources import DEFAULT_SOURCES, Datas, From, Sources, datas_of
from memeval.records.errors import BadInput
from memeval.storage import readable, writable

if TYPE_CHECKING:
    from memeval.labels.sheets import PublishedAnswers
    from memeval.records.base import Digest
    from memeval.records.label import GraderErrors, LabelReport, LabelSample, RulesComparison, SampleShare
    from memeval.records.regraded import RegradedFile

app = typer.Typer(help="Let readers label answers, to examine graders.", no_args_is_help=True)


@app.command("draw")
def draw(
    name: Annotated[str, typer.Argument(help="Name of the new sample.")],
    files: Annotated[list[str], typer.Argument(help="Regraded files, SOURCE/FILE.")],
    guide: Annotated[Path, typer.Option("--guide", metavar="FILE", help="The readers' guide, in Markdown.")],
    seed: Annotated[int, typer.Option("--seed", help="Seed of the draw.")] = 0,
    rows: Annotated[
        str,
        typer.Option(
            "--rows",
            metavar="N,N,N,N",
            help="Rows of each file and category: both right, right by judge only, by rules only, both wrong.",
        ),
    ] = "5,7,2,5",
    from_: From = None,
    data: Datas = None,
    sources: Sources = DEFAULT_SOURCES,
    results: Results = DEFAULT_RESULTS,
) -> None:
    """Draw answers at random for readers.

    Rows are drawn from every file and category, by what the judge in the file and the rules say. The probability of
    each row is stored, never its text.

    Example: memeval labels draw answers mirix/mem0 zep-papers/zep --guide guide.md
    """
    from memeval.archive.rows import pack
    from memeval.claims.store import file_name, stored_regraded, stored_rows
    from memeval.labels.sampling import CELLS
    from memeval.labels.sampling import draw as drawn_rows
    from memeval.labels.store import write_sample
    from memeval.records.base import digest_bytes
    from memeval.records.label import LabelSample

    _refuse_unusable(name, "the sample")
    stored = {file_name(file): file for file in stored_regraded(results)}
    if unknown := [each for each in files if each not in stored]:
        raise BadInput(f"there is no regraded file '{unknown[0]}'.", where=results, remedy="See memeval sources list.")
    chosen = [stored[each] for each in dict.fromkeys(files)]
    data_digest, judge = _graded_by(chosen)
    with readable(guide, "Name a file with --guide."):
        text = guide.read_bytes()
    answers = _answers(sources, from_, data)
    wanted = dict(zip(CELLS, _numbers(rows), strict=True))
    triples = [(file, stored_rows(results, file), answers.texts(file_name(file))) for file in chosen]
    strata, drawn = drawn_rows(triples, wanted, seed)
    sample = LabelSample(
        name=name,
        benchmark=chosen[0].benchmark,
        data_digest=data_digest,
        judge=judge,
        seed=seed,
        files={file_name(file): file.rows_digest for file in chosen},
        strata=tuple(strata),
        rows_digest=pack(drawn)[1].digest,
        guide_digest=digest_bytes(text),
        drawn_at=datetime.datetime.now(datetime.UTC).date().isoformat(),
    )
    print(write_sample(results, sample, drawn, text))
    print(f"{counted(len(drawn), 'row')} of {counted(sum(stratum.rows for stratum in strata), 'row')} drawn")


@app.command("sheet")
def sheet(
    names: Annotated[list[str], typer.Argument(help="Names of samples. Their rows are mixed.")],
    to: Annotated[Path, typer.Option("--to", metavar="FILE", help="The new file, JSON lines.")],
    reader: Annotated[str, typer.Option("--reader", help="Name of the reader, who gets an order of their own.")],
    from_: From = None,
    data: Datas = None,
    sources: Sources = DEFAULT_SOURCES,
    results: Results = DEFAULT_RESULTS,
) -> None:
    """Write a reading sheet, which names no system.

    Each line has a question, the expected answer, the answer, and the messages that prove it. The sheet names no system
    and no verdict. It holds text of the benchmark: keep it to yourself.

    Example: memeval labels sheet answers --reader first --to first.jsonl
    """
    from memeval.labels.sampling import shuffled
    from memeval.labels.sheets import reading_sheet
    from memeval.labels.store import sample_rows, stored_samples
    from memeval.storage import write_whole

    chosen = _chosen(stored_samples(results), names, results)
    if len({sample.benchmark for sample in chosen}) > 1:
        raise BadInput("these samples are of several benchmarks.", remedy="Write a sheet for each.")
    rows = [row for sample in chosen for row in sample_rows(results, sample)]
    answers = _answers(sources, from_, data)
    lines = reading_sheet(shuffled(rows, reader), answers, chosen[0].benchmark)
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    with writable(to):
        write_whole(to, text.encode())
    print(f"{to}: {counted(len(rows), 'row')}")


@app.command("add")
def add(
    name: Annotated[str, typer.Argument(help="Name of the sample.")],
    files: Annotated[list[Path], typer.Argument(help="Files of labels, CSV.")],
    reader: Annotated[str, typer.Option("--reader", help="Name of the reader.")],
    model: Annotated[str | None, typer.Option("--model", help="The language model that read. Default: none.")] = None,
    decides: Annotated[
        bool, typer.Option("--decides", help="The reader decides the rows on which the others differ.")
    ] = False,
    results: Results = DEFAULT_RESULTS,
) -> None:
    """Store the labels of a reader.

    A file has the columns label_id, label, reason and doubt. Rows of other samples are left out. The text of answers is
    never stored.

    Example: memeval labels add answers first.csv --reader first --model my-model
    """
    from memeval.archive.rows import pack
    from memeval.labels.reading import read_labels
    from memeval.labels.store import sample_rows, stored_samples, write_reading
    from memeval.records.label import ReaderKind, Reading

    _refuse_unusable(reader, "the reader")
    stored = stored_samples(results)
    (sample,) = _chosen(stored, [name], results)
    others = frozenset(row.label_id for other in stored if other.name != name for row in sample_rows(results, other))
    rows = sample_rows(results, sample)
    labels = read_labels(files, rows, others)
    reading = Reading(
        sample=name,
        reader=reader,
        kind=ReaderKind.HUMAN if model is None else ReaderKind.MODEL,
        model=model,
        decides=decides,
        read_at=datetime.datetime.now(datetime.UTC).date().isoformat(),
        guide_digest=sample.guide_digest,
        rows=len(labels),
        rows_digest=pack(labels)[1].digest,
    )
    print(write_reading(results, reading, labels))
    print(f"{counted(len(labels), 'label')}, {counted(len(rows) - len(labels), 'row')} of the sample without one")


@app.command("grade")
def grade(
    names: Annotated[list[str], typer.Argument(help="Names of samples.")],
    tuned_on: Annotated[
        list[str], typer.Option("--tuned-on", metavar="CLUSTER", help="A cluster used for tuning. Repeatable.")
    ],
    also: Annotated[
        list[str] | None, typer.Option("--also", metavar="FILE", help="A further file, SOURCE/FILE. Repeatable.")
    ] = None,
    from_: From = None,
    data: Datas = None,
    sources: Sources = DEFAULT_SOURCES,
    results: Results = DEFAULT_RESULTS,
) -> None:
    """Grade labelled answers by the rules of today.

    A sample keeps the verdicts of the rules by which it was drawn. This stores which answers the rules of today call
    right, and how many of each whole file. Errors are reported on the clusters that were not used for tuning.

    Example: memeval labels grade answers --tuned-on conv-26 --tuned-on conv-30
    """
    from memeval.judging.rules import RulesJudge
    from memeval.labels.sheets import verdicts_of
    from memeval.labels.store import sample_rows, stored_samples, write_verdicts

    answers = _answers(sources, from_, data)
    for sample in _chosen(stored_samples(results), names, results):
        if sample.judge == RulesJudge.name:
            raise BadInput(f"the sample '{sample.name}' has the verdicts of {RulesJudge.name}.", remedy="Leave it out.")
        rows = sample_rows(results, sample)
        found = verdicts_of(RulesJudge(), sample, rows, answers, tuned_on, also or ())
        print(write_verdicts(results, found))
        print(f"{RulesJudge.name} calls {len(found.accepted)} of {counted(len(rows), 'row')} right")


@app.command("show")
def show(results: Results = DEFAULT_RESULTS, as_json: AsJson = False) -> None:
    """Show what the labels say about the graders.

    Every number is computed from the stored rows and labels. Imprecise answers do not count as right.

    Example: memeval labels show
    """
    from memeval.labels.store import stored_reports

    reports = stored_reports(results)
    if not reports:
        raise BadInput("there are no labels here.", where=results, remedy="Run the command in a checkout.")
    if as_json:
        print_json([report.data() for report in reports])
        return
    for report in reports:
        _print(report)


def _print(report: LabelReport) -> None:
    from memeval.labels.worth import ALPHA

    sample = report.sample
    print(f"{sample.name}: {counted(report.labelled, 'labelled row')}, {report.open} open, {report.doubted} doubted")
    for reading in report.readings:
        who = reading.model or "human"
        decides = ", decides" if reading.decides else ""
        print(f"  reader {reading.reader}: {who}, {counted(reading.rows, 'label')}{decides}")
    for pair in report.pairs:
        kappa = "–" if pair.kappa is None else f"{pair.kappa:.2f}"
        print(f"  {pair.first} and {pair.second}: {pair.equal} of {pair.rows} equal, Cohen's kappa {kappa}")
    _print_errors([("", each) for each in report.errors])
    print("The cells count rows that the grader calls right/wrong.")
    for versions in report.versions:
        _print_versions(versions)
    lines = [["right answers, %", "by labels", "judge", "corrected", "rules", "corrected"]]
    for system in report.systems:
        lines.append(
            [
                system.label,
                _share(system.right),
                percent(system.judge),
                _share(system.corrected_judge),
                percent(system.rules),
                _share(system.corrected_rules),
            ]
        )
    print_table(lines)
    tests = (("rejects", report.equal_rejects), ("accepts", report.equal_accepts))
    for kind, by_grader in tests:
        for grader, p in by_grader.items():
            if p is not None:
                says = "differ between systems" if p < ALPHA else "do not differ significantly between systems"
                print(f"{grader}: false {kind} {says} (p = {p:.2g})")
    for order in report.orders:
        tau = "–" if order.tau is None else f"{order.tau:.2f}"
        print(f"order by {order.first} and by {order.second}: Kendall's tau {tau}")


def _print_errors(errors: Sequence[tuple[str, GraderErrors]]) -> None:
    lines = [["wrongly accepted and rejected, %", "right", "imprecise", "wrong", "accepted", "rejected"]]
    for half, each in errors:
        cells = [f"{count.accepted}/{count.rejected}" for count in each.table]
        name = f"{half}{each.grader}: {each.part}"
        lines.append([name, *cells, _share(each.false_accepts), _share(each.false_rejects)])
    print_table(lines)


def _print_versions(versions: RulesComparison) -> None:
    halves = (("tuned on, ", versions.tuned), ("not tuned on, ", versions.reported))
    _print_errors([(half, each) for half, errors in halves for each in errors])
    for verdicts in versions.verdicts:
        lines = [[f"whole files, {verdicts.judge}", "right, tuned on", "right, not tuned on"]]
        for name, passed in verdicts.files.items():
            lines.append(
                [name, f"{passed.tuned} of {passed.tuned_rows}", f"{passed.reported} of {passed.reported_rows}"]
            )
        print_table(lines)
    for kind, tests in (("rejects", versions.equal_rejects), ("accepts", versions.equal_accepts)):
        for grader, p in tests.items():
            if p is not None:
                print(f"not tuned on, {grader}: equal false {kind} on all systems, p = {p:.2g}")


def _refuse_unusable(name: str, of: str) -> None:
    from memeval.records.base import SLUG, SLUG_LENGTH

    if not SLUG.fullmatch(name) or len(name) > SLUG_LENGTH:
        raise BadInput(
            f"'{name}' cannot be the name of {of}.",
            remedy=f"Use at most {SLUG_LENGTH} lower-case letters, digits and dashes.",
        )


def _chosen(stored: Sequence[LabelSample], names: Sequence[str], results: Path) -> list[LabelSample]:
    """Return the samples with some names, each once. Raises ``BadInput`` if there is no such sample."""
    known = {sample.name: sample for sample in stored}
    if unknown := [name for name in names if name not in known]:
        raise BadInput(f"there is no sample '{unknown[0]}'.", where=results, remedy=f"Samples: {', '.join(known)}.")
    return [known[name] for name in dict.fromkeys(names)]


def _share(share: SampleShare | None) -> str:
    return "–" if share is None else f"{percent(share.value)} [{percent(share.low)}–{percent(share.high)}]"


def _numbers(rows: str) -> list[int]:
    """Return four numbers of rows. Raises ``BadInput`` if there are not four numbers."""
    parts = rows.split(",")
    if len(parts) != 4 or not all(part.strip().isdecimal() for part in parts):
        raise BadInput(f"invalid --rows '{rows}'.", remedy="Write four numbers, such as 5,7,2,5.")
    return [int(part) for part in parts]


def _answers(sources: Path, from_: Path | None, data: list[str] | None) -> PublishedAnswers:
    from memeval.claims.copies import Copies
    from memeval.claims.regrading import Sessions
    from memeval.labels.sheets import PublishedAnswers

    return PublishedAnswers(sources, Copies(from_), Sessions(datas_of(data)))


def _graded_by(files: list[RegradedFile]) -> tuple[Digest, str]:
    """Return the data and the rule set that graded all files.

    Raises ``BadInput`` if they are of several benchmarks or rule sets, or were not graded.
    """
    if len({(file.benchmark, file.data_digest, file.judge) for file in files}) > 1:
        raise BadInput("these files are of several benchmarks or rule sets.", remedy="Draw a sample for each.")
    data_digest, judge = files[0].data_digest, files[0].judge
    if data_digest is None or judge is None:
        raise BadInput("memeval does not have the key of this benchmark.", remedy="Choose a file that was graded here.")
    return data_digest, judge
