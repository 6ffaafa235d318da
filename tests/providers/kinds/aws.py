"""AWS: Rekognition and Bedrock's guardrails. botocore has the description of each operation, a validator and the signer."""

import base64
import json
import re
from urllib.parse import unquote

import botocore.session
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.validate import ParamValidator

from . import JPEG, KEY, TEXT, Case, all_of, packages, same_header, same_json

REGION, KEY_ID, GUARDRAIL = "eu-west-1", "AKIDEXAMPLE", "gr4jq1l2m3n4"
BOTOCORE = packages("botocore")
session = botocore.session.get_session()


def read(shape, value):
    """Converts a value on the wire to botocore's form. A member that the description does not contain is an error."""
    match shape.type_name:
        case "structure":
            unknown = value.keys() - shape.members.keys()
            assert not unknown, f"{shape.name} has no {unknown}"
            return {name: read(shape.members[name], member) for name, member in value.items()}
        case "list":
            return [read(shape.member, member) for member in value]
        case "blob":
            return base64.b64decode(value, validate=True)
        case "float" | "double":
            return float(value)
        case "string":
            # The validator does not check this.
            assert not shape.enum or value in shape.enum, f"{shape.name} is {value}"
            pattern = shape.metadata.get("pattern")
            assert pattern is None or re.fullmatch(pattern, value), f"{shape.name} is {value}"
            return value
        case _:
            return value


def write(shape, value):
    """Converts in the other direction, for answers. Only valid ones."""
    assert read(shape, value) == value
    report = ParamValidator().validate(value, shape)
    assert not report.has_errors(), report.generate_report()
    return json.dumps(value).encode()


def parameters(operation, request):
    """The parameters that a caller of the operation would have given."""
    given = read(operation.input_shape, request.json)
    names = operation.http["requestUri"].split("/")
    for name, value in zip(names, request.path.split("/"), strict=True):
        if name.startswith("{"):
            name = name.strip("{}")
            given[name] = read(operation.input_shape.members[name], unquote(value))
        else:
            assert name == value, f"the path is {request.path}"
    return given


def check(service, name, signed_as):
    operation = session.get_service_model(service).operation_model(name)

    def check(request):
        report = ParamValidator().validate(parameters(operation, request), operation.input_shape)
        assert not report.has_errors(), report.generate_report()
        again = AWSRequest("POST", f"http://{request.headers['host']}{request.target}", data=request.body)
        authorization = request.headers["authorization"]
        names = authorization.split("SignedHeaders=")[1].split(",")[0].split(";")
        for header in names:
            again.headers[header] = request.headers[header]
        again.context["timestamp"] = request.headers["x-amz-date"]
        signer = SigV4Auth(Credentials(KEY_ID, KEY), signed_as, REGION)
        signature = signer.signature(signer.string_to_sign(again, signer.canonical_request(again)), again)
        expected = (
            f"AWS4-HMAC-SHA256 Credential={signer.scope(again)}, SignedHeaders={';'.join(names)}, Signature={signature}"
        )
        assert authorization == expected, f"{authorization}, but botocore signs {expected}"
        assert {"host", "content-type", "x-amz-date"} <= set(names), f"signed are {names}"

    return check


def ask(service, name, answer):
    operation = session.get_service_model(service).operation_model(name)

    def ask(url, request):
        client = session.create_client(
            service,
            region_name=REGION,
            endpoint_url=url,
            aws_access_key_id=KEY_ID,
            aws_secret_access_key=KEY,
            config=Config(retries={"total_max_attempts": 1}, proxies={}),
        )
        parsed = client._make_api_call(name, parameters(operation, request))
        parsed.pop("ResponseMetadata")
        assert parsed == answer, f"botocore reads {parsed}"

    return ask


def case(name, modality, members, service, operation, answer, scores, signed_as, compare):
    shape = session.get_service_model(service).operation_model(operation).output_shape
    return Case(
        name=name,
        modality=modality,
        members=f'region = "{REGION}"\nkey_id = "{KEY_ID}"\n{members}',
        answer=lambda _: write(shape, answer),
        scores=scores,
        check=check(service, operation, signed_as),
        ask=ask(service, operation, answer),
        compare=compare,
        request_valid_by=BOTOCORE,
        answer_parsed_by=BOTOCORE,
    )


def label(name, parent, level, confidence):
    return {"Name": name, "ParentName": parent, "TaxonomyLevel": level, "Confidence": confidence}


LABELS = {
    "ModerationLabels": [
        label("Explicit", "", 1, 25.0),
        label("Explicit Nudity", "Explicit", 2, 25.0),
        label("Exposed Female Nipple", "Explicit Nudity", 3, 12.5),
        label("Violence", "", 1, 75.0),
        label("Weapons", "Violence", 2, 75.0),
        label("Hate Symbols", "", 1, 50.0),
        label("Nazi Party", "Hate Symbols", 2, 50.0),
        label("Alcohol", "", 1, 100.0),
    ],
    "ModerationModelVersion": "7.0",
    "ContentTypes": [{"Name": "Animated Content", "Confidence": 50.0}],
}

USAGE = {
    "topicPolicyUnits": 0,
    "contentPolicyUnits": 1,
    "wordPolicyUnits": 0,
    "sensitiveInformationPolicyUnits": 0,
    "sensitiveInformationPolicyFreeUnits": 0,
    "contextualGroundingPolicyUnits": 0,
}


def filters(**confidences):
    """An assessment with these filters."""
    told = [
        {"type": kind, "confidence": confidence, "filterStrength": "HIGH", "action": "NONE", "detected": False}
        for kind, confidence in confidences.items()
    ]
    return {"contentPolicy": {"filters": told}, "invocationMetrics": {"guardrailProcessingLatency": 5, "usage": USAGE}}


# An account or its organisation may enforce guardrails of its own, which then assess the same content.
ASSESSMENTS = {
    "usage": USAGE,
    "action": "NONE",
    "actionReason": "No action.",
    "outputs": [],
    "assessments": [
        filters(SEXUAL="NONE", VIOLENCE="LOW", HATE="MEDIUM", INSULTS="HIGH", PROMPT_ATTACK="NONE"),
        filters(VIOLENCE="MEDIUM", HATE="LOW"),
    ],
}
GUARDED = {"adult": 0.0, "violence": 0.7, "hate": 0.7, "harassment": 1.0}


def image_of(request):
    image = request.json.get("Image") or request.json["content"][0]["image"]["source"]
    encoded = image.get("Bytes") or image["bytes"]
    assert base64.b64decode(encoded).startswith(JPEG), "the image is no JPEG"


def guardrail(modality):
    return case(
        f"bedrock-{modality}",
        modality,
        'kind = "bedrock_guardrail"\nmodalities = ["text", "image"]\n'
        f'guardrail = "{GUARDRAIL}"\nguardrail_version = "2"',
        "bedrock-runtime",
        "ApplyGuardrail",
        ASSESSMENTS,
        GUARDED,
        "bedrock",
        same_json,
    )


rekognition = case(
    "rekognition",
    "image",
    'kind = "rekognition"',
    "rekognition",
    "DetectModerationLabels",
    LABELS,
    {"adult": 0.25, "violence": 0.75, "hate": 0.5, "self_harm": 0.0},
    "rekognition",
    None,
)


def same_operation(ours, theirs):
    """This JSON has its own content type, with a version."""
    assert ours.path == theirs.path and ours.json == theirs.json, "the requests differ"
    same_header("x-amz-target")(ours, theirs)
    same_header("content-type")(ours, theirs)


rekognition.compare = same_operation
rekognition.check = all_of(rekognition.check, image_of)
text, image = guardrail("text"), guardrail("image")
image.check = all_of(image.check, image_of)


def text_of(request):
    assert request.json["content"] == [{"text": {"text": TEXT}}]


text.check = all_of(text.check, text_of)

CASES = [rekognition, text, image]
