"""The kinds of providers, each as its official SDKs see it. A case is one kind that looks at one thing."""

from dataclasses import dataclass
from importlib.metadata import version

# What is asked about, and what is shown: the text, and nothing of the image but that it is a JPEG.
TEXT = "Is this seat taken? ✓ 漢字"
KEY = "sk-of-the-tests"
JPEG = b"\xff\xd8\xff"


def packages(*names):
    """The installed versions, as the table shows them."""
    return ", ".join(f"{name} {version(name)}" for name in names) or "no official SDK"


@dataclass
class Case:
    """One provider in the file of providers, and what must hold of what it is asked and of what it answers."""

    name: str
    # "text" or "image".
    modality: str
    # Its members in the file of providers, but for its name and address.
    members: str
    # What it answers a request; the bytes of JSON, made by the SDK's own models.
    answer: object
    # The scores that the service must read out of this answer.
    scores: dict
    # What stands behind its address.
    base: str = ""
    # Raises where the SDK's models or its published schema would not have made this request.
    check: object = lambda request: None
    # Has the SDK's client ask the same of the server at this URL, and raises where it does not read what was answered.
    ask: object = None
    # Raises where the client's request and the service's differ: the service's first.
    compare: object = None
    request_valid_by: str = "no official SDK"
    answer_parsed_by: str = "no official SDK"


def same_json(ours, theirs):
    """The same place and the same JSON. What names the client may differ."""
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
    """Whether these are the same scores, but for the last bits of a 32-bit number."""
    return said.keys() == expected.keys() and all(abs(said[name] - expected[name]) < 1e-6 for name in expected)
