"""Runs the cases of core.txt and compares with known-failures.txt. See bench/s3-tests.sh."""

import argparse
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as xml
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests" / "clients"))

from program import Program  # noqa: E402

USERS = ("main", "alt", "tenant", "iam")
# As docs/blob.md has it; all else of the server is as it is by default.
OPTIONS = ["--public-acls"]


def lines(file):
    """Names, each with the comment behind it."""
    for line in (HERE / file).read_text().splitlines():
        name, _, comment = line.partition("#")
        if name.strip():
            yield name.strip(), comment.strip()


def reasons():
    """Why each of known-failures.txt fails: what its line says, or else the heading."""
    heading, found = "", {}
    for line in (HERE / "known-failures.txt").read_text().splitlines():
        name, _, comment = line.partition("#")
        if name.strip():
            found[name.strip()] = comment.strip() or heading
        elif comment:
            heading = comment.strip()
    return found


def configuration(address, keys):
    host, port = address.rsplit(":", 1)
    text = "[DEFAULT]\nhost = %s\nport = %s\nis_secure = False\nssl_verify = False\n" % (host, port)
    text += "[fixtures]\nbucket prefix = ab-{random}-\niam name prefix = s3-tests-\niam path prefix = /s3-tests/\n"
    sections = {
        "s3 main": "main",
        "s3 alt": "alt",
        "s3 tenant": "tenant",
        "iam": "iam",
        "iam root": "iam",
        "iam alt root": "iam",
    }
    for section, user in sections.items():
        text += "[%s]\ndisplay_name = %s\nuser_id = %s\nemail = %s@example.com\n" % (section, user, user, user)
        text += "access_key = %s\nsecret_key = %s\n" % keys[user]
    return text.replace("[s3 tenant]\n", "[s3 tenant]\ntenant = t\n")


def run(arguments, cases):
    work = Path(arguments.work)
    server = Program(arguments.program, work / "data", *OPTIONS)
    try:
        keys = {user: server.key(user, "--create-buckets") for user in USERS}
        (work / "s3tests.conf").write_text(configuration(server.address, keys))
        result = work / "result.xml"
        file = "s3tests/functional/test_s3.py::"
        command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", "-W", "ignore"]
        command += ["--junitxml", str(result), *(file + case for case in cases)]
        environment = dict(
            os.environ,
            S3TEST_CONF=str(work / "s3tests.conf"),
            PYTHONDONTWRITEBYTECODE="1",
        )
        log = work / "log"
        with open(log, "w") as out:
            subprocess.run(command, cwd=arguments.checkout, env=environment, stdout=out, stderr=subprocess.STDOUT)
        return results(result), log.read_text()
    finally:
        server.stop()


def results(file):
    found = {}
    if not file.exists():
        return found
    for case in xml.parse(file).iter("testcase"):
        kinds = {child.tag for child in case}
        state = "failed" if kinds & {"failure", "error"} else "not run" if "skipped" in kinds else "passed"
        # An error while cleaning up is a second entry of the same case.
        if found.get(case.get("name")) != "failed":
            found[case.get("name")] = state
    return found


def summary(counts):
    commit = (HERE / "commit.txt").read_text()[:7]
    return "s3-tests at %s: %d passed, %d failed, %d not run" % (commit, *counts)


def report(states, counts, seconds, log):
    """Markdown: the part that docs/blob-s3.md has, then every case, then what pytest said."""
    why = reasons()
    text = "%s (`serve %s`, %s, %d s)\n" % (summary(counts), " ".join(OPTIONS), time.strftime("%Y-%m"), seconds)
    text += "\n| case | | why |\n|---|---|---|\n"
    for case, state in states.items():
        if state != "passed":
            text += "| `%s` | %s | %s |\n" % (case, state, why.get(case, "**not known**"))
    text += "\n" + "".join("%s\t%s\n" % (state, case) for case, state in states.items())
    return text + "\n" + log


def main():
    parser = argparse.ArgumentParser()
    for option in ("program", "checkout", "work", "case", "report"):
        parser.add_argument("--" + option)
    arguments = parser.parse_args()
    core, known = [name for name, _ in lines("core.txt")], reasons()
    cases = [case for case in core if arguments.case in case]
    if not cases:
        # pytest would run all there are.
        parser.error("--case %s: no case of core.txt has a name that contains it" % arguments.case)
    began = time.monotonic()
    found, log = run(arguments, cases)
    states = {case: found.get(case, "not run") for case in cases}
    counts = [sum(state == s for state in states.values()) for s in ("passed", "failed", "not run")]
    if arguments.report:
        Path(arguments.report).write_text(report(states, counts, time.monotonic() - began, log))
    wrong = [case for case, state in states.items() if state != "passed" and case not in known]
    mended = [case for case, state in states.items() if state == "passed" and case in known]
    for case in wrong:
        print("s3-tests: %s: %s" % (states[case], case))
    for case in mended:
        print("s3-tests: passes, and is in known-failures.txt: %s" % case)
    print(summary(counts))
    sys.exit(1 if wrong or mended else 0)


main()
