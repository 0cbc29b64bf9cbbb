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


def asked(question: str, category: int, *evidence: str, **answers: object) -> dict[str, object]:
    return {"question": question, **answers, "evidence": list(evidence), "category": category}


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
                asked("What ripened?", 4, "D10:1", answer="peppers"),
                asked("What do both like?", 1, "D2:1", "D2:2", answer="kites, song"),
                asked("When?", 2, "D2:1", "D10:1", "D2:1", answer=2024),
                asked("Would he fly?", 3, answer="yes; maybe"),
                asked("Who sang?", 5, "D2:1", adversarial_answer="Tomasz"),
                asked("What flew?", 4, "D2:2; D2:1", "D9:9", answer="a kite"),
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
                asked("Too early?", 4, "D1:2", answer="a day"),
                asked("Is Bo late?", 5, "D1:2", answer="No", adversarial_answer="Yes"),
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
