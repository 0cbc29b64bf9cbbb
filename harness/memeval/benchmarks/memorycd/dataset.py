"""From reviews to scenarios, which a system may see, and keys, which it may not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property, lru_cache

from memeval.benchmarks.base import Dataset
from memeval.benchmarks.memorycd.domains import DOMAINS
from memeval.benchmarks.memorycd.metadata import Catalogue, Product
from memeval.benchmarks.memorycd.rendering import candidates, query, remembered, work
from memeval.benchmarks.memorycd.splits import Split, SplitSetting, split
from memeval.benchmarks.memorycd.users import Interaction, Users
from memeval.keys import ItemKey, MemoryCDKey, MemoryCDTask
from memeval.records.base import Digest, digest_of
from memeval.records.errors import BadInput
from memeval.records.scenario import Retain, Scenario, Task

KEPT_OPEN = 4
"""Scenarios kept after their last use."""

_SIZES = (("1-9", 10), ("10-49", 50), ("50-199", 200))
"""Slices by the size of the memory: each name, and the size from which another holds."""


@dataclass
class UserCounts:
    """What became of the users of a domain."""

    eligible: int = 0
    """Users with reviews enough, as many as are asked for."""
    processed: int = 0
    """Those of them with something to be remembered: the released code's ``users_processed``."""
    skipped: int = 0
    """Those with nothing to be remembered: its ``users_skipped``."""
    untested: int = 0
    """Those that are processed, and all of whose tests are left out."""
    tests_left_out: int = 0
    """Tests without what the task needs."""
    without_negatives: int = 0
    """Those of them that lack the product or what was not chosen: its ``skipped_no_negatives``."""
    remembered: int = 0
    """Reviews remembered, over all users that are asked."""
    later: int = 0
    """Those of them that are no earlier than the first test: the memory knows the future."""


@dataclass(frozen=True)
class _AskedUser:
    """A user who is asked in a domain."""

    user_id: str
    domain: str
    tests: tuple[int, ...]
    """Which of the tests are asked, counted from 0."""
    keys: tuple[ItemKey, ...] = field(repr=False)


class MemoryCDDataset(Dataset):
    """The reviews of many users, one task in one setting: a scenario for each user and domain, opened when asked for.

    Args:
        users: the users.
        catalogue: what is known of products.
        task: what is asked.
        setting: how histories are split.
        most_users: how many users a domain has at most; 0 for all.
        parameters: what differs from the defaults.
        notes: what is odd about the files.
        released: digests of the released file of users, unpacked.
    """

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
        self._opened = lru_cache(maxsize=KEPT_OPEN)(self._open)

    @property
    def tallies(self) -> dict[str, UserCounts]:
        """What became of the users, by domain."""
        return self._walked[1]

    def scenarios(self) -> Iterator[Scenario]:
        """Yield the scenarios: domain by domain, in it user by user in the order of the file."""
        return map(self.scenario, self._asked)

    def keys(self) -> Iterator[ItemKey]:
        """Yield the keys in the same order, and of a user by time."""
        return (key for asked in self._asked.values() for key in asked.keys)

    def scenario(self, scenario_id: str) -> Scenario:
        """Return one scenario; see :meth:`Dataset.scenario`."""
        return self._opened(scenario_id)

    def scenario_ids(self) -> Iterator[str]:
        """Yield the scenarios' ids."""
        return iter(self._asked)

    def parted(self, scenario_id: str) -> Split:
        """Return the whole memory of a scenario and all its tests, those that are not asked among them.

        Raises:
            KeyError: there is no scenario of that id.
        """
        asked = self._asked[scenario_id]
        parted = split(self._users.histories(asked.user_id), asked.domain, self.setting)
        if parted is None:
            raise KeyError(scenario_id)
        return parted

    def product(self, item: str, target: str) -> Product | None:
        """Return what is known of a product where a domain is asked about: in one domain, its own; else in all four."""
        return self._catalogue.product(item, DOMAINS if self.setting.cross else (target,))

    @property
    def _asked(self) -> dict[str, _AskedUser]:
        return self._walked[0]

    @cached_property
    def _walked(self) -> tuple[dict[str, _AskedUser], dict[str, UserCounts]]:
        """Who is asked, by scenario, and what became of all: one pass over the users, who are not held."""
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
                tally.processed += 1
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
                "there is nothing to ask: no user has reviews enough, and what the task needs.",
                where=self._users.index.source,
                remedy="Ask for fewer tests or other sources, or name other data.",
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
                tally.tests_left_out += 1
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
        """Return what is right of a test; ``None`` where it lacks what the task needs."""
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

    def _open(self, scenario_id: str) -> Scenario:
        asked = self._asked[scenario_id]
        parted = self.parted(scenario_id)
        told = [
            step for number, item in enumerate(parted.memory, 1) if (step := self._retain(number, item, asked.domain))
        ]
        done = [
            self._task(key, parted.tests[place], asked.domain)
            for place, key in zip(asked.tests, asked.keys, strict=True)
        ]
        return Scenario(scenario_id=scenario_id, steps=(*told, *done))

    def _retain(self, number: int, item: Interaction, target: str) -> Retain | None:
        """Return a review as it is remembered; ``None`` where it says nothing at all."""
        product = self.product(item.item, target)
        content = remembered(item, product, with_domain=self.setting.cross)
        known = product or Product()
        told: dict[str, str | float | None] = {
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
            metadata={name: value for name, value in told.items() if value not in (None, "")},
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
    """Return a time as ISO 8601, in UTC; blank for 0, which stands for none, and for what no calendar holds."""
    if not milliseconds:
        return ""
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return ""
