"""The README's quickstart, and a moderator's decision, with clients that openapi-generator generates from the documents."""

import json
import os
import time
import unittest
from pathlib import Path
from uuid import uuid4

import gatehouse_management as management
import gatehouse_public as public

DEMO = json.loads(Path(os.environ["GATEHOUSE_DEMO"]).read_text())
KEY = DEMO["site_key"]
VECTORS = Path(__file__).parents[2] / "vectors" / "sent.json"

client = public.MediaApi(public.ApiClient(public.Configuration(host=DEMO["base_url"])))
moderator = management.MediaApi(
    management.ApiClient(
        management.Configuration(
            host=DEMO["base_url"].replace("/functions/v1", "/management/v1"), access_token=DEMO["management_token"]
        )
    )
)


def decided(media) -> public.MediaStatus:
    for _ in range(300):
        status = client.get_media_status(public.StatusRequest(api_key=KEY, media_id=media))
        if status.status != public.PolledStatus.PENDING:
            return status
        time.sleep(0.1)
    raise TimeoutError(media)


class Quickstart(unittest.TestCase):
    def test_a_submitted_text_is_judged(self):
        request = public.SubmitRequest(api_key=KEY, body="what a blockedword", metadata={"author": "u-17"})
        key = str(uuid4())
        accepted = client.submit_media(request, idempotency_key=key)
        self.assertEqual(client.submit_media(request, idempotency_key=key).id, accepted.id)
        status = decided(accepted.id)
        self.assertEqual((status.status, status.action), (public.PolledStatus.REJECTED, public.Action.BLOCK))
        self.assertEqual(status.moderation_type, public.ModerationType.RULE)
        self.assertEqual(status.metadata, {"author": "u-17"})
        self.assertEqual(status.moderation_result.rule_violations[0].rule_type, "keyword")

    def test_what_waits_for_a_moderator_is_found_and_decided(self):
        media = client.submit_media(public.SubmitRequest(api_key=KEY, body="about review-2024")).id
        self.assertEqual(decided(media).status, public.PolledStatus.PENDING_REVIEW)
        waiting = moderator.list_media(site_id=DEMO["site_id"], status=management.Status.PENDING_REVIEW, limit=100)
        self.assertIn(media, [item.id for item in waiting.data])
        decision = management.NewDecision(decision=management.Decision.APPROVE, reason="harmless")
        answer = moderator.decide_media(media, decision)
        self.assertEqual(answer.previous_status, management.Status.PENDING_REVIEW)
        self.assertEqual(decided(media).moderation_type, public.ModerationType.MANUAL)

    def test_a_wrong_key_is_told_by_its_code(self):
        with self.assertRaises(public.exceptions.UnauthorizedException) as refused:
            client.submit_media(public.SubmitRequest(api_key="site_wrong", body="hello"))
        self.assertEqual(json.loads(refused.exception.body)["code"], "invalid_api_key")

    def test_a_webhook_is_read_as_its_event(self):
        bodies = [vector["body"] for vector in json.loads(VECTORS.read_text())["vectors"]]
        kinds = {type(public.WebhookPayload.from_json(body).actual_instance) for body in bodies}
        self.assertLessEqual({public.MediaCreatedEvent, public.MediaModeratedEvent}, kinds)


if __name__ == "__main__":
    unittest.main()
