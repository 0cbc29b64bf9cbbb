"""Trials: steps in which memeval starts, stops and kills the processes of a system on a storage folder.

Each kind of step has a function in a module of its own, and a line in :data:`memeval.execution.trials.runner.TRIALS`.
"""
