"""A reader that takes a part of a stream out of memory, and gets the rest by other means; and its writer, which is gone by then."""

import ctypes
import os
import socket
import sys

TOTAL = 60_000
# By default, a connection has rings after 41 operations.
EXCHANGES = 60


def say(*words):
    print(*words, flush=True)


def content(length=TOTAL):
    return b"".join(b"%07d\n" % at for at in range(length // 8))


def by_exec(connection):
    os.dup2(connection.fileno(), 3)
    os.set_inheritable(3, True)
    os.execv("/bin/sh", ["sh", "-c", "cat <&3 >&2"])


def by_standard_input(connection):
    os.dup2(connection.fileno(), 0)
    os.execv("/bin/sh", ["sh", "-c", "cat >&2"])


def by_child(connection):
    import subprocess

    subprocess.run(["cat"], stdin=connection, stdout=2)


def by_passing(connection):
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        # A program without the library.
        connection.close()
        os.dup2(theirs.fileno(), 0)
        script = (
            "import socket, sys, os\n"
            "_, fds, _, _ = socket.recv_fds(socket.socket(fileno=0), 1, 1)\n"
            "passed = socket.socket(fileno=fds[0])\n"
            "while part := passed.recv(5000): os.write(2, part)\n"
        )
        os.environ.pop("LD_PRELOAD")
        os.execv(sys.executable, [sys.executable, "-c", script])
    socket.send_fds(ours, [b"x"], [connection.fileno()])
    connection.close()
    os.wait()


def by_splice(connection):
    source, sink = os.pipe()
    while moved := os.splice(connection.fileno(), sink, 3000):
        while moved:
            part = os.read(source, moved)
            moved -= len(part)
            os.write(2, part)


def by_stream(connection):
    library = ctypes.CDLL(None)
    library.fdopen.restype = ctypes.c_void_p
    stream = library.fdopen(connection.fileno(), b"r")
    assert library.fileno(ctypes.c_void_p(stream)) == connection.fileno()
    buffer = ctypes.create_string_buffer(777)
    while length := library.fread(buffer, 1, 777, ctypes.c_void_p(stream)):
        os.write(2, buffer.raw[:length])
    library.fclose(ctypes.c_void_p(stream))
    connection.detach()


def by_reading(connection):
    while part := connection.recv(5000):
        os.write(2, part)


by_demoted = by_reading


def reads(how):
    listener = socket.create_server(("127.0.0.1", 0))
    say(listener.getsockname()[1])
    connection, _ = listener.accept()
    # So that it has the ring; then a part of what is there.
    for _ in range(EXCHANGES):
        connection.recv(1)
        connection.sendall(b"!")
    os.write(2, connection.recv(800, socket.MSG_WAITALL))
    say("has a part")
    sys.stdin.readline()
    globals()["by_" + how](connection)


def writes(port, end):
    connection = socket.create_connection(("127.0.0.1", int(port)))
    for _ in range(EXCHANGES):
        connection.sendall(b"?")
        connection.recv(1)
    connection.sendall(content())
    if end == "half":
        connection.shutdown(socket.SHUT_WR)
    if end == "close":
        connection.close()
    if end == "exit":
        say("written")
        os._exit(0)
    say("written")
    sys.stdin.readline()
    # Behind what is in the ring.
    connection.sendall(b"more")
    connection.close()
    say("more")


globals()[sys.argv[1]](*sys.argv[2:])
