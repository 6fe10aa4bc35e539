"""python3 loop.py PORT HOW MS: one event loop. HOW is what a request does for MS:

sleeps     waits by the loop's own timer, and nobody waits for anybody: N users get N / MS
blocks     waits and keeps the loop from everybody else: 1/MS a second
computes   the same with CPU time
"""

import asyncio
import sys
import time

port, how, seconds = int(sys.argv[1]), sys.argv[2], float(sys.argv[3]) / 1e3
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


def compute():
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


async def work():
    if how == "sleeps":
        await asyncio.sleep(seconds)
    elif how == "blocks":
        time.sleep(seconds)
    else:
        compute()


async def converse(reader, writer):
    try:
        while True:
            await reader.readuntil(b"\r\n\r\n")
            await work()
            writer.write(ANSWER)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main():
    server = await asyncio.start_server(converse, "127.0.0.1", port, backlog=4096)
    await server.serve_forever()


asyncio.run(main())
