"""A reader that leaves memory while its writer cannot send again: another program goes on, by way of a relay."""

import errno
import os
import resource
import select
import socket
import struct
import sys
import time

# More than a socket has room for whose reader does not read.
TOTAL = 200_000
TAKEN = 800
# A ring that has not grown has room for it.
FITS = 40_000
SOME = 16
# A socket that has room for less than the ring.
LITTLE = 4096
# So often a thread sleeps that does not spin, at least. One that spins has used a processor for so many seconds before.
SLEEPS = 20
SPINS = 0.5


def say(*words):
    print(*words, flush=True)


def wait():
    sys.stdin.readline()


def content():
    return b"".join(b"%07d\n" % at for at in range(TOTAL // 8))


def name_of(error):
    return errno.errorcode[error.errno]


def make_room(connection):
    """Returns when the ring has grown: it does so when it was full, and has been read."""
    sent = taken = fitted = 0
    # Once may be because the reader has read meanwhile.
    while fitted < 5:
        size = connection.send(bytes(TOTAL), socket.MSG_DONTWAIT)
        fitted = fitted + 1 if size == TOTAL else 0
        sent += size
        while taken < sent:
            (taken,) = struct.unpack("q", connection.recv(8, socket.MSG_WAITALL))
    connection.sendall(b".")
    connection.recv(8, socket.MSG_WAITALL)


def take_all(connection):
    """Says after each piece how many bytes have come, until a full stop."""
    came, part = 0, b""
    while not part.endswith(b"."):
        part = connection.recv(TOTAL)
        came += len(part)
        time.sleep(0.02)
        connection.sendall(struct.pack("q", came))


def writes(port, end):
    connection = socket.create_connection(("127.0.0.1", int(port)))
    connection.sendall(b"?")
    connection.recv(1)
    make_room(connection)
    connection.sendall(content())
    say("written")
    wait()
    if end == "reset":
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
        say("reset")
    wait()
    try:
        say(f"read {connection.recv(100)}")
        events = select.poll()
        events.register(connection.fileno(), 0)
        events.poll()
        say("the other end is gone")
    except OSError as error:
        say(name_of(error))
    wait()


def connects_with_little_room(port):
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LITTLE)
    connection.connect(("127.0.0.1", int(port)))
    return connection


def begins(connection):
    """Its bytes are in memory, and do not fit into its socket."""
    connection.sendall(b"?")
    connection.recv(1)
    make_room(connection)
    connection.sendall(content()[:-8])


def writer_with_little_room(port):
    connection = connects_with_little_room(port)
    begins(connection)
    return connection


def fill(connection):
    """Until there is no room in memory. How many bytes."""
    connection.sendall(content()[-8:])
    more = 0
    try:
        while True:
            more += connection.send(bytes(TOTAL), socket.MSG_DONTWAIT)
    except BlockingIOError:
        return more


def waits_for_room(connection, into):
    """By edges, and does nothing else."""
    events = select.epoll()
    events.register(connection.fileno(), select.EPOLLOUT | select.EPOLLET)
    while events.poll(0):
        pass
    os.write(into, b"x")
    events.poll()
    say("told")
    wait()


def writes_with_child(port):
    """What is written is the child's to send, too."""
    connection = writer_with_little_room(port)
    output, into = os.pipe()
    child = os.fork()
    if child == 0:
        connection.sendall(content()[-8:])
        os.write(into, b"x")
        wait()
        return
    os.read(output, 1)
    say(child)
    wait()


def leaves_to_child(port):
    """The parent closes it while what is written waits for room; its child goes on."""
    connection = writer_with_little_room(port)
    output, into = os.pipe()
    goes_on, go_on = os.pipe()
    child = os.fork()
    if child == 0:
        connection.sendall(content()[-8:])
        os.write(into, b"x")
        os.read(goes_on, 1)
        connection.sendall(b"!")
        return
    os.read(output, 1)
    say(child)
    wait()
    connection.close()
    say("closed")
    wait()
    os.write(go_on, b"x")
    wait()


def waits_by_epoll(port):
    """The child waits for room."""
    connection = writer_with_little_room(port)
    more = fill(connection)
    output, into = os.pipe()
    child = os.fork()
    if child == 0:
        return waits_for_room(connection, into)
    os.read(output, 1)
    say(child, more)
    wait()


def waits_by_later_epoll(port):
    """The child was there before the first byte was in memory, and has neither read nor written."""
    connection = connects_with_little_room(port)
    output, into = os.pipe()
    goes_on, go_on = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(goes_on, 1)
        return waits_for_room(connection, into)
    begins(connection)
    more = fill(connection)
    os.write(go_on, b"x")
    os.read(output, 1)
    say(child, more)
    wait()


def sends_a_file(port):
    """What is written has to be sent before the file's bytes: how often the call slept meanwhile."""
    connection = writer_with_little_room(port)
    connection.sendall(content()[-8:])
    say("written")
    wait()
    connection.setblocking(False)
    slept = used = 0
    before = resource.getrusage(resource.RUSAGE_THREAD)
    # Time in which the process is held up is no time in which it sleeps or spins.
    while slept <= SLEEPS and used <= SPINS:
        try:
            os.sendfile(connection.fileno(), os.open(sys.executable, os.O_RDONLY), 0, 1)
            break
        except BlockingIOError:
            pass
        now = resource.getrusage(resource.RUSAGE_THREAD)
        slept = now.ru_nvcsw - before.ru_nvcsw
        used = now.ru_utime + now.ru_stime - before.ru_utime - before.ru_stime
    say(slept)
    wait()


def writes_with_copy(port):
    """The first of two descriptors is closed while what is written waits for room."""
    connection = writer_with_little_room(port)
    connection.sendall(content()[-8:])
    copy = os.dup(connection.fileno())
    say("written")
    wait()
    os.close(connection.detach())
    say("closed")
    wait()
    os.close(copy)


def writes_with_lower_copy(port):
    """What was opened first is closed, and another descriptor has the lowest number."""
    low = os.open(os.devnull, os.O_RDONLY)
    connection = writer_with_little_room(port)
    connection.sendall(content()[-8:])
    copy = os.dup(connection.fileno())
    os.close(connection.detach())
    os.dup2(copy, low)
    say("written")
    wait()


def reads(how):
    listener = socket.create_server(("127.0.0.1", 0))
    if how == "late":
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, LITTLE)
    say(listener.getsockname()[1])
    connection, _ = listener.accept()
    connection.recv(1)
    connection.sendall(b"!")
    take_all(connection)
    assert connection.recv(TAKEN, socket.MSG_WAITALL) == content()[:TAKEN]
    say("has a part")
    wait()
    globals()["by_" + how](connection)


def becomes(connection, *words):
    os.dup2(connection.fileno(), 3)
    os.set_inheritable(3, True)
    os.execv(sys.executable, [sys.executable, "-c", os.environ["SCRIPT"], *words])


def by_exec(connection):
    becomes(connection, "goes_on", "3")


def goes_on(fd):
    """A program that reads late."""
    connection = socket.socket(fileno=int(fd))
    # A relay that is too quick has a moment to be so.
    events = select.poll()
    events.register(connection.fileno(), 0)
    events.poll(1000)
    say("begins")
    wait()
    came = b""
    try:
        while part := connection.recv(5000):
            came += part
        end = "END"
    except OSError as error:
        end = name_of(error)
    say(came == content()[TAKEN:], len(came), end)


def by_late(connection):
    say(connection.recv(TOTAL - TAKEN, socket.MSG_WAITALL) == content()[TAKEN:])
    more = int(sys.stdin.readline() or 0)
    say(connection.recv(more, socket.MSG_WAITALL)[-1:])


def by_half(connection):
    becomes(connection, "takes_all", "3")


def takes_all(fd):
    connection = socket.socket(fileno=int(fd))
    came = connection.recv(TOTAL - TAKEN, socket.MSG_WAITALL)
    say(came == content()[TAKEN:])
    connection.close()
    say("closed")
    wait()


def by_child(connection):
    """A child hands it on; its parent has a descriptor that does not wait."""
    connection.setblocking(False)
    output, into = os.pipe()
    if os.fork() == 0:
        script = f"import os\nleft = {TOTAL - TAKEN}\nwhile left: left -= len(os.read(0, left))\nos.write({into}, b'x')\nos.read(0, 1)"
        os.set_inheritable(into, True)
        os.set_blocking(0, True)
        os.dup2(connection.fileno(), 0)
        os.set_blocking(0, True)
        os.execv(sys.executable, [sys.executable, "-c", script])
    os.read(output, 1)
    try:
        say(connection.recv(100))
    except OSError as error:
        say(name_of(error))
    wait()


def writes_some(port):
    """Connections that end with what is in memory."""
    connections = [socket.create_connection(("127.0.0.1", int(port))) for _ in range(SOME)]
    for connection in connections:
        connection.sendall(b"?")
        connection.recv(1)
        connection.sendall(content()[:FITS])
    for connection in connections:
        connection.close()
    say("written")
    wait()


def reads_some():
    listener = socket.create_server(("127.0.0.1", 0))
    say(listener.getsockname()[1])
    connections = [listener.accept()[0] for _ in range(SOME)]
    for connection in connections:
        connection.recv(1)
        connection.sendall(b"!")
        assert connection.recv(TAKEN, socket.MSG_WAITALL) == content()[:TAKEN]
        connection.set_inheritable(True)
    say("has a part")
    wait()
    fds = [str(connection.fileno()) for connection in connections]
    os.execv(sys.executable, [sys.executable, "-c", os.environ["SCRIPT"], "has_some", *fds])


def has_some(*fds):
    for fd in fds:
        connection = socket.socket(fileno=int(fd))
        came = b""
        while part := connection.recv(5000):
            came += part
        say(came == content()[TAKEN:FITS], len(came))


MANY = 150


def asks_many(port):
    connections = [socket.create_connection(("127.0.0.1", int(port))) for _ in range(MANY)]
    for connection in connections:
        connection.sendall(b"x")
        assert connection.recv(1) == b"x"
    say("asked")
    wait()


def serves_many():
    listener = socket.create_server(("127.0.0.1", 0))
    say(listener.getsockname()[1])
    connections = [listener.accept()[0] for _ in range(MANY)]
    for connection in connections:
        connection.sendall(connection.recv(1))
    wait()
    if os.fork() == 0:
        # It has them too, so that no relay is needed.
        wait()
        os._exit(0)
    for connection in connections:
        connection.set_inheritable(True)
    os.execv("/bin/sh", ["sh", "-c", "echo here; cat"])


def by_limit(connection):
    """No descriptors for a relay."""
    said = os.dup(0)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, limits[1]))
    os.dup2(connection.fileno(), 0)
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    loses(said)


def by_fork(connection):
    """No processes for one: those of the namespace have ended with its first one."""
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    said = os.dup(0)
    os.dup2(connection.fileno(), 0)
    loses(said)


def loses(said):
    say("handed on")
    os.read(said, 1)
    os.execv("/bin/cat", ["cat"])


globals()[sys.argv[1]](*sys.argv[2:])
