"""The kinds of providers, each as its official SDKs describe it. A case is one kind with a text or an image."""

from dataclasses import dataclass
from importlib.metadata import version

# The submitted content. Of the image, only its format matters: JPEG.
TEXT = "Is this seat taken? ✓ 漢字"
KEY = "sk-of-the-tests"
JPEG = b"\xff\xd8\xff"


def packages(*names):
    """The installed versions, as the table shows them."""
    return ", ".join(f"{name} {version(name)}" for name in names) or "no official SDK"


@dataclass
class Case:
    """One provider in the file of providers, and what must be true for its requests and answers."""

    name: str
    # "text" or "image".
    modality: str
    # Its members in the file of providers, without its name and address.
    members: str
    # Its answer to a request: JSON, as bytes, made with the SDK's own models.
    answer: object
    # The scores that the service must read from this answer.
    scores: dict
    # The path after its address.
    base: str = ""
    # Raises an error if the SDK's models or its published schema do not allow this request.
    check: object = lambda request: None
    # Lets the SDK's client send the same request to the server at this URL, and raises an error if it cannot read the answer.
    ask: object = None
    # Raises an error if the service's request (first argument) and the client's differ.
    compare: object = None
    request_valid_by: str = "no official SDK"
    answer_parsed_by: str = "no official SDK"


def same_json(ours, theirs):
    """The same path and the same JSON. The client's name may differ."""
    assert ours.path == theirs.path, f"{ours.path}, but the SDK asks {theirs.path}"
    assert ours.is_json, f"the content type is {ours.headers.get('content-type')}"
    assert ours.json == theirs.json, f"{shown(ours.json)}, but the SDK sends {shown(theirs.json)}"


def same_header(name):
    def compare(ours, theirs):
        assert ours.headers.get(name) == theirs.headers.get(name), f"the header {name} differs"

    return compare


def all_of(*checks):
    def check(*arguments):
        for one in checks:
            one(*arguments)

    return check


def shown(value):
    text = str(value)
    return text if len(text) < 400 else text[:200] + " ... " + text[-100:]


def near(said, expected):
    """Whether these are the same scores, up to the last bits of a 32-bit number."""
    return said.keys() == expected.keys() and all(abs(said[name] - expected[name]) < 1e-6 for name in expected)
