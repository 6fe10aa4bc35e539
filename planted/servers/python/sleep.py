"""python3 sleep.py PORT SHAPE MEAN_MS: each answer waits by the loop's timer, and nobody waits for anybody: N users get N / mean.
SHAPE is `exponential`, `tail` (Pareto with exponent 1.5, from a third of the mean on, to 30 times the mean), or `cache` (nine in
ten take half of the mean)."""

import asyncio
import random
import sys

port, shape, mean = int(sys.argv[1]), sys.argv[2], float(sys.argv[3]) / 1e3
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
seconds = {
    "exponential": lambda: random.expovariate(1 / mean),
    "tail": lambda: min(mean / 3 * (1 - random.random()) ** (-1 / 1.5), 30 * mean),
    "cache": lambda: mean * (0.5 if random.random() < 0.9 else 5.5),
}[shape]


async def converse(reader, writer):
    try:
        while True:
            await reader.readuntil(b"\r\n\r\n")
            await asyncio.sleep(seconds())
            writer.write(ANSWER)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main():
    server = await asyncio.start_server(converse, "127.0.0.1", port, backlog=4096)
    await server.serve_forever()


asyncio.run(main())
