"""Errors that stop the gateway and end a run; the same command resumes it."""

from __future__ import annotations

from memeval.records.errors import BadInput, ExitCode, MemevalError

RESUME = "Progress is saved. Run the same command to resume."
"""The end of every remedy."""


class GatewayStopped(MemevalError):
    """No further call can succeed: the endpoint refuses the key, has no such model, or is down."""


class RequestRefused(GatewayStopped):
    """The endpoint refuses a request's model, path or settings; a system's other requests may still succeed."""


class BudgetSpent(GatewayStopped):
    """A cap of the budget is reached, or the provider's quota is used up."""

    exit_code = ExitCode.BUDGET


class NotRecorded(BadInput):
    """A replay needs a call that is not in the record."""
