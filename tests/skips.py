"""Fails a session in which a test was skipped, where ``MEMEVAL_FAIL_ON_SKIP=1`` is set.

A skipped test proves nothing, and a machine that can run everything should say so. Skips whose reason names
``MEMEVAL_TEST_DATA`` are let through: benchmark data is other people's and not on every machine.
"""

import os

import pytest

ALLOWED = "MEMEVAL_TEST_DATA"


class SkipGate:
    """Collects the skips of a session, those of xdist's workers included, and fails it at the end."""

    def __init__(self) -> None:
        self.refused: dict[str, str] = {}
        """Test or file id → why it was skipped."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._see(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._see(report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.refused and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self.refused:
            return
        terminalreporter.section("skips that count as failures", red=True)
        for where, reason in sorted(self.refused.items()):
            terminalreporter.write_line(f"{where}: {reason}")
        terminalreporter.write_line(
            f"memeval: {len(self.refused)} skipped here, and MEMEVAL_FAIL_ON_SKIP=1 allows only skips whose reason "
            f"names {ALLOWED}. Install what the reason names, or mend the test."
        )

    def _see(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if not report.skipped or hasattr(report, "wasxfail"):
            return
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if ALLOWED not in reason:
            self.refused[report.nodeid] = reason


def pytest_configure(config: pytest.Config) -> None:
    """Switch the gate on, in the process that reports."""
    if os.environ.get("MEMEVAL_FAIL_ON_SKIP") == "1" and not hasattr(config, "workerinput"):
        config.pluginmanager.register(SkipGate(), "memeval-skip-gate")
