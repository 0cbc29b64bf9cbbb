"""A made-up file in the released shape: synthetic, and no sentence of it is LoCoMo's."""

import json
from typing import Any

from memeval.benchmarks.locomo.dataset import LocomoDataset
from memeval.benchmarks.locomo.keys import LocomoKey
from memeval.benchmarks.locomo.released import LocomoFile, parse
from memeval.keys import ItemKey

Sample = dict[str, Any]


def turn(dia_id: str, speaker: str, text: str, **more: object) -> dict[str, object]:
    return {"dia_id": dia_id, "speaker": speaker, "text": text, **more}


def samples() -> list[Sample]:
    """Return two conversations; in the first, sessions stand out of order, and a date has no session."""
    return [
        {
            "sample_id": "syn-1",
            "conversation": {
                "speaker_a": "Ines",
                "speaker_b": "Tomasz",
                "session_10_date_time": "12:09 am on 1 March, 2024",
                "session_10": [turn("D10:1", "Tomasz", "The peppers are ripe.")],
                "session_2_date_time": "1:56 pm on 8 February, 2024",
                "session_2": [
                    turn("D2:1", "Ines", "I sing in a choir.", query="choir", **{"re-download": True}),
                    turn("D2:2", "Tomasz", "Look!", img_url=["http://images.example/1"], blip_caption="a red kite"),
                ],
                "session_11_date_time": "no time at all",
            },
            "qa": [
                {"question": "What ripened?", "answer": "peppers", "evidence": ["D10:1"], "category": 4},
                {
                    "question": "What do both like?",
                    "answer": "kites, song",
                    "evidence": ["D2:1", "D2:2"],
                    "category": 1,
                },
                {"question": "When?", "answer": 2024, "evidence": ["D2:1", "D10:1", "D2:1"], "category": 2},
                {"question": "Would he fly?", "answer": "yes; maybe", "evidence": [], "category": 3},
                {"question": "Who sang?", "adversarial_answer": "Tomasz", "evidence": ["D2:1"], "category": 5},
                {"question": "What flew?", "answer": "a kite", "evidence": ["D2:2; D2:1", "D9:9"], "category": 4},
            ],
            "observation": {"session_2_observation": {"Ines": [["She sings.", "D2:1"]]}},
            "session_summary": {"session_2_summary": "A choir, a kite."},
            "event_summary": {"events_session_2": {"Ines": [], "date": "8 February, 2024"}},
        },
        {
            "sample_id": "syn-2",
            "conversation": {
                "speaker_a": "Ada",
                "speaker_b": "Bo",
                "session_1_date_time": "9:05 am on 31 December, 2023",
                "session_1": [turn("D1:1", "Ada", "Happy new year!"), turn("D1:2", "Bo", "Not yet.")],
            },
            "qa": [
                {"question": "Too early?", "answer": "a day", "evidence": ["D1:2"], "category": 4},
                {
                    "question": "Is Bo late?",
                    "answer": "No",
                    "adversarial_answer": "Yes",
                    "evidence": ["D1:2"],
                    "category": 5,
                },
            ],
        },
    ]


def made(of: list[Sample] | None = None, *, choice: bool = False) -> LocomoDataset:
    """Return the made-up data, opened; no digest is asked of it."""
    conversations = parse(json.dumps(of or samples()).encode())
    return LocomoDataset(LocomoFile("sha256:" + "0" * 64, conversations), choice=choice)


def locomo(key: ItemKey) -> LocomoKey:
    assert isinstance(key.key, LocomoKey)
    return key.key
