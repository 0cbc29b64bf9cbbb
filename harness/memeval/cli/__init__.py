"""The command line: a thin face on ``memeval.api``, one module a command group."""
