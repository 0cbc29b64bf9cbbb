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
    "done": (
        r"(?:(?:re ?)?(?:confirm|verif|updat|visit|mention|discuss|stat|address|clarif|settl|review|assess|evaluat"
        r"|establish|specif|indicat|say|said|check)\w*)"
    ),
    "told": (
        r"(?:(?:mention|specif|discuss|provid|disclos|reveal|record|indicat|includ|cover|describ|explain|address"
        r"|confirm)\w*|state[ds]?|say|says|said|tell|tells|told|talked|noted|given|known|available)"
    ),
    "trace": _set(
        "record information info mention evidence data details detail knowledge memory news records context notes",
        "mentions memories entry entries discussion discussions conversation conversations message messages note trace",
        "documentation specifics statement statements session sessions log logs recollection word reference references",
        "indication indications answer hint hints clue clues sign",
    ),
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
    "lacking_noun": _set(
        "information info context evidence data details detail knowledge records history facts clues basis background",
        "documentation specifics input description descriptions",
    ),
    "told_in": (
        r"(?:(?:chat |conversation |message |dialogue |session |memory |past |previous |earlier "
        r"|stored )*(?:information|info|contexts?|conversations?|history|histories|chats?|messages?|records?|sessions?"
        r"|transcripts?|notes?|memory|memories|data|dialogues?|dialogs?|texts?|passages?|documents?|logs?|excerpts?"
        r"|snippets?|discussions?|exchanges?|entries|entry|sources?|archives?|threads?|diary|journal|evidence|database"
        r"|knowledge base|context window|interactions?))"
    ),
    "teller": r"(?:you|i|we|the user|user|the users|the speakers?|anyone|anybody|either of them|neither of them)",
    "filler": (
        r"(?:(?:that|which|you|i|we|is|was|were|are|have|has|had|been|provided|given|here|available|above|shared|so"
        r"|far|to|me|with|us|from|in|of|the|our|your|my|these|those|this|and|or|at|hand|about|on|for|between|them|him"
        r"|her|it|before|supplied|retrieved|stored|currently|also|unfortunately|however|itself|simply|really|just|all"
        r"|any|ever|still|sessions?|conversations?|history|chats?|messages?|records?|memory|notes|context|transcript"
        r"|log) )"
    ),
    "tells": (
        r"(?:mention|specif|disclos|reveal|indicat|state[sd]?\b|says?\b|said|tells?\b|told|(?:talk(?:ed|s)?|speak"
        r"|spoken?) (?:of|about)\b|touch(?:ed)? (?:on|upon)|discuss|bring (?:it |that |this |\w+ )?up|brought (?:it "
        r"|that |this )?up|clarif|let (?:me|us) know|inform|elaborat|go into|went into|gone into|(?:shared?|gave|give"
        r"|given|provided?|said|supplied|supply|offered)(?= (?:that|this|it|me|any|anything|details?|information|what"
        r"|when|where|who|how|which|whether|enough|specifics|the (?:name|date|time|details?|exact|information"
        r"|answer))\b)|(?:shared?|provided?|given)(?= ?(?:$|[.,;!])))\w*"
    ),
    "telling": (
        r"(?:mention|specif|disclos|reveal|indicat|state|says?|said|tells?|told|talk|share|discuss|gives?|gave|given"
        r"|note|record|bring (?:it |that |this |\w+ )?up|provid|describ|refer|explain|cover|clarif|address|identif"
        r"|document|elaborat|detail|contain|appear|come up|make (?:any )?(?:mention|reference)|speak|spoke|touch|name"
        r"|list|confirm|suggest|includ|hold|have|show|offer|support|answer|store|reach|extend|go into|help)\w*"
    ),
    "telling_form": (
        r"(?:mention|specif|disclos|reveal|indicat|state[sd]?\b|says?\b|said|tells?\b|talk|discuss|noted?\b|recorded"
        r"|brought up|provided|refers?\b|referred|touch(?:es|ed)? (?:on|upon)|suggests|clarif)\w*"
    ),
    "telling_or_know": _set(
        "know say tell answer determine establish find_out find infer conclude work_out deduce be_sure identify",
        "give provide confirm verify ascertain",
    ),
    "no_person": (
        r"(?! (?:her|him|them|his|their|anyone|anybody|everyone|people|each other|goodbye|hello|sorry|thanks|no to"
        r"|yes to)\b)"
    ),
    "no_object": (
        r"(?= ?(?:$|[.,;:!?)]|(?:in|by|from|anywhere|here|to (?:me|us|you)|with (?:me|us)|explicitly|directly|yet"
        r"|at all|within|during|for (?:this|that|the|your)|so far|and|or|but|as|on|either|there|elsewhere|about|of"
        r"|what|when|where|who|how|which|whether|if|that|until|up|specifically|exactly|though|since|because|at any)\b))"
    ),
    "no_gift": (
        r"(?! (?:a|an|the|any|enough|much|my|our) (?!information|details?|answer|name|date|specifics|data|context)\w+)"
    ),
    "no_work": r"(?! (?:her|him|them|his|their|up|birth|away|in|no|yes|goodbye|sorry|hello)\b)",
    "lead_in": r"(?:(?:sorry|unfortunately|so|well|hmm|i am (?:sorry|afraid)|apologies)[,.]? (?:but )?)",
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
    # What was told, or who told it, is the subject: the history does not say, you never told me, nobody mentioned it.
    r"<told_in> (?:<filler>){0,6}(?:(?:do|does|did|has|have|had|was|were) (?:not|never)|never|not|fails? to|failed to"
    r"|neglects? to) <adverb*>(?:been |actually |explicitly )*<telling>",
    r"<teller> (?:<filler>){0,3}(?:(?:do|does|did|has|have|had) (?:not|never)|never|not|failed to"
    r"|neglected to) <adverb*>(?:actually |explicitly |once )*<tells><no_person>",
    r"(?:have|has|had)? ?yet to (?:be )?(?:mention|tell|told|share|say|specif|disclos|come up|discuss|state|reveal)\w*",
    r"<told_in> (?:<filler>){0,6}(?:is|are|was|were|remains?|stays?|stayed) silent",
    r"<told_in> (?:<filler>){0,6}(?:lacks?|lacked|omits?|omitted|leaves? (?:that|this|it) (?:open|out))",
    r"<told_in> (?:<filler>){0,6}(?:makes?|made|gives?|gave|has|have|had|contains?|contained|offers?|holds?|shows?"
    r"|provides?|includes?|included|says?|said|mentions?|mentioned|reveals?|tells?) (?:no|nothing|not any|zero)",
    r"(?:nothing|nobody|no one|nowhere|none|neither|not one|no"
    r"|not a single) (?:\w+ ){0,3}?(?:<told_in> )?(?:<filler>){0,4}(?:(?:does|do|did|has|have|was|were|is|are"
    r"|ever) )*(?:been )?<adverb*><telling_form><no_person>",
    r"(?:nothing|none|no|not a single|not one) (?:of )?(?:(?:in|from|within|on) )?(?:(?:the|my|our|your|these|those) )*"
    r"(?:\w+ )?<told_in> (?:<filler>){0,4}(?:<telling>|relate|point|touch|match|concern)\w*",
    r"(?:nothing|nobody|no one) (?:\w+ ){0,3}(?:was|were|is|has been|had been|have been) (?:ever )?(?:said|mentioned"
    r"|told|recorded|noted|stated|written|shared|disclosed|provided|discussed|known)",
    r"(?:nothing|not anything) (?:\w+ )?(?:about|on|regarding|concerning) (?:[\w']+ ){1,8}(?:is|was|were|has been"
    r"|have been|in|can be|could be|comes|came)",
    r"(?:nobody|no one) (?:here )?(?:has |have |had |ever )*(?:told|tells|said|says|mentioned|knows|shared) (?:me|us"
    r"|so|that|this|it|what|where|when|who|how|which|anything)",
    # It was told by nobody.
    r"(?:is|are|was|were|be|been|being|has|have|had|got) (?:not|never|nowhere) <adverb*>(?:been |be |once )*<adverb*>"
    r"(?:mentioned|specified|discussed|stated|disclosed|brought up|indicated|revealed|touched (?:on|upon)|talked about"
    r"|spoken (?:of|about)|referred to|referenced|clarified|spelled out|documented|asked about|alluded to)",
    r"(?<!he )(?<!they )(?:is|are|was|were|been|has|have) (?:not|never|nowhere) <adverb*>(?:been |be )*<adverb*>"
    r"(?:given|provided|known|told|shared|covered|described|explained|addressed|recorded|listed"
    r"|noted|said|supplied|present|there|detailed|communicated|accessible|stored|logged|captured|established"
    r"|raised|named)<no_object>",
    r"^(?:<lead_in>)?(?:it |that |this |information |info |answer |data |the answer |the information )?(?:not|never"
    r"|nowhere) <adverb*>(?:been )?(?:mentioned|specified|discussed|stated|disclosed|brought up|indicated|revealed"
    r"|given|provided|available|known|told|shared|covered|recorded|listed|found|said|applicable|answerable|documented"
    r"|addressed|described)<no_object>",
    r"(?:did|do|does|has|have|had|never) (?:not |never )?<adverb*>(?<=t |r )<adverb*>(?:mention|specify|disclose"
    r"|indicate|reveal|discuss|bring up|mentioned|specified|disclosed|indicated|revealed|discussed|brought up"
    r"|talked about|spoken about|talk about)(?! (?:her|him|them)\b)",
    r"(?:did|do|does|has|have|had) (?:not|never) <adverb*>(?:say|said|state|stated|note|noted|share|shared|tell|told)"
    r"(?= ?(?:$|[.,;!]|what|when|where|who|whom|whose|why|how|which|whether|if|that|so\b|this|anything about|me\b|us\b"
    r"|in (?:the|any|our)|such))",
    r"(?:did|does|do|has|have|had) (?:not|never) <adverb*>(?:come up|came up|arisen|arise|appear|appeared|feature)"
    r"<no_object>|never (?:came|come|comes) up|(?:was|were) never (?:a topic|a subject|part of (?:\w+ ){0,2}<told_in>)",
    r"(?:(?:is|are|was|were) (?:not|nowhere)|^(?:<lead_in>)?(?:not|nowhere)) (?:\w+ ){0,2}?(?:included |found "
    r"|to be found )?(?:in|among|within|part of) (?:\w+ ){0,2}<told_in>|(?:is|are|was) (?:not"
    r"|nowhere) (?:to be )?found (?:anywhere|here)",
    r"(?:has|have) not been (?:any|a|much|one) (?:\w+ )?<trace>|there (?:is|was) no \w+ in (?:anything|what"
    r"|all) (?:that )?you",
    r"left (?:that|this|it|so much) out|left (?:out|unsaid|unmentioned|unspecified|open|unanswered)",
    r"(?:is|are|was) not (?:something|anything|a (?:thing|detail|topic|fact)|information) (?:that |which )?(?:you|i"
    r"|we|the user|was|is|has been|came)",
    r"no such (?:[\w']+ ){1,3}(?:(?:is|are|was|were|has been|have been) (?:ever )?(?:mentioned|described|recorded|noted"
    r"|stated|given|listed|discussed|documented|specified|found|reported|known|shared|told|there)\b|appears?\b"
    r"|(?:comes|came) up|(?:exists? )?(?:in|within|among) (?:\w+ ){0,2}<told_in>)",
    r"(?:information|context|details|<told_in>) (?:<filler>){0,6}(?:do|does|did) not (?:allow|permit|enable|let)"
    r" (?:me|us|one|anyone|for)\b",
    r"(?:there (?:is|are|was|were)|<asker> (?:do|did)) not (?:have )?(?:nearly |really |quite )?enough to (?:go on"
    r"|go by|tell|say|answer|determine|work with)\b",
    # Whoever answers does not know.
    r"(?:<asker> (?:really |honestly |simply |just |still )?|^(?:<lead_in>)?)(?:do|did|would|can|could|will) (?:not"
    r"|never|no longer) <adverb*>(?:know|recall|remember)",
    r"<asker> do not (?:think|believe) (?:that )?(?:you|that|it|this|i|we|there)\b (?:[\w']+ ){0,4}?(?:told|mentioned"
    r"|discussed|know|said|shared|specified|came up|come up|brought up|is (?:any|a)|was (?:any|a)|have (?:any|that"
    r"|this|the))",
    r"(?:need|require)s? (?:\w+ )?(?:more|further|additional) (?:\w+ )?<lacking_noun>|(?:more|further"
    r"|additional) <lacking_noun> (?:is|are|would be) (?:needed|required|necessary)",
    r"<asker> (?:do|did|have|had|can|could) not <adverb*>(?:see|find|found|seen|locate|located|come across|retrieve)"
    r" (?:<adverb*>(?:any|anything|a|the|that|this|it|your|where|when|what|who|which|mention|information|details|"
    r"evidence|records?|specific|references?|explicit)\b(?! (?:keys?|job|place|seat|way|parking|wallet|house|point)))",
    r"<asker> (?:do|did|would) not (?:currently |actually |yet |seem to |really )?(?:have|hold"
    r"|possess) (?:<adverb*>(?:any |enough |sufficient |the |that |this |a |your |much |access to |specific "
    r"|reliable |\w+ ){0,4}(?:<trace>|<lacking_noun>|access|answer|idea)|(?:that|this|it|any|enough)<no_object>)",
    r"<asker> (?:have|had) (?:no|not any|nothing|little|zero|insufficient) (?:\w+ ){0,3}(?:<trace>|<lacking_noun>"
    r"|idea|way|access|clue|about|on|regarding|that|for|recorded|stored|noted)",
    r"<asker> (?:have|had|was|were|am) (?:not|never) <adverb*>(?:been |be )?(?:told|informed|given|made aware|aware"
    r"|provided|supplied|sure what you|familiar with)<no_gift>",
    r"<asker> (?:found|find|see|saw|lack|lacks|got) (?:no|nothing|the|any|little|zero) ?(?:\w+ ){0,3}(?:<trace>"
    r"|<lacking_noun>|about|on|regarding|that (?:says|mentions|tells)|recorded|stored|noted|relevant|in (?:my|the|our"
    r"|your))",
    r"<asker> (?:am|was|were) (?:unaware|not aware|ignorant of|in the dark|unable to <telling_or_know>)",
    r"<asker> lack (?:\w+ ){0,3}(?:<trace>|<lacking_noun>)|^(?:<lead_in>)?(?:no idea|no clue|not sure|unsure|dunno)$",
    r"(?:have|has) no idea|there is no (?:way|means) (?:to|of) <telling_or_know>",
    r"<unable> <adverb*>(?:<tell>|identify|retrieve|answer|find out)<no_work>(?! (?:\w+ ){1,3}apart\b)",
    r"<unable> <adverb*>(?:provide|give) (?:any|an?|the|that|this|you|specific|details?|information|more)",
    r"<unable> <adverb*>(?:find|see|locate|access) (?:any|anything|that|this|it|a (?:record|mention|reference)"
    r"|the (?:answer|name|date|information|details?)|mention|information|evidence|details|what|when|where|who|which)",
    r"(?:hard|difficult|impossible|not possible) to <telling_or_know><no_work>|(?:impossible"
    r"|not possible) for <asker> to",
    r"(?:can|could) not <adverb*>be <adverb*>(?:determined|answered|known|told|said|established|inferred|derived"
    r"|deduced|concluded|verified|identified|ascertained|gathered|found (?:in|anywhere|here)|located in"
    r"|found<no_object>)",
    # What there is says nothing.
    r"(?:<has>|exists?|existed|found|find|see|there|contains?|with|makes?|made|gives?|gave|without|offers?|shows?|got"
    r"|lists?|include[sd]?) (?:no|not any|nothing|little|zero|never any|not a single) (?:\w+ ){0,3}<trace>",
    r"(?:is|are|was|were) (?:not|never) (?:any|anything|a|much|enough|sufficient) (?:\w+ ){0,3}?(?:<trace>"
    r"|<lacking_noun>)",
    r"(?:is|was) (?:nothing|not anything|never anything) (?:\w+ ){0,2}?(?:about|on|regarding|concerning|(?:in|on"
    r"|among) (?:\w+ ){0,2}<told_in>|on file|there about|that (?:mentions?|says?|tells?|states?|indicates?|suggests?"
    r"|specif\w+|refers?)|to (?:suggest|indicate|say|go on|tell)|here about|mentioning|said|told|recorded|stored"
    r"|mentioned)",
    r"no (?:\w+ ){0,2}<trace> (?:(?:was|is|were|are|has been|have been|been|can be|could be) )?<adverb*>(?:available"
    r"|given|found|provided|mentioned|of|about|on|that|whether|regarding|for|as to|to|in|from|here|indicating|showing"
    r"|concerning|recorded|stored|present|exists?|shared|supplied|specified|stated|returned|matching|matche?s?|which)",
    r"^(?:<lead_in>)?(?:there (?:is|was|are|were) )?(?:no|zero|insufficient|not enough"
    r"|missing) (?:\w+ ){0,2}(?:<trace>|results?|match|matches|<lacking_noun>)$",
    # There is not enough of it.
    r"(?:not enough|insufficient|inadequate|too little|not sufficient|no sufficient|not nearly enough|not adequate"
    r"|incomplete|never enough) (?:\w+ ){0,2}?(?:<lacking_noun>|<trace>)",
    r"(?:<lacking_noun>|<trace>|<told_in>|what (?:i|we|you|is|was) \w+(?: \w+)?) (?:<filler>|needed |required "
    r"|necessary |asked |asking |requested |answer |this |question |know ){0,8}(?:(?:is|are|was|were|seems?|looks?"
    r"|proves?|remains?|falls?|do|does|did|will|would)(?: be)? )(?:simply |just |clearly |still |far |also "
    r"|unfortunately |really |quite |definitely |too )*(?:not (?:\w+ )?(?:enough|sufficient|adequate|suffice"
    r"|available|there|present|complete|at hand|clear enough)|insufficient|inadequate|(?:little|limited|sparse|vague"
    r"|thin|scarce)|from (?:enough|sufficient)|missing|unavailable|absent|lacking|incomplete|short|silent|unknown"
    r"|unspecified|inconclusive|nowhere)",
    r"(?:that|it|this|which) (?:is|was) (?:missing from|unavailable|not available|absent from|nowhere)",
    r"(?:is|are|was|were|remains?|stays?|left) <adverb*>(?:unknown|unspecified|unanswerable|unmentioned|undisclosed"
    r"|unstated|unrecorded|undocumented|unanswered|undiscussed|unaddressed)<no_object>",
    r"(?:is|are|was|were|remains?) (?:absent|missing) from (?:\w+ ){0,2}<told_in>",
    r"^(?:<lead_in>)?(?:unknown|unspecified|unanswerable|unmentioned|undisclosed|unstated|undetermined|unavailable|n/a|"
    r"not applicable)<no_object>",
    r"(?:not|un)(?: )?clear (?:from|based on|in|given) (?:the|our|your|my|what)",
    r"(?:you|the user|the conversations?|the chats?|we|they) (?:have |has )?(?:only|just) (?:ever )?(?:mentioned|told"
    r"|talked|discussed|spoke|spoken|covers?|mentions?|discuss(?:es)?|brought up|referred)",
    r"(?:you|the user|we) (?:\w+ )?(?:mentioned|told|talked about|discussed|spoke of|said|shared) [^.;!?]{1,120}?,? but"
    r" (?:not|never|nothing|no|did not|have not)",
)
"""Ways of saying that what was asked for was never told. Doubt about what was told is none of them, and neither is a
lack of something else: too little flour."""


def compiled(lines: tuple[str, ...]) -> re.Pattern[str]:
    """Return one pattern that finds any of the lexicon's lines as whole words."""
    return re.compile(r"(?<![^\W_])(?:" + "|".join(_expanded(line) for line in lines) + r")(?![^\W_])")


def _expanded(line: str) -> str:
    return re.sub(r"<(\w+)([?*]?)>", lambda found: _slot(SETS[found.group(1)], found.group(2)), line)


def _slot(words: str, count: str) -> str:
    return rf"(?:{words}\ ){count}" if count else words
