"""Choice of the judge by name, and the judge of a stored run."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from memeval.evaluation.judge.judges import choose_judge, judge_of
from memeval.judging import prompting
from memeval.judging.base import Case
from memeval.keys import Fact, NoiseKey
from memeval.records.base import digest_bytes
from memeval.records.call import Prompt
from memeval.records.errors import BadInput
from tests.support.runs import make_track
from tests.support.tiny import scenario

pytestmark = pytest.mark.usefixtures("no_models")

MAKERS = "https://api.openai.com/v1"
ELSEWHERE = "http://127.0.0.1:1/v1"
ANSWER = "noise-resistance"
CASE = Case("i", "Which city?", "Lima", NoiseKey(reference=Fact(text="In Lima", phrases=("Lima",))), scenario(0))
OTHER = "Other words: {question} {answer} {reference}"


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, no_models: None) -> None:
    monkeypatch.setenv("MEMEVAL_JUDGE_BASE_URL", ELSEWHERE)


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    (tmp_path / f"{ANSWER}.txt").write_text(OTHER, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("named", ["rules", "rules@3"])
def test_the_rule_set_is_reached_nowhere_and_has_no_prompts(named: str) -> None:
    chosen = choose_judge(named)
    track = chosen.on(make_track(judge="openai:m@1", judge_endpoint=ELSEWHERE, judge_label="us"))
    assert (track.judge, track.judge_endpoint, track.judge_label, track.prompts) == ("rules@3", None, None, {})
    assert chosen.prompt_rows(track.benchmark) == []


@pytest.mark.parametrize("named", ["rules@1", "rules@2"])
def test_a_removed_version_of_the_rules_is_refused_with_the_reason(named: str) -> None:
    with pytest.raises(BadInput, match=f"^{named} was removed: .*Use --judge rules, which is rules@3"):
        choose_judge(named)
    with pytest.raises(BadInput, match=f"^{named} was removed"):
        judge_of(make_track(judge=named), [])


@pytest.mark.parametrize(("more", "option"), [({"label": "us"}, "--judge-label"), ({"prompts": Path()}, "--prompts")])
def test_the_rule_set_takes_nothing_that_goes_with_a_model(more: dict[str, str], option: str) -> None:
    with pytest.raises(BadInput, match=f"^{option} needs a model judge"):
        choose_judge("rules", **more)  # type: ignore[arg-type]


def test_a_model_at_its_makers_needs_neither_label_nor_key() -> None:
    chosen = choose_judge("openai:gpt-4o")
    assert (chosen.name, chosen.endpoint, chosen.label) == ("openai:gpt-4o-2024-08-06@1", MAKERS, None)


@pytest.mark.parametrize("model", ["llama-3-70b", "claude-3-5-sonnet"])
def test_a_model_that_its_host_did_not_make_needs_a_label(model: str) -> None:
    with pytest.raises(BadInput, match=f"{MAKERS} is not an endpoint of the maker of {model}"):
        choose_judge(f"openai:{model}")
    assert choose_judge(f"openai:{model}", " Acme ").label == "Acme"


@pytest.mark.usefixtures("elsewhere")
def test_a_makers_model_elsewhere_needs_a_label() -> None:
    with pytest.raises(BadInput, match="--judge-label"):
        choose_judge("openai:gpt-4o")
    assert choose_judge("openai:gpt-4o", "vLLM at Acme").endpoint == ELSEWHERE


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("label", ["", " ", "\n"])
def test_a_blank_label_is_none(label: str) -> None:
    with pytest.raises(BadInput, match="--judge-label is blank"):
        choose_judge("openai:gpt-4o", label)


@pytest.mark.parametrize("named", ["gpt-4o", "rules@9", "openai:", "openai:a b", "openai:gpt-4o@2", "", "Rules"])
def test_an_unknown_judge_is_refused(named: str) -> None:
    with pytest.raises(BadInput, match="there is no "):
        choose_judge(named, "us" if named.startswith("openai") else None)


def test_an_invalid_base_url_is_reported_with_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMEVAL_JUDGE_BASE_URL", "ftp://127.0.0.1")
    with pytest.raises(BadInput, match="MEMEVAL_JUDGE_BASE_URL: not an http or https URL"):
        choose_judge("openai:gpt-4o")


@pytest.mark.usefixtures("elsewhere")
def test_a_track_names_all_of_a_judge_and_keeps_the_readers_prompts(prompts: Path) -> None:
    readers = digest_bytes(b"read")
    before = make_track(
        benchmark="beliefs@2", prompts={"reader/answer": readers, "judge/reminder": digest_bytes(b"old")}
    )
    chosen = choose_judge("openai:gpt-4o", "us", prompts)
    track = chosen.on(before)
    assert (track.judge, track.judge_endpoint, track.judge_label) == (chosen.name, ELSEWHERE, "us")
    assert track.prompts.keys() == {"reader/answer", "judge/reminder", *prompting.Prompts().of(prompting.SHARED)}
    assert track.prompts["reader/answer"] == readers
    assert track.prompts[f"judge/{ANSWER}"] == digest_bytes(OTHER.encode())
    assert track.prompts["judge/reminder"] != before.prompts["judge/reminder"]
    assert track.id not in (before.id, choose_judge("openai:gpt-4o", "us").on(before).id)
    assert choose_judge("rules").on(track).prompts == {"reader/answer": readers}


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("benchmark", ["beliefs@2", "deepmemeval@1", "locomo@1", "longmemeval@1"])
def test_a_track_names_only_the_prompts_of_its_benchmark(benchmark: str) -> None:
    track = choose_judge("openai:gpt-4o", "us").on(make_track(benchmark=benchmark))
    own = [name for name in track.prompts if name.startswith(("judge/locomo-", "judge/longmemeval-"))]
    name = benchmark.partition("@")[0]
    if name in ("beliefs", "deepmemeval"):
        assert not own
    else:
        assert own and track.prompts.keys() == {"judge/reminder", *own}
        assert all(each.startswith(f"judge/{name}-") for each in own)


@pytest.mark.usefixtures("elsewhere")
def test_lenient_prompts_make_another_track_of_locomo_only() -> None:
    strict, lenient = (choose_judge("openai:gpt-4o", "us", each) for each in (None, Path("lenient")))
    one, other = (each.on(make_track(benchmark="locomo@1")) for each in (strict, lenient))
    assert one.prompts.keys() == other.prompts.keys()
    assert {name for name in one.prompts if one.prompts[name] != other.prompts[name]} == {
        "judge/locomo-answer",
        "judge/locomo-all-parts",
        "judge/locomo-period",
    }
    with pytest.raises(BadInput, match="none of the prompts is for beliefs@2"):
        lenient.on(make_track(benchmark="beliefs@2"))


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("own", [True, False])
def test_a_stored_judge_keeps_its_stored_prompts(
    prompts: Path, own: bool, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = choose_judge("openai:gpt-4o", "us", prompts if own else None)
    assert chosen.model is not None
    track = chosen.on(make_track(benchmark="beliefs@2"))
    stored = chosen.prompt_rows(track.benchmark)
    asked = [request(CASE).to_json() for request in (chosen.model.request, chosen.model.reminder)]
    changed = tmp_path_factory.mktemp("changed")
    (changed / "prompts").mkdir()
    for name in (*prompting.prompt_names(prompting.SHARED), prompting.REMINDER):
        (changed / "prompts" / f"{name}.txt").write_text(
            "Again?" if name == prompting.REMINDER else "Changed. {answer}"
        )
    monkeypatch.setattr(prompting, "resources", SimpleNamespace(files=lambda _package: changed))
    monkeypatch.setenv("MEMEVAL_JUDGE_BASE_URL", "http://127.0.0.1:2/v1")
    now = choose_judge("openai:gpt-4o", "us").model
    assert now is not None
    assert "Changed." in now.request(CASE).to_json(), "memeval's own prompts were not changed"
    again = judge_of(track, [*stored, Prompt(name="reader/answer", text="Read.")])
    assert again.model is not None
    assert [request(CASE).to_json() for request in (again.model.request, again.model.reminder)] == asked
    assert again.on(track) == track
    assert again.prompt_rows(track.benchmark) == stored


def test_the_rule_set_of_a_track_is_the_rule_set() -> None:
    assert judge_of(make_track(), []) == choose_judge("rules")
    with pytest.raises(BadInput, match="there is no judge 'rules@7'"):
        judge_of(make_track(judge="rules@7"), [])
