"""Google's SafeSearch and text moderation, with the messages of Google's SDKs. The SDKs can also use REST."""

from functools import partial

from google.cloud import language_v2, vision_v1
from google.cloud.language_v2.services.language_service.transports import LanguageServiceRestTransport
from google.cloud.vision_v1.services.image_annotator.transports import ImageAnnotatorRestTransport
from google.protobuf import json_format

from . import JPEG, KEY, TEXT, Case, all_of, packages, same_header, shown


def read(message, body):
    """The message in this JSON. A member that the message does not contain is an error."""
    return message.wrap(json_format.Parse(body, message.pb()(), ignore_unknown_fields=False))


def write(message):
    return json_format.MessageToJson(type(message).pb(message)).encode()


def client(client, transport, url):
    """Sends the key in `x-goog-api-key`, like Gatehouse."""
    options = {"api_key": KEY, "api_endpoint": url.removeprefix("http://")}
    return client(transport=partial(transport, url_scheme="http"), client_options=options)


def same_message(message):
    """This JSON contains enums as numbers."""

    def compare(ours, theirs):
        assert ours.path == theirs.path, f"{ours.path}, but the SDK asks {theirs.path}"
        ours, theirs = read(message, ours.body), read(message, theirs.body)
        assert ours == theirs, f"{shown(ours)}, but the SDK sends {shown(theirs)}"

    return all_of(same_message_of_json, compare, same_header("x-goog-api-key"))


def same_message_of_json(ours, _):
    assert ours.is_json, f"the content type is {ours.headers.get('content-type')}"


Likelihood = vision_v1.Likelihood
ANNOTATED = vision_v1.BatchAnnotateImagesResponse(
    responses=[
        vision_v1.AnnotateImageResponse(
            safe_search_annotation=vision_v1.SafeSearchAnnotation(
                adult=Likelihood.LIKELY,
                spoof=Likelihood.VERY_LIKELY,
                medical=Likelihood.UNLIKELY,
                violence=Likelihood.UNLIKELY,
                racy=Likelihood.VERY_LIKELY,
            )
        )
    ]
)


def check_vision(request):
    asked = read(vision_v1.BatchAnnotateImagesRequest, request.body)
    [image] = asked.requests
    assert image.image.content.startswith(JPEG)
    assert [feature.type_ for feature in image.features] == [vision_v1.Feature.Type.SAFE_SEARCH_DETECTION]


def ask_vision(url, request):
    asked = read(vision_v1.BatchAnnotateImagesRequest, request.body)
    annotator = client(vision_v1.ImageAnnotatorClient, ImageAnnotatorRestTransport, url)
    parsed = annotator.batch_annotate_images(asked)
    assert parsed == ANNOTATED, f"the SDK reads {shown(parsed)}"


# Derogatory stays at 0, which proto3 leaves out of JSON.
CONFIDENCES = {
    "Toxic": 0.5, "Insult": 0.75, "Profanity": 0.5, "Derogatory": 0.0, "Sexual": 0.125, "Death, Harm & Tragedy": 0.5,
    "Violent": 0.25, "Firearms & Weapons": 0.5, "Public Safety": 0.5, "Health": 0.5, "Religion & Belief": 0.5,
    "Illicit Drugs": 0.0625, "War & Conflict": 0.5, "Politics": 0.5, "Finance": 0.5, "Legal": 0.5,
}  # fmt: skip
MODERATED = language_v2.ModerateTextResponse(
    moderation_categories=[
        language_v2.ClassificationCategory(name=name, confidence=confidence) for name, confidence in CONFIDENCES.items()
    ],
    language_code="en",
    language_supported=True,
)


def check_language(request):
    asked = read(language_v2.ModerateTextRequest, request.body)
    assert asked.document.content == TEXT
    assert asked.document.type_ == language_v2.Document.Type.PLAIN_TEXT


def ask_language(url, request):
    asked = read(language_v2.ModerateTextRequest, request.body)
    service = client(language_v2.LanguageServiceClient, LanguageServiceRestTransport, url)
    parsed = service.moderate_text(asked)
    assert parsed == MODERATED, f"the SDK reads {shown(parsed)}"


VISION, LANGUAGE = packages("google-cloud-vision"), packages("google-cloud-language")

CASES = [
    Case(
        name="vision",
        modality="image",
        members='kind = "vision"',
        answer=lambda _: write(ANNOTATED),
        scores={"adult": 0.75, "violence": 0.25},
        check=check_vision,
        ask=ask_vision,
        compare=same_message(vision_v1.BatchAnnotateImagesRequest),
        request_valid_by=VISION,
        answer_parsed_by=VISION,
    ),
    Case(
        name="natural-language",
        modality="text",
        members='kind = "natural_language"',
        answer=lambda _: write(MODERATED),
        scores={"adult": 0.125, "violence": 0.25, "hate": 0.0, "harassment": 0.75, "illicit": 0.0625},
        check=check_language,
        ask=ask_language,
        compare=same_message(language_v2.ModerateTextRequest),
        request_valid_by=LANGUAGE,
        answer_parsed_by=LANGUAGE,
    ),
]
