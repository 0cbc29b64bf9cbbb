"""The loopback endpoint through which a system under test reaches models: no key of its own, and no token unseen."""

from memeval.gateway.serving.model_endpoint import ModelEndpoint
from memeval.gateway.serving.model_server import ModelServer

__all__ = ["ModelEndpoint", "ModelServer"]
