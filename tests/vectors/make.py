"""Makes the vectors in this directory with Python's own hmac, hashlib and base64: `python3 tests/vectors/make.py`.

A vector is a request as a receiver gets it, the receiver's secret and clock, and what is to be concluded from it. `genuine`
ones are sent by Gatehouse exactly so; they tell which secrets sign."""

import base64
import hashlib
import hmac
import json
from pathlib import Path

DIRECTORY = Path(__file__).parent

CURRENT = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
PREVIOUS = "whsec_//////////////////////////////////////////8="
STRANGER = "whsec_+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/s="

EVENT = "018f3f3e-0000-7000-8000-000000000001"
DELIVERY = "018f3f3e-0000-7000-8000-000000000002"
MEDIA = "018f3f3e-0000-7000-8000-000000000003"
RULE = "018f3f3e-0000-7000-8000-000000000004"
SITE = "018f3f3e-0000-7000-8000-00000000000a"
SIGNED = 1_700_000_000
TIME = "2023-11-14T22:13:20.000001Z"


def service(secret, body):
    """The key is the secret's text. Signs the raw body."""
    return "sha256=" + hmac.new(secret.encode(), body.encode(), hashlib.sha256).hexdigest()


def standard(secret, body, event=EVENT, signed=SIGNED):
    """The key is the secret's bytes. Signs id, time and raw body."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, f"{event}.{signed}.{body}".encode(), hashlib.sha256).digest()
    return "v1," + base64.b64encode(digest).decode()


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def created(metadata=None, content_type="text", **fields):
    """A `media.created`. Metadata is raw JSON, sent as it was submitted."""
    data = {"media_id": MEDIA, **fields, "site_id": SITE, "status": "pending", "content_type": content_type, "created_at": TIME}
    body = compact({"event": "media.created", "timestamp": TIME, "data": data})
    return body if metadata is None else f'{body[:-2]},"metadata":{metadata}}}}}'


def moderated(status, previous="pending", kind="ai", details=None):
    data = {
        "media_id": MEDIA,
        "site_id": SITE,
        "status": status,
        "previous_status": previous,
        "moderation_type": kind,
        "moderated_at": TIME,
    }
    if details is not None:
        data["moderation_details"] = details
    return compact({"event": "media.moderated", "timestamp": TIME, "data": data})


def ping(secret=CURRENT, site=SITE, time=TIME):
    data = {"site_id": site, "test": True, "message": "This is a test event."}
    unsigned = {"event": "webhook.test.ping", "timestamp": time, "data": data}
    return compact(unsigned | {"_service_signature": service(secret, compact(unsigned))})


def request(body, current=CURRENT, previous=None, event=EVENT, signed=SIGNED):
    """The headers of an attempt."""
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Service-Webhook/1.0",
        "X-Service-Event": json.loads(body)["event"],
        "X-Service-Delivery-ID": DELIVERY,
        "webhook-id": event,
        "webhook-timestamp": str(signed),
        "X-Service-Signature": service(current, body),
        "webhook-signature": standard(current, body, event, signed),
    }
    if previous:
        headers["X-Service-Signature-Previous"] = service(previous, body)
        headers["webhook-signature"] += " " + standard(previous, body, event, signed)
    return headers


def vector(name, body, headers, service="valid", standard="valid", secret=CURRENT, now=SIGNED, **more):
    expected = {"service": service, "standard": standard}
    return {"name": name, **more, "secret": secret, "now": now, "headers": headers, "body": body, "expected": expected}


def genuine(name, body, current=CURRENT, previous=None, event=EVENT, signed=SIGNED, **more):
    """A webhook that Gatehouse sends exactly like this."""
    signed_with = [secret for secret in (current, previous) if secret]
    headers = request(body, current, previous, event, signed)
    more = {"secret": current, "now": signed} | more
    return vector(name, body, headers, signed_with=signed_with, **more)


PLAIN = created()
LONG = json.dumps({"text": "0123456789abcdef" * 1_020}, separators=(",", ":"))

SENT = [
    genuine("a text was accepted", PLAIN),
    genuine("an image was accepted", created(content_type="image", app_media_id="photo-17")),
    genuine("metadata: an empty object", created("{}")),
    genuine("metadata: numbers keep their spelling", created('{"z":1.50,"a":1e2,"big":12345678901234567890123,"m":-0.0,"t":1E+2}')),
    genuine("metadata: keys keep their order", created('{"b":1,"a":2,"10":3,"9":4}')),
    genuine("metadata: white space stays", created('{ "a" : [ 1 ,\t2 ] ,\r\n  "b" : { } }')),
    genuine("metadata: escapes stay escapes", created(r'{"e":"\u00e9","s":"\/","n":"\n","pair":"\ud83d\ude42","quote":"\""}')),
    genuine("metadata: UTF-8 of every length", created('{"text":"naïve ✓ 漢字 🙂"}')),
    genuine("metadata: composed and decomposed", created('{"nfc":"\u00e9","nfd":"e\u0301"}')),
    genuine("metadata: joiners, marks of direction, separators", created('{"text":"👩\u200d👩\u200d👧 \u202eabc\u202c \u2028\u2029 \ufeff"}')),
    genuine("metadata: what HTML escapes", created('{"text":"<b>&amp;\'</b>"}')),
    genuine("metadata: deep", created('{"a":' * 30 + "null" + "}" * 30)),
    genuine("metadata: empty keys and values", created('{"":"","null":null,"list":[]}')),
    genuine("metadata: points, as between what is signed", created(f'{{"text":"{EVENT}.{SIGNED}.{{}}"}}')),
    genuine("metadata: 16 KiB", created(LONG)),
    genuine("an identifier of the application in UTF-8", created(app_media_id="Kommentar/über – 4711")),
    genuine("approved", moderated("approved", details={"rule_violations": [], "ai_analysis": {"adult": 0.01, "hate": 0.0}, "processing_time_ms": 12})),
    genuine(
        "rejected by a rule",
        moderated(
            "rejected",
            kind="rule",
            details={
                "rule_violations": [
                    {"rule_id": RULE, "rule_name": "Wörter", "rule_type": "keyword", "confidence": 1.0, "details": "a listed word", "matched_text": "b*********d"}
                ],
                "processing_time_ms": 7,
            },
        ),
    ),
    genuine("left to a person", moderated("pending_review", details={"rule_violations": [], "reason": "hate is between the thresholds", "flagged_categories": ["hate"]})),
    genuine("decided by a person", moderated("approved", previous="pending_review", kind="manual")),
    genuine("overturned", moderated("rejected", previous="approved", kind="manual")),
    genuine("another secret", PLAIN, current=STRANGER),
    genuine("another event", PLAIN, event="018f3f3e-ffff-7fff-bfff-ffffffffffff"),
    genuine("an attempt an hour later", PLAIN, signed=SIGNED + 3_600),
    genuine("five minutes ago", PLAIN, now=SIGNED + 300),
    genuine("the receiver's clock is five minutes late", PLAIN, now=SIGNED - 300),
    genuine("a rotation: the receiver knows the new secret", PLAIN, previous=PREVIOUS),
    genuine("a rotation: the receiver knows the old secret", PLAIN, previous=PREVIOUS, secret=PREVIOUS),
    genuine("a rotation with a verdict", moderated("approved"), current=PREVIOUS, previous=STRANGER, secret=STRANGER),
    genuine("a rotation: the receiver knows neither", PLAIN, previous=PREVIOUS, secret=STRANGER, service="mismatch", standard="mismatch"),
    genuine("a receiver with another secret", PLAIN, secret=PREVIOUS, service="mismatch", standard="mismatch"),
    genuine("replayed after 301 seconds", PLAIN, now=SIGNED + 301, standard="stale"),
    genuine("signed 301 seconds from now", PLAIN, now=SIGNED - 301, standard="stale"),
    genuine("replayed after a day", PLAIN, now=SIGNED + 86_400, standard="stale"),
    genuine("the test ping", ping()),
    genuine("the test ping of another site", ping(PREVIOUS, EVENT, "2023-11-14T22:13:20.100000Z"), current=PREVIOUS),
    genuine("the test ping to a receiver with another secret", ping(), secret=PREVIOUS, service="mismatch", standard="mismatch"),
]


def tampered(name, body=PLAIN, service="mismatch", standard="mismatch", remove=(), **changes):
    """The headers of the plain request with these changes. Underscores stand for hyphens."""
    headers = request(PLAIN) | {key.replace("_", "-"): value for key, value in changes.items()}
    headers = {key: value for key, value in headers.items() if key not in remove}
    return vector(name, body, headers, service, standard)


def as_text(secret, body):
    """The signature of the standard scheme with the secret's text as the key."""
    digest = hmac.new(secret.encode(), f"{EVENT}.{SIGNED}.{body}".encode(), hashlib.sha256).digest()
    return "v1," + base64.b64encode(digest).decode()


def as_bytes(secret, body):
    """The signature of the service's scheme with the secret's bytes as the key."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    return "sha256=" + hmac.new(key, body.encode(), hashlib.sha256).hexdigest()


HEX, BASE64 = service(CURRENT, PLAIN), standard(CURRENT, PLAIN)
FORGED = [
    tampered("a byte of the body changed", PLAIN.replace("pending", "bending")),
    tampered("the verdict turned round", PLAIN.replace("media.created", "media.cleared")),
    tampered("a line feed after the body", PLAIN + "\n"),
    tampered("the body cut", PLAIN[:-1]),
    tampered("no body", ""),
    tampered("the body written anew, with spaces", json.dumps(json.loads(PLAIN))),
    tampered("the body written anew, in another order", compact(dict(reversed(json.loads(PLAIN).items())))),
    tampered("signatures of another body", X_Service_Signature=service(CURRENT, "{}"), webhook_signature=standard(CURRENT, "{}")),
    tampered("signatures by another secret", X_Service_Signature=service(STRANGER, PLAIN), webhook_signature=standard(STRANGER, PLAIN)),
    tampered("half a signature", X_Service_Signature=HEX[:39], webhook_signature="v1," + BASE64[3:27]),
    tampered("one digit changed", X_Service_Signature=HEX[:-1] + ("0" if HEX[-1] != "0" else "1"), webhook_signature="v1," + ("A" if BASE64[3] != "A" else "B") + BASE64[4:]),
    tampered("keyed with the secret in its other form", X_Service_Signature=as_bytes(CURRENT, PLAIN), webhook_signature=as_text(CURRENT, PLAIN)),
    tampered("SHA-1 by its name", service="malformed", standard="valid", X_Service_Signature=HEX.replace("sha256", "sha1")),
    tampered("a digest without its prefix", service="malformed", standard="valid", X_Service_Signature=HEX.removeprefix("sha256=")),
    tampered("no hexadecimal digest", service="malformed", standard="valid", X_Service_Signature="sha256=" + "z" * 64),
    tampered("no service signature", service="missing", standard="valid", remove=["X-Service-Signature"]),
    tampered("a previous signature alone", service="valid", standard="valid", remove=["X-Service-Signature"], X_Service_Signature_Previous=HEX),
    tampered("a previous signature by another secret", service="mismatch", standard="valid", X_Service_Signature=service(STRANGER, PLAIN), X_Service_Signature_Previous=service(PREVIOUS, PLAIN)),
    tampered("another id", service="valid", webhook_id=DELIVERY),
    tampered("another time, though within the tolerance", service="valid", webhook_timestamp=str(SIGNED + 1)),
    tampered("a time that is none", service="valid", standard="malformed", webhook_timestamp="soon"),
    tampered("no id", service="valid", standard="missing", remove=["webhook-id"]),
    tampered("no time", service="valid", standard="missing", remove=["webhook-timestamp"]),
    tampered("no standard signature", service="valid", standard="missing", remove=["webhook-signature"]),
    tampered("an unknown version alone", service="valid", standard="malformed", webhook_signature=BASE64.replace("v1,", "v2,")),
    tampered("an unknown version before the known", service="valid", standard="valid", webhook_signature=f"v2,AAAA {BASE64}"),
    tampered("a stranger's signature before ours", service="valid", standard="valid", webhook_signature=f"{standard(STRANGER, PLAIN)} {BASE64}"),
    tampered("nothing but a body", service="missing", standard="missing", remove=["X-Service-Signature", "webhook-id", "webhook-timestamp", "webhook-signature"]),
]


def inside(name, body, valid):
    """A test ping whose signature is read from its body."""
    return {"name": name, "secret": CURRENT, "body": body, "expected": "valid" if valid else "mismatch"}


PINGS = [
    inside("the test ping", ping(), True),
    inside("signed by another secret", ping(PREVIOUS), False),
    inside("another message", ping().replace("This", "That"), False),
    inside("another site", ping().replace(SITE, EVENT), False),
    inside("another time", ping().replace("20.000001", "20.000002"), False),
    inside("no longer a test", ping().replace('"test":true', '"test":false'), False),
]


def write(name, about, vectors):
    names = [vector["name"] for vector in vectors]
    assert len(set(names)) == len(names), "a name is there twice"
    text = json.dumps({"about": about, "vectors": vectors}, indent=2)
    (DIRECTORY / f"{name}.json").write_text(text + "\n")
    print(f"{name}.json: {len(vectors)} vectors")


write(
    "sent",
    "Requests as Gatehouse sends them. 'signed_with' lists the secrets that sign, the current one first. 'expected' is what a "
    "receiver concludes that knows 'secret' and whose clock shows 'now' in Unix seconds; 'service' is of X-Service-Signature "
    "or -Previous, 'standard' of the three headers of Standard Webhooks. Only 'valid' is to be believed.",
    SENT,
)
write("forged", "Requests that somebody changed or made up, in the form of sent.json.", FORGED)
write(
    "pings",
    "Test pings by the signature in their body: _service_signature is over the compact JSON without that member, which is the last.",
    PINGS,
)
