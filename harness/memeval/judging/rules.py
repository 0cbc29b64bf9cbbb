"""The offline judge: deterministic rules for the judged kinds of key.

It needs no model and no network, so controls, demonstrations and continuous integration get the same verdicts
everywhere. It matches phrases, not meaning, so its tracks are separate from a model judge's.
"""

import re
from collections import Counter
from dataclasses import replace

from memeval.gateway.reply_words import without_thinking
from memeval.judging.base import Case, Ruling
from memeval.judging.hedging import hedges, without_echo
from memeval.judging.references.comparing import Verdict, by_meaning
from memeval.judging.text import covered, is_read, normal, stated, states, without_framed, words
from memeval.keys import Fact, FactsKey, ReferenceKey, ReflectKey, StanceKey, phrases_of
from memeval.records.grade import Flag, GradeState

DUMP_SHARE = 0.5
"""An answer with at least this share of the history's words, counted with repetitions, is a context dump..."""

DUMP_WORDS = 30
"""...if it has at least this many of them: a short answer about a very short history is not a dump."""

BANK_SHARE = 0.8
"""The same share for a reflection on a bank of a few texts, which may need most of their words."""

_YES_OR_NO = re.compile(
    r"\W*(?:yes|yep|yeah|correct|indeed|certainly|definitely|absolutely|of course|(?P<no>no|nope|not))\b"
)


class RulesJudge:
    """The rule set. It reads English: see :data:`memeval.judging.text.READ`.

    Its word lists and limits were tuned on answers about five conversations of LoCoMo, and measured on five others.
    """

    name = "rules@3"

    def rule(self, case: Case) -> Ruling:
        """Judge one answer, without its thinking.

        An answer that contains most of the history is always wrong: the user would have to find the answer in it. Of an
        answer or a reference in a script that the rules do not read, they say ``unparsed``, unless it is surely right.
        Raises ``TypeError``: keys of this kind are not judged.
        """
        case = replace(case, answer=without_thinking(case.answer))
        if not case.answer.strip():
            return Ruling(GradeState.EMPTY, False, "The answer is blank: it is all thinking.")
        flags = noticed(case)
        if Flag.CONTEXT_DUMP in flags:
            return Ruling(GradeState.GRADED, False, "The answer holds most of the history.", flags)
        verdict = self._verdict(case, Flag.HEDGED in flags)
        if not isinstance(verdict, str) and not verdict[0] and not is_read(case.answer):
            verdict = "The answer is in a script that the rules do not read."
        if isinstance(verdict, str):
            return Ruling(GradeState.UNPARSED, None, verdict, flags)
        return Ruling(GradeState.GRADED, *verdict, flags)

    def _verdict(self, case: Case, hedged: bool) -> Verdict | str:
        """Return the verdict with its reason, or why there is none."""
        match case.key:
            case FactsKey() as key:
                return _right_and_nothing_wrong(case, key)
            case StanceKey(dependent=dependent, unanswerable=doubt_is_right):
                return _doubted(hedged) if doubt_is_right else _confirmed(case, dependent, hedged)
            case ReferenceKey() as key:
                return by_meaning(case, key)
            case ReflectKey(points=points, forbidden=claims):
                return _stated_in_part(case, points, claims)
            case _:
                raise TypeError(f"{self.name} does not judge keys of kind {case.key.kind!r}")


def noticed(case: Case) -> tuple[Flag, ...]:
    """Return the flags of an answer without its thinking, for every judge."""
    case = replace(case, answer=without_thinking(case.answer))
    flags = []
    if holds_most_of_the_history(case):
        flags.append(Flag.CONTEXT_DUMP)
    if hedges(case.answer, case.question):
        flags.append(Flag.HEDGED)
    return tuple(flags)


def holds_most_of_the_history(case: Case) -> bool:
    """Return whether the answer is a context dump; see ``DUMP_SHARE``, ``DUMP_WORDS`` and ``BANK_SHARE``.

    The history is read only until it is too long for the answer to be a dump.
    """
    answer = Counter(words(normal(case.answer)))
    if answer.total() < DUMP_WORDS:
        return False
    turns = (turn.content for session in case.scenario.each_session() for turn in session.turns)
    share = BANK_SHARE if isinstance(case.key, ReflectKey) else DUMP_SHARE
    found = covered(answer, turns, within=answer.total() / share)
    return found is not None and found[0] >= max(DUMP_WORDS, share * found[1])


def _right_and_nothing_wrong(case: Case, key: FactsKey) -> Verdict:
    """Judge an answer that must state one fact and no other.

    The answer may repeat a wrong value from the question if it only marks a time, as in "before the move to Nomad".
    """
    wrong, wanted, unwanted = phrases_of(key.wrong), key.right_is, key.wrong_is
    named = tuple(phrase for phrase in wrong if states(case.question, (phrase,)))
    answer = without_framed(without_echo(case.answer, case.question), named)
    has_right, has_wrong = stated(answer, key.right.phrases, wrong)
    if has_right and has_wrong:
        return False, f"The answer states the {wanted} and also {unwanted}."
    if has_right:
        return True, f"The answer states the {wanted}."
    if has_wrong:
        return False, f"The answer states {unwanted} in place of the {wanted}."
    return False, f"The answer does not state the {wanted}."


def _stated_in_part(case: Case, points: tuple[Fact, ...], claims: tuple[Fact, ...]) -> Verdict:
    """Judge a reflection by points that it must state and claims that it must not make."""
    answer = without_echo(case.answer, case.question)
    for point in points:
        if not states(answer, point.phrases):
            return False, "The answer does not state a point that it should."
    if states(answer, phrases_of(claims)):
        return False, "The answer makes a claim that it must not."
    return True, "The answer states what it should." if points else "The answer stays clear of the claim."


def _doubted(hedged: bool) -> Verdict:
    """Judge an answer about a fact whose basis changed, so doubt is right."""
    if hedged:
        return True, "The answer voices doubt or asks back."
    return False, "The answer voices no doubt about a fact that nobody revisited."


def _confirmed(case: Case, dependent: Fact, hedged: bool) -> Verdict:
    """Judge an answer about a fact that is still true, in a control twin.

    If the question names the fact, a yes confirms it and a no denies it. A repeated question does neither.
    """
    if hedged:
        return False, "The answer hedges about a fact that stands."
    answer = without_echo(case.answer, case.question)
    reply = _YES_OR_NO.match(answer) if states(case.question, dependent.phrases) else None
    if reply and reply["no"]:
        return False, "The answer denies a fact that stands."
    if reply or states(answer, dependent.phrases):
        return True, "The answer states the fact without hedging."
    return False, "The answer does not state the fact, which stands."
