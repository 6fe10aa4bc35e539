"""A service of one's own, as small as they come: it reads a file of its folder, and takes its time."""

import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Shop(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body are written apart: else the second waits until the first is acknowledged.
    disable_nagle_algorithm = True

    def do_GET(self):
        if self.path == "/items":
            time.sleep(0.005)
            with open("items.txt", "rb") as items:
                self.answer(200, items.read())
        elif self.path == "/health":
            self.answer(200, b"up\n")
        else:
            self.answer(404, b"not here\n")

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    ThreadingHTTPServer.request_queue_size = 128
    ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8000"))), Shop).serve_forever()
