"""python3 threads.py PORT MS: a thread for each connection, and MS of CPU time in Python for each request. One thread at a
time may run Python: 1/MS a second and one core, whatever there are of threads and of cores."""

import socketserver
import sys
import time

port, seconds = int(sys.argv[1]), float(sys.argv[2]) / 1e3
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


def compute():
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


class Conversation(socketserver.StreamRequestHandler):
    def handle(self):
        try:
            while line := self.rfile.readline():
                if line == b"\r\n":
                    compute()
                    self.wfile.write(ANSWER)
        except ConnectionError:
            pass


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 4096


Server(("127.0.0.1", port), Conversation).serve_forever()
