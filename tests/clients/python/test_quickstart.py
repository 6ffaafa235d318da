"""The README's quickstart, and the errors that every application meets, with a client that openapi-python-client
generates from openapi/public.json."""

import unittest
from http import HTTPStatus
from uuid import UUID, uuid4

from demo import KEY, client, decided, submit
from gatehouse_public.api.media import get_media_status_by_query, submit_media
from gatehouse_public.models import (
    PolledStatus,
    Problem,
    SubmitRequest,
    SubmitRequestMetadataType0,
)


class Quickstart(unittest.TestCase):
    def test_a_submitted_text_is_judged(self):
        metadata = SubmitRequestMetadataType0.from_dict({"author": "u-17"})
        media = submit(body="what a blockedword", app_media_id="comment-4711", metadata=metadata)
        status = decided(media)
        self.assertEqual(status.status, PolledStatus.REJECTED)
        self.assertEqual(status.action, "block")
        self.assertEqual(status.app_media_id, "comment-4711")
        self.assertEqual(status.metadata.to_dict(), {"author": "u-17"})
        self.assertEqual(status.moderation_result.rule_violations[0].rule_type, "keyword")

    def test_a_status_asked_by_query_is_the_same(self):
        media = submit(body="a kind word")
        status = decided(media)
        self.assertEqual(get_media_status_by_query.sync(client=client, api_key=KEY, media_id=media), status)

    def test_a_repeated_submission_is_stored_once(self):
        key = str(uuid4())

        def send(body):
            request = SubmitRequest(api_key=KEY, body=body)
            return submit_media.sync(client=client, body=request, idempotency_key=key)

        first = send("once")
        self.assertEqual(send("once").id, first.id)
        self.assertEqual(send("something else").code, "idempotency_conflict")

    def test_a_wrong_key_is_told_by_its_code(self):
        request = SubmitRequest(api_key="site_wrong", body="hello")
        answer = submit_media.sync_detailed(client=client, body=request)
        self.assertEqual(answer.status_code, HTTPStatus.UNAUTHORIZED)
        self.assertIsInstance(answer.parsed, Problem)
        self.assertEqual(answer.parsed.code, "invalid_api_key")
        self.assertEqual(answer.parsed.request_id, answer.headers["x-request-id"])

    def test_a_wrong_member_is_told_by_its_name(self):
        group = UUID("00000000-0000-7000-8000-000000000000")
        request = SubmitRequest(api_key=KEY, body="hello", rule_group_id=group)
        problem = submit_media.sync(client=client, body=request)
        self.assertIsInstance(problem, Problem)
        self.assertEqual(problem.code, "unknown_rule_group")
        self.assertEqual([error.field for error in problem.errors], ["rule_group_id"])


if __name__ == "__main__":
    unittest.main()
