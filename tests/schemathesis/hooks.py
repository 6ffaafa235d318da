"""Tells schemathesis what the documents say in words only, so that what it holds for right is right.

It gives requests the demo site's key and rule group, so that they come further than the check of these."""

import json
import os
from pathlib import Path

import schemathesis

DEMO = json.loads(Path(os.environ["GATEHOUSE_DEMO"]).read_text())

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def given(member):
    """The member is there: neither null nor the empty string, which count as not given."""
    return {"required": [member], "properties": {member: {"type": "string", "minLength": 1}}}


@schemathesis.hook
def before_load_schema(context, raw_schema):
    for schema in raw_schema["components"]["schemas"].values():
        if "api_key" in schema.get("properties", {}):
            schema["properties"]["api_key"]["enum"] = [DEMO["site_key"]]
    for path in raw_schema["paths"].values():
        for operation in path.values():
            for parameter in operation.get("parameters", []):
                if parameter["name"] == "api_key":
                    parameter["schema"]["enum"] = [DEMO["site_key"]]

    submission = raw_schema["components"]["schemas"]["SubmitRequest"]
    submission["properties"]["rule_group_id"]["enum"] = [DEMO["rule_group_id"], None]
    submission["properties"]["content_base64"]["enum"] = [PIXEL, f"data:image/png;base64,{PIXEL}", "", None]
    del submission["properties"]["content_url"]["format"]
    submission["properties"]["content_url"]["anyOf"] = [{"format": "uri"}, {"maxLength": 0}]
    # Text or an image, and one image.
    submission["anyOf"] = [given("body"), given("content_url"), given("content_base64")]
    submission["not"] = {"allOf": [given("content_url"), given("content_base64")]}
