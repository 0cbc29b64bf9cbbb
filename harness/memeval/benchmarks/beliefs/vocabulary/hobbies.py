"""What people do for its own sake."""

from __future__ import annotations

from memeval.benchmarks.beliefs.vocabulary.topic import Topic, TopicGroup, values

_FAMILY = "hobbies"

TOPICS = (
    Topic(
        id="language",
        family=_FAMILY,
        label="language course",
        do="study {v} in the evenings",
        now=("Which language does {name} study in the evenings now?", "What is {name}'s language course these days?"),
        past=("Which language did {name} study in the evenings {when}?", "What was {name}'s language course {when}?"),
        values=values(
            "Portuguese; Finnish; Korean; Welsh; Turkish; Czech; Swahili; Icelandic; Greek; Hungarian; Basque"
        ),
        hints=(
            "I ordered my soup in {v} today, the waiter was kind enough not to laugh at a beginner.",
            "My flashcards for {v} are all over the flat, there's even one on the kettle.",
            "I dreamt in {v} last night, badly, but the evening lessons must be working.",
        ),
        openers=(
            "How many new words a day are realistic?",
            "I keep forgetting grammar. Is there a trick?",
            "Are children's books any good for adult learners?",
        ),
        tips=(
            "Ten minutes a day beat two hours on Sunday.",
            "Read aloud, even when you feel silly.",
        ),
    ),
    Topic(
        id="craft",
        family=_FAMILY,
        label="craft",
        do="spend {my} quiet hours on {v}",
        now=("Which craft does {name} spend {my} quiet hours on now?", "What is {name}'s craft these days?"),
        past=("Which craft did {name} spend {my} quiet hours on {when}?", "What was {name}'s craft {when}?"),
        values=values(
            "linocut; crochet; bookbinding; wood carving; origami; calligraphy; pottery; watercolours; "
            "embroidery; marquetry; basketry"
        ),
        hints=(
            "My table is covered in scraps from {v} and I had to eat standing up.",
            "I sold a little piece of {v} at the school fair, my first, for the price of a coffee.",
            "I forgot the time over {v}, it was one in the morning when I looked up.",
        ),
        openers=(
            "I need a present that I can make myself.",
            "How do you store small tools so that you find them?",
            "What's a good light to work under in the evening?",
        ),
        tips=(
            "Keep the first failed one, you'll like to compare.",
            "A tray with a rim keeps the mess in one place.",
        ),
    ),
    Topic(
        id="balcony",
        family=_FAMILY,
        label="balcony plants",
        do="grow {v} on {my} balcony",
        now=("What does {name} grow on {my} balcony now?", "What are {name}'s balcony plants these days?"),
        past=("What did {name} grow on {my} balcony {when}?", "What were {name}'s balcony plants {when}?"),
        values=values(
            "chillies; strawberries; nasturtiums; radishes; kale; dwarf sunflowers; cherry tomatoes; "
            "lavender; sweet peas; geraniums; runner beans"
        ),
        hints=(
            "I was out at six to water {v} before the sun got onto my balcony.",
            "The balcony is all {v}, my neighbour below has asked for cuttings.",
            "Something has been nibbling at my {v}, I can see the culprit on the railing from here.",
        ),
        openers=(
            "How often do pots need water in a heatwave?",
            "What do I do about greenfly without poison?",
            "My balcony faces north-west. Is that hopeless?",
        ),
        tips=(
            "Water in the morning and straight onto the soil.",
            "A saucer under each pot saves you a walk.",
        ),
    ),
)

GROUP = TopicGroup(
    root=Topic(
        id="instrument",
        family=_FAMILY,
        label="instrument",
        do="play {v}",
        now=("Which instrument does {name} play now?",),
        past=("Which instrument did {name} play {when}?",),
        values=values(
            "the cello|cello; the banjo|banjo; the oboe|oboe; the accordion|accordion; the harp|harp; the "
            "trombone|trombone; the mandolin|mandolin; the clarinet|clarinet; the bagpipes|bagpipes; the "
            "viola|viola"
        ),
        hints=(
            "I've got marks on my fingers from {v}, and I'm rather proud of them.",
            "My neighbour knocked because of {v}, then stayed and listened until I was done.",
            "I got through my first whole piece on {v} without stopping.",
        ),
        openers=("How long should an adult beginner practise?", "I get nervous as soon as someone listens."),
        tips=("Slow and clean first, the tempo comes by itself.", "Record yourself once a week."),
    ),
    dependents=(
        Topic(
            id="teacher",
            family=_FAMILY,
            label="music teacher",
            do="have music lessons with {v}",
            now=("Who does {name} have music lessons with?", "Who is {name}'s music teacher?"),
            past=("Who did {name} have music lessons with {when}?",),
            values=values(
                "Madame Petit|Petit; Mr Calloway|Calloway; Ms Rautio|Rautio; Herr Vogel|Vogel; Mr "
                "Okonjo|Okonjo; Ms Bellweather|Bellweather"
            ),
            openers=("What makes a good teacher for grown-ups?", "I was told off for my posture, rightly so."),
            tips=("Bring one question to every lesson.", "Ask for a short piece you can finish."),
            because=(
                "I wanted somebody who really knows {base}, so I {do}.",
                "I {do}, because hardly anyone else in town teaches {base}.",
            ),
        ),
        Topic(
            id="practice-room",
            family=_FAMILY,
            label="practice room",
            do="practise in {v}",
            now=("Where does {name} practise?", "What is {name}'s practice room?"),
            past=("Where did {name} practise {when}?",),
            values=values(
                "the chapel on Mill Lane|chapel on Mill Lane|Mill Lane; the old fire station|old fire "
                "station; the town hall cellar|town hall cellar; the scout hut|scout hut; the bakery "
                "loft|bakery loft; the boathouse|boathouse"
            ),
            openers=("The people below me have had enough of my scales.", "How do I make a cold room sound better?"),
            tips=("A rug on the floor takes the edge off.", "Warm the room and the hands first."),
            because=(
                "{base} has a key to the place and lent me the spare, so I {do}.",
                "I {do}, since {base} rents it and lets pupils in.",
            ),
        ),
        Topic(
            id="open-stage",
            family=_FAMILY,
            label="open stage",
            do="play at the open stage of {v}",
            now=("Which open stage does {name} play at?", "Where is {name}'s open stage?"),
            past=("Which open stage did {name} play at {when}?",),
            values=values(
                "the Drunken Heron|Drunken Heron; the Blue Lantern|Blue Lantern; the Wheatsheaf|Wheatsheaf; "
                "the Tin Whistle|Tin Whistle; the Velvet Mole|Velvet Mole; the Half Moon|Half Moon"
            ),
            openers=("I've been on a stage once, and I survived.", "What do I say between two pieces?"),
            tips=("Say the title, smile, and begin.", "Have one easy piece ready for the end."),
            because=(
                "It's next door to {base} and I can leave my things there, so I {do}.",
                "I {do}, because it's a stone's throw from {base}.",
            ),
        ),
    ),
)
