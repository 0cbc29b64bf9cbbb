"""The loopback endpoint through which a system under test reaches models: no key of its own, and no token unseen."""

from memeval.gateway.doors.door import Door
from memeval.gateway.doors.server import ModelServer

__all__ = ["Door", "ModelServer"]
