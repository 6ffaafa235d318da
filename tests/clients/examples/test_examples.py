"""Starts each application in examples/ beside a real service, posts comments to it over HTTP, and waits until it shows the
verdicts that it got by webhook."""

import json
import os
import subprocess
import time
import unittest
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import ProxyHandler, Request, build_opener

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
DEMO = json.loads(Path(os.environ["GATEHOUSE_DEMO"]).read_text())
PORT = os.environ["WEBHOOK_PORT"]
ADDRESS = f"http://127.0.0.1:{PORT}"
# After this many seconds, something counts as lost.
PATIENCE = 60

# A proxy from the environment must not be used for this machine.
opener = build_opener(ProxyHandler({}))

# The demo site's rules decide these comments.
VERDICTS = {
    "what a blockedword": "rejected",
    "it is about review-2024": "pending_review",
    # Nobody reads its language, so nobody has checked it.
    "Jutro wieczorem przyjdę i cię zabiję": "pending_review",
    "a <kind> word & another": "approved",
}


class Examples(unittest.TestCase):
    def try_application(self, *command):
        settings = {
            "GATEHOUSE_URL": DEMO["base_url"],
            "GATEHOUSE_SITE_KEY": DEMO["site_key"],
            "GATEHOUSE_WEBHOOK_SECRET": DEMO["webhook_secret"],
            "PORT": PORT,
        }
        application = subprocess.Popen(command, env=os.environ | settings)
        try:
            self.eventually(lambda: application.poll() is not None or self.page())
            self.assertIsNone(application.poll(), "the application ended")
            for number, (text, verdict) in enumerate(VERDICTS.items(), 1):
                page = self.send("/comments", urlencode({"text": text}).encode())
                self.assertEqual(page.count("data-status="), number, page)
                # The application learns the verdict only by webhook.
                shown = f'data-status="{verdict}"'
                page = self.eventually(lambda: (page := self.page()) and shown in page and page)
            # Only the approved comment is published, and its characters are escaped.
            self.assertNotIn("blockedword", page)
            self.assertNotIn("review-2024", page)
            self.assertNotIn("Jutro", page)
            self.assertEqual(page.count("waiting for a person"), 2, page)
            self.assertNotIn("<kind>", page)
            self.assertIn("kind", page)
            with self.assertRaises(HTTPError) as refused:
                self.send("/webhook", b'{"event":"media.moderated"}')
            self.assertEqual(refused.exception.code, 401)
        finally:
            application.terminate()
            application.wait()

    def page(self):
        try:
            with opener.open(ADDRESS, timeout=PATIENCE) as answer:
                return answer.read().decode()
        except (URLError, ConnectionError):
            return None

    def send(self, path, body):
        headers = {"webhook-id": "1", "webhook-timestamp": str(int(time.time())), "webhook-signature": "v1,AAAA"}
        request = Request(ADDRESS + path, body, headers if path == "/webhook" else {})
        with opener.open(request, timeout=PATIENCE) as answer:
            return answer.read().decode()

    def eventually(self, found):
        until = time.monotonic() + PATIENCE
        while not (value := found()):
            self.assertLess(time.monotonic(), until, "it does not come")
            time.sleep(0.05)
        return value

    def test_rust(self):
        self.try_application(EXAMPLES / "rust/target/debug/gatehouse-example-rust")

    def test_typescript(self):
        self.try_application("node", EXAMPLES / "typescript/built/app.js")

    def test_python(self):
        self.try_application(EXAMPLES / "python/.venv/bin/python", EXAMPLES / "python/app.py")
