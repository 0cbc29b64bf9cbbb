"""Records as text: nothing that identifies a record or a person's number."""

import pytest

from memeval.benchmarks.lifebench.texts import masked, turn_count, turns_of, without_event_ids
from memeval.records.scenario import TurnKind
from tests.benchmarks.lifebench.samples import LISTS


def test_a_record_is_its_fields_without_ids_and_numbers() -> None:
    (turn,) = turns_of("call", LISTS["call"][0], "Hu Lan")
    assert turn.content == "call | contactName: Bo Lin | datetime: 2025-02-01 10:00:00 | direction: 1"
    assert (turn.role, turn.speaker, turn.kind) == ("user", "Hu Lan", TurnKind.OBSERVATION)


def test_a_contact_keeps_the_name_only() -> None:
    (turn,) = turns_of("contact", LISTS["contact"][0], "Hu Lan")
    assert turn.content == "contact | name: Bo Lin"


def test_nested_fields_and_lists_are_one_field_each_and_empty_ones_are_left_out() -> None:
    (photo,) = turns_of("photo", LISTS["photo"][0], "Hu Lan")
    assert photo.kind is TurnKind.IMAGE
    assert photo.content.split(" | ")[3:] == ["location: city: Harbin", "imageTag: Snow, Roof"]
    (fitness,) = turns_of("fitness_health", LISTS["fitness_health"][0], "Hu Lan")
    assert fitness.content.split(" | ")[-1] == "步行: 步数: 8000 steps"


def test_a_message_has_its_contact_as_speaker_and_keeps_unknown_fields() -> None:
    (turn,) = turns_of("sms", LISTS["sms"][0], "Hu Lan")
    assert (turn.speaker, turn.kind) == ("Bo Lin", TurnKind.MESSAGE)
    assert turn.content.split(" | ") == [
        "Me: the train leaves at nine.",
        "datetime: 2025-01-02 09:00:00",
        "message_type: Send",
        "something_new: kept",
    ]


def test_a_chat_is_its_messages_without_blank_ones() -> None:
    (chat,) = LISTS["agent_chat"]
    turns = turns_of("agent_chat", chat, "Hu Lan")
    assert [(turn.role, turn.speaker) for turn in turns] == [
        ("user", "Hu Lan"),
        ("assistant", None),
        ("user", "Hu Lan"),
    ]
    assert turn_count("agent_chat", chat) == len(turns)


def test_every_turn_is_one_line() -> None:
    note = {"title": "To do", "content": "1. Wax\n\n2. Poles"}
    chat = {"conversation": {"turn 1": {"user": {"content": "Which wax?\nBlue?"}}}}
    assert turns_of("note", note, "Hu Lan")[0].content == "note | title: To do | content: 1. Wax 2. Poles"
    assert turns_of("agent_chat", chat, "Hu Lan")[0].content == "Which wax? Blue?"


@pytest.mark.parametrize("chat", [{}, {"conversation": None}, {"conversation": {"turn 1": 3, "turn 2": {"user": 4}}}])
def test_a_chat_without_messages_has_no_turns(chat: dict[str, object]) -> None:
    assert turns_of("agent_chat", chat, "Hu Lan") == () and turn_count("agent_chat", chat) == 0


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Call 13800001111 now", "Call [phone number] now"),
        ("+86 138 0000 1111", "[phone number]"),
        ("0898-66123456, 400-123-4567", "[phone number], [phone number]"),
        ("to a.b+c@mail.example.org.", "to [e-mail address]."),
        ("ID 11010119900101123X", "ID [id number]"),
        ("Order 202501021234, 2025-01-02 09:00:00, 4032×3024", "Order 202501021234, 2025-01-02 09:00:00, 4032×3024"),
        ("IMG_20250104_093501.jpg costs 12,000 yuan", "IMG_20250104_093501.jpg costs 12,000 yuan"),
    ],
)
def test_personal_numbers_are_replaced_and_others_stay(text: str, kept: str) -> None:
    assert masked(text) == kept


@pytest.mark.parametrize(
    ("criterion", "kept"),
    [
        ("Made a joint (originating from Event ID: 166).", "Made a joint."),
        ("First photos (February 2, Event ID 456, 460), then a call.", "First photos (February 2), then a call."),
        ("Steps (Events 948, 950, 954, 958).", "Steps."),
        ("Sorted it (Event IDs: 2104, 2105)", "Sorted it"),
        ("In the incident (ID: 768), she ran at 7.", "In the incident, she ran at 7."),
        ('Locate event ID "4703" (2025-12-18).', "Locate event (2025-12-18)."),
        ("From event IDs 3011 and 3012, she fished.", "From event, she fished."),
        ("Based on event 593, it began in July.", "Based on event, it began in July."),
        (
            "The event ID for the class is correctly identified as 3309, on 1 May.",
            "The event for the class is correctly identified, on 1 May.",
        ),
        ("Names the day of the archiving and its event ID (1352).", "Names the day of the archiving."),
        ("The event of 18 January (7 points).", "The event of 18 January (7 points)."),
        ("Events of 2025-09-01 and 2025-09-10.", "Events of 2025-09-01 and 2025-09-10."),
    ],
)
def test_a_criterion_loses_ids_of_events_and_nothing_else(criterion: str, kept: str) -> None:
    assert without_event_ids(criterion) == kept
