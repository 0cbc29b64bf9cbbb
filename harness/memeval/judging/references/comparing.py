"""The rules for reference answers in words.

An answer is right if it says every date, number and content word of the reference, in any order and in other words as
far as general rules go: periods of time are compared as days, numbers and lengths of time by value, words by their base
form. One word of a longer reference may be missing if no part of a list depends on it. Denials, conflicting values and
answers that list alternatives are wrong.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from memeval.judging.base import Case
from memeval.judging.hedging import begins_missing, says_missing, withholds, without_echo
from memeval.judging.references.lexical import SHORTEST, one_family, one_slip
from memeval.judging.references.periods import Period
from memeval.judging.references.polar import alternatives, polarity, verdict_of
from memeval.judging.references.tokens import NOT, ReadText, Token, form_of, read, read_known, simplified
from memeval.judging.text import bare, is_read, is_unspaced, may_reverse, states
from memeval.keys import ReferenceKey

LONG = 4
"""From this many words on, a reference may lose a word."""

LONGER = 9
"""From this many words on, it may lose two."""

_HOW_MANY = re.compile(r"\b(?:how many|number of)\b")
_COUNTED = re.compile(r"\b(?:how many|number of) (?P<unit>day|week|month)s\b")
_FINAL = re.compile(r"(?:^|[\n.!?:*] ?)[\s*#_>-]{0,4}(?:the )?(?:final answer|answer)\W{0,4}:", re.IGNORECASE)
_MARKUP = re.compile(r"(?m)^[ \t]{0,8}\d{1,3}[.)][ \t]|\[[^\]\n]{0,200}\]")
_SENTENCE = re.compile(r"(?<=[.!?])\s|;")
_CLAUSE = re.compile(r"[,;:.!?()]|\b(?:but|and|while|however|instead|rather)\b")
_OR = re.compile(r"\bor\b")
_JOINED = re.compile(r"\b(?:and|or)\b|^ (?:to|through|until)(?: the)? $|^ ?[-–] ?$")
_MENTIONED = re.compile(r"\b(?:mention|say|said|told|tell|share|discuss|conversation|session|as of|note|state|post)")
SPAN = 6
"""Words before "or" among which a negation makes it a denial of both."""

SHORT_PART = 3
"""Words of a short part of a list."""

NEAR_WORDS = 4
"""Words between a number and what it counts, both included."""

NEAR = 60
"""Characters between two times that are alternatives or the ends of a longer one."""
_CONFLICT = re.compile(r"\b(?:conflict\w*|contradict\w*|inconsisten\w*)\b")
_BOUND = re.compile(r"(?:at least|at most|more than|less than|fewer than|over|under|up to|almost|nearly) (?:the )?$")
_ITEM = re.compile(r"[,;\n]|\band\b|&")
_BRACKETS = re.compile(r"\([^()]{0,200}\)")
_REMARK = re.compile(
    r"\W*(?:where|which|who|whom|whose|as|both|all|notably|including|with|that|yet|but|during|since|while|after|before|in"
    r"|on|at|from|for|to|by|of|it|she|he|they|her|his|their|is|was|are|were|has|had|most|especially|so|\w+ing|\w+ly"
    r"|\w+ed)\b"
)
"""How a remark about an entry of a list begins, or a statement after it."""
_STOP = re.compile(r"[.!?](?=\s|$)")
_OR_NUMBER = re.compile(r"\w+(?: \w+)? (?:or|to) (?:\d+|more|fewer|two|three|four|five|six|seven|eight|nine|ten)\b")
_PART = re.compile(r"[,;]|\band\b|&|\n")
_ASKS_MONTH = re.compile(r"\b(?:which|what) month\b")


Verdict = tuple[bool, str]

_END = Token("", "", 0)
"""What follows the last token."""


def by_meaning(case: Case, key: ReferenceKey) -> Verdict | str:
    """Judge an answer to a question with a reference answer.

    Returns: The verdict and its reason; only a reason if the rules cannot tell.
    """
    if key.is_rubric:
        reason = "The reference is a rubric, which rules cannot read."
        return (False, reason) if key.unread_is_wrong else reason
    if (expected := bare(key.expected)) and bare(case.answer) == expected:
        return True, "The answer is the reference."
    if key.unanswerable:
        return _untold(case, key)
    answer = without_echo(case.answer, case.question)
    if last := [found.end() for found in _FINAL.finditer(answer)]:
        answer = answer[last[-1] :]
    if not is_read(key.expected):
        return _unread(answer, key.expected)
    if (wanted := polarity(key.expected)) is not None:
        return _polar(answer, case.question, wanted)
    if withholds(answer):
        return False, "The answer begins by saying that this was not told."
    off = (-1, 1) if key.counts_loosely and _COUNTED.search(case.question.lower()) else ()
    compared = _Compared(answer, case.question, key.expected, off)
    reasons = []
    for accepted in alternatives(key.expected, key.is_loose):
        problem = compared.problem(accepted)
        if problem is None:
            return True, "The answer says what the reference says: its times, numbers and words."
        reasons.append(problem)
    return False, reasons[0]


def _untold(case: Case, key: ReferenceKey) -> Verdict:
    """Judge an answer to an unanswerable question: it must begin by saying so, and must not state the trap.

    The data of some such questions has a yes or no of its own, which is right too.
    """
    answer = without_echo(case.answer, case.question)
    own = polarity(key.expected)
    if own is not None and verdict_of(answer, case.question) is own:
        return True, "The answer is the yes or no that the reference is."
    if not begins_missing(answer):
        return False, "The answer does not begin by saying that this was not told."
    trap = key.misleading
    if trap is not None and not says_missing(trap) and _takes_bait(answer, trap, case.question):
        return False, "The answer says that this was not told, and states what the question leads to."
    return True, "The answer says that this was not told."


def _takes_bait(answer: str, trap: str, question: str) -> bool:
    if (yes := polarity(trap)) is not None:
        return verdict_of(answer, question) is yes and not begins_missing(_STOP.split(answer)[0])
    return _Compared(answer, question, trap, ()).problem(trap) is None


def _unread(answer: str, reference: str) -> Verdict | str:
    """Judge an answer by a reference in another script: only whether it holds the reference can be told."""
    if states(answer, (reference,)) and (not may_reverse(answer) or may_reverse(reference)):
        return True, "The answer holds the reference."
    return "The reference is in a script that the rules do not read."


def _polar(answer: str, question: str, wanted: bool) -> Verdict:
    if verdict_of(answer, question) is wanted:
        return True, "The answer is the yes or no that the reference is."
    return False, "The answer does not say the yes or no that the reference is."


class _Compared:
    """An answer and its question, to be compared with references.

    ``off``: allowed differences of a number.
    """

    def __init__(self, answer: str, question: str, expected: str, off: Sequence[int]) -> None:
        self._raw, self._off = answer, off
        self._expected = read_known(expected).text
        asked = read_known(question)
        self._question = asked.text
        years = {period.spans[0][0].year for period in asked.periods if period.has_year}
        self._year = years.pop() if len(years) == 1 else None
        self._asked = read_known(question, self._year) if self._year else asked
        self._asked_forms = {token.form for token in self._asked.tokens}
        self._answer = read(simplified(answer), self._year, lengths=True)
        self._forms = {token.form for token in self._answer.tokens}
        self._squeezed = " " + re.sub(r"[\W_]+", "", self._answer.text)
        self._starts = frozenset(accumulate((len(word) for word in re.split(r"[\W_]+", self._answer.text)), initial=1))

    def problem(self, reference: str) -> str | None:
        """Return why the answer does not say what an accepted reference says; ``None`` if it does."""
        whole = read_known(reference, self._year)
        tokens = [token for token in whole.tokens if token.form not in self._asked_forms]
        times = [period for period in whole.periods if not self._is_asked(period)]
        if not tokens and not times:
            tokens, times = list(whole.tokens), list(whole.periods)
            if len(tokens) == 1 and tokens[0].unit and not tokens[0].count:
                return (
                    None if self._says_one(tokens[0].unit) else "The answer does not give the number of the reference."
                )
        if not tokens and not times:
            return None if states(self._raw, (reference,)) else "The answer does not state the reference."
        if any(not self._says_time(period) for period in times):
            return "The answer does not say the time that the reference says."
        if not times and _is_count(tokens):
            return None if self._counts(whole, tokens[0]) else "The answer does not give the number of the reference."
        missing = [token for token in tokens if not self._has(token, whole)]
        if not _may_lack(missing, tokens, whole) or not self._counts_the_same(whole):
            return "The answer lacks a number or a word of the reference."
        return self._contrary({token.form for token in tokens}, whole)

    def _says_one(self, unit: str) -> bool:
        """Return whether the answer says one day, week or month, in answer to the question how many."""
        tokens = self._answer.tokens
        bare = [token for token in tokens if token.is_number and (token.raw.isdigit() or len(tokens) <= SHORT_PART - 1)]
        same = [token for token in tokens if token.unit == unit] or bare
        return bool(same) and _is_number(same[0].count or "1", "1", self._off)

    def _is_asked(self, period: Period) -> bool:
        return any(period.spans == other.spans and period.open == other.open for other in self._asked.periods)

    def _says_time(self, wanted: Period) -> bool:
        by_year = wanted.has_year
        target = wanted if by_year else wanted.without_year()
        given = self._answer.periods
        first = next((n for n, period in enumerate(given) if not self._is_asked(period)), 0)
        for place, period in enumerate(given):
            if by_year and not period.has_year and not _ASKS_MONTH.search(self._question):
                continue
            same = period if by_year and period.has_year else period.without_year()
            aim = target if same is period else wanted.without_year()
            if same is not None and aim is not None and same.is_within(aim) and (place == first or aim.is_within(same)):
                near = given[max(place - 1, 0) : place + 2]
                return not any(self._is_rival(period, other, wanted) for other in near if other is not period)
        return False

    def _is_rival(self, period: Period, other: Period, wanted: Period) -> bool:
        """Return whether another period is given as an alternative to the right one, or as the end of a longer one."""
        first, second = sorted((period, other), key=lambda each: each.start)
        between = self._answer.text[first.end : second.start]
        if self._answer.text[max(0, other.start - 10) : other.start].endswith("as of "):
            return False
        is_joined = len(between) <= NEAR and _JOINED.search(between) and not _MENTIONED.search(between)
        return bool(is_joined) and not other.overlaps(wanted)

    def _has(self, token: Token, whole: ReadText) -> bool:
        if token.form in self._forms:
            return True
        if token.count:
            return self._has_count(token)
        if is_unspaced(token.raw[0]):
            return token.raw in self._squeezed
        if self._holds_joined(token.raw):
            return True
        place = whole.tokens.index(token)
        for one in (place - 1, place):
            if one >= 0 and one + 1 < len(whole.tokens):
                pair = whole.tokens[one].raw + whole.tokens[one + 1].raw
                if self._holds_joined(pair):
                    return True
        return any(
            one_family(token.raw, each.raw)
            or (len(token.raw) >= SHORTEST and len(each.raw) >= SHORTEST and one_slip(token.raw, each.raw))
            for each in self._answer.tokens
            if each.raw[:1] == token.raw[:1]
        )

    def _holds_joined(self, word: str) -> bool:
        """Return whether a long word begins where a word of the answer begins, whatever spaces are in it: ice cream."""
        if len(word) < SHORTEST - 1:
            return False
        place = self._squeezed.find(word)
        while place >= 0:
            if place in self._starts:
                return True
            place = self._squeezed.find(word, place + 1)
        return False

    def _has_count(self, token: Token) -> bool:
        """Return whether the answer has a number or a length of time, with a unit that the question may name."""
        units = {each.form for each in self._asked.tokens} | {""}
        return any(
            _is_number(each.count, token.count, self._off)
            and (each.unit == token.unit or (each.unit in units and token.unit in units))
            and not (token.unit and not each.unit and self._counts_things(place, token.unit))
            for place, each in enumerate(self._answer.tokens)
            if each.count
        )

    def _counts_things(self, place: int, unit: str) -> bool:
        """Return whether a number counts something else than a unit of time: the word after it, as in "3 cities"."""
        number, *following = self._answer.tokens[place : place + NEAR_WORDS]
        if not following or unit in [token.form for token in following]:
            return False
        return self._answer.text[number.start : following[0].start].split()[1:] == []

    def _counts_the_same(self, whole: ReadText) -> bool:
        """Return whether numbers precede the words that they precede in the reference: two cats and a dog."""
        given = self._answer.tokens
        for number, thing in pairwise(whole.tokens):
            if number.is_number and not thing.count and thing.form in self._forms and number.form in self._forms:
                near = (given[max(n - NEAR_WORDS, 0) : n] for n, token in enumerate(given) if token.form == thing.form)
                if not any(token.form == number.form for tokens in near for token in tokens):
                    return False
        return True

    def _counts(self, whole: ReadText, count: Token) -> bool:
        """Return whether the answer gives a count; many answers contain a small number by chance.

        The number must precede the reference's unit, or be the answer's first number that is not in the question. If
        the question has the same number, it is the first that does not stand there before the same word.
        """
        text = simplified(_MARKUP.sub(" ", self._raw))
        given = read(text, self._year).tokens
        if len(whole.tokens) == 2 and whole.tokens[0] == count:
            unit = whole.tokens[1].form
            for one, other in pairwise(given):
                if other.form == unit and one.count:
                    return self._gives(one, count, text)
        numbers = [token for token in given if token.count and token.form not in self._asked_forms]
        if count.form in self._asked_forms:
            asked = {(one.form, other.form) for one, other in pairwise((*self._asked.tokens, _END))}
            numbers = [
                one for one, other in pairwise((*given, _END)) if one.count and (one.form, other.form) not in asked
            ]
        return bool(numbers) and self._gives(numbers[0], count, text)

    def _gives(self, given: Token, wanted: Token, text: str) -> bool:
        is_bound = _BOUND.search(text[max(0, given.start - 20) : given.start]) is not None
        is_bound = is_bound or _OR_NUMBER.match(text, given.start) is not None
        counted = _COUNTED.search(self._question)
        is_other = bool(given.unit) and counted is not None and given.unit != form_of(counted["unit"])
        if given.unit and _HOW_MANY.search(self._question):
            is_other = is_other or given.unit not in self._asked_forms
        return not is_bound and not is_other and _is_number(given.count, wanted.count, self._off)

    def _contrary(self, wanted: set[str], whole: ReadText) -> str | None:
        """Return why an answer with the right words is wrong all the same; ``None`` if it is not."""
        answer = self._answer
        if _CONFLICT.search(answer.text) and not _CONFLICT.search(whole.text):
            return "The answer says that there are conflicting values."
        if not (_OR.search(self._expected) or _OR.search(self._question)) and self._offers_another(wanted, whole):
            return "The answer lists an alternative."
        if self._adds_items(whole):
            return "The answer lists more than the reference."
        negated = NOT in {token.form for token in whole.tokens} or NOT in self._asked_forms
        if not negated and NOT in self._forms and self._is_denied(wanted):
            return "The answer denies what the reference says."
        return None

    def _offers_another(self, wanted: set[str], whole: ReadText) -> bool:
        """Return whether "or" joins a wanted word with one that is not wanted; lists have an "or" of their own."""
        if _PART.search(whole.text):
            return False
        tokens, text = self._answer.tokens, self._answer.text
        places = [token.start for token in tokens]
        for found in _OR.finditer(text):
            at = bisect_left(places, found.start())
            around = text[places[max(at - 2, 0)] : found.start()] if at else ""
            before = _after_last(_CLAUSE, around)
            left = {token.form for token in tokens[max(at - 2, 0) : at] if token.start >= found.start() - len(before)}
            following = tokens[at : at + 2]
            ending = _CLAUSE.search(text, found.end(), following[-1].start if following else found.end())
            right = {token.form for token in following if ending is None or token.start < ending.start()}
            denied = any(token.form == NOT for token in tokens[max(at - SPAN, 0) : at])
            if not denied and left and right and bool(left & wanted) is not bool(right & wanted):
                return True
        return False

    def _adds_items(self, whole: ReadText) -> bool:
        """Return whether an answer to a question for a list of short parts lists others among them.

        Nobody can tell by rules whether the others are true.
        """
        lists = [part.strip() for part in re.split(r"[,;]", whole.text) if part.strip()]
        if len(lists) < 2 or any(len(read(part).tokens) > SHORT_PART for part in lists):
            return False
        wanted = {token.form for token in whole.tokens} - self._asked_forms
        best, more = 0, False
        for sentence in _STOP.split(_BRACKETS.sub(" ", self._answer.text)):
            items = [(item, {token.form for token in read(item).tokens}) for item in _ITEM.split(sentence)]
            hits = len(wanted.intersection(*[set().union(*(forms for _, forms in items))]))
            if hits > best:
                best = hits
                more = any(self._is_another(item, forms, wanted) for item, forms in items[1:])
        return more

    def _is_another(self, item: str, forms: set[str], wanted: set[str]) -> bool:
        """Return whether a part of a sentence is an entry of a list that is not wanted, and not a remark."""
        is_entry = 0 < len(forms) <= SHORT_PART and _REMARK.match(item) is None
        return is_entry and not forms & wanted and bool(forms - self._asked_forms)

    def _is_denied(self, wanted: set[str]) -> bool:
        """Return whether a negation precedes the wanted words, in the clause where the most of them begin."""
        text, tokens = self._answer.text, self._answer.tokens
        best, denied, at = 0, False, 0
        for end in (*(found.start() for found in _SENTENCE.finditer(text)), len(text)):
            begin = at
            while at < len(tokens) and tokens[at].start < end:
                at += 1
            inside = tokens[begin:at]
            hits = [token for token in inside if token.form in wanted]
            if len({token.form for token in hits}) > best:
                best = len({token.form for token in hits})
                first = hits[0].start
                clause = max((found.end() for found in _CLAUSE.finditer(text, inside[0].start, first)), default=0)
                denied = any(token.form == NOT and clause <= token.start < first for token in inside)
        return denied


def _is_count(tokens: Sequence[Token]) -> bool:
    """Return whether a small number is all that is wanted, or how many times."""
    is_small = bool(tokens) and tokens[0].is_number and len(tokens[0].form) <= 2
    return is_small and [token.form for token in tokens[1:]] in ([], ["time"])


def _after_last(pattern: re.Pattern[str], text: str) -> str:
    """Return what follows the last match of a pattern; the whole text if absent."""
    ends = [found.end() for found in pattern.finditer(text)]
    return text[ends[-1] :] if ends else text


def _may_lack(missing: Sequence[Token], wanted: Sequence[Token], whole: ReadText) -> bool:
    """Return whether an answer may lack these words of a reference."""
    if not missing:
        return True
    forms = {token.form for token in missing}
    total = len({token.form for token in wanted})
    if len(forms) > (0 if total < LONG else 1 if total < LONGER else 2):
        return False
    if any(token.count or token.form == NOT for token in missing):
        return False
    asked = {token.form for token in whole.tokens} - {token.form for token in wanted}
    return not any(_breaks(part, forms, asked) for part in _parts(whole))


def _breaks(part: _ListPart, missing: set[str], asked: set[str]) -> bool:
    """Return whether a part of a list is not said without its missing words: its last word, or all of its own."""
    own = part.own - asked
    return part.head in missing or (bool(own) and own <= missing)


@dataclass(frozen=True)
class _ListPart:
    head: str
    """Its last word."""
    own: frozenset[str]
    """Its words that are in no other part."""


def _parts(whole: ReadText) -> list[_ListPart]:
    parts: list[list[str]] = []
    start = 0
    for end in (*(found.start() for found in _PART.finditer(whole.text)), len(whole.text)):
        if inside := [token.form for token in whole.tokens if start <= token.start < end]:
            parts.append(inside)
        start = end
    counts = Counter(form for part in parts for form in set(part))
    return [_ListPart(part[-1], frozenset(form for form in part if counts[form] == 1)) for part in parts]


def _is_number(given: str, wanted: str, off: Sequence[int]) -> bool:
    if given == wanted:
        return True
    return given.isdigit() and wanted.isdigit() and any(int(given) == int(wanted) + by for by in off)
