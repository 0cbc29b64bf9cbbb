"""Tools and side projects."""

from __future__ import annotations

from memeval.benchmarks.beliefs.vocabulary.topic import Topic, TopicGroup, values

_FAMILY = "tech"

TOPICS = (
    Topic(
        id="editor",
        family=_FAMILY,
        label="code editor",
        do="write {my} code in {v}",
        now=("Which editor does {name} write {my} code in these days?", "What is {name}'s code editor now?"),
        past=("Which editor did {name} write {my} code in {when}?", "What was {name}'s code editor {when}?"),
        values=values(
            "Helix; Zed; Kakoune; Neovim; Emacs; Sublime Text|Sublime Text|Sublime; PyCharm; Lapce; BBEdit; "
            "Geany; VSCodium"
        ),
        hints=(
            "Took me all morning to find a theme I like, but {v} feels like home now when I code.",
            "I had twelve tabs open in {v} and closed the wrong one, there went an hour of programming.",
            "My fingers have finally learnt the {v} shortcuts, so at least the coding goes quickly.",
        ),
        openers=(
            "I'm tidying up my development setup. Any advice on keeping dotfiles in order?",
            "What's a sensible way to format a large codebase in one go?",
            "How do people keep their syntax colours readable in bright sunlight?",
        ),
        tips=(
            "A small repository for the settings makes moving machines painless.",
            "Keep the key bindings in one file, it saves grief later.",
        ),
    ),
    Topic(
        id="notes",
        family=_FAMILY,
        label="notes app",
        do="keep {my} notes in {v}",
        now=("Where does {name} keep {my} notes now?", "Which notes app does {name} rely on these days?"),
        past=("Where did {name} keep {my} notes {when}?", "Which notes app did {name} rely on {when}?"),
        values=values(
            "Obsidian; Joplin; Logseq; Zettlr; Notesnook; Evernote; Anytype; Simplenote; Standard Notes; Turtl; OneNote"
        ),
        hints=(
            "I dictated the whole thing into {v} on the way, so my notes are safe for once.",
            "The search in {v} found a note of mine from the dentist's waiting room, I was impressed.",
            "I spent the evening tagging everything in {v}, all nine hundred notes of mine.",
        ),
        openers=(
            "I lose half of what I write down. How would you organise meeting notes?",
            "What's a good way to tag things so that I find them again?",
            "Could you suggest a structure for a personal knowledge base?",
        ),
        tips=(
            "A short daily page with links usually beats deep folders.",
            "Ten tags that you use are better than a hundred that you don't.",
        ),
    ),
    Topic(
        id="team-chat",
        family=_FAMILY,
        label="team chat",
        do="chat with {my} project team on {v}",
        now=("Where does {name} chat with {my} project team these days?", "Which team chat is {name} on now?"),
        past=("Where did {name} chat with {my} project team {when}?", "Which team chat was {name} on {when}?"),
        values=values(
            "Zulip; Mattermost; Discord; Slack; Twist; Keybase; Telegram; Rocketchat; Threema; Pumble; Revolt"
        ),
        hints=(
            "Forty unread messages from the project team in {v}, and it isn't even nine.",
            "Someone on my project posted a cat picture in our {v} channel and the meeting was over.",
            "I muted the project's {v} channel for an hour so that I could think.",
        ),
        openers=(
            "My project team talks past each other. How would you structure channels?",
            "What's a polite way to ask a team to write fewer messages?",
            "How do other volunteer projects handle chat across time zones?",
        ),
        tips=(
            "One channel for decisions and one for everything else goes a long way.",
            "Quiet hours that everyone agrees on help more than any setting.",
        ),
    ),
)

GROUP = TopicGroup(
    root=Topic(
        id="host",
        family=_FAMILY,
        label="hosting for the side project",
        do="run {my} side project on {v}",
        now=("Where does {name} run {my} side project now?",),
        past=("Where did {name} run {my} side project {when}?",),
        values=values("Hetzner; Linode; DigitalOcean; Scaleway; Netcup; Vultr; OVHcloud; Exoscale; UpCloud; Kamatera"),
        hints=(
            "The first invoice from {v} for the side project came in, and it's lower than I feared.",
            "I clicked through the {v} console half the night, the side project is up and serving again.",
            "Support at {v} answered within the hour when my side project fell over.",
        ),
        openers=(
            "My side project is getting real users. What should I watch?",
            "Could you remind me how to read a server bill?",
        ),
        tips=(
            "A note with the addresses and the renewal date will save you a search.",
            "Write down how you would rebuild it from nothing, just once.",
        ),
    ),
    dependents=(
        Topic(
            id="backup",
            family=_FAMILY,
            label="backup tool",
            do="back up {my} data with {v}",
            now=("What does {name} back up {my} data with?", "Which backup tool does {name} use?"),
            past=("What did {name} back up {my} data with {when}?",),
            values=values("Restic; BorgBackup; Duplicity; Kopia; Rclone; Bacula"),
            openers=("How often should a small project be backed up?", "I had a scare with a lost table today."),
            tips=("A restore you have tried is the only backup that counts.", "Once a month, try to restore a file."),
            because=(
                "As everything sits on {base}, I {do}: it talks to their storage directly.",
                "I {do}, simply because it was the one that {base} supports out of the box.",
            ),
        ),
        Topic(
            id="alerts",
            family=_FAMILY,
            label="backup alerts",
            do="get the backup alerts through {v}",
            now=("How does {name} get the backup alerts?", "Which service brings {name} the backup alerts?"),
            past=("How did {name} get the backup alerts {when}?",),
            values=values("Ntfy; Pushover; Gotify; PagerDuty; Opsgenie; Healthchecks"),
            openers=("I'd rather hear about failed jobs before my users do.", "How loud should an alert be?"),
            tips=("Alert on what someone must act upon, and log the rest.", "One alert that matters beats fifty."),
            because=(
                "{base} has a ready-made hook for it, so I {do}.",
                "Because {base} can call it without any scripting, I {do}.",
            ),
        ),
        Topic(
            id="alert-device",
            family=_FAMILY,
            label="device for the alerts",
            do="read the alerts on {v}",
            now=("What does {name} read the alerts on?", "Which device does {name} use for the alerts?"),
            past=("What did {name} read the alerts on {when}?",),
            values=values(
                "an old Nokia|Nokia; a Pebble watch|Pebble watch|Pebble; a Fairphone|Fairphone; an e-ink "
                "tablet|e-ink tablet; a smart ring|smart ring; a spare BlackBerry|BlackBerry"
            ),
            openers=("Is it unhealthy to keep a phone by the bed?", "I want fewer screens around me at night."),
            tips=("A charger in the hallway keeps the bedroom quiet.", "Night mode with two exceptions works well."),
            because=(
                "It's the one thing in the house that {base} runs well on, so I {do}.",
                "I {do}, and only because {base} has a client for it.",
            ),
        ),
    ),
)
