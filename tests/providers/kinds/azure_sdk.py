"""Azure AI Content Safety. Its SDK uses an older version of the API with the same requests and answers."""

import json

from azure.ai.contentsafety import ContentSafetyClient, models
from azure.core.credentials import AzureKeyCredential

from . import JPEG, KEY, TEXT, Case, all_of, packages, same_header, same_json, shown

SDK = packages("azure-ai-contentsafety")
VERSION = "2024-09-01"

FOUND = {"Hate": 2, "SelfHarm": 0, "Sexual": 4, "Violence": 6}
FINELY = {"Hate": 3, "SelfHarm": 1, "Sexual": 7, "Violence": 0}


def known(model, value):
    """Whether these are members and values of the SDK's model."""
    names = {field._rest_name for field in model({})._attr_to_rest_field.values()}
    unknown = value.keys() - names
    assert not unknown, f"{model.__name__} has no {unknown}"


def check_text(request):
    known(models.AnalyzeTextOptions, request.json)
    assert request.query == {"api-version": VERSION}
    assert request.json["text"] == TEXT
    assert set(request.json["categories"]) <= {category.value for category in models.TextCategory}
    models.AnalyzeTextOutputType(request.json["outputType"])


def check_image(request):
    known(models.AnalyzeImageOptions, request.json)
    known(models.ImageData, request.json["image"])
    assert request.query == {"api-version": VERSION}
    assert models.AnalyzeImageOptions(request.json).image.content.startswith(JPEG)
    assert set(request.json["categories"]) <= {category.value for category in models.ImageCategory}
    models.AnalyzeImageOutputType(request.json["outputType"])


def answer_text(request):
    found = [
        models.TextCategoriesAnalysis(category=models.TextCategory(name), severity=FINELY[name])
        for name in request.json["categories"]
    ]
    return json.dumps(models.AnalyzeTextResult(blocklists_match=[], categories_analysis=found).as_dict()).encode()


def answer_image(request):
    found = [
        models.ImageCategoriesAnalysis(category=models.ImageCategory(name), severity=FOUND[name])
        for name in request.json["categories"]
    ]
    return json.dumps(models.AnalyzeImageResult(categories_analysis=found).as_dict()).encode()


def client(url):
    return ContentSafetyClient(url, AzureKeyCredential(KEY), api_version=VERSION, retry_total=0)


def has(parsed, severities):
    said = {finding.category: finding.severity for finding in parsed.categories_analysis}
    assert said == severities, f"the SDK reads {shown(said)}"


def ask_text(url, request):
    has(client(url).analyze_text(models.AnalyzeTextOptions(request.json)), FINELY)


def ask_image(url, request):
    has(client(url).analyze_image(models.AnalyzeImageOptions(request.json)), FOUND)


def same_query(ours, theirs):
    assert ours.query == theirs.query, f"{ours.query}, but the SDK asks {theirs.query}"


def case(modality, answer, check, ask, scores):
    return Case(
        name=f"azure-{modality}",
        modality=modality,
        members='kind = "azure"',
        answer=answer,
        scores=scores,
        check=check,
        ask=ask,
        compare=all_of(same_json, same_query, same_header("ocp-apim-subscription-key")),
        request_valid_by=SDK,
        answer_parsed_by=SDK,
    )


CASES = [
    case(
        "text",
        answer_text,
        check_text,
        ask_text,
        {"adult": 1.0, "violence": 0.0, "hate": 0.5, "self_harm": 1 / 6},
    ),
    case(
        "image",
        answer_image,
        check_image,
        ask_image,
        {"adult": 4 / 6, "violence": 1.0, "hate": 2 / 6, "self_harm": 0.0},
    ),
]
