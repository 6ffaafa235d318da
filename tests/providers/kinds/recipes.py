"""The recipes for chat servers in docs/providers.md. Only their hosts and keys are replaced here."""

import json
import re
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming

from . import KEY, Case, all_of, llama_cpp, mistral_sdk, openai_sdk, openrouter_sdk

PAGE = Path(__file__).parents[3] / "docs" / "providers.md"
REPLACED = re.compile(r'(?m)^(\[\[provider\]\]|name = .*|url = .*|key_env = .*)\n')


def recipes():
    """The text of each recipe, by name."""
    section = PAGE.read_text().split("\n## Recipes for chat servers\n")[1].split("\n## ")[0]
    for block in re.findall(r"```toml\n(.*?)```", section, re.DOTALL):
        [entry] = tomllib.loads(block)["provider"]
        yield entry["name"], entry, REPLACED.sub("", block)


def asks(path, absent=(), **members):
    """Whether a request goes to this path, with the first members and without the others."""

    def check(request):
        assert request.path == path, f"the path is {request.path}"
        for name in absent:
            assert name not in request.json, f"it has {name}"
        for name, value in members.items():
            assert request.json.get(name) == value, f"{name} is {request.json.get(name)}"

    return check


def shows(**headers):
    """Whether a request has these headers, and no other header with the key."""

    def check(request):
        for name, value in headers.items():
            name = name.replace("_", "-")
            assert request.headers.get(name) == value, f"{name} is {request.headers.get(name)}"
        with_key = [name for name, value in request.headers.items() if KEY in value]
        assert len(with_key) == 1, f"the key is in {with_key}"

    return check


typed = openai_sdk.check(CompletionCreateParamsNonStreaming, "CreateChatCompletionRequest")
bearer = shows(authorization=f"Bearer {KEY}")
usual = asks("/v1/chat/completions", max_tokens=4096, temperature=0)
OPENAI = {
    "answer": lambda _: openai_sdk.written(openai_sdk.JUDGED, "CreateChatCompletionResponse"),
    "request_valid_by": openai_sdk.DOCUMENT,
    "answer_parsed_by": openai_sdk.DOCUMENT,
}
# Answers of models without a schema.
THOUGHT = '<think>Harmless? {"hate": 0, "spam": 0} would be wrong.</think>'
POLITE = openai_sdk.completion(f"{THOUGHT}\nHere it is:\n```json\n{json.dumps(openai_sdk.SCORES)}\n```")

EXPECTED = {
    "claude": OPENAI
    | {
        "check": all_of(
            typed,
            asks("/v1/chat/completions", ("response_format", "temperature", "logprobs"), model="claude-haiku-4-5"),
            shows(x_api_key=KEY, anthropic_version="2023-06-01"),
        ),
        "answer": lambda _: openai_sdk.written(POLITE, "CreateChatCompletionResponse"),
    },
    "gemini": OPENAI | {"check": all_of(typed, asks("/v1beta/openai/chat/completions", max_tokens=8192), bearer)},
    "reasoning": OPENAI
    | {
        "check": all_of(
            typed,
            asks("/v1/chat/completions", ("max_tokens", "temperature"), max_completion_tokens=8192),
            bearer,
        ),
        "ask": openai_sdk.ask_chat(openai_sdk.JUDGED),
        "compare": openai_sdk.compare,
    },
    "mistral-chat": mistral_sdk.CHAT,
    "openrouter": openrouter_sdk.CHAT,
    "vllm": OPENAI | {"check": all_of(typed, usual, bearer)},
    "llama-cpp": llama_cpp.CHAT,
    "ollama": OPENAI | {"check": all_of(typed, usual, bearer)},
}


def cases():
    found = []
    for name, entry, members in recipes():
        path = urlsplit(entry["url"]).path
        expected = {"scores": openai_sdk.SCORES, **EXPECTED[name]}
        found.append(Case(name=name, modality="text", members=members, base=path, **expected))
    missing = EXPECTED.keys() - {case.name for case in found}
    assert not missing, f"the page has no recipe {missing}"
    return found


CASES = cases()
