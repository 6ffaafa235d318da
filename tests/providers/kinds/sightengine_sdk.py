"""Sightengine. Its own SDK for Node.js makes the form for images, and returns every answer unchecked. The models of the answer
come from another author's SDK. No SDK supports texts."""

import json
import subprocess
from pathlib import Path

from sightengine.models import CheckResponse

from . import JPEG, KEY, TEXT, Case, packages, shown

KEY_ID = "1234567"
HERE = Path(__file__).parent.parent
SCRIPT = HERE / "sightengine.cjs"
NODE = f"sightengine {json.loads((HERE / 'package.json').read_text())['dependencies']['sightengine']} (npm)"
MODELS = packages("sightengine-async")


def zeros(model):
    """All members that the model requires, with 0."""
    values = {}
    for name, field in model.model_fields.items():
        if field.is_required():
            nested = hasattr(field.annotation, "model_fields")
            values[field.alias or name] = zeros(field.annotation) if nested else 0.0
    return values


def answered():
    fields = CheckResponse.model_fields

    def zeros_of(name):
        [model] = [kind for kind in fields[name].annotation.__args__ if kind is not type(None)]
        return zeros(model)

    nudity, violence, gore = zeros_of("nudity"), zeros_of("violence"), zeros_of("gore")
    offensive, self_harm = zeros_of("offensive"), zeros_of("self_harm")
    nudity |= {"sexual_activity": 0.25, "sexual_display": 0.125, "erotica": 0.125, "none": 0.5}
    violence |= {"prob": 0.875, "classes": violence["classes"] | {"combat_sport": 0.875, "firearm_threat": 0.0625}}
    gore |= {"prob": 0.75, "classes": gore["classes"] | {"skull": 0.75, "corpse": 0.125}}
    offensive |= {"supremacist": 0.375, "middle_finger": 0.9}
    self_harm |= {"prob": 0.0625}
    return CheckResponse.model_validate(
        {
            "status": "success",
            "nudity": nudity,
            "violence": violence,
            "gore": gore,
            "offensive": offensive,
            "self-harm": self_harm,
        }
    )


ANSWER = answered()


def check_image(request):
    form = request.form
    assert request.path == "/1.0/check.json" and not request.query
    assert form.keys() == {"api_user", "api_secret", "models", "media"}, form.keys()
    assert (form["api_user"], form["api_secret"]) == (KEY_ID, KEY)
    name, content = form["media"]
    assert name and content.startswith(JPEG)


def ask_image(url, request):
    models = request.form["models"].split(",")
    _, content = request.form["media"]
    command = ["node", str(SCRIPT), url, KEY_ID, KEY, *models]
    done = subprocess.run(command, input=content, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    read = CheckResponse.model_validate_json(done.stdout)
    assert read == ANSWER, f"the SDK reads {shown(read)}"


def same_form(ours, theirs):
    assert ours.path == theirs.path, f"{ours.path}, but the SDK asks {theirs.path}"
    ours, theirs = ours.form, theirs.form
    assert ours == theirs, f"{shown(ours)}, but the SDK sends {shown(theirs)}"


CLASSES = {
    "available": ["sexual", "discriminatory", "insulting", "violent", "toxic", "self-harm"],
    "sexual": 0.5, "discriminatory": 0.25, "insulting": 0.125, "violent": 0.0, "toxic": 0.75, "self-harm": 0.0625,
}  # fmt: skip


def check_text(request):
    form = request.form
    expected = {
        "api_user": KEY_ID, "api_secret": KEY, "mode": "ml", "models": "general,self-harm", "lang": "en", "text": TEXT,
    }  # fmt: skip
    assert request.path == "/1.0/text/check.json" and not request.query
    assert form == expected, f"{form}"


CASES = [
    Case(
        name="sightengine-image",
        modality="image",
        members=f'kind = "sightengine"\nkey_id = "{KEY_ID}"',
        answer=lambda _: ANSWER.model_dump_json(by_alias=True, exclude_unset=True).encode(),
        scores={"adult": 0.5, "violence": 0.125, "hate": 0.375, "self_harm": 0.0625},
        check=check_image,
        ask=ask_image,
        compare=same_form,
        request_valid_by=NODE,
        answer_parsed_by=f"{MODELS} (not official)",
    ),
    Case(
        name="sightengine-text",
        modality="text",
        members=f'kind = "sightengine"\nkey_id = "{KEY_ID}"\nmodalities = ["text"]',
        answer=lambda _: json.dumps({"status": "success", "moderation_classes": CLASSES}).encode(),
        scores={"adult": 0.5, "violence": 0.0, "hate": 0.25, "self_harm": 0.0625, "harassment": 0.75},
        check=check_text,
    ),
]
