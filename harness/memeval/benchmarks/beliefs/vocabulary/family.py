"""Children, pets and evenings at home."""

from __future__ import annotations

from memeval.benchmarks.beliefs.vocabulary.topic import Topic, TopicGroup, values

_FAMILY = "family"

TOPICS = (
    Topic(
        id="childcare",
        family=_FAMILY,
        label="childcare",
        do="leave {my} twins with {v} in the afternoons",
        now=(
            "Who does {name} leave {my} twins with in the afternoons now?",
            "Who looks after {name}'s twins these days?",
        ),
        past=(
            "Who did {name} leave {my} twins with in the afternoons {when}?",
            "Who looked after {name}'s twins {when}?",
        ),
        values=values(
            "Mrs Albrecht|Albrecht; a neighbour called Odile|Odile; the Sparrow daycare|Sparrow "
            "daycare|Sparrow; a student called Ravi|Ravi; Grandpa Anselm|Anselm; the Lighthouse "
            "playgroup|Lighthouse playgroup; a sitter called Kimiko|Kimiko; Aunt Benedikta|Benedikta; the "
            "Dandelion nursery|Dandelion; Mr Featherstone|Featherstone; an au pair called Lidia|Lidia"
        ),
        hints=(
            "When I picked the twins up from {v} today they didn't want to come home, which says it all.",
            "I owe {v} a box of chocolates, the twins were so calm when I got them this evening.",
            "The twins talk of nothing but {v} and the paper boats they folded there this afternoon.",
        ),
        openers=(
            "How do you split an afternoon between two four-year-olds?",
            "What can I pack as a snack that doesn't end up on the walls?",
            "Any idea for a rainy afternoon with small children?",
        ),
        tips=(
            "A goodbye ritual makes the handover easier for everyone.",
            "Label everything, including the left sock.",
        ),
    ),
    Topic(
        id="family-game",
        family=_FAMILY,
        label="family game",
        do="play {v} with {my} family on Sundays",
        now=(
            "What does {name} play with {my} family on Sundays now?",
            "Which family game is {name} playing these days?",
        ),
        past=(
            "What did {name} play with {my} family on Sundays {when}?",
            "Which family game was {name} playing {when}?",
        ),
        values=values(
            "Carcassonne; Rummikub; dominoes; Uno; Ludo; Mancala; Labyrinth; Dobble; Qwirkle; Scrabble; Jenga"
        ),
        hints=(
            "My youngest beat all of us at {v} on Sunday and did a lap of honour.",
            "We're missing a piece from the {v} box since Sunday, the dog looks guilty.",
            "Sunday's {v} went on until ten, and nobody in the house would admit to being tired.",
        ),
        openers=(
            "How do I get teenagers to sit at one table?",
            "What makes a family evening go well?",
            "My in-laws are coming on Sunday. How do I keep everyone amused?",
        ),
        tips=(
            "Let the youngest pick the teams, it saves an argument.",
            "Something to nibble keeps tempers even.",
        ),
    ),
    Topic(
        id="vet",
        family=_FAMILY,
        label="vet",
        do="take {my} dog to {v}",
        now=("Which vet does {name} take {my} dog to now?", "Who is the vet of {name}'s dog these days?"),
        past=("Which vet did {name} take {my} dog to {when}?", "Who was the vet of {name}'s dog {when}?"),
        values=values(
            "Dr Hollis|Hollis; Dr Varga|Varga; Dr Quist|Quist; Dr Amadi|Amadi; Dr Pereira|Pereira; Dr "
            "Lindqvist|Lindqvist; the Paw Clinic|Paw Clinic; Dr Szabo|Szabo; the Mill Pond surgery|Mill Pond; "
            "Dr Okafor|Okafor; Dr Renner|Renner"
        ),
        hints=(
            "The dog pulled towards the door of {v} this time, there must be better biscuits there.",
            "The reminder from {v} came, the dog is due for the yearly jab.",
            "I spent an hour with the dog in the waiting room of {v}, next to an offended parrot.",
        ),
        openers=(
            "My dog scratches a lot lately. What could it be?",
            "How often does an old dog need a check-up?",
            "Is it normal for a dog to hate the car?",
        ),
        tips=(
            "A treat in the car park does wonders.",
            "Write the questions down beforehand, one forgets half of them.",
        ),
    ),
)

GROUP = TopicGroup(
    root=Topic(
        id="activity",
        family=_FAMILY,
        label="daughter's activity",
        do="take {my} daughter to {v}",
        now=("Which activity does {name} take {my} daughter to now?",),
        past=("Which activity did {name} take {my} daughter to {when}?",),
        values=values(
            "judo; gymnastics; ice hockey; ballet; archery; water polo; figure skating; handball; karate; athletics"
        ),
        hints=(
            "My daughter came home from {v} with a grin from ear to ear.",
            "I've washed the new kit for {v} already, my daughter would sleep in it.",
            "My daughter got her first certificate in {v}, it hangs over her bed.",
        ),
        openers=("How do I support a shy child in a new group?", "My daughter grows out of everything at once."),
        tips=("Ask what was fun, not who won.", "Second-hand kit is fine for the first year."),
    ),
    dependents=(
        Topic(
            id="lift-share",
            family=_FAMILY,
            label="lift share",
            do="share the driving with {v}",
            now=("Who does {name} share the driving with?", "Which family is in {name}'s lift share?"),
            past=("Who did {name} share the driving with {when}?",),
            values=values(
                "the Hartmanns|Hartmanns|Hartmann; the Oyelarans|Oyelarans|Oyelaran; the Costellos|Costellos; "
                "the Nilssons|Nilssons|Nilsson; the Baptistes|Baptistes; the Duvals|Duvals"
            ),
            openers=("I spend half my life in the car.", "How do I ask other parents for help?"),
            tips=("A shared calendar avoids most mix-ups.", "Take turns by the week, not by the day."),
            because=(
                "Their girl does {base} as well, so I {do}.",
                "I {do}, because {base} is at the far end of town and they go there anyway.",
            ),
        ),
        Topic(
            id="shared-dinner",
            family=_FAMILY,
            label="dish for the shared dinner",
            do="cook {v} for the dinner after training",
            now=(
                "What does {name} cook for the dinner after training?",
                "What is {name}'s dish for the shared dinner?",
            ),
            past=("What did {name} cook for the dinner after training {when}?",),
            values=values("lasagne; paella; ramen; pierogi; goulash; moussaka"),
            openers=("I need a dish that feeds eight and waits for nobody.", "What can be cooked a day ahead?"),
            tips=("Make double and freeze half.", "A salad on the side makes any dish look planned."),
            because=(
                "{base} eat with us afterwards and it's what they ask for, so I {do}.",
                "I {do}, because {base} come along and love it.",
            ),
        ),
        Topic(
            id="ingredients",
            family=_FAMILY,
            label="shop for the ingredients",
            do="get {my} ingredients at {v}",
            now=("Where does {name} get {my} ingredients?", "Which shop does {name} go to for {my} ingredients?"),
            past=("Where did {name} get {my} ingredients {when}?",),
            values=values(
                "Zeytin Bazaar; Mercado Lima; the Corner Larder|Corner Larder; Polonia Foods; Halim and "
                "Sons|Halim; Nonna Pantry"
            ),
            openers=("Where do people find decent spices?", "My shopping takes longer than the cooking."),
            tips=("Ask the owner what came in today.", "A fixed list cuts the trip in half."),
            because=(
                "They stock everything that {base} calls for, so I {do}.",
                "I {do}, because nobody else has what goes into {base}.",
            ),
        ),
    ),
)
