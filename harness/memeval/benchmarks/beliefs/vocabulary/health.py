"""Keeping well."""

from __future__ import annotations

from memeval.benchmarks.beliefs.vocabulary.topic import Topic, TopicGroup, values

_FAMILY = "health"

TOPICS = (
    Topic(
        id="exercise",
        family=_FAMILY,
        label="way of keeping fit",
        do="keep fit with {v}",
        now=("What does {name} keep fit with these days?", "What is {name}'s way of keeping fit now?"),
        past=("What did {name} keep fit with {when}?", "What was {name}'s way of keeping fit {when}?"),
        values=values(
            "bouldering; rowing; Pilates; trail running; table tennis; lap swimming; kettlebells; fencing; "
            "tai chi; badminton; Nordic walking; capoeira"
        ),
        hints=(
            "My legs still shake from {v} last night, but that's how I want to get fit.",
            "I've booked a standing slot for {v} on Tuesdays, my body will get used to it.",
            "Between us, {v} is the first exercise that I look forward to.",
        ),
        openers=(
            "My knees click on the stairs. Is that bad?",
            "How do I fit some movement into a full week?",
            "What should I eat an hour before I exercise?",
        ),
        tips=(
            "A rest day is part of the plan, not a break from it.",
            "Start slower than you think you should.",
        ),
    ),
    Topic(
        id="wind-down",
        family=_FAMILY,
        label="way to wind down",
        do="wind down with {v} at night",
        now=("What does {name} wind down with at night now?", "What is {name}'s way to wind down these days?"),
        past=("What did {name} wind down with at night {when}?", "What was {name}'s way to wind down {when}?"),
        values=values(
            "audiobooks|audiobooks|audiobook; a jigsaw|jigsaw; breathing exercises; a foot bath|foot bath; "
            "crosswords; whale sounds; a sudoku|sudoku; gentle stretching; a weighted blanket|weighted "
            "blanket; a crime novel|crime novel; knitting"
        ),
        hints=(
            "Ten minutes of {v} last night, and I was asleep before the church clock struck eleven.",
            "My evenings have become very quiet, just me, a lamp and {v} until my eyes close.",
            "I lay there last night with {v} and forgot to worry about the morning.",
        ),
        openers=(
            "My head won't stop at night. What could I try?",
            "How late is too late for a screen?",
            "Does a regular bedtime really matter?",
        ),
        tips=(
            "The same half hour every night is what counts.",
            "Dim the lights an hour before bed.",
        ),
    ),
    Topic(
        id="dentist",
        family=_FAMILY,
        label="dentist",
        do="see {v} about {my} teeth",
        now=("Who does {name} see about {my} teeth these days?", "Who is {name}'s dentist now?"),
        past=("Who did {name} see about {my} teeth {when}?", "Who was {name}'s dentist {when}?"),
        values=values(
            "Dr Ferrante|Ferrante; Dr Nakata|Nakata; Dr Bielski|Bielski; Dr Thorne|Thorne; Dr "
            "Castellan|Castellan; the Ivory Lane practice|Ivory Lane; Dr Mwangi|Mwangi; Dr Haas|Haas; Dr "
            "Sjoberg|Sjoberg; Dr Delgado|Delgado; Dr Whitlock|Whitlock"
        ),
        hints=(
            "My filling is done, {v} hummed a waltz the whole time and I felt nothing.",
            "I lay in the chair at {v} and counted the ceiling tiles, my teeth have seen worse days.",
            "The reminder card from {v} is on my mirror, my molars and I are ready.",
        ),
        openers=(
            "How do I get over my fear of the drill?",
            "Is an electric toothbrush worth the money?",
            "My gums are sore. What can I do until the morning?",
        ),
        tips=(
            "Ask for a pause signal before they begin.",
            "Two minutes, twice a day, and floss when you can.",
        ),
    ),
)

GROUP = TopicGroup(
    root=Topic(
        id="race",
        family=_FAMILY,
        label="race goal",
        do="train for {v}",
        now=("Which race does {name} train for now?",),
        past=("Which race did {name} train for {when}?",),
        values=values(
            "a half marathon|half marathon; a triathlon|triathlon; an open-water swim|open-water swim; a "
            "mountain ultra|mountain ultra; a duathlon|duathlon; a cyclo-cross race|cyclo-cross; an obstacle "
            "race|obstacle race; a night relay|night relay; a charity 10K|10K; a ski marathon|ski marathon"
        ),
        hints=(
            "My start number for {v} came in the post, I've pinned it over my desk.",
            "I told my mother about {v}, she asked whether I'd lost a bet.",
            "I've paid the entry fee for {v}, so there's no way back for me.",
        ),
        openers=("How do I train without ruining my evenings?", "I've got a blister the size of a coin."),
        tips=("Increase by a tenth a week, no more.", "Sleep is the cheapest training there is."),
    ),
    dependents=(
        Topic(
            id="training-plan",
            family=_FAMILY,
            label="training plan",
            do="follow {v}",
            now=("Which training plan does {name} follow?", "What is {name}'s training plan?"),
            past=("Which training plan did {name} follow {when}?",),
            values=values(
                "the Brannigan plan|Brannigan; the Bergen method|Bergen method; the Sato schedule|Sato; the "
                "Pyramid plan|Pyramid plan; the Lindgren programme|Lindgren; the Two Peaks plan|Two Peaks"
            ),
            openers=("I like to know on Sunday what Friday will hurt like.", "How strict should a plan be?"),
            tips=("Miss a day and move on, never double up.", "Tick it off on paper, it feels better."),
            because=(
                "It was written with {base} in mind, so I {do}.",
                "I {do}, because it's made for people preparing for {base}.",
            ),
        ),
        Topic(
            id="physio",
            family=_FAMILY,
            label="physio",
            do="see {v} every two weeks",
            now=("Which physio does {name} see every two weeks?", "Who is {name}'s physio?"),
            past=("Which physio did {name} see every two weeks {when}?",),
            values=values(
                "a physio called Anneke|Anneke; a physio called Ruben|Ruben; a physio called Sunniva|Sunniva; "
                "a physio called Kwame|Kwame; a physio called Fiorella|Fiorella; a physio called "
                "Lorcan|Lorcan"
            ),
            openers=("My calves feel like wood.", "When is pain a reason to stop?"),
            tips=("Say where it hurts on a scale, it helps them.", "Warm muscles forgive more."),
            because=(
                "{base} asks for regular check-ups, so I {do}.",
                "I {do}, because somebody has to keep me in one piece through {base}.",
            ),
        ),
        Topic(
            id="home-gear",
            family=_FAMILY,
            label="exercise gear at home",
            do="use {v} at home",
            now=("Which exercise gear does {name} use at home?", "What is {name}'s exercise gear at home?"),
            past=("Which exercise gear did {name} use at home {when}?",),
            values=values(
                "a balance board|balance board; a foam roller|foam roller; resistance bands; a massage "
                "gun|massage gun; ankle weights; a wobble cushion|wobble cushion"
            ),
            openers=("My living room looks like a sports shop.", "What can be done in five minutes a day?"),
            tips=("Leave it where you trip over it, then you'll use it.", "Five minutes count."),
            because=(
                "It was on the list of exercises I got from {base}, so I {do}.",
                "I {do}, on the advice of {base}.",
            ),
        ),
    ),
)
