"""A system's own packages: built from its lock, digests enforced, kept by digest, and apart from memeval's.

Only wheels are installed, and npm runs no scripts: nothing of a package is executed while an environment is built, nor
by memeval afterwards. Its code first runs where the system does.
"""

from memeval.systems.environments.environment import Environment, environment_for

__all__ = ["Environment", "environment_for"]
