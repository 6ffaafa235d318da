"""Submitting content, and asking for verdicts."""

import math
import random
import time
import uuid
from typing import Any, Self, cast

import httpx

from .document import Accepted, MediaStatus

# The longest wait of one answer, in seconds.
LONGEST_WAIT = 10
# The pauses between questions and between tries, in seconds: the first and the longest.
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 15.0


class Refused(Exception):
    """The service refuses a request, or failed too often."""

    def __init__(self, status: int, code: str, detail: str, errors: list[dict[str, Any]], request_id: str | None):
        super().__init__(f"{code}: {detail}")
        #: The status of the answer.
        self.status = status
        #: Why, for programs.
        self.code = code
        #: What is wrong with single members of the request.
        self.errors = errors
        #: Quote it when you ask the operator for help.
        self.request_id = request_id


class Gatehouse:
    """A service and a key of a site. Several threads may use it."""

    def __init__(self, url: str, site_key: str, *, tries: int = 5, http: httpx.Client | None = None):
        """`url` is where Gatehouse is, for example `https://moderation.example.com`. A request that fails in passing is sent up to
        `tries` times."""
        self._url = f"{url.rstrip('/')}/functions/v1"
        self._key = site_key
        self._tries = tries
        # Longer than the longest wait.
        self._http = http or httpx.Client(timeout=httpx.Timeout(30, connect=10))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def submit(self, *, idempotency_key: str | None = None, wait: float | None = None, **content: Any) -> Accepted:
        """Submits content: the members of `submit-media` without the key, such as `body` and `app_media_id`.

        The same content with the same `idempotency_key` is stored once within 24 hours; it is random if not given. With `wait`, the
        answer may wait so many seconds (at most 10) for the verdict, and has it then.
        """
        headers = {"idempotency-key": idempotency_key or str(uuid.uuid4())}
        if wait:
            headers["prefer"] = f"wait={math.ceil(wait)}"
        return cast(Accepted, self._answered("submit-media", content, headers))

    def status(self, media_id: str) -> MediaStatus:
        """The status of an item."""
        return cast(MediaStatus, self._answered("get-media-status", {"media_id": media_id}, {}))

    def moderate(self, *, idempotency_key: str | None = None, patience: float = 60, **content: Any) -> Accepted:
        """Submits content and waits for the verdict, `patience` seconds in all. If there is none in time, the status is `pending`."""
        end = time.monotonic() + patience
        wait = min(LONGEST_WAIT, max(1, patience))
        answer = self.submit(idempotency_key=idempotency_key, wait=wait, **content)
        pause = FIRST_PAUSE
        while answer["status"] == "pending" and (left := end - time.monotonic()) > 0:
            time.sleep(min(pause, left))
            pause = min(2 * pause, LONGEST_PAUSE)
            status = self.status(answer["id"])
            if status["status"] != "pending":
                verdict = {name: status[name] for name in ("status", "action", "moderationResult") if status.get(name)}
                answer = cast(Accepted, {"id": answer["id"], "message": "Moderated.", **verdict})
        return answer

    def _answered(self, operation: str, body: dict[str, Any], headers: dict[str, str]) -> Any:
        """Sends a request until it is answered or refused for good."""
        pause = FIRST_PAUSE
        for number in range(1, self._tries + 1):
            asked = 0.0
            try:
                answer = self._http.post(f"{self._url}/{operation}", json={**body, "api_key": self._key}, headers=headers)
            except httpx.TransportError:
                if number == self._tries:
                    raise
            else:
                if answer.status_code == httpx.codes.OK:
                    return answer.json()
                if number == self._tries or not _is_passing(answer.status_code):
                    raise _refused(answer)
                asked = float(answer.headers.get("retry-after", 0))
            time.sleep(max(asked, pause * random.uniform(0.5, 1)))
            pause = min(2 * pause, LONGEST_PAUSE)
        raise AssertionError("the last try ends the loop")


def _is_passing(status: int) -> bool:
    return status in (httpx.codes.REQUEST_TIMEOUT, httpx.codes.TOO_MANY_REQUESTS) or status >= 500


def _refused(answer: httpx.Response) -> Refused:
    try:
        problem = answer.json()
    except ValueError:
        problem = {}
    return Refused(
        answer.status_code,
        problem.get("code", "unknown"),
        problem.get("detail", f"the answer is {answer.status_code}"),
        problem.get("errors", []),
        problem.get("request_id", answer.headers.get("x-request-id")),
    )
