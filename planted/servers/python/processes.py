"""python3 processes.py PORT COUNT MS: COUNT processes that were forked before the first request, as Gunicorn's are. Each
accepts one connection at a time, answers after MS and closes: COUNT/MS a second. The parent only waits for them."""

import os
import socket
import sys
import time

port, count, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]) / 1e3
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"


def converse(client):
    head = b""
    while b"\r\n\r\n" not in head:
        data = client.recv(4096)
        if not data:
            return
        head += data
    time.sleep(seconds)
    client.sendall(ANSWER)


def serve(listener):
    while True:
        client, _ = listener.accept()
        with client:
            try:
                converse(client)
            except ConnectionError:
                pass


listener = socket.create_server(("127.0.0.1", port), backlog=4096)
for _ in range(count):
    if os.fork() == 0:
        serve(listener)
os.wait()
