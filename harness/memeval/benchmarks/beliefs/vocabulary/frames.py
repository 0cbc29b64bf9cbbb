"""Ways of saying that something holds, has changed, was taken back, or might change one day.

Slots: ``{do}``, ``{doing}`` (the state in first person), ``{v}`` (its value), ``{old}``, ``{cur}`` (other values),
``{do_cur}``, ``{label}``, ``{you_do}``, ``{youing}`` (in second person), ``{first}`` (who is addressed), ``{rel}``,
``{she}``, ``{does}``, ``{rel_doing}`` (somebody else's state).
"""

from __future__ import annotations

FIRST = (
    "For context, I {do}.",
    "One thing you should know about me: I {do}.",
    "By the way, I {do}, and it has been fine so far.",
    "These days I {do}.",
    "In case it matters for your answers, I {do}.",
    "I {do}, that's simply how things are with me at the moment.",
    "To give you the picture: I {do}.",
    "Just so that you have it, I {do}.",
    "At the moment I {do}, and I've no complaints.",
    "I should mention that I {do}.",
)
"""The first that is heard of a topic."""

UPDATE = (
    "Big change on my side: I {do} now.",
    "As of this week I {do}.",
    "Quick update before you get it wrong: I {do} now.",
    "I've made the switch, and from today I'm {doing}.",
    "Something is different since we last spoke. I {do} now.",
    "Please update what you know about me: I {do} now.",
    "I've turned a corner with my {label}, so now I {do}.",
    "It finally happened, I {do} now.",
    "About my {label}: from now on I {do}.",
    "You can cross out what I said about my {label}. I {do} now.",
    "It took me long enough, but since yesterday I {do}.",
)
"""A change, said straight out."""

UPDATE_NAMING_BOTH = (
    "I gave up on {old}, and now I {do}.",
    "So much for {old}. I {do} now.",
    "I'm done with {old}, it didn't work any more. These days I {do}.",
    "After a long time with {old}, I {do} now.",
    "It's goodbye to {old} for me. From this week on I {do}.",
)
"""A change that names what it replaces."""

PLAN = (
    "Decision made: starting next week I {do}.",
    "I've had enough of how it was. From the first of the month I {do}.",
    "It's settled, I'm changing my {label}: soon I {do}, and I've told everyone already.",
    "New chapter: from next week on I {do}.",
    "I signed off on it today. In a few days I {do}, as simple as that.",
    "I've announced it at home, so there's no way back: from next week I {do}.",
)
"""A change that will be taken back."""

TAKEN_BACK = (
    "Scrap what I said the other day about {v}. I'm staying with {cur}.",
    "Forget {v}, that isn't happening. I {do_cur}, same as before.",
    "Change of heart about {v}: I'm sticking with {cur} after all.",
    "You can strike {v} from your notes again, I never went through with it. It's still {cur} for me.",
    "I take back what I said about {v}. Nothing came of it, and I {do_cur} as ever.",
)
"""The taking back, with the value that stays."""

TAKEN_BACK_BARE = (
    "That new plan I told you about is off. Everything about my {label} stays the way it was.",
    "I got carried away last time. My {label} isn't changing after all, please forget I said so.",
    "Remember my grand announcement? It came to nothing, I slept on it and left my {label} alone.",
    "Never mind what I announced about my {label}, I've called it off and kept everything as it is.",
)
"""The taking back, with no value in it."""

MUSING = (
    "Part of me would love to {do} one day, but that's a daydream for now.",
    "A friend keeps saying I should {do}. Maybe in some other life.",
    "I sometimes picture myself {doing}. Nothing decided, nothing changed, I just like the thought.",
    "If I had all the time in the world, I might {do}. Idle talk, I know.",
    "I could see myself {doing} eventually, though certainly not this year.",
    "I read about someone who swears by {v}. Tempting, but I'm leaving things as they are.",
    "People ask whether I'd ever {do}. Perhaps when I'm retired.",
)
"""Talk of what might be, with nothing changed."""

STILL = (
    "Nothing has changed there, by the way, I still {do}.",
    "In case you were wondering, I still {do}.",
    "I was asked again today, and yes, I still {do}.",
    "I had another look at it, and I'll leave it: I still {do}.",
    "For the record, I still {do}.",
)
"""A state confirmed."""

STILL_ALL_THE_SAME = (
    "Even with all that has changed around me, I still {do}.",
    "I thought it over after the change, and I'm keeping this part: I still {do}.",
    "Funny enough, one thing survived all the changes: I still {do}.",
    "I checked, and it works out even so. I still {do}.",
    "You may think that's over now, but no, I still {do}.",
)
"""A dependent confirmed after its ground has gone."""

OTHERS = (
    "{rel} has begun to talk about {her} {label}: {she} {does}. Each to their own.",
    "I had {rel} on the phone for an hour. Apparently {she} {does} now.",
    "{rel} {does}, and won't stop telling me about it.",
    "Lunch with {rel} today. {she} {does}, which wouldn't be for me.",
    "People do it so differently. {rel}, for instance: {she} {does}.",
    "{rel} made a big change, {she} {does} now. I just listened.",
    "I promised to ask for {rel}, not for myself: {she} {does} and wants to know what to look out for.",
    "Over dinner {rel} told everyone that {she} {does} these days.",
)
"""What somebody else does."""

TAILS = (
    "It was about time.",
    "I should have done it months ago.",
    "I think it suits me, mostly.",
    "Not perfect, but good enough for me.",
    "We'll see what my friends say.",
    "I'm a bit nervous about it, to be honest.",
    "It costs me nothing extra, which helps.",
    "I slept better right away.",
    "My mother was surprised.",
    "I might be slow, but I get there.",
    "Nobody at home objected, for once.",
    "It feels right, as far as I can tell.",
)
"""What may follow a change; some of it hedges, none of it takes anything back."""

NOTED_NEW = (
    "Noted, {first}: you {you_do} now.",
    "Got it, {first}. You're {youing} from here on.",
    "Thanks for the update, {first}. So now you {you_do}.",
    "I've corrected my notes, {first}.",
    "Out with the old, then, {first}. I've written it down.",
    "That's a change worth knowing about, {first}.",
)
"""What the assistant makes of a change."""

NOTED = (
    "Thanks for telling me, {first}. So you {you_do}.",
    "I see, {first}: you {you_do}.",
    "Good to know, {first}, I'll keep it in mind.",
    "Understood. I'll remember that, {first}.",
    "That's clear, {first}. I'll go by that from now on.",
    "All right, {first}, I've taken that down.",
    "Thank you, {first}, that helps me to help you.",
)
"""What the assistant makes of a fact."""

NOTED_PLAN = (
    "That's quite a step, {first}. Tell me how it goes.",
    "All right, {first}, I've made a note of the plan.",
    "Good luck with it, {first}.",
    "Thanks for letting me know ahead of time, {first}.",
)
"""What the assistant makes of an announcement."""

NOTED_TAKEN_BACK = (
    "No harm done, {first}. I'll leave everything as it was.",
    "Fair enough, {first}. I've crossed out the plan.",
    "That happens, {first}. Back to how it was, then.",
    "Understood, {first}, no change.",
)
"""What the assistant makes of a taking back."""

NOTED_MUSING = (
    "There's no rush, {first}. It's a nice thought.",
    "Dreams are free, {first}.",
    "I won't change anything in my notes, {first}.",
    "You can always come back to the idea, {first}.",
)
"""What the assistant makes of a daydream."""

NOTED_OTHERS = (
    "I won't mix that up with your own habits, {first}.",
    "It takes all sorts, {first}.",
    "Interesting, {first}. Everyone does it differently.",
    "Give {him} my regards, {first}.",
    "Thanks, {first}, I'll bear in mind that this is about {him}.",
)
"""What the assistant makes of somebody else's habits."""

ASIDE = (
    "Ha, I can picture that, {first}.",
    "Sounds like quite a day, {first}.",
    "Thanks for the glimpse into your day, {first}.",
    "That made me smile, {first}.",
    "I see, {first}.",
)
"""What the assistant says to a remark in passing."""

ANSWERS = (
    "Happy to, {first}. Could you tell me a little more about how you go about it?",
    "Of course, {first}. What does it look like for you right now?",
    "Gladly, {first}. Is there anything I should know before I answer?",
    "Let's see, {first}. What have you tried up to this point?",
    "Sure, {first}. Give me some background first, if you can.",
    "That depends a little on your situation, {first}. How do things stand?",
)
"""The assistant asks back before it answers a question."""

PROMPTS = (
    "Tell me more, {first}.",
    "Go on, {first}, I'm listening.",
    "How so, {first}? Give me a little context.",
    "I'd like to hear more about that, {first}.",
    "What's behind it, {first}?",
)
"""The assistant asks for more where nothing was asked."""

BY_THE_WAY = (
    "One more thing while I have you.",
    "Oh, and before I forget.",
    "On another note.",
    "Something else, quickly.",
    "While we're at it.",
    "That reminds me of something.",
)
"""A turn to another matter."""

THANKS = (
    "Thanks", "Thank you", "Lovely, thanks", "Great, thank you", "Perfect, thanks a lot", "Cheers",
    "Much appreciated", "Brilliant, thanks", "That's kind, thanks", "Wonderful, thank you",
)  # fmt: skip
"""First half of a closing."""

PARTINGS = (
    "I'm off to bed now.", "I'll try that tomorrow.", "I have to run, the doorbell is ringing.",
    "I'll report back.", "That's all for today.", "I'll let it sink in.", "I've got what I need.",
    "Time to get moving.", "I'll read it again later.", "You've saved me an hour.", "I'll tell you how it went.",
    "My break is over, sadly.", "I'd better write that down.", "On to the next thing.",
)  # fmt: skip
"""Second half of a closing."""

WELCOME = (
    "Any time, {first}.",
    "You're welcome, {first}. Until next time.",
    "Glad to help, {first}.",
    "Take care, {first}.",
    "My pleasure, {first}.",
    "Have a good one, {first}.",
    "See you soon, {first}.",
)
"""The assistant's last word."""
