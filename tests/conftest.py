"""Fixtures and plugins that every test can use."""

pytest_plugins = ["tests.skips"]
