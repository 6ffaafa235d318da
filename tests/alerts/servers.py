"""The servers around the service: receivers of webhooks, a provider, Alertmanager's receiver, a process of another version."""

import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def free_port():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


class Server:
    """Answers each request with what `answer(path, body)` returns: status and text."""

    def __init__(self, answer):
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # Without this, each answer waits for the client's acknowledgement of its head.
            disable_nagle_algorithm = True

            def respond(self):
                length = int(self.headers.get("Content-Length") or 0)
                status, text = answer(self.path, self.rfile.read(length))
                body = text.encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = respond

            def log_message(self, *_):
                pass

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 256

            def handle_error(self, *_):
                """Clients that are killed break their connections."""

        self.server = Quiet(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Receiver(Server):
    """Receives webhooks. `status` is its answer. It answers at the paths in `delays` after so many seconds."""

    def __init__(self):
        self.status, self.delays = 200, {}
        super().__init__(self.take)

    def take(self, path, _body):
        time.sleep(self.delays.get(path, 0))
        return self.status, "{}"


class Provider(Server):
    """Scores texts. `mode`: `works`, `unavailable` (503), `failing` (500), `blind` (every third text has no score), `hate` (all score 0.99)."""

    def __init__(self):
        self.mode, self.delay, self.asked = "works", 0.0, 0
        super().__init__(self.score)

    def score(self, _path, body):
        self.asked += 1
        time.sleep(self.delay)
        if self.mode == "unavailable":
            return 503, "{}"
        if self.mode == "failing":
            return 500, "{}"
        value = 0.99 if self.mode == "hate" else 0.01
        if self.mode == "blind" and self.asked % 3 == 0:
            value = None
        return 200, json.dumps({"scores": dict.fromkeys(json.loads(body)["categories"], value)})


class Pager(Server):
    """Gets alerts from Alertmanager. Keeps when each fired and was resolved."""

    def __init__(self):
        self.lock = threading.Lock()
        self.history = []  # (time, name, labels, status)
        self.firing = {}
        super().__init__(self.take)

    def take(self, _path, body):
        with self.lock:
            for alert in json.loads(body)["alerts"]:
                labels = tuple(sorted(alert["labels"].items()))
                name = alert["labels"]["alertname"]
                if alert["status"] == "firing":
                    if labels not in self.firing:
                        self.history.append((time.monotonic(), name, dict(labels), "firing"))
                    self.firing[labels] = name
                elif self.firing.pop(labels, None):
                    self.history.append((time.monotonic(), name, dict(labels), "resolved"))
        return 200, "{}"

    def names(self):
        """The alerts that fire now, without tickets about three days."""
        with self.lock:
            return {name for labels, name in self.firing.items() if ("window", "3d") not in labels}

    def fired_since(self, begun, windows=("3d",)):
        """The first time that each alert fired: (name, severity) -> time. `windows` are left out."""
        with self.lock:
            fired = {}
            for at, name, labels, status in self.history:
                if at >= begun and status == "firing" and labels.get("window") not in windows:
                    fired.setdefault((name, labels["severity"]), at)
            return fired


def other_version():
    """What a process of another version would show to Prometheus."""
    return Server(lambda path, body: (200, 'gatehouse_build_info{version="0.0.9"} 1\n'))
