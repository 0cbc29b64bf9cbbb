"""Talk in which no fact of the benchmark is stated: errands, questions of general knowledge, bits of writing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Theme:
    """A short exchange with slots ``{a}`` and ``{b}``; ``{the_a}``, ``{the_b}``: the same, mentioned before."""

    a: tuple[str, ...]
    b: tuple[str, ...]
    ask: tuple[str, ...]
    """What the user asks for."""
    reply: tuple[str, ...]
    """What the assistant answers."""
    more: tuple[str, ...]
    """What the user adds."""
    end: tuple[str, ...]
    """What the assistant says to that, one for each of ``more``."""


def theme(a: str, b: str, ask: str, reply: str, more: str, end: str) -> Theme:
    """Read a theme whose choices are written with ``|`` between them."""
    return Theme(*(tuple(field.split(" | ")) for field in (a, b, ask, reply, more, end)))


THEMES = (
    theme(
        a="my landlady | the insurance | a former teacher | the town council | the window cleaner | my bank",
        b="a late reply | a broken gate | a missing receipt | the noise next door | a wrong invoice | an apology",
        ask="Could you draft a short letter to {a} about {b}? | I owe {a} a letter about {b}. Where do I begin?",
        reply=(
            "Begin with thanks, name {the_b} in one sentence, and end with a date for {the_a}. | Three sentences "
            "to {the_a} are enough: what happened, what you want, and by when."
        ),
        more="Make it friendly, {the_a} can be touchy. | It should sound firm when it comes to {the_b}.",
        end=(
            "Then I'd keep the word 'please' in the first line. | I'd leave out every adverb and sign with both names."
        ),
    ),
    theme(
        a="fog | a rainbow | thunder | a tide | hail | an echo | frost on a window | a mirage",
        b="a six-year-old | a very sceptical friend | my nephew's class | someone in a hurry | a school quiz",
        ask="How would you explain {a} to {b}? | I have to explain {a} to {b} tomorrow. Any idea?",
        reply=(
            "For {the_b} I'd start from something seen in a kitchen and build {a} from there. | Draw it first. "
            "With {the_b}, a sketch of {a} does more than a page of words."
        ),
        more="Is there an experiment for {a} that doesn't make a mess? | And if {the_b} asks why, and why again?",
        end=(
            "A glass, a torch and a dark corner will get you far. | Then say that you don't know either, and look "
            "it up together."
        ),
    ),
    theme(
        a="a black-and-white film | a documentary | a courtroom drama | a slow comedy | a silent film | a heist film",
        b="for a rainy night | for six people | with no violence in it | under ninety minutes | from the seventies",
        ask="Can you recommend {a} {b}? | We want to see {a} {b} and can't agree on anything.",
        reply=(
            "I'd go by the director and not by the stars. | Let everyone veto one title, then {a} is quickly found."
        ),
        more="Someone always falls asleep during {a}. | Nothing too sad, please, we had that last time.",
        end=(
            "Then start earlier and keep the lights half on. | Read only the first line of the description, "
            "that's safer."
        ),
    ),
    theme(
        a=(
            "a stain on a wool coat | a squeaking door | a wobbly chair | a dripping tap | a scratched table | a "
            "stuck zip"
        ),
        b="vinegar | candle wax | a drop of oil | baking soda | a damp cloth | toothpaste",
        ask="What helps with {a}? Somebody told me to use {b}. | I've got {a} here. Is {b} any good?",
        reply=(
            "Try {b} on a hidden spot first, {the_a} can get worse. | {b} often works, as long as you "
            "leave {the_a} alone overnight."
        ),
        more="And if {the_b} does nothing at all? | I've tried {the_b} once, it was a disaster.",
        end="Then it's a case for a professional, I'm afraid. | A second round rarely hurts, a third one does.",
    ),
    theme(
        a=(
            "a colleague's farewell | a silver wedding | a housewarming | a fortieth birthday | a christening | a "
            "retirement"
        ),
        b="two minutes | four lines | one good joke | a single anecdote | no more than a postcard",
        ask="I have to say something at {a}, {b} at most. | Help me with a few words for {a}. I've only got {b}.",
        reply=(
            "With {b}, pick one scene that everyone at {the_a} remembers. | At {a} people want to smile, so {b} "
            "will do."
        ),
        more="I tend to ramble as soon as I'm at {a}. | There'll be people who don't know each other at {the_a}.",
        end="Write the last sentence first and learn it by heart. | Then explain names in half a sentence each.",
    ),
    theme(
        a="serendipity | zeitgeist | hubris | ennui | schadenfreude | pathos | bathos | nemesis",
        b="a crossword friend | a job ad | the news | a radio play | a letter from school | an old diary",
        ask=(
            "I stumbled over the word for {a} in {b}. What does it mean exactly? | What's the story behind {a}? I "
            "saw it in {b}."
        ),
        reply=(
            "Roughly, {the_a} is used when the plain word would be too plain. | In {the_b}, {the_a} is most "
            "likely meant with a wink."
        ),
        more="Could I use {the_a} in conversation without sounding vain? | Is there a simpler way to put {the_a}?",
        end="Once a month is fine. | Yes, and most readers will thank you for it.",
    ),
    theme(
        a=(
            "the old lighthouse | a stone bridge | the covered market hall | a ruined abbey | the observatory | a "
            "water tower"
        ),
        b="from the north side | at dusk | with a crowd in front | in drizzle | against the sun | from far below",
        ask="How do I photograph {a} {b}? | My pictures of {a} {b} always come out flat. Why?",
        reply=(
            "Put something close by into the frame, then {the_a} gets its size back. | That's a hard one. Expose "
            "for the sky and lift the rest later."
        ),
        more="I only have my phone with me when I pass {the_a}. | And if there's scaffolding on {the_a}?",
        end="That's enough, as long as the lens is clean. | Then make the scaffolding the picture.",
    ),
    theme(
        a=(
            "the school raffle | a street party | the choir's bake sale | a charity walk | the flea market | a "
            "book swap"
        ),
        b="thirty people | a tiny budget | bad weather | three volunteers | no electricity | a late start",
        ask=(
            "I somehow ended up organising {a} with {b}. What comes first? | What do I forget when I plan {a} with {b}?"
        ),
        reply=(
            "First a list of who does what, then signs. With {the_b}, everything else can wait. | For {the_a}, "
            "people forget change, bins and a plan for {the_b}."
        ),
        more="Nobody ever signs up to tidy after {the_a}. | I'd like to enjoy {the_a} as well, not just run it.",
        end="Ask each person by name, lists on walls stay empty. | Then hand over the last hour to someone else.",
    ),
    theme(
        a=(
            "17 percent of 240 | the area of a round rug | a tip for nine people | miles into kilometres | a "
            "ratio of three to five | leap years"
        ),
        b="in my head | on the back of an envelope | without a calculator | in under a minute | with pen and paper",
        ask="What's a neat way to work out {a} {b}? | I can never do {a} {b}. Is there a trick?",
        reply=(
            "Break it into tenths first, the rest is small change. | Round it, do it, and correct at the end. "
            "That's all there is to it."
        ),
        more="I was never good at sums, least of all {the_a}. | And how wrong will I be with {the_a}?",
        end="Nobody is, it only takes a little practice. | By less than anyone at the table will notice.",
    ),
    theme(
        a="a blackbird | a hedgehog | a family of magpies | an escaped tortoise | a fox | a swarm of bees",
        b="in the courtyard | behind the bins | under the hedge | on the window sill | by the bus shelter",
        ask="There's {a} {b}. Should I do anything? | I found {a} {b} this morning. Who do I call?",
        reply=(
            "Usually the best thing for {the_a} is to be left in peace. | Keep a few metres away from {the_a} and "
            "watch for an hour."
        ),
        more="The children have already given {the_a} a name. | It was still {the_b} when I looked again.",
        end="Then at least give it a dish of water. | In that case, ring the animal rescue and let them decide.",
    ),
    theme(
        a=(
            "the bronze age | the silk road | the first printing presses | the spice trade | medieval guilds | "
            "the telegraph"
        ),
        b="a podcast | a museum label | a pub quiz | an argument at dinner | a stamp | a street name",
        ask=(
            "I know nothing about {a} and {b} made me curious. Where do I start? | Because of {b}: what's the "
            "short version of {a}?"
        ),
        reply=(
            "In short, {the_a} moved people, goods and ideas further than anyone had planned. | Start with a map. "
            "Most of what matters about {the_a} is on it."
        ),
        more=(
            "Who were the losers in the story of {the_a}? | What's the thing that everyone gets wrong about {the_a}?"
        ),
        end="As so often, those who kept no records. | That it happened quickly. It took generations.",
    ),
    theme(
        a="a poem | a limerick | a toast | a rhyme | a riddle | a nickname",
        b="a lost glove | our lazy cat | the last snow | a noisy fridge | the corner shop | a slow lift",
        ask="Could you write {a} about {b}? | I'd like {a} on {b}, for a card.",
        reply=(
            "Here's a start: nobody loved {the_b} until it was gone, and then came the song. | Let {the_a} begin "
            "with the sound that {the_b} makes."
        ),
        more="Could {the_a} be a bit shorter? | Less sweet, please, it's only {the_b}.",
        end="Then I'd keep the first line and stop there. | Very well: I'd end on a shrug.",
    ),
    theme(
        a="the wardrobe | the medicine cupboard | the garage | the photo boxes | the junk drawer | the spice rack",
        b="an hour | one evening | a rainy weekend | twenty minutes | half a day",
        ask="I want to sort out {a} in {b}. How do I go about it? | Is {b} enough to clear out {a}?",
        reply=(
            "Empty {the_a} first. What goes back in has to earn it. | In {the_b} you can do {the_a} if you don't "
            "start reading old letters."
        ),
        more="I get sentimental as soon as I open {the_a}. | And what do I do with the rest of {the_a}?",
        end="Keep one box for that, and close it. | Give it a month in a bag. If you don't miss it, it goes.",
    ),
    theme(
        a="a pirate | a detective | a jungle | a jazz age | an astronaut | a circus",
        b="birthday | evening | party | picnic | parade",
        ask=(
            "We're having {a} {b} and I'm in charge of the decoration. | Do you have ideas for {a} {b} that cost "
            "nearly nothing?"
        ),
        reply=(
            "Choose two colours, then even paper looks like a plan for {the_a} {the_b}. | One big thing in the "
            "middle does more for {the_a} {the_b} than fifty small ones."
        ),
        more="I've got string, paper and very little time. | The ceiling is high, so it must be something large.",
        end="String and paper are plenty. | Hang it in threes, that fills a room.",
    ),
    theme(
        a="a chess opening | a card trick | juggling | whistling with two fingers | a yo-yo trick | a coin trick",
        b="in a week | before the holidays | without a teacher | from scratch | to impress my niece",
        ask="Can one learn {a} {b}? | I've decided to learn {a} {b}. What's the first step?",
        reply="With {a}, five minutes a day will do. | Start slowly, and {the_a} will come by itself.",
        more="I've failed at {the_a} before. | What's the usual mistake with {the_a}?",
        end="So has everyone who can do it now. | To speed up too early.",
    ),
    theme(
        a="a parcel | my keys | a library card | a wallet | an umbrella | a passport photo",
        b="on the bus | at the swimming pool | in the lobby | somewhere in the snow | at the cinema",
        ask="I lost {a} {b}. What would you do? | Do people hand things in? I left {a} {b}.",
        reply=(
            "Ring them before noon, {the_a} is usually in a box by then. | Go back the same way. Half of what is "
            "lost {b} turns up on the second look."
        ),
        more="It's not worth much, but I liked {the_a}. | I even know where it was, {the_b}.",
        end="Then put up a note, it costs nothing. | Good, that's half the work done.",
    ),
    theme(
        a="Saturn | the Milky Way | a comet | the space station | a lunar eclipse | shooting stars",
        b=(
            "with the naked eye | from the middle of town | in a cloudy week | with my old binoculars | before midnight"
        ),
        ask="Can I see {a} {b}? | I'd like to show a friend {a} {b}. Is it possible?",
        reply=(
            "That is possible if you give your eyes twenty minutes of dark. | Look for a spot without lamps. "
            "For {a}, that's nine tenths of it."
        ),
        more="There's a street lamp right in front of me. | I never know which way is south.",
        end="A hood or a wall in the right place helps. | Where the sun stands at noon. Remember a chimney.",
    ),
    theme(
        a="a gym | a phone | an internet | a storage unit | a cleaning | a parcel box",
        b="before it renews | by the end of the month | without a fee | after a price rise | for a relative",
        ask="How do I cancel {a} contract {b}? | Is it hard to get out of {a} contract {b}?",
        reply=(
            "Look for the notice period first, then write and ask for a confirmation. | For {a} contract, a dated "
            "note is usually enough."
        ),
        more="They never answer the phone. | I can't find the paper any more.",
        end="Then use registered post, that gets read. | They have to send you a copy if you ask.",
    ),
    theme(
        a="a chess club | a repair shop | a reading group | a brass band | a cycling group | a bird hide",
        b="a poster | a logo | a name | a motto | a newsletter",
        ask="Some friends are starting {a} and need {b}. | Could you help with {b} for {a}?",
        reply=(
            "For {a}, I'd choose something that can be read from across the street. | Say what it is, and where. "
            "With {a}, wit comes second."
        ),
        more="They can't agree on anything, least of all {the_b}. | It shouldn't look like everybody else's.",
        end="Let the loudest one choose the colour and nothing else. | Then begin with what the others leave out.",
    ),
    theme(
        a="a thank-you present | a small gift | something for the door | a souvenir | a surprise",
        b="a nurse | a piano tuner | a bus driver | a very tidy person | a child who has everything | the caretaker",
        ask="I need {a} for {b}, under ten euros. | What would please {b}? I'm looking for {a}.",
        reply="Something that gets used up is best for {b}. | A note by hand turns anything into {a}.",
        more="No sweets, please, those come from everyone. | I've only got until tomorrow, though.",
        end="Then a small plant with a label. | A voucher for your own help is quickly written.",
    ),
    theme(
        a=(
            "a slow laptop | a full inbox | a printer that blinks | a dead remote control | weak wireless in one corner"
        ),
        b="since the storm | for no reason | since last week | after the update | whenever it's warm",
        ask="I've had {a} {b}. What can I check? | {a}, and that {b}. Where do I even look?",
        reply=(
            "Switch everything off, count to thirty, then look at it again. | With {the_a}, the cable is to "
            "blame more often than one thinks."
        ),
        more="I did that twice, and it's still the same. | My patience with {the_a} is gone.",
        end=(
            "Then write down the exact message before you try anything else. | Leave it until tomorrow, it "
            "sometimes heals itself."
        ),
    ),
    theme(
        a=(
            "the municipal election | a new cycle path | the closed swimming pool | a felled lime tree | the late "
            "buses | a planned hotel"
        ),
        b="my neighbours | the people at the bakery | my in-laws | the tenants upstairs | two friends of mine",
        ask="{b} argue about {a} all day. How do I stay out of it? | What's a fair question to ask about {a}?",
        reply=(
            "Ask who pays and who gains, then {the_a} becomes clearer. | Tell them you're still reading up on "
            "{the_a}. It's even true."
        ),
        more="They want me to sign something about {the_a}. | I do have an opinion on {the_a}, that's the trouble.",
        end="Read it twice, and sleep once. | Then say it once, kindly, and pass the bread.",
    ),
    theme(
        a="a snow globe | a music box | a cuckoo clock | a typewriter | a globe with a lamp inside | a barometer",
        b="from a cousin | at a jumble sale | in a skip | in a friend's loft | by post",
        ask="I came by {a} {b}. Is it worth repairing? | Who repairs {a} nowadays? I got one {b}.",
        reply=(
            "Open it, take a picture, and ask at a repair café. | The value of {the_a} is mostly in the story, so yes."
        ),
        more="Something inside rattles. | It must have been lovely once.",
        end="That's often only a screw. | Then give it a good place until you've decided.",
    ),
    theme(
        a="a sourdough starter | a bonsai | a fish tank | an ant farm | a diary | a scrapbook",
        b="two weeks away | a cold winter | a house move | my own laziness | a curious cat",
        ask="How does {a} survive {b}? | Will {a} get through {b}, do you think?",
        reply=(
            "{a} copes with {b} better than most people expect. | Ask someone to look in on {the_a} every few days."
        ),
        more="The last one didn't make it. | I'd feel guilty if {the_a} went wrong.",
        end="Then you know what not to do this time. | Guilt is a poor gardener. A list is better.",
    ),
    theme(
        a=(
            "the new tenants | our old postman | the substitute teacher | a very shy cousin | the couple from the "
            "campsite"
        ),
        b="a quiet afternoon | a first visit | ten awkward minutes | an hour on a terrace | a walk to the station",
        ask=(
            "How do I keep a conversation going with {a} during {b}? | I'll be alone with {a} for {b}. What do we "
            "talk about?"
        ),
        reply=(
            "Ask {the_a} about the last thing that made them laugh. | For {b}, one good question about where they "
            "grew up is plenty."
        ),
        more="I always run out of questions first. | And if nobody says a word?",
        end=(
            "Then repeat the last thing you heard, with a question mark. | Silence is fine, look at the view together."
        ),
    ),
    theme(
        a="a crooked shelf | a loose tile | a creaking floorboard | a jammed shutter | a faded front door",
        b="a hammer | a borrowed drill | two left hands | no ladder | a free Saturday morning",
        ask="Can I fix {a} with {b}? | I've got {a} and {b}. How far does that get me?",
        reply=(
            "Look at {the_a} from below first, that's where the reason hides. | With {b} you can at least stop it "
            "from getting worse."
        ),
        more="I'm afraid of making it worse. | The last person who tried gave up halfway.",
        end=(
            "Then take a picture of every step, so you can go back. | Begin where they stopped, and leave it at "
            "one hour."
        ),
    ),
    theme(
        a=(
            "a brass quartet | a steel band | a puppet theatre | a travelling circus | a barbershop choir | an "
            "open-air reading"
        ),
        b="in the park | by the river | on the square | in the school yard | outside the town hall",
        ask=(
            "There was {a} {b} yesterday, and I want to know more about how that works. | Why does {a} {b} sound "
            "so different from one indoors?"
        ),
        reply=(
            "Outdoors, everything that comes back from walls is missing. {the_a} has to carry by itself. | Most "
            "of them rehearse for weeks, and then pray for dry weather."
        ),
        more="There were hardly thirty people, but what a mood. | Do they live on what's in the hat?",
        end="Small crowds listen better. | Some do, in the summer. In the winter they teach.",
    ),
    theme(
        a="volcanoes | tree rings | fireflies | glaciers | sea shells | magnets",
        b="a school project | a bedtime story | a long car ride | a bet | an exhibition",
        ask=(
            "Give me three odd facts about {a}, they're for {b}. | What should one know about {a}? I need it for {b}."
        ),
        reply=(
            "First: {a} are older in human stories than in any textbook. The second and third come better with "
            "pictures. | For {the_b} I'd take one number, one name and one mystery."
        ),
        more="The number should be easy to remember. | Is there a mystery about {a} that is still open?",
        end="Then take one you can count on your fingers. | More than one, and people have built careers on them.",
    ),
)
"""Errands and curiosities."""
