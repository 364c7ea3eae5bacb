"""A small server with the one route that readers of endpoints use."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Server:
    """Answers chat completions with what ``reply`` makes of the request; keeps requests and headers."""

    def __init__(self, reply: Callable[[dict[str, Any]], str]) -> None:
        self.reply, self.requests, self.headers, self.faults = reply, list[dict[str, Any]](), list[Any](), list[int]()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append(body)
                outer.headers.append(self.headers)
                if outer.faults:
                    self.send_error(outer.faults.pop(0))
                    return
                content = json.dumps({"choices": [{"message": {"content": outer.reply(body)}}]}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
