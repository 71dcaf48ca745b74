"""Both ends of connections, as programs that know nothing of rings: one command each, written to be checked byte by byte.

A line on standard output says how far it is; what waits for the test waits for the end of standard input.
"""

import array
import asyncio
import ctypes
import errno
import fcntl
import hashlib
import os
import select
import selectors
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
import time

CHUNK = 1 << 16
# What an asker says to a server that goes without reading it.
UNREAD = b"nobody reads this"


def say(*words):
    print(*words, flush=True)


def wait_for_test():
    sys.stdin.buffer.read()


def available(sock):
    """Bytes that could be read now."""
    count = array.array("i", [0])
    fcntl.ioctl(sock, termios.FIONREAD, count)
    return count[0]


def pattern(start, length):
    """The bytes of every stream here, at a position."""
    block = b"".join(struct.pack("<I", (at * 2654435761) & 0xFFFFFFFF) for at in range(4096))
    begin = start % len(block)
    return (block * ((begin + length) // len(block) + 1))[begin : begin + length]


PATTERN = pattern(0, 1 << 20)


def listen(host="127.0.0.1", port=0):
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    listener.listen(64)
    say("port", listener.getsockname()[1])
    return listener


def write_pattern(sock, total):
    at = 0
    while at < total:
        begin = at % len(PATTERN)
        part = PATTERN[begin : begin + min(CHUNK * 3 + 7, total - at)]
        sock.sendall(part)
        at += len(part)


def check_pattern(sock, total=None):
    """Reads until the end, or so many bytes. How many, all of them right, and how it ended."""
    at = 0
    while total is None or at < total:
        try:
            part = sock.recv(CHUNK if total is None else min(CHUNK, total - at))
        except OSError as error:
            return at, errno.errorcode[error.errno]
        if not part:
            return at, "END"
        begin = at % len(PATTERN)
        assert (PATTERN + PATTERN)[begin : begin + len(part)] == part, f"bytes at {at}"
        at += len(part)
    return at, "ALL"


# Servers


def echo(host="127.0.0.1", port="0"):
    """Blocking, a thread for each connection."""

    def serve(sock):
        while part := sock.recv(CHUNK):
            sock.sendall(part)
        sock.shutdown(socket.SHUT_WR)
        sock.close()

    listener = listen(host, int(port))
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()


def echo_ready(kind):
    """One thread and readiness: select, poll, epoll, edge, oneshot."""
    listener = listen()
    listener.setblocking(False)
    if kind in ("select", "poll"):
        return echo_selector({"select": selectors.SelectSelector, "poll": selectors.PollSelector}[kind](), listener)
    extra = {"epoll": 0, "edge": select.EPOLLET, "oneshot": select.EPOLLONESHOT}[kind]
    ready = select.epoll()
    ready.register(listener.fileno(), select.EPOLLIN)
    socks, out, ended = {}, {}, set()
    while True:
        for fd, _events in ready.poll():
            if fd == listener.fileno():
                sock = listener.accept()[0]
                sock.setblocking(False)
                socks[sock.fileno()], out[sock.fileno()] = sock, b""
                ready.register(sock.fileno(), select.EPOLLIN | select.EPOLLRDHUP | extra)
                continue
            sock = socks[fd]
            # By edges, until nothing is left; otherwise one of each.
            while True:
                moved = False
                if len(out[fd]) < 4 * CHUNK and fd not in ended:
                    try:
                        part = sock.recv(CHUNK)
                        moved = True
                        out[fd] += part
                        if not part:
                            ended.add(fd)
                    except BlockingIOError:
                        pass
                if out[fd]:
                    try:
                        sent = sock.send(out[fd])
                        out[fd] = out[fd][sent:]
                        moved = True
                    except BlockingIOError:
                        pass
                if not moved or extra != select.EPOLLET:
                    break
            if fd in ended and not out[fd]:
                ready.unregister(fd)
                socks.pop(fd).close()
                ended.discard(fd)
                continue
            want = select.EPOLLOUT if out[fd] else 0
            if len(out[fd]) < 4 * CHUNK and fd not in ended:
                want |= select.EPOLLIN
            ready.modify(fd, want | extra)


def echo_selector(ready, listener):
    ready.register(listener, selectors.EVENT_READ)
    out, ended = {}, set()
    while True:
        for key, events in ready.select():
            sock = key.fileobj
            if sock is listener:
                sock = listener.accept()[0]
                sock.setblocking(False)
                out[sock] = b""
                ready.register(sock, selectors.EVENT_READ)
                continue
            if events & selectors.EVENT_READ:
                part = sock.recv(CHUNK)
                out[sock] += part
                if not part:
                    ended.add(sock)
            if events & selectors.EVENT_WRITE and out[sock]:
                out[sock] = out[sock][sock.send(out[sock]) :]
            if sock in ended and not out[sock]:
                ready.unregister(sock)
                sock.close()
                continue
            want = (selectors.EVENT_WRITE if out[sock] else 0) | (
                selectors.EVENT_READ if len(out[sock]) < 4 * CHUNK and sock not in ended else 0
            )
            ready.modify(sock, want)


def late(port, count):
    """Sockets that come into an epoll in which another thread waits already. How many of them it was told of by their names."""
    right = 0
    for _ in range(int(count)):
        ready, said = select.epoll(), []
        waiter = threading.Thread(target=lambda: said.extend(ready.poll()))
        waiter.start()
        with socket.create_connection(("127.0.0.1", int(port))) as sock:
            ready.register(sock, select.EPOLLIN)
            sock.sendall(b"late")
            waiter.join()
            right += said == [(sock.fileno(), select.EPOLLIN)] and sock.recv(4) != b""
        ready.close()
    say("right", right, "of", count)


def by_number(port, count):
    """Closes sockets by the system call's number, as libuv does. What gets the descriptor then is something else."""
    close = {"x86_64": 3, "aarch64": 57}[os.uname().machine]
    system = ctypes.CDLL(None, use_errno=True)
    right = 0
    for _ in range(int(count)):
        sock = socket.create_connection(("127.0.0.1", int(port)))
        for _ in range(3):
            sock.sendall(b"ring")
            assert sock.recv(4, socket.MSG_WAITALL) == b"ring"
        fd = sock.detach()
        assert system.syscall(ctypes.c_long(close), ctypes.c_long(fd)) == 0
        here, there = socket.socketpair()
        assert fd in (here.fileno(), there.fileno())
        here.sendall(b"here")
        there.sendall(b"there")
        right += (there.recv(9, socket.MSG_DONTWAIT), here.recv(9, socket.MSG_DONTWAIT)) == (b"here", b"there")
        here.close()
        there.close()
    say("right", right, "of", count)


def ringing(port):
    """A connection whose both directions are in rings."""
    sock = socket.create_connection(("127.0.0.1", int(port)))
    for _ in range(3):
        sock.sendall(b"ring")
        assert sock.recv(4, socket.MSG_WAITALL) == b"ring"
    return sock


def past(port, how):
    """The descriptor of a connection is closed where the library does not see it. What gets its number then is something else."""
    library = ctypes.CDLL(None)
    for name in ("fdopen", "freopen", "fopen"):
        getattr(library, name).restype = ctypes.c_void_p
    fd = ringing(port).detach()
    if how == "internal":
        assert getattr(library, "__close")(fd) == 0
    if how == "freopen":
        stream = ctypes.c_void_p(library.fdopen(fd, b"r+"))
        assert library.freopen(b"/dev/zero", b"r", stream)
        assert os.read(fd, 9) == bytes(9)
        return say("right")
    here, there = socket.socketpair()
    made = [here.fileno(), there.fileno()]
    more = []
    while fd not in made:
        more.append(socket.socketpair())
        here, there = more[-1]
        made = [here.fileno(), there.fileno()]
    here.sendall(b"here")
    there.sendall(b"there")
    assert (there.recv(9, socket.MSG_DONTWAIT), here.recv(9, socket.MSG_DONTWAIT)) == (b"here", b"there")
    say("right")


def own_data(port):
    """What a program has for itself in an epoll, which looks like what the library has there."""

    class Event(ctypes.Structure):
        _pack_ = 1
        _fields_ = [("events", ctypes.c_uint32), ("data", ctypes.c_uint64)]

    library = ctypes.CDLL(None, use_errno=True)
    ready = select.epoll()

    def control(operation, fd, data, events=select.EPOLLIN):
        assert library.epoll_ctl(ready.fileno(), operation, fd, ctypes.byref(Event(events, data))) == 0

    def told():
        events = (Event * 8)()
        # What comes is waited for, however long: no test waits for ever.
        count = library.epoll_wait(ready.fileno(), events, 8, -1)
        return sorted((event.data, event.events) for event in events[:count])

    add, change, delete = 1, 3, 2
    source, sink = os.pipe()
    names = [0xAFBA_0000_0000_0000, 0xAFBA_0001_0000_0001, 0xAFBA_FFFF_FFFF_FFFF]
    for name in names:
        control(add, source, name)
        os.write(sink, b"x")
        assert told() == [(name, select.EPOLLIN)], name
        control(change, source, name ^ 2)
        assert told() == [(name ^ 2, select.EPOLLIN)], name
        control(change, source, 7)
        assert told() == [(7, select.EPOLLIN)], name
        control(delete, source, 0)
        os.read(source, 1)
    # A connection, before and after it has rings.
    sock = socket.socket()
    control(add, sock.fileno(), names[1])
    sock.connect(("127.0.0.1", int(port)))
    for _ in range(3):
        sock.sendall(b"ring")
        assert told() == [(names[1], select.EPOLLIN)]
        assert sock.recv(4, socket.MSG_WAITALL) == b"ring"
    say("right")


def standard_output():
    """Answers by the C library's standard output, as servers that inetd could have started."""
    library = ctypes.CDLL(None)
    listener = listen()
    sock = listener.accept()[0]
    for _ in range(3):
        sock.sendall(sock.recv(4, socket.MSG_WAITALL))
    os.dup2(sock.fileno(), 1)
    sock.close()
    library.puts(b"printed")
    library.fflush(None)


def hear_print(port):
    sock = socket.create_connection(("127.0.0.1", int(port)))
    for _ in range(3):
        sock.sendall(b"ring")
        assert sock.recv(4, socket.MSG_WAITALL) == b"ring"
    say("heard", sock.recv(8, socket.MSG_WAITALL).decode().strip())


def echo_asyncio():
    async def serve(reader, writer):
        while part := await reader.read(CHUNK):
            writer.write(part)
            await writer.drain()
        writer.write_eof()
        writer.close()

    async def run():
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        say("port", server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


def echo_fork():
    """A process for each connection."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listener = listen()
    while True:
        sock = listener.accept()[0]
        if os.fork() == 0:
            listener.close()
            while part := sock.recv(CHUNK):
                sock.sendall(part)
            sock.close()
            os._exit(0)
        sock.close()


def echo_prefork():
    """Processes that wait for connections together."""
    listener = listen()
    for _ in range(2):
        if os.fork() == 0:
            while True:
                sock = listener.accept()[0]
                while part := sock.recv(CHUNK):
                    sock.sendall(part)
                sock.close()
    signal.pause()


def echo_shared():
    """Parent and child read and write one connection in turns."""
    sock = listen().accept()[0]
    turn_r, turn_w = os.pipe()
    back_r, back_w = os.pipe()
    child = os.fork() == 0
    read, write = (turn_r, back_w) if child else (back_r, turn_w)
    if not child:
        # The parent begins.
        os.write(back_w, b"x")
    while os.read(read, 1):
        part = sock.recv(1000)
        sock.sendall(part)
        os.write(write, b"x")
        if not part:
            break
    os._exit(0)


def echo_exec():
    """Another program has the connection, after some bytes."""
    sock = listen().accept()[0]
    first = sock.recv(1000, socket.MSG_WAITALL)
    sock.sendall(first)
    subprocess.Popen(["cat"], stdin=sock, stdout=sock).wait()


def echo_passed():
    """Another process gets the descriptor, after some bytes."""
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        ours.close()
        _, fds, _, _ = socket.recv_fds(theirs, 1, 1)
        sock = socket.socket(fileno=fds[0])
        while part := sock.recv(CHUNK):
            sock.sendall(part)
        os._exit(0)
    sock = listen().accept()[0]
    first = sock.recv(1000, socket.MSG_WAITALL)
    sock.sendall(first)
    socket.send_fds(ours, [b"x"], [sock.fileno()])
    sock.close()
    ours.close()
    os.wait()


def sink(size="0"):
    """Reads to the end, and says what came."""
    sock = listen().accept()[0]
    if int(size):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, int(size))
    say("got", *check_pattern(sock))
    wait_for_test()


def source(total):
    """Writes a stream; with a file's part by sendfile, and closes."""
    sock = listen().accept()[0]
    write_pattern(sock, int(total))
    say("wrote", total)
    sock.close()
    wait_for_test()


def refuse_to_read(how):
    """Answers, and goes: by a reset, or with bytes that it has not read."""
    sock = listen().accept()[0]
    # Until both directions are in rings.
    for _ in range(3):
        sock.recv(1)
        sock.sendall(b"answer")
    # A close without bytes that nobody has read would be no reset.
    while available(sock) < len(UNREAD):
        time.sleep(0.001)
    say("answered")
    wait_for_test()
    if how == "reset":
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()
    say("closed")


# Clients


def idle(port, count, total):
    """Connections that have exchanged so many bytes each, in small pieces, and do nothing now."""
    socks = [socket.create_connection(("127.0.0.1", int(port))) for _ in range(int(count))]
    piece = PATTERN[:2000]
    for sock in socks:
        for _ in range(int(total) // len(piece)):
            sock.sendall(piece)
            assert sock.recv(len(piece), socket.MSG_WAITALL) == piece
    say("idle", len(socks))
    wait_for_test()


def stream(host, port, total, hold="go"):
    """Sends a stream, reads it back, and holds the connection until the test has seen it."""
    sock = socket.create_connection((host, int(port)))
    total = int(total)
    # Some bytes, so that both ends have their rings.
    sock.sendall(PATTERN[:1000])
    first = sock.recv(1000, socket.MSG_WAITALL)
    assert first == PATTERN[:1000], "the first bytes"
    say("begun")
    writer = threading.Thread(target=write_pattern, args=(sock, total))
    writer.start()
    print("got", *check_pattern(sock, total), flush=True)
    writer.join()
    if hold == "hold":
        wait_for_test()
    sock.shutdown(socket.SHUT_WR)
    rest = sock.recv(1)
    say("end", len(rest))


def ping(port):
    """For each line of input, so many messages there and back."""
    sock = socket.create_connection(("127.0.0.1", int(port)))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for line in sys.stdin:
        right = 0
        for at in range(int(line)):
            message = PATTERN[at : at + 64]
            sock.sendall(message)
            right += sock.recv(64, socket.MSG_WAITALL) == message
        say(right, "right")


def count(total):
    """Reads so many bytes, and answers; then says whether there is a ring."""
    sock = listen().accept()[0]
    sock.sendall(b"%d" % check_pattern(sock, int(total))[0])
    with open("/proc/self/maps") as maps:
        say("ring" if "memfd:afterbay-net" in maps.read() else "no ring")
    # The end of either stream would wake who does not hear of the answer.
    wait_for_test()


def upload(port, how, total):
    """Writes a stream while another thread waits for the answer, which comes at its end."""
    sock = socket.create_connection(("127.0.0.1", int(port)))
    waits, answer = threading.Event(), []

    def read():
        waits.set()
        if how == "poll":
            ready = select.poll()
            ready.register(sock, select.POLLIN)
            assert ready.poll() == [(sock.fileno(), select.POLLIN)]
        if how == "select":
            assert select.select([sock], [], [])[0] == [sock]
        answer.append(sock.recv(100).decode())

    reader = threading.Thread(target=read)
    reader.start()
    waits.wait()
    written = 0
    while written < int(total):
        part = min(50_000, int(total) - written)
        begin = written % len(PATTERN)
        sock.sendall((PATTERN + PATTERN)[begin : begin + part])
        written += part
        if written == int(total):
            # The answer is the other thread's.
            break
        try:
            assert not sock.recv(1, socket.MSG_DONTWAIT), "nothing was there"
        except BlockingIOError:
            pass
    reader.join()
    say("got", *answer)


def flow(host, port):
    """Sends a stream and reads it back until the test has seen enough, and some MB more."""
    sock = socket.create_connection((host, int(port)))
    sock.sendall(PATTERN[:1000])
    assert sock.recv(1000, socket.MSG_WAITALL) == PATTERN[:1000], "the first bytes"
    say("begun")
    enough = threading.Event()
    threading.Thread(target=lambda: (wait_for_test(), enough.set()), daemon=True).start()
    written = [0]

    def write():
        end = None
        while end is None or written[0] < end:
            if end is None and enough.is_set():
                end = written[0] + 3_000_000
            begin = written[0] % len(PATTERN)
            part = PATTERN[begin : begin + 50_007]
            sock.sendall(part)
            written[0] += len(part)
        sock.shutdown(socket.SHUT_WR)

    writer = threading.Thread(target=write)
    writer.start()
    got, end = check_pattern(sock)
    writer.join()
    say("same" if got == written[0] else "other", end)


def streams(port, count, total):
    """Many at once, each from a thread of its own."""
    results = []

    def run():
        sock = socket.create_connection(("127.0.0.1", int(port)))
        writer = threading.Thread(target=lambda: (write_pattern(sock, int(total)), sock.shutdown(socket.SHUT_WR)))
        writer.start()
        results.append(check_pattern(sock))
        writer.join()
        sock.close()

    threads = [threading.Thread(target=run) for _ in range(int(count))]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    right = sum(result == (int(total), "END") for result in results)
    say("right", right, "of", count)


def pour(port, begin="1000"):
    """Writes until there is an error; says when it has begun, and which error it was."""
    sock = socket.create_connection(("127.0.0.1", int(port)))
    at = 0
    while True:
        begin = at % len(PATTERN)
        part = PATTERN[begin : begin + 5000]
        try:
            sock.sendall(part)
        except OSError as error:
            return say(errno.errorcode[error.errno])
        at += len(part)
        if at == 50_000:
            say("begun")


def drain(port):
    """Reads to the end, and says how it ended; then what a write says."""
    sock = socket.create_connection(("127.0.0.1", int(port)))
    say("got", *check_pattern(sock))
    wait_for_test()


def ask_and_wait(port):
    """What comes after an answer of a peer that goes with bytes that it has not read."""
    sock = socket.create_connection(("127.0.0.1", int(port)))
    for _ in range(3):
        sock.sendall(b"x")
        assert sock.recv(100) == b"answer"
    sock.sendall(UNREAD)
    say("asked")
    wait_for_test()
    try:
        said = "END" if sock.recv(100) == b"" else "BYTES"
    except OSError as error:
        said = errno.errorcode[error.errno]
    written = "NOTHING"
    for _ in range(1000):
        try:
            sock.sendall(b"y" * 1000)
        except OSError as error:
            written = errno.errorcode[error.errno]
            break
    say("read", said, "write", written)


def calls(port):
    """What calls say on a connection whose both directions are in rings."""
    sock = socket.create_connection(("127.0.0.1", int(port)))
    for _ in range(3):
        sock.sendall(b"0123456789")
        assert sock.recv(10, socket.MSG_WAITALL) == b"0123456789"
    # Peek, and how much there is.
    sock.sendall(b"abcdefgh")
    assert sock.recv(8, socket.MSG_PEEK | socket.MSG_WAITALL)[:1] == b"a"
    while available(sock) != 8:
        pass
    assert sock.recv(3, socket.MSG_PEEK) == b"abc"
    # Several buffers.
    one, two = bytearray(3), bytearray(10)
    assert sock.recvmsg_into([one, two])[0] == 8
    assert bytes(one) + bytes(two[:5]) == b"abcdefgh"
    assert sock.sendmsg([b"12", b"", b"345"]) == 5
    assert sock.recv(5, socket.MSG_WAITALL) == b"12345"
    # Nothing there.
    for act in (lambda: sock.recv(1, socket.MSG_DONTWAIT), lambda: nonblocking(sock)):
        try:
            act()
            raise AssertionError("nothing was there")
        except BlockingIOError:
            pass
    # Timeouts of the kernel's.
    sock.setblocking(True)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 50_000))
    began = time.monotonic()
    try:
        sock.recv(1)
        raise AssertionError("nothing was there")
    except BlockingIOError:
        assert time.monotonic() - began >= 0.045
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 0))
    # A copy of the descriptor.
    copy = os.dup(sock.fileno())
    assert os.write(copy, b"copy") == 4
    assert os.read(copy, 4) in (b"copy", b"c", b"co", b"cop")
    os.close(copy)
    # By read and write, and a part that is thrown away.
    os.write(sock.fileno(), b"q" * 100)
    left = 100
    while left:
        left -= len(os.read(sock.fileno(), left))
    # A signal whose handler does not restart calls.
    signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        sock.recv(1)
        raise AssertionError("a signal came")
    except KeyboardInterrupt:
        pass
    # Urgent data, and what comes after it.
    sock.sendall(b"before")
    assert sock.recv(6, socket.MSG_WAITALL) == b"before"
    sock.send(b"!", socket.MSG_OOB)
    sock.sendall(b"after")
    got = b""
    while len(got) < 5:
        got += sock.recv(100)
    assert got == b"after", got
    say("right")


def nonblocking(sock):
    sock.setblocking(False)
    return sock.recv(1)


def send_file(port, total):
    """A file by sendfile, between bytes by send."""
    import tempfile

    sock = socket.create_connection(("127.0.0.1", int(port)))
    total = int(total)
    with tempfile.TemporaryFile() as file:
        at = 0
        while at < total:
            begin = at % len(PATTERN)
            part = PATTERN[begin : begin + min(CHUNK, total - at)]
            file.write(part)
            at += len(part)
        file.flush()
        head = total // 3
        write_pattern(sock, head)
        at = head
        while at < total:
            at += os.sendfile(sock.fileno(), file.fileno(), at, total - at)
    sock.close()
    say("sent", total)


# No test waits for ever.
signal.alarm(240)
globals()[sys.argv[1].replace("-", "_")](*sys.argv[2:])
