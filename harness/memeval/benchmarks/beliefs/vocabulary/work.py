"""Getting to work and getting it done."""

from __future__ import annotations

from memeval.benchmarks.beliefs.vocabulary.topic import Topic, TopicGroup, values

_FAMILY = "work"

TOPICS = (
    Topic(
        id="commute",
        family=_FAMILY,
        label="way to work",
        do="take {v} to work",
        now=("How does {name} get to work these days?", "What is {name}'s way to work now?"),
        past=("How did {name} get to work {when}?", "What was {name}'s way to work {when}?"),
        values=values(
            "the tram|tram; the ferry|ferry; a moped|moped; an e-bike|e-bike; the commuter train|commuter train; "
            "a carpool|carpool; a cargo bike|cargo bike; the express bus|express bus; a kick scooter|kick scooter; "
            "the underground|underground; a motorbike|motorbike"
        ),
        hints=(
            "I'm writing this with cold hands, the {bare} this morning was no fun before my first meeting.",
            "I've worked out that the {bare} gives me twenty minutes of podcast on the way to my desk.",
            "My boss laughed when I came into the office straight off the {bare} with wet hair.",
        ),
        openers=(
            "I want to make better use of the hour before work.",
            "Which podcasts suit a short trip in the morning?",
            "How do I stop arriving at the office already tired?",
        ),
        tips=(
            "A spare pair of socks in the desk drawer never hurts.",
            "Ten spare minutes take the stress out of it.",
        ),
    ),
    Topic(
        id="focus-place",
        family=_FAMILY,
        label="place for focused work",
        do="do {my} focused work in {v}",
        now=("Where does {name} do {my} focused work now?", "What is {name}'s place for focused work these days?"),
        past=("Where did {name} do {my} focused work {when}?", "What was {name}'s place for focused work {when}?"),
        values=values(
            "the public library|public library; the garden shed|garden shed; a rented studio|rented studio; "
            "the attic|attic; the kitchen nook|kitchen nook; a co-working loft|co-working loft; the winter "
            "garden|winter garden; the museum tearoom|museum tearoom|tearoom; the caravan|caravan; a "
            "monastery cell|monastery cell; the laundry room|laundry room"
        ),
        hints=(
            "I got the whole report done before noon in {v}, my head is so much clearer there.",
            "I've carried the good lamp and the big monitor over to {v}, that's where I think best.",
            "Nobody rings in {v}, so my concentration lasted all morning.",
        ),
        openers=(
            "I can't concentrate for longer than half an hour. What helps?",
            "How do I plan a day with two big pieces of writing in it?",
            "Is there anything to those focus timers?",
        ),
        tips=(
            "One hard task before lunch is a good day already.",
            "Put the phone in another room, even if it hurts.",
        ),
    ),
    Topic(
        id="tasks",
        family=_FAMILY,
        label="system for tasks",
        do="track {my} tasks with {v}",
        now=("What does {name} track {my} tasks with now?", "What is {name}'s system for tasks these days?"),
        past=("What did {name} track {my} tasks with {when}?", "What was {name}'s system for tasks {when}?"),
        values=values(
            "index cards; Todoist; a bullet journal|bullet journal; Trello; TickTick; Taskwarrior; OmniFocus; "
            "a wall planner|wall planner; Superlist; Habitica; sticky notes"
        ),
        hints=(
            "I finished everything that {v} had for me today, all my tasks, that has never happened before.",
            "I went through {v} with a cup in my hand this morning, and my week fell into place.",
            "If it isn't in {v}, I won't do it, I told my team so this morning.",
        ),
        openers=(
            "My to-do list never gets shorter. What am I doing wrong?",
            "How do I say no to small favours at work?",
            "Could you help me sort a messy week?",
        ),
        tips=(
            "Three things a day is a good ceiling.",
            "Whatever takes two minutes, do it at once.",
        ),
    ),
)

GROUP = TopicGroup(
    root=Topic(
        id="office",
        family=_FAMILY,
        label="office",
        do="work at {v}",
        now=("Which office does {name} work at now?",),
        past=("Which office did {name} work at {when}?",),
        values=values(
            "the Riverside office|Riverside; the Docklands office|Docklands; the Hilltop campus|Hilltop; the "
            "Foundry building|Foundry; the Orchard Park office|Orchard Park; the Old Brewery site|Old "
            "Brewery; the Cathedral Square office|Cathedral Square; the Lakeside campus|Lakeside; the Viaduct "
            "Tower office|Viaduct Tower; the Granary site|Granary"
        ),
        hints=(
            "My badge for {v} works at last, I no longer have to knock to get to my desk.",
            "The lift at {v} is slow enough that I've met my whole new floor in it.",
            "I hung my calendar over my desk at {v}, so I've properly arrived.",
        ),
        openers=("How do I introduce myself to a floor full of strangers?", "Open-plan offices wear me out."),
        tips=("Learn three names a day and you're done in a fortnight.", "Headphones are a fine door sign."),
    ),
    dependents=(
        Topic(
            id="parking",
            family=_FAMILY,
            label="parking spot",
            do="park at {v}",
            now=("Where does {name} park on workdays?", "What is {name}'s parking spot?"),
            past=("Where did {name} park on workdays {when}?",),
            values=values(
                "the Elm Street garage|Elm Street; Lot Seven; the Odeon car park|Odeon; the Swan Lane "
                "deck|Swan Lane; Quayview Parking|Quayview; the Guildhall garage|Guildhall"
            ),
            openers=("Parking in this town is a sport.", "Is a monthly parking ticket worth it?"),
            tips=("Monthly tickets pay off from about twelve days.", "Reverse in, you'll be glad at six."),
            because=(
                "It's right beside {base}, so I {do}.",
                "I {do}, because from there it's two minutes on foot to {base}.",
            ),
        ),
        Topic(
            id="coffee-stop",
            family=_FAMILY,
            label="coffee stop",
            do="pick up {my} coffee at {v}",
            now=("Where does {name} pick up {my} coffee?", "What is {name}'s coffee stop?"),
            past=("Where did {name} pick up {my} coffee {when}?",),
            values=values(
                "Bean Brothers; Cafe Rosalind|Rosalind; the Grindstone|Grindstone; Kiosk Nine; Moka Point; "
                "the Daily Drip|Daily Drip"
            ),
            openers=("How do I cut down on takeaway cups?", "I spend too much on small pleasures."),
            tips=("A cup of your own usually gets you a discount.", "A loyalty card adds up quicker than you think."),
            because=(
                "Since my way leads straight from {base} past their counter, I {do}.",
                "I {do}, as it's right beside {base}.",
            ),
        ),
        Topic(
            id="morning-chat",
            family=_FAMILY,
            label="company before work",
            do="meet {v} for a chat before work",
            now=("Who does {name} meet for a chat before work?", "Who is {name}'s company before work?"),
            past=("Who did {name} meet for a chat before work {when}?",),
            values=values("Gustavo; Henrike; Solveig; Bartek; Philomena; Takumi"),
            openers=("Small talk used to terrify me.", "I need something cheerful before the day starts."),
            tips=("Ten minutes with a friend beat an hour of news.", "Let them tell the story first."),
            because=(
                "We're both regulars at {base}, so I {do}.",
                "I {do}, since we always end up in the same queue at {base}.",
            ),
        ),
    ),
)
