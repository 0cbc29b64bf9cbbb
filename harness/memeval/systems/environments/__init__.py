"""Builds the environment of a system from its lock file, with enforced digests, separate from memeval's packages.

Only wheels are installed, and npm runs no scripts. So no code of a package runs during the build; it first runs in the
system's process.
"""

from memeval.systems.environments.environment import Environment, environment_for

__all__ = ["Environment", "environment_for"]
