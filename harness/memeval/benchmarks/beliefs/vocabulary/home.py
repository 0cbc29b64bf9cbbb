"""The house, and what keeps it warm."""

from __future__ import annotations

from memeval.benchmarks.beliefs.vocabulary.topic import Topic, TopicGroup, values

_FAMILY = "home"

TOPICS = (
    Topic(
        id="heating",
        family=_FAMILY,
        label="heating",
        do="heat {my} house with {v}",
        now=("What does {name} heat {my} house with now?", "What is {name}'s heating these days?"),
        past=("What did {name} heat {my} house with {when}?", "What was {name}'s heating {when}?"),
        values=values(
            "a pellet stove|pellet stove; a heat pump|heat pump; a gas boiler|gas boiler; infrared panels; a "
            "tiled stove|tiled stove; district heating; electric radiators; solar collectors; a wood "
            "burner|wood burner; an oil furnace|oil furnace; storage heaters"
        ),
        hints=(
            "First cold night of the year, and {v} had the house warm before I'd found my slippers.",
            "The cat has worked out which corner {v} warms first and won't leave it.",
            "I had the manual for {v} on my lap all evening, but the living room was warm by nine.",
        ),
        openers=(
            "My windows fog up every morning. Should I worry?",
            "How warm should a bedroom be?",
            "What's the cheapest way to stop a draught?",
        ),
        tips=(
            "One degree less saves about six percent.",
            "Air for five minutes with the windows wide open.",
        ),
    ),
    Topic(
        id="electricity",
        family=_FAMILY,
        label="electricity supplier",
        do="get {my} electricity from {v}",
        now=("Who does {name} get {my} electricity from now?", "What is {name}'s electricity supplier these days?"),
        past=("Who did {name} get {my} electricity from {when}?", "What was {name}'s electricity supplier {when}?"),
        values=values(
            "Voltara; Greenspark; Ampere Nord; Lumenza; Ohmsted; Brightgrid; Windwerk; Solhus; Kilowise; "
            "Turbina; Enerva"
        ),
        hints=(
            "The welcome letter from {v} had a seed packet in it, an odd gift for a power customer.",
            "I typed the meter reading into the {v} site, so the lights stay on at my place.",
            "The first bill from {v} is also the first electricity bill that I understand.",
        ),
        openers=(
            "My power bill makes no sense to me. How do I read it?",
            "Which appliances eat the most current?",
            "Is it worth running the dishwasher at night?",
        ),
        tips=(
            "A picture of the meter on the first of the month is good evidence.",
            "Standby devices are a small but steady leak.",
        ),
    ),
    Topic(
        id="bed",
        family=_FAMILY,
        label="bed",
        do="sleep on {v}",
        now=("What does {name} sleep on these days?", "What kind of bed is {name} sleeping on now?"),
        past=("What did {name} sleep on {when}?", "What kind of bed was {name} sleeping on {when}?"),
        values=values(
            "a futon|futon; a latex mattress|latex mattress; a box spring|box spring; a waterbed|waterbed; a "
            "tatami mat|tatami; a hammock|hammock; a memory-foam topper|memory-foam topper|memory-foam; a "
            "daybed|daybed; a camp bed|camp bed; a horsehair mattress|horsehair mattress|horsehair; an air "
            "mattress|air mattress"
        ),
        hints=(
            "Eight hours straight, {v} did more for my back last night than any doctor.",
            "I bought new sheets today, nothing I owned fits {v}.",
            "The dog has decided that {v} belongs to both of us, I get the edge at night.",
        ),
        openers=(
            "I wake up with a stiff neck. What could be the reason?",
            "How dark should a room be at night?",
            "What helps against cold feet in bed?",
        ),
        tips=(
            "Give a new place to sleep two weeks before you judge it.",
            "A pillow of the right height is half the story.",
        ),
    ),
)

GROUP = TopicGroup(
    root=Topic(
        id="neighbourhood",
        family=_FAMILY,
        label="neighbourhood",
        do="live in {v}",
        now=("Which neighbourhood does {name} live in now?",),
        past=("Which neighbourhood did {name} live in {when}?",),
        values=values(
            "Ashgrove; Millbank; Eastwick; Copperfield; Linden Hill; Saltmarsh; Fernside; Kingsbarn; "
            "Oldbridge; Tern Island"
        ),
        hints=(
            "My letterbox in {v} has a name plate at last, and my post arrives there.",
            "From my new kitchen window I can see the whole of {v}, boxes still stacked behind me.",
            "I've met four neighbours here in {v} already, all of them with advice on the bins.",
        ),
        openers=("How do I get to know the people next door?", "What belongs in a household binder?"),
        tips=("Put a list of numbers on the inside of a cupboard.", "A plant in the window makes any room a home."),
    ),
    dependents=(
        Topic(
            id="gym",
            family=_FAMILY,
            label="gym",
            do="train at {v}",
            now=("Which gym does {name} train at?", "What is {name}'s gym?"),
            past=("Which gym did {name} train at {when}?",),
            values=values(
                "the Ironbark Gym|Ironbark; Pulse Works; the Anvil|Anvil; Motion Lab; Granite Hall; Summit Fitness"
            ),
            openers=("I always lose motivation after three weeks.", "How sore is too sore?"),
            tips=("Put the bag by the door the night before.", "Two good sessions a week are enough to start with."),
            because=(
                "It's round the corner now that I live in {base}, so I {do}.",
                "I {do}, because it's the only one you can walk to from {base}.",
            ),
        ),
        Topic(
            id="class",
            family=_FAMILY,
            label="evening class",
            do="go to {v} in the evenings",
            now=("Which class does {name} go to in the evenings?", "What is {name}'s evening class?"),
            past=("Which class did {name} go to in the evenings {when}?",),
            values=values(
                "the spinning class|spinning; aqua aerobics; boxercise; Zumba; the barre class|barre; the "
                "circuit class|circuit class"
            ),
            openers=("I'm the clumsiest person in any group.", "What do I drink after a hard hour?"),
            tips=("Stand in the second row until you know the steps.", "A towel and a banana will do."),
            because=(
                "{base} throws it in for members, so I {do}.",
                "I {do}, since it comes free with my card for {base}.",
            ),
        ),
        Topic(
            id="buddy",
            family=_FAMILY,
            label="training partner",
            do="team up with {v}",
            now=("Who does {name} team up with for the evening class?", "Who is {name}'s training partner?"),
            past=("Who did {name} team up with for the evening class {when}?",),
            values=values("Lucinda; Stellan; Oona; Bashir; Corentin; Philippa"),
            openers=("Everything is easier with somebody beside me.", "How do you thank a patient partner?"),
            tips=("Agree on a signal for needing a break.", "Keep the same pair for a month, it helps."),
            because=(
                "We were put together at {base} and it works, so I {do}.",
                "I {do}, because we stand side by side at {base} anyway.",
            ),
        ),
    ),
)
