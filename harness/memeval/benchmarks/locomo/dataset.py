"""From the released conversations to scenarios, which a system may see, and keys, which it may not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from memeval.benchmarks.base import Dataset
from memeval.benchmarks.locomo.choice import options_of, with_options
from memeval.benchmarks.locomo.conversation import Conversation
from memeval.benchmarks.locomo.released import LocomoFile, LocomoQuestion
from memeval.keys import ItemKey, LocomoCategory, LocomoKey
from memeval.records.errata import Erratum, ErratumKind
from memeval.records.errors import BadInput
from memeval.records.scenario import Ask, Scenario

NUMBERED = {str(number): category for number, category in enumerate(LocomoCategory, 1)}
"""The categories by the numbers that the file gives them. Names are in circulation in other orders; those are wrong."""

_SPREAD = ("none", "one-session", "several-sessions")


class LocomoDataset(Dataset):
    """The released conversations, each a scenario with all its questions, in the file's order.

    Args:
        released: the file.
        choice: whether adversarial questions offer two options.
    """

    def __init__(self, released: LocomoFile, *, choice: bool = False) -> None:
        self.digest = released.digest
        self.parameters = {"adversarial": "choice"} if choice else {}
        self._choice = choice
        self._conversations = {each.sample_id: Conversation(each) for each in released.conversations}

    def scenarios(self) -> Iterator[Scenario]:
        """Yield the scenarios: the sessions in the order of their numbers, then the questions."""
        for name, conversation in self._conversations.items():
            asks = (
                Ask(question_id=key.item_id, question=with_options(raw.question, _locomo(key).options))
                for key, raw in zip(self._keys[name], conversation.raw.questions, strict=True)
            )
            yield Scenario(scenario_id=name, steps=(*conversation.steps(), *asks))

    def keys(self) -> Iterator[ItemKey]:
        """Yield the keys."""
        return (key for keys in self._keys.values() for key in keys)

    def ordinals(self, scenario_id: str) -> Mapping[str, str]:
        """Return the ordinals of a conversation's sessions (``S1``) and turns (``D1:3``).

        Raises:
            KeyError: there is no conversation of that id.
        """
        conversation = self._conversations[scenario_id]
        return conversation.sessions | conversation.turns

    def corrected(self, key: ItemKey, erratum: Erratum) -> ItemKey:
        """Return a key with what an erratum puts in the place of what is wrong.

        The item goes on counting in the category that it was published in. What a judge of times is shown stays as
        published: other evidence makes no answer more right.

        Args:
            key: the key as released.
            erratum: ``wrong_answer`` with the right one, ``wrong_evidence`` with the ids of turns (``D1:3``), or
                ``wrong_category`` with the name or the number of the category whose rule is right.

        Raises:
            BadInput: the entry does not say what is right, or not in such a form.
        """
        match erratum.kind:
            case ErratumKind.WRONG_ANSWER:
                return _ruled(key, _locomo(key).model_copy(update={"answer": _text(erratum)}), erratum)
            case ErratumKind.WRONG_CATEGORY:
                return _ruled(key, _locomo(key).model_copy(update={"category": _category(erratum)}), erratum)
            case ErratumKind.WRONG_EVIDENCE:
                return self._evidenced(key, erratum)
            case ErratumKind.AMBIGUOUS:
                raise _unusable(erratum, "calls the item ambiguous, which no other answer mends")

    def _evidenced(self, key: ItemKey, erratum: Erratum) -> ItemKey:
        """Return a key with other evidence."""
        conversation = self._conversations[key.scenario_id]
        evidence = (erratum.corrected,) if isinstance(erratum.corrected, str) else erratum.corrected or ()
        unknown = next((name for name in evidence if name not in conversation.turns), None)
        if not evidence:
            raise _unusable(erratum, "names no evidence")
        if unknown is not None:
            raise _unusable(erratum, f"names {unknown[:64]!r}, which is no turn of {key.scenario_id} such as 'D1:3'")
        found = conversation.locate(evidence)
        better = _locomo(key).model_copy(update={"evidence": evidence, "evidence_turns": found.turns})
        return key.model_copy(update={"key": better, "evidence": found.sessions or None})

    @cached_property
    def _keys(self) -> dict[str, tuple[ItemKey, ...]]:
        return {
            name: tuple(self._item(conversation, place, raw) for place, raw in enumerate(conversation.raw.questions))
            for name, conversation in self._conversations.items()
        }

    def _item(self, conversation: Conversation, place: int, raw: LocomoQuestion) -> ItemKey:
        name = conversation.raw.sample_id
        question_id = f"{name}:{place}"
        category = NUMBERED[str(raw.category)]
        found = conversation.locate(raw.evidence)
        # Where the file answers an adversarial question, that answer is the wrong option of LoCoMo's own code.
        trap = raw.answer or raw.adversarial_answer
        offers = self._choice and category is LocomoCategory.ADVERSARIAL
        return ItemKey(
            item_id=question_id,
            scenario_id=name,
            question_ids=(question_id,),
            category=category.value,
            cluster=name,
            slices={"evidence": _SPREAD[min(len(found.sessions), 2)], "photo": "yes" if found.photo else "no"},
            evidence=found.sessions or None,
            key=LocomoKey(
                category=category,
                answer=raw.answer,
                trap=raw.adversarial_answer,
                evidence=raw.evidence,
                evidence_turns=found.turns,
                dates=found.dates,
                options=options_of(question_id, trap) if offers and trap else (),
            ),
        )


def _locomo(key: ItemKey) -> LocomoKey:
    if not isinstance(key.key, LocomoKey):
        raise TypeError(f"{key.item_id} is no item of LoCoMo")
    return key.key


def _ruled(key: ItemKey, better: LocomoKey, erratum: Erratum) -> ItemKey:
    """Return a key that another answer or another rule makes, if that rule can be followed."""
    adversarial = better.category is LocomoCategory.ADVERSARIAL
    if adversarial and erratum.kind is ErratumKind.WRONG_ANSWER:
        raise _unusable(erratum, "gives an answer to an adversarial question, which is right when it goes unanswered")
    if not adversarial and better.answer is None:
        raise _unusable(erratum, f"makes the question {better.category.value}, and the data has no answer to it")
    return key.model_copy(update={"key": better})


def _text(erratum: Erratum) -> str:
    if not isinstance(erratum.corrected, str) or not erratum.corrected.strip():
        raise _unusable(erratum, "does not give one right answer as text")
    return erratum.corrected


def _category(erratum: Erratum) -> LocomoCategory:
    named = _text(erratum)
    categories = NUMBERED | {category.value: category for category in LocomoCategory}
    if named not in categories:
        raise _unusable(erratum, f"names {named[:64]!r}, which is no category: {', '.join(LocomoCategory)}")
    return categories[named]


def _unusable(erratum: Erratum, problem: str) -> BadInput:
    return BadInput(f"the erratum of {erratum.id} {problem}.", remedy="Mend the entry, or use the action 'exclude'.")
