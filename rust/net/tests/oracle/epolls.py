"""A parent and its child that have a connection and an epoll together: both ends of the connection, in one program."""

import os
import resource
import select
import socket
import sys

PATIENCE = 200
# How long a process waits that is told of nothing, in seconds.
WAITS = 1
# So often a thread sleeps that does not spin, at least. One that spins has used a processor for so many seconds before.
SLEEPS = 20
SPINS = 0.5


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


def is_told_of_nothing(parent_does):
    """A child that waits by its parent's epoll, where the parent has something ready that the child knows nothing of."""
    asks, serves = pair(60)
    events = select.epoll()
    events.register(serves.fileno(), select.EPOLLIN)
    goes_on, go_on = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(goes_on, 1)
        slept = used = 0
        told = []
        before = resource.getrusage(resource.RUSAGE_THREAD)
        # Time in which the process is held up is no time in which it sleeps or spins.
        while not told and slept <= SLEEPS and used <= SPINS:
            told = events.poll(WAITS)
            now = resource.getrusage(resource.RUSAGE_THREAD)
            slept = now.ru_nvcsw - before.ru_nvcsw
            used = now.ru_utime + now.ru_stime - before.ru_utime - before.ru_stime
        say(f"slept {slept}" if not told else f"told {told}")
        os._exit(0)
    kept = parent_does(events, serves)
    os.write(go_on, b"x")
    os.waitpid(child, 0)
    sys.stdin.readline()
    return kept


def of_another_connection(events, _):
    asks, serves = pair(60)
    events.register(serves.fileno(), select.EPOLLIN)
    asks.sendall(b"!")
    return asks, serves


def of_another_wish(events, serves):
    events.modify(serves.fileno(), select.EPOLLIN | select.EPOLLOUT)


def another_connection():
    is_told_of_nothing(of_another_connection)


def another_wish():
    is_told_of_nothing(of_another_wish)


globals()[sys.argv[1]]()
