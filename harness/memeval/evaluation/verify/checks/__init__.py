"""The checks of stored runs, one module for each. See :mod:`memeval.evaluation.verify.verification`."""
