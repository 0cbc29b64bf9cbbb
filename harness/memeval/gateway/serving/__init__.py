"""The loopback endpoint for systems under test: they call models without a key, and memeval counts all tokens."""

from memeval.gateway.serving.model_endpoint import ModelEndpoint
from memeval.gateway.serving.model_server import ModelServer

__all__ = ["ModelEndpoint", "ModelServer"]
