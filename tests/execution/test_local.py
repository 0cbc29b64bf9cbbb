"""Many scenarios at once: what is stored when a run is stopped, and what progress is told."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memeval.execution.executor import execute
from memeval.execution.journal import Journal
from memeval.execution.local import LocalExecutor
from memeval.execution.progress import Progress
from memeval.execution.steps import SystemInstance
from memeval.gateway.stops import BudgetSpent
from memeval.records.call import Phase
from memeval.records.response import Outcome, Response
from tests.execution.helpers import RecordingEndpoint, native, work


class Told(Progress):
    """Progress that writes down what it is told."""

    def __init__(self) -> None:
        self.spent: list[tuple[float | None, int, int]] = []
        self.items = 0

    def advance(self, items: int, errors: int) -> None:
        self.items += items

    def spend(self, usd: float | None, made: int, cached: int) -> None:
        self.spent.append((usd, made, cached))


def run(
    folder: Path,
    make: Callable[[], SystemInstance],
    scenarios: range,
    *,
    check: Callable[[], None] = lambda: None,
    progress: Progress | None = None,
    spent: Callable[[], tuple[float | None, int, int]] | None = None,
) -> None:
    """Run scenarios of four questions in two items, four at once, into the journal of a folder."""
    (folder / "journal").mkdir(exist_ok=True)
    first = make()
    first.process.start()
    with Journal(folder) as journal:
        executor = LocalExecutor(first, lambda log: make(), None, 10, 4, check=check)
        works = [work(number, questions=4, items=2) for number in scenarios]
        execute(executor, works, journal, progress or Progress(), spent=spent)


def stored(folder: Path) -> list[Response]:
    """Return the rows of a folder's journal."""
    with Journal(folder) as journal:
        return list(journal.responses.values())


def test_what_the_first_instance_prints_is_in_the_log(tmp_path: Path) -> None:
    run(tmp_path, lambda: SystemInstance(native(tmp_path, "print('a line of the system')")), range(1))
    with Journal(tmp_path) as journal:
        printed = [line.detail for line in journal.log_lines if line.event == "printed"]
    assert printed and set(printed) == {"a line of the system"}


def test_a_stop_stores_whole_items_and_nothing_that_it_made_systems_do(tmp_path: Path) -> None:
    stopped = tmp_path / "stopped"
    on_query = (
        f"if self.asked == 7: open({str(stopped)!r}, 'w').close()\n"
        f"        if os.path.exists({str(stopped)!r}): raise RuntimeError('402 Payment Required')\n"
        "        time.sleep(0.01)"
    )

    def check() -> None:
        if stopped.exists():
            raise BudgetSpent("The budget is spent.")

    with pytest.raises(BudgetSpent):
        run(tmp_path, lambda: SystemInstance(native(tmp_path, on_query)), range(40), check=check)
    rows = stored(tmp_path)
    assert rows and len(rows) < 160
    assert {row.outcome for row in rows} == {Outcome.OK}
    items = [row.item_id for row in rows]
    assert all(items.count(item) == 2 for item in items)


def test_finished_items_are_stored_when_another_scenario_stops_the_run(tmp_path: Path) -> None:
    midway = tmp_path / "midway"
    on_query = (
        f"if '(2)' in question and 'Lima' in self.told[0]: open({str(midway)!r}, 'w').close(); time.sleep(60)\n"
        f"        while 'Lima' not in self.told[0] and not os.path.exists({str(midway)!r}): time.sleep(0.01)"
    )

    def check() -> None:
        if midway.exists():
            raise BudgetSpent("The budget is spent.")

    with pytest.raises(BudgetSpent):
        run(tmp_path, lambda: SystemInstance(native(tmp_path, on_query)), range(2), check=check)
    assert [(row.item_id, row.outcome) for row in stored(tmp_path)] == [("item-0-0", Outcome.OK)] * 2


def test_every_instance_has_its_own_endpoint(tmp_path: Path) -> None:
    endpoints: list[RecordingEndpoint] = []

    def make() -> SystemInstance:
        endpoints.append(RecordingEndpoint())
        return SystemInstance(native(tmp_path, "time.sleep(0.1)"), endpoints[-1])

    run(tmp_path, make, range(8))
    once = [Phase.INGEST, Phase.SETTLE, Phase.ASK]
    entered = [each for endpoint in endpoints for each in endpoint.recorded if not isinstance(each, Phase)]
    assert sorted(entered) == [f"tiny-{number:03}" for number in range(8)]
    assert len(endpoints) > 1
    for endpoint in endpoints:
        assert [each for each in endpoint.recorded if isinstance(each, Phase)] == once * (len(endpoint.recorded) // 4)


def test_progress_receives_the_cost_before_the_items(tmp_path: Path) -> None:
    told = Told()
    run(tmp_path, lambda: SystemInstance(native(tmp_path)), range(3), progress=told, spent=lambda: (0.5, 3, told.items))
    assert told.items == 6
    assert told.spent[0] == (0.5, 3, 0)
