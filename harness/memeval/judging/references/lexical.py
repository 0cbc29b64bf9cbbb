"""Words of English as data: those that carry no meaning of their own, irregular forms, and other words for the same.

Nothing here comes from a benchmark. Each table is part of the rule set; changing one is a new version of it.
"""

from __future__ import annotations

from functools import cache
from itertools import takewhile

from memeval.judging.stemming import stem

_IDLE = (
    "a an the and or of to in on at by for with from as into over is are was were be been being am has have had "
    "do does did can could would will shall should may might must it its this that these those there here i you "
    "he she they we me him her them us my your his their our who whom which what when where why how than then so "
    "such also very really quite just only some any about around approximately nearly almost roughly likely "
    "probably presumably possibly most perhaps usually since"
)
_LIGHT = (
    "because while though although but if when during through throughout between among within onto upon off out up "
    "down over again too both each every others another same own self myself yourself himself herself itself "
    "themselves ourselves get gets got gotten getting getter have having make makes made making let lets go goes went "
    "gone going put seem seems being thing things stuff something anything everything someone anyone lot lots many "
    "much several various multiple few more less kind kinds type types sort sorts bit way ways really actually "
    "currently now already still even always often ever named called known titled maybe sometime date ago considered "
    "decided wanted want wants order able via per amongst towards toward along across around etc e.g i.e namely "
    "s t re ve ll different certain whole entire full new specific particular especially mainly mostly also "
    "together further alongside including includes include involving involves due thanks"
)

LIGHT = frozenset(_IDLE.split()) | frozenset(_LIGHT.split())
"""Words that a right answer may leave out."""

_NEGATORS = "not no never neither nor none nothing nobody nowhere without cannot"

NEGATORS = frozenset(_NEGATORS.split())

_FORMS = (
    "be was were been;become became;begin began begun;bite bit bitten;break broke broken;bring brought;build built;"
    "buy bought;catch caught;choose chose chosen;come came;cut cut;deal dealt;dig dug;draw drew drawn;"
    "drink drank drunk;drive drove driven;eat ate eaten;fall fell fallen;feed fed;feel felt;fight fought;find found;"
    "fly flew flown;forget forgot forgotten;forgive forgave forgiven;freeze froze frozen;give gave given;"
    "grow grew grown growth;hang hung;hear heard;hide hid hidden;hold held;keep kept;know knew;lead led;"
    "learn learnt;leave left;lend lent;lose lost loss;mean meant;meet met;pay paid;ride rode ridden;ring rang rung;"
    "rise rose risen;run ran;say said;see saw seen;sell sold;send sent;shake shook shaken;shine shone;shoot shot;"
    "show shown;sing sang sung;sink sank sunk;sit sat;sleep slept asleep;speak spoke spoken;spend spent;"
    "stand stood;steal stole stolen;stick stuck;strike struck;swim swam swum;take took taken;teach taught;"
    "tear tore torn;tell told;think thought;throw threw thrown;understand understood;wake woke woken;wear wore worn;"
    "win won;write wrote written;child children;man men;woman women;person people persons folk folks individual "
    "individuals;mouse mice;foot feet;tooth teeth;goose geese;life lives;wife wives;wolf wolves;leaf leaves;"
    "shelf shelves;knife knives;half halves;good better best;bad worse worst;dye dyed dyeing"
)
_SAME = (
    "mother mom mum mama mommy mummy;father dad daddy papa;aunt auntie aunty;grandmother grandma granny;"
    "grandfather grandpa granddad;child kid;photo photograph picture pic;film movie;television tv;bicycle bike;"
    "automobile car;store shop;purchase buy;start begin commence;finish complete;gift present;doctor physician;"
    "vacation holiday;apartment flat;autumn fall;big large huge;small little tiny;happy glad happiness joy joyful;"
    "destroy ruin wreck;scared afraid frightened;improve better enhance;help assist aid support;receive obtain;"
    "speak talk chat converse;sick ill;advertise promote;award prize;instructor teacher;beautiful gorgeous lovely;"
    "relax unwind relaxation;calm peaceful peace serene tranquil;tough hard difficult challenging;quick fast rapid;"
    "reach attain achieve accomplish;motivate inspire;thrilled excited;grateful thankful gratitude appreciative;"
    "rabbit bunny;woods forest;rock stone;watch see;seek search;pal friend buddy;okay ok;math maths mathematics;"
    "gym gymnasium;phone telephone;gather collect;create build assemble;repair fix;tired exhausted;sad unhappy sadness;"
    "angry mad anger;nervous anxious anxiety;proud pride;strong strength strengthen;healthy health;"
    "important importance significant;safe safety secure;free freedom;wise wisdom;warm warmth;long length;high height;"
    "deep depth;true truth;able ability;young youth;choose choice;decide decision;lose loss;grow growth;"
    "die death;born birth;sell sale;advise advice;think thought;believe belief;succeed success successful;"
    "live life;marry marriage wedding;sing song;fly flight;perform performance;color colour;center centre;"
    "favorite favourite;gray grey;theater theatre;neighbor neighbour;neighborhood neighbourhood;organize organise;"
    "realize realise;recognize recognise;traveling travelling;traveler traveller;jewelry jewellery;"
    "pajamas pyjamas;donut doughnut;yogurt yoghurt;cozy cosy;mold mould;program programme;flavor flavour;"
    "honor honour;humor humour;labor labour;behavior behaviour;volunteer voluntary;"
    "hike trek;trip journey voyage travel;job work career occupation;company firm business;"
    "house home;garbage trash rubbish;cop police;attorney lawyer;author writer;sport athletic;"
    "guide mentor;coworker colleague;"
    "puzzle riddle;contest competition;"
    "stress tension;connect bond connection;remember recall;teach educate education;"
    "learn study;meet encounter;visit tour;enjoy love like;understand comprehend understanding;"
    "express convey;protect preserve;require need;attempt try;discover find;select pick;allow let;"
    "keep maintain continue;quit stop;donate give;examine check;demonstrate show"
)
_ENDINGS = (
    "e y ed er ers es s ing ings ion ions ation ations ive al ally ic ics ical ist ists ous ment ments ness ful ity "
    "ities ance ence ant ants ent ents ies or ors able ible ly"
)

ENDINGS = frozenset(_ENDINGS.split()) | {""}
"""Endings of words of one family, such as photography and photographer."""

FAMILY = 6
"""Letters that the words of one family share at least."""

PHRASES: tuple[tuple[str, str], ...] = (
    ("united kingdom", "uk"),
    ("great britain", "uk"),
    ("u.k.", "uk"),
    ("united states of america", "usa"),
    ("united states", "usa"),
    ("u.s.a.", "usa"),
    ("u.s.", "usa"),
    ("new york city", "newyork"),
    ("nyc", "newyork"),
    ("new york", "newyork"),
    ("los angeles", "la"),
    ("san francisco", "sf"),
    ("video game", "videogame"),
    ("one-on-one", "oneonone"),
    ("1-on-1", "oneonone"),
    ("one on one", "oneonone"),
    ("get better", "improve"),
    ("getting better", "improve"),
    ("got better", "improve"),
    ("once", "1 time"),
    ("twice", "2 times"),
    ("thrice", "3 times"),
    ("a dozen", "12"),
    ("a hundred", "100"),
    ("a thousand", "1000"),
)


@cache
def same_words() -> dict[str, str]:
    """Return the stem that stands for each irregular form and each other word, by word or stem."""
    table: dict[str, str] = {}
    for group in _FORMS.split(";"):
        base, *forms = group.split()
        table |= dict.fromkeys(forms, stem(base))
    same: dict[str, str] = {}
    for group in _SAME.split(";"):
        stems = [table.get(word, stem(word)) for word in group.split()]
        known = {same[each] for each in stems if each in same}
        target = min(known, default=stems[0])
        same |= dict.fromkeys([word for word, to in same.items() if to in known], target)
        same |= dict.fromkeys(stems, target)
    return table | same


SHORTEST = 8
"""Letters of the shorter word from which a slip is forgiven: short words often become another word."""


def one_slip(one: str, other: str) -> bool:
    """Return whether two different words differ by one slip. A replaced letter is none: it makes another word."""
    if len(one) > len(other):
        one, other = other, one
    if not one or one[0] != other[0] or len(other) - len(one) > 1 or one == other:
        return False
    at = next((n for n, letter in enumerate(one) if letter != other[n]), len(one))
    if len(one) < len(other):
        return one[at:] == other[at + 1 :]
    return one[at : at + 2] == other[at : at + 2][::-1] and one[at + 2 :] == other[at + 2 :]


def one_family(one: str, other: str) -> bool:
    """Return whether two words differ only in their endings, as photography and photographer do."""
    if one[:FAMILY] != other[:FAMILY] or len(one) < FAMILY or len(other) < FAMILY:
        return False
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    return any(one[at:] in ENDINGS and other[at:] in ENDINGS for at in range(shared, FAMILY - 1, -1))
