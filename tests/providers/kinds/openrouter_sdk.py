"""OpenRouter's chat endpoint, with the settings of the recipe."""

import json

from openrouter import OpenRouter, components

from . import KEY, TEXT, all_of, packages, same_header, shown
from .mistral_sdk import same_but_defaults
from .openai_sdk import JUDGED, SCORES

SDK = packages("openrouter")


def check(request):
    asked = components.ChatRequest.model_validate(request.json)
    unknown = request.json.keys() - components.ChatRequest.model_fields.keys()
    assert not unknown, f"the SDK does not know {unknown}"
    assert asked.messages[-1].content == TEXT


ANSWER = components.ChatResult.model_validate({**JUDGED.model_dump(mode="json"), "system_fingerprint": None})


def ask(url, request):
    parsed = OpenRouter(api_key=KEY, server_url=f"{url}/api/v1").chat.send(**request.json)
    read = json.loads(parsed.choices[0].message.content)
    assert read == SCORES, f"the SDK reads {shown(read)}"


CHAT = {
    "answer": lambda _: ANSWER.model_dump_json(by_alias=True).encode(),
    "check": check,
    "ask": ask,
    "compare": all_of(same_but_defaults, same_header("authorization")),
    "request_valid_by": SDK,
    "answer_parsed_by": SDK,
}
