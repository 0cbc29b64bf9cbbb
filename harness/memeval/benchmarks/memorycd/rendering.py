"""Texts for systems: reviews and products in the format of MemoryCD, tasks in memeval's own words."""

import hashlib
from collections.abc import Mapping, Sequence

from memeval.benchmarks.memorycd.keys import MemoryCDTask
from memeval.benchmarks.memorycd.metadata import Product
from memeval.benchmarks.memorycd.users import Interaction

REVIEW_CHARACTERS = 200

DESCRIPTION_CHARACTERS = 200
"""Characters of the description of a candidate that are shown."""

SEED = 42

UNKNOWN = "Nothing is known about it."

INSTRUCTIONS: Mapping[MemoryCDTask, str] = {
    MemoryCDTask.RATING: (
        "[rating] How many stars will the person whose reviews are remembered give this product? Reply with one whole"
        " number from 1 to 5 and nothing else."
    ),
    MemoryCDTask.TITLE: (
        "[title] The person whose reviews are remembered wrote this review of this product. Reply with the title that"
        " they put above it: three to ten words, and nothing else."
    ),
    MemoryCDTask.REVIEW: (
        "[review] The person whose reviews are remembered gave this product this rating. Reply with the review that"
        " they wrote: in their style, at their usual length, of a mood that goes with the rating, and nothing else."
    ),
    MemoryCDTask.RANKING: (
        "[ranking] Which of these products will the person whose reviews are remembered choose? Put them in order, the"
        " likeliest first. Reply with all of their ids and nothing else, parted by commas, in a form such as"
        " B00EXAMPL1, B00EXAMPL2, B00EXAMPL3."
    ),
}
"""Instruction of each task. Rule-based readers recognise the task by the name in brackets."""


def remembered(item: Interaction, product: Product | None, *, with_domain: bool) -> str:
    """Return the text of a review in the memory.

    ``with_domain``: whether to name the domain, as in memories of several domains.
    """
    text = _cut(item.text, REVIEW_CHARACTERS)
    return _block(
        [
            ("Domain", item.domain if with_domain else ""),
            ("Title", item.title),
            ("Rating", "" if item.rating is None else f"{item.rating}/5"),
            ("Review", text),
            *_known(product, item.title),
        ]
    )


def work(
    task: MemoryCDTask,
    item: Interaction,
    product: Product | None,
    shown: Sequence[tuple[str, Product | None]],
    clean: bool,
) -> str:
    """Return the text of a task: instruction and target.

    ``shown``: for a ranking, the candidates in the shown order, each with its metadata or ``None``. ``clean``: whether
    a rating task leaves out the title of the review.
    """
    title = item.title if task is MemoryCDTask.RATING and not clean else ""
    rating = "" if item.rating is None else f"{item.rating}/5"
    match task:
        case MemoryCDTask.RATING:
            target = _block([("Title", title), *_known(product, title)])
        case MemoryCDTask.TITLE:
            target = _block([*_known(product, title), ("Rating", rating), ("Review", item.text)])
        case MemoryCDTask.REVIEW:
            target = _block([*_known(product, title), ("Rating", rating)])
        case MemoryCDTask.RANKING:
            target = "\n".join(_candidate(number, *each) for number, each in enumerate(shown, start=1))
    return f"{INSTRUCTIONS[task]}\n\n{target or UNKNOWN}"


def query(
    task: MemoryCDTask,
    item: Interaction,
    product: Product | None,
    shown: Sequence[tuple[str, Product | None]],
    clean: bool,
) -> str:
    """Return the search query for the memory: that of the released code, or the domain if it is empty.

    ``clean``: whether to leave out the title of the review and, for a ranking, search for all candidates.
    """
    if clean and task is MemoryCDTask.RANKING:
        words = [text for _id, known in shown if known is not None for text in known.words]
    else:
        titled = task in (MemoryCDTask.RATING, MemoryCDTask.RANKING) and not clean
        words = [item.title if titled else "", item.text if task is MemoryCDTask.TITLE else ""]
        words += product.words if product is not None else ()
    return " ".join(filter(None, words)) or item.domain.replace("_", " ")


def candidates(user_id: str, item: Interaction, *, once: bool) -> tuple[str, ...]:
    """Return the ids to rank in the shown order, by ``sha256("seed:user:target:id")``.

    ``once``: whether to remove repeated ids.
    """
    ids = [item.item, *item.negatives]
    keyed = sorted((hashlib.sha256(f"{SEED}:{user_id}:{item.domain}:{each}".encode()).digest(), each) for each in ids)
    found = [each for _digest, each in keyed]
    return tuple(dict.fromkeys(found) if once else found)


def _known(product: Product | None, title: str) -> list[tuple[str, str]]:
    """Return the shown metadata of a product; its name only if it differs from the title of the review."""
    if product is None:
        return []
    return [
        ("Product", product.title if product.title != title else ""),
        ("Product Avg Rating", "" if product.average is None else str(product.average)),
        ("Category", product.category),
    ]


def _candidate(number: int, item: str, product: Product | None) -> str:
    fields = [("ID", item), ("Number", str(number))]
    if product is None:
        return _block([*fields, ("Product", UNKNOWN)])
    return _block([*fields, *_known(product, ""), ("Description", _cut(product.description, DESCRIPTION_CHARACTERS))])


def _block(fields: Sequence[tuple[str, str]]) -> str:
    return "\n  ".join(f"{name}: {text}" for name, text in fields if text)


def _cut(text: str, characters: int) -> str:
    return text[:characters] + "..." if len(text) > characters else text
