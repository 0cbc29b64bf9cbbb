"""Seeing doubt in an answer: caveats, guesses, admissions of not knowing, and questions asked back.

The lexicon is data: each line is one way of hedging, written for text in :func:`memeval.judging.text.normal` form.
It is judged by its tests, which hold sentences of both kinds. Changing it is a new version of the rule set.
"""

from __future__ import annotations

import re

from memeval.judging.text import normal, words

_DEGREE = r"(?:(?:entirely|completely|fully|totally|absolutely|really|quite|so|too|very|at all|yet|100 ?%) )?"
_ADVERB = (
    r"(?:(?:really|actually|currently|honestly|definitively|definitely|simply|just|confidently|reliably|fully|now|yet"
    r"|also|even|always|necessarily|still) )*"
)
_UNABLE = (
    r"(?:can ?not|can't|couldn't|could not|am unable to|is unable to|are unable to|unable to|am not able to|not able to"
    r"|isn't able to|hard to|difficult to|impossible to|no way to|wouldn't want to|would not want to|hesitate to)"
)
_NOT_DONE = r"(?:confirm|reconfirm|re-confirm|verif(?:y|i)|updat|revisit|re-visit|mention|discuss|stat|restat|address|clarif(?:y|i)|settl|review|reassess|re-evaluat|reevaluat|establish|said)"
_STALE = r"(?:out[ -]of[ -]date|outdated|stale|obsolete|different by now|old information)"
_MOVED = (
    r"(?:changed|moved|switched|migrated|shifted|been|become|affected|replaced|dropped|followed|stopped|gone|adopted"
    r"|updated|evolved|outgrown|happened|invalidated|abandoned|forgotten|lapsed|made|had|left|started|picked|chosen"
    r"|gotten|got|since|also|already|a)"
)

_HEDGES = (
    # Not sure, not certain.
    rf"(?:not|isn't|aren't|wasn't|never|n't|hardly|less than|no longer) {_DEGREE}(?:sure|certain|confident|clear|positive|guaranteed|known|settled)",
    r"unsure",
    r"(?<!no )(?<!not )(?<!no longer )(?<!without )(?<!any )uncertain(?:ty|ties)?",
    r"(?<!not )(?<!no longer )(?<!nothing )unclear",
    r"(?<!not )(?<!no longer )(?:unknown|unconfirmed|unverified|undetermined|ambiguous|questionable|doubtful|tentative(?:ly)?|inconclusive|unresolved)",
    r"(?:i|we|i'd|would|have|some|any|in|into|raises?|room for|reason to|casts?) (?:have )?(?:some |serious |my )?doubts?(?! that (?:it|this) is true)",
    r"open question|up in the air|anyone's guess|who knows|hard to say|hard to tell|tough to say|jury is out",
    # Cannot say.
    rf"{_UNABLE} {_ADVERB}(?:know|say|tell|confirm|verify|vouch|be (?:sure|certain|confident)|determine|guarantee|promise|state|rule out|answer|assume|speak to|establish|assert|commit|claim)",
    r"(?:i|we) (?:do not|don't|did not|didn't|no longer) (?:\w+ )?(?:know|remember|recall|have (?:enough|any|that|this|current|up[ -]to[ -]date|recent|a record|information|confirmation|details?))",
    r"(?:do|would|will|should) not assume|(?:don't|wouldn't|shouldn't) assume|not safe to assume|can't be assumed|cannot be assumed",
    r"not enough (?:information|evidence|context|data)|insufficient (?:information|evidence|context|data)",
    # It may be so.
    r"(?:may|might) (?:also |well |possibly |perhaps |now |still |since |by now |in fact |already |very well )*(?:no longer|not|have(?! (?:noticed|heard|seen|guessed))|be|need|want|differ|vary|depend|apply|use|change|hold|or may not|or might not|require|warrant|run|still|well|now|since|also|affect)",
    r"could (?:also |well |possibly |now |still |since |by now |potentially |easily |very well )*(?:be (?:different|wrong|mistaken|incorrect|either|something|anything|another|that|using|on|stale|old|outdated|out[ -]of[ -]date|obsolete|affected|invalid)|no longer|have {moved})".replace("{moved}", _MOVED),
    rf"would (?:probably|likely|possibly|presumably|perhaps) |(?:must|should) (?:still|probably|presumably|have {_MOVED})",
    r"perhaps|possibly|maybe|probably|presumably|supposedly|potentially|conceivably|seemingly|arguably",
    r"(?<!the )(?<!a )(?<!be )(?:un|most |very |quite |more than )?likely(?! to be asked)",
    # As far as I know.
    r"(?:as of|from|per|based on|going by|according to) (?:my|our|the) (?:last|latest|most recent|older|earlier|limited|available) (?:information|knowledge|update|record|records|data|notes?|memory|mention|discussion|conversation|word|statement|account)",
    r"last (?:i|we|time i|time we) (?:knew|know|heard|checked|saw|spoke|talked|discussed|recorded|noted|was told|were told|have)",
    r"last[ -]known|(?:when|as) last (?:mentioned|discussed|recorded|stated|reported|heard|noted)|at last mention|latest i have",
    r"(?:to|to the best of) (?:my|our) (?:knowledge|recollection|understanding)|best of my (?:knowledge|recollection)",
    r"as far as (?:i|we|anyone)|so far as (?:i|we) (?:know|can tell)|for all (?:i|we) know",
    r"from what (?:i|we) (?:know|recall|remember|can tell|gather|have)|if (?:i|we) (?:recall|remember)|if memory serves",
    r"if (?:that|this|it|nothing|they|he|she|you)(?:'s| is| has|'ve| have|'re| are)? (?:still|changed|not changed|since changed)",
    r"unless (?:that|this|it|something|things|anything|they|he|she|you)(?:'s|'ve| has| have)? (?:since |also |already )?(?:changed|switched|moved|updated|migrated)",
    r"assuming (?:that|this|it|nothing|they|he|she|you|things)",
    # I think.
    r"(?:i|we) (?:would |do |can only |could only |'d |'m only )?(?:think|believe|guess|assume|suspect|suppose|imagine|presume|infer|speculate|reckon)|i'm (?:just |only )?(?:guessing|assuming|speculating)|(?:my|best|educated) (?:best )?guess",
    r"(?:it |that |this )(?:seems|appears|sounds)|(?:seems|appears) (?:to|like|that|as)|looks like|it looks as",
    # Nobody came back to it.
    rf"(?:not|never|n't|yet to be|without being|still to be|nobody has|no one has|nothing has) (?:\w+ly |since |yet |been |be |ever |it |that |this |has |have |actually |come |to )*{_NOT_DONE}\w*",
    r"(?<!there is )(?<!need )no (?:\w+ )?(?:confirmation|indication|record|mention|evidence|word|news|update|information|follow[ -]?up|sign|statement) (?:of|that|on|about|whether|as to|if|since|either|was|has|to|for|from|exists?|confirming|i)",
    r"no explicit (?:update|confirmation|mention|statement)|no recent (?:update|confirmation|mention|information)",
    r"(?<!not )(?<!n't )(?<!no )(?:needs?|wants?|deserves?|requires?|merits?|bears?|calls? for) (?:to be )?(?:confirm|re-?confirm|verif|check|double-check|updat|review|revisit|re-?evaluat|re-?assess|clarif)\w*",
    r"(?:worth|suggest|recommend|advise|would) (?:\w+ )?(?:confirming|checking|verifying|double[ -]checking|asking|revisiting|reviewing|clarifying|re-?confirming)",
    r"(?<!already )(?:should|must|would|'d|ought to|has to|have to|had to|want to|need to|like to|best to|better to|wise to|good to|safer to) (?:be )?(?:first )?(?:re-?confirm|verif|double-check|double check|ask|clarif|check (?:with|whether|if|that|back))\w*",
    r"(?:please|kindly|can you|could you|would you|can they|could they|mind) (?:please |first )?(?:re-?confirm|clarify|verify|check|tell me|let me know|specify|double-check|double check)(?:ing)?",
    r"let me know (?:if|whether)|subject to (?:change|confirmation|revision)|pending (?:confirmation|clarification|an update)",
    r"(?:depends|depending) on (?:whether|if|how|what)|whether (?:or not )?(?:\w+ ){0,8}(?:still|also|changed|remains?|holds?|applies|followed|carried|survived|moved|stayed|kept|makes sense)",
    r"(?:with|one|a|some|big|important|usual) caveats?|grain of salt|caveat:|proviso|with (?:some )?caution|cautious(?:ly)?",
    # It may be out of date.
    rf"(?:is|are|'s|be|was|were|been|become|becomes|looks|seems|now|gone|possibly|potentially|likely) (?:a bit |somewhat |slightly |now |possibly |probably |already |likely |perhaps |potentially |quite )*{_STALE}",
    r"no longer (?:necessarily )?(?:be )?(?:valid|accurate|reliable|applicable|hold|holds|apply|applies|up[ -]to[ -]date|relevant|make sense|makes sense|true|trustworthy)",
    r"not (?:necessarily|reliabl[ey]|(?:be )?up[ -]to[ -]date|current any ?more)|in question|into question|calls? (?:that|this|it) into question|under review|up for review",
    r"can (?:only|at best) (?:say|guess|assume|tell)|take (?:this|that|it) with|hasn't been revisited|worth a second look",
)  # fmt: skip

_DOUBT = re.compile(r"(?<![^\W_])(?:" + "|".join(_HEDGES) + r")(?![^\W_])")

# "without doubt", "no doubt" and the like say the opposite; they are taken out before doubt is looked for.
_CERTAIN = re.compile(
    r"\b(?:no|without (?:a |any )?|beyond (?:a |any |all )?(?:reasonable )?|never in|leaves? no room for|not in|nothing)"
    r" ?(?:doubts?|question about it|uncertainty|uncertain|unclear)\b|\bundoubtedly\b|\bmost certainly\b"
    r"|\bcannot be (?:any )?doubt(?:ed)?\b|\bnot just (?:sure|certain)\b"
)

_QUESTION = re.compile(r"[^.!?\n]*\?(?=[\s\"')\]*_]|$)")
_OFFER = re.compile(
    r"\b(?:anything else|something else|what else|how else|how (?:can|may|could) i help|can i help|help you with|want me to"
    r"|like me to|shall i|should i (?:go|tell|explain|list)|need anything|does (?:that|this) help|want to know more"
    r"|like to know more|more details|make sense|any other questions|further questions)\b"
)
_CHECKS = re.compile(r"\b(?:confirm|verify|check|clarify|ask)\b")

ECHO = 0.8
"""A question asked back is an echo when at least this share of its words stands in the question that was asked."""


def voices_doubt(answer: str) -> bool:
    """Return whether an answer hedges: doubt, a guess, a caveat, a note that it may be out of date."""
    return _DOUBT.search(_CERTAIN.sub(" ", " ".join(normal(answer).split()))) is not None


def asks_back(answer: str, question: str) -> bool:
    """Return whether an answer asks something of its own.

    The asked question given back is not a question of one's own, and neither is an offer of further help.

    Args:
        answer: the answer as it came.
        question: the question that was asked.
    """
    if "?" not in answer and "？" not in answer:
        return False
    asked = set(words(normal(question)))
    for match in _QUESTION.finditer(normal(answer)):
        own = words(match.group())
        if not own or (_OFFER.search(match.group()) and not _CHECKS.search(match.group())):
            continue
        if sum(word in asked for word in own) < ECHO * len(own):
            return True
    return False


def hedges(answer: str, question: str) -> bool:
    """Return whether an answer voices doubt or asks back instead of answering."""
    return voices_doubt(answer) or asks_back(answer, question)
