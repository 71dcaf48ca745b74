"""Two programs that talk: what one sends, the other sends back.

echo.py serve ADDRESS         prints its port, and serves until its input ends
echo.py ask ADDRESS PORT      for each line of input, a number of bytes: sends so many, checks what comes back, prints it
"""
import hashlib
import random
import selectors
import socket
import sys
import threading


def serve(address):
    listener = socket.create_server((address, 0))
    print(listener.getsockname()[1], flush=True)
    threading.Thread(target=accept, args=(listener,), daemon=True).start()
    sys.stdin.read()


def accept(listener):
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=echo, args=(connection,), daemon=True).start()


def echo(connection):
    while content := connection.recv(70_000):
        connection.sendall(content)
    connection.close()


def ask(address, port):
    connection = socket.create_connection((address, port))
    connection.setblocking(False)
    selector = selectors.DefaultSelector()
    selector.register(connection, selectors.EVENT_READ | selectors.EVENT_WRITE)
    numbers = random.Random(port)
    print("connected", flush=True)
    for line in sys.stdin:
        print(exchange(connection, selector, numbers, int(line)), flush=True)


def exchange(connection, selector, numbers, length):
    sent, received = hashlib.sha256(), hashlib.sha256()
    to_send, to_receive, waiting = length, length, b""
    while to_receive:
        wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if to_send or waiting else 0)
        selector.modify(connection, wanted)
        for _, ready in selector.select():
            if ready & selectors.EVENT_READ:
                try:
                    content = connection.recv(numbers.randint(1, 100_000))
                except BlockingIOError:
                    content = None
                if content == b"":
                    return f"ended {to_receive} bytes too early"
                received.update(content or b"")
                to_receive -= len(content or b"")
            if ready & selectors.EVENT_WRITE and (to_send or waiting):
                if not waiting:
                    waiting = numbers.randbytes(min(to_send, numbers.randint(1, 100_000)))
                    sent.update(waiting)
                    to_send -= len(waiting)
                try:
                    waiting = waiting[connection.send(waiting):]
                except BlockingIOError:
                    pass
    return f"{length} bytes" if sent.digest() == received.digest() else "other bytes"


if sys.argv[1] == "serve":
    serve(sys.argv[2])
else:
    ask(sys.argv[2], int(sys.argv[3]))
