"""Food and drink."""

from __future__ import annotations

from memeval.benchmarks.beliefs.vocabulary.topic import Topic, TopicGroup, values

_FAMILY = "diet"

TOPICS = (
    Topic(
        id="breakfast",
        family=_FAMILY,
        label="breakfast",
        do="have {v} for breakfast",
        now=("What does {name} have for breakfast these days?", "What is {name}'s usual breakfast now?"),
        past=("What did {name} have for breakfast {when}?", "What was {name}'s usual breakfast {when}?"),
        values=values(
            "oat porridge|oat porridge|porridge; rye toast; miso soup; scrambled tofu; bircher muesli; a "
            "banana smoothie|banana smoothie; shakshuka; rice congee|congee; buckwheat pancakes; cottage "
            "cheese; chia pudding; boiled eggs"
        ),
        hints=(
            "I've put {v} on the shopping list twice, breakfast needs more of it than I thought possible.",
            "I was halfway through my {bare} this morning when the phone rang.",
            "The kitchen smelt of {v} at seven this morning, and the neighbours have begun to comment.",
        ),
        openers=(
            "Could you help me with a shopping list for the week?",
            "I'm always hungry again by ten. Any ideas?",
            "What's a realistic morning routine for someone who hates mornings?",
        ),
        tips=(
            "Something with protein in it keeps you going until noon.",
            "Laying everything out the night before takes the friction away.",
        ),
    ),
    Topic(
        id="morning-drink",
        family=_FAMILY,
        label="morning drink",
        do="drink {v} in the mornings",
        now=("What does {name} drink in the mornings now?", "What is {name}'s morning drink these days?"),
        past=("What did {name} drink in the mornings {when}?", "What was {name}'s morning drink {when}?"),
        values=values(
            "rooibos; yerba mate; filter coffee; hojicha; chicory brew; espresso; peppermint tea; hot lemon "
            "water|lemon water; oolong; cocoa; ginger tea; flat whites|flat whites|flat white"
        ),
        hints=(
            "I burnt my tongue on {v} before the first call again, I should learn to wait.",
            "The big thermos for the mornings smells of {v} now, and I rather like it.",
            "I can't form a sentence before my first cup of {v}, so forgive the typos.",
        ),
        openers=(
            "How much caffeine is too much for a light sleeper?",
            "I need a better start into the day. What do you suggest?",
            "What's the best way to descale a kettle?",
        ),
        tips=(
            "A glass of plain water first does no harm either.",
            "Most people sleep better if the last cup is before two.",
        ),
    ),
    Topic(
        id="vegetables",
        family=_FAMILY,
        label="source of vegetables",
        do="buy {my} vegetables from {v}",
        now=("Who does {name} buy {my} vegetables from these days?", "Where do {name}'s vegetables come from now?"),
        past=("Who did {name} buy {my} vegetables from {when}?", "Where did {name}'s vegetables come from {when}?"),
        values=values(
            "the Harbour Street market|Harbour Street market|Harbour Street; the Greenrow co-op|Greenrow; "
            "Marlow Farm; Pellbrook Organics|Pellbrook; the Tanner Lane stall|Tanner Lane; the Sunfield box "
            "scheme|Sunfield; Demir Brothers; the Quarry allotments|Quarry allotments; Hazelwick "
            "Nursery|Hazelwick; the Canal Side grocer|Canal Side; Bramley and Daughters|Bramley"
        ),
        hints=(
            "The beetroot from {v} stained my whole bag this week, I now look like a crime scene.",
            "The people at {v} asked for my name today, so that they can put the good leeks aside for me.",
            "I had to carry the squash home from {v} in both arms, my shopping is getting heavier.",
        ),
        openers=(
            "What can I do with a glut of courgettes?",
            "How long do root vegetables keep without a cellar?",
            "I'd like to cook more with the seasons. Where do I start?",
        ),
        tips=(
            "A damp cloth around the greens buys you three more days.",
            "Soup forgives almost anything, so keep a pot in mind.",
        ),
    ),
)

GROUP = TopicGroup(
    root=Topic(
        id="diet",
        family=_FAMILY,
        label="diet",
        do="keep to {v}",
        now=("Which diet does {name} keep to now?",),
        past=("Which diet did {name} keep to {when}?",),
        values=values(
            "a vegan diet|vegan; a pescatarian diet|pescatarian; a low-carb diet|low-carb; a gluten-free "
            "diet|gluten-free; a Mediterranean diet|Mediterranean; a paleo diet|paleo; a raw-food "
            "diet|raw-food; a low-salt diet|low-salt; a macrobiotic diet|macrobiotic; a dairy-free "
            "diet|dairy-free"
        ),
        hints=(
            "My doctor looked at the blood test and was delighted, {v} clearly agrees with me.",
            "On {v} one reads every label, I spent ages in the shop today.",
            "Turns out {v} is easier than people say once the fridge is restocked.",
        ),
        openers=("Could you plan dinners for four days?", "I feel sluggish after most meals, what could it be?"),
        tips=("Keep an eye on iron and vitamin D over the winter.", "A food diary for two weeks tells you a lot."),
    ),
    dependents=(
        Topic(
            id="lunch-place",
            family=_FAMILY,
            label="lunch place",
            do="have {my} lunch at {v}",
            now=("Where does {name} have {my} lunch?", "Which place does {name} go to for lunch?"),
            past=("Where did {name} have {my} lunch {when}?",),
            values=values(
                "the Olive Press|Olive Press; Saffron Corner; Little Kiln; Fig and Fennel; the Copper "
                "Ladle|Copper Ladle; Juniper Canteen"
            ),
            openers=("I never know where to eat at noon.", "Is it rude to eat alone with a book?"),
            tips=("Going ten minutes before noon avoids the queue.", "A regular table is one of life's small wins."),
            because=(
                "Since I keep to {base}, I {do}: hardly anyone else around here caters for it.",
                "I {do}, because their menu is the only one that works with {base}.",
            ),
        ),
        Topic(
            id="lunch-friend",
            family=_FAMILY,
            label="company at lunch",
            do="share a lunch table with {v}",
            now=("Who does {name} share a lunch table with?", "Who is {name}'s company at lunch?"),
            past=("Who did {name} share a lunch table with {when}?",),
            values=values("Leopold; Marisol; Yannick; Ottilie; Desmond; Farah"),
            openers=("How do grown-ups make new friends?", "I had the nicest lunch break in ages."),
            tips=("Regular and short is how most friendships begin.", "Good company makes the soup taste better."),
            because=(
                "The tables at {base} are tiny and everyone has a fixed one, so I {do}.",
                "I {do}, because that's who happens to eat at {base} every day.",
            ),
        ),
        Topic(
            id="lunch-book",
            family=_FAMILY,
            label="current book",
            do="read {v} a chapter at a time",
            now=("What does {name} read a chapter at a time?", "What is the book that {name} reads by the chapter?"),
            past=("What did {name} read a chapter at a time {when}?",),
            values=values("Middlemarch; Dracula; Persuasion; Solaris; Beloved; Nostromo"),
            openers=("I want to read more and scroll less.", "How do you remember who is who in a long novel?"),
            tips=("A list of names on the bookmark helps.", "Twenty pages a day is a shelf a year."),
            because=(
                "{base} is reading the same one and we compare notes, so I {do}.",
                "I {do}, only to be able to talk it over with {base}.",
            ),
        ),
    ),
)
