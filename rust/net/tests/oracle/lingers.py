"""A writer that ends when it has written, and a reader that is late: it gets all of it."""

import ctypes
import os
import signal
import socket
import struct
import sys

TOTAL = 64 << 10
LAST = 800
# A socket that has room for less.
LITTLE = 4096


def say(*words):
    print(*words, flush=True)


def wait():
    sys.stdin.readline()


def content():
    return b"".join(b"%07d\n" % at for at in range(TOTAL // 8))


def by__exit(connection):
    os._exit(0)


def by_exit(connection):
    sys.exit()


def by_exec(connection):
    os.execv("/bin/true", ["true"])


def by_exec_of_an_heir(connection):
    connection.set_inheritable(True)
    os.execv("/bin/true", ["true"])


def by_close(connection):
    connection.close()
    os._exit(0)


def by_close_and_exec(connection):
    connection.close()
    os.execv("/bin/true", ["true"])


def by_linger(connection):
    """Which does not wait here: as long as the kernel has nothing, it need not."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 1))
    connection.close()
    os._exit(0)


def by_shutdown(connection):
    connection.shutdown(socket.SHUT_WR)
    os._exit(0)


def by_stream(connection):
    """The last bytes are the C library's to write when the program ends."""
    library = ctypes.CDLL(None)
    library.fdopen.restype = ctypes.c_void_p
    stream = ctypes.c_void_p(library.fdopen(connection.detach(), b"w"))
    library.fwrite(content()[-LAST:], 1, LAST, stream)
    sys.exit()


def connects_with_little_room(port):
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LITTLE)
    connection.connect(("127.0.0.1", int(port)))
    return connection


def begins(connection):
    connection.sendall(b"?")
    connection.recv(1)


def writes(port, how, when):
    if when == "later":
        connection = connects_with_little_room(port)
    else:
        connection = socket.create_connection(("127.0.0.1", int(port)))
    begins(connection)
    connection.sendall(content()[:-LAST])
    if how != "stream":
        connection.sendall(content()[-LAST:])
    if when == "later":
        say("written")
        wait()
    globals()["by_" + how](connection)


def leaves_to_child(port, *_):
    """The child has the connection too, and does nothing with it."""
    connection = connects_with_little_room(port)
    begins(connection)
    connection.sendall(content())
    if os.fork() == 0:
        wait()
        os._exit(0)
    say("written")
    signal.pause()


def reads(when):
    listener = socket.create_server(("127.0.0.1", 0))
    if when == "later":
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, LITTLE)
    say(listener.getsockname()[1])
    connection, _ = listener.accept()
    connection.recv(1)
    connection.sendall(b"!")
    say("exchanged")
    wait()
    came = b""
    try:
        while part := connection.recv(5000):
            came += part
        end = "end"
    except OSError as error:
        end = str(error)
    say(came == content(), len(came), end)
    wait()


globals()[sys.argv[1]](*sys.argv[2:])
