"""A made-up file in the released shape, with one scenario of each kind."""

from typing import Any

Row = dict[str, Any]


def sessions(*said: str) -> list[Row]:
    return [
        {
            "session_id": f"x{n}",
            "date": f"2025-01-{n:02}",
            "turns": [{"role": "user", "content": text}, {"role": "assistant", "content": "Noted."}],
        }
        for n, text in enumerate(said, 1)
    ]


def rows() -> list[Row]:
    """Return one scenario of each of the six kinds."""
    old, new, tests = "Uses Nginx for serving", "Uses Caddy for serving", "Uses Bats for shell tests"
    return [
        {
            "scenario_id": "belief-p000-server",
            "scenario_type": "belief-update",
            "conversation_history": sessions(old, new),
            "question": "What does Ada serve with?",
            "expected_answer": new,
            "metadata": {
                "stale_answers": [old],
                "belief_timeline": [
                    {"fact": old, "valid_from": "2025-01-01", "valid_until": "2025-01-02", "source_session": "x1"},
                    {"fact": new, "valid_from": "2025-01-02", "valid_until": None, "source_session": "x2"},
                ],
                "update_count": 1,
                "difficulty": "easy",
            },
        },
        {
            "scenario_id": "cascade-p000-tests-via-server",
            "scenario_type": "cascade-propagation",
            "conversation_history": sessions(old, tests, new),
            "question": "What does Ada test with?",
            "expected_answer": "Uncertain.",
            "metadata": {
                "root_change": f"{old} → {new}",
                "old_dependent": tests,
                "dependency_chain": [{"fact": tests, "depends_on": old}],
                "chain_depth": 1,
            },
        },
        {
            "scenario_id": "noise-p000-tests-light",
            "scenario_type": "noise-resistance",
            "conversation_history": sessions("What is a stack?", tests, "What is a queue?"),
            "question": "What does Ada test with?",
            "expected_answer": tests,
            "metadata": {
                "total_sessions": 3,
                "signal_sessions": ["x2"],
                "noise_sessions": 2,
                "signal_to_noise_ratio": 0.33,
                "sub_category": "chitchat-filtering-light",
            },
        },
        {
            "scenario_id": "temporal-p001-server",
            "scenario_type": "temporal-belief",
            "conversation_history": sessions(old, "Uses Traefik for serving. It was there.", new),
            "question": "What did Bo serve with in January 2025?",
            "expected_answer": old,
            "metadata": {
                "query_timestamp": "2025-01-01",
                "belief_at_timestamp": old,
                "current_belief": new,
                "difficulty": "explicit-timestamp",
            },
        },
        {
            "scenario_id": "delta-p001-var0",
            "scenario_type": "delta-efficiency",
            "conversation_history": sessions(old, tests),
            "question": "placeholder",
            "expected_answer": "placeholder",
            "evaluation_turns": [{"question": f"What about {n}?", "turn": n} for n in range(20)],
            "metadata": {"total_turns": 20, "established_facts_by_turn_5": [old, tests]},
        },
        {
            "scenario_id": "uncertain-p001-tests-via-server",
            "scenario_type": "uncertainty-abstention",
            "conversation_history": sessions(old, tests, new),
            "question": "Is Bats still Bo's choice?",
            "expected_answer": "Unknown.",
            "metadata": {
                "uncertainty_reason": f"Root fact changed ({old} → {new}),"
                f" dependent belief '{tests}' was never explicitly updated",
                "sub_category": "partially-invalidated",
            },
        },
    ]
