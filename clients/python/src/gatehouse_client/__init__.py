"""A client of Gatehouse's interface for applications."""

from .client import Gatehouse, Refused
from .document import Accepted, MediaStatus, WebhookPayload
from .webhooks import verify_webhook

__all__ = ["Accepted", "Gatehouse", "MediaStatus", "Refused", "WebhookPayload", "verify_webhook"]
