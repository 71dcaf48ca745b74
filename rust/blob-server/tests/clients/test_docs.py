"""The commands of the README and of the guide's first chapter, as they stand there."""

import os
import re
import subprocess
from pathlib import Path

from conftest import PROGRAM, run_server
from program import PATIENCE

HOME = Path(__file__).resolve().parents[4]
DATA = "/var/lib/afterbay"

# The launcher, as far as it is needed: the program is compiled already, and what a job does is tested elsewhere (java/blob-it).
LAUNCHER = """#!/bin/sh
verb=$1; shift
case $verb in
blob) exec "$PROGRAM" "$@" ;;
run) echo "$*" >"$0.ran" && for dir; do :; done && exec aws s3 ls "${dir%%/checkpoints}" ;;
esac
"""


def blocks(page, heading):
    """The indented blocks of a chapter."""
    chapter = (HOME / page).read_text().split("\n## %s\n" % heading, 1)[1].split("\n## ", 1)[0]
    found = re.findall(r"(?:^    .*\n|^\n(?=    ))+", chapter, re.M)
    return [re.sub(r"^    ", "", block, flags=re.M).strip("\n") for block in found]


def prepare(folder):
    (folder / "afterbay").write_text(LAUNCHER)
    (folder / "afterbay").chmod(0o755)
    (folder / "README.md").write_bytes((HOME / "README.md").read_bytes())
    (folder / "report.pdf").write_bytes(os.urandom(100_000))
    (folder / "photos").mkdir()
    (folder / "photos" / "sea.jpg").write_bytes(os.urandom(10_000))


def shell(folder, text, said):
    """The standard output of commands, of which each must end well."""
    text = text.replace(DATA, str(folder / "data")).replace("http://127.0.0.1:7482", said["S3"])
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PROGRAM": PROGRAM,
        "AFTERBAY_BLOB_SERVER": said["native protocol"].split()[0],
    }
    done = subprocess.run(["sh", "-euc", text], cwd=folder, env=environment, capture_output=True, timeout=PATIENCE)
    assert done.returncode == 0, text + done.stdout.decode("latin-1") + done.stderr.decode("latin-1")
    return done.stdout


def start(folder, command):
    """The documented command, on ports of its own."""
    words = command.split("#")[0].split()
    assert words[:3] == ["./afterbay", "blob", "serve"]
    addresses = ["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--s3", "127.0.0.1:0"]
    options = [word.replace(DATA, str(folder / "data")) for word in words[3:]]
    return run_server([PROGRAM, "serve", *options, *addresses], folder)


def test_the_readme(tmp_path):
    [block] = [block for block in blocks("README.md", "Pick your engine") if "blob serve" in block]
    serve, put = block.split("\n", 1)
    prepare(tmp_path)
    process, said = start(tmp_path, serve)
    assert shell(tmp_path, put, said) == b"demo-bucket/README.md\n"
    process.terminate()
    assert process.wait(timeout=PATIENCE) == 0


def test_by_s3_and_from_a_flink_job(tmp_path):
    [block] = blocks("docs/blob.md", "By S3, and from a Flink job")
    serve, rest = block.split("\n", 1)
    prepare(tmp_path)
    process, said = start(tmp_path, serve)
    shell(tmp_path, rest, said)
    for copy in ("copy.md", "copy-by-s3.md"):
        assert (tmp_path / copy).read_bytes() == (tmp_path / "README.md").read_bytes()
    ran = (tmp_path / "afterbay.ran").read_text()
    assert "s3://demo/checkpoints" in ran
    # Else the job ends before its first checkpoint.
    assert "--rate" in ran and "--checkpoint-interval" in ran
    process.terminate()
    assert process.wait(timeout=PATIENCE) == 0


def test_the_first_chapter_of_the_guide(tmp_path):
    serve, greeting, commands = blocks("docs/blob.md", "Start")[:3]
    prepare(tmp_path)
    process, said = start(tmp_path, serve)
    assert {line.split("  ")[0] for line in greeting.splitlines()} == {*said, "ready"}
    # Each line by itself, so that the id that one prints can be used by those behind it.
    export, *lines = commands.splitlines()
    blob = None
    for line in lines:
        if " ID" in line:
            line = line.replace(" ID", " " + blob, 1)
        printed = shell(tmp_path, export + "\n" + line, said)
        if "--no-name" in line and blob is None:
            blob = printed.decode().strip()
        if "copy.pdf" in line:
            assert (tmp_path / "copy.pdf").read_bytes() == (tmp_path / "report.pdf").read_bytes()
    assert len(lines) >= 10
    process.terminate()
    assert process.wait(timeout=PATIENCE) == 0
