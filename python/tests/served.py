"""A folder as a local HTTP server gives it, by ranges of bytes, with an account of each."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote


class Served:
    """A server's address, what it gave so far, and how it behaves.

    requests: the path, first byte and number of bytes of each answer
    ranges: whether it knows ranges. status: what it answers instead, if anything
    """

    def __init__(self) -> None:
        self.url, self.requests = "", []
        self.ranges, self.status = True, None

    def bytes_of(self, name: str = "") -> int:
        return sum(length for path, _, length in self.requests if path.endswith(name))


@contextmanager
def served(folder: Path) -> Iterator[Served]:
    state = Served()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # header and body in one packet, for which nobody waits

        def do_GET(self) -> None:
            path = folder / unquote(self.path).lstrip("/")
            status = state.status or (200 if path.is_file() else 404)
            body, first = (path.read_bytes() if status == 200 else b""), 0
            wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
            if wanted and state.ranges and status == 200:
                size, first = len(body), int(wanted[1])
                body = body[first : int(wanted[2]) + 1 if wanted[2] else size]
                status = 206 if body else 416
            state.requests.append((self.path, first, len(body)))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            if status == 206:
                span = f"bytes {first}-{first + len(body) - 1}/{size}"
                self.send_header("Content-Range", span)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
