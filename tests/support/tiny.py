"""A benchmark of a few scenarios, for tests of the machinery around benchmarks."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from memeval.benchmarks.base import Benchmark, Category, Dataset, Parameters
from memeval.execution.progress import Progress
from memeval.grading.judged import Judged
from memeval.keys import Fact, ItemKey, NoiseKey
from memeval.records.base import Digest, digest_of
from memeval.records.benchmark import BenchmarkInfo, ProtocolInfo, TierInfo
from memeval.records.errors import BadInput
from memeval.records.scenario import Ask, Ingest, Scenario, Session, Turn
from memeval.records.track import Redistribution

CITIES = ("Lima", "Oslo", "Quito", "Accra", "Hanoi", "Perth", "Turin", "Dakar")


def scenario(number: int, questions: int = 1) -> Scenario:
    """Return a scenario of two sessions in which someone names a city, and questions about it."""
    city = CITIES[number % len(CITIES)]
    sessions = (
        ("s001", "2025-01-05", f"I have moved to {city} for good."),
        ("s002", "2025-02-05", "The weather is fine and the soup was hot."),
    )
    steps: list[Ingest | Ask] = [
        Ingest(
            session=Session(
                session_id=ordinal,
                date=date,
                turns=(
                    Turn(turn_id=f"{ordinal}:t01", role="user", speaker="Ada", content=text),
                    Turn(turn_id=f"{ordinal}:t02", role="assistant", content="Good to know."),
                ),
            ),
            source_id=f"source-{ordinal}",
        )
        for ordinal, date, text in sessions
    ]
    steps += [
        Ask(question_id=f"tiny-{number:03}:q{q + 1:02}", question=f"Which city has Ada moved to? ({q})")
        for q in range(questions)
    ]
    return Scenario(scenario_id=f"tiny-{number:03}", steps=tuple(steps))


def keys_of(made: Scenario, number: int) -> Iterator[ItemKey]:
    """Yield one key a question: the city."""
    city = CITIES[number % len(CITIES)]
    for question in made.questions():
        yield ItemKey(
            item_id=question.question_id.replace(":", "-"),
            scenario_id=made.scenario_id,
            question_ids=(question.question_id,),
            category="near" if number % 2 else "far",
            cluster=f"person-{number % 5}",
            slices={"parity": "odd" if number % 2 else "even"},
            evidence=("s001",),
            key=NoiseKey(reference=Fact(text=f"Ada lives in {city}", phrases=(city,))),
        )


@dataclass
class TinyDataset(Dataset):
    made: list[Scenario]
    digest: Digest = ""
    parameters: Parameters = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.digest = digest_of([one.data() for one in self.made])

    def scenarios(self) -> Iterator[Scenario]:
        return iter(self.made)

    def answer_keys(self) -> Iterator[ItemKey]:
        return (key for number, one in enumerate(self.made) for key in keys_of(one, number))


class TinyBenchmark(Benchmark):
    """``tiny@1``: so many scenarios with so many questions each.

    ``scenarios``: how many scenarios. ``questions``: questions in each. ``redistribution``: whether its text may be
    published.
    """

    def __init__(
        self, scenarios: int = 8, questions: int = 1, redistribution: Redistribution = Redistribution.FULL
    ) -> None:
        self._made = [scenario(number, questions) for number in range(scenarios)]
        self.categories = (
            Category("far", "Far", 0.6, 0, Judged(), "Whether a far city is kept.", "The city must be named."),
            Category("near", "Near", 0.4, 0, Judged(), "Whether a near city is kept.", "The city must be named."),
        )
        self.info = BenchmarkInfo(
            id="tiny@1",
            title="Tiny",
            summary="Cities, for tests.",
            made="By hand, for tests.",
            licence="CC0-1.0",
            redistribution=redistribution,
            citation=None,
            homepage=None,
            protocols=(ProtocolInfo(name="judge", title="Judge", summary="A judge.", headline="accuracy"),),
            tiers=(TierInfo(name="full", items=0, how="All."),),
            categories=tuple(category.info() for category in self.categories),
        )

    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> TinyDataset:
        return TinyDataset(self._made)


class Named(TinyBenchmark):
    """A benchmark of two items under an id of its own; ``given`` are fields of what it says of itself."""

    def __init__(self, name: str, **given: object) -> None:
        super().__init__(2)
        self.info = self.info.model_copy(update={"id": name, **given})


class Missing(Named):
    def available(self, path: Path | None = None) -> bool:
        return False

    def remedy(self) -> str:
        return "Its seed comes on 1 December."


class Torn(Named):
    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> TinyDataset:
        raise BadInput("the data is torn.", remedy="Fetch it again.")


class Faulty(Named):
    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> TinyDataset:
        raise KeyError("a slip")


class Stops(Progress):
    """Interrupts the run when so many items are stored."""

    def __init__(self, items: int = 1) -> None:
        self._left = items

    def advance(self, items: int, failed: int) -> None:
        self._left -= items
        if self._left <= 0:
            raise KeyboardInterrupt


class Notes(Progress):
    """Keeps what the user is told."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.started = (0, 0)

    def start(self, title: str, total: int, done: int) -> None:
        self.started = (total, done)

    def note(self, sentence: str) -> None:
        self.said.append(sentence)
