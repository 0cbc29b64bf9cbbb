"""Fixtures and plugins that every test can use, and one setting: tests of the machinery look over its shoulder."""

import os

pytest_plugins = ["tests.skips"]

# Adapters of tests leave marks on the disk for the test to read. Tests of the sandbox ask for it by name.
os.environ["MEMEVAL_SANDBOX"] = "none"
