"""A parent and its child that have a connection and an epoll together: both ends of the connection, in one program."""

import os
import select
import socket
import sys

PATIENCE = 200


def say(*words):
    print(*words, flush=True)


def pair(times):
    listener = socket.create_server(("127.0.0.1", 0))
    asks = socket.create_connection(listener.getsockname())
    serves, _ = listener.accept()
    for _ in range(times):
        asks.sendall(b"x")
        assert serves.recv(1) == b"x"
        serves.sendall(b"y")
        assert asks.recv(1) == b"y"
    return asks, serves


def is_told(events, serves):
    """In the child."""
    told = events.poll(PATIENCE)
    assert told == [(serves.fileno(), select.EPOLLIN)], told
    assert serves.recv(1) == b"!"


def after_a_fork(asks, serves, child_does):
    """The parent closes its descriptor; then the child does, and is told of a byte."""
    goes_on, go_on = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(goes_on, 1)
        child_does()
        os._exit(0)
    serves.close()
    os.write(go_on, b"x")
    asks.sendall(b"!")
    _, status = os.waitpid(child, 0)
    say("told" if status == 0 else f"status {status}")
    sys.stdin.readline()


def registered():
    """It is in the epoll before the fork, and goes on there."""
    asks, serves = pair(1)
    events = select.epoll()
    events.register(serves.fileno(), select.EPOLLIN)
    after_a_fork(asks, serves, lambda: is_told(events, serves))


def taken_out():
    """It was in the epoll before the fork, and the child puts it in again."""
    asks, serves = pair(3)
    events = select.epoll()
    events.register(serves.fileno(), select.EPOLLIN)
    events.unregister(serves.fileno())

    def child_does():
        events.register(serves.fileno(), select.EPOLLIN)
        is_told(events, serves)

    after_a_fork(asks, serves, child_does)


globals()[sys.argv[1]]()
