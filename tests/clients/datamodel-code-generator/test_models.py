"""Reads a real service's answers and webhooks with the models that datamodel-code-generator generates from the documents.
It generates models only, so the requests are sent with Python's own library."""

import json
import os
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

from generated import management, public

DEMO = json.loads(Path(os.environ["GATEHOUSE_DEMO"]).read_text())
MANAGEMENT_URL = DEMO["base_url"].replace("/functions/v1", "/management/v1")
PATIENCE = 60
# A proxy from the environment must not be used for this machine.
opener = build_opener(ProxyHandler({}))
received: list[bytes] = []


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        received.append(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def call(path, request):
    body = request.model_dump_json(exclude_none=True).encode()
    headers = {"content-type": "application/json"}
    with opener.open(Request(DEMO["base_url"] + path, body, headers), timeout=PATIENCE) as answer:
        return answer.read()


def manage(method, path):
    headers = {"authorization": f"Bearer {DEMO['management_token']}"}
    request = Request(MANAGEMENT_URL + path, headers=headers, method=method)
    with opener.open(request, timeout=PATIENCE) as answer:
        return answer.read()


def submit(text) -> public.Accepted:
    request = public.SubmitRequest(api_key=DEMO["site_key"], body=text, metadata={"author": "u-17"})
    return public.Accepted.model_validate_json(call("/submit-media", request))


def status(media) -> public.MediaStatus:
    request = public.StatusRequest(api_key=DEMO["site_key"], media_id=media)
    return public.MediaStatus.model_validate_json(call("/get-media-status", request))


def eventually(found):
    until = time.monotonic() + PATIENCE
    while not (value := found()):
        assert time.monotonic() < until, "it does not come"
        time.sleep(0.05)
    return value


class Models(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        server = ThreadingHTTPServer(("127.0.0.1", int(os.environ["WEBHOOK_PORT"])), Receiver)
        Thread(target=server.serve_forever, daemon=True).start()

    def test_answers_and_events_are_as_described(self):
        for text, verdict, action in [
            ("a fine day", "approved", "approve"),
            ("what a blockedword", "rejected", "block"),
            ("about review-2024", "pending_review", "review"),
        ]:
            media = submit(text).id
            decided = eventually(lambda: (s := status(media)).status != "pending" and s)
            self.assertEqual((decided.status, decided.action), (public.PolledStatus(verdict), public.Action(action)))
            self.assertIsInstance(decided.moderation_type, public.ModerationType)

            def events():
                payloads = [public.WebhookPayload.model_validate_json(body).root for body in received]
                ours = {type(event): event for event in payloads if getattr(event.data, "media_id", None) == media}
                return len(ours) == 2 and ours

            ours = eventually(events)
            self.assertEqual(ours[public.MediaCreatedEvent].event, "media.created")
            self.assertEqual(ours[public.MediaModeratedEvent].data.status, public.Verdict(verdict))

    def test_a_pending_item_has_no_verdict(self):
        # This item is not decided yet, so some members are null.
        body = json.loads(call("/get-media-status", public.StatusRequest(api_key=DEMO["site_key"], media_id=submit("a").id)))
        body |= {"status": "pending", "action": None, "moderationResult": None, "moderation_type": None, "moderated_at": None}
        self.assertIsNone(public.MediaStatus.model_validate(body).action)

    def test_a_ping_is_one_of_the_events(self):
        endpoints = manage("GET", f"/sites/{DEMO['site_id']}/webhook-endpoints")
        endpoint = management.ListWebhookEndpoint.model_validate_json(endpoints).data[0]
        ping = manage("POST", f"/webhook-endpoints/{endpoint.id}/ping")
        self.assertEqual(management.WebhookPing.model_validate_json(ping).outcome, "delivered")
        payloads = [public.WebhookPayload.model_validate_json(body).root for body in list(received)]
        pings = [event for event in payloads if isinstance(event, public.WebhookTestPingEvent)]
        self.assertTrue(pings and pings[-1].data.test)
        self.assertTrue(pings[-1].field_service_signature.startswith("sha256="))

    def test_media_are_listed(self):
        media = submit("what a blockedword").id
        found = management.MediaItem.model_validate_json(manage("GET", f"/media/{media}"))
        self.assertEqual(found.id, media)

    def test_a_refusal_is_a_problem(self):
        with self.assertRaises(HTTPError) as refused:
            call("/submit-media", public.SubmitRequest(api_key="site_wrong", body="hello"))
        problem = public.Problem.model_validate_json(refused.exception.read())
        self.assertEqual((problem.status, problem.code), (401, "invalid_api_key"))


if __name__ == "__main__":
    unittest.main()
