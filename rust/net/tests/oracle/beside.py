"""What a connection's calls say beside its bytes, and take beside them: both ends in one program."""

import ctypes
import errno
import os
import socket
import struct
import sys
import time

# Of the kernel.
TCP_INQ, TCP_CM_INQ = 36, 36
SO_TIMESTAMP = 29
# By machine.
IOCTL, GETSOCKOPT = (16, 29), (55, 209)
ROOM = 200
PATIENCE = 60


def say(*words):
    print(*words, flush=True)


def wait():
    sys.stdin.readline()


def pair(listener):
    asks = socket.create_connection(listener.getsockname())
    return asks, listener.accept()[0]


def exchange(asks, serves, times):
    """What was said beside the bytes, each time."""
    said = []
    for at in range(times):
        asks.sendall(bytes([at]))
        content, beside, flags, _ = serves.recvmsg(ROOM, ROOM)
        assert content == bytes([at]) and flags == 0, (content, flags)
        said.append([(level, kind, len(data)) for level, kind, data in beside])
        serves.sendall(b"!")
        assert asks.recv(1) == b"!"
    return said


def has_times(asks, serves):
    """Returns when the kernel notes when packets come: some milliseconds after the first socket has asked for it."""
    end = time.monotonic() + PATIENCE
    while not exchange(asks, serves, 1)[0]:
        assert time.monotonic() < end, "the kernel says no times"


def same(said):
    assert all(one == said[0] for one in said), said
    return said[0]


def queue(asks, serves):
    """How many bytes are left, as long as there are no rings."""
    serves.setsockopt(socket.IPPROTO_TCP, TCP_INQ, 1)
    asks.sendall(b"0123456789")
    serves.recv(10, socket.MSG_PEEK | socket.MSG_WAITALL)
    for room in (4, 0):
        content, beside, flags, _ = serves.recvmsg(4, ROOM if room else 0)
        say(content, beside, flags)
    say(serves.recv(2))
    serves.setsockopt(socket.IPPROTO_TCP, TCP_INQ, 0)


def times(with_queue):
    listener = socket.create_server(("127.0.0.1", 0))
    asks, serves = pair(listener)
    if with_queue == "queue":
        queue(asks, serves)
    say(same(exchange(asks, serves, 100)))
    say("plain or in rings")
    wait()
    serves.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMP, 1)
    has_times(asks, serves)
    say(same(exchange(asks, serves, 100)))
    both = asks, serves
    # From the beginning, since the listening socket has it.
    listener.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMP, 1)
    asks, serves = pair(listener)
    say(same(exchange(asks, serves, 100)))
    for _ in range(2):
        try:
            say(asks.sendmsg([b"x"], [(socket.SOL_SOCKET, 999, b"none")]))
        except OSError as error:
            say(errno.errorcode[error.errno])
    exchange(asks, serves, 10)
    say("end")
    wait()
    return both


def closes_full():
    """Closes a stream of the C library that does not wait, with more in it than there is room for."""
    asks, serves = pair(socket.create_server(("127.0.0.1", 0)))
    exchange(asks, serves, 100)
    library = ctypes.CDLL(None, use_errno=True)
    library.fdopen.restype = ctypes.c_void_p
    asks.setblocking(False)
    stream = ctypes.c_void_p(library.fdopen(asks.detach(), b"w"))
    content = b"".join(b"%07d\n" % at for at in range(2_000_000))
    room = ctypes.create_string_buffer(len(content) + 1)
    assert library.setvbuf(stream, room, 0, ctypes.c_size_t(len(room))) == 0
    assert library.fwrite(content, ctypes.c_size_t(1), ctypes.c_size_t(len(content)), stream) == len(content)
    closed = library.fclose(stream)
    say(closed, errno.errorcode[ctypes.get_errno()])
    came = b"".join(iter(lambda: serves.recv(1 << 20), b""))
    say(0 < len(came) < len(content), content.startswith(came))
    wait()


def forbid(*calls):
    """From now on a system call of these ends the program."""
    at = ["x86_64", "aarch64"].index(os.uname().machine)
    load, jump_if_equal, give, end = 0x20, 0x15, 0x06, 0x80000000
    program = [(load, 0, 0, 0)]
    for numbers in calls:
        program += [(jump_if_equal, 0, 1, numbers[at]), (give, 0, 0, end)]
    program.append((give, 0, 0, 0x7FFF0000))
    filters = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in program))
    head = struct.pack("HxxxxxxP", len(program), ctypes.addressof(filters))
    library = ctypes.CDLL(None, use_errno=True)
    no_new_privileges, set_seccomp, by_filter = 38, 22, 2
    assert library.prctl(no_new_privileges, 1, 0, 0, 0) == 0
    assert library.prctl(set_seccomp, by_filter, head, 0, 0) == 0, ctypes.get_errno()


def splices():
    """By the kernel alone, before the connection has carried so much that it may get rings."""
    asks, serves = pair(socket.create_server(("127.0.0.1", 0)))
    source, sink = os.pipe()
    for at in range(25):
        if at == 5:
            forbid(IOCTL, GETSOCKOPT)
        asks.sendall(bytes([at]) * 100)
        came = b""
        while len(came) < 100:
            came += os.read(source, os.splice(serves.fileno(), sink, 70))
        assert came == bytes([at]) * 100
    say("spliced")
    wait()


globals()[sys.argv[1]](*sys.argv[2:])
