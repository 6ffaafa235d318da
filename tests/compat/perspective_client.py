"""Perspective's sample for Python, unchanged but for the address and the key, with Google's client library, on a running service.
Started by scripts/test-compat."""

import json
import os
import unittest
from pathlib import Path

from googleapiclient import discovery
from googleapiclient.errors import HttpError

DEMO = json.loads(Path(os.environ["GATEHOUSE_DEMO"]).read_text())
ADDRESS = DEMO["base_url"].removesuffix("/functions/v1") + "/compat/perspective"
FINE = "friendly greetings from python"
INSULT = "You are the most pathetic loser on this whole forum, and everybody hates you."
# A keyword of the demo's rules.
FORBIDDEN = "so much blockedword in here"


def client(key=DEMO["site_key"]):
    return discovery.build(
        "commentanalyzer",
        "v1alpha1",
        developerKey=key,
        discoveryServiceUrl=f"{ADDRESS}/$discovery/rest?version=v1alpha1",
        static_discovery=False,
    )


def analyze(text, attributes=("TOXICITY",), **more):
    request = {"comment": {"text": text}, "requestedAttributes": {name: {} for name in attributes}, **more}
    return client().comments().analyze(body=request).execute()


def score(answer, attribute="TOXICITY"):
    return answer["attributeScores"][attribute]["summaryScore"]["value"]


class Analyze(unittest.TestCase):
    def test_the_sample(self):
        answer = analyze(FINE)
        toxicity = answer["attributeScores"]["TOXICITY"]
        self.assertEqual(toxicity["summaryScore"]["type"], "PROBABILITY")
        self.assertLess(toxicity["summaryScore"]["value"], 0.5)
        self.assertEqual(
            toxicity["spanScores"], [{"begin": 0, "end": len(FINE), "score": toxicity["summaryScore"]}]
        )
        self.assertGreaterEqual(score(analyze(INSULT)), 0.5)

    def test_attributes_without_a_counterpart_have_no_score(self):
        asked = ["TOXICITY", "SEVERE_TOXICITY", "IDENTITY_ATTACK", "INSULT", "PROFANITY", "THREAT", "SEXUALLY_EXPLICIT"]
        answer = analyze(INSULT, asked, languages=["en"], clientToken="mine")
        scored = {"TOXICITY", "IDENTITY_ATTACK", "INSULT", "THREAT", "SEXUALLY_EXPLICIT"}
        self.assertEqual(set(answer["attributeScores"]), scored)
        self.assertEqual(answer["gatehouse"]["unscored"], ["PROFANITY", "SEVERE_TOXICITY"])
        self.assertEqual((answer["languages"], answer["clientToken"]), (["en"], "mine"))
        self.assertEqual(score(answer), max(score(answer, "INSULT"), score(answer, "IDENTITY_ATTACK")))

    def test_sentences_have_scores_of_their_own(self):
        text = f"{FINE.capitalize()}. {INSULT}"
        answer = analyze(text, spanAnnotations=True, doNotStore=True)
        spans = answer["attributeScores"]["TOXICITY"]["spanScores"]
        self.assertEqual([text[span["begin"] : span["end"]] for span in spans], [f"{FINE.capitalize()}.", INSULT])
        first, second = (span["score"]["value"] for span in spans)
        self.assertLess(first, second)

    def test_a_threshold_leaves_out_lower_scores(self):
        wanted = {"TOXICITY": {"scoreThreshold": 0.99}, "INSULT": {"scoreType": "PROBABILITY"}}
        request = {"comment": {"text": FINE, "type": "PLAIN_TEXT"}, "requestedAttributes": wanted}
        self.assertEqual(set(client().comments().analyze(body=request).execute()["attributeScores"]), {"INSULT"})

    def test_rules_judge_it_as_any_other_item(self):
        self.assertEqual(analyze(FORBIDDEN)["gatehouse"]["status"], "rejected")

    def test_a_text_that_nobody_reads_is_perspectives_own_error(self):
        threats = json.loads((Path(__file__).parent / "threats.json").read_text())
        for language, threat in threats.items():
            try:
                answer = analyze(threat, ["THREAT"])
            except HttpError as unread:
                [detail, _] = unread.error_details
                self.assertEqual(unread.resp.status, 400, language)
                self.assertEqual(detail["errorType"], "LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE", language)
                self.assertEqual(detail["languageNotSupportedByAttributeError"]["attribute"], "THREAT", language)
            else:
                # A lexicon knows its words.
                self.assertGreaterEqual(score(answer, "THREAT"), 0.5, language)

    def test_refusals_are_the_errors_that_the_library_knows(self):
        with self.assertRaises(HttpError) as wrong_key:
            body = {"comment": {"text": FINE}, "requestedAttributes": {"TOXICITY": {}}}
            client("site_" + "x" * 43).comments().analyze(body=body).execute()
        self.assertEqual(wrong_key.exception.resp.status, 401)
        self.assertEqual(wrong_key.exception.error_details[0]["reason"], "INVALID_API_KEY")
        for attributes in (["KINDNESS"], ["PROFANITY"]):
            with self.assertRaises(HttpError) as refused:
                analyze(FINE, attributes)
            self.assertEqual(refused.exception.resp.status, 400)
            self.assertIn("requestedAttributes", refused.exception.reason)
        with self.assertRaises(HttpError) as too_long:
            analyze("x" * 102_401)
        self.assertIn("comment.text", too_long.exception.reason)


if __name__ == "__main__":
    unittest.main(verbosity=2)
