"""OpenAI's official SDK for Python, unchanged but for the address and the key, on a running service. Its answers must be allowed by
OpenAI's published document. Started by scripts/test-compat."""

import asyncio
import json
import os
import sys
import unittest
import urllib.request
from pathlib import Path

import openai
from openai.types import ModerationCreateResponse

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "providers"))
from kinds.openai_sdk import is_valid  # noqa: E402

DEMO = json.loads(Path(os.environ["GATEHOUSE_DEMO"]).read_text())
ORIGIN = DEMO["base_url"].removesuffix("/functions/v1")
ADDRESS = f"{ORIGIN}/compat/openai/v1"
FINE = "a fine day for a walk by the river"
# A keyword of the demo's rules.
FORBIDDEN = "so much blockedword in here"
INSULT = "You are the most pathetic loser on this whole forum, and everybody hates you."
PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def client(**options):
    return openai.OpenAI(**{"api_key": DEMO["site_key"], "base_url": ADDRESS, "max_retries": 0, **options})


def moderate(**request):
    """The answer as the SDK reads it, after OpenAI's document and the SDK's own model have looked at its bytes."""
    raw = client().moderations.with_raw_response.create(**request)
    text = raw.text if isinstance(raw.text, str) else raw.text()
    is_valid("CreateModerationResponse", json.loads(text))
    ModerationCreateResponse.model_validate_json(text, strict=True)
    return raw.parse()


class Moderations(unittest.TestCase):
    def test_a_text(self):
        answer = moderate(input=FINE)
        [result] = answer.results
        self.assertFalse(result.flagged)
        self.assertTrue(answer.id.startswith("modr-"))
        self.assertEqual(answer.model, "gatehouse")
        categories = result.categories.model_dump(by_alias=True)
        self.assertEqual(len(categories), 13)
        self.assertEqual(set(categories.values()), {False})
        self.assertEqual(result.category_applied_input_types.harassment, ["text"])
        self.assertEqual(result.category_applied_input_types.violence_graphic, [], "it has no category of ours")

    def test_several_texts_are_answered_in_their_order(self):
        answer = moderate(input=[FINE, FORBIDDEN, FINE, INSULT], model="omni-moderation-latest")
        self.assertEqual(answer.model, "omni-moderation-latest")
        self.assertEqual([result.flagged for result in answer.results], [False, True, False, True])
        rule, insult = answer.results[1], answer.results[3]
        self.assertEqual(set(rule.categories.model_dump().values()), {False}, "only a rule rejects it")
        self.assertTrue(insult.categories.harassment)
        self.assertGreaterEqual(insult.category_scores.harassment, 0.5)

    def test_threats_that_nobody_reads_are_flagged(self):
        threats = json.loads((HERE / "threats.json").read_text())
        answer = moderate(input=list(threats.values()))
        for language, result in zip(threats, answer.results, strict=True):
            self.assertTrue(result.flagged, language)
            self.assertIn("hate", result.model_extra["gatehouse"]["unchecked"], language)
        self.assertFalse(moderate(input=FINE).results[0].flagged)

    def test_an_empty_text_has_a_result(self):
        answer = moderate(input=["hi", ""])
        self.assertEqual([result.flagged for result in answer.results], [False, False])

    def test_models(self):
        models = [model.id for model in client().models.list()]
        self.assertIn("omni-moderation-latest", models)
        self.assertEqual(client().models.retrieve(models[0]).id, models[0])
        with self.assertRaises(openai.NotFoundError):
            client().models.retrieve("gpt-5")

    def test_text_and_image_are_one_input(self):
        parts = [{"type": "text", "text": FORBIDDEN}, {"type": "image_url", "image_url": {"url": PIXEL}}]
        [result] = moderate(input=parts).results
        self.assertTrue(result.flagged)
        moderate(input=[{"type": "image_url", "image_url": {"url": PIXEL}}])

    def test_the_item_is_stored_and_judged_as_any_other(self):
        raw = client().moderations.with_raw_response.create(input=FORBIDDEN)
        text = raw.text if isinstance(raw.text, str) else raw.text()
        item = json.loads(text)["results"][0]["gatehouse"]
        question = json.dumps({"api_key": DEMO["site_key"], "media_id": item["media_id"]}).encode()
        request = urllib.request.Request(
            f"{DEMO['base_url']}/get-media-status", data=question, headers={"content-type": "application/json"}
        )
        with urllib.request.urlopen(request) as answer:
            status = json.load(answer)
        self.assertEqual((item["status"], item["action"]), ("rejected", "block"))
        self.assertEqual(status["status"], "rejected")

    def test_refusals_are_the_errors_that_the_sdk_knows(self):
        with self.assertRaises(openai.AuthenticationError) as wrong_key:
            client(api_key="site_" + "x" * 43).moderations.create(input=FINE)
        self.assertEqual(wrong_key.exception.code, "invalid_api_key")
        with self.assertRaises(openai.BadRequestError) as too_long:
            moderate(input="x" * 102_401)
        self.assertEqual(too_long.exception.param, "input")
        with self.assertRaises(openai.BadRequestError) as empty:
            moderate(input=[])
        self.assertEqual(empty.exception.type, "invalid_request_error")

    def test_many_at_once(self):
        async def all_of_them():
            many = openai.AsyncOpenAI(api_key=DEMO["site_key"], base_url=ADDRESS)
            texts = [FORBIDDEN if number % 3 == 0 else FINE for number in range(60)]
            answers = await asyncio.gather(*(many.moderations.create(input=text) for text in texts))
            return [answer.results[0].flagged for answer in answers]

        self.assertEqual(asyncio.run(all_of_them()), [number % 3 == 0 for number in range(60)])


if __name__ == "__main__":
    unittest.main(verbosity=2)
