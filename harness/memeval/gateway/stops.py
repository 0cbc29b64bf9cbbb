"""Why the gateway stops: sentences that end a run so that the same command resumes it."""

from __future__ import annotations

from memeval.records.errors import BadInput, ExitCode, MemevalError

GOES_ON = "What is done is on disk, and the same command goes on."
"""The end of every remedy."""


class GatewayStopped(MemevalError):
    """No further call can succeed: the key is refused, the model unknown, the endpoint down."""


class RequestRefused(GatewayStopped):
    """What was asked for is refused, and it may be for this request's sake alone."""


class BudgetSpent(GatewayStopped):
    """A cap is reached, or the provider's quota is gone."""

    exit_code = ExitCode.BUDGET


class NotRecorded(BadInput):
    """A replay asked for something that is not in the record."""
