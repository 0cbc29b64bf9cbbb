"""Judges on pages: audits, and scores of the same responses by several judges."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from memeval.archive.audits import AuditFolder
from memeval.leaderboard.board import BoardRow, RankStatus
from memeval.leaderboard.marks import RESPONSES
from memeval.records.audit import Audit, AuditLine, ProbeKind, Rate
from memeval.records.base import Digest, digest_of
from memeval.records.track import Track
from memeval.site.model.content import SiteModel, asks_judge
from memeval.site.model.text import percent
from memeval.site.model.urls import benchmark_url, segment

NOT_AUDITED = "grader not audited yet"

NOT_ASKED = "scores are measured by formula; no judge is used"


@dataclass(frozen=True)
class JudgeName:
    name: str
    endpoint: str | None
    label: str | None
    """Its label, if the endpoint is not that of its maker."""


@dataclass(frozen=True)
class JudgeNote:
    judge: JudgeName
    audit: Audit | None
    result: str
    url: str
    asked: bool = True


@dataclass(frozen=True)
class JudgeAudits:
    latest: AuditFolder
    older: tuple[AuditFolder, ...]


def judge_note(site: SiteModel, track: Track) -> JudgeNote:
    """Return the judge of a track with its latest audit on the benchmark, on the same data if possible."""
    page = benchmark_url(track.benchmark)
    judge = JudgeName(track.judge, track.judge_endpoint, track.judge_label)
    if not asks_judge(track):
        return JudgeNote(judge, None, NOT_ASKED, f"{page}#protocols", asked=False)
    found = [folder.audit for folder in site.audits if _audits(folder.audit, track)]
    if not found:
        return JudgeNote(judge, None, NOT_AUDITED, f"{page}#judges")
    audit = max(found, key=lambda one: (one.data_digest == track.data_digest, one.started, one.audit_id))
    result = accepts(audit.overall.false_accepts)
    if audit.data_digest != track.data_digest:
        result += ", on other data of this benchmark"
    return JudgeNote(judge, audit, result, f"{page}#{anchor(audit)}")


def accepts(rate: Rate) -> str:
    if rate.share is None:
        return "grader audit: no wrong answers tested"
    return f"grader audit: passes {percent(rate.share)} % of wrong answers ({rate.count} of {rate.of})"


def anchor(audit: Audit) -> str:
    return f"audit-{segment(audit.audit_id)}"


def _audits(audit: Audit, track: Track) -> bool:
    """Return whether an audit tested exactly the judge of a track."""
    return (audit.benchmark, audit.judge, audit.judge_endpoint, audit.prompts) == (
        track.benchmark,
        track.judge,
        track.judge_endpoint,
        judge_prompts(track),
    )


def judge_prompts(track: Track) -> dict[str, Digest]:
    return {name: digest for name, digest in track.prompts.items() if name.startswith("judge/")}


def audits_of(site: SiteModel, benchmark: str) -> list[JudgeAudits]:
    groups: dict[tuple[object, ...], list[AuditFolder]] = {}
    for folder in sorted(site.audits, key=lambda one: (one.audit.started, one.audit.audit_id), reverse=True):
        audit = folder.audit
        if audit.benchmark == benchmark:
            prompts = tuple(sorted(audit.prompts.items()))
            key = (audit.judge, audit.judge_endpoint or "", prompts, audit.data_digest)
            groups.setdefault(key, []).append(folder)
    return [JudgeAudits(found[0], tuple(found[1:])) for _key, found in sorted(groups.items())]


def scores_by_judge(site: SiteModel, benchmark: str) -> list[tuple[str, dict[str, float | None]]]:
    """Return the slug of a system and its composites by judge, for responses that several judges graded.

    It is the one comparison across tracks, which differ only in the judge. Of judges of one name, all but the first
    have the digest of their endpoint and prompts beside it.
    """
    settings: dict[str, list[BoardRow]] = {}
    for row in site.board.runs:
        if row.run.track.benchmark == benchmark and row.standing is not RankStatus.INVALIDATED:
            settings.setdefault(_setting(row.run.track), []).append(row)
    found = []
    for same in (each for rows in settings.values() for each in _response_sets(rows)):
        latest = {_judge(row.run.track): row for row in reversed(same)}  # they are newest first
        scores: dict[str, float | None] = {}
        for (name, *others), row in sorted(latest.items()):
            shown = f"{name} ({digest_of(others)[7:15]})" if name in scores else name
            scores[shown] = row.score
        if len(scores) > 1:
            found.append((same[0].run.system.slug, scores))
    return sorted(found, key=lambda each: each[0])


def _setting(track: Track) -> str:
    others = {name: digest for name, digest in track.prompts.items() if name not in judge_prompts(track)}
    return track.model_copy(update={"judge": "", "judge_endpoint": None, "judge_label": None, "prompts": others}).id


def _judge(track: Track) -> tuple[str, str, str, str]:
    return track.judge, track.judge_endpoint or "", track.judge_label or "", prompts_id(judge_prompts(track))


def prompts_id(prompts: Mapping[str, Digest]) -> str:
    return digest_of(dict(prompts))[7:15]


def by_kind(audit: Audit) -> list[tuple[ProbeKind, AuditLine]]:
    return [(kind, audit.kinds[kind]) for kind in ProbeKind if kind in audit.kinds]


def _response_sets(rows: Iterable[BoardRow]) -> Iterator[list[BoardRow]]:
    """Yield groups of runs with the same responses: one names the other as origin, or the rows have equal bytes."""
    leader: dict[str, str] = {}

    def find(name: str) -> str:
        while leader.setdefault(name, name) != name:
            name = leader[name]
        return name

    known = list(rows)
    for row in known:
        run = row.run
        rows_of = run.files.get(RESPONSES)
        for other in (run.answers_from, rows_of.digest if rows_of and rows_of.rows else None):
            if other is not None:
                leader[find(other)] = find(run.run_id)
    sets: dict[str, list[BoardRow]] = {}
    for row in known:
        sets.setdefault(find(row.run.run_id), []).append(row)
    yield from sets.values()
