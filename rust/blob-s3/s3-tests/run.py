"""Runs the cases of core.txt and compares with known-failures.txt. See bench/s3-tests.sh."""

import argparse
import os
import subprocess
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

HERE = Path(__file__).parent
KEYS = {
    "main": ("MAINMAINMAINMAINMAIN", "main-secret-0123456789abcdef"),
    "alt": ("ALTALTALTALTALTALTAL", "alt-secret-0123456789abcdefg"),
    "tenant": ("TENANTTENANTTENANTTE", "tenant-secret-0123456789abcd"),
    "iam": ("IAMIAMIAMIAMIAMIAMIA", "iam-secret-0123456789abcdefg"),
}
USERS = {name: name + "user" for name in KEYS}


def names(file):
    lines = (line.split("#")[0].strip() for line in (HERE / file).read_text().splitlines())
    return [line.split()[0] for line in lines if line]


def configuration(address):
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
    for section, key in sections.items():
        text += "[%s]\ndisplay_name = %s\nuser_id = %s\nemail = %s@example.com\n" % (section, USERS[key], USERS[key], key)
        text += "access_key = %s\nsecret_key = %s\n" % KEYS[key]
    return text.replace("[s3 tenant]\n", "[s3 tenant]\ntenant = t\n")


def run(arguments, cases):
    keys = ["%s:%s:%s:create" % (*KEYS[name], USERS[name]) for name in KEYS]
    work = Path(arguments.work)
    command = [arguments.endpoint, "--public-acls", str(work / "data"), *keys]
    endpoint = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        (work / "s3tests.conf").write_text(configuration(endpoint.stdout.readline().strip()))
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
        endpoint.stdin.close()
        endpoint.wait(timeout=30)


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


def main():
    parser = argparse.ArgumentParser()
    for option in ("endpoint", "checkout", "work", "case", "report"):
        parser.add_argument("--" + option)
    arguments = parser.parse_args()
    core, known = names("core.txt"), set(names("known-failures.txt"))
    cases = [case for case in core if arguments.case in case]
    found, log = run(arguments, cases)
    states = {case: found.get(case, "not run") for case in cases}
    if arguments.report:
        Path(arguments.report).write_text("".join("%s\t%s\n" % (s, c) for c, s in states.items()) + "\n" + log)
    wrong = [case for case, state in states.items() if state != "passed" and case not in known]
    mended = [case for case, state in states.items() if state == "passed" and case in known]
    for case in wrong:
        print("s3-tests: %s: %s" % (states[case], case))
    for case in mended:
        print("s3-tests: passes, and is in known-failures.txt: %s" % case)
    counts = [sum(state == s for state in states.values()) for s in ("passed", "failed", "not run")]
    print("s3-tests at %s: %d passed, %d failed, %d not run" % ((HERE / "commit.txt").read_text()[:7], *counts))
    sys.exit(1 if wrong or mended else 0)


main()
