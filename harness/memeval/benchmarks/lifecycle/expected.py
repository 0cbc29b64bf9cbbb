"""Where each control is expected to differ from the careful one; see ``expected.toml``."""

from dataclasses import dataclass

from memeval.toml import read_words

REFERENCE = "careful-store"

COMPARED = ("store-everything", "forget-nothing", "forget-everything", "soft-delete", "last-write-wins")

ORACLE = "lifecycle-oracle"


@dataclass(frozen=True)
class Difference:
    """The probes of a part on which a control differs from the careful one."""

    control: str
    protocol: str
    category: str
    fails: tuple[str, ...] = ()
    differs: tuple[str, ...] = ()
    """Probes that it may pass or fail, because it returns texts in another order."""


@dataclass(frozen=True)
class Expected:
    differences: tuple[Difference, ...]

    def fails(self, control: str, protocol: str, category: str, probe: str) -> bool:
        return any(probe in each.fails for each in self._of(control, protocol, category))

    def differs(self, control: str, protocol: str, category: str, probe: str) -> bool:
        return any(probe in each.differs for each in self._of(control, protocol, category))

    def _of(self, control: str, protocol: str, category: str) -> list[Difference]:
        wanted = (control, protocol, category)
        return [each for each in self.differences if (each.control, each.protocol, each.category) == wanted]


EXPECTED = read_words(__package__, "expected.toml", Expected)
