"""The maintainer's command for fresh editions: ``python -m memeval.benchmarks.beliefs.fresh``."""

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from memeval.benchmarks.beliefs.fresh.editions import Edition, Editions
from memeval.benchmarks.beliefs.wording import editions as wording
from memeval.benchmarks.beliefs.wording.editions import Wordings
from memeval.records.errors import BadInput, MemevalError
from memeval.storage import write_whole
from memeval.toml import parse_toml

EDITIONS = Path(__file__).with_name("editions.toml")

PACKS = Path(wording.__file__).parent


def main(
    arguments: Sequence[str] | None = None, file: Path = EDITIONS, packs: Path = PACKS, now: datetime | None = None
) -> int:
    """Announce an edition. Return the exit code, and print an error as one sentence.

    ``arguments``: the words of the command line; ``None`` for those of this process.
    """
    chosen = _parser().parse_args(arguments)
    try:
        made = announce(chosen.at, chosen.packs, file, packs, now or datetime.now(UTC))
    except MemevalError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    constant = made.month.upper().replace(" ", "_")
    print(
        f"Announced {made.id}: round {made.round}, drawn at {made.at}. Now add\n"
        f'to memeval/benchmarks/beliefs/fresh/__init__.py: {constant} = partial(FreshBeliefsBenchmark, "{made.id}")\n'
        f'to pyproject.toml: "{made.id}" = "memeval.benchmarks.beliefs.fresh:{constant}"\n'
        f"On the day of the draw, add drawn = true to the edition, reveal its packs and release."
    )
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m memeval.benchmarks.beliefs.fresh", description=__doc__)
    commands = parser.add_subparsers(required=True)
    new = commands.add_parser("announce", help="announce an edition: the round that draws its seed, and its packs")
    new.add_argument("--at", required=True, metavar="TIME", help="time of the draw, UTC: 2027-03-01T12:00:00Z")
    new.add_argument(
        "packs", nargs="*", metavar="PACK", help="a committed pack that is still withheld; none for the public wording"
    )
    return parser


def announce(at: str, names: Sequence[str], file: Path, packs: Path, now: datetime) -> Edition:
    """Add an edition to the file of the editions, and return it.

    Raises ``BadInput``: the time is invalid or not to come; an edition of that month is announced; a pack is unknown,
    named twice, public, or may be published before the draw. ``at``: time of the draw of its seed, UTC, to the second.
    ``names``: names of its wording packs; empty for the public wording.
    """
    try:
        moment = datetime.strptime(at, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except ValueError:
        raise BadInput(f"'{at}' is no time.", remedy="Write it as 2027-03-01T12:00:00Z, in UTC.") from None
    if moment <= now:
        raise BadInput(f"{at} is past, so its seed is known.", remedy="Choose a time to come.")
    text = file.read_bytes()
    so_far = parse_toml(text, file).record(Editions)
    edition_id = f"beliefs-fresh-{moment:%Y%m}@2"
    if any(each.name == edition_id.partition("@")[0] for each in so_far.editions):
        raise BadInput(
            f"an edition of {moment:%B %Y} is announced already.", where=file, remedy="Choose another month."
        )
    if len(set(names)) < len(names):
        raise BadInput("a pack is named twice.", remedy="Name each pack once.")
    place = packs / wording.FILENAME
    published = parse_toml(place.read_bytes(), place).record(Wordings)
    for name in names:
        _check_withheld(published, name, packs, moment)
    made = Edition(
        id=edition_id, month=f"{moment:%B %Y}", at=at, round=so_far.beacon.round_at(moment), packs=tuple(names)
    )
    entry = f'\n[[editions]]\nid = "{made.id}"\nmonth = "{made.month}"\nat = "{made.at}"\nround = {made.round}\n'
    if names:
        listed = ", ".join(f'"{name}"' for name in names)
        entry += f"packs = [{listed}]\n"
    write_whole(file, text + entry.encode())
    return made


def _check_withheld(published: Wordings, name: str, packs: Path, moment: datetime) -> None:
    pack = published.pack(name)
    if (packs / f"{name}.toml").exists():
        raise BadInput(
            f"the wording pack '{name}' is public, so systems may be tuned to it.",
            remedy="Commit a new pack: python -m memeval.benchmarks.beliefs.wording commit FILE --opens DATE",
        )
    if pack.opens < moment.date():
        raise BadInput(
            f"the wording pack '{name}' may be published from {pack.opens.isoformat()}, before the draw.",
            remedy=f"Draw on {pack.opens.isoformat()} at the latest, or commit another pack.",
        )


if __name__ == "__main__":
    sys.exit(main())
