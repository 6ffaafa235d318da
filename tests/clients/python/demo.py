"""The demo site of `gatehouse up`, as described in demo.json, and what the tests share."""

import json
import os
import time
from pathlib import Path
from uuid import UUID, uuid4

from gatehouse_management import AuthenticatedClient
from gatehouse_public import Client
from gatehouse_public.api.media import get_media_status, submit_media
from gatehouse_public.models import Accepted, MediaStatus, PolledStatus, StatusRequest, SubmitRequest

DEMO = json.loads(Path(os.environ["GATEHOUSE_DEMO"]).read_text())
KEY = DEMO["site_key"]
SITE = UUID(DEMO["site_id"])
RULE_GROUP = UUID(DEMO["rule_group_id"])

MANAGEMENT_URL = DEMO["base_url"].replace("/functions/v1", "/management/v1")

client = Client(base_url=DEMO["base_url"])
management = AuthenticatedClient(base_url=MANAGEMENT_URL, token=DEMO["management_token"])


def submit(**members) -> UUID:
    """Submits it, and repeats the request if that makes sense. It is stored only once."""
    request = SubmitRequest(api_key=KEY, **members)
    key = str(uuid4())
    for _ in range(5):
        answer = submit_media.sync_detailed(client=client, body=request, idempotency_key=key)
        if isinstance(answer.parsed, Accepted):
            return answer.parsed.id
        if "retry-after" not in answer.headers:
            break
        time.sleep(int(answer.headers["retry-after"]))
    raise RuntimeError(f"{answer.parsed.code}: {answer.parsed.detail}")


def decided(media: UUID) -> MediaStatus:
    for _ in range(300):
        status = get_media_status.sync(client=client, body=StatusRequest(api_key=KEY, media_id=media))
        assert isinstance(status, MediaStatus), status
        if status.status != PolledStatus.PENDING:
            return status
        time.sleep(0.1)
    raise TimeoutError(media)
