"""Tells schemathesis what the documents say only in words, so that it treats the right requests as valid. Also puts existing
keys and ids into its requests, so that they do not fail when these are looked up."""

import json
import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import schemathesis
from hypothesis import strategies as st

DEMO = json.loads(Path(os.environ["GATEHOUSE_DEMO"]).read_text())

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

# A name has no control characters, and no white space at its ends.
CONTROL = r"\x00-\x1f\x7f-\x9f"
SPACE = r" \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
NAME = f"^[^{CONTROL}{SPACE}]([^{CONTROL}]*[^{CONTROL}{SPACE}])?$"

# What a request refers to must exist, and what a path names should exist. These are formats, because formats say what to
# generate and refuse nothing: schemathesis can also use ids from answers.
EXISTING = {
    "api_key": DEMO["site_key"],
    "default_rule_group_id": DEMO["rule_group_id"],
    "delivery_id": os.environ["GATEHOUSE_DELIVERY_ID"],
    "endpoint_id": os.environ["GATEHOUSE_ENDPOINT_ID"],
    "hash_list_id": os.environ["GATEHOUSE_HASH_LIST_ID"],
    "media_id": os.environ["GATEHOUSE_MEDIA_ID"],
    "plan_id": os.environ["GATEHOUSE_PLAN_ID"],
    "rule_group_id": DEMO["rule_group_id"],
    "site_id": DEMO["site_id"],
    "team_id": DEMO["team_id"],
}
for member, value in EXISTING.items():
    schemathesis.openapi.format(member, st.just(value))
    schemathesis.openapi.format(f"{member} or none", st.one_of(st.just(value), st.uuids().map(str)))

FUTURE = st.datetimes(min_value=datetime(2100, 1, 1)).map(lambda time: f"{time.isoformat()}Z")
schemathesis.openapi.format("future", FUTURE)

NOW = datetime.now(UTC).replace(tzinfo=None)
# Sites may keep events for no more than a day.
RECENT = st.datetimes(min_value=NOW - timedelta(hours=12), max_value=NOW).map(lambda time: f"{time.isoformat()}Z")
schemathesis.openapi.format("recent", RECENT)
PAST = st.datetimes(min_value=datetime(2000, 1, 1), max_value=datetime(2025, 1, 1)).map(
    lambda time: f"{time.isoformat()}Z"
)
schemathesis.openapi.format("past", PAST)

# Addresses that are permitted, and names of headers that nothing else sets.
schemathesis.openapi.format("address", st.sampled_from(["https://receiver.example/", "http://receiver.example:8080/a?b=c"]))
schemathesis.openapi.format("header", st.from_regex("x-[a-z]{1,20}", fullmatch=True))

# The parts of rules, likewise.
schemathesis.openapi.format("term", st.from_regex("[a-z]{1,20}", fullmatch=True))
schemathesis.openapi.format("pattern", st.sampled_from([r"review-\d{4}", "(?i)sp[ae]m"]))
schemathesis.openapi.format("domain", st.sampled_from(["short.example", "203.0.113.9"]))


@schemathesis.hook
def before_load_schema(context, raw_schema):
    use_existing(raw_schema)
    schemas = raw_schema["components"]["schemas"]
    for path in raw_schema["paths"].values():
        for operation in path.values():
            parameters = operation.get("parameters", [])
            # Only a cursor from an answer of the same list is valid.
            parameters[:] = [one for one in parameters if one["name"] != "cursor"]
            for parameter in parameters:
                refine(parameter["name"], parameter["schema"], is_path=parameter["in"] == "path")
            if "requestBody" in operation:
                body = operation["requestBody"]["content"].get("application/json")
                # A file of hashes can be any text.
                if body is not None:
                    for name, schema in schemas[body["schema"]["$ref"].rsplit("/", 1)[1]]["properties"].items():
                        refine(name, schema)
    if "SubmitRequest" in schemas:
        refine_submission(schemas["SubmitRequest"])
    if "NewSite" in schemas:
        # It must be the rule group's team, which is also the default.
        del schemas["NewSite"]["properties"]["team_id"]
        refine_rules(raw_schema["paths"], schemas)
        refine_people(schemas)
        header = schemas["NewWebhookHeader"]["properties"]["name"]
        header["format"] = "header"
        del header["pattern"]


def use_existing(raw_schema):
    """Replaces the examples' keys and ids with existing ones, everywhere."""
    text = json.dumps(raw_schema)
    for member, existing in EXISTING.items():
        for example in set(re.findall(f'"{member}": "([^"]+)"', text)):
            text = text.replace(f'"{example}"', f'"{existing}"')
    raw_schema.update(json.loads(text))


def refine(name, schema, is_path=False):
    if name == "api_key":
        schema["enum"] = [DEMO["site_key"]]
    if name in EXISTING:
        schema["format"] = f"{name} or none" if is_path else name
    if name == "providers":
        schema["items"]["enum"] = ["builtin"]
        schema["uniqueItems"] = True
    if name == "rule_group_ids":
        schema["items"]["format"] = "rule_group_id"
    if name == "url":
        schema["format"] = "address"
    if name == "activate_at":
        schema["format"] = "past"
    if name == "headers":
        # Without duplicates.
        schema["maxItems"] = 1
    if name == "expires_at":
        schema["format"] = "future"
    if name in ("name", "description") and "pattern" not in schema:
        schema["pattern"] = NAME


def refine_submission(schema):
    properties = schema["properties"]
    properties["content_base64"]["enum"] = [PIXEL, f"data:image/png;base64,{PIXEL}", "", None]
    del properties["content_url"]["format"]
    properties["content_url"]["anyOf"] = [{"format": "uri"}, {"maxLength": 0}]
    # Text or an image, and one image.
    schema["anyOf"] = [given("body"), given("content_url"), given("content_base64")]
    schema["not"] = {"allOf": [given("content_url"), given("content_base64")]}


def refine_people(schemas):
    """No schema can say that a role belongs to a team or to none, and that only moderators are limited to some sites."""
    for name in ("NewInvitation", "PersonChange"):
        properties = schemas[name]["properties"]
        del properties["site_ids"]
        properties["role"] = {"type": "string", "enum": ["viewer", "moderator", "lead", "admin", "owner"]}
    # The token is an operator's, so the request must name a team.
    schemas["NewInvitation"]["required"].append("team_id")
    schemas["NewInvitation"]["properties"]["team_id"]["nullable"] = False


def refine_rules(paths, schemas):
    for kind in ("Keyword", "Regex", "Link", "AiThreshold", "ImageHash"):
        properties = schemas[f"{kind}Rule"]["properties"]
        properties["name"]["pattern"] = r"^[^\x00]*[^\s\x00][^\x00]*$"
        # A term contains a visible character.
        for terms in ("exceptions", "keywords"):
            if terms in properties:
                properties[terms]["items"]["format"] = "term"
    schemas["RegexRule"]["properties"]["pattern"]["format"] = "pattern"
    schemas["LinkRule"]["properties"]["domains"]["items"]["format"] = "domain"
    lists = schemas["ImageHashRule"]["properties"]["lists"]
    # There is one.
    lists["items"]["format"] = "hash_list_id"
    lists["maxItems"] = 1
    threshold = schemas["AiThresholdRule"]
    # At least one of the two. No schema can say that the first must not be larger than the second: see schemathesis.toml.
    threshold["anyOf"] = [
        {"required": [one], "properties": {one: {"type": "number"}}} for one in ("review_at", "reject_at")
    ]
    # The token is an operator's, so the request must name a team.
    schemas["NewRuleGroup"]["required"].append("team_id")
    for parameter in paths["/rule-groups/import"]["post"]["parameters"]:
        parameter["required"] = True
    # A version must belong to the group in the path. If none is required, none is given.
    for name in ("NewTest", "NewBacktest"):
        del schemas[name]["properties"]["version_id"]
    for name in ("diff", "export"):
        operation = paths[f"/rule-groups/{{rule_group_id}}/{name}"]["get"]
        operation["parameters"] = [one for one in operation["parameters"] if one["in"] == "path"]
    # Earlier than `until`, and of the group's team.
    del schemas["NewBacktest"]["properties"]["since"]
    del schemas["NewBacktest"]["properties"]["site_id"]
    # Events that are still kept, and earlier than `until`.
    schemas["NewRecovery"]["properties"]["since"]["format"] = "recent"
    del schemas["NewRecovery"]["properties"]["until"]
    # The example's date is fixed, so it becomes too old.
    recoveries = paths["/webhook-endpoints/{endpoint_id}/recoveries"]["post"]
    example = recoveries["requestBody"]["content"]["application/json"]["example"]
    example["since"] = f"{(NOW - timedelta(hours=1)).isoformat()}Z"
    # One of the two, or both.
    schemas["NewHashEntry"]["anyOf"] = [given("pdq"), given("sha256")]
    # It must be the list's team, which is also the default.
    del schemas["NewHashScan"]["properties"]["team_id"]
    # Only one of them in a request.
    entries = paths["/hash-lists/{hash_list_id}/entries"]["get"]
    entries["parameters"] = [one for one in entries["parameters"] if one["name"] != "near"]
    # A text that is not empty, or scores.
    schemas["NewTest"]["anyOf"] = [given("text"), {"required": ["scores"]}]
    # Answers may get more categories later, but a request must not name unknown ones.
    schemas["NewTest"]["properties"]["scores"] = {**schemas["Scores"], "additionalProperties": False}
    # schemathesis parses the YAML before it compares it with the schema, but the schema describes a text.
    export = paths["/rule-groups/{rule_group_id}/export"]["get"]
    export["responses"]["200"]["content"]["application/yaml"]["schema"] = {}


def given(member):
    """The member is given: null and the empty string count as not given."""
    return {"required": [member], "properties": {member: {"type": "string", "minLength": 1}}}


@schemathesis.hook
def filter_case(context, case):
    """No request may disable the token that the requests use."""
    return (case.path_parameters or {}).get("token_id") != os.environ["GATEHOUSE_TOKEN_ID"]
