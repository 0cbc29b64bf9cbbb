"""The texts of stored contexts: found by scenario, or by digest in older runs."""

import gc
import weakref

import pytest

from memeval.benchmarks import find
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.judge.grades import StoredTexts
from memeval.execution.contexts import Contexts, TurnTexts
from memeval.keys import ItemKey
from memeval.records.response import Context, Response
from tests.grading.builders import reply


@pytest.fixture(scope="module")
def session() -> BenchmarkSession:
    return BenchmarkSession.open(find("beliefs@2"), parameters={"size": 2})


@pytest.fixture(scope="module")
def items(session: BenchmarkSession) -> list[ItemKey]:
    return list({key.scenario_id: key for key in session.keys}.values())


def stored(session: BenchmarkSession, item: ItemKey, text: str) -> Context:
    return TurnTexts(session.scenarios[item.scenario_id]).context(text)


def answers(item: ItemKey, digest: str | None) -> list[Response]:
    rows = (reply(item, "x", question=number) for number in range(len(item.question_ids)))
    return [row.model_copy(update={"context_digest": digest}) for row in rows]


def turn(session: BenchmarkSession, item: ItemKey) -> str:
    return session.scenarios[item.scenario_id].sessions()[0].turns[0].content


def texts(session: BenchmarkSession, item: ItemKey, contexts: list[Context], digest: str | None) -> set[str | None]:
    return set(map(StoredTexts(session, Contexts(contexts)).context, answers(item, digest)))


def test_turns_by_id_are_text_again(session: BenchmarkSession, items: list[ItemKey]) -> None:
    text = f"{turn(session, items[0])}\nand more"
    context = stored(session, items[0], text)
    assert context.parts[0].turn_id is not None
    assert texts(session, items[0], [context], context.digest) == {text}


def test_a_context_of_the_own_scenario_counts_alone(session: BenchmarkSession, items: list[ItemKey]) -> None:
    text = turn(session, items[0])
    mine, other = stored(session, items[0], text), stored(session, items[1], text)
    assert mine.digest == other.digest and mine.parts != other.parts
    for contexts in ([mine, other], [other, mine], [mine]):
        assert texts(session, items[0], contexts, mine.digest) == {text}
    assert texts(session, items[0], [other], mine.digest) == {None}


def test_what_is_not_stored_or_names_nothing_is_none(session: BenchmarkSession, items: list[ItemKey]) -> None:
    context = stored(session, items[0], turn(session, items[0]))
    assert texts(session, items[0], [], context.digest) == {None}
    assert texts(session, items[0], [context], None) == {None}
    elsewhere = context.model_copy(update={"scenario_id": "gone"})
    assert texts(session, items[0], [elsewhere], context.digest) == {None}
    part = context.parts[0].model_copy(update={"turn_id": "s999:t99"})
    broken = context.model_copy(update={"parts": (part,)})
    assert texts(session, items[0], [broken], context.digest) == {None}


def test_the_contexts_of_a_run_are_free_at_once(session: BenchmarkSession, items: list[ItemKey]) -> None:
    gc.disable()  # many runs are regraded, and nothing collects garbage while one is
    try:
        context = stored(session, items[0], turn(session, items[0]))
        contexts = Contexts([context])
        held, found = weakref.ref(contexts), StoredTexts(session, contexts)
        assert found.context(answers(items[0], context.digest)[0]) == turn(session, items[0])
        del contexts, found
        assert held() is None
    finally:
        gc.enable()
