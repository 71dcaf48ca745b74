"""How far puts and gets are, on a terminal."""

import os
import pty
import subprocess

import pytest
from conftest import PROGRAM, run_server
from program import PATIENCE

LENGTH = 9_000_000
CLEAR = "\r\x1b[K"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """What commands need to reach a server, and a folder with a file."""
    folder = tmp_path_factory.mktemp("progress")
    addresses = ["--listen", "127.0.0.1:0", "--s3", "none", "--admin", "none"]
    process, said = run_server([PROGRAM, "serve", "--data", str(folder / "data"), *addresses], folder)
    (folder / "report.pdf").write_bytes(os.urandom(LENGTH))
    environment = {
        "AFTERBAY_BLOB_SERVER": said["native protocol"].split()[0],
        "AFTERBAY_BLOB_KEY_FILE": str(folder / "data" / "root-key"),
    }
    yield folder, environment
    process.terminate()
    assert process.wait(timeout=PATIENCE) == 0


def on_terminal(server, *arguments):
    """What a command shows on a terminal that is its standard error."""
    folder, environment = server
    ours, its = pty.openpty()
    process = subprocess.Popen([PROGRAM, *arguments], env=environment, cwd=folder, stdout=subprocess.DEVNULL, stderr=its)
    os.close(its)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other side is closed
            piece = b""
        if not piece:
            break
        shown += piece
    os.close(ours)
    assert process.wait(timeout=PATIENCE) == 0, shown
    return shown.decode()


@pytest.mark.parametrize("arguments", [("put", "report.pdf", "papers/report.pdf"), ("get", "papers/report.pdf", "copy.pdf")])
def test_a_bar_on_a_terminal(server, arguments):
    shown = on_terminal(server, *arguments)
    lines = shown.split(CLEAR)
    # Each line replaces the one before, and at the end there is none.
    assert lines[0] == "" and lines[-1] == "" and len(lines) >= 3, shown
    what = "report.pdf" if arguments[0] == "put" else "papers/report.pdf"
    for line in lines[1:-1]:
        assert line.startswith(what + " [") and " of 8.6 MiB " in line and line.endswith("/s"), line
    folder, _ = server
    if arguments[0] == "get":
        assert (folder / "copy.pdf").read_bytes() == (folder / "report.pdf").read_bytes()


def test_one_bar_over_all_files(server):
    folder, _ = server
    (folder / "many").mkdir()
    for number in range(9):
        (folder / "many" / str(number)).write_bytes(os.urandom(1_000_000))
    for arguments in [("put", "many", "papers/many", "-r"), ("get", "papers/many", "copies", "-r")]:
        lines = on_terminal(server, *arguments).split(CLEAR)
        assert lines[0] == "" and lines[-1] == "" and len(lines) >= 3, lines
        assert all(line.startswith("papers/many/ [") and " of 8.6 MiB " in line for line in lines[1:-1]), lines
    for number in range(9):
        assert (folder / "copies" / str(number)).read_bytes() == (folder / "many" / str(number)).read_bytes()


def test_no_bar_if_nobody_wants_it(server):
    assert on_terminal(server, "put", "report.pdf", "papers/quiet.pdf", "--quiet") == ""
    folder, environment = server
    piped = subprocess.run(
        [PROGRAM, "put", "report.pdf", "papers/piped.pdf"], env=environment, cwd=folder, capture_output=True, timeout=PATIENCE
    )
    assert (piped.returncode, piped.stderr) == (0, b"")
