"""The ways of hedging in English that the rule set knows, as data.

Each line of ``HEDGES`` is one way. It is a regular expression over text that :func:`memeval.judging.hedging.plain` has
simplified: lower case, contractions and hyphens written out (``can't`` is ``can not``), single spaces. A name in angle
brackets stands for one word of that set; ``<name?>`` for one or none, ``<name*>`` for any number, each with the space
after it. The lexicon is judged by its tests, which hold sentences of both kinds; changing it is a new version of the
rule set.
"""

from __future__ import annotations

import re


def _set(*lines: str) -> str:
    """Return the alternatives of space-separated words, with ``_`` for a space inside one."""
    return "(?:" + "|".join(word.replace("_", r"\ ") for line in lines for word in line.split()) + ")"


SETS = {
    "asker": _set("i we"),
    "it": _set("that this it nothing things anything something they he she you there which what these those"),
    "am": _set("is are was were be been become becomes am 's seems seem looks look remains remain"),
    "has": _set("is are was were has have had been be"),
    "may": _set("may might"),
    "not": _set("not never hardly scarcely less_than no_longer far_from"),
    "degree": _set(
        "entirely completely fully totally absolutely really quite so too very 100% altogether particularly"
    ),
    "adverb": _set(
        "really actually currently honestly definitively definitely simply just confidently reliably fully now yet",
        "also even always necessarily still well possibly perhaps since already by_now in_fact very_well probably",
        "likely potentially easily presumably explicitly ever directly formally later subsequently recently been",
        "a_bit somewhat slightly quite rather it that this",
    ),
    "sure": _set("sure certain confident clear positive guaranteed known settled convinced"),
    "unable": _set(
        "can_not could_not unable_to not_able_to hard_to difficult_to impossible_to tough_to tricky_to no_way_to",
        "would_not_want_to would_hesitate_to hesitate_to not_possible_to not_in_a_position_to do_not_want_to",
    ),
    "tell": _set(
        "know say tell confirm verify vouch be_sure be_certain be_confident determine guarantee promise state answer",
        "rule_out assume speak establish assert commit claim pinpoint conclude recall",
    ),
    "lacking": _set(
        "enough any that this current recent a_record up_to_date information confirmation details the_information",
        "data sufficient anything",
    ),
    "source": _set(
        "information knowledge update record records data notes note memory mention discussion conversation word",
        "statement account check understanding recollection",
    ),
    "knew": _set("knew know heard checked saw spoke talked discussed recorded noted was_told were_told have"),
    "think": _set("think believe guess assume suspect suppose imagine presume infer speculate reckon"),
    "moved": _set(
        "changed moved switched migrated shifted been become affected replaced dropped followed stopped gone adopted",
        "updated evolved happened invalidated abandoned lapsed since also already stayed kept made had left started",
        "picked chosen",
    ),
    "modal": _set(
        "no_longer not have be need want differ vary depend apply use change hold require warrant run still well now",
        "since also affect or_may_not or_might_not make",
    ),
    "other": _set(
        "different wrong mistaken incorrect either something anything another that using on stale old outdated",
        "out_of_date obsolete affected invalid inaccurate",
    ),
    "done": r"(?:(?:re ?)?(?:confirm|verif|updat|visit|mention|discuss|stat|address|clarif|settl|review|assess|evaluat"
    r"|establish|specif|indicat|say|said|check)\w*)",
    "told": r"(?:(?:mention|specif|discuss|provid|disclos|reveal|record|indicat|includ|cover|describ|explain|address"
    r"|confirm)\w*|state[ds]?|say|says|said|tell|tells|told|talked|noted|given|known|available)",
    "details": _set("details detail reference indication answer"),
    "check": r"(?:(?:re ?)?(?:confirm|verif[iy]|check|updat|review|visit|evaluat|assess|clarif|consider)\w*)",
    "checking": r"(?:double )?(?:re ?)?(?:confirming|checking|verifying|asking|visiting|reviewing|clarifying)",
    "no_word": _set("confirmation update word follow_up updates reconfirmation mention statement"),
    "no_data": _set("record information mention evidence data details knowledge memory news records context notes"),
    "stale": _set("out_of_date outdated stale obsolete old_news behind_the_times not_up_to_date"),
    "valid": _set(
        "valid accurate reliable applicable hold holds apply applies up_to_date relevant make_sense makes_sense true",
        "trustworthy guaranteed",
    ),
    "should": _set(
        "should must would ought_to has_to have_to had_to want_to need_to like_to best_to better_to wise_to good_to",
        "safer_to prudent_to first going_to",
    ),
    "still": _set("still also changed remains remain holds hold applies followed carried survived moved stayed kept"),
}

HEDGES = (
    # Not sure.
    r"<not> (?:be )?<degree?><sure>",
    r"unsure|uncertain|uncertainty|uncertainties|unclear|unknown|unconfirmed|unverified|undetermined|unresolved",
    r"doubts?|doubted|doubtful|dubious|ambiguous|ambiguity|questionable|debatable|tentative|tentatively|inconclusive",
    r"open question|up in the air|anyone's guess|who knows|the jury is out|in limbo",
    # Cannot say.
    r"<unable> <adverb*><tell>",
    r"(?:hard|difficult|tough|tricky|impossible) to <tell>",
    r"<asker> (?:do|did|would) (?:not|no longer) <adverb*>(?:know|remember|recall|have <lacking>)",
    r"<asker> (?:have|had|found|find|see) (?:no|little) (?:\w+ )?(?:<no_data>|<no_word>|idea|way of knowing)",
    r"<asker> (?:have|had|found|find|see) nothing (?:about|on|regarding|that|for|to|recorded|stored|noted)",
    r"<unable> find (?:any|anything|a record|a mention|information|evidence)",
    r"(?:do|would|should|could|can) not (?:be )?assumed?|not safe to assume|unsafe to assume",
    r"(?:not enough|insufficient|too little|limited) (?:information|evidence|context|data|knowledge)",
    # It may be so.
    r"<may> <adverb*><modal>(?! (?:noticed|heard|seen|guessed))",
    r"could <adverb*>(?:be <adverb*><other>|no longer|have <adverb*><moved>)",
    r"would (?:probably|likely|possibly|presumably|perhaps)",
    r"(?:must|should) (?:still|probably|presumably)|should have <moved>",
    r"perhaps|possibly|maybe|probably|presumably|supposedly|potentially|conceivably|seemingly|arguably|apparently",
    r"(?<!the )(?<!a )(?<!an )(?:un)?likely",
    r"it is possible|there is a (?:\w+ )?chance|chances are|a possibility|not impossible",
    # As far as anyone knows.
    r"(?:as of|from|per|based on|by|according to|in|on) (?:my|our|the) "
    r"(?:last|latest|most recent|older|earlier|limited|available) (?:available |known |recorded )?<source>",
    r"last (?:time )?<asker> <knew>|last known|(?:when|as) last <done>|at last mention|the latest <asker> have",
    r"(?:to|to the best of|best of) (?:my|our) (?:knowledge|recollection|understanding|memory)",
    r"(?:as|so) far as (?:i|we|anyone)|for all <asker> know",
    r"from what <asker> (?:know|recall|remember|can tell|gather|have)|if <asker> (?:recall|remember)|if memory serves",
    r"(?:if|unless) <it> (?:<has> )?(?:not )?<adverb*>(?:still|changed|switched|moved|migrated|updated)",
    r"assuming <it>|provided <it>|unless (?:\w+ ){1,3}<has> <adverb*>(?:changed|switched|moved|migrated|updated)",
    # I think.
    r"<asker> (?:would |do |can only |could only )?<think>",
    r"<asker> am (?:just |only )?(?:guessing|assuming|speculating)|(?:my|best|educated|a) (?:best )?guess",
    r"(?:it|that|this) (?:seems|appears|sounds)|(?:seems?|appears?) (?:to|like|that|as)",
    r"it looks (?:like|as if|as though)",
    # Nobody came back to it.
    r"(?:not|never|yet to|without being|still to be) <adverb*>(?:<has> )?<adverb*><done>",
    r"(?:nobody|no one|nothing) <adverb*>(?:<has> )?<adverb*>(?!says?\b)<done>",
    r"no (?:\w+ )?<no_word> (?:of|that|on|about|whether|as to|if|since|either|was|has|to|for|from|exists)",
    r"no explicit <no_word>|no recent <no_word>|no further <no_word>|no later <no_word>",
    r"no (?:\w+ )?<no_data> (?:of|about|on|that|whether|regarding|for|as to|to|in|indicating|showing)",
    r"no (?:sign|indication|telling|clue|idea) (?:whether|if|as to|of whether|what|which)|no idea|no clue|no telling",
    r"(?<!not )(?<!no )(?:needs?|wants?|deserves?|requires?|merits?|bears?|calls? for|awaits?|awaiting|pending) "
    r"(?:to be |a |an |fresh |further )*(?:double )?<check>(?! up)",
    r"(?:worth|suggest|recommend|advise) (?:\w+ )?<checking>|worth a (?:check|second look|question)",
    r"<should> (?:be )?(?:first )?(?:(?:re ?)?(?:confirm|verif|clarif)\w*|asked?)",
    r"<should> (?:be )?(?:first )?check(?:ed)? (?:with|whether|if|that|back)|should be (?:re ?)?checked|double check",
    r"(?:please|kindly|can you|could you|would you|can they|could they|do you mind) (?:please |first )?"
    r"(?:(?:re ?)?confirm|clarify|verify|check|tell me|let me know|specify)",
    r"let me know (?:if|whether|which)|subject to (?:change|confirmation|revision)",
    r"depend(?:s|ing)? on (?:whether|if|how)|whether (?:or not )?(?:[\w'/.#+&]+ ){0,8}<still>",
    r"(?:with|one|a|some|big|important|usual|the) caveats?|caveat:|grain of salt|proviso",
    r"with (?:some )?caution|cautiously",
    # It may be out of date.
    r"(?:<am>|now|gone|possibly|potentially|likely) <adverb*><stale>",
    r"no longer <adverb*>(?:be )?<valid>",
    r"not <adverb*>(?:be )?(?:necessarily|reliabl[ey]|up to date|current any ?more|guaranteed)|not necessarily",
    r"(?:in|into|open to) question|under review|up for review|<asker> can (?:only|at best) (?:<tell>|<think>)",
    r"take (?:that|this|it) with",
)

CERTAIN = (
    r"(?:no|not|never|nothing|no longer|without|without a|without any|beyond|beyond a|beyond any|beyond all|not in|zero"
    r"|beyond reasonable|leaves? no room for|never in|not in any) "
    r"(?:doubts?|doubted|uncertainty|uncertain|unclear|unknown|unsure|ambiguous|ambiguity|question)",
    r"undoubtedly|(?:can|do|does|would|could) not (?:be )?doubt(?:ed)?",
    r"not (?:just|only|merely) (?:sure|certain|clear|confident)",
    r"no need to <check>|need not be <check>",
)
"""Ways of being certain that hold a word of doubt. They are taken out before doubt is looked for."""

OFFERS = (
    r"anything else|something else|what else|how else|how (?:can|may|could) i help|can i help|help you with",
    r"want me to|like me to|shall i|should i (?:go|tell|explain|list)|need anything|does (?:that|this) help",
    r"(?:want|like) to know more|more details|make sense|(?:any )?(?:other|further|more) questions",
)
"""Questions of politeness that ask nothing about the matter."""

MISSING = (
    r"(?:not|never|nothing|nowhere|neither|nobody|no one) <adverb*>(?:<has> )?<adverb*><told>",
    r"(?:do|does|did) not <adverb*>(?:contain|appear|come up|exist|know|recall|remember|find|see|have <lacking>)",
    r"(?:have|has) no idea",
    r"(?:<has>|found|find|see|there|contains?|with) (?:no|not any|nothing|little) (?:\w+ ){0,2}<no_data>",
    r"no (?:\w+ ){0,2}(?:<no_data>|<details>) (?:(?:was|is|were|are) )?<adverb*>(?:available|given|found|provided"
    r"|mentioned|of|about|on|that|whether|regarding|for|as to|to|in|indicating|showing)",
    r"(?:have|had|found|find|see) nothing (?:about|on|regarding|that|for|to|recorded|stored|noted)",
    r"<unable> <adverb*>(?:<tell>|find|see|locate|identify|provide|give)",
    r"(?:can|could) not <adverb*>be <adverb*>(?:determined|answered|known|told|found|said|established|inferred)",
    r"(?:not enough|insufficient|too little|not sufficient|no sufficient) (?:<lacking>|<source>|<details>)",
    r"unknown|unspecified|unanswerable|unmentioned|undisclosed",
    r"(?:information|<details>|context|that|it|this|which) (?:is|are|was|were) "
    r"(?:missing|unavailable|not available|absent|unclear)",
)
"""Ways of saying that what was asked for was never told. Doubt about what was told is none of them."""


def compiled(lines: tuple[str, ...]) -> re.Pattern[str]:
    """Return one pattern that finds any of the lexicon's lines as whole words."""
    return re.compile(r"(?<![^\W_])(?:" + "|".join(_expanded(line) for line in lines) + r")(?![^\W_])")


def _expanded(line: str) -> str:
    return re.sub(r"<(\w+)([?*]?)>", lambda found: _slot(SETS[found.group(1)], found.group(2)), line)


def _slot(words: str, count: str) -> str:
    return rf"(?:{words}\ ){count}" if count else words
