"""A server that answers like a provider, and keeps all requests."""

import json
from dataclasses import dataclass, field
from email import policy
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from urllib.parse import parse_qsl, urlsplit


@dataclass
class Request:
    """One HTTP request. `headers` has lower-case names."""

    method: str
    target: str
    headers: dict
    body: bytes

    @property
    def path(self):
        return urlsplit(self.target).path

    @property
    def query(self):
        return dict(parse_qsl(urlsplit(self.target).query))

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def is_json(self):
        return self.headers.get("content-type", "").startswith("application/json")

    @property
    def form(self):
        """The parts of a multipart form by name: a text for a field, the name and the bytes for a file."""
        head = f"content-type: {self.headers['content-type']}\r\n\r\n".encode()
        message = BytesParser(policy=policy.HTTP).parsebytes(head + self.body)
        assert message.is_multipart(), "the body is no multipart form"
        parts = {}
        for part in message.iter_parts():
            name, content = part.get_param("name", header="content-disposition"), part.get_payload(decode=True)
            assert name not in parts, f"two parts are called {name}"
            file = part.get_filename()
            parts[name] = content.decode() if file is None else (file, content)
        return parts


@dataclass
class Fake:
    """Answers `POST` on a free port of this machine with what `answer(request)` returns: JSON, as bytes."""

    answer: object
    requests: list = field(default_factory=list)

    def __post_init__(self):
        lock = Lock()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(handler):
                headers = {name.lower(): value for name, value in handler.headers.items()}
                if "chunked" in headers.get("transfer-encoding", ""):
                    body = b"".join(chunks(handler.rfile))
                else:
                    body = handler.rfile.read(int(headers["content-length"]))
                request = Request("POST", handler.path, headers, body)
                with lock:
                    self.requests.append(request)
                try:
                    status, answer = 200, self.answer(request)
                except Exception as error:  # The request is judged later; the service must get an answer now.
                    status, answer = 500, json.dumps({"error": {"code": "conformance", "message": str(error)}}).encode()
                handler.send_response(status)
                handler.send_header("content-type", "application/json")
                handler.send_header("content-length", str(len(answer)))
                handler.end_headers()
                handler.wfile.write(answer)

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        self.url = f"http://127.0.0.1:{server.server_address[1]}"
        Thread(target=server.serve_forever, daemon=True).start()


def chunks(file):
    while length := int(file.readline().split(b";")[0], 16):
        yield file.read(length)
        file.readline()
    file.readline()
