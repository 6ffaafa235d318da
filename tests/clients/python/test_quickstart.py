"""The README's quickstart, and the errors that every client meets, with a client that openapi-python-client generates
from openapi/public.json."""

import json
import os
import time
import unittest
from http import HTTPStatus
from pathlib import Path
from uuid import UUID

from gatehouse_client import Client
from gatehouse_client.api.media import get_media_status, get_media_status_by_query, submit_media
from gatehouse_client.models import (
    Accepted,
    MediaStatus,
    MediaStatusStatus,
    Problem,
    StatusRequest,
    SubmitRequest,
    SubmitRequestMetadataType0,
)

demo = json.loads(Path(os.environ["GATEHOUSE_DEMO"]).read_text())
KEY = demo["site_key"]
client = Client(base_url=demo["base_url"])


def submit(**members) -> UUID:
    accepted = submit_media.sync(client=client, body=SubmitRequest(api_key=KEY, **members))
    assert isinstance(accepted, Accepted), accepted
    return accepted.id


def decided(media: UUID) -> MediaStatus:
    for _ in range(300):
        status = get_media_status.sync(client=client, body=StatusRequest(api_key=KEY, media_id=media))
        assert isinstance(status, MediaStatus), status
        if status.status != MediaStatusStatus.PENDING:
            return status
        time.sleep(0.1)
    raise TimeoutError(media)


class Quickstart(unittest.TestCase):
    def test_a_submitted_text_is_judged(self):
        metadata = SubmitRequestMetadataType0.from_dict({"author": "u-17"})
        media = submit(body="what a blockedword", app_media_id="comment-4711", metadata=metadata)
        status = decided(media)
        self.assertEqual(status.status, MediaStatusStatus.REJECTED)
        self.assertEqual(status.action, "block")
        self.assertEqual(status.app_media_id, "comment-4711")
        self.assertEqual(status.metadata.to_dict(), {"author": "u-17"})
        self.assertEqual(status.moderation_result.rule_violations[0].rule_type, "keyword")

    def test_a_status_asked_by_query_is_the_same(self):
        media = submit(body="a kind word")
        status = decided(media)
        self.assertEqual(get_media_status_by_query.sync(client=client, api_key=KEY, media_id=media), status)

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
