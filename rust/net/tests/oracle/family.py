"""Both ends of a connection, of which one has children in another namespace of processes."""

import errno
import os
import socket
import sys


def say(*words):
    print(*words, flush=True)


# Until a connection has rings, also by default: it has them after 41 operations.
def serves():
    listener = socket.create_server(("127.0.0.1", 0))
    say(listener.getsockname()[1])
    connection, _ = listener.accept()
    for _ in range(60):
        connection.sendall(connection.recv(1))
    sys.stdin.readline()
    child = os.fork()
    if child == 0:
        # It is the first process of its namespace.
        alone = os.getpid() == 1
        connection.close()
        os._exit(0 if alone else 1)
    _, status = os.waitpid(child, 0)
    assert status == 0, status
    say("the child is gone")
    sys.stdin.readline()
    connection.sendall(b"after the child")
    sys.stdin.readline()
    try:
        os.fork()
    except OSError as error:
        # The namespace has ended with its first process.
        assert error.errno == errno.ENOMEM, error
        connection.close()
        say("no second child")
    sys.stdin.readline()


def asks(port):
    connection = socket.create_connection(("127.0.0.1", int(port)))
    for _ in range(60):
        connection.sendall(b"x")
        assert connection.recv(1) == b"x"
    say("in memory")
    sys.stdin.readline()
    say(connection.recv(100).decode())
    # Nobody reads it.
    connection.sendall(b"a word")
    say("unread")
    sys.stdin.readline()
    try:
        say(f"read {connection.recv(100)}")
    except OSError as error:
        say(errno.errorcode[error.errno])


globals()[sys.argv[1]](*sys.argv[2:])
