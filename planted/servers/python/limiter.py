"""python3 limiter.py PORT RATE SAVED: an event loop with a bucket of tokens, RATE more of them a second, which holds SAVED of
them. Each request waits for one: RATE answers a second, however many ask."""

import asyncio
import sys
import time

port, gap, saved = int(sys.argv[1]), 1 / float(sys.argv[2]), float(sys.argv[3])
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
# When the next token is made. In the past: since then they gather, until the bucket is full.
made = time.monotonic()


def token():
    """How long to wait for the next token, which is taken."""
    global made
    now = time.monotonic()
    made = max(made, now - saved * gap)
    wait = max(0.0, made - now)
    made += gap
    return wait


async def converse(reader, writer):
    try:
        while True:
            await reader.readuntil(b"\r\n\r\n")
            await asyncio.sleep(token())
            writer.write(ANSWER)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main():
    server = await asyncio.start_server(converse, "127.0.0.1", port, backlog=4096)
    await server.serve_forever()


asyncio.run(main())
