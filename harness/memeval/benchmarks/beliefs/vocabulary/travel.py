"""Trips, and what is packed for them."""

from __future__ import annotations

from memeval.benchmarks.beliefs.vocabulary.topic import Topic, TopicGroup, values

_FAMILY = "travel"

TOPICS = (
    Topic(
        id="airline",
        family=_FAMILY,
        label="airline",
        do="fly with {v}",
        now=("Which airline does {name} fly with now?", "What is {name}'s airline of choice these days?"),
        past=("Which airline did {name} fly with {when}?", "What was {name}'s airline of choice {when}?"),
        values=values(
            "Norrwind; Aerolinda; Pelican Air|Pelican Air|Pelican; Altavia; Transbaltic; Sunhopper; Cormorant "
            "Airways|Cormorant; Zephyria; Icebird; Lusitano Air|Lusitano; Kestrel Jet|Kestrel"
        ),
        hints=(
            "I've just collected my first points with {v}, three flights and I get a free sandwich.",
            "The crew on {v} let me keep my big bag on my lap, I like how they treat people.",
            "My frequent flyer card from {v} came in the post, it has my middle name on it.",
        ),
        openers=(
            "How early do I really have to be at the airport?",
            "Any tricks for sleeping on a plane?",
            "What's the best seat for someone with long legs?",
        ),
        tips=(
            "An aisle seat near the back is often the quietest choice.",
            "Check the hand luggage size before you leave the house.",
        ),
    ),
    Topic(
        id="weekend-town",
        family=_FAMILY,
        label="weekend town",
        do="spend {my} free weekends in {v}",
        now=("Where does {name} spend {my} free weekends these days?", "What is {name}'s weekend town now?"),
        past=("Where did {name} spend {my} free weekends {when}?", "What was {name}'s weekend town {when}?"),
        values=values("Ghent; Whitby; Hallstatt; Annecy; Sintra; Tartu; Lucca; Galway; Colmar; Ohrid; Piran"),
        hints=(
            "The innkeeper in {v} gave me a key of my own, now that my weekends belong there.",
            "I left my umbrella in {v} again on Sunday, it'll be there when I'm back on Saturday.",
            "I bought a rail pass for the Saturday train to {v}, the clerk called me a regular in the making.",
        ),
        openers=(
            "How do you pack for two days with one small bag?",
            "I need a proper rest at the weekend. Any thoughts?",
            "What makes a short break feel longer?",
        ),
        tips=(
            "Leaving on the early train makes it feel like three days.",
            "One plan a day is plenty for a short break.",
        ),
    ),
    Topic(
        id="luggage",
        family=_FAMILY,
        label="bag for short trips",
        do="pack {v} for short trips",
        now=("Which bag does {name} pack for short trips now?", "What is {name}'s bag for short trips these days?"),
        past=("Which bag did {name} pack for short trips {when}?", "What was {name}'s bag for short trips {when}?"),
        values=values(
            "a canvas duffel|canvas duffel|duffel; a hard-shell trolley|hard-shell trolley|trolley; a framed "
            "rucksack|framed rucksack|rucksack; a garment bag|garment bag; a waxed holdall|waxed "
            "holdall|holdall; a roll-top backpack|roll-top backpack|backpack; a vintage suitcase|vintage "
            "suitcase|suitcase; a messenger bag|messenger bag; a bicycle pannier|bicycle pannier|pannier; a "
            "wicker hamper|wicker hamper; a sailor's kitbag|kitbag"
        ),
        hints=(
            "I had {v} out in the hallway before the taxi came, two nights' worth in four minutes.",
            "The zip gave up at the station, so {v} is on the mending pile until I leave again on Friday.",
            "I wedged {v} under the seat in front and had room for my knees, for a change on these short trips.",
        ),
        openers=(
            "What do you forget most often when you pack?",
            "Could you write me a packing list for two nights?",
            "How do I keep shirts from creasing on the way?",
        ),
        tips=(
            "Roll the soft things and lay the stiff ones flat.",
            "A list on the inside of the wardrobe door is worth a lot.",
        ),
    ),
)

GROUP = TopicGroup(
    root=Topic(
        id="summer",
        family=_FAMILY,
        label="summer plans",
        do="plan to spend the summer in {v}",
        now=("Where does {name} plan to spend the summer now?",),
        past=("Where did {name} plan to spend the summer {when}?",),
        values=values(
            "Slovenia; the Azores|Azores; Sardinia; Latvia; Madeira; Corsica; Montenegro; Brittany; Crete; Scotland"
        ),
        hints=(
            "The tickets to {v} are on the fridge, so the summer has a face at last.",
            "I'm reading up on the coast of {v}, the summer can't come soon enough.",
            "I paid for the crossing to {v} this morning, which makes the summer official.",
        ),
        openers=("I'm dreaming of the holidays already.", "How do I plan a long summer trip without stress?"),
        tips=("Book the first two nights and leave the rest open.", "Leave one day at each end with nothing in it."),
    ),
    dependents=(
        Topic(
            id="lodging",
            family=_FAMILY,
            label="room for the summer",
            do="have a room reserved at {v}",
            now=("Where does {name} have a room reserved for the summer?", "Which place is {name} booked into?"),
            past=("Where did {name} have a room reserved {when}?",),
            values=values(
                "Villa Serpentine; the Gull House|Gull House; Casa Verbena; Pension Lumi; the Old Customs "
                "Lodge|Old Customs Lodge; Hostel Meridian"
            ),
            openers=("What should I ask before I pay a deposit?", "Do you trust reviews of small hotels?"),
            tips=("Ask which side the rooms face, it matters.", "A short message to the owner says more than stars."),
            because=(
                "With {base} in mind, I {do}, right by the water.",
                "I {do}, as it's the one place in {base} that had space for the whole month.",
            ),
        ),
        Topic(
            id="rental",
            family=_FAMILY,
            label="rental for the stay",
            do="have {v} booked for the stay",
            now=(
                "What does {name} have booked to get around during the stay?",
                "What is {name}'s rental for the stay?",
            ),
            past=("What did {name} have booked to get around {when}?",),
            values=values(
                "a sea kayak|sea kayak|kayak; a paddleboard|paddleboard; a tandem|tandem; a Vespa|Vespa; a "
                "sailing dinghy|sailing dinghy|dinghy; a camper van|camper van"
            ),
            openers=("I don't want to sit on a beach for four weeks.", "How do people get around on holiday?"),
            tips=("Take photos of every scratch before you set off.", "Half a day to practise is time well spent."),
            because=(
                "{base} lends it to guests for next to nothing, so I {do}.",
                "I {do}, because it comes with the room at {base}.",
            ),
        ),
        Topic(
            id="instructor",
            family=_FAMILY,
            label="practice lessons",
            do="take practice lessons with {v}",
            now=("Who does {name} take practice lessons with?", "Who gives {name} practice lessons?"),
            past=("Who did {name} take practice lessons with {when}?",),
            values=values(
                "Coach Ibsen|Ibsen; Captain Moreau|Moreau; Mr Dunmore|Dunmore; Signora Balli|Balli; Coach "
                "Petrov|Petrov; Ms Achterberg|Achterberg"
            ),
            openers=("Is forty too old to learn something physical?", "I'm sore in places I didn't know I had."),
            tips=("Short and often beats long and rare.", "Sleep does half of the learning for you."),
            because=(
                "I've never handled {base} before, so I {do}.",
                "I {do}, purely so that I don't make a fool of myself with {base}.",
            ),
        ),
    ),
)
