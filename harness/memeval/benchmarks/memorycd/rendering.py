"""What systems are shown: reviews and products as MemoryCD writes them, and the pieces of work in our own words."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from memeval.benchmarks.memorycd.metadata import Product
from memeval.benchmarks.memorycd.users import Interaction
from memeval.keys import MemoryCDTask

REVIEW_CHARACTERS = 200
"""So much of a remembered review is shown."""

DESCRIPTION_CHARACTERS = 200
"""So much of a candidate's description is shown."""

SEED = 42
"""Goes into the order in which candidates are shown."""

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
"""What is asked for, by task; the name in brackets tells a reader of rules which it is."""


def remembered(item: Interaction, product: Product | None, *, with_domain: bool) -> str:
    """Return a review as it is remembered.

    Args:
        item: the review.
        product: what is known of the product; ``None`` where nothing is.
        with_domain: whether the domain is named, as it is where the memory is of several.
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
    """Return a piece of work: what is to be done, and to what.

    Args:
        task: what is to be done.
        item: the review that is asked for.
        product: what is known of its product; ``None`` where nothing is.
        shown: for a ranking, the candidates in the order shown, each with what is known of it.
        clean: whether a rating is asked for without the title of the very review.
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
    """Return what the memory is searched for: what the released code searches for, or the domain where that is nothing.

    Args:
        task: what is to be done.
        item: the review that is asked for.
        product: what is known of its product; ``None`` where nothing is.
        shown: for a ranking, the candidates in the order shown, each with what is known of it.
        clean: whether the review's own title is left out, and a ranking searches for all candidates alike.
    """
    if clean and task is MemoryCDTask.RANKING:
        words = [text for _id, known in shown if known is not None for text in known.words]
    else:
        titled = task in (MemoryCDTask.RATING, MemoryCDTask.RANKING) and not clean
        words = [item.title if titled else "", item.text if task is MemoryCDTask.TITLE else ""]
        words += product.words if product is not None else ()
    return " ".join(filter(None, words)) or item.domain.replace("_", " ")


def candidates(user_id: str, item: Interaction, *, once: bool) -> tuple[str, ...]:
    """Return the ids to be ranked in the order shown, by ``sha256("seed:user:target:id")``.

    Args:
        user_id: the user.
        item: the review of what was chosen.
        once: whether an id that is listed twice is shown once.
    """
    ids = [item.item, *item.negatives]
    keyed = sorted((hashlib.sha256(f"{SEED}:{user_id}:{item.domain}:{each}".encode()).digest(), each) for each in ids)
    found = [each for _digest, each in keyed]
    return tuple(dict.fromkeys(found) if once else found)


def _known(product: Product | None, title: str) -> list[tuple[str, str]]:
    """Return what is told of a product; its name only where it is not the review's title anyway."""
    if product is None:
        return []
    return [
        ("Product", product.title if product.title != title else ""),
        ("Product Avg Rating", "" if product.average is None else str(product.average)),
        ("Category", product.category),
    ]


def _candidate(number: int, item: str, product: Product | None) -> str:
    told = [("ID", item), ("Number", str(number))]
    if product is None:
        return _block([*told, ("Product", UNKNOWN)])
    return _block(
        [*told, *_known(product, ""), ("Description", _cut(product.description, DESCRIPTION_CHARACTERS))],
    )


def _block(fields: Sequence[tuple[str, str]]) -> str:
    return "\n  ".join(f"{name}: {text}" for name, text in fields if text)


def _cut(text: str, characters: int) -> str:
    return text[:characters] + "..." if len(text) > characters else text
