"""A suite that shrinks unnoticed proves nothing: fails a run of all tests if fewer than AFTERBAY_TESTS_MIN pass, and any run of
a build server (CI in the environment) that skips one. `run` loads it."""

import os

import pytest

COUNTS = {"passed": 0, "skipped": 0}


def pytest_runtest_logreport(report):
    if report.skipped:
        COUNTS["skipped"] += 1
    elif report.when == "call" and report.passed:
        COUNTS["passed"] += 1


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    least = int(os.environ.get("AFTERBAY_TESTS_MIN", "0"))
    complaint = None
    if COUNTS["passed"] < least:
        complaint = "%d tests passed, and there are %d or more" % (COUNTS["passed"], least)
    elif COUNTS["skipped"] and "CI" in os.environ:
        complaint = "%d tests were skipped, which a build server must not" % COUNTS["skipped"]
    if complaint and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        print("\n" + complaint)
