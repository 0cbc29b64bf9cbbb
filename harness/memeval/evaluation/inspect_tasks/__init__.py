"""Every benchmark as a task of Inspect AI: ``inspect eval memeval/NAME``. Needs the extra ``inspect``."""
