"""Both ends of a connection in one program, and calls on them that few programs make. It says what each comes to."""

import array
import ctypes
import fcntl
import os
import select
import signal
import socket
import sys
import termios
import threading

PATIENCE = 200
LIBC = ctypes.CDLL(None, use_errno=True)
# As in linux/sched.h and asm-generic/unistd.h, which are the same on all machines.
SYS_CLOSE_RANGE = 436
SYS_IO_URING_SETUP = 425
CLOSE_RANGE_CLOEXEC = 4
TCP_ULP = 31
# Connections that stay open.
kept = []


def say(*words):
    print(*words, flush=True)


def exchange(asks, serves, times=1):
    for _ in range(times):
        asks.sendall(b"x")
        assert serves.recv(1) == b"x"
        serves.sendall(b"y")
        assert asks.recv(1) == b"y"


def pair():
    listener = socket.create_server(("127.0.0.1", 0))
    asks = socket.create_connection(listener.getsockname())
    serves, _ = listener.accept()
    exchange(asks, serves, 3)
    return asks, serves


def number(sock, request):
    count = array.array("i", [-1])
    fcntl.ioctl(sock.fileno(), request, count)
    return count[0]


def an_epoll_in_an_epoll():
    asks, serves = pair()
    inner, outer, polls = select.epoll(), select.epoll(), select.poll()
    inner.register(serves.fileno(), select.EPOLLIN)
    outer.register(inner.fileno(), select.EPOLLIN)
    polls.register(inner.fileno(), select.POLLIN)
    say("quiet", inner.poll(0), outer.poll(0), polls.poll(0))
    for _ in range(3):
        asks.sendall(b"!")
        say("outer", outer.poll(PATIENCE) == [(inner.fileno(), select.EPOLLIN)])
        say("poll", polls.poll(1000 * PATIENCE) == [(inner.fileno(), select.POLLIN)])
        say("select", select.select([inner], [], [], PATIENCE)[0] == [inner])
        say("inner", inner.poll(PATIENCE) == [(serves.fileno(), select.EPOLLIN)])
        say(serves.recv(10))
        say("quiet", inner.poll(0), outer.poll(0), polls.poll(0))
    return asks, serves


def numbers_of_bytes():
    asks, serves = pair()
    asks.sendall(b"x" * 1000)
    while number(serves, termios.FIONREAD) < 1000:
        pass
    say("unread", number(serves, termios.FIONREAD), number(asks, termios.FIONREAD))
    say(len(serves.recv(400)), number(serves, termios.FIONREAD))
    say(len(serves.recv(1000)), number(serves, termios.FIONREAD))
    while number(asks, termios.TIOCOUTQ) > 0:
        pass
    say("unsent", number(asks, termios.TIOCOUTQ))
    return asks, serves


def close_range(how, first, last, flags):
    if how == "syscall":
        return LIBC.syscall(SYS_CLOSE_RANGE, first, last, flags)
    return LIBC.close_range(first, last, flags)


def ranges_that_are_closed():
    for how in ["syscall"] + ["function"] * hasattr(LIBC, "close_range"):
        asks, serves = pair()
        say(how, close_range(how, asks.fileno(), asks.fileno(), CLOSE_RANGE_CLOEXEC))
        exchange(asks, serves)
        say("inheritable", asks.get_inheritable())
        asks.sendall(b"the last")
        closed = asks.detach()
        say(close_range(how, closed, closed, 0), serves.recv(20), serves.recv(20))
        try:
            os.fstat(closed)
        except OSError as error:
            say(error.errno)
    return pair()


def another_file_over_a_socket_that_a_thread_reads():
    """So Java closes: the thread is woken by a signal, and finds a file there that has ended."""
    signal.signal(signal.SIGUSR1, lambda *_: None)
    asks, serves = pair()
    ended, marker = socket.socketpair()
    ended.close()
    came = []
    begins = threading.Event()

    def reads():
        begins.set()
        came.append(serves.recv(10))

    thread = threading.Thread(target=reads)
    thread.start()
    begins.wait()
    os.dup2(marker.fileno(), serves.fileno())
    while thread.is_alive():
        signal.pthread_kill(thread.ident, signal.SIGUSR1)
        thread.join(0.01)
    say(came, asks.recv(10))
    return pair()


def tls_in_the_kernel():
    asks, serves = pair()
    for end in asks, serves:
        try:
            end.setsockopt(socket.IPPROTO_TCP, TCP_ULP, b"tls\0")
            say("tls")
        except OSError as error:
            say(error.errno)
    exchange(asks, serves, 3)
    return asks, serves


def io_uring():
    """A ring of four entries, with parameters of 120 bytes; a connection from before, and one from afterwards."""
    before = pair()
    ring = LIBC.syscall(SYS_IO_URING_SETUP, 4, ctypes.create_string_buffer(120))
    say("ring" if ring >= 0 else "no ring")
    exchange(*before, 3)
    kept.extend(pair())
    return before


def many_connections():
    """The first ones are closed when somebody says so, and then there is one more."""
    pairs = [pair() for _ in range(12)]
    for asks, serves in pairs:
        exchange(asks, serves, 3)
    say("end")
    sys.stdin.readline()
    for asks, serves in pairs[:6]:
        asks.close()
        say(serves.recv(1))
        serves.close()
    del pairs[:6]
    pairs.append(pair())
    kept.extend(pairs)
    return pairs[-1]



def nothing_else():
    return pair()


ends = globals()[sys.argv[1]]()
say("end")
sys.stdin.readline()
exchange(*ends)
