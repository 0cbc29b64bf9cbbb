"""Where a board is published: a folder, an S3-compatible bucket, or a Git branch."""

from pathlib import Path

from memeval.objects import open_store, parse_place
from memeval.records.errors import BadInput
from memeval.settings import SETTINGS, read_settings
from memeval.site.release.targets.base import Entry, EntryKind, NewFile, Target
from memeval.site.release.targets.git import GitTarget
from memeval.site.release.targets.stored import BucketTarget, FolderTarget

GIT = "git:"

MISSING = f"Name it with --to, or as 'to' in section [publish] of {SETTINGS}: DIR, s3://BUCKET/PREFIX or git:BRANCH."


def open_target(board: Path, named: str | None = None, remote: str | None = None) -> Target:
    """Return the target of a board.

    Args:
        board: the folder of the board, which contains ``results/`` and perhaps ``memeval.toml``.
        named: a folder, ``s3://BUCKET/PREFIX`` or ``git:BRANCH``; ``None`` for the one in ``memeval.toml``.
        remote: the Git remote to push a branch to; ``None`` for the one in ``memeval.toml``.

    Raises:
        BadInput: none is named, the name is not valid, or ``memeval.toml`` is not.
    """
    settings = read_settings(board).publish
    to = settings.to if named is None else named
    if to is None:
        raise BadInput("no target is named.", remedy=MISSING)
    if to.startswith(GIT):
        branch = to.removeprefix(GIT)
        if not branch or branch.startswith("-"):
            raise BadInput(f"{to!r} names no branch.", remedy="Write git:BRANCH, such as git:gh-pages.")
        remote = remote or settings.remote
        if remote is not None and remote.startswith("-"):
            raise BadInput(f"{remote!r} is not a remote.", remedy="Name one of those that 'git remote' prints.")
        return GitTarget(board, branch, remote)
    if remote is not None:
        raise BadInput("--remote is for a Git branch only.", remedy="Leave it out, or publish to git:BRANCH.")
    try:
        place = parse_place(to, endpoint=settings.endpoint, region=settings.region)
    except BadInput as error:
        raise BadInput(error.problem, remedy="Write DIR, s3://BUCKET/PREFIX or git:BRANCH.") from None
    if place.folder is None:
        return BucketTarget(open_store(place))
    return FolderTarget(place.folder if named is not None else board / place.folder)


__all__ = ["Entry", "EntryKind", "FolderTarget", "NewFile", "Target", "open_target"]
