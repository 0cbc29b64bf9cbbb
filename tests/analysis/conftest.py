"""The judge server of the evaluation tests, and what it needs."""

from tests.evaluation.conftest import no_models, server, tiny

__all__ = ["no_models", "server", "tiny"]
