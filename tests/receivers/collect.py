"""Lets a real service send webhooks, and stores them as vectors: `collect.py <port> <file>`, beside a `gatehouse up` that sends
to that port and that GATEHOUSE_DEMO describes."""

import json
import os
import sys
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

METADATA = {"text": "naïve ✓ 漢字 🙂 \u2028 </b>", "numbers": [1.50, 1e2, -0.0], "empty": {}}
ITEMS = [
    {"body": "a fine day", "app_media_id": "comment-4711", "metadata": METADATA},
    {"body": "what a blockedword"},
    {"body": "review-2024"},
]
PATIENCE = 60

with open(os.environ["GATEHOUSE_DEMO"]) as file:
    demo = json.load(file)
received = {}


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        name = f"{self.headers['x-service-event']}, delivery {self.headers['x-service-delivery-id']}"
        received[name] = {
            "name": name,
            "secret": demo["webhook_secret"],
            "headers": dict(self.headers),
            "body": body,
            "expected": {"service": "valid", "standard": "valid"},
        }
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def submit(item):
    body = json.dumps({"api_key": demo["site_key"], **item}).encode()
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(demo["base_url"] + "/submit-media", body, headers)
    # A proxy from the environment must not be used for this machine.
    urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=PATIENCE).close()


port, destination = int(sys.argv[1]), sys.argv[2]
server = ThreadingHTTPServer(("127.0.0.1", port), Receiver)
Thread(target=server.serve_forever, daemon=True).start()
for item in ITEMS:
    submit(item)
until = time.monotonic() + PATIENCE
while len(received) < 2 * len(ITEMS):
    assert time.monotonic() < until, f"{len(received)} of {2 * len(ITEMS)} webhooks have come"
    time.sleep(0.05)
with open(destination, "w") as file:
    json.dump({"vectors": list(received.values())}, file)
print(f"{len(received)} webhooks received")
