"""Other people's clients of OpenAI's moderation endpoint, unchanged but for the address and the key, on a running service: LiteLLM,
LangChain's middleware, and OpenAI's guardrails, which read `categories` and not `flagged`. Started by scripts/test-compat."""

import asyncio
import json
import os
import unittest
import urllib.request
from pathlib import Path
from types import SimpleNamespace

# It would ask the internet for prices.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm  # noqa: E402
import openai  # noqa: E402
from guardrails.checks.text.moderation import ModerationCfg, moderation  # noqa: E402
from langchain_core.messages import HumanMessage  # noqa: E402
from langchain_openai.middleware import OpenAIModerationMiddleware  # noqa: E402

DEMO = json.loads(Path(os.environ["GATEHOUSE_DEMO"]).read_text())
ORIGIN = DEMO["base_url"].removesuffix("/functions/v1")
ADDRESS = f"{ORIGIN}/compat/openai/v1"
THREATS = json.loads((Path(__file__).parent / "threats.json").read_text())
HARMLESS = ["a fine day for a walk by the river", "Is this seat taken?", "The meeting is at ten tomorrow morning."]


def set_site(**settings):
    """Changes settings of the demo's site."""
    request = urllib.request.Request(
        f"{ORIGIN}/management/v1/sites/{DEMO['site_id']}",
        data=json.dumps(settings).encode(),
        method="PATCH",
        headers={"content-type": "application/json", "authorization": f"Bearer {DEMO['management_token']}"},
    )
    with urllib.request.urlopen(request) as answer:
        assert answer.status == 200


class LiteLlm(unittest.TestCase):
    def flagged(self, text):
        answer = litellm.moderation(
            input=text, model="omni-moderation-latest", api_key=DEMO["site_key"], api_base=ADDRESS, max_retries=0
        )
        return answer.results[0].flagged

    def test_threats_are_flagged_and_harmless_texts_are_not(self):
        for language, threat in THREATS.items():
            self.assertTrue(self.flagged(threat), language)
        for text in HARMLESS:
            self.assertFalse(self.flagged(text), text)


class LangChain(unittest.TestCase):
    def ends(self, text):
        """Whether the middleware ends the conversation before the model is asked."""
        client = openai.OpenAI(api_key=DEMO["site_key"], base_url=ADDRESS, max_retries=0)
        middleware = OpenAIModerationMiddleware(client=client)
        update = middleware.before_model({"messages": [HumanMessage(text)]}, None)
        return update is not None and update.get("jump_to") == "end"

    def test_threats_end_the_conversation_and_harmless_texts_do_not(self):
        for language, threat in THREATS.items():
            self.assertTrue(self.ends(threat), language)
        for text in HARMLESS:
            self.assertFalse(self.ends(text), text)


class Guardrails(unittest.TestCase):
    """They read the categories, so their site wants an error for what was not checked."""

    def setUp(self):
        set_site(compat_unchecked="error")
        self.addCleanup(set_site, compat_unchecked="flag")

    def passes(self, text):
        async def checked():
            async with openai.AsyncOpenAI(api_key=DEMO["site_key"], base_url=ADDRESS) as client:
                return await moderation(SimpleNamespace(guardrail_llm=client), text, ModerationCfg())

        try:
            result = asyncio.run(checked())
        except openai.InternalServerError as unchecked:
            self.assertEqual((unchecked.status_code, unchecked.code), (503, "not_checked"))
            return False
        self.assertFalse(result.execution_failed)
        return not result.tripwire_triggered

    def test_threats_do_not_pass_and_harmless_texts_do(self):
        for language, threat in THREATS.items():
            self.assertFalse(self.passes(threat), language)
        for text in HARMLESS:
            self.assertTrue(self.passes(text), text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
