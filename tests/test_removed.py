"""Names of removed editions are explained in one sentence."""

from memeval.removed import why_removed


def test_a_removed_edition_is_explained_with_its_reason_and_its_last_commit() -> None:
    sentence = why_removed("beliefs@1")
    assert sentence is not None
    assert sentence.startswith("beliefs@1 was removed: ")
    assert sentence.endswith("The last commit with it is 1738e770.")


def test_an_edition_that_was_never_there_is_not_explained() -> None:
    assert why_removed("beliefs@7") is None
