"""Mistral's moderations, and its chat endpoint with the settings of the recipe."""

import json

from mistralai.client import Mistral, models

from . import KEY, TEXT, Case, all_of, packages, same_header, same_json, shown
from .openai_sdk import POLICY, SCORES

SDK = packages("mistralai")


def client(url):
    return Mistral(api_key=KEY, server_url=url)


def moderation(scores):
    judged = models.ModerationObject(
        categories={name: score > 0.5 for name, score in scores.items()}, category_scores=scores
    )
    return models.ModerationResponse(id="m-1", model="mistral-moderation", results=[judged])


# The categories of mistral-moderation-2603, which the SDK lists, and those of the previous model.
NEW = dict.fromkeys(models.ModerationLlmv2CategoryThresholds.model_fields, 0.01) | {"criminal": 0.75, "sexual": 0.5}
OLD = dict.fromkeys(models.ModerationLlmv1CategoryThresholds.model_fields, 0.01) | {
    "dangerous_and_criminal_content": 0.25
}
REST = {"adult": 0.01, "violence": 0.01, "hate": 0.01, "self_harm": 0.01}


def moderations(name, members, told, scores):
    answer = moderation(told)

    def check(request):
        asked = models.ClassificationRequest.model_validate(request.json)
        unknown = request.json.keys() - asked.model_dump(by_alias=True).keys()
        assert not unknown, f"the SDK does not know {unknown}"
        assert asked.inputs == [TEXT]

    def ask(url, request):
        asked = models.ClassificationRequest.model_validate(request.json)
        parsed = client(url).classifiers.moderate(model=asked.model, inputs=asked.inputs)
        assert parsed == answer, f"the SDK reads {shown(parsed)}"

    return Case(
        name=name,
        modality="text",
        members=f'kind = "mistral"\n{members}',
        answer=lambda _: answer.model_dump_json(by_alias=True).encode(),
        scores=scores,
        check=check,
        ask=ask,
        compare=all_of(same_json, same_header("authorization")),
        request_valid_by=SDK,
        answer_parsed_by=SDK,
    )


def judged(content):
    choice = models.ChatCompletionChoice(
        index=0, finish_reason="stop", message=models.AssistantMessage(content=content)
    )
    usage = models.UsageInfo(prompt_tokens=9, completion_tokens=9, total_tokens=18)
    return models.ChatCompletionResponse(
        id="c-1", object="chat.completion", created=1, model="m", usage=usage, choices=[choice]
    )


JSON = json.dumps(SCORES)
# The form of answers from models that think.
THOUGHT = [models.ThinkChunk(thinking=[models.TextChunk(text="Is it spam?")]), models.TextChunk(text=JSON)]


def check_chat(request):
    asked = models.ChatCompletionRequest.model_validate(request.json)
    unknown = request.json.keys() - models.ChatCompletionRequest.model_fields.keys()
    assert not unknown, f"the SDK does not know {unknown}"
    assert asked.messages[-1].content == TEXT
    # It accepts unknown values.
    assert asked.response_format.type in ("json_schema", "json_object"), asked.response_format.type


def ask_chat(answer):
    def ask(url, request):
        parsed = client(url).chat.complete(**request.json)
        assert parsed == answer, f"the SDK reads {shown(parsed)}"

    return ask


def same_but_defaults(ours, theirs):
    """The SDK adds its defaults."""
    assert ours.path == theirs.path
    assert all(theirs.json[name] == value for name, value in ours.json.items()), shown(theirs.json)
    added = {name: value for name, value in theirs.json.items() if name not in ours.json}
    assert added in ({}, {"stream": False}), f"the SDK adds {added}"


def chat(answer):
    """The case of a model that gives this answer."""
    return {
        "answer": lambda _: answer.model_dump_json(by_alias=True).encode(),
        "check": check_chat,
        "ask": ask_chat(answer),
        "compare": all_of(same_but_defaults, same_header("authorization")),
        "request_valid_by": SDK,
        "answer_parsed_by": SDK,
    }


# As in the recipe.
CHAT = chat(judged(JSON))

CASES = [
    moderations("mistral", "", NEW, REST | {"adult": 0.5, "illicit": 0.75}),
    moderations("mistral-2411", 'model = "mistral-moderation-2411"', OLD, REST | {"illicit": 0.25}),
    Case("mistral-thinking", "text", f'kind = "chat"\n{POLICY}', scores=SCORES, **chat(judged(THOUGHT))),
]
