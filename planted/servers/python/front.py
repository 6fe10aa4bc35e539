"""python3 front.py PORT COUNT MS: one process reads all requests and hands each to one of COUNT others that is free, as those behind
a web server are; each of them answers after MS: COUNT/MS a second."""

import asyncio
import os
import socket
import sys
import time

port, count, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]) / 1e3
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


def work(asked):
    while asked.recv(1):
        time.sleep(seconds)
        asked.sendall(b"!")


def fork():
    """A connection to a process that works."""
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        ours.close()
        work(theirs)
        os._exit(0)
    theirs.close()
    ours.setblocking(False)
    return ours


async def main(workers):
    loop = asyncio.get_running_loop()
    free = asyncio.Queue()
    for worker in workers:
        free.put_nowait(worker)

    async def converse(reader, writer):
        try:
            while True:
                await reader.readuntil(b"\r\n\r\n")
                worker = await free.get()
                try:
                    await loop.sock_sendall(worker, b"?")
                    await loop.sock_recv(worker, 1)
                finally:
                    free.put_nowait(worker)
                writer.write(ANSWER)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(converse, "127.0.0.1", port, backlog=4096)
    await server.serve_forever()


asyncio.run(main([fork() for _ in range(count)]))
