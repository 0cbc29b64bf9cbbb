"""Parts about whose fact it is: forget texts, a user or a topic; keep users apart; write for two users at once."""

from collections.abc import Sequence

from memeval.benchmarks.lifecycle.keys import ProbeRule, ProbeStage, ProbeStatement
from memeval.benchmarks.lifecycle.script import Mode, Script, User, first, none_of, only, statement, topics_of, users
from memeval.benchmarks.lifecycle.words import TOPICS, Topic

FORMS = ("ask", "paraphrase", "partial", "indirect")

NEIGHBOURS = 3

AT_ONCE_USERS, AT_ONCE_FACTS = 2, 4

IN_FLIGHT = 4


class _Memory:
    """Two users who told values of the same topics, in words of the questions, so that a search finds them."""

    def __init__(self, script: Script, facts: int) -> None:
        self.script, self.topics = script, topics_of(script.rng, facts)
        self.users = users(script.rng, 2)
        self.held: dict[tuple[User, Topic], ProbeStatement] = {}
        for topic in self.topics:
            values = script.rng.sample(topic.values, 2)
            for user, value in zip(self.users, values, strict=True):
                turn = script.say(user, topic.told[0].format(value=value))
                self.held[user, topic] = statement(value, turn)

    def known(self, user: User, topic: Topic) -> str:
        return self.script.ask_about(user, topic, "ask")


def _gone(memory: _Memory, before: str, user: User, topic: Topic, forms: Sequence[str], probe: str, how: str) -> None:
    """Ask in several forms for a deleted value: no form may bring it back."""
    held = memory.held[user, topic]
    after = [(memory.script.ask_about(user, topic, form), none_of(held)) for form in forms]
    reference = f"{held.phrases[0]} before the deletion, nothing of it afterwards."
    memory.script.item(probe, [(before, only(held)), *after], reference, deletion=how)


def _kept(memory: _Memory, before: str, user: User, topic: Topic, probe: str, how: str) -> None:
    held = memory.held[user, topic]
    after = memory.known(user, topic)
    reference = f"{held.phrases[0]}, before and after the deletion."
    memory.script.item(probe, [(before, only(held)), (after, only(held))], reference, deletion=how)


def _told_again(memory: _Memory, before: str, user: User, topic: Topic, how: str) -> None:
    held = memory.held[user, topic]
    gone = memory.known(user, topic)
    again = statement(held.phrases[0], memory.script.say(user, topic.told[0].format(value=held.phrases[0])))
    back = memory.known(user, topic)
    memory.script.item(
        "told again",
        [(before, only(held)), (gone, none_of(held)), (back, only(again))],
        f"{held.phrases[0]}, but not between its deletion and the new text.",
        deletion=how,
    )


def by_id(script: Script, topic_query: bool = False) -> None:
    memory = _Memory(script, 3)
    user, neighbour = memory.users
    topic, other, third = memory.topics
    how = "by topic" if topic_query else "by id"
    asked = [memory.known(user, topic) for _ in range(3)]
    kept = [memory.known(user, other), memory.known(neighbour, topic)]
    if topic_query:
        script.forget(user, query=topic.about.format(name=user.name))
    else:
        script.forget(user, memory.held[user, topic].turns)
    _gone(memory, asked[0], user, topic, FORMS, "deleted", how)
    _kept(memory, kept[0], user, other, "kept: same user", how)
    _kept(memory, kept[1], neighbour, topic, "kept: other user", how)
    told = {held.phrases[0] for held in memory.held.values()}
    new = script.rng.choice([value for value in third.values if value not in told])
    script.say(user, third.changed[0].format(value=new))
    _gone(memory, asked[1], user, topic, FORMS[:1], "deleted, then others told", how)
    _told_again(memory, asked[2], user, topic, how)


def said_twice(script: Script) -> None:
    """Delete both texts that name a value: nothing derived from them may stay."""
    memory = _Memory(script, 2)
    user, neighbour = memory.users
    topic, other = memory.topics
    held = memory.held[user, topic]
    remark = script.say(user, topic.remark.format(value=held.phrases[0]))
    memory.held[user, topic] = statement(held.phrases[0], *held.turns, remark)
    asked = memory.known(user, topic)
    kept = [memory.known(user, other), memory.known(neighbour, topic)]
    script.forget(user, memory.held[user, topic].turns)
    _gone(memory, asked, user, topic, FORMS, "deleted", "by id, said twice")
    _kept(memory, kept[0], user, other, "kept: same user", "by id, said twice")
    _kept(memory, kept[1], neighbour, topic, "kept: other user", "by id, said twice")


def by_user(script: Script) -> None:
    memory = _Memory(script, 3)
    user, neighbour = memory.users
    asked = [memory.known(user, topic) for topic in (*memory.topics, memory.topics[0])]
    kept = [memory.known(neighbour, topic) for topic in memory.topics]
    script.forget(user)
    for before, topic in zip(asked, memory.topics, strict=False):
        _gone(memory, before, user, topic, FORMS, "deleted", "by user")
    for before, topic in zip(kept, memory.topics, strict=True):
        _kept(memory, before, neighbour, topic, "kept: other user", "by user")
    _told_again(memory, asked[-1], user, memory.topics[0], "by user")


def exported(script: Script, whole_user: bool) -> None:
    memory = _Memory(script, 3)
    user, topic = memory.users[0], memory.topics[0]
    deleted = [memory.held[user, each] for each in (memory.topics if whole_user else [topic])]
    stays = [held for held in memory.held.values() if held not in deleted]
    how = "by user" if whole_user else "by id"
    before = [script.export(), script.export()]
    script.forget(user, None if whole_user else deleted[0].turns)
    after = [script.export(), script.export()]
    known, gone = ProbeStage(rule=ProbeRule.ONLY, expected=tuple(deleted)), none_of(*deleted)
    stay = ProbeStage(rule=ProbeRule.ONLY, expected=tuple(stays))
    script.item("deleted", [(before[0], known), (after[0], gone)], f"No {deleted[0].phrases[0]}.", deletion=how)
    script.item("kept", [(before[1], stay), (after[1], stay)], f"{stays[0].phrases[0]}, as before.", deletion=how)


# Users apart ----------------------------------------------------------------------------------------------------------


def apart(script: Script) -> None:
    rng = script.rng
    shared, own = topics_of(rng, 2)
    extra = rng.choice([topic for topic in TOPICS if topic not in (shared, own)])
    people = users(rng, NEIGHBOURS)
    held: dict[tuple[str, Topic], ProbeStatement] = {}
    for topic in (shared, own):
        for user, value in zip(rng.sample(people, NEIGHBOURS), rng.sample(topic.values, NEIGHBOURS), strict=True):
            held[user.name, topic] = statement(value, script.say(user, topic.told[0].format(value=value)))
    owner, *others = rng.sample(people, NEIGHBOURS)
    value = rng.choice(extra.values)
    held[owner.name, extra] = statement(value, script.say(owner, extra.told[0].format(value=value)))
    script.later()
    asked = [(user, shared, "ask") for user in people] + [(user, own, "partial") for user in people]
    stages = []
    for user, topic, form in asked:
        question = script.ask_about(user, topic, form, in_flight=IN_FLIGHT)
        wrong = [held[each.name, topic] for each in people if each != user]
        stages.append((user, form, question, held[user.name, topic], wrong))
    for user, form, question, mine, wrong in stages:
        rule = only if script.mode is Mode.BANKS else first
        script.item(f"own fact: {form}", [(question, rule(mine, *wrong))], _says(user, mine))
    if script.mode is Mode.SESSIONS:
        question = script.ask_about(owner, extra, "ask")
        mine = held[owner.name, extra]
        script.item("fact of one user", [(question, first(mine))], _says(owner, mine))
        return
    _never_told(script, others[0], held[others[0].name, shared], shared, extra, held[owner.name, extra])
    _other_user_deleted(script, people, shared, held)


def _never_told(
    script: Script, user: User, mine: ProbeStatement, topic: Topic, extra: Topic, theirs: ProbeStatement
) -> None:
    """Ask a bank for a fact that only another bank has; the bank must be found to work by another question."""
    known = script.ask_about(user, topic, "ask")
    unknown = script.ask_about(user, extra, "ask")
    script.item("never told", [(known, only(mine)), (unknown, none_of(theirs))], "Nothing of the other user.")


def _other_user_deleted(
    script: Script, people: list[User], topic: Topic, held: dict[tuple[str, Topic], ProbeStatement]
) -> None:
    """Delete the user whose bank differs least from another bank, whose facts must stay."""
    gone, kept = people[0], people[1]
    deleted, mine = held[gone.name, topic], held[kept.name, topic]
    script.forget(gone)
    before = script.ask_about(gone, topic, "ask")
    after = script.ask_about(kept, topic, "ask")
    stages = [(before, none_of(deleted, mine)), (after, only(mine, deleted))]
    script.item("other user deleted", stages, _says(kept, mine))


def _says(user: User, mine: ProbeStatement) -> str:
    return f"{mine.phrases[0]}, as {user.name} said."


def at_once(script: Script) -> None:
    rng = script.rng
    people = users(rng, AT_ONCE_USERS)
    told = []
    for topic in topics_of(rng, AT_ONCE_FACTS):
        for user, value in zip(people, rng.sample(topic.values, AT_ONCE_USERS), strict=True):
            told.append((user, topic, value))
    rng.shuffle(told)
    held = {}
    for user, topic, value in told:
        turn = script.say(user, topic.told[0].format(value=value), in_flight=len(told))
        held[user.name, topic] = statement(value, turn)
    script.later()
    for user, topic, _ in told:
        question = script.ask_about(user, topic, "ask", in_flight=IN_FLIGHT)
        mine = held[user.name, topic]
        others = [held[each.name, topic] for each in people if each != user]
        script.item("own fact", [(question, only(mine, *others))], _says(user, mine))
