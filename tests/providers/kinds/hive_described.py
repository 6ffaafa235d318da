"""Hive has no SDK on PyPI or npm. These requests and answers follow Hive's documentation."""

import json

from . import JPEG, KEY, TEXT, Case


def answer(**scores):
    classes = [{"class": name, "score": score} for name, score in scores.items()]
    output = [{"time": 0, "classes": classes}]
    body = {"id": "t-1", "code": 200, "status": [{"status": {"code": "0"}, "response": {"output": output}}]}
    return lambda _: json.dumps(body).encode()


def has_key(request):
    assert request.path == "/api/v2/task/sync"
    assert request.headers["authorization"] == f"token {KEY}"


def check_text(request):
    has_key(request)
    assert request.is_json and request.json == {"text_data": TEXT}


def check_image(request):
    has_key(request)
    assert request.form.keys() == {"media"}
    name, content = request.form["media"]
    assert name and content.startswith(JPEG)


CASES = [
    Case(
        name="hive-text",
        modality="text",
        members='kind = "hive"\nmodalities = ["text"]',
        answer=answer(
            sexual=3, violence=0, hate=0, self_harm=0, bullying=3, child_exploitation=0, drugs=0, weapons=3, spam=-1
        ),
        scores={
            "adult": 1.0, "violence": 0.0, "hate": 0.0, "self_harm": 0.0, "harassment": 1.0, "sexual_minors": 0.0,
            "illicit": 1.0,
        },  # fmt: skip
        check=check_text,
    ),
    Case(
        name="hive-image",
        modality="image",
        members='kind = "hive"\nmodalities = ["image"]',
        answer=answer(
            general_nsfw=0.25, yes_sexual_activity=0.125, very_bloody=0.5, human_corpse=0.0, yes_fight=0.0,
            yes_nazi=0.0, yes_kkk=0.75, yes_terrorist=0.0, yes_self_harm=0.0, hanging=0.0, noose=0.0,
        ),  # fmt: skip
        scores={"adult": 0.25, "violence": 0.5, "hate": 0.75, "self_harm": 0.0},
        check=check_image,
    ),
]
