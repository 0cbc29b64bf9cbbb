"""The maintainer's command for wording packs: ``python -m memeval.benchmarks.beliefs.wording``."""

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path

from memeval.benchmarks.beliefs.wording.editions import FILENAME, Wordings, add, reveal
from memeval.benchmarks.beliefs.wording.packs import FRAMES, WordingPack, faults, read_pack, shared
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput, CheckFailed, MemevalError
from memeval.storage import readable, write_whole
from memeval.toml import parse_toml

HERE = Path(__file__).parent


def main(arguments: Sequence[str] | None = None, home: Path = HERE, today: date | None = None) -> int:
    """Make, check, commit or reveal a pack. Return the exit code, and print an error as one sentence.

    ``arguments``: the words of the command line; ``None`` for those of this process.
    """
    chosen = _parser().parse_args(arguments)
    try:
        if chosen.command == "new":
            _new(chosen.file)
        elif chosen.command == "check":
            _check(chosen.file, chosen.others)
        elif chosen.command == "commit":
            _check(chosen.file, [*chosen.others, *_revealed(home)])
            _commit(chosen.file, chosen.opens, home, today or datetime.now(UTC).date())
        else:
            _check(chosen.file, _revealed(home))
            reveal(chosen.file, home, today or datetime.now(UTC).date())
            print(f"Published {chosen.file.name}. Commit it, and run the edition.")
    except MemevalError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m memeval.benchmarks.beliefs.wording", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    new = commands.add_parser("new", help="write an empty pack with every list that it needs")
    check = commands.add_parser("check", help="name each broken rule of a pack, and what it shares with others")
    commit = commands.add_parser("commit", help="publish the digest of a pack, and keep the pack withheld")
    show = commands.add_parser("reveal", help="publish a withheld pack, from the day it was committed for")
    for each in (new, check, commit, show):
        each.add_argument("file", type=Path, metavar="FILE", help="the pack")
    for each in (check, commit):
        each.add_argument("others", type=Path, nargs="*", metavar="OTHER", help="packs that it must share nothing with")
    commit.add_argument(
        "--opens", required=True, type=date.fromisoformat, metavar="DATE", help="first day on which it may be revealed"
    )
    return parser


def _new(file: Path) -> None:
    if file.exists():
        raise BadInput("the file exists.", where=file, remedy="Choose another name.")
    lists = "".join(f"{name} = []  # at least {rule.least}: {rule.says}\n" for name, rule in FRAMES.items())
    text = (
        f'schema_version = 1\nname = "{file.stem}"\nchains = []  # before the first table\n\n[frames]\n{lists}\n'
        "# [[themes]]: a, b, ask, reply, more, end\n"
        "# [[topics]]: id, label, verb, rest, now, past, values, hints, openers, tips\n"
    )
    write_whole(file, text.encode())


def _read(file: Path) -> WordingPack:
    with readable(file, "Name a pack, a TOML file."):
        return read_pack(file.read_bytes(), file)


def _check(file: Path, others: Sequence[Path]) -> None:
    """Check a pack by itself and beside others.

    Raises ``BadInput``: a file is not a pack. Raises ``CheckFailed``: the pack breaks a rule, or shares words with
    another pack.
    """
    pack = _read(file)
    found = [
        *faults(pack),
        *(fault for other in others if other.stem != file.stem for fault in shared(pack, _read(other))),
    ]
    for fault in found:
        print(fault)
    if found:
        raise CheckFailed(f"{len(found)} faults.", where=file, remedy="Change the sentences above.")
    print(f"{file}: no fault, digest {digest_bytes(file.read_bytes())}")


def _revealed(home: Path) -> list[Path]:
    return sorted(path for path in home.glob("*.toml") if path.name != FILENAME)


def _commit(file: Path, opens: date, home: Path, today: date) -> None:
    place = home / FILENAME
    published = parse_toml(place.read_bytes(), place).record(Wordings)
    place.write_bytes(add(published, place.read_bytes(), file, opens, today))
    print(f"Published the digest of '{file.stem}'. Keep {file} out of every repository until {opens.isoformat()}.")


if __name__ == "__main__":
    sys.exit(main())
