"""Why the gateway stops: errors that end a run so that the same command resumes it."""

from __future__ import annotations

from memeval.records.errors import BadInput, ExitCode, MemevalError

GOES_ON = "Progress is saved. Run the same command to resume."
"""The end of every remedy."""


class GatewayStopped(MemevalError):
    """No further call can succeed: the key is refused, the model unknown, the endpoint down."""


class RequestRefused(GatewayStopped):
    """A request is refused for its model, its path or its settings; for a system, maybe for this request alone."""


class BudgetSpent(GatewayStopped):
    """A cap is reached, or the provider's quota is used up."""

    exit_code = ExitCode.BUDGET


class NotRecorded(BadInput):
    """A replay asked for something that is not in the record."""
