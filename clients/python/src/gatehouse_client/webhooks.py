"""Webhooks: whether they are genuine, and what they tell."""

from collections.abc import Mapping
from typing import cast

from standardwebhooks import Webhook

from .document import WebhookPayload


def verify_webhook(raw_body: bytes | str, headers: Mapping[str, str], secret: str) -> WebhookPayload:
    """Verifies a webhook and returns its body. Ignore kinds of events that you do not know: new ones can be added.

    Give it the raw body: one that was parsed and written again has other bytes. Raises standardwebhooks.WebhookVerificationError if it
    is not genuine, or was signed more than five minutes ago.
    """
    return cast(WebhookPayload, Webhook(secret).verify(raw_body, {name.lower(): value for name, value in headers.items()}))
