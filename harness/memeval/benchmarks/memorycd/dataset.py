"""Makes scenarios, which systems see, and answer keys, which they do not, from reviews."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property

from memeval.benchmarks.base import LoadedDataset
from memeval.benchmarks.memorycd.keys import DOMAINS, MemoryCDKey, MemoryCDTask
from memeval.benchmarks.memorycd.metadata import Catalogue, Product
from memeval.benchmarks.memorycd.rendering import candidates, query, remembered, work
from memeval.benchmarks.memorycd.users import Interaction, Split, SplitSetting, Users, split
from memeval.keys import ItemKey
from memeval.records.base import Digest, digest_of
from memeval.records.errors import BadInput
from memeval.records.scenario import Retain, Scenario, Task

_SIZES = (("1-9", 10), ("10-49", 50), ("50-199", 200))
"""Slices by size of the memory: name and exclusive upper bound."""


@dataclass
class UserCounts:
    eligible: int = 0
    """Users with enough reviews, up to the requested number."""
    skipped: int = 0
    """Eligible users without a memory: ``users_skipped`` of the released code."""
    untested: int = 0
    """Eligible users with a memory whose tests are all left out."""
    without_negatives: int = 0
    """Left-out tests without the product or without negatives: ``skipped_no_negatives`` of the released code."""
    remembered: int = 0
    """Reviews in the memories of all asked users."""
    later: int = 0
    """Reviews among them at or after the time of the first test: the memory knows the future."""


@dataclass(frozen=True)
class _AskedUser:
    user_id: str
    domain: str
    tests: tuple[int, ...]
    keys: tuple[ItemKey, ...] = field(repr=False)


class MemoryCDDataset(LoadedDataset):
    """The reviews of many users for one task and setting: a scenario per user and domain.

    ``most_users``: maximum number of users per domain; 0 for all.
    """

    kept = 4

    def __init__(
        self,
        users: Users,
        catalogue: Catalogue,
        task: MemoryCDTask,
        setting: SplitSetting,
        most_users: int,
        parameters: dict[str, str | int],
        notes: Sequence[str],
        released: Sequence[Digest] = (),
    ) -> None:
        self._users, self._catalogue = users, catalogue
        self.task, self.setting = task, setting
        self._most_users = most_users
        self.parameters = parameters
        self.notes = tuple(notes)
        meta = {domain: index.digest for domain, index in catalogue.indexes.items()}
        self.digest = digest_of({"users": users.index.digest, "meta": meta})
        self.released = users.index.digest in released

    @property
    def tallies(self) -> dict[str, UserCounts]:
        return self._walked[1]

    @property
    def names(self) -> dict[str, _AskedUser]:
        return self._walked[0]

    def keys_of(self, scenario_id: str) -> tuple[ItemKey, ...]:
        return self.names[scenario_id].keys

    def parted(self, scenario_id: str) -> Split:
        """Return the memory and all tests of a scenario, also the tests that are not asked.

        Raises ``KeyError``: no scenario has that id.
        """
        asked = self.names[scenario_id]
        parted = split(self._users.histories(asked.user_id), asked.domain, self.setting)
        if parted is None:
            raise KeyError(scenario_id)
        return parted

    def product(self, item: str, target: str) -> Product | None:
        """Return the metadata of a product, or ``None``: from the tested domain, or from all four across domains."""
        return self._catalogue.product(item, DOMAINS if self.setting.cross else (target,))

    @cached_property
    def _walked(self) -> tuple[dict[str, _AskedUser], dict[str, UserCounts]]:
        """Asked users by scenario, and counts of all users: one pass over the users, without keeping them in memory."""
        tallies = {domain: UserCounts() for domain in DOMAINS}
        found: dict[str, dict[str, _AskedUser]] = {domain: {} for domain in DOMAINS}
        for user_id, histories in self._users.each():
            for domain, tally in tallies.items():
                full = self._most_users and tally.eligible == self._most_users
                if full or not self.setting.takes(histories, domain):
                    continue
                tally.eligible += 1
                parted = split(histories, domain, self.setting)
                if parted is None:
                    tally.skipped += 1
                    continue
                asked = self._who(user_id, domain, parted, tally)
                if asked.keys:
                    tally.remembered += len(parted.memory)
                    tally.later += parted.later
                    found[domain][asked.keys[0].scenario_id] = asked
                else:
                    tally.untested += 1
        asked_in_all = {name: asked for of_domain in found.values() for name, asked in of_domain.items()}
        if not asked_in_all:
            raise BadInput(
                "no questions: no user has enough reviews with the fields that the task needs.",
                where=self._users.index.source,
                remedy="Use fewer tests, other sources or other data.",
            )
        return asked_in_all, tallies

    def _who(self, user_id: str, domain: str, parted: Split, tally: UserCounts) -> _AskedUser:
        scenario_id = f"{self.setting.name}:{domain}:{user_id}"
        slices = {
            "memory": next((name for name, size in _SIZES if len(parted.memory) < size), "200+"),
            "future": "yes" if parted.later else "no",
        }
        places, keys = [], []
        for place, item in enumerate(parted.tests):
            key = self._key(user_id, item)
            if key is None:
                tally.without_negatives += self.task is MemoryCDTask.RANKING
                continue
            places.append(place)
            name = f"{scenario_id}:{place + 1}"
            keys.append(
                ItemKey(
                    item_id=name,
                    scenario_id=scenario_id,
                    question_ids=(name,),
                    category=domain,
                    cluster=user_id,
                    slices=slices,
                    key=key,
                )
            )
        return _AskedUser(user_id, domain, tuple(places), tuple(keys))

    def _key(self, user_id: str, item: Interaction) -> MemoryCDKey | None:
        """Return the answer key of a test; ``None`` if it lacks a field that the task needs."""
        match self.task:
            case MemoryCDTask.RATING if item.rating is not None:
                return MemoryCDKey(task=self.task, rating=float(item.rating))
            case MemoryCDTask.TITLE if item.title.strip() and item.text.strip():
                return MemoryCDKey(task=self.task, text=item.title)
            case MemoryCDTask.REVIEW if item.text.strip() and item.rating is not None:
                return MemoryCDKey(task=self.task, text=item.text)
            case MemoryCDTask.RANKING if item.item and item.negatives:
                shown = candidates(user_id, item, once=self.setting.clean)
                return MemoryCDKey(task=self.task, chosen=item.item, candidates=shown)
        return None

    def load(self, scenario_id: str) -> Scenario:
        asked = self.names[scenario_id]
        parted = self.parted(scenario_id)
        retained = [
            step for number, item in enumerate(parted.memory, 1) if (step := self._retain(number, item, asked.domain))
        ]
        tasks = [
            self._task(key, parted.tests[place], asked.domain)
            for place, key in zip(asked.tests, asked.keys, strict=True)
        ]
        return Scenario(scenario_id=scenario_id, steps=(*retained, *tasks))

    def _retain(self, number: int, item: Interaction, target: str) -> Retain | None:
        """Return the step that retains a review; ``None`` if the review is empty."""
        product = self.product(item.item, target)
        content = remembered(item, product, with_domain=self.setting.cross)
        known = product or Product()
        fields: dict[str, str | float | None] = {
            "title": item.title,
            "text": item.text,
            "rating": item.rating,
            "item": item.item,
            "product": known.title,
            "category": known.category,
            "description": known.description,
        }
        if not content:
            return None
        return Retain(
            text_id=f"s{number:03}",
            content=content,
            occurred_at=iso(item.time),
            metadata={name: value for name, value in fields.items() if value not in (None, "")},
            source_id=f"{item.domain}:{item.place}",
        )

    def _task(self, key: ItemKey, item: Interaction, target: str) -> Task:
        product = self.product(item.item, target)
        ids = key.key.candidates if isinstance(key.key, MemoryCDKey) else ()
        shown = [(each, self.product(each, target)) for each in ids]
        clean = self.setting.clean
        return Task(
            question_id=key.item_id,
            question=work(self.task, item, product, shown, clean),
            query=query(self.task, item, product, shown, clean),
        )


def iso(milliseconds: float) -> str:
    """Return a time in ISO 8601, in UTC; empty for 0 (unknown) and for times out of range."""
    if not milliseconds:
        return ""
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return ""
