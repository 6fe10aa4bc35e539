"""python3 gate.py PORT PERMITS MS: an event loop in which PERMITS requests at a time hold a permit, each for MS: PERMITS/MS a
second. There is one thread, and no number of sockets tells how many."""

import asyncio
import sys

port, permits, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]) / 1e3
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


async def main():
    gate = asyncio.Semaphore(permits)

    async def converse(reader, writer):
        try:
            while True:
                await reader.readuntil(b"\r\n\r\n")
                async with gate:
                    await asyncio.sleep(seconds)
                writer.write(ANSWER)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(converse, "127.0.0.1", port, backlog=4096)
    await server.serve_forever()


asyncio.run(main())
