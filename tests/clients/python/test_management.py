"""A moderator's and an operator's work, with a client that openapi-python-client generates from openapi/management.json."""

import unittest
from http import HTTPStatus
from uuid import uuid4

from demo import MANAGEMENT_URL, RULE_GROUP, SITE, client, decided, management, submit
from gatehouse_management import AuthenticatedClient
from gatehouse_management.api.media import decide_media, list_media
from gatehouse_management.api.site_keys import create_site_key
from gatehouse_management.api.sites import create_site
from gatehouse_management.models import Decision, NewDecision, NewSite, Problem, Status
from gatehouse_management.types import UNSET
from gatehouse_public.api.media import submit_media
from gatehouse_public.models import SubmitRequest


class Management(unittest.TestCase):
    def test_what_waits_for_a_moderator_is_found_and_decided(self):
        media = submit(body="about review-2024")
        self.assertEqual(decided(media).status, "pending_review")

        waiting, cursor = [], UNSET
        while cursor is not None:
            part = list_media.sync(
                client=management, site_id=SITE, status=Status.PENDING_REVIEW, limit=1, cursor=cursor
            )
            waiting += [media.id for media in part.data]
            cursor = part.next_cursor
        self.assertIn(media, waiting)
        self.assertEqual(len(set(waiting)), len(waiting))

        decision = NewDecision(decision=Decision.APPROVE, reason="harmless")
        answer = decide_media.sync(media, client=management, body=decision)
        self.assertEqual((answer.status, answer.previous_status), ("approved", "pending_review"))
        self.assertEqual(decided(media).moderation_type, "manual")

        again = decide_media.sync_detailed(media, client=management, body=decision)
        self.assertEqual(again.status_code, HTTPStatus.CONFLICT)
        self.assertEqual(again.parsed.code, "already_decided")

    def test_a_new_sites_limit_is_told_with_the_time_to_wait(self):
        new = NewSite(name=f"Python {uuid4()}", default_rule_group_id=RULE_GROUP, submissions_per_minute=1)
        site = create_site.sync(client=management, body=new)
        key = create_site_key.sync(site.id, client=management)

        # Three in one minute, or in two minutes if a minute ends in between.
        request = SubmitRequest(api_key=key.secret, body="hello")
        answers = [submit_media.sync_detailed(client=client, body=request) for _ in range(3)]
        refused = [answer for answer in answers if answer.status_code == HTTPStatus.TOO_MANY_REQUESTS]
        self.assertGreaterEqual(len(refused), 1)
        self.assertEqual(refused[0].parsed.code, "rate_limited")
        self.assertGreaterEqual(int(refused[0].headers["retry-after"]), 1)

    def test_a_wrong_token_is_told_by_its_code(self):
        stranger = AuthenticatedClient(base_url=MANAGEMENT_URL, token="mgmt_wrong")
        answer = list_media.sync_detailed(client=stranger)
        self.assertEqual(answer.status_code, HTTPStatus.UNAUTHORIZED)
        self.assertIsInstance(answer.parsed, Problem)
        self.assertEqual(answer.parsed.code, "invalid_token")

    def test_a_wrong_member_is_told_by_its_name(self):
        problem = list_media.sync(client=management, cursor="nonsense")
        self.assertEqual(problem.code, "invalid_request")
        self.assertEqual([error.field for error in problem.errors], ["cursor"])


if __name__ == "__main__":
    unittest.main()
