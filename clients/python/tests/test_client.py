"""The client on a running service: GATEHOUSE_DEMO names its demo.json. Started by scripts/test-clients."""

import json
import os
import threading
import unittest
import urllib.request
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from gatehouse_client import Gatehouse, Refused, verify_webhook
from standardwebhooks import WebhookVerificationError

DEMO = json.loads(Path(os.environ["GATEHOUSE_DEMO"]).read_text())
URL = DEMO["base_url"].removesuffix("/functions/v1")
FORBIDDEN = {"body": "so much blockedword in here", "app_media_id": "comment-4711"}


class Client(unittest.TestCase):
    def setUp(self):
        self.gatehouse = self.enterContext(Gatehouse(URL, DEMO["site_key"]))

    def test_a_verdict_comes_in_the_answer(self):
        verdict = self.gatehouse.moderate(**FORBIDDEN)
        self.assertEqual((verdict["status"], verdict["action"]), ("rejected", "block"))
        self.assertEqual(verdict["moderationResult"]["rule_violations"][0]["rule_type"], "keyword")
        status = self.gatehouse.status(verdict["id"])
        self.assertEqual(status["app_media_id"], "comment-4711")
        self.assertEqual(status["moderationResult"], verdict["moderationResult"])

    def test_a_submission_does_not_wait(self):
        self.assertEqual(self.gatehouse.submit(body="a fine day")["status"], "pending")

    def test_the_same_key_stores_one_item(self):
        key = str(uuid.uuid4())
        first = self.gatehouse.submit(idempotency_key=key, **FORBIDDEN)
        second = self.gatehouse.moderate(idempotency_key=key, **FORBIDDEN)
        self.assertEqual(second["id"], first["id"])
        self.assertEqual(second["status"], "rejected")

    def test_a_refusal_says_why(self):
        with Gatehouse(URL, "site_" + "x" * 43) as wrong, self.assertRaises(Refused) as refused:
            wrong.submit(**FORBIDDEN)
        self.assertEqual((refused.exception.status, refused.exception.code), (401, "invalid_api_key"))
        self.assertTrue(refused.exception.request_id)
        with self.assertRaises(Refused) as empty:
            self.gatehouse.submit()
        self.assertEqual(empty.exception.code, "empty_submission")

    def test_a_broken_connection_and_a_passing_failure_are_tried_again_as_the_same_submission(self):
        keys = []

        class Proxy(BaseHTTPRequestHandler):
            """Breaks the first connection after the service has stored the item, refuses the second request, and lets others through."""

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                keys.append(self.headers["idempotency-key"])
                if len(keys) == 2:
                    self.send_response(503)
                    self.send_header("retry-after", "1")
                    self.send_header("content-length", "0")
                    self.end_headers()
                    return
                headers = {name: self.headers[name] for name in ("content-type", "idempotency-key")}
                with urllib.request.urlopen(urllib.request.Request(URL + self.path, body, headers)) as answer:
                    answered = answer.read()
                if len(keys) == 1:
                    self.connection.close()
                    self.close_connection = True
                    return
                self.send_response(200)
                self.send_header("content-length", str(len(answered)))
                self.end_headers()
                self.wfile.write(answered)

            def log_message(self, *_):
                pass

        proxy = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        self.addCleanup(proxy.shutdown)
        with Gatehouse(f"http://127.0.0.1:{proxy.server_port}/", DEMO["site_key"]) as client:
            self.assertIn(client.submit(**FORBIDDEN)["status"], ("pending", "rejected"))
        self.assertEqual(len(keys), 3)
        self.assertEqual(len(set(keys)), 1)

    def test_a_webhook_of_the_service_is_genuine_and_a_changed_one_is_not(self):
        wanted, received, arrived = str(uuid.uuid4()), [], threading.Event()

        class Receiver(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()
                event = json.loads(body)
                if event["event"] == "media.moderated" and event["data"].get("app_media_id") == wanted:
                    received.append((body, dict(self.headers)))
                    arrived.set()

            def log_message(self, *_):
                pass

        receiver = ThreadingHTTPServer(("127.0.0.1", int(os.environ["WEBHOOK_PORT"])), Receiver)
        threading.Thread(target=receiver.serve_forever, daemon=True).start()
        self.addCleanup(receiver.server_close)
        self.addCleanup(receiver.shutdown)
        verdict = self.gatehouse.moderate(body="so much blockedword in here", app_media_id=wanted)
        # Nobody listened before, so the endpoint may be paused, for longer each time.
        self.assertTrue(arrived.wait(300))
        [(body, headers)] = received

        event = verify_webhook(body, headers, DEMO["webhook_secret"])
        self.assertEqual(event["event"], "media.moderated")
        self.assertEqual(event["data"]["media_id"], verdict["id"])
        for forged in (
            (body.replace(b"rejected", b"approved"), headers, DEMO["webhook_secret"]),
            (body, headers, "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="),
            (body, {**headers, "webhook-signature": "v1,AAAA"}, DEMO["webhook_secret"]),
        ):
            with self.assertRaises(WebhookVerificationError):
                verify_webhook(*forged)


if __name__ == "__main__":
    unittest.main()
