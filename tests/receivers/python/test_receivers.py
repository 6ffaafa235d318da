"""The Python of docs/webhooks.md against the vectors, and against what a real service sent."""

import datetime
import json
import os
import unittest
from email.message import Message
from unittest import mock

import standardwebhooks.webhooks
from extracted import by_hand, library


def vectors(paths):
    for path in filter(None, paths.split(":")):
        with open(path) as file:
            yield from json.load(file)["vectors"]


def headers_of(vector):
    """Headers as in web frameworks: the case of a name does not matter."""
    headers = Message()
    for name, value in vector["headers"].items():
        headers[name] = value
    return headers


def library_says(vector):
    try:
        event = library.verify(vector["body"].encode(), headers_of(vector), vector["secret"])
    except Exception:
        return False
    assert event == json.loads(vector["body"])
    return True


def clock_at(now):
    class Clock(datetime.datetime):
        @classmethod
        def now(cls, tz=None):
            return cls.fromtimestamp(now, tz)

    return mock.patch.object(standardwebhooks.webhooks, "datetime", Clock)


class Receivers(unittest.TestCase):
    def test_by_hand(self):
        for vector in vectors(f"{os.environ['VECTORS']}:{os.environ['RECEIVED']}"):
            with self.subTest(vector["name"]):
                said = by_hand.is_genuine(vector["body"].encode(), headers_of(vector), vector["secret"])
                self.assertEqual(said, vector["expected"]["service"] == "valid")

    def test_library(self):
        for vector in vectors(os.environ["VECTORS"]):
            with self.subTest(vector["name"]), clock_at(vector["now"]):
                self.assertEqual(library_says(vector), vector["expected"]["standard"] == "valid")

    def test_library_with_what_was_received(self):
        received = list(vectors(os.environ["RECEIVED"]))
        self.assertGreaterEqual(len(received), 6)
        for vector in received:
            self.assertTrue(library_says(vector), vector["name"])
            forged = vector | {"body": vector["body"] + " "}
            self.assertFalse(library_says(forged), vector["name"])


if __name__ == "__main__":
    unittest.main()
