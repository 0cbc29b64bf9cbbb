"""Where a board is published: a folder, an S3-compatible bucket, or a Git branch."""

from memeval.site.targets.base import Entry, EntryKind, NewFile, Target
from memeval.site.targets.folder import FolderTarget
from memeval.site.targets.opening import open_target

__all__ = ["Entry", "EntryKind", "FolderTarget", "NewFile", "Target", "open_target"]
