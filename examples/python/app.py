"""A comment form. Gatehouse moderates the comments and sends each verdict to /webhook."""

import os
import time
import uuid
from dataclasses import dataclass

import requests
from flask import Flask, redirect, render_template_string, request
from standardwebhooks import Webhook, WebhookVerificationError

GATEHOUSE_URL = os.environ["GATEHOUSE_URL"]
SITE_KEY = os.environ["GATEHOUSE_SITE_KEY"]
WEBHOOK = Webhook(os.environ["GATEHOUSE_WEBHOOK_SECRET"])


@dataclass
class Comment:
    text: str
    status: str = "pending"
    # When the status was decided. Gatehouse's times have one format, so they sort as texts.
    decided_at: str = ""


# A real application keeps its comments in a database.
comments: dict[str, Comment] = {}
app = Flask(__name__)

PAGE = """<!doctype html>
<title>Comments</title>
<h1>Comments</h1>
<form method="post" action="/comments">
  <textarea name="text" required></textarea>
  <button>Send</button>
</form>
<ul>
{% for comment in comments %}
  {% if comment.status == "approved" %}<li data-status="approved">{{ comment.text }}</li>
  {% elif comment.status == "rejected" %}<li data-status="rejected">This comment was removed.</li>
  {% elif comment.status == "pending_review" %}<li data-status="pending_review">This comment is waiting for a person.</li>
  {% else %}<li data-status="pending">This comment is being checked.</li>
  {% endif %}
{% endfor %}
</ul>
"""


@app.get("/")
def show_comments():
    return render_template_string(PAGE, comments=list(comments.values()))


@app.post("/comments")
def add_comment():
    comment_id = str(uuid.uuid4())
    # Stored first: the webhook can arrive before the answer to the submission.
    comments[comment_id] = Comment(request.form["text"])
    try:
        submit(comment_id, request.form["text"])
    except requests.RequestException:
        app.logger.exception("the comment was not submitted")
        del comments[comment_id]
        return "Comments are not available at the moment. Please try again later.", 503
    return redirect("/", 303)


def submit(comment_id: str, text: str) -> None:
    """Submits the comment. Raises a RequestException if Gatehouse does not accept it."""
    tries = 3
    for number in range(1, tries + 1):
        try:
            answer = requests.post(
                f"{GATEHOUSE_URL}/submit-media",
                json={"api_key": SITE_KEY, "body": text, "app_media_id": comment_id},
                # The same key in each try: Gatehouse stores the comment once.
                headers={"Idempotency-Key": comment_id},
                timeout=20,
            )
        except (requests.ConnectionError, requests.Timeout):
            if number == tries:
                raise
            time.sleep(1)
            continue
        # 429 and 503 say when to try again. Other errors will not change.
        wait = answer.headers.get("Retry-After")
        if wait is None or number == tries:
            answer.raise_for_status()
            return
        time.sleep(int(wait))


@app.post("/webhook")
def receive_webhook():
    try:
        # The signature is over the raw body, so it is checked before the body is parsed.
        event = WEBHOOK.verify(request.get_data(), dict(request.headers))
    except WebhookVerificationError:
        return "", 401
    if event["event"] == "media.moderated":
        comment = comments.get(event["data"].get("app_media_id", ""))
        # A webhook can come twice, or after a newer one. The newest verdict counts.
        if comment is not None and event["timestamp"] >= comment.decided_at:
            comment.status = event["data"]["status"]
            comment.decided_at = event["timestamp"]
    return "", 204


if __name__ == "__main__":
    app.run(port=int(os.environ.get("PORT", "3000")))
